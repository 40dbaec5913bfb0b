//! Names of LMS substrings. A substring lasts from one LMS position to the next, both included, and its name is its
//! rank among the distinct substrings.
//!
//! A hash table finds equal substrings, and only distinct ones are sorted: 19,000 instead of 250,000 for a block of
//! source code. The usual way, induced sorting, sorts every position.

#[cfg(target_arch = "x86_64")]
#[path = "names_avx512.rs"]
mod avx512;

use super::{Kernel, make_room, prefetch};
use std::cmp::Ordering;

/// The number of bits of a substring's number, and the maximum for a slot's: a table of 2 MB.
const NUMBER_BITS: u32 = 18;

/// The number of bits of a slot's number at first. The table becomes four times as large when half of it is full.
const FIRST_BITS: u32 = 16;

/// The number of substrings whose slots are fetched together.
const BATCH: usize = 32;

/// The hash table and the distinct substrings. Both are in memory that the last column needs later.
struct Table<'a> {
    text: &'a [u8],
    /// By number.
    distinct: &'a mut [Substring],
    len: usize,
    slots: &'a mut [u64],
    bits: u32,
    /// The budget: steps in the table, and groups of eight bytes compared. Six files in 900 kB blocks take 1.1 to 1.9
    /// per substring.
    work: usize,
}

/// The factor of [`mix`].
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// A substring's place (32 bits) and length.
type Substring = u64;

/// A slot has, from the highest bit, the place of its substring (20 bits), its number ([`NUMBER_BITS`]), and the bits
/// of [`MATCH`]. 0 is an empty slot, because no length is 0.
const PLACE_SHIFT: u32 = 44;
const NUMBER_SHIFT: u32 = 26;

/// The bits of a slot that equal substrings share: 6 for the length, [`MAX_LEN`] for any longer one, and 20 of the
/// hash.
const MATCH: u64 = (1 << NUMBER_SHIFT) - 1;
const LEN_SHIFT: u32 = 20;
const MAX_LEN: usize = 63;

/// A substring to be looked up.
#[derive(Clone, Copy, Default)]
struct NameKey {
    /// Its first eight bytes.
    key: u64,
    hash: u64,
}

/// Names the substrings of `text` that begin at `positions`; each lasts to the next position, so none begins at the
/// last. Returns the number of names, or `None` if going on is not worth while: three of four substrings differ, or the
/// table has become slow (a text can be crafted so that hashes collide).
///
/// `room` has half as many numbers as the text has bytes.
pub(super) fn assign(
    kernel: Kernel,
    text: &[u8],
    positions: &[i32],
    names: &mut [i32],
    room: &mut [u64],
    ranks: &mut Vec<u32>,
) -> Option<usize> {
    let count = positions.len() - 1;
    let most = (room.len() / 5 * 2).min(1 << NUMBER_BITS);
    let (distinct, slots) = room.split_at_mut(most);
    let max_bits = slots.len().ilog2().min(NUMBER_BITS);
    let bits = FIRST_BITS.min(max_bits);
    let most = most.min((1 << max_bits) / 10 * 7);
    let mut table = Table { text, distinct, len: 0, slots, bits, work: 8 * count + 1000 };
    table.slots[..1 << bits].fill(0);
    let mut named = 0;
    for names in names[..count].chunks_mut(BATCH) {
        let ends = &positions[named..=named + names.len()];
        if 2 * table.len > 1 << table.bits && table.bits < max_bits {
            table.grow((table.bits + 2).min(max_bits));
        }
        // Text and programs are below 0.6 then. Random bytes are near 1, and 0.94 to the end.
        let early = named > count / 8 && table.len * 4 > named * 3;
        let earlier = named > count / 32 && table.len * 16 > named * 15;
        if early || earlier || table.len + BATCH > most {
            return None;
        }
        match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 if names.len() == BATCH => {
                // SAFETY: `Kernel::detect` has found the features.
                #[allow(unsafe_code)]
                unsafe {
                    avx512::find_batch(&mut table, ends, names)?;
                }
            }
            _ => table.find_batch(ends, names)?,
        }
        named += names.len();
    }
    let distinct = table.len;
    make_room(ranks, distinct);
    let (substrings, room) = room.split_at_mut(distinct);
    let (keys, spare) = room.split_at_mut(distinct);
    rank(kernel, text, substrings, keys, spare, ranks);
    for name in &mut names[..count] {
        *name = ranks[*name as usize] as i32;
    }
    Some(distinct)
}

impl Table<'_> {
    /// Names the substrings between these places, at most [`BATCH`]. `None` if no work is left.
    fn find_batch(&mut self, ends: &[i32], names: &mut [i32]) -> Option<()> {
        let mut wanted = [NameKey::default(); BATCH];
        for (wanted, ends) in wanted.iter_mut().zip(ends.windows(2)) {
            *wanted = hash(self.text, ends[0] as usize, ends[1] as usize);
            prefetch(self.slots, wanted.slot(self.bits));
        }
        for ((wanted, ends), name) in wanted.iter().zip(ends.windows(2)).zip(names) {
            *name = self.find(*wanted, ends[0] as usize, (ends[1] - ends[0]) as usize + 1)? as i32;
        }
        Some(())
    }

    /// The number of the substring that begins at `at`: a new number if no equal substring is known. `None` if no work
    /// is left.
    #[inline]
    fn find(&mut self, wanted: NameKey, at: usize, len: usize) -> Option<usize> {
        let match_bits = wanted.match_bits(len);
        let mut place = wanted.slot(self.bits);
        loop {
            self.work = self.work.checked_sub(1)?;
            let slot = self.slots[place];
            if slot == 0 {
                let number = self.len;
                self.slots[place] = (at as u64) << PLACE_SHIFT | (number as u64) << NUMBER_SHIFT | match_bits;
                self.distinct[number] = (at as u64) << 32 | len as u64;
                self.len += 1;
                return Some(number);
            }
            if slot & MATCH == match_bits {
                let number = (slot >> NUMBER_SHIFT) as usize & ((1 << NUMBER_BITS) - 1);
                if len <= 8 {
                    if key(self.text, (slot >> PLACE_SHIFT) as usize, len) == wanted.key {
                        return Some(number);
                    }
                } else if bytes(self.text, self.distinct[number]) == &self.text[at..at + len] {
                    self.work = self.work.saturating_sub(len / 8);
                    return Some(number);
                }
            }
            place = (place + 1) & ((1 << self.bits) - 1);
        }
    }

    /// Enlarges the table in place: all distinct substrings are hashed again.
    #[cold]
    fn grow(&mut self, bits: u32) {
        self.bits = bits;
        self.slots[..1 << bits].fill(0);
        for (number, &substring) in self.distinct[..self.len].iter().enumerate() {
            let (at, len) = ((substring >> 32) as usize, substring as u32 as usize);
            let wanted = hash(self.text, at, at + len - 1);
            let mut place = wanted.slot(bits);
            while self.slots[place] != 0 {
                place = (place + 1) & ((1 << bits) - 1);
            }
            let slot = (at as u64) << PLACE_SHIFT | (number as u64) << NUMBER_SHIFT | wanted.match_bits(len);
            self.slots[place] = slot;
        }
    }
}

impl NameKey {
    #[inline]
    fn slot(self, bits: u32) -> usize {
        (self.hash >> (64 - bits)) as usize
    }

    /// The bits in [`MATCH`] of a slot with a substring of this length and hash.
    #[inline]
    fn match_bits(self, len: usize) -> u64 {
        (len.min(MAX_LEN) as u64) << LEN_SHIFT | (self.hash ^ self.hash >> 32) & ((1 << LEN_SHIFT) - 1)
    }
}

/// The rank of each of the `substrings`.
fn rank(kernel: Kernel, text: &[u8], substrings: &[Substring], keys: &mut [u64], spare: &mut [u64], ranks: &mut [u32]) {
    const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
    for ((number, entry), &substring) in (0..).zip(keys.iter_mut()).zip(substrings) {
        *entry = key(text, (substring >> 32) as usize, substring as u32 as usize) & !NUMBER | number;
    }
    kernel.sort(keys, NUMBER_BITS, spare);
    let substring = |entry: u64| substrings[(entry & NUMBER) as usize];
    for ties in keys.chunk_by_mut(|a, b| a & !NUMBER == b & !NUMBER).filter(|ties| ties.len() > 1) {
        ties.sort_unstable_by(|&a, &b| compare(text, substring(a), substring(b)));
    }
    for (rank, &entry) in keys.iter().enumerate() {
        ranks[(entry & NUMBER) as usize] = rank as u32;
    }
}

#[inline]
fn bytes(text: &[u8], substring: Substring) -> &[u8] {
    &text[(substring >> 32) as usize..][..substring as u32 as usize]
}

/// The order of rotations that begin with different substrings.
///
/// If one substring ends and the other continues after the same bytes, the shorter one is larger: its last position is
/// of type S, while the same position in the other is not LMS, and therefore of type L.
fn compare(text: &[u8], a: Substring, b: Substring) -> Ordering {
    let (a, b) = (bytes(text, a), bytes(text, b));
    let both = a.len().min(b.len());
    a[..both].cmp(&b[..both]).then(b.len().cmp(&a.len()))
}

/// The first eight bytes, big-endian, of the substring of `len` bytes at `at`.
///
/// A short substring is filled with one bits, which keeps the order of [`compare`]. A longer substring continues with a
/// byte of type L, and that byte is not 255: it is not larger than the byte before it, and the last byte of a substring
/// is smaller than the byte before it.
#[inline]
fn key(text: &[u8], at: usize, len: usize) -> u64 {
    load(text, at) | (!0u64).checked_shr(8 * len as u32).unwrap_or(0)
}

/// The substring of `text` from `at` to `last`, both included.
#[inline]
fn hash(text: &[u8], at: usize, last: usize) -> NameKey {
    let len = last - at + 1;
    let key = key(text, at, len);
    NameKey { key, hash: mix(if len <= 8 { key } else { long_hash(text, at, len) }) }
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
    hash.wrapping_mul(FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hybz_testkit::shapes::Rng;
    use std::collections::{HashMap, HashSet};

    /// Different substrings of the same length and hash.
    #[test]
    fn equal_hashes() {
        for len in [3, 8, 9, 62, 63, 200] {
            let text: Vec<u8> = (0..3 * len + 8).map(|at| (at / len) as u8).collect();
            let (mut distinct, mut slots) = ([0; 8], [0; 16]);
            let mut table =
                Table { text: &text, distinct: &mut distinct, len: 0, slots: &mut slots, bits: 4, work: 1000 };
            for number in [0, 1, 2, 1, 0, 2] {
                let at = number * len;
                let wanted = NameKey { key: key(&text, at, len), hash: 12_345 };
                assert_eq!(table.find(wanted, at, len), Some(number), "{len} bytes");
            }
            // One byte more.
            if len + 1 < text.len() {
                let wanted = NameKey { key: key(&text, 0, len + 1), hash: 12_345 };
                assert_eq!(table.find(wanted, 0, len + 1), Some(3), "{len} bytes and one more");
            }
        }
    }

    /// Names these substrings, one after the other, and the two bytes at the end of one and the beginning of the next.
    fn check(substrings: &[Vec<u8>]) {
        let mut text = Vec::new();
        let mut positions = Vec::new();
        for substring in substrings {
            positions.push(text.len() as i32);
            text.extend_from_slice(substring);
            positions.push(text.len() as i32 - 1);
        }
        text.extend([0; 8]);
        let substrings: Vec<&[u8]> =
            positions.windows(2).map(|ends| &text[ends[0] as usize..=ends[1] as usize]).collect();
        for kernel in Kernel::all() {
            let mut names = vec![-1; substrings.len()];
            let mut room = vec![0; text.len() / 2];
            let distinct = assign(kernel, &text, &positions, &mut names, &mut room, &mut Vec::new());
            let named: HashMap<&[u8], i32> = substrings.iter().copied().zip(names.iter().copied()).collect();
            assert_eq!(distinct, Some(named.len()), "{kernel:?}");
            assert_eq!(named.values().collect::<HashSet<_>>().len(), named.len(), "{kernel:?}");
            assert!(substrings.iter().zip(&names).all(|(substring, name)| named[substring] == *name), "{kernel:?}");
        }
    }

    /// Substrings of eight bytes with the same slot, length and bits of the hash.
    #[test]
    fn equal_slots() {
        let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(FACTOR))));
        // Bits 20 to 31 of a hash are neither in the number of a slot nor in `MATCH`.
        let key = |number: u64| (0x0123_4567_89AB_CDEF ^ number << LEN_SHIFT).wrapping_mul(inverse);
        let mut rng = Rng(8);
        check(&(0..400).map(|_| key(rng.below(9) as u64).to_be_bytes().to_vec()).collect::<Vec<_>>());
    }

    /// Substrings of nine bytes, one of which is where another would be if only its first eight bytes were hashed, with
    /// the same bits of the hash. (A table for a text of this length has 512 slots.)
    #[test]
    fn a_long_one_in_the_slot_of_its_beginning() {
        let beginning = 0x868E_7CEA_01D2_E55F_u64.to_be_bytes();
        let long: Vec<Vec<u8>> = (194..200).map(|byte| [&beginning[..], &[byte]].concat()).collect();
        let in_slot = |hash: u64| NameKey { key: 0, hash }.slot(9);
        let (first, whole) =
            (mix(u64::from_be_bytes(beginning)), mix(long_hash(&[&long[0][..], &[0; 8]].concat(), 0, 9)));
        assert_eq!(in_slot(first), in_slot(whole));
        assert_eq!(NameKey { key: 0, hash: first }.match_bits(9), NameKey { key: 0, hash: whole }.match_bits(9));
        let mut rng = Rng(9);
        check(&(0..300).map(|_| long[rng.below(long.len())].clone()).collect::<Vec<_>>());
    }
}
