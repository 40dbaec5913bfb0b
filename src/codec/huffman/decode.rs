//! Huffman decoding, exact and fast.
//!
//! [`CanonicalCodes`] recognises codes as bzip2 does: read as many bits as the shortest code has, compare them with the
//! largest code of that length, and read one more bit while they are larger. This gives a meaning to any set of
//! lengths, even incomplete and over-subscribed ones. The reference decoder uses it.
//!
//! `LookupTable` looks up 11 bits at once and finds up to three whole codes in them. It has 2,048 words of 32 bits (8
//! kB); six tables stay in the L2 cache, and the two or three that a part of a block uses stay in L1. Codes longer than
//! 11 bits, bits that are not a code, the end of block, and the two ranks that do not fit a byte have an entry without
//! codes: `CanonicalCodes` decodes these symbols. In bzip2's own output one look-up in a hundred finds such an entry. A
//! table with one code per entry needs twice the look-ups, and everything waits for them (7 to 8 cycles each).
//!
//! Measured on a Zen 5 core: 1.3 to 1.6 ns per symbol of text, 2.6 where every code has 8 bits. It took a quarter
//! longer when the last 15 symbols of a group were decoded code by code, instead of checking for the end of the group
//! at each look-up. Decoding in smaller pieces, so that the move-to-front of one could overlap the codes of the next,
//! gained nothing.
//!
//! The table is filled only if the lengths are at most complete (Kraft's sum at most 1). Over-subscribed lengths would
//! write past the table's end, which caused a heap overflow in a fork of bzip2. See `LookupTable::new`.

use super::super::header::Bz2BlockHeader;
use crate::bits::reader::BitReader;
use crate::formats::bzip2::header::{GROUP, MAX_CODE, MAX_SYMBOLS};

/// The fast path met something that only the reference decoder may judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irregular;

/// The number of code lengths, 0 included.
const LENGTHS: usize = MAX_CODE as usize + 1;

/// Codes recognised by comparison, exactly as in bzip2.
#[derive(Clone, Debug)]
pub struct CanonicalCodes {
    shortest: u32,
    longest: u32,
    /// The largest code of each length. If a length has no codes, a number below the first code of that length.
    limit: [i32; LENGTHS],
    /// The number to subtract from a code of each length to get its place in `order`.
    base: [i32; LENGTHS],
    /// The symbols, ordered by code length and then by value.
    order: [u16; MAX_SYMBOLS],
}

impl CanonicalCodes {
    /// Computes the codes from `lengths` (2 to 258, each 1 to 20), the code length of each symbol.
    pub fn new(lengths: &[u8]) -> Self {
        let mut counts = [0i32; LENGTHS];
        for &length in lengths {
            counts[usize::from(length)] += 1;
        }
        let mut starts = [0usize; LENGTHS + 1];
        for length in 0..LENGTHS {
            starts[length + 1] = starts[length] + counts[length] as usize;
        }
        let mut used = (1..=u32::from(MAX_CODE)).filter(|&length| counts[length as usize] > 0);
        let shortest = used.next().unwrap_or(MAX_CODE.into());
        let mut codes = CanonicalCodes {
            shortest,
            longest: used.next_back().unwrap_or(shortest),
            limit: [-1; LENGTHS],
            base: [0; LENGTHS],
            order: [0; MAX_SYMBOLS],
        };
        let mut next = starts;
        for (symbol, &length) in lengths.iter().enumerate() {
            codes.order[next[usize::from(length)]] = symbol as u16;
            next[usize::from(length)] += 1;
        }
        // At most 258 << 19, so there is no overflow, even if the codes are over-subscribed.
        let mut code = 0;
        for length in codes.shortest as usize..=codes.longest as usize {
            codes.base[length] = code - starts[length] as i32;
            code += counts[length];
            codes.limit[length] = code - 1;
            code <<= 1;
        }
        codes
    }

    /// The length of the shortest code.
    pub fn shortest(&self) -> u32 {
        self.shortest
    }

    /// The symbol with the code `code` of `length` bits. Call it with increasing lengths, from the shortest on.
    pub fn symbol(&self, length: u32, code: u32) -> Option<u16> {
        if length > self.longest || code as i32 > self.limit[length as usize] {
            return None;
        }
        self.order.get((code as i32 - self.base[length as usize]) as usize).copied()
    }

    /// Decodes one symbol.
    #[inline(never)]
    fn decode(&self, bits: &mut BitReader<'_>) -> Result<u16, Irregular> {
        for length in self.shortest..=self.longest {
            if let Some(symbol) = self.symbol(length, bits.peek(length)) {
                bits.skip(length);
                return Ok(symbol);
            }
        }
        Err(Irregular)
    }
}

/// The number of bits that one look-up sees.
const LOOKUP_BITS: u32 = 11;
/// The same in a short block, whose tables then share a page or two of memory, not two pages each.
const FEW_BITS: u32 = 8;
/// The number of look-ups between two refills: they take at most 55 of the 56 bits that a refill makes ready.
const LOOKUPS: usize = 5;
/// The first symbol that does not fit the byte in which a table returns a symbol: see [`GroupDecoder::decode_groups`].
pub const ESCAPE: u16 = 255;

/// Codes recognised by look-up. The entries are with those of the other tables, in [`GroupDecoder`].
#[derive(Clone, Debug)]
struct LookupTable {
    codes: CanonicalCodes,
    lengths: [u8; 256],
}

/// Up to three codes that follow one another. Bits 0-5: the number of bits that they have together; 6-7: the number of
/// codes (0 to 3); then the symbols, 8 bits each.
type TableEntry = u32;

/// The number of bits that the codes of an entry have together.
#[inline(always)]
fn bit_count(entry: TableEntry) -> u32 {
    entry & 63
}

/// The number of codes in an entry.
#[inline(always)]
fn code_count(entry: TableEntry) -> u32 {
    entry >> 6 & 3
}

/// The symbols of an entry, and one meaningless byte.
#[inline(always)]
fn symbols(entry: TableEntry) -> [u8; 4] {
    (entry >> 8).to_le_bytes()
}

/// Makes the entries for all values of `bits` bits: the code at their start, and the codes after it, if any. For the
/// `n` bits that a code leaves, these are in `following` from index `1 << n` on.
///
/// All entries that begin with the same code are made by one loop of additions, which vectorises. A table of English
/// prose takes 44,000 instructions; looking up what follows each entry took 98,000.
fn join(singles: &[TableEntry], bits: u32, following: Option<&[TableEntry]>, entries: &mut [TableEntry]) {
    let mut at = 0;
    // By Kraft's inequality all codes, one after the other, fit into the entries.
    for &first in singles.iter().take_while(|first| bit_count(**first) <= bits) {
        let left = 1 << (bits - bit_count(first));
        let these = &mut entries[at..at + left];
        match following {
            _ if code_count(first) == 0 => these.fill(0),
            None => these.fill(first),
            Some(following) => these
                .iter_mut()
                .zip(&following[left..2 * left])
                .for_each(|(entry, next)| *entry = first + (next & 0xff) + ((next & !0xff) << 8)),
        }
        at += left;
    }
    entries[at..].fill(0);
}

/// Makes the entries for [`LOOKUP_BITS`] with up to `most` codes. Not inlined: it takes four pages of the stack, which
/// other calls need not touch.
#[inline(never)]
fn join_all(singles: &[TableEntry], shortest: u32, most: u32, entries: &mut [TableEntry]) {
    // The codes that follow two codes, then those that follow one, for each number of bits that they leave.
    let mut following = [0; 1 << LOOKUP_BITS];
    for codes in (1..most).rev() {
        let longer = following;
        for bits in 0..=LOOKUP_BITS.saturating_sub(codes * shortest) {
            join(singles, bits, Some(&longer), &mut following[1 << bits..2 << bits]);
        }
    }
    join(singles, LOOKUP_BITS, Some(&following), entries);
}

impl LookupTable {
    /// A table for `lengths`. Fills `entries`, one for each value of the next bits, with up to `most` codes. Rejects
    /// over-subscribed codes. `singles` is scratch memory.
    fn new(
        lengths: &[u8],
        most: u32,
        entries: &mut [TableEntry],
        singles: &mut Vec<TableEntry>,
    ) -> Result<Self, Irregular> {
        let kraft: u32 = lengths.iter().map(|&length| 1 << (MAX_CODE - length)).sum();
        if kraft > 1 << MAX_CODE {
            return Err(Irregular);
        }
        let mut table = LookupTable { codes: CanonicalCodes::new(lengths), lengths: [0; 256] };
        let first = lengths.len().min(256);
        table.lengths[..first].copy_from_slice(&lengths[..first]);
        let bits = entries.len().ilog2();
        table.list_singles(lengths, bits, singles);
        match most {
            1 => join(singles, bits, None, entries),
            _ => join_all(singles, table.codes.shortest, most, entries),
        }
        Ok(table)
    }

    /// Lists the entries of single codes that a look-up of `bits` bits sees whole, in the order of the codes. Codes
    /// whose symbols the table does not return have just a length.
    fn list_singles(&self, lengths: &[u8], bits: u32, singles: &mut Vec<TableEntry>) {
        let end_of_block = lengths.len() as u16 - 1;
        let symbols = self.codes.order[..lengths.len()].iter();
        let with_lengths = symbols.map(|&symbol| (symbol, u32::from(lengths[usize::from(symbol)])));
        let seen_whole = with_lengths.take_while(|(_, length)| *length <= bits);
        let entry = |(symbol, length): (u16, u32)| match symbol < ESCAPE && symbol != end_of_block {
            true => length | 1 << 6 | u32::from(symbol) << 8,
            false => length,
        };
        singles.clear();
        singles.extend(seen_whole.map(entry));
    }

    /// Decodes a group of symbols by `entries` and writes them from `out[*len]` on. Returns true if the block ends in
    /// this group.
    #[inline(always)]
    fn decode_group<const BITS: u32>(
        &self,
        entries: &[TableEntry],
        bits: &mut BitReader<'_>,
        out: &mut [u8; SYMBOL_BYTES],
        len: &mut usize,
        end_of_block: u16,
    ) -> Result<bool, Irregular> {
        let mut left = GROUP as u32;
        while left > 0 {
            bits.refill();
            let mut inside_group = true;
            let mut entry = 0;
            for _ in 0..LOOKUPS {
                entry = entries[bits.peek(BITS) as usize];
                let count = code_count(entry);
                out[*len..*len + 4].copy_from_slice(&symbols(entry));
                // The condition is false for an entry without codes too, because 0 wraps.
                inside_group = count.wrapping_sub(1) < left - 1;
                if !inside_group {
                    break;
                }
                *len += count as usize;
                left -= count;
                bits.skip(bit_count(entry));
            }
            if inside_group {
                continue;
            }
            if code_count(entry) > 0 {
                // All symbols of the entry have been written, but only those that belong to the group count.
                bits.skip(self.bits_of(entry, left));
                *len += left as usize;
                return Ok(false);
            }
            bits.refill();
            let symbol = self.codes.decode(bits)?;
            left -= 1;
            if symbol == end_of_block {
                return Ok(true);
            }
            out[*len] = symbol.min(ESCAPE) as u8;
            out[*len + 1] = (symbol.max(ESCAPE) - ESCAPE) as u8;
            *len += if symbol < ESCAPE { 1 } else { 2 };
        }
        Ok(false)
    }

    /// The number of bits of the first `count` (1 to 3) codes of an entry, without a branch, which would be
    /// mispredicted once in a group: codes and MTF take 0.97 of the time.
    #[inline(always)]
    fn bits_of(&self, entry: TableEntry, count: u32) -> u32 {
        let bits = |symbol: u8, counts: bool| u32::from(self.lengths[usize::from(symbol)]) * u32::from(counts);
        let [first, second, third, _] = symbols(entry);
        bits(first, true) + bits(second, count > 1) + bits(third, count > 2)
    }
}

/// Decodes the codes of a block, some groups at a time.
#[derive(Clone, Debug, Default)]
pub struct GroupDecoder {
    /// The block's tables, from two to six.
    tables: Vec<LookupTable>,
    /// The entries of all tables: see [`TableEntry`].
    entries: Vec<TableEntry>,
    /// The entries of a table's single codes: see [`LookupTable::list_singles`].
    singles: Vec<TableEntry>,
    /// The number of bits that one look-up sees in this block.
    bits: u32,
    end_of_block: u16,
    next_group: usize,
}

/// The number of groups that one call of [`GroupDecoder::decode_groups`] decodes: few enough that their symbols stay in
/// the L1 cache.
const GROUPS_AT_ONCE: usize = 8;
/// With fewer groups, entries of several codes save less than making them takes: 20,000 instructions a table.
/// Estimated: they save 25 look-ups a group, of 7 cycles each, and there are up to six tables.
const FEW_GROUPS: usize = 256;
/// The size of the buffer for [`GroupDecoder::decode_groups`]: the maximum number of bytes that it returns, plus the
/// excess that it may write after them.
pub const SYMBOL_BYTES: usize = GROUPS_AT_ONCE * GROUP * 2 + 16;

impl GroupDecoder {
    /// Prepares for the codes of the block with this header.
    pub fn start_block(&mut self, header: &Bz2BlockHeader) -> Result<(), Irregular> {
        let symbols = header.alphabet();
        let (most, bits) = if header.selectors.len() < FEW_GROUPS { (1, FEW_BITS) } else { (3, LOOKUP_BITS) };
        if self.entries.len() < header.tables << bits {
            self.entries = vec![0; header.tables << bits];
        }
        self.tables.clear();
        for (lengths, entries) in header.lengths[..header.tables].iter().zip(self.entries.chunks_exact_mut(1 << bits)) {
            self.tables.push(LookupTable::new(&lengths[..symbols], most, entries, &mut self.singles)?);
        }
        self.bits = bits;
        self.end_of_block = symbols as u16 - 1;
        self.next_group = 0;
        Ok(())
    }

    /// Goes back to a group: the next call decodes from there.
    pub fn seek(&mut self, group: usize) {
        self.next_group = group;
    }

    /// Decodes the next groups into `out`. Returns the number of bytes written, and whether the block ends there.
    ///
    /// A symbol below 255 takes one byte; 255 and 256 are the byte 255 followed by 0 or 1. No symbol is split between
    /// two calls.
    pub fn decode_groups(
        &mut self,
        selectors: &[u8],
        bits: &mut BitReader<'_>,
        out: &mut [u8; SYMBOL_BYTES],
    ) -> Result<(usize, bool), Irregular> {
        match self.bits {
            LOOKUP_BITS => self.decode_by::<LOOKUP_BITS>(selectors, bits, out),
            _ => self.decode_by::<FEW_BITS>(selectors, bits, out),
        }
    }

    #[inline(never)]
    fn decode_by<const BITS: u32>(
        &mut self,
        selectors: &[u8],
        bits: &mut BitReader<'_>,
        out: &mut [u8; SYMBOL_BYTES],
    ) -> Result<(usize, bool), Irregular> {
        let selectors = selectors.get(self.next_group..).unwrap_or(&[]);
        if selectors.is_empty() {
            return Err(Irregular);
        }
        let selectors = &selectors[..selectors.len().min(GROUPS_AT_ONCE)];
        self.next_group += selectors.len();
        let mut len = 0;
        for &selector in selectors {
            let table = &self.tables[usize::from(selector)];
            let entries = &self.entries[usize::from(selector) << BITS..][..1 << BITS];
            if table.decode_group::<BITS>(entries, bits, out, &mut len, self.end_of_block)? {
                return Ok((len, true));
            }
        }
        Ok((len, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up to `most` codes at the start of these bits, recognised by comparison.
    fn recognised(codes: &CanonicalCodes, most: u32, width: u32, bits: u32, end_of_block: u16) -> TableEntry {
        let mut entry = 0;
        for shift in (8..).step_by(8).take(most as usize) {
            let left = width - bit_count(entry);
            let next = bits & ((1 << left) - 1);
            let found = (codes.shortest()..=left)
                .find_map(|length| Some((length, codes.symbol(length, next >> (left - length))?)));
            match found {
                Some((length, symbol)) if symbol < ESCAPE && symbol != end_of_block => {
                    entry += length + (1 << 6) + (u32::from(symbol) << shift);
                }
                _ => break,
            }
        }
        entry
    }

    #[test]
    fn tables_hold_what_comparison_finds() {
        let (long, mut incomplete) = ([9; 258], [4; 16]);
        incomplete[3..].fill(17);
        let lengths: [&[u8]; 7] = [
            &[1, 1],
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13],
            &[13, 12, 13, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
            &[2, 3, 3, 2, 3, 3],
            &[20, 20],
            &incomplete,
            &long,
        ];
        let mut singles = Vec::new();
        let kinds = [(1, FEW_BITS), (1, LOOKUP_BITS), (2, LOOKUP_BITS), (3, LOOKUP_BITS)];
        for (lengths, (most, width)) in lengths.iter().flat_map(|lengths| kinds.map(|kind| (lengths, kind))) {
            let mut entries = vec![7; 1 << width];
            let table = LookupTable::new(lengths, most, &mut entries, &mut singles).expect("not over-subscribed");
            for (bits, entry) in (0..).zip(entries) {
                let expected = recognised(&table.codes, most, width, bits, lengths.len() as u16 - 1);
                assert_eq!(entry, expected, "{lengths:?} {bits:011b}");
            }
        }
        assert!(LookupTable::new(&[1, 1, 2], 3, &mut [], &mut singles).is_err());
    }
}
