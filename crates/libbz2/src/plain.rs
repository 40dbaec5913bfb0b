//! The decoder symbol by symbol: for `small`, and for every block that the fast decoder does not take.
//!
//! It follows bzip2 1.0.8 in what it accepts, as the codec's reference decoder does, but stops wherever the input
//! ends, and makes only as much text as fits. A row of the inverse BWT takes 20 bits, as in bzip2's library.

use crate::alloc::Memory;
use hybz::internals::bits::{BitSource, SliceBits};
use hybz::internals::codec::header::Bz2BlockHeader;
use hybz::internals::codec::huffman::decode::CanonicalCodes;
use hybz::internals::codec::run_length::derandomise::derandomise;
use hybz::internals::formats::bzip2::{GROUP, MAX_CODE, MAX_RUN_WEIGHT, MAX_TABLES};

/// Why a block cannot be decoded.
pub enum Failure {
    /// It is damaged.
    Damaged,
    /// There is no memory.
    NoMemory,
}

/// What follows the text that [`Plain::text`] has made.
pub enum Next {
    /// More of it.
    Text,
    /// The block's end.
    End,
    /// The block is damaged there.
    Damage,
}

/// Rows, 20 bits each.
#[derive(Default)]
struct Rows {
    low: Vec<u16>,
    /// The highest four bits, two rows a byte.
    high: Vec<u8>,
}

impl Rows {
    fn get(&self, row: usize) -> usize {
        usize::from(self.high[row / 2] >> (4 * (row % 2)) & 15) << 16 | usize::from(self.low[row])
    }

    fn set(&mut self, row: usize, value: usize) {
        self.low[row] = value as u16;
        let (high, shift) = (&mut self.high[row / 2], 4 * (row % 2));
        *high = *high & !(15 << shift) | ((value >> 16) as u8) << shift;
    }
}

/// The next symbol of a table, or `None` if its bits are not all there.
pub fn next_symbol(table: &CanonicalCodes, bits: &mut SliceBits<'_>) -> Result<Option<u16>, Failure> {
    let mut length = table.shortest();
    let Some(mut code) = bits.bits(length) else { return Ok(None) };
    loop {
        if length > MAX_CODE.into() {
            return Err(Failure::Damaged);
        }
        if let Some(symbol) = table.symbol(length, code) {
            return Ok(Some(symbol));
        }
        length += 1;
        let Some(bit) = bits.bits(1) else { return Ok(None) };
        code = code << 1 | bit;
    }
}

/// A block that is decoded symbol by symbol.
pub struct Plain {
    tables: [CanonicalCodes; MAX_TABLES],
    group: usize,
    left_in_group: usize,
    list: [u8; 256],
    /// A run of rows: its length, and the weight of its next digit.
    run: u32,
    weight: u32,
    /// The last column until its end is known; then the links T.
    rows: Rows,
    /// The number of rows, when it is known.
    len: usize,
    /// Where each byte's rows begin.
    starts: [u32; 257],
    /// A randomised block, before run-length decoding.
    coded: Vec<u8>,
    row: usize,
    /// How many of the rows have become text.
    used: usize,
    /// The last byte, how often it came in a row, and how often it still has to come.
    last: u8,
    equal: u32,
    repeat: u32,
}

impl Plain {
    /// Begins a block whose header has been read.
    pub fn new(header: &Bz2BlockHeader) -> Self {
        let symbols = header.alphabet();
        let mut list = [0; 256];
        list[..header.used.len()].copy_from_slice(&header.used);
        Plain {
            tables: std::array::from_fn(|table| {
                // Lengths of tables that the block does not have may be left from an earlier block.
                let lengths = if table < header.tables { &header.lengths[table][..symbols] } else { &[1, 1][..] };
                CanonicalCodes::new(lengths)
            }),
            group: 0,
            left_in_group: 0,
            list,
            run: 0,
            weight: 1,
            rows: Rows::default(),
            len: 0,
            starts: [0; 257],
            coded: Vec::new(),
            row: 0,
            used: 0,
            last: 0,
            equal: 0,
            repeat: 0,
        }
    }

    /// Reads codes. Returns true if the block is complete, false if the input ends before it is.
    pub fn read(
        &mut self,
        bits: &mut SliceBits<'_>,
        header: &Bz2BlockHeader,
        limit: usize,
        memory: Memory,
    ) -> Result<bool, Failure> {
        if self.rows.low.capacity() < limit {
            // Reserved and not touched: most streams are short.
            let Rows { low, high } = &mut self.rows;
            memory
                .window(|| low.try_reserve_exact(limit).and_then(|()| high.try_reserve_exact(limit.div_ceil(2))))
                .map_err(|_| Failure::NoMemory)?;
        }
        let end_of_block = header.alphabet() as u16 - 1;
        loop {
            let before = bits.clone();
            let Some(symbol) = self.symbol(bits, header)? else {
                *bits = before;
                return Ok(false);
            };
            if symbol < 2 {
                if self.weight >= MAX_RUN_WEIGHT {
                    return Err(Failure::Damaged);
                }
                self.run += self.weight << symbol;
                self.weight <<= 1;
                continue;
            }
            self.end_run(limit)?;
            if symbol == end_of_block {
                self.link(header, memory)?;
                return Ok(true);
            }
            if self.rows.low.len() >= limit {
                return Err(Failure::Damaged);
            }
            let rank = usize::from(symbol) - 1;
            self.list[..=rank].rotate_right(1);
            self.rows.low.push(self.list[0].into());
        }
    }

    /// The next symbol, or `None` if its bits are not all there.
    fn symbol(&mut self, bits: &mut SliceBits<'_>, header: &Bz2BlockHeader) -> Result<Option<u16>, Failure> {
        let (group, left) = match self.left_in_group {
            0 => (self.group + 1, GROUP),
            left => (self.group, left),
        };
        let selector = header.selectors.get(group - 1).ok_or(Failure::Damaged)?;
        let table = &self.tables[usize::from(*selector)];
        let symbol = next_symbol(table, bits)?;
        if symbol.is_some() {
            (self.group, self.left_in_group) = (group, left - 1);
        }
        Ok(symbol)
    }

    /// Writes the rows of a run.
    fn end_run(&mut self, limit: usize) -> Result<(), Failure> {
        let run = self.run as usize;
        let low = &mut self.rows.low;
        if run > limit - low.len() {
            return Err(Failure::Damaged);
        }
        low.resize(low.len() + run, self.list[0].into());
        (self.run, self.weight) = (0, 1);
        Ok(())
    }

    /// Makes T of the last column, as far as the text needs it.
    fn link(&mut self, header: &Bz2BlockHeader, memory: Memory) -> Result<(), Failure> {
        let origin = header.origin as usize;
        self.len = self.rows.low.len();
        self.rows.high.resize(self.len.div_ceil(2), 0);
        if origin >= self.len {
            return Err(Failure::Damaged);
        }
        for &byte in &self.rows.low {
            self.starts[usize::from(byte) + 1] += 1;
        }
        for byte in 0..256 {
            self.starts[byte + 1] += self.starts[byte];
        }
        let mut next = self.starts;
        for row in 0..self.len {
            let next = &mut next[usize::from(self.rows.low[row])];
            self.rows.set(row, *next as usize);
            *next += 1;
        }
        // Each row now leads to the row of the byte before. Reverse the links of the cycle that has the origin.
        let (mut row, mut following) = (origin, self.rows.get(origin));
        loop {
            let after = self.rows.get(following);
            self.rows.set(following, row);
            (row, following) = (following, after);
            if row == origin {
                break;
            }
        }
        self.row = origin;
        if header.randomised {
            // One byte more than the block has, as in `text`.
            let mut coded = Vec::new();
            memory.window(|| coded.try_reserve_exact(self.len + 1)).map_err(|_| Failure::NoMemory)?;
            coded.extend((0..=self.len).map(|_| self.walk()));
            derandomise(&mut coded);
            self.coded = coded;
        }
        Ok(())
    }

    /// The next byte of the block.
    fn walk(&mut self) -> u8 {
        let byte = self.starts.partition_point(|&start| start as usize <= self.row) - 1;
        self.row = self.rows.get(self.row);
        byte as u8
    }

    /// Fills `room` with text. Returns the number of bytes, and what follows them.
    pub fn text(&mut self, room: &mut [u8]) -> (usize, Next) {
        let mut at = 0;
        loop {
            if self.repeat > 0 {
                let count = (room.len() - at).min(self.repeat as usize);
                room[at..at + count].fill(self.last);
                at += count;
                self.repeat -= count as u32;
                if self.repeat > 0 {
                    return (at, Next::Text);
                }
            }
            // A run at the end may lack its length. bzip2 then reads it from the beginning of the block, and calls the
            // block damaged after that run.
            if self.used > self.len {
                return (at, Next::Damage);
            }
            if self.used == self.len && self.equal < 4 {
                return (at, Next::End);
            }
            if self.equal < 4 && at == room.len() {
                return (at, Next::Text);
            }
            let byte = if self.coded.is_empty() { self.walk() } else { self.coded[self.used] };
            self.used += 1;
            if self.equal == 4 {
                (self.repeat, self.equal) = (byte.into(), 0);
                continue;
            }
            self.equal = if self.equal > 0 && byte == self.last { self.equal + 1 } else { 1 };
            self.last = byte;
            room[at] = byte;
            at += 1;
        }
    }
}
