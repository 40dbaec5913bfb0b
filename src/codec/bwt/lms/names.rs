//! Names of LMS substrings. A substring lasts from one LMS position to the next, both included, and its name is its
//! rank among the distinct substrings.
//!
//! A hash table finds equal substrings, and only distinct ones are sorted: 19,000 instead of 250,000 for a block of
//! source code. The usual way, induced sorting, sorts every position. Nearly all substrings have at most eight bytes
//! and fit into one number each: a slot of the table holds that number, so no text is read to compare, and the slot's
//! index is the substring's provisional name. Longer substrings (0.03 to 3 % in six files) have a table of their own.

#[cfg(target_arch = "x86_64")]
#[path = "names_avx512.rs"]
mod avx512;

use super::{Kernel, SORTABLE, make_room, prefetch};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hint::select_unpredictable;

/// The number of bits of a slot's index, at first and at most (a table of 2 MB).
const FIRST_BITS: u32 = 15;
const MAX_BITS: u32 = 18;

/// Provisional names of long substrings begin here.
const LONG: u32 = 1 << MAX_BITS;

/// The number of bits of a provisional name, in `rank`.
const NAME_BITS: u32 = MAX_BITS + 1;

/// The number of substrings whose slots are fetched together.
const BATCH: usize = 32;

/// The factor of the hash: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The distinct substrings.
struct Names<'a> {
    text: &'a [u8],
    /// The slots of the table, and room for a copy while it grows. 0 is an empty slot, because no key is 0.
    slots: &'a mut [u64],
    bits: u32,
    used: usize,
    /// The budget: the steps left in the table. Six files in 900 kB blocks take 1.1 to 1.9 for each substring.
    work: usize,
    long: Vec<&'a [u8]>,
    long_names: HashMap<&'a [u8], u32>,
}

/// Names the substrings of `text` that begin at `positions`; each lasts to the next position, so no substring begins
/// at the last position. Returns the number of names, or `None` if going on is not worth while: three of four
/// substrings differ, or the table has become slow (a text can be crafted so that hashes collide).
///
/// `room` has half as many numbers as the text has bytes. `ranks` is scratch memory.
#[inline(always)]
pub(super) fn assign(
    kernel: Kernel,
    text: &[u8],
    positions: &[i32],
    names: &mut [i32],
    room: &mut [u64],
    ranks: &mut Vec<u32>,
) -> Option<usize> {
    let count = positions.len() - 1;
    // Next to the table there is space for a copy of half of it while it grows; afterwards, for the sorted names.
    let max_bits = (room.len() / 3 * 2).max(1).ilog2().min(MAX_BITS);
    let bits = FIRST_BITS.min(max_bits);
    room[..1 << bits].fill(0);
    let work = 8 * count + 1000;
    let mut table = Names { text, slots: room, bits, used: 0, work, long: Vec::new(), long_names: HashMap::new() };
    make_room(ranks, 1 << max_bits);
    let mut named = 0;
    while named < count {
        let distinct = table.used + table.long.len();
        // The distinct fraction is then below 0.6 in text and programs, near 1 in random bytes (0.94 to the end).
        let early = named > count / 8 && distinct * 4 > named * 3;
        let earlier = named > count / 32 && distinct * 16 > named * 15;
        let too_many = table.used + BATCH > (1 << max_bits) / 10 * 7 || table.long.len() > (count / 8).max(BATCH);
        if early || earlier || too_many {
            return None;
        }
        if 2 * table.used > 1 << table.bits && table.bits < max_bits {
            // Twice the size is enough if most substrings are known.
            let by = 1 + u32::from(3 * table.used > named) + u32::from(2 * table.used > named);
            table.grow((table.bits + by).min(max_bits), &mut names[..named], ranks);
        }
        let end = count.min(named + BATCH);
        table.find_batch(kernel, &positions[named..=end], &mut names[named..end])?;
        named = end;
    }
    let distinct = table.used + table.long.len();
    make_room(ranks, LONG as usize + table.long.len());
    table.rank(kernel, ranks)?;
    for name in &mut names[..count] {
        *name = ranks[*name as usize] as i32;
    }
    Some(distinct)
}

impl<'a> Names<'a> {
    /// Names the substrings between these `ends`, at most [`BATCH`]. `None` if the budget is spent.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
    fn find_batch(&mut self, kernel: Kernel, ends: &[i32], names: &mut [i32]) -> Option<()> {
        let mut keys = [0; BATCH];
        let slots = &self.slots[..1 << self.bits];
        let (long, mut open) =
            match (kernel, <&[i32; BATCH + 1]>::try_from(ends), <&mut [i32; BATCH]>::try_from(&mut *names)) {
                #[cfg(target_arch = "x86_64")]
                (Kernel::Avx512, Ok(ends), Ok(names)) => {
                    // SAFETY: `Kernel::all` has found the features.
                    #[allow(unsafe_code)]
                    unsafe {
                        avx512::find_first(self.text, slots, ends, &mut keys, names)
                    }
                }
                _ => find_first(self.text, slots, ends, &mut keys, names),
            };
        while open != 0 {
            let i = open.trailing_zeros() as usize;
            open &= open - 1;
            names[i] = if long >> i & 1 != 0 {
                self.find_long(&self.text[ends[i] as usize..=ends[i + 1] as usize])?
            } else {
                self.find(keys[i], names[i] as usize)?
            } as i32;
        }
        Some(())
    }

    /// The slot of a key, searched for from slot `place` on; adds a new key. `None` if the budget is spent.
    #[inline(never)]
    fn find(&mut self, key: u64, mut place: usize) -> Option<u32> {
        let slots = &mut self.slots[..1 << self.bits];
        loop {
            self.work = self.work.checked_sub(1)?;
            let slot = &mut slots[place];
            if *slot == 0 {
                *slot = key;
                self.used += 1;
            }
            if *slot == key {
                return Some(place as u32);
            }
            place = (place + 1) & (slots.len() - 1);
        }
    }

    #[cold]
    fn find_long(&mut self, substring: &'a [u8]) -> Option<u32> {
        self.work = self.work.checked_sub(1 + substring.len() / 8)?;
        Some(*self.long_names.entry(substring).or_insert_with(|| {
            self.long.push(substring);
            LONG + self.long.len() as u32 - 1
        }))
    }

    /// Enlarges the table, and updates `names`, which are indices of slots. `map` is memory for the new indices.
    #[cold]
    fn grow(&mut self, bits: u32, names: &mut [i32], map: &mut [u32]) {
        let (slots, old) = self.slots.split_at_mut(1 << bits);
        let old = &mut old[..1 << self.bits];
        old.copy_from_slice(&slots[..old.len()]);
        slots.fill(0);
        for (&key, to) in old.iter().zip(&mut *map).filter(|(key, _)| **key != 0) {
            let mut place = (key.wrapping_mul(FACTOR) >> (64 - bits)) as usize;
            while slots[place] != 0 {
                place = (place + 1) & (slots.len() - 1);
            }
            slots[place] = key;
            *to = place as u32;
        }
        self.bits = bits;
        for name in names.iter_mut().filter(|name| (**name as u32) < LONG) {
            *name = map[*name as usize] as i32;
        }
    }

    /// Ranks the provisional names: by the first byte (counted), then by the next 42 bits (sorted), then by comparing.
    /// `None` if the memory is too small.
    #[inline(always)]
    fn rank(&mut self, kernel: Kernel, ranks: &mut [u32]) -> Option<()> {
        const NAME: u64 = (1 << NAME_BITS) - 1;
        let (slots, room) = self.slots.split_at_mut(1 << self.bits);
        let distinct = self.used + self.long.len();
        let (sorted, spare) = room.split_at_mut_checked(distinct + 1)?;
        // Empty slots go into one more bucket, which never grows: a branch for them would be mispredicted.
        let bucket = |key: u64| select_unpredictable(key == 0, 256, (key >> 56) as usize);
        let short = slots.iter().zip(0u64..).map(|(&key, name)| (bucket(key), key, name));
        let long = self.long.iter().zip(u64::from(LONG)..).map(|(substring, name)| (load(substring, 0), name));
        let all = short.chain(long.map(|(key, name)| ((key >> 56) as usize, key, name)));
        let mut ends = [0; 257];
        all.clone().for_each(|(bucket, ..)| ends[bucket] += 1);
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        all.for_each(|(bucket, key, name)| {
            sorted[ends[bucket]] = SORTABLE | key << 8 >> (64 - 61 + NAME_BITS) << NAME_BITS | name;
            ends[bucket] += usize::from(bucket < 256);
        });
        let sorted = &mut sorted[..distinct];
        let substring = |entry: u64| match ((entry & NAME) as u32).checked_sub(LONG) {
            None => (slots[(entry & NAME) as usize], None),
            Some(number) => (load(self.long[number as usize], 0), Some(self.long[number as usize])),
        };
        let mut start = 0;
        for end in &ends[..256] {
            let these = &mut sorted[start..*end];
            start = *end;
            kernel.sort(these, NAME_BITS, spare);
            for ties in these.chunk_by_mut(|a, b| a & !NAME == b & !NAME).filter(|ties| ties.len() > 1) {
                ties.sort_unstable_by(|&a, &b| compare(substring(a), substring(b)));
            }
        }
        for (rank, &entry) in sorted.iter().enumerate() {
            ranks[(entry & NAME) as usize] = rank as u32;
        }
        Some(())
    }
}

/// Fills `keys`, and `names` with the first slots to try for these keys. Returns which substrings are long, and which
/// are long or not in these slots.
#[inline(always)]
fn find_first(text: &[u8], slots: &[u64], ends: &[i32], keys: &mut [u64; BATCH], names: &mut [i32]) -> (u32, u32) {
    let (mut long, mut open) = (0, 0);
    for (i, (ends, name)) in ends.windows(2).zip(&mut *names).enumerate() {
        let (at, last) = (ends[0] as usize, ends[1] as usize);
        keys[i % BATCH] = key(text, at, last - at + 1);
        long |= u32::from(last - at >= 8) << i;
        let home = keys[i % BATCH].wrapping_mul(FACTOR) >> (64 - slots.len().ilog2());
        prefetch(slots, home as usize);
        *name = home as i32;
    }
    // Nine of ten substrings of a text are in the first slot for their hash.
    for (i, (&name, &key)) in names.iter().zip(&*keys).enumerate() {
        open |= u32::from(slots[name as usize] != key) << i;
    }
    (long, open | long)
}

/// The order of rotations that begin with different substrings, each given as a key and, if it is long, all bytes.
///
/// If one substring ends and the other continues after the same bytes, the shorter one is larger: its last position is
/// of type S, while the same position in the other is not LMS, and therefore of type L.
fn compare(a: (u64, Option<&[u8]>), b: (u64, Option<&[u8]>)) -> Ordering {
    a.0.cmp(&b.0).then_with(|| match (a.1, b.1) {
        (Some(a), Some(b)) => {
            let both = a.len().min(b.len());
            a[..both].cmp(&b[..both]).then(b.len().cmp(&a.len()))
        }
        (a, b) => b.is_some().cmp(&a.is_some()),
    })
}

/// The first eight bytes, big-endian, of the substring of `len` bytes at `at`.
///
/// A short substring is padded with one bits, which keeps the order of [`compare`]. A longer substring with the same
/// beginning continues with a byte that is not 255: at most the short one's last byte, which is smaller than the byte
/// before. No short key is 0, because a substring rises.
#[inline(always)]
fn key(text: &[u8], at: usize, len: usize) -> u64 {
    load(text, at) | (!0u64).checked_shr(8 * len as u32).unwrap_or(0)
}

#[inline(always)]
fn load(text: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(text[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hybz_testkit::shapes::Rng;
    use std::collections::{HashMap, HashSet};

    /// Names these substrings, put one after the other, and the two-byte substrings where two of them meet.
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

    /// Substrings of eight bytes with the same slot.
    #[test]
    fn equal_slots() {
        let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(FACTOR))));
        let key = |number: u64| (0x0123_4567_89AB_CDEF ^ number).wrapping_mul(inverse);
        let mut rng = Rng(8);
        check(&(0..400).map(|_| key(rng.below(9) as u64).to_be_bytes().to_vec()).collect::<Vec<_>>());
    }

    /// Long substrings with the same first eight bytes, which are also a substring of their own.
    #[test]
    fn long_ones_and_their_beginning() {
        let long = |len: usize, last: u8| [&b"aaaaaaaaaaaaaaaaaaaaaaaa"[..len - 1], &[last]].concat();
        let all: Vec<Vec<u8>> = (8..24).flat_map(|len| [1, 2].map(|last| long(len, last))).collect();
        let mut rng = Rng(9);
        check(&(0..900).map(|_| all[rng.below(all.len())].clone()).collect::<Vec<_>>());
    }
}
