//! What it costs to sort a range by insertion (in Shell's steps), where rotations are compared as a whole.
//!
//! All entries of a range have a place in the order, known before. What it costs to compare two that stand side by side in it is
//! known as well, and for two others it is the least of those in between, as with longest common prefixes. So
//! what is sorted here are numbers, to see which are compared.

use super::copies::{Decision, Likeness};
use super::{FREE, Quick, STEP, unequalled};
use std::ops::Range;

/// Knuth's steps, of which bzip2 uses those that are less than the entries are many.
const STEPS: [usize; 13] = [797_161, 265_720, 88_573, 29_524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1];

/// Costs whose least one is kept.
const PART: usize = 16;

/// Up to so many costs the least one is looked for.
const FEW: usize = 40;

/// Bytes compared at once.
const LOAD: usize = 32;

/// Bits for a number below that of the entries of a block.
const NUMBER: u32 = 20;

/// The lowest of three such numbers.
const MASK: u64 = (1 << NUMBER) - 1;

/// The costs of comparing neighbours in the order, and the least of many.
#[derive(Debug)]
struct Costs<'a> {
    /// For each place, the cost of comparing it with the place before.
    single: &'a [u32],
    /// The least from the beginning of its `PART` to here, and from here to its end.
    before: Vec<u32>,
    after: Vec<u32>,
    /// The least of each `PART`, of each two of them side by side, of each four and so on.
    least: Vec<Vec<u32>>,
}

impl<'a> Costs<'a> {
    fn new(single: &'a [u32]) -> Self {
        let mut costs = Costs { single, before: Vec::new(), after: Vec::new(), least: Vec::new() };
        if single.len() <= FEW {
            return costs;
        }
        let least = |least: &mut u32, &cost: &u32| {
            *least = cost.min(*least);
            Some(*least)
        };
        for part in single.chunks(PART) {
            costs.before.extend(part.iter().scan(u32::MAX, least));
            costs.after.extend(part.iter().rev().scan(u32::MAX, least));
            let from = costs.after.len() - part.len();
            costs.after[from..].reverse();
        }
        let mut last: Vec<u32> = costs.after.iter().step_by(PART).copied().collect();
        let mut step = 1;
        while last.len() > step {
            let next = last.iter().zip(&last[step..]).map(|(&a, &b)| a.min(b)).collect();
            costs.least.push(std::mem::replace(&mut last, next));
            step *= 2;
        }
        costs.least.push(last);
        costs
    }

    /// The cost of comparing these two places.
    fn between(&self, low: usize, high: usize) -> u32 {
        let (from, to) = (low + 1, high);
        let (first, last) = (from / PART, to / PART);
        if self.least.is_empty() || first == last {
            return self.single[from..=to].iter().fold(u32::MAX, |least, &cost| least.min(cost));
        }
        let ends = self.after[from].min(self.before[to]);
        match (last - first - 1).checked_ilog2() {
            None => ends,
            Some(level) => {
                let parts = &self.least[level as usize];
                ends.min(parts[first + 1]).min(parts[last - (1 << level)])
            }
        }
    }
}

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
    /// The costs of comparing neighbours in the order of all entries.
    costs: Vec<u32>,
    /// For each place, how many before it and with it begin something that costs nothing to tell from what is before it.
    groups: Vec<u32>,
    places: Vec<u64>,
}

impl Scratch {
    fn clear(&mut self) {
        self.classes.clear();
        self.costs.clear();
        self.groups.clear();
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
            work.costs.push(border);
            match class.decision {
                Decision::At(at) => work.costs.extend(std::iter::repeat_n(((at - from) / STEP) as u32, times - 1)),
                _ => {
                    let order = self.copies(start, from);
                    work.costs.extend(&order.costs[1..]);
                    class.like = self.keep(row, order.copies.into_iter());
                }
            }
            work.classes.push(class);
        }
        if work.costs.iter().any(|&cost| cost > 0) {
            for (row, class) in rows.clone().zip(&mut work.classes) {
                if let Decision::At(at) = class.decision {
                    class.like = self.order(class.start + at);
                    self.set_like(row, class.like);
                }
            }
            work.groups.extend(work.costs.iter().scan(0, |groups, &cost| {
                *groups += u32::from(cost == 0);
                Some(*groups)
            }));
            let first = rows.start * times;
            work.places.extend(self.entries[first..rows.end * times].iter().map(|&entry| {
                let entry = entry - first as u32;
                let (class, copy) = (entry / times as u32, entry % times as u32);
                let place = class as usize * times + self.place(work.classes[class as usize].like, copy as usize);
                (place as u64) << (2 * NUMBER) | u64::from(work.groups[place]) << NUMBER | u64::from(copy)
            }));
            let costs = Costs::new(&work.costs);
            self.spent += insert(&mut work.places, &costs, never, self.budget - self.spent);
            for (row, (class, places)) in rows.zip(work.classes.iter().zip(work.places.chunks_exact(times))) {
                // Where nothing told copies apart, insertion has.
                if let Decision::Never | Decision::Some = class.decision {
                    self.keep(row, places.iter().map(|&place| (place & MASK) as u32));
                }
            }
        }
        self.scratch = work;
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
fn insert(places: &mut [u64], costs: &Costs<'_>, never: u32, budget: usize) -> usize {
    let mut spent = 0;
    let too_long = STEPS.partition_point(|&step| step >= places.len());
    for &step in &STEPS[too_long..] {
        for from in step..places.len() {
            let place = places[from];
            let mut at = from;
            while at >= step {
                let other = places[at - step];
                if (place ^ other) >> NUMBER & MASK == 0 {
                    let [low, high] =
                        [place.min(other), place.max(other)].map(|place| (place >> (2 * NUMBER)) as usize);
                    let cost = costs.between(low, high);
                    spent += cost as usize;
                    if cost == never {
                        break;
                    }
                }
                if other < place {
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
