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

/// A memory for each kernel that this CPU has.
fn inverses() -> Vec<Inverse> {
    let with = |kernel| {
        let mut inverse = Inverse { kernel, ..Inverse::default() };
        inverse.try_reserve(MAX_BLOCK).unwrap();
        inverse
    };
    #[cfg(target_arch = "x86_64")]
    if walk_avx512::is_supported() {
        return vec![with(WalkKernel::Scalar), with(WalkKernel::Gather)];
    }
    vec![with(WalkKernel::Scalar)]
}

/// Memories with which `check` inverts columns: one of each kernel, and one that grows with the blocks.
pub fn memories() -> Vec<Inverse> {
    let (mut memories, growing) = (inverses(), Inverse::default());
    assert!(
        memories.iter().any(|inverse| inverse.kernel == growing.kernel),
        "the best kernel is one that this CPU has"
    );
    memories.push(growing);
    memories
}

/// `rows` are the starts of all rotations, sorted.
pub fn check(memories: &mut [Inverse], text: &[u8], rows: &[usize], what: &str) {
    let column: Vec<u8> = rows.iter().map(|&start| text[(start + text.len() - 1) % text.len()]).collect();
    let origin = rows.iter().position(|&start| start == 0).unwrap();
    assert!(plain(&column, origin as u32) == text, "{what}, {} bytes", text.len());
    agree(memories, &column, &[origin], what);
}

/// All walks from these rows are the plain ones.
fn agree(memories: &mut [Inverse], column: &[u8], origins: &[usize], what: &str) {
    for &origin in origins {
        let expected = plain(column, origin as u32);
        for inverse in &mut *memories {
            let got = fast(inverse, column, origin as u32);
            assert!(got == expected, "{what}, {} bytes from {origin}, {:?}", column.len(), inverse.kernel);
        }
    }
}

#[test]
fn columns_that_are_no_transform() {
    let (mut random, mut inverses) = (Rng(2), inverses());
    for len in [1, 2, 7, 100, 4096, 5000, 30_000, 123_456] {
        for (symbols, run) in [2, 3, 5, 250].into_iter().flat_map(|symbols| [1, 3, 40].map(|run| (symbols, run))) {
            let mut column = Vec::new();
            while column.len() < len {
                let run = 1 + random.below(run);
                column.extend(std::iter::repeat_n(random.below(symbols) as u8, run));
            }
            column.truncate(len);
            agree(&mut inverses, &column, &[0, len - 1, random.below(len)], "random runs");
        }
    }
    for len in [4096, 10_000, 65_536, 900_000] {
        let origins = [0, 1, len / 2, len - 1];
        // An ascending column is the identity: every row a cycle of its own. A periodic one has cycles too.
        let ascending: Vec<u8> = (0..len).map(|i| (i * 256 / len) as u8).collect();
        agree(&mut inverses, &ascending, &origins, "ascending");
        for period in [1, 2, 4, 1000, 5000] {
            let periodic: Vec<u8> = (0..len).map(|i| ((i % period) * 7 % 251) as u8).collect();
            agree(&mut inverses, &periodic, &origins, "periodic");
        }
    }
}

/// With little memory, as if segments were too long for their lanes: 64 lanes, or 16 of a short block in cold memory,
/// give up first, then those of the scalar kernel.
#[test]
fn lanes_without_room() {
    let mut random = Rng(3);
    for len in [24_000, 50_000, 900_000] {
        let column: Vec<u8> = (0..len).map(|_| random.below(40) as u8).collect();
        let origin = random.below(len) as u32;
        let expected = plain(&column, origin);
        for mut inverse in inverses() {
            let mut in_lanes = Vec::new();
            for room in (0..=16).map(|i| len + i * (2 * MAX_BLOCK - len) / 16) {
                inverse.lanes.resize(room, 0);
                inverse.walks = 0;
                assert!(fast(&mut inverse, &column, origin) == expected, "{len} in {room}, {:?}", inverse.kernel);
                in_lanes.push(inverse.segments.len() > 1);
            }
            assert!(!in_lanes[0] && in_lanes[16], "{len}, {:?}", inverse.kernel);
        }
    }
}

/// Short blocks in memory that is cold, where gathered lanes stay close to each other, and in memory that is not.
#[test]
fn short_blocks() {
    let mut random = Rng(4);
    for len in [4096, 8000, 20_000, MIN_ROWS_IN_LANES - 1, MIN_ROWS_IN_LANES] {
        for symbols in [2, 40, 256] {
            let column: Vec<u8> = (0..len).map(|_| random.below(symbols) as u8).collect();
            let origin = random.below(len) as u32;
            let expected = plain(&column, origin);
            for inverse in inverses() {
                for walks in [0, 1000] {
                    let mut inverse = Inverse { walks, ..inverse.clone() };
                    let got = fast(&mut inverse, &column, origin);
                    assert!(got == expected, "{len} of {symbols}, {walks}, {:?}", inverse.kernel);
                    assert!(inverse.segments.len() > 1, "{len} of {symbols}, {walks}, {:?}", inverse.kernel);
                    let end = inverse.segments.iter().map(|segment| segment.at + segment.len).max().unwrap();
                    let close = end as usize <= 2 * len + 16 * 4096;
                    let gathered = inverse.kernel != WalkKernel::Scalar;
                    let expected_close = gathered && walks == 0 && len < MIN_ROWS_IN_LANES;
                    assert_eq!(close, expected_close, "{len} of {symbols}, {walks}, {:?}", inverse.kernel);
                    // What this walk wrote does not disturb a longer block.
                    let column = column.repeat(5);
                    let expected = plain(&column, origin);
                    assert!(fast(&mut inverse, &column, origin) == expected, "{len}, {walks}, {:?}", inverse.kernel);
                }
            }
        }
    }
}
