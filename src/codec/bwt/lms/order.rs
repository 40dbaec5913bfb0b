//! The order of the LMS positions: the rotations of the ring of their names, sorted.
//!
//! Positions are sorted first by their own name (counted) and by the names that follow it, packed into 42 bits next to
//! the position. Positions that are still equal form groups. Groups are sorted again by the ranks at two further
//! positions, so that each round looks three times as far (prefix doubling after Manber and Myers, SODA 1990, with two
//! ranks). The order of a sorted group is also the order of the positions before its members, if these are a group of
//! the same size. Rings of few names have long repeats, and libsais sorts them.

use super::sort::SORTABLE;
use super::{Kernel, as_numbers, prefetch};
use crate::codec::bwt::suffixes;

/// The number of bits of a position. A block of less than 2^20 bytes has fewer LMS positions than 2^19.
const POSITION_BITS: u32 = 19;
const POSITION: u64 = (1 << POSITION_BITS) - 1;

/// The number of values that the packed names can have.
const KEYS: u64 = SORTABLE >> POSITION_BITS;

/// The number of positions from the entry being handled to the entry being prefetched for.
const AHEAD: usize = 48;

/// libsais sorts a ring with more than this many positions per name. Time for the whole block against libsais: with a
/// limit of 50, nci took 1.02 and xml 1.06 times as long; with 20, nci 1.06 and xml 1.00; with 100, nci 0.89.
const POSITIONS_PER_NAME: usize = 40;

/// The budget of the rounds, in multiples of the number of positions; when it is spent, libsais takes over. In six
/// files the rounds take 0.2 to 2.5, but a text can be crafted that needs 11 rounds over all positions.
const MAX_WORK: usize = 4;

/// Memory for one ring. Nothing in it lasts from one ring to the next.
pub(super) struct Order<'a> {
    pub(super) kernel: Kernel,
    /// At least twice as many numbers as there are positions.
    pub(super) rows: &'a mut [i32],
    /// At least one number for each name: the end of its entries, once they have been distributed.
    pub(super) ends: &'a mut [u32],
    /// A bit for each place in the order, and one more: whether a group of equal positions begins there. A position
    /// that equals no other forms a group of its own.
    pub(super) starts: &'a mut [u64],
}

impl Order<'_> {
    /// Sorts the rotations of the ring `names`, in which each of `distinct` names occurs; its least rotation is the
    /// first, and it has no period. Replaces the names by the `values` of their positions in the order of rotations.
    #[inline(always)]
    pub(super) fn sort(&mut self, names: &mut [i32], distinct: usize, values: &[i32]) {
        assert!(names.len() <= 1 << POSITION_BITS && 2 * names.len() <= self.rows.len());
        if distinct * POSITIONS_PER_NAME >= names.len() && self.sort_by_ranks(names, distinct) {
            for (value, entry) in names.iter_mut().zip(as_numbers(self.rows)) {
                *value = values[position(*entry)];
            }
        } else {
            // The order of suffixes is that of rotations, because the ring is a Lyndon word.
            suffixes::sort_numbers(names, names.len(), self.rows);
            for (value, &position) in names.iter_mut().zip(self.rows.iter()) {
                *value = values[position as usize];
            }
        }
    }

    /// Fills `rows` with the entries in order. Returns false if that takes too long; the names have then become ranks,
    /// which tell more positions apart.
    #[inline(always)]
    fn sort_by_ranks(&mut self, names: &mut [i32], distinct: usize) -> bool {
        let len = names.len();
        let (entries, spare) = as_numbers(self.rows).split_at_mut(len);
        let ends = &mut self.ends[..distinct];
        let mut depth = distribute(names, entries, ends);
        let starts = &mut self.starts[..len / 64 + 1];
        starts.fill(0);
        let mut start = 0;
        for &end in ends.iter() {
            let end = end as usize;
            starts[start / 64] |= 1 << (start % 64);
            self.kernel.sort(&mut entries[start..end], POSITION_BITS, spare);
            start = end;
        }
        starts[len / 64] |= 1 << (len % 64);
        let ranks = names;
        rank_all(entries, starts, ranks);

        let mut rounds = Rounds { kernel: self.kernel, entries, starts, ranks, spare, work: MAX_WORK * len };
        loop {
            match rounds.refine([depth % len, 2 * depth % len]) {
                Some(0) => return true,
                Some(_) => depth *= 3,
                None => return false,
            }
        }
    }
}

#[inline(always)]
fn position(entry: u64) -> usize {
    (entry & POSITION) as usize
}

/// Puts each position into the run of its name, with a key of the names that follow: digits of a number whose base is
/// the number of names. The rest of the key holds the upper part of one more name. Returns how many names are compared
/// in all.
#[inline(always)]
fn distribute(names: &[i32], entries: &mut [u64], ends: &mut [u32]) -> usize {
    ends.fill(0);
    for &name in names {
        ends[name as usize] += 1;
    }
    let mut sum = 0;
    for start in ends.iter_mut() {
        (*start, sum) = (sum, sum + *start);
    }
    let distinct = ends.len() as u64;
    let (mut digits, mut first_digit) = (1, 1);
    while first_digit * distinct <= KEYS / distinct && digits < 8 {
        (digits, first_digit) = (digits + 1, first_digit * distinct);
    }
    let part = KEYS / (first_digit * distinct);
    // The upper part is a division by the number of names, done as a multiplication.
    let factor = (part << 20) / distinct;
    let ring = |at: usize| names[at % names.len()];
    let mut key = (1..=digits).fold(0, |key, at| key * distinct + ring(at) as u64);
    let mut put = |at: usize, name: i32, leaving: i32, entering: i32| {
        let place = &mut ends[name as usize];
        let upper_part = (entering as u64 * factor) >> 20;
        entries[*place as usize] = SORTABLE | (key * part + upper_part) << POSITION_BITS | at as u64;
        *place += 1;
        key = (key - leaving as u64 * first_digit) * distinct + entering as u64;
        if let Some(&ahead) = names.get(at + AHEAD / 3) {
            prefetch(entries, ends[ahead as usize] as usize);
        }
    };
    for (at, window) in names.windows(digits + 2).enumerate() {
        put(at, window[0], window[1], window[digits + 1]);
    }
    for at in names.len().saturating_sub(digits + 1)..names.len() {
        put(at, ring(at), ring(at + 1), ring(at + digits + 1));
    }
    digits + 1
}

/// Gives each position its rank: the index of the first position equal to it. `starts` has the starts of names at
/// first, and those of groups at the end.
#[inline(always)]
fn rank_all(entries: &[u64], starts: &mut [u64], ranks: &mut [i32]) {
    let (mut key, mut first) = (0, 0);
    for ((at, entries), starts) in (0..).step_by(64).zip(entries.chunks(64)).zip(starts) {
        let mut bits = *starts;
        for (i, &entry) in entries.iter().enumerate() {
            let begins = (*starts >> i & 1 != 0) | (entry >> POSITION_BITS != key);
            key = entry >> POSITION_BITS;
            first = if begins { at + i as i32 } else { first };
            bits |= u64::from(begins) << i;
            ranks[position(entry)] = first;
        }
        *starts = bits;
    }
}

/// The state of prefix doubling.
struct Rounds<'a> {
    kernel: Kernel,
    entries: &'a mut [u64],
    starts: &'a mut [u64],
    ranks: &'a mut [i32],
    spare: &'a mut [u64],
    work: usize,
}

impl Rounds<'_> {
    /// Sorts each group by the ranks at the positions two `distances` ahead. Returns the number of members of all
    /// groups, or `None` when the budget (`work`) is spent.
    #[inline(always)]
    fn refine(&mut self, distances: [usize; 2]) -> Option<usize> {
        let len = self.ranks.len();
        let mut members = 0;
        let mut at = 0;
        while let Some((start, end)) = next_group(self.starts, at, len) {
            members += end - start;
            self.work = self.work.checked_sub(end - start)?;
            for &entry in self.entries.iter().take(end + AHEAD).skip(start + AHEAD) {
                prefetch(self.ranks, position(entry) + distances[0]);
                prefetch(self.ranks, position(entry) + distances[1]);
            }
            let group = &mut self.entries[start..end];
            for entry in &mut *group {
                let position = position(*entry);
                let [near, far] = distances.map(|distance| {
                    let ahead = position + distance;
                    self.ranks[if ahead < len { ahead } else { ahead - len }] as u64
                });
                *entry = SORTABLE | near << (2 * POSITION_BITS) | far << POSITION_BITS | position as u64;
            }
            self.kernel.sort(group, POSITION_BITS, self.spare);
            let (mut key, mut first) = (group[0] >> POSITION_BITS, start);
            let mut distinct = 1;
            for (place, &entry) in (start..).zip(group.iter()) {
                let begins = entry >> POSITION_BITS != key;
                key = entry >> POSITION_BITS;
                first = if begins { place } else { first };
                distinct += usize::from(begins);
                self.starts[place / 64] |= u64::from(begins) << (place % 64);
                self.ranks[self::position(entry)] = first as i32;
            }
            if distinct == end - start {
                self.order_earlier(start, end);
            }
            at = end;
        }
        Some(members)
    }

    /// The order of a group's members is known. If the positions before them are a group, too, that group has the same
    /// order; and so on.
    fn order_earlier(&mut self, start: usize, end: usize) {
        let size = end - start;
        let member = |this: &Self, i: usize, back: usize| position(this.entries[start + i]).checked_sub(back);
        for back in 1.. {
            let Some(first) = member(self, 0, back) else { return };
            let rank = self.ranks[first];
            let to = rank as usize;
            let is_member = |i| member(self, i, back).is_some_and(|position| self.ranks[position] == rank);
            // All have the rank `to`, so no group begins among them; if one begins after them, they are a whole group.
            if !(1..size).all(is_member) || self.starts[(to + size) / 64] >> ((to + size) % 64) & 1 == 0 {
                return;
            }
            for i in 0..size {
                let position = position(self.entries[start + i]) - back;
                self.entries[to + i] = position as u64;
                self.ranks[position] = (to + i) as i32;
                self.starts[(to + i) / 64] |= 1 << ((to + i) % 64);
            }
        }
    }
}

/// The first group of two or more positions that begins at index `at` or later.
#[inline(always)]
fn next_group(starts: &[u64], at: usize, len: usize) -> Option<(usize, usize)> {
    // Bit i: index i begins a group, and the next index does not.
    let long = |word: usize| {
        let next = starts.get(word + 1).map_or(1, |next| next & 1);
        starts[word] & !(starts[word] >> 1 | next << 63)
    };
    // `len` begins a group, so there is an end.
    let start = next_one(starts.len(), long, at).filter(|&start| start < len)?;
    Some((start, next_one(starts.len(), |word| starts[word], start + 1)?))
}

/// The first bit set in `count` words, from bit `at` on.
#[inline(always)]
fn next_one(count: usize, word: impl Fn(usize) -> u64, at: usize) -> Option<usize> {
    let mut mask = !0 << (at % 64);
    for number in at / 64..count {
        let found = word(number) & mask;
        if found != 0 {
            return Some(number * 64 + found.trailing_zeros() as usize);
        }
        mask = !0;
    }
    None
}
