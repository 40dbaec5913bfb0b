//! Any bytes as an LZ4 block, of which a device's layout and the cores must get the same length of text; as frames; as
//! an index; and as a text, through a frame and its index.
//!
//! The first byte says which.
#![no_main]

use hybz::internals::formats::lz4::{LEGACY_MAGIC, MAGIC};
use hybz::lz4::Frame;
use hybz_fuzz::decoded;
use hybz_lz4_gpu::Layout;
use libfuzzer_sys::fuzz_target;

/// The header of a frame of independent blocks of 64 KiB, without checksums and length.
const INDEPENDENT: [u8; 7] = [4, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];

fn settings() -> hybz::Settings {
    hybz_fuzz::settings(8 << 20)
}

/// A block alone in its frame. (The cores and the layout each refuse some blocks that the other accepts.)
fn block(coded: &[u8]) {
    let file = [&INDEPENDENT, &(coded.len() as u32).to_le_bytes()[..], coded, &[0; 4]].concat();
    if let (Ok(layout), Ok(text)) = (Layout::read(&file), hybz::decompress(&file, &settings())) {
        assert_eq!(layout.text_len(), text.len() as u64);
    }
}

fn frames(magic: &[u8], rest: &[u8]) {
    // The file itself determines how it is cut.
    let _ = decoded(&[magic, rest].concat(), 1 + rest.len() % 97, &settings());
}

/// After a frame whose one block is stored: an index cannot lie about the length of its text.
fn index(bytes: &[u8]) {
    let frame = hybz::compress(b"text", &settings().encoding(Frame::new().index(false))).unwrap();
    if let Ok(layout) = Layout::read(&[&frame, bytes].concat()) {
        assert!(layout.blocks() > 1 || layout.text_len() == 4);
    }
}

fn text(text: &[u8]) {
    let text = text.repeat(1 + text.len() % 40);
    let coded = hybz::compress(&text, &settings().encoding(Frame::new())).unwrap();
    assert!(hybz::decompress(&coded, &settings()).unwrap() == text);
    assert_eq!(Layout::read(&coded).unwrap().text_len(), text.len() as u64);
}

fuzz_target!(|data: &[u8]| {
    match data {
        [0..=99, coded @ ..] => block(coded),
        [100..=149, rest @ ..] => frames(&MAGIC, rest),
        [150..=169, rest @ ..] => frames(&LEGACY_MAGIC, rest),
        [170..=189, rest @ ..] => frames(&INDEPENDENT, rest),
        // Linked blocks.
        [190..=209, rest @ ..] => frames(&[4, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0], rest),
        [210..=229, rest @ ..] => index(rest),
        [_, rest @ ..] => text(rest),
        [] => {}
    }
});
