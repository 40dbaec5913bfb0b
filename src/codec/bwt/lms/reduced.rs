//! The order of the LMS positions: the rotations of the ring of their names, sorted.
//!
//! Positions are sorted first by their own name, by counting, and by the names that follow, packed into 45 bits next to
//! the position. Positions that are still equal form groups. Groups are sorted again by the ranks at two further
//! places, so that each round looks three times as far (prefix doubling after Manber and Myers, SODA 1990, with two
//! ranks). Rings of few names have long repeats, and libsais sorts them.

use super::{Kernel, as_numbers};
use libsais::SuffixArrayConstruction;

/// The number of bits of a position. A block of less than 2^20 bytes has fewer LMS positions than 2^19.
const POSITION_BITS: u32 = 19;
const POSITION: u64 = (1 << POSITION_BITS) - 1;

/// The number of bits for the names that follow.
const KEY_BITS: u32 = 64 - POSITION_BITS;

/// libsais sorts a ring with more than this many positions per name. Time for the whole block against libsais: with a
/// limit of 50, nci took 1.02 and xml 1.06 times as long; with 20, nci 1.06 and xml 1.00; with 100, nci 0.89.
const POSITIONS_PER_NAME: usize = 40;

/// The budget of the rounds, in multiples of the number of positions; when it is spent, libsais takes over. In six
/// files the rounds sort 0.2 to 2.5 times as many, but a text can be crafted that needs 11 rounds over all positions.
const MAX_WORK: usize = 4;

/// Memory for one ring. Nothing in it lasts from one ring to the next.
pub(super) struct Reduced<'a> {
    /// At least twice as many numbers as there are positions.
    pub(super) rows: &'a mut [i32],
    /// At least one number for each name: the end of its entries, once they have been distributed.
    pub(super) ends: &'a mut [u32],
    /// A bit for each place in the order, and one more: whether a group of equal positions begins there. A position
    /// that equals no other is a group, too.
    pub(super) starts: &'a mut [u64],
}

impl Reduced<'_> {
    /// Sorts the rotations of the ring `names`, in which each of `distinct` names occurs; its least rotation is the
    /// first, and it has no period. Replaces the names by the `values` of their positions in the order of rotations.
    pub(super) fn sort(&mut self, kernel: Kernel, names: &mut [i32], distinct: usize, values: &[i32]) {
        assert!(names.len() <= 1 << POSITION_BITS && 2 * names.len() <= self.rows.len());
        if distinct * POSITIONS_PER_NAME >= names.len() && self.sort_by_ranks(kernel, names, distinct) {
            for (value, entry) in names.iter_mut().zip(as_numbers(self.rows)) {
                *value = values[position(*entry)];
            }
        } else {
            self.sort_by_libsais(names);
            for (value, &position) in names.iter_mut().zip(self.rows.iter()) {
                *value = values[position as usize];
            }
        }
    }

    /// Puts the order into `rows`. The order of suffixes is that of rotations, because the ring is a Lyndon word.
    fn sort_by_libsais(&mut self, names: &mut [i32]) {
        // It uses what is longer than the names for its buckets.
        SuffixArrayConstruction::for_text_mut(names)
            .in_borrowed_buffer(self.rows)
            .single_threaded()
            .run()
            .expect("libsais fails only when there is no memory");
    }

    /// Puts entries in the order into `rows`. Returns false if it takes too long; then the
    /// names have become ranks, which tell more positions apart.
    fn sort_by_ranks(&mut self, kernel: Kernel, names: &mut [i32], distinct: usize) -> bool {
        let len = names.len();
        let bits = usize::BITS - distinct.leading_zeros();
        let (entries, spare) = as_numbers(self.rows).split_at_mut(len);
        let ends = &mut self.ends[..distinct];
        distribute(names, entries, ends, bits);
        let starts = &mut self.starts[..len / 64 + 1];
        starts.fill(0);
        let mut start = 0;
        for &end in ends.iter() {
            let end = end as usize;
            starts[start / 64] |= 1 << (start % 64);
            kernel.sort(&mut entries[start..end], POSITION_BITS, spare);
            start = end;
        }
        starts[len / 64] |= 1 << (len % 64);
        let ranks = names;
        rank_all(entries, starts, ranks);

        let mut work = MAX_WORK * len;
        let mut depth = 1 + (KEY_BITS / bits) as usize;
        loop {
            match refine(kernel, entries, starts, ranks, [depth % len, 2 * depth % len], spare, &mut work) {
                Some(0) => return true,
                Some(_) => depth *= 3,
                None => return false,
            }
        }
    }
}

#[inline]
fn position(entry: u64) -> usize {
    (entry & POSITION) as usize
}

/// Puts each position into the run of its name, with the names that follow it.
fn distribute(names: &[i32], entries: &mut [u64], ends: &mut [u32], bits: u32) {
    ends.fill(0);
    for &name in names {
        ends[name as usize] += 1;
    }
    let mut sum = 0;
    for start in ends.iter_mut() {
        (*start, sum) = (sum, sum + *start);
    }
    let mut following = 0u64;
    let push = |following: u64, name: i32| (name as u64) << (64 - bits) | following >> bits;
    // The names that follow the last position are the first ones.
    for i in (0..64).rev() {
        following = push(following, names[i % names.len()]);
    }
    for (position, &name) in names.iter().enumerate().rev() {
        let place = &mut ends[name as usize];
        entries[*place as usize] = following & !POSITION | position as u64;
        *place += 1;
        following = push(following, name);
    }
}

/// Gives each position the place of the first position equal to it as its rank. `starts` has the starts of names, and
/// gets those of groups.
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

/// Sorts each group by the ranks of what lies at two `distances` ahead. Returns the number of members of all groups, or
/// `None` when there is no more `work`.
fn refine(
    kernel: Kernel,
    entries: &mut [u64],
    starts: &mut [u64],
    ranks: &mut [i32],
    distances: [usize; 2],
    spare: &mut [u64],
    work: &mut usize,
) -> Option<usize> {
    let len = ranks.len();
    let mut members = 0;
    let mut at = 0;
    while let Some((start, end)) = next_group(starts, at, len) {
        members += end - start;
        *work = work.checked_sub(end - start)?;
        let group = &mut entries[start..end];
        for entry in &mut *group {
            let position = position(*entry);
            let [near, far] = distances.map(|distance| {
                let ahead = position + distance;
                ranks[if ahead < len { ahead } else { ahead - len }] as u64
            });
            *entry = near << (2 * POSITION_BITS) | far << POSITION_BITS | position as u64;
        }
        kernel.sort(group, POSITION_BITS, spare);
        let (mut key, mut first) = (group[0] >> POSITION_BITS, start);
        for (place, &entry) in (start..).zip(group.iter()) {
            let begins = entry >> POSITION_BITS != key;
            key = entry >> POSITION_BITS;
            first = if begins { place } else { first };
            starts[place / 64] |= u64::from(begins) << (place % 64);
            ranks[position(entry)] = first as i32;
        }
        at = end;
    }
    Some(members)
}

/// The first group of two or more that begins at place `at` or later.
#[inline]
fn next_group(starts: &[u64], at: usize, len: usize) -> Option<(usize, usize)> {
    if at >= len {
        return None;
    }
    // Bit i: place i begins a group, and the next place does not.
    let long = |word: usize| {
        let next = starts.get(word + 1).map_or(1, |next| next & 1);
        starts[word] & !(starts[word] >> 1 | next << 63)
    };
    let mut word = at / 64;
    let mut found = long(word) & (!0 << (at % 64));
    while found == 0 {
        word += 1;
        if word >= starts.len() {
            return None;
        }
        found = long(word);
    }
    let start = word * 64 + found.trailing_zeros() as usize;
    if start >= len {
        return None;
    }
    // `len` begins a group, so there is an end.
    let mut word = (start + 1) / 64;
    let mut found = starts[word] & (!0 << ((start + 1) % 64));
    while found == 0 {
        word += 1;
        found = starts[word];
    }
    Some((start, word * 64 + found.trailing_zeros() as usize))
}
