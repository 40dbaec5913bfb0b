//! The order of the LMS positions: the rotations of the ring of their names, sorted.
//!
//! Positions are sorted first by their own name, by counting, and by the names that follow, packed into 45 bits next to
//! the position. Positions that are still equal form groups. Groups are sorted again by the ranks at two further
//! places, so that each round looks three times as far (prefix doubling after Manber and Myers, SODA 1990, with two
//! ranks). Rings of few names have long repeats, and libsais sorts them.

use super::{Kernel, as_u64};
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

/// How much longer the spare numbers must be than what is sorted.
const SPARE: usize = 8;

/// Memory for one ring.
#[derive(Debug, Default)]
pub(super) struct Reduced {
    /// For each position its place in the order: the place of the first position equal to it.
    pub(super) ranks: Vec<u32>,
    groups: Vec<Group>,
    next_groups: Vec<Group>,
}

/// Equal positions; they are neighbours in the order.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: u32,
    len: u32,
}

impl Reduced {
    /// Replaces the ring `names`, in which each of `distinct` names occurs, by the numbers of its positions in the
    /// order of their rotations. The ring's least rotation is the first, and it has no period. `rows` has at least two
    /// numbers for each name; it and `ends` are only used meanwhile. Returns false if it takes too long; the names are
    /// lost then.
    pub(super) fn sort(
        &mut self,
        kernel: Kernel,
        names: &mut [i32],
        distinct: usize,
        rows: &mut [i32],
        ends: &mut Vec<u32>,
    ) -> bool {
        assert!(names.len() <= 1 << POSITION_BITS);
        let largest = count(names, distinct, ends);
        // The entries, and the room that sorting needs, are in the rows.
        let fits = names.len() + largest + 2 * SPARE <= rows.len() / 2;
        if distinct * POSITIONS_PER_NAME < names.len() || !fits {
            sort_by_libsais(names, rows);
            return true;
        }
        let (entries, spare) = as_u64(rows).split_at_mut(names.len());
        let bits = usize::BITS - distinct.leading_zeros();
        distribute(names, entries, ends, bits);
        kernel.sort_runs(entries, ends, spare);
        self.sort_by_ranks(kernel, names, entries, spare, ends, bits)
    }

    /// The positions are sorted by their own names and those that follow in an entry. Returns false if it takes too
    /// long.
    fn sort_by_ranks(
        &mut self,
        kernel: Kernel,
        order: &mut [i32],
        entries: &mut [u64],
        spare: &mut [u64],
        ends: &[u32],
        bits: u32,
    ) -> bool {
        let len = order.len();
        self.ranks.resize(len, 0);
        self.groups.clear();
        let mut start = 0;
        for &end in ends {
            let run = start as usize..end as usize;
            rank(&entries[run.clone()], start, &mut order[run], &mut self.ranks, &mut self.groups);
            start = end;
        }
        let mut work = MAX_WORK * len;
        let mut depth = 1 + (KEY_BITS / bits) as usize;
        while !self.groups.is_empty() {
            let members = self.groups.iter().map(|group| group.len as usize).sum();
            let Some(left) = work.checked_sub(members) else { return false };
            work = left;
            self.refine(kernel, order, entries, spare, [depth % len, 2 * depth % len]);
            depth *= 3;
        }
        true
    }

    /// Sorts each group by the ranks at two distances ahead.
    fn refine(
        &mut self,
        kernel: Kernel,
        order: &mut [i32],
        entries: &mut [u64],
        spare: &mut [u64],
        distances: [usize; 2],
    ) {
        let len = self.ranks.len();
        self.next_groups.clear();
        for group in &self.groups {
            let members = &mut order[group.start as usize..(group.start + group.len) as usize];
            let entries = &mut entries[..members.len()];
            for (entry, &position) in entries.iter_mut().zip(members.iter()) {
                let position = position as usize;
                let [near, far] = distances.map(|distance| {
                    let at = position + distance;
                    self.ranks[if at < len { at } else { at - len }] as u64
                });
                *entry = near << (2 * POSITION_BITS) | far << POSITION_BITS | position as u64;
            }
            kernel.sort(entries, spare);
            rank(entries, group.start, members, &mut self.ranks, &mut self.next_groups);
        }
        std::mem::swap(&mut self.groups, &mut self.next_groups);
    }
}

/// The order of suffixes is that of rotations, because the ring is a Lyndon word.
fn sort_by_libsais(names: &mut [i32], rows: &mut [i32]) {
    let len = names.len();
    // The rows are longer than the ring: libsais uses the rest for its buckets.
    SuffixArrayConstruction::for_text_mut(names)
        .in_borrowed_buffer(rows)
        .single_threaded()
        .run()
        .expect("libsais fails only when there is no memory");
    names.copy_from_slice(&rows[..len]);
}

/// Puts the place at which each name's entries begin into `starts`. Returns the number of entries of the most frequent
/// name.
fn count(names: &[i32], distinct: usize, starts: &mut Vec<u32>) -> usize {
    starts.clear();
    starts.resize(distinct, 0);
    for &name in names {
        starts[name as usize] += 1;
    }
    let largest = starts.iter().max().map_or(0, |&most| most as usize);
    let mut sum = 0;
    for start in starts {
        (*start, sum) = (sum, sum + *start);
    }
    largest
}

/// Puts each position into the run of its name, with the names that follow it. The places at which the runs begin
/// become those at which they end.
fn distribute(names: &[i32], entries: &mut [u64], places: &mut [u32], bits: u32) {
    let mut following = 0u64;
    let push = |following: u64, name: i32| (name as u64) << (64 - bits) | following >> bits;
    // The names that follow the last position are the first ones.
    for i in (0..64).rev() {
        following = push(following, names[i % names.len()]);
    }
    for (position, &name) in names.iter().enumerate().rev() {
        let place = &mut places[name as usize];
        entries[*place as usize] = following & !POSITION | position as u64;
        *place += 1;
        following = push(following, name);
    }
}

/// Copies the order of sorted entries, whose first place is `start`, into the positions, the ranks, and the groups of
/// equals.
#[inline]
fn rank(entries: &[u64], start: u32, order: &mut [i32], ranks: &mut [u32], groups: &mut Vec<Group>) {
    let mut at = 0;
    while at < entries.len() {
        let key = entries[at] >> POSITION_BITS;
        let first = at;
        while at < entries.len() && entries[at] >> POSITION_BITS == key {
            let position = entries[at] & POSITION;
            order[at] = position as i32;
            ranks[position as usize] = start + first as u32;
            at += 1;
        }
        if at - first > 1 {
            groups.push(Group { start: start + first as u32, len: (at - first) as u32 });
        }
    }
}
