//! Choosing tables: which tables a block has, and which of them codes which group of 32 tokens.
//!
//! What is called a table here is one for each class that the token before may have: a group's tokens are coded with the tables of
//! one selector. So all this goes by joint tokens (class and token), of which each class has a distribution of its own.
//!
//! Lloyd's algorithm, as bzip2's, with costs in 1/32 bits (minus the logarithm of the probability) in place of code lengths,
//! and the price of the selector counted in. The first guess sorts the groups by how far their ranks are on average and cuts
//! them into equal parts. The first six rounds look at a quarter of the segments, the last two at all: ten and three would make it
//! 0.1 % smaller and coding 4 % slower; six on a third and none at all, 0.8 % larger. (A third of the groups instead of the
//! segments does not do: the prices of selectors are then those of choices that are never looked at again.)
//!
//! Sixteen costs of 16 bits are one vector of 32 bytes: one addition for each token, whatever the number of tables.

use super::ans::{Shares, shares};
use super::token::{JOINT, TOKENS};
use super::{GROUP, MOST_TABLES};

/// States of the tables of tokens.
pub const STATES: usize = 2048;
/// States of the tables of selectors.
pub const SELECTOR_STATES: usize = 256;

/// Tokens for each table: fewer would not pay for its description.
const TOKENS_PER_TABLE: usize = 32_000;
/// Rounds on a part of the segments, and how large that part is; then rounds on all.
const ROUNDS_ON_PART: usize = 6;
const PART: usize = 4;
const ROUNDS: usize = 2;
/// A cost of a token that the table does not have.
const NEVER: u16 = 16 * 32;

type Costs = [[u16; MOST_TABLES]; JOINT];
type Counts = [[u32; JOINT]; MOST_TABLES];

/// The tables of a block.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// By table, and in it by the class of the token before.
    pub tokens: Vec<Shares>,
    /// By the selector before.
    pub selectors: Vec<Shares>,
    /// The table of each group, segment by segment.
    pub choice: Vec<u8>,
}

impl Tables {
    /// Becomes the tables for these joint tokens; `ends`: where each segment's tokens end.
    pub fn choose(&mut self, tokens: &[u8], ends: &[usize]) {
        let count = (tokens.len() / TOKENS_PER_TABLE).clamp(1, MOST_TABLES);
        self.first_choice(tokens, ends, count);
        let mut selector_costs = [[0u16; MOST_TABLES]; MOST_TABLES];
        for round in 0..ROUNDS_ON_PART + ROUNDS {
            let step = if round < ROUNDS_ON_PART && ends.len() > 30 { PART } else { 1 };
            let costs = costs(&self.counts(tokens, ends, step));
            let mut moves = [[1u32; MOST_TABLES]; MOST_TABLES];
            each_group(tokens, ends, step, |number, group, first| {
                let last = if first { 0 } else { usize::from(self.choice[number - 1]) };
                let table = cheapest(group, &costs, &selector_costs[last], count);
                self.choice[number] = table;
                moves[last][usize::from(table)] += 1;
            });
            for (costs, moves) in selector_costs.iter_mut().zip(&moves) {
                let total: u32 = moves[..count].iter().sum();
                for (cost, &times) in costs.iter_mut().zip(moves) {
                    *cost = bits_32(times, total);
                }
            }
            if count == 1 {
                break;
            }
        }
        let counts = self.counts(tokens, ends, 1);
        self.tokens =
            counts[..count].iter().flat_map(|all| all.chunks(TOKENS)).map(|counts| shares(counts, STATES)).collect();
        let mut moves = [[0u32; MOST_TABLES]; MOST_TABLES];
        each_group(tokens, ends, 1, |number, _, first| {
            let last = if first { 0 } else { usize::from(self.choice[number - 1]) };
            moves[last][usize::from(self.choice[number])] += 1;
        });
        self.selectors = moves[..count].iter().map(|moves| shares(&moves[..count], SELECTOR_STATES)).collect();
    }

    /// The groups in parts of equal number, by the mean of their ranks' logarithms.
    fn first_choice(&mut self, tokens: &[u8], ends: &[usize], count: usize) {
        const LEVELS: usize = 1024;
        let weights: [u32; JOINT] =
            std::array::from_fn(|joint| (libm::log2((joint % TOKENS) as f64 + 1.0) * 256.0) as u32);
        let mut levels = Vec::with_capacity(tokens.len() / GROUP + ends.len());
        let mut histogram = [0usize; LEVELS];
        each_group(tokens, ends, 1, |_, group, _| {
            let sum: u32 = group.iter().map(|&token| weights[usize::from(token)]).sum();
            let level = (sum as usize / group.len()).min(LEVELS - 1);
            histogram[level] += 1;
            levels.push(level as u16);
        });
        let mut before = 0;
        let parts = histogram.map(|here| {
            before += here;
            ((before - here) * count / levels.len()) as u8
        });
        self.choice.clear();
        self.choice.extend(levels.iter().map(|&level| parts[usize::from(level)]));
    }

    /// How often each token occurs in the groups of each table, in every `step`th segment.
    fn counts(&self, tokens: &[u8], ends: &[usize], step: usize) -> Counts {
        let mut counts = [[0; JOINT]; MOST_TABLES];
        each_group(tokens, ends, step, |number, group, _| {
            let counts = &mut counts[usize::from(self.choice[number])];
            group.iter().for_each(|&token| counts[usize::from(token)] += 1);
        });
        counts
    }
}

/// Calls `f` with each group of every `step`th segment: its number, its tokens, and whether it is its segment's first.
fn each_group(tokens: &[u8], ends: &[usize], step: usize, mut f: impl FnMut(usize, &[u8], bool)) {
    let (mut from, mut number) = (0, 0);
    for (segment, &end) in ends.iter().enumerate() {
        let groups = (end - from).div_ceil(GROUP);
        if segment % step == 0 {
            for (place, group) in tokens[from..end].chunks(GROUP).enumerate() {
                f(number + place, group, place == 0);
            }
        }
        number += groups;
        from = end;
    }
}

/// What an event costs that occurs `times` times of `total`, in 1/32 bits.
fn bits_32(times: u32, total: u32) -> u16 {
    if times == 0 { NEVER } else { (libm::log2(f64::from(total) / f64::from(times)) * 32.0) as u16 }
}

fn costs(counts: &Counts) -> Costs {
    let mut costs = [[NEVER; MOST_TABLES]; JOINT];
    for (table, counts) in counts.iter().enumerate() {
        for (costs, counts) in costs.chunks_mut(TOKENS).zip(counts.chunks(TOKENS)) {
            let total = counts.iter().sum();
            for (costs, &times) in costs.iter_mut().zip(counts) {
                costs[table] = bits_32(times, total).min(NEVER);
            }
        }
    }
    costs
}

/// The table that codes this group in the fewest bits, its selector included.
#[inline]
fn cheapest(group: &[u8], costs: &Costs, selectors: &[u16; MOST_TABLES], count: usize) -> u8 {
    let mut sums = *selectors;
    for &token in group {
        for (sum, cost) in sums.iter_mut().zip(&costs[usize::from(token)]) {
            *sum += cost;
        }
    }
    let mut best = (u16::MAX, 0);
    for (table, &sum) in sums[..count].iter().enumerate() {
        if sum < best.0 {
            best = (sum, table as u8);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::super::token::CLASSES;
    use super::*;
    use crate::shapes::Rng;

    #[test]
    fn groups_of_one_kind_get_one_table() {
        let mut rng = Rng(31);
        let mut tokens = Vec::new();
        for part in 0..400 {
            let (low, most) = if part % 2 == 0 { (0, 3) } else { (10, 16) };
            tokens.extend((0..GROUP * 10).map(|_| (low + rng.below(most)) as u8));
        }
        let mut tables = Tables::default();
        tables.choose(&tokens, &[tokens.len()]);
        assert_eq!(tables.choice.len(), 4000);
        for (number, pair) in tables.choice.chunks(10).collect::<Vec<_>>().windows(2).enumerate() {
            assert!(pair[0].iter().all(|table| !pair[1].contains(table)), "{number}");
        }
    }

    #[test]
    fn each_group_has_a_table_that_can_code_it() {
        let mut rng = Rng(32);
        for len in [1, 31, 32, 33, 5000, 100_000] {
            let tokens: Vec<u8> = (0..len).map(|_| rng.below(1 + rng.0 as usize % JOINT) as u8).collect();
            let ends = if len > 40 { vec![37, len] } else { vec![len] };
            let mut tables = Tables::default();
            tables.choose(&tokens, &ends);
            let (mut groups, mut last) = (0, 0);
            each_group(&tokens, &ends, 1, |number, group, first| {
                let table = usize::from(tables.choice[number]);
                let coded = |joint: &u8| {
                    let (class, token) = (usize::from(*joint) / TOKENS, usize::from(*joint) % TOKENS);
                    tables.tokens[table * CLASSES + class][token] > 0
                };
                assert!(group.iter().all(coded));
                assert!(tables.selectors[if first { 0 } else { last }][table] > 0);
                (groups, last) = (number + 1, table);
            });
            assert_eq!(groups, tables.choice.len());
        }
    }
}
