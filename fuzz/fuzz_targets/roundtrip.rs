//! Any text, compressed by hybz in pieces: libbz2 and hybz itself restore it.
#![no_main]

#[path = "../text.rs"]
mod text;

use hybz::{Level, Pool, Settings};
use hybz_testkit::reference;
use libfuzzer_sys::fuzz_target;
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

fuzz_target!(|recipe: &[u8]| {
    static POOL: OnceLock<Pool> = OnceLock::new();
    let pool = POOL.get_or_init(|| Pool::builder().threads(NonZeroUsize::new(2).unwrap()).build());
    let (level, text) = text::cooked(recipe);
    let settings = Settings::new().pool(pool).level(Level::try_new(level).unwrap());
    let piece = 1 + recipe.len() * 37 % 5000;

    let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
    for piece in text.chunks(piece) {
        encoder.write_all(piece).unwrap();
    }
    let file = encoder.finish().unwrap();
    assert!(reference::decompress(&file, usize::MAX).unwrap() == text);
    let mut again = Vec::new();
    hybz::read::MultiBzDecoder::with_settings(&file[..], &settings).read_to_end(&mut again).unwrap();
    assert!(again == text);
});
