//! The two block decoders, the fast one and the plain one, agree on every block, right or wrong. (`traps`, `suites`
//! and `properties` show that the library's verdict on whole files is bzip2's.)

use crate::{ours, program, reference, shapes};
use hybz::Settings;
use hybz::internals::bits::SliceBits;
use hybz::internals::block::{DecodeError, DecodedBlock, Text};
use hybz::internals::codec::Decoder;
use hybz::internals::codec::find_magic::{find, plausible};
use hybz::internals::codec::run_length::decode::Expander;
use hybz::internals::crc;
use hybz_testkit::rounds;

fn text_of(block: &DecodedBlock) -> Vec<u8> {
    match &block.text {
        Text::Plain(text) => text.clone(),
        Text::Parts(parts) => parts.iter().flat_map(|part| part.iter()).copied().collect(),
        Text::Compact(compact) => compact.pieces().flatten().collect(),
        Text::RunLength { coded, len, crc } => {
            let mut text = vec![0; *len as usize + 1];
            assert_eq!(Expander::default().next(coded, &mut text), *len as usize);
            text.pop();
            assert_eq!(crc::checksum(&text), *crc);
            text
        }
    }
}

/// Decodes the block at a bit with both decoders, which must return the same block or the same error.
fn both_ways(
    decoder: &mut Decoder,
    data: &[u8],
    start: u64,
    end: u64,
    limit: u32,
) -> Result<DecodedBlock, DecodeError> {
    let fast = decoder.decode(data, start, end, limit);
    let plain = decoder.decode_reference(&mut SliceBits::new(data, start, end), limit);
    assert_eq!(fast, plain);
    fast
}

/// Decodes what follows each magic with both decoders. Returns the text of all good blocks, and the number of magics.
fn every_block(decoder: &mut Decoder, data: &[u8]) -> (Vec<u8>, u64) {
    let (mut text, mut at, mut tried) = (Vec::new(), 0, 0);
    while let Some(start) = find(data, at) {
        (at, tried) = (start + 1, tried + 1);
        if let Ok(block) = both_ways(decoder, data, start, u64::MAX, 900_000) {
            text.extend(text_of(&block));
            at = block.end_bit;
        }
    }
    (text, tried)
}

/// Both decoders must give `text`, and the fast one must not have fallen back on the plain one.
fn check_text(decoder: &mut Decoder, name: &str, level: u8, text: &[u8]) {
    let before = decoder.fallbacks();
    let (found, tried) = every_block(decoder, &reference::compress(level, text));
    assert!(found == text, "{name} at level {level}");
    // The plain decoder counts its own blocks as fallbacks, too.
    assert_eq!(decoder.fallbacks() - before, tried, "{name} at level {level}: the fast path gave up");
}

#[test]
fn shapes_at_every_level() {
    let mut decoder = Decoder::new();
    for shape in shapes::SHAPES {
        for len in [1, 50, 3000, 70_000] {
            check_text(&mut decoder, shape.name, 1, &(shape.make)(len));
        }
        // A full block and a part of the next one.
        for (level, len) in [(2, 205_000), (9, 905_000)] {
            check_text(&mut decoder, shape.name, level, &(shape.make)(len));
        }
    }
    for edge in shapes::EDGES {
        check_text(&mut decoder, edge.name, 9, &(edge.make)());
    }
    let words = shapes::words(2_000_000);
    for level in 1..=9 {
        check_text(&mut decoder, "words", level, &words);
    }
}

#[test]
fn real_files() {
    if program::shared("data").is_none() {
        return;
    }
    let mut decoder = Decoder::new();
    for (name, text) in shapes::real_files(u64::MAX) {
        for (level, usual) in [(1, 250_000), (9, 1_900_000)] {
            // Two blocks, and a part of the next one.
            check_text(&mut decoder, &name, level, &text[..text.len().min(rounds(usual, usize::MAX))]);
        }
    }
}

#[test]
fn many_zeros_stay_coded() {
    let text = vec![0; 50_000_000];
    let data = reference::compress(9, &text);
    let block = Decoder::new().decode(&data, 32, u64::MAX, 900_000).unwrap();
    assert!(matches!(block.text, Text::RunLength { .. }));
    check_text(&mut Decoder::new(), "zeros", 9, &text);
}

#[test]
fn cut_at_every_bit() {
    let mut decoder = Decoder::new();
    for text in [shapes::words(1500), (shapes::shape("random").make)(400), vec![7; 300]] {
        let data = reference::compress(1, &text);
        let whole = both_ways(&mut decoder, &data, 32, u64::MAX, 100_000).unwrap();
        assert_eq!(text_of(&whole), text);
        for end in 0..data.len() as u64 * 8 {
            let cut = both_ways(&mut decoder, &data, 32, end, 100_000);
            let bytes = &data[..end.div_ceil(8) as usize];
            assert_eq!(cut, both_ways(&mut decoder, bytes, 32, end, 100_000));
            if end < whole.end_bit {
                assert_eq!(cut, Err(DecodeError::OutOfData), "at bit {end}");
            } else {
                assert_eq!(cut.as_ref(), Ok(&whole));
            }
        }
    }
}

#[test]
fn every_single_bit_flipped() {
    let mut decoder = Decoder::new();
    for text in [b"If Peter Piper picked a peck of pickled peppers".to_vec(), (shapes::shape("runs_of_256").make)(2000)]
    {
        let mut data = reference::compress(1, &text);
        for bit in 0..data.len() * 8 {
            data[bit / 8] ^= 0x80 >> (bit % 8);
            both_ways(&mut decoder, &data, 32, u64::MAX, 100_000).ok();
            let judged = reference::decompress(&data, usize::MAX);
            assert!(ours::decompress(&data, &Settings::new()) == judged, "bit {bit}");
            data[bit / 8] ^= 0x80 >> (bit % 8);
        }
    }
}

#[test]
fn flips_in_a_large_block() {
    let mut decoder = Decoder::new();
    let mut data = reference::compress(2, &shapes::words(150_000));
    let mut random = shapes::Rng(5);
    for _ in 0..rounds(100, 400) {
        let bit = random.below(data.len() * 8);
        data[bit / 8] ^= 0x80 >> (bit % 8);
        both_ways(&mut decoder, &data, 32, u64::MAX, 200_000).ok();
        data[bit / 8] ^= 0x80 >> (bit % 8);
    }
}

#[test]
fn blocks_at_any_bit() {
    let mut decoder = Decoder::new();
    let text = shapes::words(20_000);
    let data = reference::compress(9, &text);
    for shift in 0..17u64 {
        let mut shifted = vec![0u8; data.len() + 3];
        for bit in 32..data.len() as u64 * 8 {
            let to = bit + shift;
            shifted[(to / 8) as usize] |= (data[(bit / 8) as usize] >> (7 - bit % 8) & 1) << (7 - to % 8);
        }
        let block = both_ways(&mut decoder, &shifted, 32 + shift, u64::MAX, 900_000).unwrap();
        assert_eq!(text_of(&block), text);
        assert_eq!(find(&shifted, 0), Some(32 + shift));
        assert!(plausible(&shifted, 32 + shift, u64::MAX));
    }
}
