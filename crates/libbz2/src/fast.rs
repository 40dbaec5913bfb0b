//! The fast decoder of a block: the codec's steps, a few groups of codes at a time, as far as the input reaches.
//!
//! Its verdict is never final: a block that is irregular in any way is decoded again, symbol by symbol (`plain`).

use crate::alloc::Memory;
use crate::plain::next_symbol;
use hybz::internals::bits::SliceBits;
use hybz::internals::bits::reader::BitReader;
use hybz::internals::codec::bwt::inverse::Inverse;
use hybz::internals::codec::header::Bz2BlockHeader;
use hybz::internals::codec::huffman::decode::{CanonicalCodes, GroupDecoder, SYMBOL_BYTES};
use hybz::internals::codec::mtf::decode::MtfDecoder;
use hybz::internals::codec::run_length::decode::InMemoryExpander;
use hybz::internals::crc;
use hybz::internals::formats::bzip2::{GROUP, MAX_CODE, MAX_RUN_WEIGHT};

/// What reading has come to.
pub enum Reading {
    /// More input is needed.
    Starved,
    /// The codes, or the text, are complete.
    Complete,
    /// Another decoder must decide.
    Irregular,
    /// There is no memory.
    NoMemory,
}

impl Reading {
    /// `None` unless it is complete.
    pub fn completes(self) -> Option<()> {
        matches!(self, Reading::Complete).then_some(())
    }

    /// `None` unless it only needs more input.
    pub fn goes_on(self) -> Option<()> {
        matches!(self, Reading::Starved).then_some(())
    }
}

/// Decodes blocks in memory of the stream.
pub struct Fast {
    groups: GroupDecoder,
    symbols: Box<[u8; SYMBOL_BYTES]>,
    mtf: MtfDecoder,
    inverse: Inverse,
    group: usize,
    /// The max length of the block.
    limit: u32,
    text: Vec<u8>,
    given: usize,
}

/// The most bits that eight groups have, plus the 64 after them that the reader may look at.
const PLENTY: u64 = (8 * GROUP as u64) * MAX_CODE as u64 + 64;

impl Fast {
    /// A decoder that has no memory yet.
    pub fn new() -> Self {
        Fast {
            groups: GroupDecoder::default(),
            symbols: Box::new([0; SYMBOL_BYTES]),
            mtf: MtfDecoder::new(0),
            inverse: Inverse::default(),
            group: 0,
            limit: 0,
            text: Vec::new(),
            given: 0,
        }
    }

    /// Begins the codes of a block.
    pub fn begin(&mut self, header: &Bz2BlockHeader, limit: u32, memory: Memory) -> Reading {
        if header.randomised || self.groups.start_block(header).is_err() {
            return Reading::Irregular;
        }
        let symbols = (header.selectors.len() * GROUP).min(limit as usize);
        if memory.window(|| self.mtf.try_reserve(symbols + 8 * GROUP)).is_err() {
            return Reading::NoMemory;
        }
        self.mtf.begin(&header.used, limit);
        (self.group, self.limit) = (0, limit);
        Reading::Starved
    }

    /// Reads codes from bit `at` on, and moves `at` to the first that has not been read.
    pub fn read(&mut self, header: &Bz2BlockHeader, data: &[u8], at: &mut u64) -> Reading {
        let end = data.len() as u64 * 8;
        let mut reader = BitReader::new(data, *at);
        loop {
            // Near the end of the data one group at a time: a group that is not complete is read again later.
            let plenty = end - *at >= PLENTY;
            let until = if plenty { header.selectors.len() } else { header.selectors.len().min(self.group + 1) };
            if self.group >= until {
                return Reading::Irregular;
            }
            let decoded = self.groups.decode_groups(&header.selectors[..until], &mut reader, &mut self.symbols);
            let reached = reader.position() + if decoded.is_err() { MAX_CODE.into() } else { 0 };
            if reached > end {
                self.groups.seek(self.group);
                return Reading::Starved;
            }
            let Ok((len, last)) = decoded else { return Reading::Irregular };
            self.group = until.min(self.group + 8);
            *at = reader.position();
            if self.mtf.push(&self.symbols[..len]).is_err() {
                return Reading::Irregular;
            }
            if last {
                return Reading::Complete;
            }
        }
    }

    /// Whether the available part of the next group, from bit `at` on, is damaged: `read` looks at whole groups only,
    /// but a stream may end there, and bzip2's library has looked at each code by then.
    pub fn sees_damage(&self, header: &Bz2BlockHeader, data: &[u8], at: u64) -> bool {
        let Some(&selector) = header.selectors.get(self.group) else { return true };
        let codes = CanonicalCodes::new(&header.lengths[usize::from(selector)][..header.alphabet()]);
        let end_of_block = header.alphabet() as u16 - 1;
        let mut bits = SliceBits::new(data, at, u64::MAX);
        let (mut len, mut weight) = self.mtf.progress();
        for _ in 0..GROUP {
            let symbol = match next_symbol(&codes, &mut bits) {
                Ok(Some(symbol)) => symbol,
                Ok(None) => return false,
                Err(_) => return true,
            };
            if symbol < 2 {
                if weight >= MAX_RUN_WEIGHT {
                    return true;
                }
                len += u64::from(weight << symbol);
                weight <<= 1;
                continue;
            }
            if len + u64::from(symbol != end_of_block) > self.limit.into() {
                return true;
            }
            len += 1;
            weight = 1;
        }
        false
    }

    /// Makes the text of a block whose codes are complete. `Irregular`: another decoder must decide.
    pub fn make_text(&mut self, header: &Bz2BlockHeader, memory: Memory) -> Reading {
        let (runs, rows) = self.mtf.finish();
        if header.origin as usize >= rows {
            return Reading::Irregular;
        }
        self.text.clear();
        let (inverse, text) = (&mut self.inverse, &mut self.text);
        let reserved = memory.window(|| {
            inverse.try_reserve(rows)?;
            text.try_reserve_exact(rows + rows / 16 + 512)
        });
        if reserved.is_err() {
            return Reading::NoMemory;
        }
        inverse.build(runs, rows);
        inverse.walk(header.origin);
        self.given = 0;
        let mut expander = InMemoryExpander::with_room(std::mem::take(&mut self.text), rows);
        if inverse.pieces().try_for_each(|piece| expander.push(piece)).is_ok() {
            match expander.finish() {
                Ok(Ok(text)) => {
                    self.text = text;
                    let right = crc::checksum(&self.text) == header.crc;
                    return if right { Reading::Complete } else { Reading::Irregular };
                }
                Err(_) => return Reading::Irregular,
                Ok(Err(_)) => {}
            }
        }
        // The block is nearly all runs, and its text too long: the other decoder makes it piece by piece.
        Reading::Irregular
    }

    /// The text that has not been handed out.
    pub fn text(&self) -> &[u8] {
        &self.text[self.given..]
    }

    /// Takes the text of a block that is complete.
    pub fn take_text(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// Sets the text to hand out.
    pub fn give_text(&mut self, text: Vec<u8>) {
        (self.text, self.given) = (text, 0);
    }

    /// Counts text as handed out.
    pub fn hand_out(&mut self, count: usize) {
        self.given += count;
    }
}

impl Default for Fast {
    fn default() -> Self {
        Self::new()
    }
}
