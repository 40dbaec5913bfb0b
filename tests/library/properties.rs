//! Properties that hold for any text, any file, and any way to pass it in pieces.

use crate::shapes::{random, words};
use crate::texts::{config, text};
use crate::{ours, reference};
use hybz::{Pool, Settings};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::Write;
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

/// A size of pieces. Tests cut by one size and then by another, which gives pieces of two sizes.
fn piece() -> impl Strategy<Value = usize> {
    prop_oneof![1..4usize, 1..300usize, 1..70_000usize]
}

/// hybz's verdict on `file` is libbz2's, whether the file is decoded in one call, written or read; and the output of a
/// decoder before it refuses is a prefix of `truth`.
fn same_verdict(file: &[u8], truth: &[u8], chunk: usize) -> Result<(), TestCaseError> {
    let settings = settings().scan_chunk(chunk);
    let expected = reference::decompress(file, usize::MAX);
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

/// Files cut at every length around the end of each stream, and files that lost some bytes there.
#[test]
fn cuts_around_ends_of_streams_get_the_verdict_of_bzip2() {
    let parts =
        [(2, words(300)), (1, vec![]), (5, random(500)), (9, vec![b'x'; 9000]), (1, words(9)), (1, words(110_000))];
    let streams: Vec<_> = parts.iter().map(|(level, text)| reference::compress(*level, text)).collect();
    // The last stream has two blocks, and only its end is cut off.
    let (file, short, text) = (streams.concat(), streams[..5].concat(), parts.map(|(_, text)| text).concat());
    let mut end = 0;
    for stream in streams {
        end += stream.len();
        for len in end.saturating_sub(40)..=file.len().min(end + 20) {
            same_verdict(&file[..len], &text, 64).unwrap();
        }
        for (from, to) in (end - 12..end + 15).flat_map(|from| (from + 1..end + 15).map(move |to| (from, to))) {
            if to <= short.len() {
                same_verdict(&[&short[..from], &short[to..]].concat(), &text, 7).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_bytes_are_those_of_bzip2_in_any_pieces(text in text(7, 1), level in 1..=9u8, a in piece(), b in piece()) {
        let settings = settings().level(ours::level(level));
        let expected = reference::compress(level, &text);
        prop_assert!(ours::compress(&text, &settings) == expected);
        let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
        text.chunks(a).flat_map(|part| part.chunks(b)).for_each(|part| encoder.write_all(part).unwrap());
        prop_assert!(encoder.finish().unwrap() == expected);
        prop_assert!(ours::compress_read(ours::Sips(&text[..], a), b, &settings) == expected);
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
        (file, text) in streams(), a in piece(), b in piece(), chunk in 1..100_000usize,
    ) {
        let settings = settings().scan_chunk(chunk);
        let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), &settings);
        file.chunks(a).flat_map(|part| part.chunks(b)).for_each(|part| decoder.write_all(part).unwrap());
        prop_assert!(decoder.finish().unwrap() == text);
        prop_assert!(ours::decompress_read(ours::Sips(&file[..], a), b, &settings) == (Ok(()), text));
    }

    #[test]
    fn damage_gets_the_verdict_of_bzip2(
        (file, text) in streams(),
        at in vec(any::<prop::sample::Index>(), 1..4),
        change in vec(any::<u8>(), 0..12),
        drop in 0..12usize,
        chunk in 1..5000usize,
    ) {
        let first = at[0].index(file.len());
        same_verdict(&file[..first], &text, chunk)?;
        let mut flipped = file.clone();
        for bit in at.iter().map(|at| at.index(file.len() * 8)) {
            flipped[bit / 8] ^= 0x80 >> (bit % 8);
        }
        same_verdict(&flipped, &text, chunk)?;
        let mut changed = file;
        changed.splice(first..(first + drop).min(changed.len()), change);
        same_verdict(&changed, &text, chunk)?;
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
        prop_assert_eq!(ours, reference::decompress(&file, usize::MAX));
    }

    #[test]
    fn anything_after_a_magic_gets_the_verdict_of_bzip2(rest in vec(any::<u8>(), 0..400), chunk in 1..500usize) {
        let file = [b"BZh91AY&SY".to_vec(), rest].concat();
        same_verdict(&file, &[], chunk)?;
    }
}
