//! Texts for property tests, the number of cases, damage for files, and the examples of specifications.

use crate::shapes::{Rng, SHAPES};
use proptest::collection::vec;
use proptest::prelude::*;

/// Texts of up to `pieces` pieces that mix runs, repeats and noise. `scale` sets the length of the longest pieces: up
/// to 9 kB for 1.
pub fn text(pieces: usize, scale: usize) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        (any::<u8>(), 1..600 * scale).prop_map(|(byte, n)| vec![byte; n]),
        vec(any::<u8>(), 0..200),
        (vec(b'a'..b'e', 1..9), 1..200 * scale).prop_map(|(word, n)| word.repeat(n)),
        (0..SHAPES.len(), 0..9000 * scale).prop_map(|(shape, n)| (SHAPES[shape].make)(n)),
    ];
    vec(piece, 0..=pieces).prop_map(|pieces| pieces.concat())
}

/// 96 cases of each property, or as many as `PROPTEST_CASES` says.
pub fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(96);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// `file` with one bit flipped, or, in every third round, cut.
pub fn damaged(file: &[u8], round: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bad = file.to_vec();
    if round.is_multiple_of(3) {
        bad.truncate(rng.below(file.len()));
    } else {
        let at = rng.below(bad.len());
        bad[at] ^= 1 << rng.below(8);
    }
    bad
}

/// The bytes of the worked example of a specification: lines such as `001c: 9c ec af a3        CRC of the header`.
pub fn example(spec: &str) -> Vec<u8> {
    let (_, example) = spec.split_once("<!-- example -->").expect("the example's mark");
    let (example, _) = example.split_once("<!-- end -->").expect("its end");
    let lines = example.lines().filter_map(|line| line.split_once(": ")).filter(|(at, _)| at.len() == 4);
    let bytes = lines.flat_map(|(_, line)| line.split("  ").next().unwrap_or_default().split(' '));
    bytes.map(|byte| u8::from_str_radix(byte, 16).expect("a byte")).collect()
}
