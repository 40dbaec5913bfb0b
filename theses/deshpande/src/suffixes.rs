//! The thesis's sort of suffixes (section 5.2.1) on one core: steps that compare a number of characters (an MCU) of all
//! suffixes that still tie; two thirds of the suffixes sorted, one third from these, and the merge.
//!
//! A suffix ends with the block, and the end is below all bytes; his are cyclic. His steps sort by radix all at once,
//! these compare within the groups that tie, so only times of the same program are comparable.

use std::time::{Duration, Instant};

/// The characters of a key of 8 bytes beside a number of 4.
pub const MCU: usize = 4;
/// The steps of constant length before MCUs are doubled.
const CONSTANT_STEPS: usize = 16;

/// The number of characters that each step compares.
#[derive(Clone, Copy, PartialEq)]
pub enum Scheme {
    /// Always [`MCU`].
    Constant,
    /// Twice as many in each step.
    Doubling,
    /// [`CONSTANT_STEPS`] constant ones first: the thesis's choice.
    Both,
    /// After the first step, the ranks of the suffixes that begin where the comparison has come to, which doubles the
    /// depth without longer keys (Manber and Myers 1993). Only for all suffixes of a block.
    Ranks,
}

impl Scheme {
    fn characters(self, step: usize, depth: usize) -> usize {
        match self {
            Scheme::Constant => MCU,
            Scheme::Doubling => MCU << step.min(40),
            Scheme::Both => MCU << (step + 1).saturating_sub(CONSTANT_STEPS).min(40),
            Scheme::Ranks => depth.max(MCU),
        }
    }
}

/// A sorted list, and what it took.
pub struct Sorted {
    pub order: Vec<u32>,
    pub steps: usize,
    /// The sum over all steps of the suffixes sorted in it.
    pub sorted: u64,
    /// The number of characters compared.
    pub depth: usize,
    pub time: Duration,
    /// False if the time was up before.
    pub ended: bool,
}

/// Sorts the suffixes of `block` that begin at the places in `order`, for no longer than `most`.
pub fn sort(block: &[u8], order: Vec<u32>, scheme: Scheme, most: Duration) -> Sorted {
    let start = Instant::now();
    let mut ranks = vec![0; if scheme == Scheme::Ranks { block.len() } else { 0 }];
    let mut found = Sorted { order, steps: 0, sorted: 0, depth: 0, time: Duration::ZERO, ended: true };
    // Ranges of `order` in which suffixes tie.
    let mut groups = Vec::from_iter((found.order.len() > 1).then_some(0..found.order.len()));
    let mut next = Vec::new();
    while !groups.is_empty() && found.ended {
        let characters = scheme.characters(found.steps, found.depth);
        let slice = |suffix: u32| {
            let from = (suffix as usize + found.depth).min(block.len());
            &block[from..(from + characters).min(block.len())]
        };
        for group in groups.drain(..) {
            found.sorted += group.len() as u64;
            let part = &mut found.order[group.clone()];
            let mut at = group.start;
            let mut settle = |size: usize| {
                if size > 1 {
                    next.push(at..at + size);
                }
                at += size;
            };
            if characters == MCU {
                let key = |suffix: u32| -> u64 {
                    let bytes = slice(suffix);
                    let number = bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
                    (number << (8 * (MCU - bytes.len()))) << 3 | bytes.len() as u64
                };
                let mut keys: Vec<(u64, u32)> = part.iter().map(|&suffix| (key(suffix), suffix)).collect();
                keys.sort_unstable();
                part.iter_mut().zip(&keys).for_each(|(suffix, key)| *suffix = key.1);
                keys.chunk_by(|a, b| a.0 == b.0).for_each(|tie| settle(tie.len()));
            } else if scheme == Scheme::Ranks {
                let key = |suffix: u32| ranks.get(suffix as usize + found.depth).map_or(0, |rank| rank + 1);
                let mut keys: Vec<(u32, u32)> = part.iter().map(|&suffix| (key(suffix), suffix)).collect();
                keys.sort_unstable();
                part.iter_mut().zip(&keys).for_each(|(suffix, key)| *suffix = key.1);
                keys.chunk_by(|a, b| a.0 == b.0).for_each(|tie| settle(tie.len()));
            } else {
                part.sort_unstable_by(|a, b| slice(*a).cmp(slice(*b)));
                part.chunk_by(|a, b| slice(*a) == slice(*b)).for_each(|tie| settle(tie.len()));
            }
        }
        if scheme == Scheme::Ranks {
            set_ranks(&mut ranks, &found.order, &next);
        }
        found.depth += characters;
        found.steps += 1;
        std::mem::swap(&mut groups, &mut next);
        found.ended = groups.is_empty() || start.elapsed() < most;
    }
    found.time = start.elapsed();
    found
}

/// Each suffix's rank is the first row of its group.
fn set_ranks(ranks: &mut [u32], order: &[u32], tied: &[std::ops::Range<usize>]) {
    order.iter().enumerate().for_each(|(row, &suffix)| ranks[suffix as usize] = row as u32);
    for group in tied {
        order[group.clone()].iter().for_each(|&suffix| ranks[suffix as usize] = group.start as u32);
    }
}

/// The order of all suffixes in the thesis's three parts, and the seconds of each.
pub struct Parts {
    pub order: Vec<u32>,
    pub two_thirds: Sorted,
    pub third: Duration,
    pub merge: Duration,
}

pub fn in_parts(block: &[u8]) -> Parts {
    let sample = (0..block.len() as u32).filter(|place| place % 3 != 0).collect();
    let two_thirds = sort(block, sample, Scheme::Both, Duration::MAX);
    let start = Instant::now();
    let others = others(block, &two_thirds.order);
    let third = start.elapsed();
    let start = Instant::now();
    let order = merge(block, &two_thirds.order, &others);
    Parts { order, two_thirds, third, merge: start.elapsed() }
}

/// The suffixes at 0 modulo 3 in their order: by their first byte, then by the suffix after it, which is in the sample.
pub fn others(block: &[u8], sample: &[u32]) -> Vec<u32> {
    // The end is the least suffix.
    let end = block.len() as u32;
    let after = (end % 3 == 1).then_some(end).into_iter().chain(sample.iter().copied().filter(|place| place % 3 == 1));
    let mut all: Vec<u32> = after.map(|place| place - 1).collect();
    all.sort_by_key(|place| block[*place as usize]);
    all
}

/// Merges the two lists: at most two bytes are compared, and then ranks in the sample.
pub fn merge(block: &[u8], sample: &[u32], others: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; block.len() + 3];
    sample.iter().enumerate().for_each(|(rank, &place)| ranks[place as usize] = rank as u32 + 1);
    let symbol = |place: usize| block.get(place).map_or(0, |byte| u32::from(*byte) + 1);
    let (mut sample, mut others) = (sample.iter().copied().peekable(), others.iter().copied().peekable());
    let mut order = Vec::with_capacity(block.len());
    while let (Some(&in_sample), Some(&other)) = (sample.peek(), others.peek()) {
        let key = |place: u32| {
            let place = place as usize;
            match in_sample % 3 {
                1 => (symbol(place), ranks[place + 1], 0),
                _ => (symbol(place), symbol(place + 1), ranks[place + 2]),
            }
        };
        let first = if key(in_sample) < key(other) { sample.next() } else { others.next() };
        order.extend(first);
    }
    order.extend(sample.chain(others));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use theses_common::made;

    #[test]
    fn all_schemes_and_the_merge_give_the_order_of_suffixes() {
        let twice = [&made::text("words", 3000).expect("a set")[..], b"x"].concat().repeat(2);
        for block in [&b""[..], b"a", b"banana", b"mississippi", &[7; 100], &twice, &twice[..4999]] {
            let all = || (0..block.len() as u32).collect::<Vec<_>>();
            let mut expected = all();
            expected.sort_by_key(|&place| &block[place as usize..]);
            for scheme in [Scheme::Constant, Scheme::Doubling, Scheme::Both, Scheme::Ranks] {
                let sorted = sort(block, all(), scheme, Duration::MAX);
                assert!(sorted.ended && sorted.order == expected, "{} bytes", block.len());
            }
            assert!(in_parts(block).order == expected, "{} bytes", block.len());
        }
    }

    /// The thesis's example: with a depth of 960 characters, 16 steps of 4 and then 7 of 8 to 512.
    #[test]
    fn steps_of_the_example() {
        let random = made::text("random-strings", 961).expect("a set");
        let block = [&random[..960], b"\0", &random[..960], b"\x01"].concat();
        let all = || (0..block.len() as u32).collect::<Vec<_>>();
        let steps = |scheme| sort(&block, all(), scheme, Duration::MAX).steps;
        assert_eq!([steps(Scheme::Both), steps(Scheme::Constant), steps(Scheme::Doubling)], [23, 241, 8]);
    }
}
