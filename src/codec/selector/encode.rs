//! Chooses the Huffman tables of a block and writes its symbols with them.
//!
//! bzip2 uses 2 to 6 tables, depending on the number of symbols. It starts with tables that each favour a range of the
//! alphabet and improves them four times: each group of 50 symbols goes to the table that codes it in the fewest bits
//! (the first of several), and each table is rebuilt from the groups that went to it. All steps use integer arithmetic,
//! so the order of computation does not matter, except for the code lengths (see `huffman`).
//!
//! The six lengths of a symbol lie side by side in one 64-bit word, 10 bits each (50 codes of 17 bits are 850 bits), so
//! that one addition per symbol gives a group's cost with all six tables. Frequencies are counted once; after that only
//! groups that change their table are moved from one count to the other, and a table whose groups have not changed is
//! not rebuilt. Measured (Zen 5, per byte of block): choosing 0.45 GB/s for random bytes, 0.75 for English, 2.7 for
//! tables; writing 1.1, 1.9 and 8.

use crate::bits::BitWriter;
use crate::codec::huffman::encode::{assign_codes, code_lengths};
use crate::codec::mtf::encode::MtfSymbols;
use crate::formats::bzip2::header::{GROUP, MAX_SYMBOLS, MAX_TABLES, MAX_WRITTEN_CODE};
use std::collections::TryReserveError;

/// The number of rounds of improvement.
const ROUNDS: usize = 4;

/// The number of bits of one cost in a word of six.
const FIELD: u32 = 10;

/// The Huffman tables of a block and the table of each group. The memory is reused for the next block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HuffmanTables {
    /// The code lengths of all symbols, by table.
    lengths: Vec<[u8; MAX_SYMBOLS]>,
    /// The table of each group.
    selectors: Vec<u8>,
    /// The number of bits of all codes together.
    code_bits: u64,
}

impl HuffmanTables {
    /// Reserves the memory for a column of `len` bytes.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn try_reserve(&mut self, len: usize) -> Result<(), TryReserveError> {
        self.selectors.clear();
        self.selectors.try_reserve_exact((len + 1).div_ceil(GROUP))?;
        self.lengths.clear();
        self.lengths.try_reserve_exact(MAX_TABLES)
    }

    /// Chooses tables for these symbols as bzip2 does.
    pub fn choose(&mut self, symbols: &MtfSymbols) {
        let alphabet = symbols.alphabet;
        let text = symbols.as_slice();
        let count = table_count(text.len());
        self.first_tables(count, &symbols.frequencies[..alphabet], text.len());

        self.selectors.clear();
        let mut frequencies = [[0u32; MAX_SYMBOLS]; MAX_TABLES];
        for round in 0..ROUNDS {
            let costs = self.packed_lengths(alphabet);
            let mut changed = [round == 0; MAX_TABLES];
            for (number, group) in text.chunks(GROUP).enumerate() {
                let best = cheapest(group, &costs);
                let Some(selector) = self.selectors.get_mut(number) else {
                    self.selectors.push(best);
                    group.iter().for_each(|&symbol| frequencies[usize::from(best)][usize::from(symbol)] += 1);
                    continue;
                };
                let old = std::mem::replace(selector, best);
                let pair = [usize::from(old), usize::from(best)];
                // If both tables are the same, no count moves.
                if let Ok([from, to]) = frequencies.get_disjoint_mut(pair) {
                    for &symbol in group {
                        from[usize::from(symbol)] -= 1;
                        to[usize::from(symbol)] += 1;
                    }
                    changed[pair[0]] = true;
                    changed[pair[1]] = true;
                }
            }
            for (table, lengths) in self.lengths.iter_mut().enumerate().filter(|(table, _)| changed[*table]) {
                code_lengths(&frequencies[table][..alphabet], &mut lengths[..alphabet]);
            }
        }
        let bits = |lengths: &[u8; MAX_SYMBOLS], frequencies: &[u32; MAX_SYMBOLS]| -> u64 {
            lengths.iter().zip(frequencies).map(|(&len, &times)| u64::from(len) * u64::from(times)).sum()
        };
        self.code_bits = self.lengths.iter().zip(&frequencies).map(|(l, f)| bits(l, f)).sum();
    }

    /// Makes the first tables: each gives short codes to one range of the alphabet, all ranges having about the same
    /// total frequency, and long codes to the rest.
    fn first_tables(&mut self, count: usize, frequencies: &[u32], total: usize) {
        const LESSER_COST: u8 = 0;
        const GREATER_COST: u8 = 15;
        self.lengths.clear();
        self.lengths.resize(count, [GREATER_COST; MAX_SYMBOLS]);
        let mut left = total as u32;
        let mut from = 0;
        for part in (1..=count).rev() {
            let wanted = left / part as u32;
            let mut to = from; // the range is `from..to`
            let mut sum = 0;
            while sum < wanted && to < frequencies.len() {
                sum += frequencies[to];
                to += 1;
            }
            // Every second table, except the first and the last, gives back the symbol that made its range too large.
            if to > from + 1 && part != count && part != 1 && (count - part) % 2 == 1 {
                to -= 1;
                sum -= frequencies[to];
            }
            self.lengths[part - 1][from..to].fill(LESSER_COST);
            from = to;
            left -= sum;
        }
    }

    /// The lengths of each symbol in all tables, side by side. Missing tables get a length greater than any real one.
    fn packed_lengths(&self, alphabet: usize) -> [u64; 512] {
        const ABSENT_COST: u64 = 20;
        let mut packed = [0; 512];
        for (symbol, word) in packed.iter_mut().enumerate().take(alphabet) {
            for table in (0..MAX_TABLES).rev() {
                *word = *word << FIELD | self.lengths.get(table).map_or(ABSENT_COST, |lengths| lengths[symbol].into());
            }
        }
        packed
    }

    /// An upper bound, and a close one, for the bits that [`write_head`](Self::write_head) and
    /// [`write_codes`](Self::write_codes) write.
    pub fn bits_needed(&self, alphabet: usize) -> u64 {
        let selectors = self.selectors.len() * MAX_TABLES;
        let tables = self.lengths.len() * (5 + alphabet * 2 * usize::from(MAX_WRITTEN_CODE));
        self.code_bits + (18 + selectors + tables) as u64
    }

    /// Sets the code lengths, the selectors, and the number of bits of all codes that were chosen elsewhere for a block
    /// of `symbols` symbols (EOB included) over an alphabet of `alphabet`. Returns false, and changes nothing, if no
    /// block can have them. Does not check whether bzip2 would have chosen the same.
    pub fn try_set(
        &mut self,
        lengths: &[[u8; MAX_SYMBOLS]],
        selectors: &[u8],
        symbols: usize,
        alphabet: usize,
        code_bits: u64,
    ) -> bool {
        let complete = |lengths: &[u8; MAX_SYMBOLS]| {
            let lengths = &lengths[..alphabet];
            let usual = lengths.iter().all(|len| (1..=MAX_WRITTEN_CODE).contains(len));
            usual && lengths.iter().map(|len| 1u32 << (MAX_WRITTEN_CODE - len)).sum::<u32>() == 1 << MAX_WRITTEN_CODE
        };
        let possible = (3..=MAX_SYMBOLS).contains(&alphabet)
            && symbols >= 2
            && lengths.len() == table_count(symbols)
            && selectors.len() == symbols.div_ceil(GROUP)
            && selectors.iter().all(|&selector| usize::from(selector) < lengths.len())
            && (symbols as u64..=symbols as u64 * u64::from(MAX_WRITTEN_CODE)).contains(&code_bits)
            && lengths.iter().all(complete);
        if possible {
            self.lengths.clear();
            self.lengths.extend_from_slice(lengths);
            self.selectors.clear();
            self.selectors.extend_from_slice(selectors);
            self.code_bits = code_bits;
        }
        possible
    }

    /// The code with which a block over this alphabet must end, and its length.
    pub fn end_code(&self, alphabet: usize) -> (u32, u32) {
        let table = usize::from(*self.selectors.last().expect("a block has symbols"));
        let code = assign_codes(&self.lengths[table][..alphabet])[alphabet - 1];
        (code >> 8, code & 0xff)
    }

    /// The code lengths of each table, the table of each group, and the number of bits of all codes.
    #[cfg(test)]
    pub fn parts(&self) -> (&[[u8; MAX_SYMBOLS]], &[u8], u64) {
        (&self.lengths, &self.selectors, self.code_bits)
    }

    /// Writes the number of tables, the selectors and the tables.
    pub fn write_head(&self, alphabet: usize, out: &mut BitWriter) {
        out.write(self.lengths.len() as u64, 3);
        out.write(self.selectors.len() as u64, 15);
        self.write_selectors(out);
        for lengths in &self.lengths {
            write_table(&lengths[..alphabet], out);
        }
    }

    /// Writes the codes of all symbols.
    pub fn write_codes(&self, symbols: &MtfSymbols, out: &mut BitWriter) {
        let codes: Vec<[u32; 512]> = self.lengths.iter().map(|l| assign_codes(&l[..symbols.alphabet])).collect();
        for (group, &selector) in symbols.as_slice().chunks(GROUP).zip(&self.selectors) {
            out.write_codes(group, &codes[usize::from(selector)]);
        }
    }

    /// Writes each selector as its position in a move-to-front list of the tables, in unary.
    ///
    /// That position is the number of tables selected since this one was. 18,000 selectors take 20 us without a branch,
    /// 114 with a list that is searched (Zen 5).
    fn write_selectors(&self, out: &mut BitWriter) {
        // Byte t has a bit for each table selected since table t was.
        let mut since = u64::from_le_bytes([0, 0b1, 0b11, 0b111, 0b1111, 0b1_1111, 0, 0]);
        for eight in self.selectors.chunks(8) {
            let (mut codes, mut len) = (0, 0);
            for &selector in eight {
                let at = 8 * u32::from(selector & 7);
                let one = u32::from(UNARY_LENGTHS[(since >> at) as usize & 63]);
                since = (since | 0x0101_0101_0101_0101 << (selector & 7)) & !(0xff << at);
                codes = codes << one | ((1 << one) - 2);
                len += one;
            }
            out.write(codes, len);
        }
    }
}

/// By the set of tables selected since another one: the length of that one's unary code.
const UNARY_LENGTHS: [u8; 1 << MAX_TABLES] = {
    let (mut lengths, mut set) = ([0; 1 << MAX_TABLES], 0);
    while set < lengths.len() {
        lengths[set] = set.count_ones() as u8 + 1;
        set += 1;
    }
    lengths
};

/// The number of tables that bzip2 uses for this number of symbols.
fn table_count(symbols: usize) -> usize {
    match symbols {
        0..200 => 2,
        200..600 => 3,
        600..1200 => 4,
        1200..2400 => 5,
        _ => 6,
    }
}

/// The table that codes this group in the fewest bits; the first of several.
#[inline]
fn cheapest(group: &[u16], costs: &[u64; 512]) -> u8 {
    // Two sums, so that an addition need not wait for the one before it.
    let cost = |symbol: u16| costs[usize::from(symbol) & 511];
    let pairs = group.chunks_exact(2);
    let odd: u64 = pairs.remainder().iter().map(|&symbol| cost(symbol)).sum();
    let (first, second) = pairs.fold((odd, 0), |(a, b), pair| (a + cost(pair[0]), b + cost(pair[1])));
    let sum = first + second;
    let mut best = u64::MAX;
    for table in 0..MAX_TABLES as u32 {
        let cost = sum >> (FIELD * table) & ((1 << FIELD) - 1);
        best = best.min(cost << 3 | u64::from(table));
    }
    best as u8 & 7
}

/// Writes a table: its first length, then for each symbol the steps of one up (10) or down (11) to its length, and a 0.
fn write_table(lengths: &[u8], out: &mut BitWriter) {
    let mut current = lengths[0];
    out.write(current.into(), 5);
    for &len in lengths {
        let steps: u64 = if current < len { 0xaaaa_aaaa_aaaa } else { 0xffff_ffff_ffff };
        let bits = 2 * u32::from(len.abs_diff(current));
        out.write((steps & ((1 << bits) - 1)) << 1, bits + 1);
        current = len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::append_bits;
    use hybz_testkit::shapes::{EDGES, SHAPES};

    /// Checks that tables are written as predicted, and can be set again. That they are bzip2's is tested by bytes:
    /// `tests/library/identity.rs` compares texts of all shapes, and of all lengths where the number of tables changes.
    fn check(tables: &mut HuffmanTables, last: &[u8], what: &str) {
        let mut symbols = MtfSymbols::default();
        symbols.encode(last);
        tables.choose(&symbols);
        let mut out = BitWriter::new();
        tables.write_head(symbols.alphabet, &mut out);
        tables.write_codes(&symbols, &mut out);
        assert!(out.bit_len() <= tables.bits_needed(symbols.alphabet), "{what}: more bits than predicted");

        let mut taken = HuffmanTables::default();
        let (lengths, selectors, code_bits) = tables.parts();
        let len = symbols.as_slice().len();
        assert!(taken.try_set(lengths, selectors, len, symbols.alphabet, code_bits) && taken == *tables, "{what}");
        let mut end = BitWriter::new();
        out = BitWriter::new();
        tables.write_codes(&symbols, &mut out);
        assert_eq!(out.bit_len(), code_bits);
        let (code, len) = taken.end_code(symbols.alphabet);
        let whole = out.finish();
        append_bits(&mut end, &whole, code_bits - u64::from(len));
        end.write(code.into(), len);
        assert!(end.finish() == whole, "{what}: the code at the end");
    }

    #[test]
    fn takes_nothing_impossible() {
        let mut lengths = [[0; MAX_SYMBOLS]; 2];
        for table in &mut lengths {
            table[..4].copy_from_slice(&[1, 2, 3, 3]);
        }
        let mut tables = HuffmanTables::default();
        assert!(tables.try_set(&lengths, &[0, 1], 60, 4, 100));
        for (selectors, symbols, alphabet, bits) in [
            (&[0, 2][..], 60, 4, 100),
            (&[0], 60, 4, 100),
            (&[0, 1], 1, 4, 100),
            (&[0, 1], 260, 4, 1000),
            (&[0, 1], 60, 3, 100),
            (&[0, 1], 60, 5, 100),
            (&[0, 1], 60, 300, 100),
            (&[0, 1], 60, 4, 59),
            (&[0, 1], 60, 4, 1021),
        ] {
            assert!(!tables.try_set(&lengths, selectors, symbols, alphabet, bits), "{symbols} {alphabet} {bits}");
        }
        assert!(!tables.try_set(&lengths[..1], &[0, 0], 60, 4, 100));
        for bad in [[1, 2, 3, 4], [1, 2, 3, 0], [1, 2, 2, 3], [1, 2, 3, 18]] {
            lengths[1][..4].copy_from_slice(&bad);
            assert!(!tables.try_set(&lengths, &[0, 1], 60, 4, 100), "{bad:?}");
        }
    }

    #[test]
    fn shapes_and_edges() {
        let mut tables = HuffmanTables::default();
        for edge in EDGES.iter().filter(|edge| edge.name != "empty") {
            check(&mut tables, &(edge.make)(), edge.name);
        }
        for shape in SHAPES {
            for len in [1, 2, 3, 10, 49, 50, 51, 100, 199, 300, 700, 1500, 3000, 20_000] {
                check(&mut tables, &(shape.make)(len), shape.name);
            }
        }
    }
}
