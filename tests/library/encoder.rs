//! The block encoder writes bzip2's exact bits: compared with the `bzip2` crate and with the `bzip2` program.
//!
//! A short function here cuts texts into blocks, as the format prescribes; the library's splitter takes no part.

use crate::program;
use crate::shapes;
use hybz::internals::bits::{BitWriter, append_bits};
use hybz::internals::block::Text;
use hybz::internals::codec::Encoder;
use hybz::internals::crc;
use hybz_testkit::{long, rounds};
use shapes::{EDGES, Rng, SHAPES, periodic};
use std::io::Write;

/// Cuts a text into tokens (runs of at most 255 bytes), and the tokens into blocks: a block ends after the token that
/// brings its coded size to the limit.
fn cut(text: &[u8], level: usize) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    let (mut start, mut at, mut size) = (0, 0, 0);
    while at < text.len() {
        let run = text[at..].iter().take(255).take_while(|byte| **byte == text[at]).count();
        size += if run >= 4 { 5 } else { run };
        at += run;
        if size >= 100_000 * level - 19 {
            blocks.push(&text[start..at]);
            (start, size) = (at, 0);
        }
    }
    if start < at {
        blocks.push(&text[start..]);
    }
    blocks
}

fn hybz(encoder: &mut Encoder, text: &[u8], level: usize) -> Vec<u8> {
    let mut out = BitWriter::new();
    out.write(0x425a_6830 + level as u64, 32);
    let mut combined = 0;
    for block in cut(text, level) {
        let coded = encoder.encode(&Text::Plain(block.to_vec()));
        assert_eq!(coded.text_len, block.len() as u64);
        assert_eq!(coded.bytes.len() as u64, coded.bit_len.div_ceil(8));
        append_bits(&mut out, &coded.bytes, coded.bit_len);
        combined = crc::combine(combined, coded.crc);
    }
    out.write(0x1772_4538_5090, 48);
    out.write(combined.into(), 32);
    out.finish()
}

/// The `bzip2` crate, fed in pieces as the program does it. Fed in one call, it may cut the last block elsewhere.
fn crate_bzip2(text: &[u8], level: usize) -> Vec<u8> {
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(level as u32));
    out.write_all(text).unwrap();
    out.finish().unwrap()
}

fn check_with_crate(encoder: &mut Encoder, text: &[u8], level: usize, what: &str) {
    let made = hybz(encoder, text, level);
    assert!(made == crate_bzip2(text, level), "{what}, {} bytes, level {level}: not the crate's bytes", text.len());
}

fn check_with_program(encoder: &mut Encoder, text: &[u8], level: usize, what: &str) {
    let made = hybz(encoder, text, level);
    if program::installed_for_part("bzip2") {
        let expected = program::bzip2(level as u8, text);
        assert!(made == expected, "{what}, {} bytes, level {level}: not bzip2's bytes", text.len());
    } else {
        assert!(made == crate_bzip2(text, level), "{what}, {} bytes, level {level}: not the crate's bytes", text.len());
    }
}

#[test]
fn edges() {
    let mut encoder = Encoder::new();
    for edge in EDGES.iter().filter(|edge| edge.name != "empty") {
        check_with_crate(&mut encoder, &(edge.make)(), 9, edge.name);
        check_with_program(&mut encoder, &(edge.make)(), 9, edge.name);
    }
}

#[test]
fn runs_of_every_length() {
    let mut encoder = Encoder::new();
    for len in (1..=260).chain([509, 510, 511, 765, 1020]) {
        check_with_crate(&mut encoder, &vec![b'r'; len], 9, "a run");
    }
}

#[test]
fn shapes_of_many_lengths() {
    let mut encoder = Encoder::new();
    for shape in SHAPES {
        for len in (1..=20).chain([100, 255, 256, 1000, 4999, 9_999, 10_000, 10_001, 30_030]) {
            check_with_crate(&mut encoder, &(shape.make)(len), 1, shape.name);
        }
    }
}

#[test]
fn shapes_at_all_levels_as_the_program() {
    for level in 1..=9 {
        let mut encoder = Encoder::new();
        // Levels 1, 2 and 9 have all shapes, the others every third, in turn: `identity` goes through the levels, too.
        let chosen = |at: usize| long() || [1, 2, 9].contains(&level) || at % 3 == level % 3;
        for (_, shape) in SHAPES.iter().enumerate().filter(|(at, _)| chosen(*at)) {
            // A full block and a part of the next one. (Shapes that are runs do not fill a block with this length.)
            let len = 100_000 * level + 5_000;
            check_with_program(&mut encoder, &(shape.make)(len), level, shape.name);
        }
    }
}

#[test]
fn full_blocks_of_zeros_at_all_levels() {
    let mut encoder = Encoder::new();
    for level in 1..=9 {
        // 255 zeros are coded in 5 bytes: this is a full block and half of the next one.
        let len = 100_000 * level / 5 * 255 * 3 / 2;
        check_with_program(&mut encoder, &vec![0; len], level, "zeros");
    }
}

#[test]
fn small_blocks_over_small_alphabets() {
    let mut encoder = Encoder::new();
    let more = u32::from(long());
    for (letters, longest) in [(2u32, 10 + more), (3, 6 + more), (4, 5)] {
        for len in 1..=longest {
            for number in 0..letters.pow(len) {
                let text: Vec<u8> = (0..len).map(|i| b'a' + (number / letters.pow(i) % letters) as u8).collect();
                check_with_crate(&mut encoder, &text, 1, "small");
            }
        }
    }
    let mut rng = Rng(11);
    for len in 12..=20 {
        for _ in 0..rounds(100, 300) {
            let text: Vec<u8> = (0..len).map(|_| b'a' + rng.below(2) as u8).collect();
            check_with_crate(&mut encoder, &text, 1, "two letters");
        }
    }
}

/// Repeated words, whose origin depends on how bzip2 sorts: blocks below 10,000 bytes with fallback_sort, larger ones
/// with main_sort, which may exceed its budget half-way and hand over to fallback_sort.
#[test]
fn periodic_blocks() {
    let mut encoder = Encoder::new();
    let mut rng = Rng(12);
    for round in 0..400 {
        let letters = 2 + rng.below(25);
        let word: Vec<u8> = (0..1 + rng.below(40)).map(|_| b'a' + rng.below(letters) as u8).collect();
        let times = 1 + rng.below(if round % 10 == 0 { 2000 } else { 200 });
        check_with_crate(&mut encoder, &word.repeat(times), 1, "a repeated word");
    }
    for times in 2..=64 {
        check_with_crate(&mut encoder, &b"ab".repeat(times), 1, "(ab)^n");
        check_with_crate(&mut encoder, &b"abcabd".repeat(times), 1, "(abcabd)^n");
    }
    for (word, times) in
        [(2, 5000), (3, 30_000), (7, 12_345), (1000, 90), (4999, 2), (5001, 2), (30_000, 3), (45_000, 2)]
    {
        let word = shapes::letters(word, 20);
        check_with_program(&mut encoder, &word.repeat(times), 1, "a repeated word");
        check_with_program(&mut encoder, &word.repeat(times), 9, "a repeated word");
    }
    for (level, tokens) in [(1, 2_000), (1, 2_001), (1, 19_996), (9, 179_996)] {
        check_with_program(&mut encoder, &vec![0; tokens * 255], level, "zeros");
    }
    check_with_program(&mut encoder, &shapes::letters(449_990, 256).repeat(2), 9, "a doubled random half");
    for word in [2, 3, 5, 100, 1000, 300_000, 449_990] {
        // The number of whole words for which a block has room.
        let word = shapes::letters(word, 20);
        check_with_program(
            &mut encoder,
            &periodic(899_980 / word.len() * word.len(), &word),
            9,
            "a full periodic block",
        );
    }
}

/// Numbers of symbols around each threshold at which bzip2 uses one more table.
#[test]
fn table_count_thresholds() {
    let mut encoder = Encoder::new();
    for around in [200, 600, 1200, 2400] {
        for len in around - 25..around + 25 {
            check_with_crate(&mut encoder, &shapes::letters(len, 256), 1, "random");
            check_with_crate(&mut encoder, &shapes::letters(len, 5), 1, "five letters");
        }
    }
}

#[test]
fn run_length_coded_text_gives_the_same_block() {
    let mut encoder = Encoder::new();
    for shape in SHAPES {
        let text = (shape.make)(50_000);
        let mut coded = Vec::new();
        hybz::internals::codec::run_length::encode::encode(&text, &mut coded);
        let plain = encoder.encode(&Text::Plain(text.clone()));
        let run_length = Text::RunLength { coded, len: text.len() as u64, crc: crc::checksum(&text) };
        assert!(encoder.encode(&run_length) == plain, "{}", shape.name);
    }
}

#[test]
fn real_files_as_the_program() {
    if program::shared("data").is_none() {
        return;
    }
    let mut encoder = Encoder::new();
    for (name, text) in shapes::real_files(u64::MAX) {
        check_with_program(&mut encoder, &text[..text.len().min(rounds(3_000_000, usize::MAX))], 9, &name);
        check_with_program(&mut encoder, &text[..text.len().min(rounds(600_000, 2_000_000))], 1, &name);
    }
}
