//! In which order the copies of a rotation stand among themselves.
//!
//! A bucket that is filled from another has the order of the rotations one byte further on. In one that is sorted, a ranked
//! letter decides, and the copies are in the order of those rotations that begin there; and so on from letter to letter of
//! earlier and earlier turns. At the end of nearly all such ways is one of the first turn, when nothing was ranked: there the
//! order is what insertion left (`charge`).

use super::marks::Marks;
use super::{BUCKET_DEPTH, DEEPEST, FREE, Quick, STEP, unequalled};

/// Copies stand in an order that is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Likeness {
    /// The number of the order.
    order: usize,
    /// Which copy of the rotation with that order belongs to the copy 0.
    first: usize,
}

impl Likeness {
    /// Bits for `first`: 72 copies at most.
    const FIRST: u32 = 7;

    /// As a number that is not 0.
    fn pack(self) -> u32 {
        (self.order as u32 + 1) << Self::FIRST | self.first as u32
    }

    fn unpack(packed: u32) -> Option<Self> {
        let order = (packed >> Self::FIRST).checked_sub(1)? as usize;
        Some(Likeness { order, first: packed as usize & ((1 << Self::FIRST) - 1) })
    }
}

/// The copies of a rotation, one after another.
#[derive(Debug)]
pub struct Order {
    pub copies: Vec<u32>,
    /// What it costs to tell each from the one before: the first has none, and what nothing tells apart costs `unequalled`.
    pub costs: Vec<u32>,
}

/// Whether the first ranked letter that tells copies of a rotation apart does so for all of them.
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    /// All of them, so far behind.
    At(usize),
    /// Perhaps only some of them: several share its rank.
    Partly,
    /// None does.
    Never,
}

impl Quick<'_> {
    /// The order of the copies of the rotation that begins so far behind the beginning of the word.
    pub fn order(&mut self, at: usize) -> Likeness {
        let len = self.len();
        let (mut start, mut first) = (at, 0);
        // The rotations on the way whose buckets are sorted, and which copy of each is the first one's.
        let mut way = std::mem::take(&mut self.way);
        let like = loop {
            while start >= len {
                start -= len;
                first += 1;
            }
            if self.letters.is_copied(self.text[start], self.text[start + 1]) {
                start += 1;
                continue;
            }
            let row = self.sorted.rows[start] as usize;
            if let Some(known) = Likeness::unpack(self.likenesses[row]) {
                break Likeness { order: known.order, first: (first + known.first) % self.times };
            }
            let from = self.depth(row) + FREE;
            match self.decision(start, from) {
                Decision::At(next) => start += next,
                _ => {
                    let copies = self.copies(start, from).copies;
                    let kept = self.keep(row, copies.into_iter());
                    break Likeness { order: kept.order, first: first % self.times };
                }
            }
            way.push((row, first));
        };
        for (row, first) in way.drain(..) {
            let first = (like.first + self.times - first % self.times) % self.times;
            self.set_like(row, Likeness { order: like.order, first });
        }
        self.way = way;
        like
    }

    /// Which among its equals the copy is.
    pub fn place(&self, like: Likeness, copy: usize) -> usize {
        let copy = like.first + copy;
        let copy = if copy < self.times { copy } else { copy - self.times };
        usize::from(self.places[like.order * self.times + copy])
    }

    /// Keeps the order of a row's copies, instead of the one that is kept of it.
    pub fn keep(&mut self, row: usize, copies: impl Iterator<Item = u32>) -> Likeness {
        let like = Likeness::unpack(self.likenesses[row]).unwrap_or_else(|| {
            let order = self.places.len() / self.times;
            self.places.resize(self.places.len() + self.times, 0);
            Likeness { order, first: 0 }
        });
        for (place, copy) in copies.enumerate() {
            self.places[like.order * self.times + copy as usize] = place as u8;
        }
        self.set_like(row, like);
        like
    }

    /// Keeps that the copies of a row stand like that.
    pub fn set_like(&mut self, row: usize, like: Likeness) {
        self.likenesses[row] = like.pack();
    }

    /// The depth at which quicksort leaves this row, or another one if it makes no difference to the decision.
    fn depth(&mut self, row: usize) -> usize {
        let start = self.wrapped(self.sorted.starts[row] as usize + BUCKET_DEPTH + FREE);
        if self.telling.window(start) & ((1 << (DEEPEST + 1 - BUCKET_DEPTH)) - 1) == 0 {
            return BUCKET_DEPTH;
        }
        while self.split(row) {}
        self.range(row).1
    }

    /// What tells the copies of a rotation apart, from this distance on.
    pub fn decision(&self, start: usize, from: usize) -> Decision {
        let end = from + self.len();
        let mut next = from;
        while let Some(at) = self.next_of(&self.telling, start, next).filter(|&at| at < end) {
            if self.shift(start + at) == 0 {
                return Decision::At(at);
            }
            if self.shared_rank(start + at).is_none() {
                return Decision::Partly;
            }
            next = at + 1;
        }
        Decision::Never
    }

    /// The copies in order, one ranked letter after another, until all are told apart.
    pub fn copies(&mut self, start: usize, from: usize) -> Order {
        let times = self.times;
        let never = unequalled(self.len() * times) as u32;
        let mut order = Order { copies: (0..times as u32).collect(), costs: vec![never; times] };
        order.costs[0] = 0;
        let mut next = from;
        let mut ranks = Vec::with_capacity(times);
        let mut tied = times;
        while let Some(at) = self.next_of(&self.telling, start, next).filter(|at| at - from < self.len() * times) {
            next = at + 1;
            if self.shared_rank(start + at).is_some() {
                continue;
            }
            let like = self.order(start + at);
            let (first, shift) = (self.first_rank(start + at), self.shift(start + at));
            ranks.clear();
            ranks.extend((0..times).map(|copy| (first + self.place(like, copy)) >> shift));
            for place in 1..times {
                let copy = order.copies[place];
                let mut to = place;
                while order.costs[to] == never && ranks[order.copies[to - 1] as usize] > ranks[copy as usize] {
                    order.copies[to] = order.copies[to - 1];
                    to -= 1;
                }
                order.copies[to] = copy;
            }
            for place in 1..times {
                let [before, here] = [place - 1, place].map(|place| ranks[order.copies[place] as usize]);
                if order.costs[place] == never && before != here {
                    order.costs[place] = ((at - from) / STEP) as u32;
                    tied -= 1;
                }
            }
            if tied == 1 {
                break;
            }
        }
        order
    }

    /// The rank of this copy of a rotation that begins so far behind the beginning of the word.
    pub fn rank(&mut self, at: usize, copy: usize) -> usize {
        if let Some(rank) = self.shared_rank(at) {
            return rank;
        }
        let order = self.order(at);
        (self.first_rank(at) + self.place(order, copy)) >> self.shift(at)
    }

    /// The rank that all copies of a rotation have, if it is one.
    fn shared_rank(&self, at: usize) -> Option<usize> {
        let (rank, shift) = (self.first_rank(at), self.shift(at));
        (rank >> shift == (rank + self.times - 1) >> shift).then_some(rank >> shift)
    }

    /// The rank of the first copy, uncut.
    fn first_rank(&self, at: usize) -> usize {
        let at = self.wrapped(at);
        let first = self.letters.bucket(self.text[at], 0).start;
        (self.sorted.rows[at] as usize - first) * self.times
    }

    /// By how many bits ranks of the letter there are cut.
    pub fn shift(&self, at: usize) -> u32 {
        self.letters.shifts[usize::from(self.text[self.wrapped(at)])]
    }

    /// How far behind `start`, and at least `from`, the next letter is that had its turn before that of the letter at `start`.
    pub fn next_ranked(&self, start: usize, from: usize) -> Option<usize> {
        self.next_of(&self.ranked, start, from)
    }

    /// The same for letters with one of these marks.
    fn next_of(&self, marks: &Marks, start: usize, mut from: usize) -> Option<usize> {
        let len = self.len();
        let turn = self.letters.turn(self.text[start]);
        let mut at = self.wrapped(start + from);
        loop {
            let found = marks.next(at).or_else(|| Some(marks.next(0)? + len))?;
            from += found - at;
            at = if found < len { found } else { found - len };
            if self.letters.turn(self.text[at]) < turn {
                return Some(from);
            }
            (from, at) = (from + 1, at + 1);
        }
    }
}
