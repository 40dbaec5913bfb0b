//! Names of LMS substrings. A substring lasts from one LMS position to the next, both included, and its name is its
//! rank among the distinct substrings.
//!
//! A hash table finds equal substrings, and only distinct ones are sorted: 19,000 instead of 250,000 for a block of
//! source code. The usual way, induced sorting, sorts every position.

use super::prefetch;

/// The maximum number of bits of a slot's number: a table of 4 MB. The table doubles when half of it is full, twice at
/// most, up to this size.
const MAX_BITS: u32 = 18;

/// The maximum number of names. Blocks of ooffice have 80,000 to 135,000 names and are sorted 1.2 times as fast as by
/// libsais.
const MAX_NAMES: usize = 180_000;

/// The number of substrings whose slots are fetched together.
const BATCH: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Names {
    /// For each LMS position the name of its substring, first in order of appearance, then by rank.
    pub(super) of: Vec<i32>,
    slots: Vec<Slot>,
    /// The distinct substrings by number.
    distinct: Vec<Substring>,
    /// The first eight bytes of the distinct substrings, and their numbers.
    keys: Vec<(u64, u32)>,
    ranks: Vec<i32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u64,
    /// The substring's number in order of appearance, plus 1. 0 is an empty slot.
    number: u32,
}

#[derive(Clone, Copy, Debug)]
struct Substring {
    at: u32,
    len: u32,
}

impl Names {
    /// Names the substrings of `text` that begin at `positions`; each lasts to the next position, so none begins at the
    /// last. Returns the number of names, or `None` if going on is not worth while: three of four substrings differ, or
    /// the table has become slow (a text can be crafted so that hashes collide).
    pub(super) fn assign(&mut self, text: &[u8], positions: &[u32]) -> Option<usize> {
        let count = positions.len() - 1;
        let mut bits = 14;
        self.slots.clear();
        self.slots.resize(1 << bits, Slot::default());
        self.distinct.clear();
        self.keys.clear();
        self.of.clear();
        self.of.reserve(count);
        // The budget: steps in the table, and groups of eight bytes compared. Six files in 900 kB blocks take 1.1 to
        // 1.9 per substring.
        let mut work = 8 * count + 1000;
        let mut hashes = [(0, 0); BATCH];
        for batch in (0..count).step_by(BATCH).map(|from| &positions[from..(from + BATCH).min(count) + 1]) {
            if 2 * self.distinct.len() > 1 << bits && bits < MAX_BITS {
                bits += 2;
                self.grow(bits);
            }
            let early = self.of.len() > count / 8 && self.distinct.len() * 4 > self.of.len() * 3;
            if early || self.distinct.len() > MAX_NAMES {
                return None;
            }
            for (hashed, ends) in hashes.iter_mut().zip(batch.windows(2)) {
                *hashed = hash(text, ends[0] as usize, ends[1] as usize);
                prefetch(&self.slots, slot_of(hashed.1, bits));
            }
            for (&(key, hash), ends) in hashes.iter().zip(batch.windows(2)) {
                let this = Substring { at: ends[0], len: ends[1] - ends[0] + 1 };
                let number = self.find(text, this, key, hash, bits, &mut work)?;
                self.of.push(number as i32);
            }
        }
        self.rank(text);
        Some(self.distinct.len())
    }

    /// The number of a substring: a new number if no equal substring is known. `None` if no `work` is left.
    #[inline]
    fn find(&mut self, text: &[u8], this: Substring, key: u64, hash: u64, bits: u32, work: &mut usize) -> Option<u32> {
        let mut at = slot_of(hash, bits);
        loop {
            *work = work.checked_sub(1)?;
            let slot = self.slots[at];
            if slot.number == 0 {
                let number = self.distinct.len() as u32;
                self.slots[at] = Slot { hash, number: number + 1 };
                self.distinct.push(this);
                self.keys.push((key, number));
                return Some(number);
            }
            if slot.hash == hash {
                let other = self.distinct[slot.number as usize - 1];
                // For substrings of up to eight bytes, the hash is the substring.
                if other.len == this.len && (this.len <= 8 || other.bytes(text) == this.bytes(text)) {
                    *work = work.saturating_sub(this.len as usize / 8);
                    return Some(slot.number - 1);
                }
            }
            at = (at + 1) & ((1 << bits) - 1);
        }
    }

    fn grow(&mut self, bits: u32) {
        let old = std::mem::take(&mut self.slots);
        self.slots.resize(1 << bits, Slot::default());
        for slot in old.into_iter().filter(|slot| slot.number != 0) {
            let mut at = slot_of(slot.hash, bits);
            while self.slots[at].number != 0 {
                at = (at + 1) & ((1 << bits) - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Replaces numbers by ranks.
    fn rank(&mut self, text: &[u8]) {
        let distinct = &self.distinct;
        self.keys.sort_unstable();
        for ties in self.keys.chunk_by_mut(|a, b| a.0 == b.0).filter(|ties| ties.len() > 1) {
            ties.sort_unstable_by(|a, b| distinct[a.1 as usize].cmp(&distinct[b.1 as usize], text));
        }
        self.ranks.resize(distinct.len(), 0);
        for (rank, &(_, number)) in self.keys.iter().enumerate() {
            self.ranks[number as usize] = rank as i32;
        }
        for name in &mut self.of {
            *name = self.ranks[*name as usize];
        }
    }
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

#[inline]
fn slot_of(hash: u64, bits: u32) -> usize {
    (mix(hash) >> (64 - bits)) as usize
}
