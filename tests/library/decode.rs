//! The block decoders, the fast one and the plain one, against the `bzip2` program: single blocks and whole files.
//!
//! Files are read by a small serial reader written for this test, not by the library's drivers.

use crate::{program, shapes};
use hybz::internals::bits::{BitSource, SliceBits};
use hybz::internals::block::{DecodeError, DecodedBlock, Text};
use hybz::internals::codec::Decoder;
use hybz::internals::codec::run_length::decode::Expander;
use hybz::internals::crc;
use hybz_testkit::{files_below, long, rounds};
use std::io::Read;

/// bzip2's verdict at the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Good,
    Bad,
}

/// One of the two block decoders.
type Way = fn(&mut Decoder, &[u8], u64, u32) -> Result<DecodedBlock, DecodeError>;

const WAYS: [(&str, Way); 2] = [
    ("fast", |decoder, data, start, limit| decoder.decode(data, start, data.len() as u64 * 8, limit)),
    ("plain", |decoder, data, start, limit| {
        decoder.decode_reference(&mut SliceBits::new(data, start, u64::MAX), limit)
    }),
];

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

/// Decodes a file block by block, as `bzip2 -dc` does.
fn decode_file(decoder: &mut Decoder, way: Way, data: &[u8]) -> (Vec<u8>, End) {
    let mut out = Vec::new();
    let mut bits = SliceBits::new(data, 0, u64::MAX);
    let mut streams = 0;
    while bits.position() < data.len() as u64 * 8 {
        let mut level = 0;
        for expected in [b'B', b'Z', b'h', b'9'] {
            match bits.bits(8) {
                Some(byte) if expected == b'9' && (0x31..=0x39).contains(&byte) => level = byte - 0x30,
                Some(byte) if byte == u32::from(expected) && expected != b'9' => {}
                // Trailing garbage is ignored, unless it is the beginning of a magic.
                Some(_) if streams > 0 => return (out, End::Good),
                _ => return (out, End::Bad),
            }
        }
        let mut combined = 0;
        loop {
            let mut ahead = bits.clone();
            if ahead.bits(24) == Some(0x17_7245) && ahead.bits(24) == Some(0x38_5090) {
                if ahead.bits(32) != Some(combined) {
                    return (out, End::Bad);
                }
                let end = ahead.position().div_ceil(8) * 8;
                bits = SliceBits::new(data, end, u64::MAX);
                break;
            }
            match way(decoder, data, bits.position(), level * 100_000) {
                Ok(block) => {
                    out.extend(text_of(&block));
                    assert!(block.block_len <= level * 100_000);
                    combined = crc::combine(combined, block.crc);
                    bits = SliceBits::new(data, block.end_bit, u64::MAX);
                }
                Err(_) => return (out, End::Bad),
            }
        }
        streams += 1;
    }
    (out, if streams > 0 { End::Good } else { End::Bad })
}

/// Compares both decoders with `bzip2 -dc`.
fn check(decoder: &mut Decoder, name: &str, data: &[u8]) -> End {
    let (mine, end) = decode_file(decoder, WAYS[0].1, data);
    let (plain, plain_end) = decode_file(decoder, WAYS[1].1, data);
    assert!(mine == plain && end == plain_end, "{name}: fast {end:?}, plain {plain_end:?}");
    if program::installed_for_part("bzip2") {
        let (code, theirs, _) = program::run("bzip2", &["-dc"], data).expect("bzip2 is installed");
        assert_eq!(end == End::Good, code == 0, "{name}: bzip2's exit code is {code}");
        // After an error, bzip2's output may end with bytes that it could not check, and may lack the last 5,000.
        let alike = mine.starts_with(&theirs) || theirs.starts_with(&mine);
        assert!(mine == theirs || end == End::Bad && alike, "{name}: other bytes");
    }
    end
}

#[test]
fn every_file_of_the_suites() {
    let Some(suites) = program::shared("suites") else { return };
    let mut files = files_below(&suites);
    files.retain(|file| file.to_string_lossy().contains(".bz2"));
    assert!(files.len() > 100, "{} files", files.len());
    let mut decoder = Decoder::new();
    // Two of the files are large, and slow in the plain decoder: `suites` compares them, too.
    files.retain(|file| long() || std::fs::metadata(file).expect("readable").len() < 1 << 20);
    let bad = files
        .iter()
        .filter(|file| check(&mut decoder, &file.to_string_lossy(), &std::fs::read(file).unwrap()) == End::Bad)
        .count();
    eprintln!("{} files, {bad} of them refused", files.len());
}

fn compressed(level: u32, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    bzip2::read::BzEncoder::new(text, bzip2::Compression::new(level)).read_to_end(&mut out).unwrap();
    out
}

/// Both decoders must give `text`, and the fast one must not have fallen back on the plain one.
fn check_text(decoder: &mut Decoder, name: &str, level: u32, text: &[u8]) {
    let data = compressed(level, text);
    let before = decoder.fallbacks();
    let (mine, end) = decode_file(decoder, WAYS[0].1, &data);
    assert!(end == End::Good && mine == text, "{name} at level {level}, fast");
    assert_eq!(decoder.fallbacks(), before, "{name} at level {level}: the fast path gave up");
    let (mine, end) = decode_file(decoder, WAYS[1].1, &data);
    assert!(end == End::Good && mine == text, "{name} at level {level}, plain");
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
    let data = compressed(9, &text);
    let block = Decoder::new().decode(&data, 32, u64::MAX, 900_000).unwrap();
    assert!(matches!(block.text, Text::RunLength { .. }));
    check_text(&mut Decoder::new(), "zeros", 9, &text);
}

/// Decodes the block in `data` with both decoders, which must return the same block or the same error.
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

#[test]
fn cut_at_every_bit() {
    let mut decoder = Decoder::new();
    for text in [shapes::words(1500), (shapes::shape("random").make)(400), vec![7; 300]] {
        let data = compressed(1, &text);
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
        for end in 0..data.len() {
            assert_eq!(decode_file(&mut decoder, WAYS[0].1, &data[..end]).1, End::Bad);
        }
    }
}

#[test]
fn every_single_bit_flipped() {
    let mut decoder = Decoder::new();
    for text in [b"If Peter Piper picked a peck of pickled peppers".to_vec(), (shapes::shape("runs_of_256").make)(2000)]
    {
        let mut data = compressed(1, &text);
        let mut good = 0;
        for bit in 0..data.len() * 8 {
            data[bit / 8] ^= 0x80 >> (bit % 8);
            both_ways(&mut decoder, &data, 32, u64::MAX, 100_000).ok();
            good += u32::from(check(&mut decoder, &format!("bit {bit}"), &data) == End::Good);
            data[bit / 8] ^= 0x80 >> (bit % 8);
        }
        eprintln!("{good} flips of {} accepted", data.len() * 8);
    }
}

#[test]
fn flips_in_a_large_block() {
    let mut decoder = Decoder::new();
    let mut data = compressed(2, &shapes::words(150_000));
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
    let data = compressed(9, &text);
    for shift in 0..17u64 {
        let mut shifted = vec![0u8; data.len() + 3];
        for bit in 32..data.len() as u64 * 8 {
            let to = bit + shift;
            shifted[(to / 8) as usize] |= (data[(bit / 8) as usize] >> (7 - bit % 8) & 1) << (7 - to % 8);
        }
        let block = both_ways(&mut decoder, &shifted, 32 + shift, u64::MAX, 900_000).unwrap();
        assert_eq!(text_of(&block), text);
        assert_eq!(hybz::internals::codec::find_magic::find(&shifted, 0), Some(32 + shift));
        assert!(hybz::internals::codec::find_magic::plausible(&shifted, 32 + shift, u64::MAX));
    }
}
