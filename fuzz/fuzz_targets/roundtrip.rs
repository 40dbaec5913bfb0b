//! Any text, compressed by hybz in pieces: the bytes that libbz2 writes if it is used as the `bzip2` program uses it.
//! hybz restores the text.
#![no_main]

use hybz::Level;
use hybz_fuzz::{cooked, settings};
use hybz_testkit::reference;
use libfuzzer_sys::fuzz_target;
use std::io::{Read, Write};

fuzz_target!(|recipe: &[u8]| {
    let (level, text) = cooked(recipe);
    let settings = settings(64 << 20).level(Level::try_new(level).unwrap());
    let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
    for piece in text.chunks(1 + recipe.len() * 37 % 5000) {
        encoder.write_all(piece).unwrap();
    }
    let file = encoder.finish().unwrap();
    assert!(file == reference::compress(level, &text));
    let mut again = Vec::new();
    hybz::read::MultiBzDecoder::with_settings(&file[..], &settings).read_to_end(&mut again).unwrap();
    assert!(again == text);
});
