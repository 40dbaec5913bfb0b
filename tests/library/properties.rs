//! Properties that hold for any text, any file, and any way to pass it in pieces.

use crate::ours;
use crate::program;
use crate::reference;
use crate::shapes::{Rng, words};
use crate::texts::{config, text};
use hybz::{Pool, Settings};
use hybz_testkit::rounds;
use program::Refusal;
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::sync::OnceLock;

fn pool() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| ours::pool(2))
}

fn settings() -> Settings {
    Settings::new().pool(pool())
}

/// A file of one to three streams of any level, and its text.
fn streams() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    vec((1..=9u8, text(7, 1)), 1..4).prop_map(|parts| {
        let file = parts.iter().flat_map(|(level, text)| reference::compress(*level, text)).collect();
        (file, parts.into_iter().flat_map(|(_, text)| text).collect())
    })
}

/// Sizes of pieces, which are used in turn.
fn pieces() -> impl Strategy<Value = Vec<usize>> {
    vec(prop_oneof![1..4usize, 1..300usize, 1..70_000usize], 1..6)
}

/// `bytes` in pieces of these sizes.
fn cut<'a>(mut bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for &size in sizes.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at(size.min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

/// A reader that returns its bytes in given pieces.
struct Pieces<'a>(std::vec::IntoIter<&'a [u8]>, &'a [u8]);

impl<'a> Pieces<'a> {
    fn of(bytes: &'a [u8], sizes: &[usize]) -> Self {
        Pieces(cut(bytes, sizes).into_iter(), &[])
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.1.is_empty() {
            self.1 = self.0.next().unwrap_or_default();
        }
        self.1.read(buf)
    }
}

/// Reads all of `reader` into buffers of these sizes.
fn read_in(mut reader: impl Read, sizes: &[usize]) -> (std::io::Result<()>, Vec<u8>) {
    let mut all = Vec::new();
    for &size in sizes.iter().cycle() {
        let mut buffer = vec![0; size];
        match reader.read(&mut buffer) {
            Ok(0) => return (Ok(()), all),
            Ok(n) => all.extend_from_slice(&buffer[..n]),
            Err(e) => return (Err(e), all),
        }
    }
    unreachable!("a cycle does not end")
}

/// libbz2's verdict on `file`, in the words of [`ours`].
fn judged(file: &[u8]) -> Result<Vec<u8>, Refusal> {
    reference::decompress(file, usize::MAX).map_err(|refused| match refused {
        reference::Refused::NotBzip2 => Refusal::NotBzip2,
        reference::Refused::Ends => Refusal::Ends,
        reference::Refused::Data => Refusal::Data,
        reference::Refused::TooLong => unreachable!("there is no limit"),
    })
}

/// hybz's verdict on `file` is libbz2's, whether the file is decoded in one call, written or read; and the output of a
/// decoder before it refuses is a prefix of `truth`.
fn same_verdict(file: &[u8], truth: &[u8], chunk: usize) -> Result<(), TestCaseError> {
    let settings = settings().scan_chunk(chunk);
    let expected = judged(file);
    prop_assert_eq!(&ours::decompress(file, &settings), &expected);
    for (verdict, out) in [
        ours::decompress_written(file, chunk, &settings),
        ours::decompress_read(ours::Sips(file, chunk), 333, &settings),
    ] {
        prop_assert_eq!(verdict, expected.as_ref().map(|_| ()).map_err(|refused| *refused));
        match &expected {
            Ok(text) => prop_assert!(out == *text),
            Err(_) => prop_assert!(truth.starts_with(&out), "{} bytes that are not the truth", out.len()),
        }
    }
    Ok(())
}

/// A file of two blocks, cut or with one bit flipped, at 120 places spread over it.
#[test]
fn damage_at_many_places_gets_the_verdict_of_bzip2() {
    let text = words(110_000);
    let file = reference::compress(1, &text);
    let mut places = Rng(500);
    for place in 0..rounds(120, 2000) {
        let bit = places.below(file.len() * 8);
        let mut damaged = file.clone();
        if place % 2 == 0 {
            damaged.truncate(bit / 8);
        } else {
            damaged[bit / 8] ^= 0x80 >> (bit % 8);
        }
        same_verdict(&damaged, &text, 1 << 16).unwrap_or_else(|e| panic!("bit {bit}: {e}"));
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_bytes_are_those_of_bzip2(text in text(7, 1), level in 1..=9u8) {
        let file = ours::compress(&text, &settings().level(ours::level(level)));
        prop_assert!(file == reference::compress(level, &text));
        prop_assert!(ours::decompress(&file, &settings()) == Ok(text));
    }

    #[test]
    fn pieces_do_not_matter_when_compressing(text in text(7, 1), level in 1..=9u8, a in pieces(), b in pieces()) {
        let settings = settings().level(ours::level(level));
        let expected = ours::compress(&text, &settings);
        let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
        for piece in cut(&text, &a) {
            encoder.write_all(piece).unwrap();
        }
        prop_assert!(encoder.finish().unwrap() == expected);
        let encoder = hybz::read::BzEncoder::with_settings(Pieces::of(&text, &a), &settings);
        let (verdict, file) = read_in(encoder, &b);
        verdict.unwrap();
        prop_assert!(file == expected);
    }

    #[test]
    fn a_flush_ends_the_block_as_in_libbz2(parts in vec((text(7, 1), 0..3usize), 0..5), level in 1..=9u8) {
        let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings().level(ours::level(level)));
        for (text, flushes) in &parts {
            encoder.write_all(text).unwrap();
            (0..*flushes).for_each(|_| encoder.flush().unwrap());
        }
        let parts: Vec<_> = parts.iter().map(|(text, flushes)| (&text[..], *flushes)).collect();
        prop_assert!(encoder.finish().unwrap() == reference::compress_flushing(level, &parts));
    }

    #[test]
    fn pieces_do_not_matter_when_decompressing(
        (file, text) in streams(), a in pieces(), b in pieces(), chunk in 1..100_000usize,
    ) {
        let settings = settings().scan_chunk(chunk);
        let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), &settings);
        for piece in cut(&file, &a) {
            decoder.write_all(piece).unwrap();
        }
        prop_assert!(decoder.finish().unwrap() == text);
        let decoder = hybz::read::MultiBzDecoder::with_settings(Pieces::of(&file, &a), &settings);
        let (verdict, out) = read_in(decoder, &b);
        verdict.unwrap();
        prop_assert!(out == text);
    }

    #[test]
    fn a_cut_file_gets_the_verdict_of_bzip2(
        (file, text) in streams(), at in any::<prop::sample::Index>(), chunk in 1..5000usize,
    ) {
        same_verdict(&file[..at.index(file.len())], &text, chunk)?;
    }

    #[test]
    fn flipped_bits_get_the_verdict_of_bzip2(
        (mut file, text) in streams(), at in vec(any::<prop::sample::Index>(), 1..4), chunk in 1..5000usize,
    ) {
        for at in at {
            let bit = at.index(file.len() * 8);
            file[bit / 8] ^= 0x80 >> (bit % 8);
        }
        same_verdict(&file, &text, chunk)?;
    }

    #[test]
    fn changed_bytes_get_the_verdict_of_bzip2(
        (mut file, text) in streams(),
        at in any::<prop::sample::Index>(),
        change in vec(any::<u8>(), 0..12),
        drop in 0..12usize,
        chunk in 1..5000usize,
    ) {
        let at = at.index(file.len());
        let end = (at + drop).min(file.len());
        file.splice(at..end, change);
        same_verdict(&file, &text, chunk)?;
    }

    #[test]
    fn what_follows_gets_the_verdict_of_bzip2(
        (mut file, text) in streams(),
        follows in prop_oneof![
            vec(any::<u8>(), 0..30),
            (vec(any::<u8>(), 0..9)).prop_map(|rest| [b"BZh".to_vec(), rest].concat()),
            (vec(any::<u8>(), 0..9)).prop_map(|rest| [b"BZh91AY&SY".to_vec(), rest].concat()),
            Just(vec![0; 3000]),
        ],
        (next, _) in streams(),
        chunk in 1..5000usize,
    ) {
        file.extend(follows);
        same_verdict(&file, &text, chunk)?;
        file.extend(next);
        // Another stream at the end may make the text longer than `text`, so only the verdicts are compared.
        let ours = ours::decompress(&file, &settings().scan_chunk(chunk));
        prop_assert_eq!(ours, judged(&file));
    }

    #[test]
    fn anything_after_a_magic_gets_the_verdict_of_bzip2(rest in vec(any::<u8>(), 0..400), chunk in 1..500usize) {
        let file = [b"BZh91AY&SY".to_vec(), rest].concat();
        same_verdict(&file, &[], chunk)?;
    }

    #[test]
    fn a_writer_that_breaks_is_reported(text in text(7, 1), room in 0..20_000usize) {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
                if self.0 == 0 {
                    return Err(std::io::ErrorKind::StorageFull.into());
                }
                let n = buf.len().min(self.0);
                self.0 -= n;
                Ok(n)
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let file = ours::compress(&text, &settings());
        let mut decoder = hybz::write::MultiBzDecoder::with_settings(Full(room), &settings());
        let verdict = decoder.write_all(&file).and_then(|()| decoder.try_finish());
        let expected = |len| if room >= len { Ok(()) } else { Err(std::io::ErrorKind::StorageFull) };
        prop_assert_eq!(verdict.map_err(|e| e.kind()), expected(text.len()));
        let mut encoder = hybz::write::BzEncoder::with_settings(Full(room), &settings());
        let verdict = encoder.write_all(&text).and_then(|()| encoder.try_finish());
        prop_assert_eq!(verdict.map_err(|e| e.kind()), expected(file.len()));
    }

    #[test]
    fn a_reader_that_breaks_is_reported(text in text(7, 1), after in 0..20_000usize, pauses in any::<bool>()) {
        struct Broken<'a>(&'a [u8], bool);
        impl Read for Broken<'_> {
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.1 = !self.1;
                if self.1 {
                    return Err(std::io::ErrorKind::Interrupted.into());
                }
                let some = 1.max(buf.len() / 100);
                match self.0.read(&mut buf[..some])? {
                    0 => Err(std::io::ErrorKind::ConnectionReset.into()),
                    n => Ok(n),
                }
            }
        }
        let file = ours::compress(&text, &settings());
        let broken = Broken(&file[..after.min(file.len())], pauses);
        let decoder = hybz::read::MultiBzDecoder::with_settings(broken, &settings());
        let (verdict, out) = read_in(decoder, &[1000]);
        prop_assert_eq!(verdict.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
        prop_assert!(text.starts_with(&out));
        let encoder = hybz::read::BzEncoder::with_settings(Broken(&text[..after.min(text.len())], pauses), &settings());
        prop_assert_eq!(read_in(encoder, &[1000]).0.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    }
}
