//! bzip2's quick sort on the block itself, rotation by rotation: the twin that `quick` is tested against.

use super::super::partition::partition;
use super::{BUDGET, DEEPEST, FREE, SMALL, STEP, turns, unequalled};
use std::ops::Range;

pub struct Plain<'a> {
    block: &'a [u8],
    /// Where the rotations begin, more and more in order.
    starts: Vec<usize>,
    /// Of those whose first letter had its turn.
    ranks: Vec<usize>,
    /// Where the rows of each two letters begin.
    first_rows: Vec<usize>,
    pub spent: usize,
}

impl<'a> Plain<'a> {
    /// Sorts, at least until the budget is spent.
    pub fn sort(block: &'a [u8]) -> Self {
        let len = block.len();
        let pair = |start: usize| usize::from(block[start]) << 8 | usize::from(block[(start + 1) % len]);
        let mut starts: Vec<usize> = (0..len).collect();
        starts.sort_by_key(|&start| pair(start));
        let first_rows: Vec<usize> =
            (0..=1 << 16).map(|letters| starts.partition_point(|&start| pair(start) < letters)).collect();
        let mut plain = Plain { block, starts, ranks: vec![0; len], first_rows, spent: 0 };
        plain.sort_all();
        plain
    }

    pub fn gives_up(&self) -> bool {
        self.spent > BUDGET * self.block.len()
    }

    pub fn origin(&self) -> usize {
        self.starts.iter().position(|&start| start == 0).unwrap()
    }

    fn rows(&self, first: u8, second: u8) -> Range<usize> {
        let pair = usize::from(first) << 8 | usize::from(second);
        self.first_rows[pair]..self.first_rows[pair + 1]
    }

    fn sort_all(&mut self) {
        let counts = std::array::from_fn(|letter| self.rows(letter as u8, 255).end - self.rows(letter as u8, 0).start);
        let mut done = [false; 256];
        for letter in turns(&counts) {
            for second in (0..=255).filter(|&second| second != letter && !done[usize::from(second)]) {
                self.quicksort(self.rows(letter, second), 2);
                if self.gives_up() {
                    return;
                }
            }
            let rows = self.rows(letter, 0).start..self.rows(letter, 255).end;
            self.copy(letter, rows.clone(), &done);
            done[usize::from(letter)] = true;
            let shift = (0..).find(|shift| rows.len() >> shift <= 65_534).unwrap();
            for (rank, row) in rows.enumerate() {
                self.ranks[self.starts[row]] = rank >> shift;
            }
        }
    }

    /// Fills the buckets with this letter second from both ends.
    fn copy(&mut self, letter: u8, rows: Range<usize>, done: &[bool; 256]) {
        let mut ranges: Vec<Range<usize>> = (0..=255).map(|first| self.rows(first, letter)).collect();
        let before = |start: usize| (start + self.block.len() - 1) % self.block.len();
        let mut row = rows.start;
        while row < ranges[usize::from(letter)].start {
            let start = before(self.starts[row]);
            let first = usize::from(self.block[start]);
            if !done[first] {
                self.starts[ranges[first].start] = start;
                ranges[first].start += 1;
            }
            row += 1;
        }
        let mut row = rows.end;
        while row > ranges[usize::from(letter)].end {
            row -= 1;
            let start = before(self.starts[row]);
            let first = usize::from(self.block[start]);
            if !done[first] {
                ranges[first].end -= 1;
                self.starts[ranges[first].end] = start;
            }
        }
    }

    fn quicksort(&mut self, rows: Range<usize>, depth: usize) {
        if rows.len() <= SMALL || depth > DEEPEST {
            return self.insert(rows, depth);
        }
        let block = self.block;
        let byte = |start: usize| block[(start + depth) % block.len()];
        let starts = &mut self.starts[rows.clone()];
        let mut three = [0, (starts.len() - 1) / 2, starts.len() - 1].map(|at| byte(starts[at]));
        three.sort();
        match partition(starts, |start| byte(start).cmp(&three[1])) {
            None => self.quicksort(rows, depth + 1),
            Some((less, greater)) => {
                let equal = rows.start + less..rows.end - greater;
                self.quicksort(rows.start..equal.start, depth);
                self.quicksort(equal.end..rows.end, depth);
                self.quicksort(equal, depth + 1);
            }
        }
    }

    fn insert(&mut self, rows: Range<usize>, depth: usize) {
        let steps = (0..).scan(1, |step, _| Some(std::mem::replace(step, 3 * *step + 1)));
        let steps: Vec<usize> = steps.take_while(|&step| step < rows.len()).collect();
        for step in steps.into_iter().rev() {
            for row in rows.start + step..rows.end {
                let start = self.starts[row];
                let mut at = row;
                while at >= rows.start + step && self.is_greater(self.starts[at - step] + depth, start + depth) {
                    self.starts[at] = self.starts[at - step];
                    at -= step;
                }
                self.starts[at] = start;
                if self.gives_up() {
                    return;
                }
            }
        }
    }

    fn is_greater(&mut self, a: usize, b: usize) -> bool {
        let len = self.block.len();
        for at in 0..FREE {
            let [x, y] = [a, b].map(|start| self.block[(start + at) % len]);
            if x != y {
                return x > y;
            }
        }
        for step in 0..unequalled(len) {
            for at in 0..STEP {
                let at = FREE + step * STEP + at;
                let [x, y] = [a, b].map(|start| (self.block[(start + at) % len], self.ranks[(start + at) % len]));
                if x != y {
                    return x > y;
                }
            }
            self.spent += 1;
        }
        false
    }
}
