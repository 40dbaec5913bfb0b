use super::*;
use hybz_testkit::shapes::Rng;

fn runs_of(column: &[u8]) -> Vec<u32> {
    let mut runs = vec![];
    for (i, &byte) in column.iter().enumerate() {
        if i == 0 || column[i - 1] != byte {
            runs.push((i as u32) << 8 | u32::from(byte));
        }
    }
    runs.push((column.len() as u32) << 8);
    runs
}

fn fast(inverse: &mut Inverse, column: &[u8], origin: u32) -> Vec<u8> {
    inverse.build(&runs_of(column), column.len());
    inverse.walk(origin);
    inverse.pieces().collect::<Vec<_>>().concat()
}

/// The memories with which `check` inverts columns: one of full size, and one that grows with the blocks.
pub fn memories() -> [Inverse; 2] {
    let mut whole = Inverse::default();
    whole.try_reserve(MAX_BLOCK).unwrap();
    [whole, Inverse::default()]
}

/// `rows` are the starts of all rotations, sorted.
pub fn check(memories: &mut [Inverse], text: &[u8], rows: &[usize], what: &str) {
    let column: Vec<u8> = rows.iter().map(|&start| text[(start + text.len() - 1) % text.len()]).collect();
    let origin = rows.iter().position(|&start| start == 0).unwrap();
    assert!(plain(&column, origin as u32) == text, "{what}, {} bytes", text.len());
    agree(memories, &column, &[origin], what);
}

/// Checks that walks from these rows give the same texts as `plain`.
fn agree(memories: &mut [Inverse], column: &[u8], origins: &[usize], what: &str) {
    for &origin in origins {
        let expected = plain(column, origin as u32);
        for inverse in &mut *memories {
            let got = fast(inverse, column, origin as u32);
            assert!(got == expected, "{what}, {} bytes from {origin}", column.len());
        }
    }
}

#[test]
fn columns_that_are_no_transform() {
    let (mut random, mut memories) = (Rng(2), memories());
    for len in [1, 2, 7, 100, 4096, 5000, 30_000, 123_456] {
        for (symbols, run) in [2, 3, 5, 250].into_iter().flat_map(|symbols| [1, 3, 40].map(|run| (symbols, run))) {
            let mut column = Vec::new();
            while column.len() < len {
                let run = 1 + random.below(run);
                column.extend(std::iter::repeat_n(random.below(symbols) as u8, run));
            }
            column.truncate(len);
            agree(&mut memories, &column, &[0, len - 1, random.below(len)], "random runs");
        }
    }
    for len in [4096, 10_000, 65_536, 900_000] {
        let origins = [0, 1, len / 2, len - 1];
        // An ascending column is the identity: every row a cycle of its own. A periodic one has several.
        let ascending: Vec<u8> = (0..len).map(|i| (i * 256 / len) as u8).collect();
        agree(&mut memories, &ascending, &origins, "ascending");
        for period in [1, 2, 4, 1000, 5000] {
            let periodic: Vec<u8> = (0..len).map(|i| ((i % period) * 7 % 251) as u8).collect();
            agree(&mut memories, &periodic, &origins, "periodic");
        }
    }
}

/// With little memory, as if segments were too long for their lanes: the lanes give up, and one chain walks.
#[test]
fn lanes_without_room() {
    let (mut random, [mut inverse, _]) = (Rng(3), memories());
    for len in [24_000, 50_000, 900_000] {
        let column: Vec<u8> = (0..len).map(|_| random.below(40) as u8).collect();
        let origin = random.below(len) as u32;
        let expected = plain(&column, origin);
        let in_lanes = [0, 1, 2, 4, 8, 16].map(|i| {
            inverse.lanes.resize(len + i * (2 * MAX_BLOCK - len) / 16, 0);
            assert!(fast(&mut inverse, &column, origin) == expected, "{len}, {i}");
            inverse.segments.len() > 1
        });
        assert!(!in_lanes[0] && in_lanes[5], "{len}");
    }
}

/// Short blocks, whose lanes stay close to each other.
#[test]
fn short_blocks() {
    let mut random = Rng(4);
    for len in [4096, 8000, 20_000, MIN_ROWS_IN_LANES - 1, MIN_ROWS_IN_LANES] {
        for symbols in [2, 40, 256] {
            let column: Vec<u8> = (0..len).map(|_| random.below(symbols) as u8).collect();
            let origin = random.below(len) as u32;
            let [mut inverse, _] = memories();
            assert!(fast(&mut inverse, &column, origin) == plain(&column, origin), "{len} of {symbols}");
            let end = inverse.segments.iter().map(|segment| segment.at + segment.len).max().unwrap();
            let close = end as usize <= 2 * len + 24 * 4096;
            assert!(inverse.segments.len() > 1 && close == (len < MIN_ROWS_IN_LANES), "{len} of {symbols}");
            // What this walk wrote does not disturb a longer block.
            agree(&mut [inverse], &column.repeat(5), &[origin as usize], "five times");
        }
    }
}
