//! Any text, compressed by hybz: the bytes that libbz2 writes if it is used as the `bzip2` program uses it.
#![no_main]

#[path = "../text.rs"]
mod text;

use hybz::{Level, Pool, Settings};
use hybz_testkit::reference;
use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;
use std::sync::OnceLock;

fuzz_target!(|recipe: &[u8]| {
    static POOL: OnceLock<Pool> = OnceLock::new();
    let pool = POOL.get_or_init(|| Pool::builder().threads(NonZeroUsize::new(2).unwrap()).build());
    let (level, text) = text::cooked(recipe);
    let settings = Settings::new().pool(pool).level(Level::try_new(level).unwrap());
    assert!(hybz::compress(&text, &settings).unwrap() == reference::compress(level, &text));
});
