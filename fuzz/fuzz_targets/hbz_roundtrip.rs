//! Any text, perturbed or not, in large blocks of any size: hybz's decoder restores it, and the list of blocks covers
//! it.
#![no_main]

use hybz::LargeBlocks;
use hybz_fuzz::{cooked, settings};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|recipe: &[u8]| {
    let [size, interval, recipe @ ..] = recipe else { return };
    let (_, text) = cooked(recipe);
    // Blocks of 1 KiB to 128 KiB; no perturbation, or one byte inserted after each 1 to 253.
    let size = (1 << 10) + u32::from(*size) * 500;
    let large = LargeBlocks::try_new(size).unwrap().perturbation(u32::from(interval.saturating_sub(2)), 1);
    let settings = settings(64 << 20).encoding(large);
    let file = hybz::compress(&text, &settings).unwrap();
    assert!(hybz::decompress(&file, &settings).unwrap() == text);
    let list = hybz::hbz::List::read(&mut Cursor::new(&file)).unwrap();
    assert!(list.is_complete() && list.text_len() == text.len() as u64);
});
