//! The steps of coding a last column one by one, as a device does them that codes blocks of `.hbz` streams: for the
//! device of tests that is not there, and for what the kernels are compared with.

use super::ans::Shares;
use super::choose::AnsTables;
use super::encode::SegmentEncoder;
use super::tally::{self, Prices, Tally, selector_count};
use super::token::Tokens;
use crate::bits::{BackWriter, BitWriter};
use crate::codec::mtf::encode::MtfSymbols;
use crate::format::hbz::GROUP;

/// A column that is being coded.
#[derive(Default)]
pub struct Steps {
    symbols: MtfSymbols,
    tokens: Tokens,
    tables: AnsTables,
}

impl Steps {
    /// Makes tokens of a column, and chooses for the first time.
    pub fn begin(&mut self, column: &[u8]) -> Tally {
        self.symbols.encode(column);
        self.tokens.build(self.symbols.as_slice(), column.len());
        let selectors = self.selectors();
        self.tables.first_choice(&self.tokens.joint, &self.tokens.ends, self.step(), selectors)
    }

    /// By code: whether it occurs.
    pub fn used(&self) -> &[bool; 256] {
        &self.symbols.used
    }

    pub fn tokens(&self) -> usize {
        self.tokens.tokens.len()
    }

    pub fn selectors(&self) -> usize {
        selector_count(self.tokens())
    }

    pub fn step(&self) -> usize {
        tally::step(self.selectors(), self.tokens.ends.len())
    }

    /// Chooses again.
    pub fn choose(&mut self, prices: &Prices, all: bool) -> Tally {
        let step = if all { 1 } else { self.step() };
        self.tables.round(&self.tokens.joint, &self.tokens.ends, step, prices)
    }

    /// Encodes: of each segment how many bits and tokens it has, and the bytes of all.
    pub fn encode(&self, tokens: &[Shares], selectors: &[Shares]) -> (Vec<(u32, u32)>, Vec<u8>) {
        let (encoder, mut bits, mut body) =
            (SegmentEncoder::new(tokens, selectors), BackWriter::default(), BitWriter::new());
        let (mut sizes, mut from, mut group) = (Vec::new(), 0, 0);
        for &end in &self.tokens.ends {
            let groups = (end - from).div_ceil(GROUP);
            let choice = &self.tables.choice[group..group + groups];
            let begin = body.bit_len();
            let (joint, extras) = (&self.tokens.joint[from..end], &self.tokens.extras[from..end]);
            encoder.append(joint, extras, choice, &mut bits, &mut body);
            sizes.push(((body.bit_len() - begin) as u32, (end - from) as u32));
            body.align();
            (from, group) = (end, group + groups);
        }
        (sizes, body.finish())
    }
}
