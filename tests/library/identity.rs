//! hybz writes bzip2 1.0.8's bytes for each level, each shape, each number of stations, and each way to pass the text.

use crate::{ours, program, reference, shapes};
use hybz::Settings;
use hybz::internals::block::Text;
use hybz::internals::codec::Encoder;
use hybz::internals::crc;
use hybz_testkit::{long, rounds};

/// How the text is passed to the encoder.
const WAYS: [&str; 3] = ["slice", "written", "read"];

fn compressed(way: &str, text: &[u8], settings: &Settings) -> Vec<u8> {
    match way {
        "slice" => ours::compress(text, settings),
        // Odd sizes, so that pieces, runs and blocks end at different places.
        "written" => ours::compress_written(text, 61, settings),
        _ => ours::compress_read(ours::Sips(text, 4099), 127, settings),
    }
}

/// The edges, and the shapes: long enough for two full blocks at level 1 and for one at the other levels, and for a
/// part of the next. (More would take ten minutes instead of one.)
fn texts(level: u8) -> Vec<(&'static str, Vec<u8>)> {
    let full = usize::from(level) * 100_000;
    // Levels 1 and 9 are tested with all shapes, the other levels with alternating halves.
    let chosen = move |at: &usize| long() || [1, 9].contains(&level) || at % 2 == usize::from(level) % 2;
    let shapes = shapes::SHAPES.iter().enumerate().filter(move |(at, _)| chosen(at)).map(move |(_, shape)| {
        let len = if level == 1 { 250_000 } else { full + 30_000 };
        (shape.name, (shape.make)(len))
    });
    let edges = shapes::EDGES.iter().map(|edge| (edge.name, (edge.make)()));
    shapes.chain(edges).collect()
}

/// Compares all texts with the program's bytes, with 1, 2 and 7 stations. The way to pass the text changes from text to
/// text, so that every number of stations meets every way.
fn level_is_identical(level: u8) {
    let judge = program::installed_for_part("bzip2");
    let pools = [1, 2, 7].map(ours::pool);
    for (i, (name, text)) in texts(level).into_iter().enumerate() {
        let expected = if judge { program::bzip2(level, &text) } else { reference::compress(level, &text) };
        for (j, pool) in pools.iter().enumerate() {
            // Levels 2 to 8 are tested with two of the three numbers, in turn.
            if !long() && !matches!(level, 1 | 9) && (i / 2 + usize::from(level)) % 3 == j {
                continue;
            }
            let settings = Settings::new().level(ours::level(level)).pool(pool);
            let way = WAYS[(i + j + usize::from(level)) % 3];
            let file = compressed(way, &text, &settings);
            assert!(file == expected, "{name}, level {level}, {way}, pool {j}: not the bytes of bzip2");
        }
    }
}

#[test]
fn every_level() {
    std::thread::scope(|scope| (1..=9).for_each(|level| drop(scope.spawn(move || level_is_identical(level)))));
}

/// Texts whose run-length coded size is near the limit of a block. libbz2 cuts such a last block differently if it
/// knows the end of the text while the block fills up, as in a single call; the program does not, and its bytes count.
#[test]
fn lengths_around_the_limit_of_a_block() {
    let pool = ours::pool(2);
    let settings = Settings::new().level(ours::level(1)).pool(&pool);
    for limit in [99_981, 2 * 99_981] {
        for len in limit - 3..limit + 4 {
            // The text has no runs, so that run-length coding does not change its length.
            let text: Vec<u8> = (0..len).map(|i| if i % 2 == 0 { b'a' } else { (i % 89) as u8 }).collect();
            let expected = reference::compress(1, &text);
            if len == limit + 1 && program::installed_for_part("bzip2") {
                assert!(program::bzip2(1, &text) == expected, "the reference itself");
            }
            for way in WAYS {
                assert!(compressed(way, &text, &settings) == expected, "{len} bytes, {way}");
            }
        }
    }
}

/// A run of any length across the limit of a block: each token of the run belongs to one block as a whole.
#[test]
fn runs_across_the_limit_of_a_block() {
    let pool = ours::pool(2);
    let settings = Settings::new().level(ours::level(1)).pool(&pool);
    let mut index = 0;
    for run in [2, 3, 4, 5, 6, 254, 255, 256, 257, 258, 259, 260, 510, 511, 514] {
        for before in 99_981 - 7..99_981 + 1 {
            let mut text: Vec<u8> = (0..before).map(|i| if i % 2 == 0 { b'a' } else { (i % 89) as u8 }).collect();
            text.extend(vec![b'r'; run]);
            text.extend_from_slice(b"end");
            let way = WAYS[index % 3];
            index += 1;
            let same = compressed(way, &text, &settings) == reference::compress(1, &text);
            assert!(same, "a run of {run} after {before} bytes, {way}");
        }
    }
}

/// Every length below 300, and the lengths at which a block gets more tables, over small and large alphabets: the
/// smallest tables and the fewest selectors. The level only determines how much memory libbz2 takes for each text.
#[test]
fn small_texts() {
    let pool = ours::pool(2);
    for alphabet in [1, 2, 3, 4, 17, 256] {
        let settings = Settings::new().level(ours::level(1)).pool(&pool);
        let letters = shapes::letters(2410, alphabet);
        for len in (0..300).chain(590..610).chain(1190..1210).chain(2390..2410) {
            let text = &letters[..len];
            assert!(
                ours::compress(text, &settings) == reference::compress(1, text),
                "{len} bytes of {alphabet} letters"
            );
        }
    }
}

/// Real files, each at one level, because all levels would take long.
#[test]
fn real_files() {
    if program::shared("data").is_none() {
        return;
    }
    let pool = ours::pool(2);
    for (i, (name, text)) in shapes::real_files(u64::MAX).into_iter().enumerate() {
        let text = &text[..text.len().min(rounds(2_200_000, usize::MAX))];
        let level = i as u8 % 9 + 1;
        let settings = Settings::new().level(ours::level(level)).pool(&pool);
        assert!(compressed("slice", text, &settings) == reference::compress(level, text), "{name} at level {level}");
    }
}

/// Checks that one way to pass the text gives the bytes of the `bzip2` crate.
fn same(text: &[u8], level: u8, what: &str) {
    let settings = Settings::new().level(ours::level(level));
    let made = ours::compress(text, &settings);
    assert!(made == reference::compress(level, text), "{what}, {} bytes, level {level}", text.len());
}

#[test]
fn shapes_of_many_lengths() {
    for shape in shapes::SHAPES {
        for len in (1..=20).chain([100, 255, 256, 1000, 4999, 9_999, 10_000, 10_001, 30_030]) {
            same(&(shape.make)(len), 1, shape.name);
        }
    }
}

#[test]
fn full_blocks_of_zeros_at_all_levels() {
    for level in 1..=9 {
        // 255 zeros are coded in 5 bytes: this is a full block and half of the next one.
        let len = 100_000 * usize::from(level) / 5 * 255 * 3 / 2;
        same(&vec![0; len], level, "zeros");
    }
}

#[test]
fn small_blocks_over_small_alphabets() {
    let more = u32::from(long());
    for (letters, longest) in [(2u32, 10 + more), (3, 6 + more), (4, 5)] {
        for len in 1..=longest {
            for number in 0..letters.pow(len) {
                let text: Vec<u8> = (0..len).map(|i| b'a' + (number / letters.pow(i) % letters) as u8).collect();
                same(&text, 1, "small");
            }
        }
    }
    let mut rng = shapes::Rng(11);
    for len in 12..=20 {
        for _ in 0..rounds(100, 300) {
            let text: Vec<u8> = (0..len).map(|_| b'a' + rng.below(2) as u8).collect();
            same(&text, 1, "two letters");
        }
    }
}

/// Repeated words, whose origin depends on how bzip2 sorts: blocks below 10,000 bytes with fallback_sort, larger ones
/// with main_sort, which may exceed its budget half-way and hand over to fallback_sort.
#[test]
fn periodic_blocks() {
    let mut rng = shapes::Rng(12);
    for round in 0..400 {
        let letters = 2 + rng.below(25);
        let word: Vec<u8> = (0..1 + rng.below(40)).map(|_| b'a' + rng.below(letters) as u8).collect();
        let times = 1 + rng.below(if round % 10 == 0 { 2000 } else { 200 });
        same(&word.repeat(times), 1, "a repeated word");
    }
    for times in 2..=64 {
        same(&b"ab".repeat(times), 1, "(ab)^n");
        same(&b"abcabd".repeat(times), 1, "(abcabd)^n");
    }
    for (word, times) in
        [(2, 5000), (3, 30_000), (7, 12_345), (1000, 90), (4999, 2), (5001, 2), (30_000, 3), (45_000, 2)]
    {
        let word = shapes::letters(word, 20);
        same(&word.repeat(times), 1, "a repeated word");
        same(&word.repeat(times), 9, "a repeated word");
    }
    for (level, tokens) in [(1, 2_000), (1, 2_001), (1, 19_996), (9, 179_996)] {
        same(&vec![0; tokens * 255], level, "zeros");
    }
    same(&shapes::letters(449_990, 256).repeat(2), 9, "a doubled random half");
    for word in [2, 3, 5, 100, 1000, 300_000, 449_990] {
        // As many whole words as fit into a block.
        let word = shapes::letters(word, 20);
        same(&shapes::periodic(899_980 / word.len() * word.len(), &word), 9, "a full periodic block");
    }
}

/// Numbers of symbols around each threshold at which bzip2 uses one more table.
#[test]
fn table_count_thresholds() {
    for around in [200, 600, 1200, 2400] {
        for len in around - 25..around + 25 {
            same(&shapes::letters(len, 256), 1, "random");
            same(&shapes::letters(len, 5), 1, "five letters");
        }
    }
}

#[test]
fn run_length_coded_text_gives_the_same_block() {
    let mut encoder = Encoder::new();
    for shape in shapes::SHAPES {
        let text = (shape.make)(50_000);
        let mut coded = Vec::new();
        hybz::internals::codec::run_length::encode::encode(&text, &mut coded);
        let plain = encoder.encode(&Text::Plain(text.clone()));
        let run_length = Text::RunLength { coded, len: text.len() as u64, crc: crc::checksum(&text) };
        assert!(encoder.encode(&run_length) == plain, "{}", shape.name);
    }
}
