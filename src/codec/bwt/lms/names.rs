//! Names of LMS substrings. A substring lasts from one LMS position to the next, both included, and its name is its
//! rank among the distinct substrings.
//!
//! A hash table finds equal substrings, and only distinct ones are sorted: 19,000 instead of 250,000 for a block of
//! source code. The usual way, induced sorting, sorts every position.

use super::{as_u64, prefetch};

/// The minimum number of bits of a slot's number. The table becomes four times as large when half of it is full, if the
/// rows have room for that.
const MIN_BITS: u32 = 14;

/// The length of a slot. The first two numbers are the hash. The third has the substring's number in order of
/// appearance, plus 1, and above that its length, or [`LONG`]; 0 is an empty slot.
const SLOT: usize = 3;

/// The length of the smallest table.
pub(super) const MIN_TABLE: usize = SLOT << MIN_BITS;

/// The number of bits of a substring's number in a slot.
const NUMBER_BITS: u32 = 20;

/// The length of all substrings that are longer than their key.
const LONG: usize = 9;

/// The maximum number of names, as a share of the largest table's slots: 180,000 for blocks of 900 kB. Blocks of
/// ooffice have 80,000 to 135,000 names and are sorted 1.2 times as fast as by libsais.
const MAX_LOAD: (usize, usize) = (11, 16);

/// The number of substrings whose slots are fetched together.
const BATCH: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Names {
    /// For each LMS position the name of its substring, first in order of appearance, then by rank.
    pub(super) of: Vec<i32>,
    /// For each distinct substring the number of the LMS position at which it begins first.
    pub(super) numbers: Vec<u32>,
}

/// The table that finds substrings.
struct Table<'a> {
    slots: &'a mut [i32],
    bits: u32,
    /// Steps in the table, and groups of eight bytes compared, that may still be done.
    work: usize,
}

/// The text and where its LMS substrings begin.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a [u8],
    positions: &'a [i32],
}

impl Source<'_> {
    /// The substring that begins at a position's number. It lasts to the next position.
    #[inline]
    fn substring(&self, number: usize) -> Substring {
        let (at, next) = (self.positions[number] as u32, self.positions[number + 1] as u32);
        Substring { at, len: next - at + 1 }
    }

    #[inline]
    fn hash(&self, number: usize) -> (u64, u64) {
        hash(self.text, self.positions[number] as usize, self.positions[number + 1] as usize)
    }
}

#[derive(Clone, Copy, Debug)]
struct Substring {
    at: u32,
    len: u32,
}

impl Names {
    /// Names the substrings of `text` that begin at `positions`; each lasts to the next position, so none begins at the
    /// last. `rows` holds the table meanwhile, and at least [`MIN_TABLE`] numbers; `ranks` is for the names' ranks.
    /// Returns the number of names, or `None` if going on is not worth while: three of four substrings differ, or the
    /// table has become slow (a text can be crafted so that hashes collide).
    pub(super) fn assign(
        &mut self,
        text: &[u8],
        positions: &[i32],
        rows: &mut [i32],
        ranks: &mut Vec<u32>,
    ) -> Option<usize> {
        let source = Source { text, positions };
        let count = positions.len() - 1;
        let max_bits = (rows.len() / SLOT).ilog2();
        let max_names = (1 << max_bits) / MAX_LOAD.1 * MAX_LOAD.0;
        self.numbers.clear();
        self.of.clear();
        self.of.reserve(count);
        // Six files in 900 kB blocks take 1.1 to 1.9 steps per substring.
        let mut table = Table { slots: rows, bits: MIN_BITS, work: 8 * count + 1000 };
        table.refill(source, &self.numbers);
        let mut hashes = [0; BATCH];
        for from in (0..count).step_by(BATCH) {
            let batch = from..(from + BATCH).min(count);
            if 2 * self.numbers.len() > 1 << table.bits && table.bits < max_bits {
                table.bits = (table.bits + 2).min(max_bits);
                table.refill(source, &self.numbers);
            }
            let early = from > count / 8 && self.numbers.len() * 4 > from * 3;
            if early || self.numbers.len() + BATCH > max_names {
                return None;
            }
            for (hashed, number) in hashes.iter_mut().zip(batch.clone()) {
                *hashed = source.hash(number).1;
                prefetch(table.slots, table.first(*hashed));
            }
            for (&hash, position) in hashes.iter().zip(batch) {
                let number = table.find(source, position, hash, &mut self.numbers)?;
                self.of.push(number as i32);
            }
        }
        self.rank(source, table.slots, ranks);
        Some(self.numbers.len())
    }

    /// Replaces numbers by ranks.
    fn rank(&mut self, source: Source<'_>, rows: &mut [i32], ranks: &mut Vec<u32>) {
        let (keys, _) = as_u64(rows).as_chunks_mut::<2>();
        let keys = &mut keys[..self.numbers.len()];
        for (number, key) in keys.iter_mut().enumerate() {
            *key = [source.hash(self.numbers[number] as usize).0, number as u64];
        }
        keys.sort_unstable();
        let substring = |key: &[u64; 2]| source.substring(self.numbers[key[1] as usize] as usize);
        for ties in keys.chunk_by_mut(|a, b| a[0] == b[0]).filter(|ties| ties.len() > 1) {
            ties.sort_unstable_by(|a, b| substring(a).cmp(&substring(b), source.text));
        }
        ranks.clear();
        ranks.resize(keys.len(), 0);
        for (rank, key) in keys.iter().enumerate() {
            ranks[key[1] as usize] = rank as u32;
        }
        for name in &mut self.of {
            *name = ranks[*name as usize] as i32;
        }
    }
}

impl Table<'_> {
    /// The place of the first slot for a hash.
    #[inline]
    fn first(&self, hash: u64) -> usize {
        SLOT * (mix(hash) >> (64 - self.bits)) as usize
    }

    /// The place of the slot after this one.
    #[inline]
    fn after(&self, at: usize) -> usize {
        let next = at + SLOT;
        if next < SLOT << self.bits { next } else { 0 }
    }

    /// Empties the table, and fills in these substrings, which differ.
    fn refill(&mut self, source: Source<'_>, numbers: &[u32]) {
        self.slots[..SLOT << self.bits].fill(0);
        for (number, &position) in numbers.iter().enumerate() {
            let hash = source.hash(position as usize).1;
            let mut at = self.first(hash);
            while self.slots[at + 2] != 0 {
                at = self.after(at);
            }
            self.put(at, hash, entry(number, source.substring(position as usize)));
        }
    }

    #[inline]
    fn put(&mut self, at: usize, hash: u64, entry: i32) {
        self.slots[at..at + SLOT].copy_from_slice(&[hash as i32, (hash >> 32) as i32, entry]);
    }

    /// The number of the substring that begins at a position: a new number if no equal substring is known. `None` if no
    /// work is left.
    #[inline]
    fn find(&mut self, source: Source<'_>, position: usize, hash: u64, numbers: &mut Vec<u32>) -> Option<usize> {
        let this = source.substring(position);
        let mut at = self.first(hash);
        loop {
            self.work = self.work.checked_sub(1)?;
            let &[low, high, found] = self.slots[at..].first_chunk::<SLOT>()?;
            if found == 0 {
                let number = numbers.len();
                self.put(at, hash, entry(number, this));
                numbers.push(position as u32);
                return Some(number);
            }
            let number = (found & ((1 << NUMBER_BITS) - 1)) as usize - 1;
            if (low, high) == (hash as i32, (hash >> 32) as i32) && found == entry(number, this) {
                // For substrings of up to eight bytes, the hash is the substring.
                let is_equal = || {
                    let other = source.substring(numbers[number] as usize);
                    other.len == this.len && other.bytes(source.text) == this.bytes(source.text)
                };
                if this.len < LONG as u32 || is_equal() {
                    self.work = self.work.saturating_sub(this.len as usize / 8);
                    return Some(number);
                }
            }
            at = self.after(at);
        }
    }
}

/// The third number of a slot.
#[inline]
fn entry(number: usize, substring: Substring) -> i32 {
    ((substring.len as usize).min(LONG) << NUMBER_BITS | (number + 1)) as i32
}

impl Substring {
    #[inline]
    fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.at as usize..][..self.len as usize]
    }

    /// The order of rotations that begin with different substrings.
    ///
    /// If one substring ends and the other continues after the same bytes, the shorter one is larger: its last position
    /// is of type S, while the same position in the other is not LMS, and therefore of type L.
    fn cmp(&self, other: &Substring, text: &[u8]) -> std::cmp::Ordering {
        let (a, b) = (self.bytes(text), other.bytes(text));
        let both = a.len().min(b.len());
        a[..both].cmp(&b[..both]).then(b.len().cmp(&a.len()))
    }
}

/// The first eight bytes, big-endian, and the hash of the substring of `text` from `at` to `last`, both included.
///
/// A short substring is filled with one bits, which keeps the order of [`Substring::cmp`]. A longer substring continues
/// with a byte of type L, and that byte is not 255: it is not larger than the byte before it, and the last byte of a
/// substring is smaller than the byte before it.
#[inline]
fn hash(text: &[u8], at: usize, last: usize) -> (u64, u64) {
    let len = last - at + 1;
    let key = load(text, at) | (!0u64).checked_shr(8 * len as u32).unwrap_or(0);
    (key, if len <= 8 { key } else { long_hash(text, at, len) })
}

#[cold]
#[inline(never)]
fn long_hash(text: &[u8], at: usize, len: usize) -> u64 {
    let mut hash = mix(load(text, at) ^ len as u64);
    for from in (8..len - 8).step_by(8).chain([len - 8]) {
        hash = (hash ^ hash >> 29 ^ load(text, at + from)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }
    hash ^ hash >> 32
}

#[inline]
fn load(text: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(text[at..at + 8].try_into().expect("eight bytes"))
}

#[inline]
fn mix(hash: u64) -> u64 {
    hash.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
