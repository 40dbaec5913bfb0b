//! The counts of the choices for the groups of a block, their costs, and the tables made from them: the part of
//! choosing that computes with logarithms. Cores (`choose`) and GPUs (`cuda/choose.cu`) share it, so both produce the
//! same bytes.

use super::ans::{Shares, normalize};
use super::token::{JOINT, TOKENS};
use crate::formats::hbz::header::{MAX_TABLES, SELECTOR_STATES, TOKEN_STATES};

/// The number of tokens for each table. With fewer, a table would not repay its description.
const TOKENS_PER_TABLE: usize = 32_000;
/// The number of rounds on a part of the segments; that part (one segment in `PART`, if there are more than
/// `SEGMENTS_FOR_PARTS`); and the number of rounds on all.
const ROUNDS_ON_PART: usize = 8;
const PART: usize = 4;
const SEGMENTS_FOR_PARTS: usize = 30;
const ROUNDS: usize = 2;
/// The cost of a token that a table cannot code.
pub const NEVER: u16 = 16 * 32;
/// The cost of a table that does not exist: more than any group costs with any other.
const NO_TABLE: u16 = 1 << 15;

/// The number of selectors of a block with this many tokens.
pub fn selector_count(tokens: usize) -> usize {
    (tokens / TOKENS_PER_TABLE).clamp(1, MAX_TABLES)
}

/// The first rounds look at one segment in this many.
pub fn step(selectors: usize, segments: usize) -> usize {
    if selectors > 1 && segments > SEGMENTS_FOR_PARTS { PART } else { 1 }
}

/// A round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Selectors cost nothing.
    pub free_moves: bool,
    /// The round looks at all segments.
    pub all: bool,
}

/// The rounds after the first choice.
pub fn rounds(selectors: usize) -> impl Iterator<Item = Round> {
    let count = if selectors == 1 { 0 } else { ROUNDS_ON_PART + ROUNDS };
    (0..count).map(|round| Round { free_moves: round == 0, all: round >= ROUNDS_ON_PART })
}

/// For each token, 256 times the binary logarithm of its number plus 1, rounded down. The first choice uses them.
pub fn weights() -> [u32; TOKENS] {
    std::array::from_fn(|token| (libm::log2(token as f64 + 1.0) * 256.0) as u32)
}

/// The choices for a block's groups: `struct hybz_tally` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Tally {
    /// By selector: how often each joint token occurs in its groups.
    pub tokens: [[u32; JOINT]; MAX_TABLES],
    /// By the previous selector: how often each selector follows.
    pub moves: [[u32; MAX_TABLES]; MAX_TABLES],
}

impl Tally {
    /// An empty tally.
    pub const EMPTY: Tally = Tally { tokens: [[0; JOINT]; MAX_TABLES], moves: [[0; MAX_TABLES]; MAX_TABLES] };

    /// The tables of tokens, by selector and class, and those of selectors.
    pub fn tables(&self, selectors: usize) -> (Vec<Shares>, Vec<Shares>) {
        let shares_of =
            |counts: &[u32; JOINT]| counts.chunks(TOKENS).map(|c| normalize(c, TOKEN_STATES)).collect::<Vec<_>>();
        let tokens = self.tokens[..selectors].iter().flat_map(shares_of).collect();
        let moves = self.moves[..selectors].iter();
        (tokens, moves.map(|moves| normalize(&moves[..selectors], SELECTOR_STATES)).collect())
    }
}

/// The costs of tokens and selectors, in 1/32 bits: `struct hybz_prices` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Prices {
    /// By joint token, with each selector. The last row stands for a missing token, which costs nothing.
    pub tokens: [[u16; MAX_TABLES]; JOINT + 1],
    /// By the previous selector.
    pub selectors: [[u16; MAX_TABLES]; MAX_TABLES],
}

impl Prices {
    /// The prices that follow from the counts, for this many selectors. With `free_moves` selectors cost nothing.
    pub fn new(tally: &Tally, free_moves: bool, selectors: usize) -> Prices {
        let mut tokens = [[NEVER; MAX_TABLES]; JOINT + 1];
        tokens[JOINT] = [0; MAX_TABLES];
        for (table, counts) in tally.tokens.iter().enumerate() {
            for (costs, counts) in tokens[..JOINT].chunks_mut(TOKENS).zip(counts.chunks(TOKENS)) {
                let total = counts.iter().sum();
                for (costs, &times) in costs.iter_mut().zip(counts) {
                    costs[table] = bits_32(times, total).min(NEVER);
                }
            }
        }
        let selectors = tally.moves.map(|moves| {
            let total = moves[..selectors].iter().map(|times| times + 1).sum();
            std::array::from_fn(|table| match table {
                _ if table >= selectors => NO_TABLE,
                _ if free_moves => 0,
                _ => bits_32(moves[table] + 1, total),
            })
        });
        Prices { tokens, selectors }
    }
}

/// The cost of an event that occurs `times` times in `total`, in 1/32 bits.
fn bits_32(times: u32, total: u32) -> u16 {
    if times == 0 { NEVER } else { (libm::log2(f64::from(total) / f64::from(times)) * 32.0) as u16 }
}
