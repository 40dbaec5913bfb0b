//! The order of the LMS positions: the rotations of the ring of their names, sorted.
//!
//! Positions are sorted first by their own name, by counting, and by the names that follow, packed into 45 bits next to
//! the position. Positions that are still equal form groups. Groups are sorted again by the ranks at two further
//! places, so that each round looks three times as far (prefix doubling after Manber and Myers, SODA 1990, with two
//! ranks). Rings of few names have long repeats, and libsais sorts them.

use super::Kernel;
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

/// Memory for one ring.
#[derive(Debug, Default)]
pub(super) struct Reduced {
    /// The LMS positions in the order of their rotations, by number.
    pub(super) order: Vec<i32>,
    /// The end of each name's entries, once they have been distributed.
    ends: Vec<u32>,
    entries: Vec<u64>,
    /// For each position its place in the order: the place of the first position equal to it.
    ranks: Vec<u32>,
    spare: Vec<u64>,
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
    /// Sorts the rotations of the ring `names`, in which each of `distinct` names occurs; its least rotation is the
    /// first, and it has no period.
    pub(super) fn sort(&mut self, kernel: Kernel, names: &mut [i32], distinct: usize) {
        assert!(names.len() <= 1 << POSITION_BITS);
        if distinct * POSITIONS_PER_NAME < names.len() || !self.sort_by_ranks(kernel, names, distinct) {
            self.sort_by_libsais(names);
        }
    }

    /// The order of suffixes is that of rotations, because the ring is a Lyndon word.
    fn sort_by_libsais(&mut self, names: &mut [i32]) {
        let len = names.len();
        // Room that libsais may use for its buckets.
        self.order.resize(len + len / 4 + 1024, 0);
        SuffixArrayConstruction::for_text_mut(names)
            .in_borrowed_buffer(&mut self.order)
            .single_threaded()
            .run()
            .expect("libsais fails only when there is no memory");
        self.order.truncate(len);
    }

    /// Returns false if it takes too long.
    fn sort_by_ranks(&mut self, kernel: Kernel, names: &[i32], distinct: usize) -> bool {
        let len = names.len();
        let bits = usize::BITS - distinct.leading_zeros();
        self.distribute(names, distinct, bits);
        let largest = self.ends.windows(2).map(|ends| (ends[1] - ends[0]) as usize).max().unwrap_or(0);
        let largest = largest.max(self.ends[0] as usize);
        if self.spare.len() < largest + 8 {
            self.spare.resize(largest + 8, 0);
        }
        kernel.sort_runs(&mut self.entries, &self.ends, &mut self.spare);

        self.order.resize(len, 0);
        self.ranks.resize(len, 0);
        self.groups.clear();
        let mut start = 0;
        for &end in &self.ends {
            let run = start as usize..end as usize;
            rank(&self.entries[run.clone()], start, &mut self.order[run], &mut self.ranks, &mut self.groups);
            start = end;
        }

        let mut work = MAX_WORK * len;
        let mut depth = 1 + (KEY_BITS / bits) as usize;
        while !self.groups.is_empty() {
            let members = self.groups.iter().map(|group| group.len as usize).sum();
            let Some(left) = work.checked_sub(members) else { return false };
            work = left;
            self.refine(kernel, depth % len, 2 * depth % len);
            depth *= 3;
        }
        true
    }

    /// Puts each position into the run of its name, with the names that follow it.
    fn distribute(&mut self, names: &[i32], distinct: usize, bits: u32) {
        self.ends.clear();
        self.ends.resize(distinct, 0);
        for &name in names {
            self.ends[name as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut self.ends {
            (*start, sum) = (sum, sum + *start);
        }
        self.entries.resize(names.len(), 0);
        let mut following = 0u64;
        let push = |following: u64, name: i32| (name as u64) << (64 - bits) | following >> bits;
        // The names that follow the last position are the first ones.
        for i in (0..64).rev() {
            following = push(following, names[i % names.len()]);
        }
        for (position, &name) in names.iter().enumerate().rev() {
            let place = &mut self.ends[name as usize];
            self.entries[*place as usize] = following & !POSITION | position as u64;
            *place += 1;
            following = push(following, name);
        }
    }

    /// Sorts each group by the ranks `near` and `far` positions ahead.
    fn refine(&mut self, kernel: Kernel, near: usize, far: usize) {
        let len = self.ranks.len();
        self.next_groups.clear();
        let largest = self.groups.iter().map(|group| group.len as usize).max().unwrap_or(0);
        if self.spare.len() < largest + 8 {
            self.spare.resize(largest + 8, 0);
        }
        for group in &self.groups {
            let members = &mut self.order[group.start as usize..(group.start + group.len) as usize];
            let entries = &mut self.entries[..members.len()];
            for (entry, &position) in entries.iter_mut().zip(members.iter()) {
                let position = position as usize;
                let ahead = |distance: usize| {
                    let at = position + distance;
                    self.ranks[if at < len { at } else { at - len }] as u64
                };
                *entry = ahead(near) << (2 * POSITION_BITS) | ahead(far) << POSITION_BITS | position as u64;
            }
            kernel.sort(entries, &mut self.spare);
            rank(entries, group.start, members, &mut self.ranks, &mut self.next_groups);
        }
        std::mem::swap(&mut self.groups, &mut self.next_groups);
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
