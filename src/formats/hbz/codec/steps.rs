//! The steps of coding a last column one by one, as a device that codes blocks of `.hbz` streams does them. The fake
//! device of the tests uses them, and the kernels are compared with them.

use super::ans::Shares;
use super::choose::AnsTables;
use super::encode::{SegmentEncoder, encode_segments};
use super::payload::SEGMENT;
use super::tally::{self, Prices, Tally, selector_count};
use super::token::Tokens;
use crate::bits::BackWriter;
use crate::codec::mtf::encode::MtfSymbols;

/// A column being coded.
#[derive(Default)]
pub struct Steps {
    symbols: MtfSymbols,
    tokens: Tokens,
    tables: AnsTables,
}

impl Steps {
    /// Makes the tokens of a column, and the first choice.
    pub fn begin(&mut self, column: &[u8]) -> Tally {
        self.symbols.encode_segments(column, SEGMENT);
        self.tokens.build(self.symbols.as_slice(), &self.symbols.ends);
        let selectors = self.selectors();
        self.tables.first_choice(&self.tokens.joint, &self.symbols.ends, self.step(), selectors)
    }

    /// For each code, whether it occurs.
    pub fn used(&self) -> &[bool; 256] {
        &self.symbols.used
    }

    pub fn tokens(&self) -> usize {
        self.tokens.joint.len()
    }

    pub fn selectors(&self) -> usize {
        selector_count(self.tokens())
    }

    pub fn step(&self) -> usize {
        tally::step(self.selectors(), self.symbols.ends.len())
    }

    /// Chooses again.
    pub fn choose(&mut self, prices: &Prices, all: bool) -> Tally {
        let step = if all { 1 } else { self.step() };
        self.tables.round(&self.tokens.joint, &self.symbols.ends, step, prices)
    }

    /// Encodes. Returns the number of bits and tokens of each segment, and the bytes of all segments.
    pub fn encode(&self, tokens: &[Shares], selectors: &[Shares]) -> (Vec<(u32, u32)>, Vec<u8>) {
        let encoder = SegmentEncoder::new(tokens, selectors);
        encode_segments(&self.tokens, &self.symbols.ends, &self.tables.choice, &encoder, &mut BackWriter::default())
    }
}
