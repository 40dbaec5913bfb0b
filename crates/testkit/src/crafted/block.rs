//! One block of a `.bz2` stream, field by field.

use super::bits::Bits;
use super::model;

/// The magic that begins a block: pi in BCD.
pub const BLOCK_MAGIC: u64 = 0x3141_5926_5359;
/// The magic that begins the end of a stream: the square root of pi in BCD.
pub const END_MAGIC: u64 = 0x1772_4538_5090;

/// A Huffman table as a block states it: a first length in 5 bits, then one string of changes per symbol.
#[derive(Clone, Debug)]
pub struct Table {
    pub start: u32,
    /// The changes verbatim: `10` is one more, `11` one less, `0` the next symbol.
    pub deltas: Bits,
    /// The code lengths that the body is written with.
    pub lengths: Vec<u32>,
}

impl Table {
    /// These lengths, written in the shortest way.
    pub fn of(lengths: &[u32]) -> Table {
        let mut deltas = Bits::new();
        let mut at = lengths[0];
        for &length in lengths {
            for _ in at..length {
                deltas.push(0b10, 2);
            }
            for _ in length..at {
                deltas.push(0b11, 2);
            }
            deltas.bit(false);
            at = length;
        }
        Table { start: lengths[0], deltas, lengths: lengths.to_vec() }
    }

    /// A complete code for `symbols` symbols whose lengths differ by at most one, with the shorter ones first.
    pub fn flat(symbols: usize) -> Table {
        let short = symbols.ilog2();
        let shorter = (2 << short) - symbols;
        let lengths: Vec<u32> = (0..symbols).map(|s| if s < shorter { short } else { short + 1 }).collect();
        Table::of(&lengths)
    }

    /// The canonical code of `symbol`: codes of one length are consecutive in symbol order, after the shorter ones.
    pub fn code(&self, symbol: u16) -> Bits {
        let length = self.lengths[usize::from(symbol)];
        let mut code = 0u64;
        for shorter in 1..length {
            code = (code + self.lengths.iter().filter(|&&l| l == shorter).count() as u64) << 1;
        }
        code += self.lengths[..usize::from(symbol)].iter().filter(|&&l| l == length).count() as u64;
        Bits::number(code, length)
    }
}

/// The coded symbols of a block.
#[derive(Clone, Debug)]
pub enum Body {
    /// Symbols, each written with the table that its group's selector names.
    Symbols(Vec<u16>),
    /// These bits.
    Verbatim(Bits),
}

/// A block. The constructors make every field valid; to make one invalid, set it.
#[derive(Clone, Debug)]
pub struct Block {
    /// The text that the block decodes to by the model, and from which its CRC is computed.
    pub text: Vec<u8>,
    /// The last column, from which `text` was decoded.
    pub column: Vec<u8>,
    pub magic: u64,
    pub crc: u32,
    pub randomised: bool,
    pub origin: u32,
    /// 16 bits: the groups of 16 symbols that have a row in `rows`.
    pub groups: u16,
    pub rows: Vec<u16>,
    /// 3 bits.
    pub table_count: u32,
    /// 15 bits.
    pub selector_count: u32,
    /// Positions in the move-to-front list of tables. Position n is written as n ones and a zero.
    pub selectors: Vec<u32>,
    pub tables: Vec<Table>,
    pub body: Body,
}

impl Block {
    /// The block of a text.
    pub fn of_text(text: &[u8]) -> Block {
        Block::of_run_length_coded(&model::run_length(text))
    }

    /// A block made from its bytes after run-length coding, which may be bytes that no encoder writes.
    pub fn of_run_length_coded(block: &[u8]) -> Block {
        let (column, origin) = model::bwt(block);
        Block::of_column(&column, origin)
    }

    /// The randomised block of a text, as bzip2 0.9.0 and older wrote it.
    pub fn randomised_of_text(text: &[u8]) -> Block {
        let mut block = model::run_length(text);
        model::randomise(&mut block);
        Block::of_run_length_coded(&block).randomise()
    }

    /// A block made from its last column, which need not be the result of sorting, and its origin.
    pub fn of_column(column: &[u8], origin: u32) -> Block {
        let map = model::used(column);
        Block::of_symbols(&map, model::symbols(column, &map), origin)
    }

    /// A block made from its symbol map and its symbols, of which the last is the end of the block.
    pub fn of_symbols(map: &[u8], symbols: Vec<u16>, origin: u32) -> Block {
        let column = model::undo_symbols(&symbols, map);
        let text = model::text(&column, origin, false).unwrap_or_default();
        let groups = symbols.len().div_ceil(50);
        let mut block = Block {
            crc: model::crc(&text),
            text,
            column,
            magic: BLOCK_MAGIC,
            randomised: false,
            origin,
            groups: 0,
            rows: Vec::new(),
            table_count: 2,
            selector_count: 0,
            selectors: Vec::new(),
            tables: vec![Table::flat(map.len() + 2); 2],
            body: Body::Symbols(symbols),
        }
        .selecting(&vec![0; groups]);
        block.map(map);
        block
    }

    /// Sets the symbol map to the bytes in `map`, which are in order.
    fn map(&mut self, map: &[u8]) {
        let mut rows = [0u16; 16];
        for &byte in map {
            rows[usize::from(byte / 16)] |= 0x8000 >> (byte % 16);
        }
        self.groups = (0..16).filter(|&g| rows[g] != 0).map(|g| 0x8000 >> g).sum();
        self.rows = rows.into_iter().filter(|&row| row != 0).collect();
    }

    /// Sets the randomised bit; sets the text and the CRC to those to which the block then decodes.
    pub fn randomise(mut self) -> Block {
        self.randomised = true;
        self.text = model::text(&self.column, self.origin, true).unwrap_or_default();
        self.crc = model::crc(&self.text);
        self
    }

    /// Sets the selectors, as move-to-front positions.
    pub fn selecting(mut self, selectors: &[u32]) -> Block {
        self.selectors = selectors.to_vec();
        self.selector_count = selectors.len() as u32;
        self
    }

    /// Appends `spare` selectors that no group needs. Each is one bit long, so it also shifts the rest of the block by
    /// a bit.
    pub fn spare_selectors(mut self, spare: usize) -> Block {
        let selectors = self.selectors.len() + spare;
        self.selectors.resize(selectors, 0);
        self.selector_count += spare as u32;
        self
    }

    /// Sets the tables and their count.
    pub fn tables(mut self, tables: Vec<Table>) -> Block {
        self.table_count = tables.len() as u32;
        self.tables = tables;
        self
    }

    /// The symbols, unless the body is verbatim.
    pub fn symbols(&self) -> &[u16] {
        match &self.body {
            Body::Symbols(symbols) => symbols,
            Body::Verbatim(_) => &[],
        }
    }

    /// Everything before the body.
    pub fn header(&self) -> Bits {
        let mut bits = Bits::number(self.magic, 48);
        bits.push(self.crc.into(), 32);
        bits.bit(self.randomised);
        bits.push(self.origin.into(), 24);
        bits.push(self.groups.into(), 16);
        for &row in &self.rows {
            bits.push(row.into(), 16);
        }
        bits.push(self.table_count.into(), 3);
        bits.push(self.selector_count.into(), 15);
        for &ones in &self.selectors {
            for _ in 0..ones {
                bits.bit(true);
            }
            bits.bit(false);
        }
        for table in &self.tables {
            bits.push(table.start.into(), 5);
            bits.extend(&table.deltas);
        }
        bits
    }

    fn coded_body(&self) -> Bits {
        let symbols = match &self.body {
            Body::Verbatim(bits) => return bits.clone(),
            Body::Symbols(symbols) => symbols,
        };
        let codes: Vec<Vec<Bits>> =
            self.tables.iter().map(|t| (0..t.lengths.len() as u16).map(|s| t.code(s)).collect()).collect();
        let mut front: Vec<usize> = (0..codes.len()).collect();
        let mut selectors = self.selectors.iter();
        let mut bits = Bits::new();
        for group in symbols.chunks(50) {
            // If a selector is missing or out of range, the block is invalid anyway, and any bits will do.
            let at = selectors.next().map_or(0, |&s| s as usize).min(front.len() - 1);
            front[..=at].rotate_right(1);
            for &symbol in group {
                bits.extend(&codes[front[0]][usize::from(symbol)]);
            }
        }
        bits
    }

    /// The whole block.
    pub fn bits(&self) -> Bits {
        let mut bits = self.header();
        bits.extend(&self.coded_body());
        bits
    }
}
