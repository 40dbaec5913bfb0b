//! The functions of this package next to those of the system's libbz2, call by call.
//!
//! | variable | |
//! |---|---|
//! | `HYBZ_LIBBZ2_CALLS` | how many calls are compared while coding, and how many while decoding; 5,000 without it |
//! | `HYBZ_LIBBZ2_SEED` | another sequence of cases |

#![allow(unsafe_code)]

mod coding;
mod decoding;
mod files;
mod library;
mod memory;

use hybz_libbz2 as _;
use hybz_testkit::shapes::Rng;

/// How many calls a campaign compares.
fn calls() -> usize {
    std::env::var("HYBZ_LIBBZ2_CALLS").map_or(5_000, |calls| calls.parse().unwrap())
}

/// Where a campaign begins.
fn rng(campaign: u64) -> Rng {
    let seed: u64 = std::env::var("HYBZ_LIBBZ2_SEED").map_or(0, |seed| seed.parse().unwrap());
    Rng(campaign + (seed << 8))
}

/// A text of 0 to 3 MB; most are short.
fn text(rng: &mut Rng) -> Vec<u8> {
    let scale =
        [0, 1, 5, 300, 3000, 30_000, 250_000, 3_000_000][[0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6, 7][rng.below(13)]];
    let len = if scale > 5 { rng.below(scale + 1) } else { scale };
    match rng.below(5) {
        0 => vec![rng.below(256) as u8; len],
        1 => (0..len).map(|_| rng.below(256) as u8).collect(),
        2 => {
            let mut text = Vec::with_capacity(len + 300);
            while text.len() < len {
                let run = if rng.below(50) == 0 { 250 + rng.below(15) } else { 1 + rng.below(6) };
                text.resize(text.len() + run, rng.below(4) as u8);
            }
            text.truncate(len);
            text
        }
        3 => {
            let period: Vec<u8> = (0..1 + rng.below(2000)).map(|_| rng.below(256) as u8).collect();
            period.into_iter().cycle().take(len).collect()
        }
        _ => {
            let words: Vec<Vec<u8>> =
                (0..200).map(|_| (0..1 + rng.below(9)).map(|_| b'a' + rng.below(26) as u8).collect()).collect();
            let mut text = Vec::with_capacity(len + 10);
            while text.len() < len {
                text.extend(&words[rng.below(200)]);
                text.push(b' ');
            }
            text.truncate(len);
            text
        }
    }
}
