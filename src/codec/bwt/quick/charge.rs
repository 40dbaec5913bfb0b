//! What it costs to sort a range by insertion (in Shell's steps), where rotations are compared as a whole.
//!
//! All entries of a range have a place in the order, known before. What it costs to compare two that stand side by side in it is
//! known as well, and for two others it is the least of those in between, as with longest common prefixes. So
//! what is sorted here are numbers, to see which are compared.

use super::copies::{Decision, Likeness};
use super::least::Least;
use super::{FREE, Quick, SMALL, STEP, unequalled};
use std::ops::Range;

/// Knuth's steps, of which bzip2 uses those that are less than the entries are many.
const STEPS: [usize; 13] = [797_161, 265_720, 88_573, 29_524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1];

/// Bytes compared at once.
const LOAD: usize = 32;

/// A rotation of the word: what all its copies in a range have in common.
#[derive(Clone, Copy, Debug)]
struct Class {
    start: usize,
    decision: Decision,
    /// The order of the copies, as soon as it is known.
    like: Likeness,
}

/// Lists that are used again for each range.
#[derive(Debug, Default)]
pub struct Scratch {
    classes: Vec<Class>,
    /// For each place of the order, what it costs to compare the entry there with the one before it.
    costs: Least,
    /// For each entry its place in the order, and below the 32nd bit which copy it is.
    places: Vec<u64>,
}

impl Scratch {
    fn clear(&mut self) {
        self.classes.clear();
        self.costs.clear();
        self.places.clear();
    }
}

impl Quick<'_> {
    /// Pays for sorting a range that quicksort leaves at this depth.
    pub fn charge(&mut self, rows: Range<usize>, depth: usize) {
        let times = self.times;
        let from = depth + FREE;
        let never = unequalled(self.len() * times) as u32;
        let mut work = std::mem::take(&mut self.scratch);
        work.clear();
        for row in rows.clone() {
            let start = self.sorted.starts[row] as usize;
            let mut class = Class { start, decision: self.decision(start, from), like: Likeness::default() };
            let border = work.classes.last().map_or(0, |&before| self.border(before, class, depth));
            work.costs.single.push(border);
            match class.decision {
                Decision::At(at) => {
                    work.costs.single.extend(std::iter::repeat_n(((at - from) / STEP) as u32, times - 1))
                }
                _ => {
                    let order = self.copies(start, from);
                    work.costs.single.extend(&order.costs[1..]);
                    class.like = self.keep(row, order.copies.into_iter());
                }
            }
            work.classes.push(class);
        }
        let decided = work.classes.iter().all(|class| matches!(class.decision, Decision::At(_)));
        if work.costs.single.iter().all(|&cost| cost == 0) {
            // Nothing to pay.
        } else if times == 2
            && rows.len() <= SMALL / 2
            && decided
            && work.costs.single.iter().step_by(2).all(|&cost| cost == 0)
        {
            self.charge_pairs(rows, &work);
        } else {
            for (row, class) in rows.clone().zip(&mut work.classes) {
                if let Decision::At(at) = class.decision {
                    class.like = self.order(class.start + at);
                    self.set_like(row, class.like);
                }
            }
            let first = rows.start * times;
            work.places.extend(self.entries[first..rows.end * times].iter().map(|&entry| {
                let entry = entry - first as u32;
                let (class, copy) = (entry / times as u32, entry % times as u32);
                let place = class as usize * times + self.place(work.classes[class as usize].like, copy as usize);
                (place as u64) << 32 | u64::from(copy)
            }));
            work.costs.prepare();
            self.spent += insert(&mut work.places, &work.costs, never, self.budget - self.spent);
            for (row, (class, places)) in rows.zip(work.classes.iter().zip(work.places.chunks_exact(times))) {
                // Where nothing told copies apart, insertion has.
                if let Decision::Never | Decision::Partly = class.decision {
                    self.keep(row, places.iter().map(|&place| place as u32));
                }
            }
        }
        self.scratch = work;
    }

    /// The same for a small range of rotations in two copies each, where to compare one with another costs nothing.
    ///
    /// Insertion compares two that stand side by side in the order, if both are among what one pass sorts. So each
    /// pass compares both copies once if they are as far apart as a multiple of its step, and nothing else counts.
    fn charge_pairs(&mut self, rows: Range<usize>, work: &Scratch) {
        let first = 2 * rows.start;
        let mut entries = [0; SMALL];
        let entries = &mut entries[..2 * rows.len()];
        for (to, &entry) in entries.iter_mut().zip(&self.entries[first..]) {
            *to = entry as usize - first;
        }
        let cost = |entry: usize| work.costs.single[entry | 1] as usize;
        // The first of three passes, of steps so long that it compares each at most once.
        for at in 13..entries.len() {
            let (one, other) = (entries[at - 13], entries[at]);
            let is_greater = if one / 2 == other / 2 {
                self.spent += cost(one);
                let class = &work.classes[one / 2];
                let Decision::At(decision) = class.decision else { continue };
                let like = self.order(class.start + decision);
                self.place(like, one % 2) > self.place(like, other % 2)
            } else {
                one > other
            };
            if is_greater {
                entries.swap(at - 13, at);
            }
        }
        let mut seen = [None; SMALL / 2];
        for (at, &entry) in entries.iter().enumerate() {
            match seen[entry / 2] {
                None => seen[entry / 2] = Some(at),
                Some(other) if entries.len() > 4 && (at - other) % 4 == 0 => self.spent += 2 * cost(entry),
                Some(_) => self.spent += cost(entry),
            }
        }
    }

    /// What it costs to compare the last copy of a rotation with the first one of the next.
    fn border(&mut self, before: Class, class: Class, depth: usize) -> u32 {
        let from = depth + FREE;
        let common = self.common(before.start, class.start, depth, from + STEP);
        if common < from + STEP {
            return 0;
        }
        let end = match (before.decision, class.decision) {
            (_, Decision::At(at)) | (Decision::At(at), _) => at + 1,
            _ => self.len(),
        };
        let end = self.common(before.start, class.start, common, end);
        let mut next = from;
        let mut copies = None;
        while let Some(at) = self.next_ranked(class.start, next).filter(|&at| at < end) {
            if self.shift(class.start + at) == 0 {
                return ((at - from) / STEP) as u32;
            }
            let (last, first) =
                *copies.get_or_insert_with(|| (self.nth(before, self.times - 1, from), self.nth(class, 0, from)));
            if self.rank(before.start + at, last) != self.rank(class.start + at, first) {
                return ((at - from) / STEP) as u32;
            }
            next = at + 1;
        }
        ((end - from) / STEP) as u32
    }

    /// Which copy of a rotation is the one at this place.
    fn nth(&mut self, class: Class, place: usize, from: usize) -> usize {
        match class.decision {
            Decision::At(at) => {
                let like = self.order(class.start + at);
                (0..self.times).find(|&copy| self.place(like, copy) == place).unwrap_or(0)
            }
            _ => self.copies(class.start, from).copies[place] as usize,
        }
    }

    /// How many bytes two different rotations have in common: at least `from`, at most `to`.
    fn common(&self, one: usize, other: usize, from: usize, to: usize) -> usize {
        let load = |at: usize| <&[u8; LOAD]>::try_from(&self.text[at..at + LOAD]).expect("as many as asked for");
        let mut common = from;
        while common < to {
            let (one, other) = (load(one + common), load(other + common));
            if one != other {
                let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
                return to.min(common + same);
            }
            common += LOAD;
        }
        to
    }
}

/// Sorts places by insertion in falling steps, and says what it costs: at least in part, if more than `budget`.
fn insert(places: &mut [u64], costs: &Least, never: u32, budget: usize) -> usize {
    let mut spent = 0;
    let too_long = STEPS.partition_point(|&step| step >= places.len());
    for &step in &STEPS[too_long..] {
        for from in step..places.len() {
            let place = places[from];
            let mut at = from;
            while at >= step {
                let other = places[at - step];
                let [low, high] = [place.min(other), place.max(other)].map(|place| (place >> 32) as usize);
                let cost = costs.of(low + 1, high);
                spent += cost as usize;
                if other < place || cost == never {
                    break;
                }
                places[at] = other;
                at -= step;
            }
            places[at] = place;
            if spent > budget {
                return spent;
            }
        }
    }
    spent
}
