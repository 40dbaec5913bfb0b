//! Reads a block's header bit by bit as input comes: each step takes one field, or nothing if its bits are not there.
//!
//! The order of the checks is that of [`Bz2BlockHeader::read`], which reads a header as a whole.

use hybz::internals::bits::{BitSource, SliceBits};
use hybz::internals::codec::header::Bz2BlockHeader;
use hybz::internals::formats::bzip2::{BLOCK_MAGIC, END_MAGIC, MAX_CODE, MAX_SELECTORS, MAX_TABLES, MIN_TABLES};

/// What a step has come to.
pub enum Step {
    /// Its bits are not there.
    Starved,
    /// Another step may follow.
    Going,
    /// A header is complete.
    Block,
    /// The stream ends here, with this combined CRC.
    End(u32),
    /// No block can begin like this.
    Damaged,
}

/// Which field comes next.
#[derive(Clone, Copy, Debug, Default)]
enum Field {
    #[default]
    First,
    /// The bytes of the magic of a block, or of the end, and the number of those that have been read.
    Magic(u64, u32),
    EndCrc,
    Crc,
    Randomised,
    Origin,
    Sixteenths,
    /// The sixteenths that are still to be read.
    Map(u32),
    Tables,
    SelectorCount,
    Selector,
    FirstLength,
    Length,
    LengthStep,
}

/// How far the header of a block has been read.
#[derive(Debug, Default)]
pub struct HeaderReader {
    field: Field,
    /// The number of selectors, and how many have been read.
    selectors: usize,
    selector: usize,
    /// The tables, the last selected one first.
    list: [u8; MAX_TABLES],
    table: usize,
    symbol: usize,
    length: u32,
}

/// Adds the bytes of one sixteenth of the symbol map.
fn extend_used(header: &mut Bz2BlockHeader, high: u8, sixteen: u32) {
    header.used.extend((0..16u8).filter(|low| sixteen << low & 0x8000 != 0).map(|low| high << 4 | low));
}

impl HeaderReader {
    /// Whether a part of a header has been read.
    pub fn has_begun(&self) -> bool {
        !matches!(self.field, Field::First)
    }

    /// Reads the next field.
    pub fn step(&mut self, bits: &mut SliceBits<'_>, header: &mut Bz2BlockHeader, limit: u32) -> Step {
        self.try_step(bits, header, limit).unwrap_or(Step::Starved)
    }

    fn try_step(&mut self, bits: &mut SliceBits<'_>, header: &mut Bz2BlockHeader, limit: u32) -> Option<Step> {
        self.field = match self.field {
            Field::Magic(END_MAGIC, 6) => Field::EndCrc,
            Field::Magic(_, 6) => Field::Crc,
            Field::First | Field::Magic(..) => return self.magic(bits),
            Field::EndCrc => return Some(Step::End(bits.bits(32)?)),
            Field::Crc => {
                header.crc = bits.bits(32)?;
                Field::Randomised
            }
            Field::Randomised => {
                header.randomised = bits.bits(1)? == 1;
                Field::Origin
            }
            Field::Origin => {
                header.origin = bits.bits(24)?;
                if header.origin > limit + 10 {
                    return Some(Step::Damaged);
                }
                Field::Sixteenths
            }
            Field::Sixteenths => {
                header.used.clear();
                Field::Map(bits.bits(16)? << 16)
            }
            Field::Map(0) if header.used.is_empty() => return Some(Step::Damaged),
            Field::Map(0) => Field::Tables,
            Field::Map(sixteenths) => {
                let high = sixteenths.leading_zeros() as u8;
                extend_used(header, high, bits.bits(16)?);
                Field::Map(sixteenths & !(1 << (31 - high)))
            }
            Field::Tables => {
                header.tables = bits.bits(3)? as usize;
                if !(MIN_TABLES..=MAX_TABLES).contains(&header.tables) {
                    return Some(Step::Damaged);
                }
                Field::SelectorCount
            }
            Field::SelectorCount => return self.selector_count(bits, header),
            Field::Selector => return self.selectors(bits, header),
            Field::FirstLength => {
                self.length = bits.bits(5)?;
                self.symbol = 0;
                Field::Length
            }
            Field::Length => return self.length(bits, header),
            Field::LengthStep => {
                self.length = if bits.bits(1)? == 0 { self.length + 1 } else { self.length - 1 };
                Field::Length
            }
        };
        Some(Step::Going)
    }

    /// Reads a byte of the magic.
    fn magic(&mut self, bits: &mut SliceBits<'_>) -> Option<Step> {
        self.field = match (self.field, bits.bits(8)?) {
            (Field::First, 0x31) => Field::Magic(BLOCK_MAGIC, 1),
            (Field::First, 0x17) => Field::Magic(END_MAGIC, 1),
            (Field::Magic(magic, at), byte) if u64::from(byte) == magic >> (40 - 8 * at) & 0xff => {
                Field::Magic(magic, at + 1)
            }
            _ => return Some(Step::Damaged),
        };
        Some(Step::Going)
    }

    fn selector_count(&mut self, bits: &mut SliceBits<'_>, header: &mut Bz2BlockHeader) -> Option<Step> {
        let selectors = bits.bits(15)? as usize;
        let list = [0, 1, 2, 3, 4, 5];
        *self = HeaderReader { field: Field::Selector, selectors, list, ..Self::default() };
        header.selectors.clear();
        Some(if selectors == 0 { Step::Damaged } else { Step::Going })
    }

    fn selectors(&mut self, bits: &mut SliceBits<'_>, header: &mut Bz2BlockHeader) -> Option<Step> {
        let before = bits.clone();
        let Some(rank) = bits.unary(header.tables as u32) else {
            *bits = before;
            return None;
        };
        let rank = rank as usize;
        if rank == header.tables {
            return Some(Step::Damaged);
        }
        if self.selector < MAX_SELECTORS {
            let table = self.list[rank];
            self.list.copy_within(..rank, 1);
            self.list[0] = table;
            header.selectors.push(table);
        }
        self.selector += 1;
        if self.selector == self.selectors {
            self.field = Field::FirstLength;
        }
        Some(Step::Going)
    }

    /// Reads one bit of a code length, which says whether the length is complete.
    fn length(&mut self, bits: &mut SliceBits<'_>, header: &mut Bz2BlockHeader) -> Option<Step> {
        if !(1..=MAX_CODE.into()).contains(&self.length) {
            return Some(Step::Damaged);
        }
        if bits.bits(1)? == 1 {
            self.field = Field::LengthStep;
            return Some(Step::Going);
        }
        header.lengths[self.table][self.symbol] = self.length as u8;
        self.symbol += 1;
        if self.symbol == header.alphabet() {
            self.table += 1;
            self.field = Field::FirstLength;
            if self.table == header.tables {
                *self = Self::default();
                return Some(Step::Block);
            }
        }
        Some(Step::Going)
    }
}
