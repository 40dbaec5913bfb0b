//! hybz writes the bytes that bzip2 1.0.8 writes: each level, each shape, any number of stations, however the text comes.

mod ours;
mod program;
mod reference;
mod shapes;

use hybz::Settings;

/// How the text is handed over.
const WAYS: [&str; 3] = ["slice", "written", "read"];

fn compressed(way: &str, text: &[u8], settings: &Settings) -> Vec<u8> {
    match way {
        "slice" => ours::compress(text, settings),
        // Odd sizes: pieces, runs and blocks end at different places.
        "written" => ours::compress_written(text, 61, settings),
        _ => ours::compress_read(ours::Sips(text, 4099), 127, settings),
    }
}

/// Shapes as long as it takes to fill two blocks of `level` and begin a third, and the edges.
fn texts(level: u8) -> Vec<(&'static str, Vec<u8>)> {
    // One level after the other takes whole files; the others a part, so that all of it takes a minute and not ten.
    let long = usize::from(level) * 100_000;
    let shapes = shapes::SHAPES.iter().map(|shape| {
        let len = if level == 1 { 250_000 } else { long + 30_000 };
        (shape.name, (shape.make)(len))
    });
    let edges = shapes::EDGES.iter().map(|edge| (edge.name, (edge.make)()));
    shapes.chain(edges).collect()
}

/// The level's shapes against the program's bytes; for each number of stations one of the ways, for one station all.
fn level_is_identical(level: u8) {
    let judge = program::installed("bzip2");
    let pools = [1, 2, 7].map(ours::pool);
    for (i, (name, text)) in texts(level).into_iter().enumerate() {
        let expected = if judge { program::bzip2(level, &text) } else { reference::compress(level, &text) };
        for (j, pool) in pools.iter().enumerate() {
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

/// Where the last block is cut depends on whether the end is known while it fills up: the program's rule, not the one-shot
/// call's. Texts whose length after the run-length step lies around the limit of a block.
#[test]
fn lengths_around_the_limit_of_a_block() {
    let pool = ours::pool(2);
    let settings = Settings::new().level(ours::level(1)).pool(&pool);
    for limit in [99_981, 2 * 99_981] {
        for len in limit - 3..limit + 4 {
            // Run-free, so that lengths count one for one.
            let text: Vec<u8> = (0..len).map(|i| if i % 2 == 0 { b'a' } else { (i % 89) as u8 }).collect();
            let expected = reference::compress(1, &text);
            if len == limit + 1 && program::installed("bzip2") {
                assert!(program::bzip2(1, &text) == expected, "the reference itself");
            }
            for way in WAYS {
                assert!(compressed(way, &text, &settings) == expected, "{len} bytes, {way}");
            }
        }
    }
}

/// A run that lies across the limit belongs to one block or is carried over whole; it may be of any length.
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

/// Every small length, at every small number of different bytes: tables, selectors and lengths at their smallest.
#[test]
fn small_texts() {
    let pool = ours::pool(2);
    for alphabet in [1, 2, 3, 4, 17, 256] {
        let settings = Settings::new().level(ours::level(9)).pool(&pool);
        let letters = shapes::letters(300, alphabet);
        for len in 0..300 {
            let text = &letters[..len];
            assert!(
                ours::compress(text, &settings) == reference::compress(9, text),
                "{len} bytes of {alphabet} letters"
            );
        }
    }
}

/// Real files, where there are any: 200 MB and more with all levels take long, so each file is done at one level.
#[test]
fn real_files() {
    let pool = ours::pool(2);
    for (i, (name, text)) in shapes::real_files(u64::MAX).into_iter().enumerate() {
        let text = &text[..text.len().min(6_000_000)];
        let level = i as u8 % 9 + 1;
        let settings = Settings::new().level(ours::level(level)).pool(&pool);
        assert!(compressed("slice", text, &settings) == reference::compress(level, text), "{name} at level {level}");
    }
}
