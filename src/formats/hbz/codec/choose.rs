//! Chooses the tables of a block, and which of them codes each group of 32 tokens.
//!
//! In this module a table means a set of tables, one for each class of the previous token: a group's tokens are coded
//! with the set of its selector. Everything here therefore counts joint tokens (class and token), and each class has a
//! distribution of its own.
//!
//! The method is Lloyd's algorithm, as in bzip2, but with costs in 1/32 bits (minus the logarithm of the probability)
//! instead of code lengths, and with the cost of the selector added. The first choice sorts the groups by the mean of
//! their ranks' logarithms and cuts them into equal parts. The first eight rounds look at a quarter of the segments,
//! the last two at all. Three last rounds would make the result 0.01 % smaller and encoding 1 % slower; six first
//! rounds would make it 0.03 % larger. (A third of the groups, instead of the segments, does not work: the costs of
//! selectors then come from choices that are never looked at again.)
//!
//! A round goes through its tokens once: each choice is counted immediately, for the next round's costs. The first
//! round over all segments therefore takes its costs from the quarter alone. These costs are better than if the other
//! segments' first choices were counted as well.
//!
//! Sixteen costs of 16 bits are one vector of 32 bytes, so each token takes one addition, however many tables there
//! are. This needs AVX2, for which the same code is compiled a second time. All of this reduced 2.8 ns per byte of
//! text to 1.1.

use super::tally::{self, NEVER, Prices, Tally};
use super::token::{JOINT, TOKENS};
#[cfg(target_arch = "x86_64")]
use crate::cpu;
use crate::formats::hbz::header::{GROUP, MAX_TABLES};

/// By joint token: its cost with each table. There are 256 rows, so that every byte is a valid index.
type Costs = [[u16; MAX_TABLES]; 256];

/// The first choice: cuts the groups of every `step`th segment into parts of equal size, by the mean of their
/// ranks' logarithms.
pub(super) fn first_choice(tokens: &[u8], ends: &[usize], step: usize, count: usize, choice: &mut Vec<u8>) -> Tally {
    const LEVELS: usize = 1024;
    let of_tokens = tally::weights();
    let weights: [u32; 256] = std::array::from_fn(|joint| of_tokens[joint % TOKENS]);
    let mut levels = Vec::with_capacity(tokens.len() / GROUP + ends.len());
    let mut histogram = [0usize; LEVELS];
    for (_, segment) in segments(tokens, ends, step) {
        for group in segment.chunks(GROUP) {
            let sum: u32 = group.iter().map(|&token| weights[usize::from(token)]).sum();
            let level = (sum as usize / group.len()).min(LEVELS - 1);
            histogram[level] += 1;
            levels.push(level as u16);
        }
    }
    let mut before = 0;
    let parts = histogram.map(|here| {
        before += here;
        ((before - here) * count / levels.len()) as u8
    });
    let mut counts = TokenCounts::default();
    let mut levels = levels.into_iter();
    choice.clear();
    for (first, segment) in segments(tokens, ends, step) {
        choice.resize(first, 0);
        let mut last = 0;
        for (group, level) in segment.chunks(GROUP).zip(&mut levels) {
            let table = parts[usize::from(level)];
            counts.add(group, last, table);
            choice.push(table);
            last = table;
        }
    }
    counts.tally()
}

/// Chooses again in every `step`th segment.
pub(super) fn round(tokens: &[u8], ends: &[usize], step: usize, prices: &Prices, choice: &mut Vec<u8>) -> Tally {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    if cpu::has!(Avx2: "avx2") {
        // SAFETY: the CPU has AVX2.
        return unsafe { round_avx2(tokens, ends, step, prices, choice) };
    }
    round_portable(tokens, ends, step, prices, choice)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn round_avx2(tokens: &[u8], ends: &[usize], step: usize, prices: &Prices, choice: &mut Vec<u8>) -> Tally {
    round_portable(tokens, ends, step, prices, choice)
}

/// Always inlined, so that it is compiled for the CPU features of its caller. (A loop shared with `first_choice`
/// that calls a closure was not: encoding took 1.04 times as long.)
#[inline(always)]
fn round_portable(tokens: &[u8], ends: &[usize], step: usize, prices: &Prices, choice: &mut Vec<u8>) -> Tally {
    let mut costs = [[NEVER; MAX_TABLES]; 256];
    costs[..JOINT].copy_from_slice(&prices.tokens[..JOINT]);
    let mut counts = TokenCounts::default();
    choice.clear();
    for (first, segment) in segments(tokens, ends, step) {
        choice.resize(first, 0);
        let mut last = 0;
        for group in segment.chunks(GROUP) {
            let table = cheapest(group, &costs, prices, last);
            counts.add(group, last, table);
            choice.push(table);
            last = table;
        }
    }
    counts.tally()
}

/// Counts the choices.
struct TokenCounts {
    /// How often each token occurs in the groups of each table. There are two counts, for tokens at even and at odd
    /// positions, so that a token equal to the one before it need not wait for its count.
    tokens: [[[u32; 256]; MAX_TABLES]; 2],
    /// How often each selector follows each selector.
    moves: [[u32; MAX_TABLES]; MAX_TABLES],
}

impl Default for TokenCounts {
    fn default() -> Self {
        TokenCounts { tokens: [[[0; 256]; MAX_TABLES]; 2], moves: [[0; MAX_TABLES]; MAX_TABLES] }
    }
}

impl TokenCounts {
    /// Counts a group of table `table`, whose selector follows `last`.
    #[inline(always)]
    fn add(&mut self, group: &[u8], last: u8, table: u8) {
        let (last, table) = (usize::from(last) % MAX_TABLES, usize::from(table) % MAX_TABLES);
        self.moves[last][table] += 1;
        let [even, odd] = self.tokens.each_mut().map(|tables| &mut tables[table]);
        let mut pairs = group.chunks_exact(2);
        for pair in &mut pairs {
            even[usize::from(pair[0])] += 1;
            odd[usize::from(pair[1])] += 1;
        }
        pairs.remainder().iter().for_each(|&token| even[usize::from(token)] += 1);
    }

    fn tally(&self) -> Tally {
        let [even, odd] = &self.tokens;
        let sum = |table: usize, token: usize| even[table][token] + odd[table][token];
        Tally { tokens: std::array::from_fn(|t| std::array::from_fn(|token| sum(t, token))), moves: self.moves }
    }
}

/// Every `step`th segment: the number of its first group, and its tokens.
fn segments<'a>(tokens: &'a [u8], ends: &'a [usize], step: usize) -> impl Iterator<Item = (usize, &'a [u8])> {
    let (mut from, mut number) = (0, 0);
    let each = ends.iter().map(move |&end| {
        let segment = (number, &tokens[from..end]);
        number += (end - from).div_ceil(GROUP);
        from = end;
        segment
    });
    each.step_by(step)
}

/// The table that codes this group in the fewest bits, including its selector.
#[inline(always)]
fn cheapest(group: &[u8], costs: &Costs, prices: &Prices, last: u8) -> u8 {
    let mut sums = prices.selectors[usize::from(last) % MAX_TABLES];
    for &token in group {
        for (sum, cost) in sums.iter_mut().zip(&costs[usize::from(token)]) {
            *sum += cost;
        }
    }
    let key = |(sum, table): (u16, u32)| u32::from(sum) << 4 | table;
    let keys: [u32; MAX_TABLES] = std::array::from_fn(|table| key((sums[table], table as u32)));
    keys.iter().fold(u32::MAX, |a, &b| a.min(b)) as u8 % MAX_TABLES as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use hybz_testkit::shapes::Rng;

    /// A round on this CPU gives the same as the portable round and as the definition.
    #[test]
    fn rounds_are_the_portable_ones() {
        let mut rng = Rng(33);
        let tokens: Vec<u8> = (0..400_000).map(|i| (rng.below(1 + i * 7 / 1000 % JOINT)) as u8).collect();
        let ends: Vec<usize> = (1..=40).map(|n| n * tokens.len() / 40 - n % 40 * 5).collect();
        let (mut one, mut two) = (Vec::new(), Vec::new());
        for (step, count) in [(1, 12), (4, 12), (1, 16), (4, 1)] {
            let mut tally = first_choice(&tokens, &ends, step, count, &mut one);
            for round in 0..3 {
                let prices = Prices::new(&tally, round == 0, count);
                tally = super::round(&tokens, &ends, step, &prices, &mut one);
                let plain = round_portable(&tokens, &ends, step, &prices, &mut two);
                assert!(one == two && tally == plain);
                for (first, segment) in segments(&tokens, &ends, step) {
                    let mut last = 0;
                    for (group, &table) in segment.chunks(GROUP).zip(&one[first..]) {
                        let sum = |table: u8| -> u32 {
                            let cost = |token: &u8| u32::from(prices.tokens[usize::from(*token)][usize::from(table)]);
                            group.iter().map(cost).sum::<u32>() + u32::from(prices.selectors[last][usize::from(table)])
                        };
                        assert_eq!(Some(table), (0..count as u8).min_by_key(|&table| sum(table)));
                        last = table.into();
                    }
                }
            }
        }
    }
}
