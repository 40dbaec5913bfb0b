//! Finds where a block ends, in bits that arrive a few at a time.
//!
//! A block does not state its length: its end is known only once all of its Huffman codes have been read. [`BlockWalk`]
//! reads them without decoding the block. When more bits come, it resumes at its position, so the work is linear
//! however small the pieces are. It accepts what the reference decoder (`codec::reference`) accepts, as far as that can
//! be decided without the meaning of the symbols; that decoder then decodes the block, or reports the damage.

use crate::bits::{BitSource, SliceBits};
use crate::codec::header::{Bz2BlockHeader, read};
use crate::codec::huffman::decode::CanonicalCodes;
use crate::error::DecodeError;
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{GROUP, MAX_SELECTORS, MAX_TABLES};

/// What is known about a block's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    /// The block goes on after the available bits.
    More,
    /// The block ends inside the available bits.
    End,
    /// It is damaged, whatever bits follow.
    Damaged,
}

/// The item to read next.
#[derive(Clone, Copy, Default)]
enum Item {
    /// Everything from the magic to the number of selectors.
    #[default]
    Fields,
    /// One of the selectors, with this many left.
    Selector(usize),
    /// The first code length of this table.
    FirstLength(usize),
    /// The next delta of the code length of this symbol of this table; the last number is the length so far.
    Length(usize, usize, u32),
    /// One code of this group, with this many left in it.
    Code(usize, usize),
    /// No item: the last code was the end of the block.
    Nothing,
}

/// The state of following a block's bits.
#[derive(Default)]
pub(crate) struct BlockWalk {
    /// The next bit that is read.
    bit: u64,
    item: Item,
    header: Bz2BlockHeader,
    /// The selectors' move-to-front list.
    order: [u8; MAX_TABLES],
    codes: Vec<CanonicalCodes>,
}

impl BlockWalk {
    /// The block that begins at bit `start` of the data to come.
    pub fn new(start: u64) -> BlockWalk {
        BlockWalk { bit: start, order: [0, 1, 2, 3, 4, 5], ..BlockWalk::default() }
    }

    /// The next bit to be read; after [`Walked::End`], the one after the block's last.
    pub fn position(&self) -> u64 {
        self.bit
    }

    /// Goes on through `data` up to bit `end`. Every call passes the same data, and perhaps more after them.
    pub fn advance(&mut self, data: &[u8], end: u64) -> Walked {
        let mut bits = SliceBits::new(data, self.bit, end);
        loop {
            match self.next(&mut bits) {
                Ok(Item::Nothing) => return Walked::End,
                Ok(item) => {
                    self.item = item;
                    self.bit = bits.position();
                }
                // The item is read again when more data come.
                Err(DecodeError::OutOfData) => return Walked::More,
                Err(DecodeError::Damaged(_)) => return Walked::Damaged,
            }
        }
    }

    /// Reads one item and returns the next one. Changes nothing if the data end in it.
    fn next(&mut self, bits: &mut SliceBits<'_>) -> Result<Item, DecodeError> {
        Ok(match self.item {
            // Neither the CRC nor the origin is checked.
            Item::Fields => Item::Selector(self.header.read_fields(bits, u32::MAX)?),
            Item::Selector(left) => {
                let rank = bits.unary(self.header.tables as u32).ok_or(DecodeError::OutOfData)? as usize;
                if rank == self.header.tables {
                    return Err(Flaw::Selectors.into());
                }
                self.order[..=rank].rotate_right(1);
                if self.header.selectors.len() < MAX_SELECTORS {
                    self.header.selectors.push(self.order[0]);
                }
                if left > 1 { Item::Selector(left - 1) } else { Item::FirstLength(0) }
            }
            Item::FirstLength(table) => Item::Length(table, 0, read(bits, 5)?),
            Item::Length(table, symbol, length) => self.length(bits, table, symbol, length)?,
            Item::Code(group, left) => {
                if self.code(bits, group)? == self.header.alphabet() as u16 - 1 {
                    Item::Nothing
                } else if left > 1 {
                    Item::Code(group, left - 1)
                } else {
                    Item::Code(group + 1, GROUP)
                }
            }
            Item::Nothing => Item::Nothing,
        })
    }

    fn length(
        &mut self,
        bits: &mut SliceBits<'_>,
        table: usize,
        symbol: usize,
        length: u32,
    ) -> Result<Item, DecodeError> {
        if !(1..=20).contains(&length) {
            return Err(Flaw::CodeLength.into());
        }
        if read(bits, 1)? == 1 {
            let length = if read(bits, 1)? == 0 { length + 1 } else { length - 1 };
            return Ok(Item::Length(table, symbol, length));
        }
        let lengths = &mut self.header.lengths[table];
        lengths[symbol] = length as u8;
        let symbols = self.header.used.len() + 2;
        if symbol + 1 < symbols {
            return Ok(Item::Length(table, symbol + 1, length));
        }
        self.codes.push(CanonicalCodes::new(&lengths[..symbols]));
        Ok(if table + 1 < self.header.tables { Item::FirstLength(table + 1) } else { Item::Code(0, GROUP) })
    }

    fn code(&self, bits: &mut SliceBits<'_>, group: usize) -> Result<u16, DecodeError> {
        let table = *self.header.selectors.get(group).ok_or(Flaw::Selectors)?;
        let codes = &self.codes[usize::from(table)];
        let mut length = codes.shortest();
        let mut code = read(bits, length)?;
        while length <= 20 {
            if let Some(symbol) = codes.symbol(length, code) {
                return Ok(symbol);
            }
            length += 1;
            code = code << 1 | read(bits, 1)?;
        }
        Err(Flaw::Code.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::decoder::Decoder;
    use crate::{Level, Settings};
    use hybz_testkit::shapes::{Rng, shape};

    /// The block of a small stream, without the stream's header of 32 bits.
    fn block(text: &[u8]) -> Vec<u8> {
        crate::compress(text, &Settings::new().level(Level::FASTEST)).unwrap()[4..].to_vec()
    }

    fn walked(data: &[u8], end: u64) -> (Walked, u64) {
        let mut walk = BlockWalk::new(0);
        (walk.advance(data, end), walk.bit)
    }

    /// Tells whether the reference decoder finds the end of a block, or why it does not. One decoder serves all calls:
    /// making its tables of 900,000 rows took 95 % of the time of these tests.
    fn decoded(decoder: &mut Decoder, data: &[u8], end: u64) -> Result<(), DecodeError> {
        decoder.decode_reference(&mut SliceBits::new(data, 0, end), 900_000).map(drop)
    }

    /// With one more bit at a time, the end is found as soon as the decoder could decode the block, and not earlier.
    #[test]
    fn the_end_is_where_the_decoder_ends() {
        let mut decoder = Decoder::new();
        for (name, len) in [("words", 3000), ("random", 700), ("zeros", 90_000), ("all", 1)] {
            let data = if name == "all" { block(&[7]) } else { block(&(shape(name).make)(len)) };
            let mut walk = BlockWalk::new(0);
            let mut ended = false;
            for end in 0..=data.len() as u64 * 8 {
                let expected = match decoded(&mut decoder, &data, end) {
                    Ok(()) => Walked::End,
                    Err(DecodeError::OutOfData) => Walked::More,
                    Err(DecodeError::Damaged(damage)) => panic!("{name}: {damage}"),
                };
                assert_eq!(walk.advance(&data, end), expected, "{name}, {end}");
                assert_eq!(walked(&data, end).0, expected, "{name}, {end}");
                ended |= expected == Walked::End;
            }
            assert!(ended, "{name}");
        }
    }

    /// Walk and decoder also agree on wrong bits, except on errors that only the symbols' meaning shows: there the
    /// walk may go on.
    #[test]
    fn damage_is_the_decoders() {
        let good = block(&(shape("words").make)(3000));
        let (mut rng, mut decoder) = (Rng(3), Decoder::new());
        for round in 0..4000 {
            let mut data = good.clone();
            // The wrong bits are often in the header, because most checks are there.
            let bit = rng.below(if round % 2 == 0 { 1500 } else { data.len() * 8 });
            data[bit / 8] ^= 0x80 >> (bit % 8);
            let end = rng.below(data.len() * 8 + 1) as u64;
            match (decoded(&mut decoder, &data, end), walked(&data, end).0) {
                (Ok(()), Walked::End) | (Err(DecodeError::OutOfData), Walked::More) => {}
                (Err(DecodeError::Damaged(Flaw::Origin | Flaw::BlockTooLong | Flaw::RunTooLong)), _) => {}
                (Err(DecodeError::Damaged(Flaw::BlockCrc { .. } | Flaw::MissingRunCount)), Walked::End) => {}
                (Err(DecodeError::Damaged(_)), Walked::Damaged) => {}
                (decoded, walked) => panic!("bit {bit}, end {end}: {decoded:?}, {walked:?}"),
            }
        }
    }
}
