//! Compares each decoder with its twin: on shapes, on noise and on damage.

use super::plain;
use super::stream_decoder::StreamDecoder;
use crate::error::Error;
use crate::formats::lzw::header::{HEADER_LEN, Header};
use hybz_testkit::shapes::{Rng, random};

/// Decodes a stream in pieces of the lengths that `piece` gives, with at most `max` bytes of text at a time.
fn in_pieces(coded: &[u8], mut piece: impl FnMut() -> usize, max: usize) -> (Vec<u8>, Result<(), Error>) {
    let (mut decoder, mut text, mut some) = (StreamDecoder::new(), Vec::new(), Vec::new());
    let (mut at, mut end) = (0, 0);
    loop {
        let last = end == coded.len();
        let decoded = decoder.decode(&coded[at..end], at as u64, last, &mut some, max);
        let enough = some.len() >= max;
        text.append(&mut some);
        match decoded {
            Ok(taken) => at += taken,
            Err(error) => return (text, Err(error)),
        }
        if !enough {
            if last {
                assert_eq!(at, coded.len());
                return (text, Ok(()));
            }
            end = coded.len().min(end + piece());
        }
    }
}

fn same(coded: &[u8], context: &str) {
    let Some((text, outcome)) = plain::stream(coded, usize::MAX) else {
        assert!(matches!(in_pieces(coded, || 7, 100), (text, Err(_)) if text.is_empty()), "{context}");
        return;
    };
    let mut rng = Rng(coded.len() as u64);
    // Only short streams are decoded byte by byte.
    let small = if text.len() < 3000 { usize::MAX } else { 2 };
    let ways = [(usize::MAX, usize::MAX), (1 << 16, 1 << 20), (1, 1), (13, 1000), (1000, 1)];
    for (piece, max) in ways.into_iter().take(small) {
        let pieces = || if piece > 1 << 20 { coded.len() } else { 1 + rng.below(piece) };
        let (found, end) = in_pieces(coded, pieces, max);
        assert!(found == text, "{context}: {piece} {max}: {} for {}", found.len(), text.len());
        let damage = end.map_err(|error| match error {
            Error::Data { damage, .. } => damage.0,
            error => panic!("{context}: {error}"),
        });
        assert_eq!(damage, outcome, "{context}: {piece} {max}");
    }
}

const fn header(max_bits: u32, block_mode: bool) -> Header {
    Header { max_bits, block_mode }
}

/// Text after the table is full, and text that is too long to be kept.
#[test]
fn long_streams() {
    let mut rng = Rng(3);
    let mut text = Vec::new();
    while text.len() < 2_600_000 {
        let (len, byte) = (1 + rng.below(3000), rng.below(200) as u8);
        text.extend(std::iter::repeat_n(byte, len));
    }
    for header in [header(16, true), header(16, false)] {
        let coded = plain::compress(&text, header, |at| at > 2_500_000 && at % 50_000 < 3000);
        same(&coded, "long strings");
    }
    let coded = plain::compress(&random(500_000), header(16, true), |_| false);
    same(&coded, "noise");
    // More than is kept, so the table is converted to links.
    let zeros = vec![0; 4 << 20];
    let coded = plain::compress(&zeros, header(16, true), |_| false);
    let (found, end) = in_pieces(&coded, || 1 << 16, 1 << 20);
    assert!(found == zeros && end.is_ok());
}

/// A stream of 64 KiB that stands for 2 GB takes no more memory than others, and returns its text piece by piece.
#[test]
fn a_bomb() {
    // Each code refers to the entry that it completes: strings of 1, 2, 3 .. 65,280 zeros. There are 256 codes of 9
    // bits, 512 of 10, and so on: whole groups, so nothing is padded.
    let header = header(16, true);
    let mut coded = vec![0x1f, 0x9d, 0x90];
    let (mut bits, mut len) = (0u64, 0);
    for number in 0..=header.table_len() {
        let code = if number == 0 { 0 } else { 256 + number as u64 };
        let width = u64::from((256 + number as u64).ilog2() + 1);
        bits |= code << len;
        len += width;
        while len >= 8 {
            coded.push(bits as u8);
            (bits, len) = (bits >> 8, len - 8);
        }
    }
    coded.push(bits as u8);
    let (mut decoder, mut at, mut total) = (StreamDecoder::new(), 0, 0u64);
    let mut text = Vec::new();
    while total < 300 << 20 {
        at += decoder.decode(&coded[at..], at as u64, true, &mut text, 1 << 20).unwrap();
        assert!(text.len() < (1 << 20) + (8 << 16) && text.iter().all(|byte| *byte == 0));
        total += text.len() as u64;
        text.clear();
        assert!(at < coded.len());
    }
    assert!(decoder.memory() < 5 << 20, "{}", decoder.memory());
}

/// Random bytes after a header give the same text and the same error.
#[test]
fn noise_after_a_header() {
    let mut rng = Rng(12);
    for round in 0..3000 {
        let len = rng.below([10, 100, 2000][round % 3]);
        let mut coded = random(HEADER_LEN + len);
        coded.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(rng.below(255) as u8 | 1));
        coded[..2].copy_from_slice(&[0x1f, 0x9d]);
        // Small codes, so that some of them are valid.
        if round % 2 == 0 {
            for (at, byte) in coded.iter_mut().enumerate().skip(HEADER_LEN) {
                *byte &= if at % 3 == 0 { 0x0f } else { 0x81 };
            }
        }
        coded[2] = if rng.below(8) == 0 { rng.below(256) as u8 } else { 0x80 | (9 + rng.below(8)) as u8 };
        same(&coded, &format!("round {round}"));
    }
}

/// A stream that is cut, or changed at one position.
#[test]
fn damaged_streams() {
    let text = (hybz_testkit::shapes::shape("words").make)(3000);
    for header in [16, 12, 10].into_iter().flat_map(|bits| [header(bits, true), header(bits, false)]) {
        let coded = plain::compress(&text, header, |at| at % 1000 < 3);
        for at in 0..coded.len() {
            same(&coded[..at], &format!("cut at {at}"));
            if at % 3 == 0 {
                let mut coded = coded.clone();
                coded[at] ^= 1 << (at / 3 % 8);
                same(&coded, &format!("changed at {at}"));
            }
        }
    }
}
