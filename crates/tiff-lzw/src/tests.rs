//! Compares the decoder of strips with its twin, as `device_tests` does, too, with noise and damage.

use crate::{StripDecoder, StripEncoder, plain};
use hybz::internals::Flaw;
use hybz_testkit::shapes::{SHAPES, random};

fn same_strip(coded: &[u8], len: usize, context: &str) -> Result<(), Flaw> {
    let (text, outcome) = plain::strip(coded, len);
    let mut found = vec![0xa5; len];
    assert_eq!(StripDecoder::new().decode_strip(coded, &mut found), outcome, "{context}");
    let good = text.len().min(len);
    assert!(found[..good] == text[..good], "{context}");
    outcome
}

#[test]
fn strips_of_all_shapes() {
    let mut encoder = StripEncoder::new();
    let mut coded = Vec::new();
    for shape in SHAPES {
        for len in [0, 1, 2, 3, 33, 700, 8192, 100_000] {
            let text = (shape.make)(len);
            coded.clear();
            encoder.encode(&text, &mut coded);
            let context = format!("{} {len}", shape.name);
            same_strip(&coded, len, &context).unwrap();
            let mut found = vec![0; len];
            StripDecoder::new().decode(&coded, &mut found).unwrap();
            assert!(found == text, "{context}");
            // Asks for less text than there is, and for more.
            for less in 1..len.min(50) {
                same_strip(&coded, len - less, &context).unwrap();
            }
            assert_eq!(same_strip(&coded, len + 1, &context), Err(Flaw::LzwLength { wanted: len + 1, found: len }));
        }
    }
}

/// Codes in one order of bits, each with the width it has in a strip without clears.
pub(super) fn strip_of(codes: impl Iterator<Item = u32>, old: bool) -> Vec<u8> {
    let mut bits = Vec::new();
    let mut put = |code: u32, width: u32| {
        bits.extend((0..width).map(|i| code >> if old { i } else { width - 1 - i } & 1));
    };
    put(256, 9);
    for (number, code) in codes.enumerate() {
        let base = if old { 257 } else { 258 };
        put(code, (9..12).find(|width| base + number < 1 << width).unwrap_or(12));
    }
    let byte = |byte: &[u32]| {
        let bit = |(i, bit): (usize, &u32)| (*bit as u8) << if old { i } else { 7 - i };
        byte.iter().enumerate().map(bit).sum::<u8>()
    };
    bits.chunks(8).map(byte).collect()
}

/// Tables that are not cleared when they are full: libtiff accepts 4,862 codes.
#[test]
fn full_tables() {
    for old in [false, true] {
        for (count, good) in [(3836, true), (3837, true), (3840, true), (4862, true), (4863, false), (5200, false)] {
            let coded = strip_of((0..count).map(|number| number * 7 % 251).chain([257]), old);
            let outcome = same_strip(&coded, count as usize, &format!("{count} {old}"));
            assert_eq!(outcome, if good { Ok(()) } else { Err(Flaw::LzwTable) }, "{count} {old}");
        }
    }
}

/// Like libtiff's encoder, ours clears when 3,836 codes have been added: there is no code 4,094.
#[test]
fn the_encoder_clears_a_full_table() {
    let text = random(20_000);
    let mut coded = Vec::new();
    StripEncoder::new().encode(&text, &mut coded);
    let bit = |at: usize| u32::from(coded[at / 8] >> (7 - at % 8) & 1);
    let (mut at, mut number, mut clears) = (9, 0, 0);
    loop {
        let width = (9..12).find(|width| 258 + number < 1 << width).unwrap_or(12);
        let code = (at..at + width).fold(0, |code, at| code << 1 | bit(at));
        at += width;
        assert_eq!(code == 256, number == 3836, "{number}");
        match code {
            257 => break,
            256 => (number, clears) = (0, clears + 1),
            _ => number += 1,
        }
    }
    assert!(clears > 3 && at.div_ceil(8) == coded.len());
}
