//! hybz writes bzip2 1.0.8's bytes for each level, each shape, each number of stations, and each way to pass the text.

use crate::ours;
use crate::program;
use crate::reference;
use crate::shapes;
use hybz::Settings;
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
    // Level 1 and level 9 have all shapes, the others half of them, in turn.
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
            // Levels 2 to 8: two of the three numbers, in turn.
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
fn level_1() {
    level_is_identical(1);
}

#[test]
fn levels_2_and_3() {
    level_is_identical(2);
    level_is_identical(3);
}

#[test]
fn levels_4_and_5() {
    level_is_identical(4);
    level_is_identical(5);
}

#[test]
fn levels_6_and_7() {
    level_is_identical(6);
    level_is_identical(7);
}

#[test]
fn level_8() {
    level_is_identical(8);
}

#[test]
fn level_9() {
    level_is_identical(9);
}

/// Texts whose run-length coded size is near the limit of a block. libbz2 cuts such a last block differently if it
/// knows the end while the block fills up, as in a single call; the program does not know it, and its bytes count.
#[test]
fn lengths_around_the_limit_of_a_block() {
    let pool = ours::pool(2);
    let settings = Settings::new().level(ours::level(1)).pool(&pool);
    for limit in [99_981, 2 * 99_981] {
        for len in limit - 3..limit + 4 {
            // Without runs, so that run-length coding does not change the length.
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

/// A run across the limit of a block, of any length: each token of it belongs to one block as a whole.
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

/// Every length below 300, over small and large alphabets: the smallest tables and the fewest selectors. The level only
/// sets the memory that libbz2 takes for each.
#[test]
fn small_texts() {
    let pool = ours::pool(2);
    for alphabet in [1, 2, 3, 4, 17, 256] {
        let settings = Settings::new().level(ours::level(1)).pool(&pool);
        let letters = shapes::letters(300, alphabet);
        for len in 0..300 {
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
