//! Any bytes as an LZ4 block, by groups and by the plain twin; as frames; as an index; and as a text, through a frame
//! and, block by block, through its index.
//!
//! The first byte says which; for a block, the second byte says how much text is before it.
#![no_main]

use hybz::internals::formats::lz4::{Index, LEGACY_MAGIC, MAGIC, groups, plain};
use hybz::lz4::Frame;
use hybz::{Pool, Settings};
use libfuzzer_sys::fuzz_target;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// At most this much text is made.
const MAX_TEXT: usize = 1 << 20;

/// A writer that fails after `MAX_TEXT` bytes.
struct Bounded(usize);

impl Write for Bounded {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0 += buf.len();
        if self.0 > MAX_TEXT { Err(io::ErrorKind::StorageFull.into()) } else { Ok(buf.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn settings() -> Settings {
    static POOL: OnceLock<Pool> = OnceLock::new();
    let pool = POOL.get_or_init(|| Pool::builder().threads(NonZeroUsize::new(2).unwrap()).memory(8 << 20).build());
    Settings::new().pool(pool)
}

fn block(history: usize, coded: &[u8]) {
    let text = || [&b"0123456789abcdef".repeat(16)[..history], &[0xaa; 1 << 16]].concat();
    let (mut a, mut b) = (text(), text());
    let plain = plain::decode(coded, &mut a, history);
    let by_groups = groups::decode(coded, &mut b, history).map(|(end, _)| end);
    assert_eq!(plain, by_groups);
    if let Ok(end) = plain {
        assert!(a[..end] == b[..end]);
    }
}

fn frames(magic: &[u8], rest: &[u8]) {
    let mut decoder = hybz::write::MultiBzDecoder::with_settings(Bounded(0), &settings());
    let file = [magic, rest].concat();
    // The file itself determines how it is cut.
    let piece = 1 + rest.len() % 97;
    let _ = file.chunks(piece).try_for_each(|piece| decoder.write_all(piece)).and_then(|()| decoder.try_finish());
}

fn index(bytes: &[u8]) {
    let file = bytes.to_vec();
    if let Ok(Some(index)) = Index::read(&file) {
        for n in 0..index.blocks().len() {
            let range = index.range(n);
            let _ = index.decode(n, &file[range.start.min(file.len())..range.end.min(file.len())]);
        }
    }
}

fn text(text: &[u8]) {
    let text = text.repeat(1 + text.len() % 40);
    let coded = hybz::compress(&text, &settings().encoding(Frame::new())).unwrap();
    assert!(hybz::decompress(&coded, &settings()).unwrap() == text);
    let index = Index::read(&coded).unwrap().unwrap();
    let blocks = (0..index.blocks().len()).map(|n| index.decode(n, &coded[index.range(n)]).unwrap());
    assert!(blocks.collect::<Vec<_>>().concat() == text);
}

fuzz_target!(|data: &[u8]| {
    match data {
        [0..=99, history, coded @ ..] => block((*history).into(), coded),
        [100..=149, rest @ ..] => frames(&MAGIC, rest),
        [150..=169, rest @ ..] => frames(&LEGACY_MAGIC, rest),
        // Independent blocks of 64 KiB, and linked ones.
        [170..=189, rest @ ..] => frames(&[4, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82], rest),
        [190..=209, rest @ ..] => frames(&[4, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0], rest),
        [210..=229, rest @ ..] => index(rest),
        [_, rest @ ..] => text(rest),
        [] => {}
    }
});
