//! The quicksort, range by range, of which only those are taken up that are asked for.
//!
//! What is in a range does not depend on when the others are sorted. All copies of a rotation stay together, so a range
//! of entries is one of rows.

use super::super::partition::partition;
use super::{DEEPEST, Quick, SMALL};
use std::cmp::Ordering;
use std::ops::Range;

/// Not even filled.
pub const UNTOUCHED: usize = 0;

impl Quick<'_> {
    /// The rows of the range that this one is in, and at which depth they are the same.
    pub fn range(&self, row: usize) -> (Range<usize>, usize) {
        let start = self.borders.last(row).expect("a range begins in the first row");
        let end = self.borders.next(row + 1).expect("the end is marked, too");
        (start..end, usize::from(self.depths[start]))
    }

    /// Takes the range with this row one step further, and says whether there was one: or else it is small or deep, and quicksort
    /// leaves it.
    pub fn split(&mut self, row: usize) -> bool {
        let (range, depth) = self.range(row);
        if depth == UNTOUCHED {
            self.fill(range);
        } else if range.len() * self.times <= SMALL || depth > DEEPEST {
            return false;
        } else {
            self.partition(range, depth);
        }
        true
    }

    /// What the first pass makes of a bucket: its rotations in the order of where they begin.
    fn fill(&mut self, rows: Range<usize>) {
        let times = self.times;
        let mut starts = self.sorted.starts[rows.clone()].to_vec();
        starts.sort_unstable();
        let entries = &mut self.entries[rows.start * times..rows.end * times];
        for (copy, part) in entries.chunks_exact_mut(rows.len()).enumerate() {
            for (entry, &start) in part.iter_mut().zip(&starts) {
                *entry = self.sorted.rows[start as usize] * times as u32 + copy as u32;
            }
        }
        self.depths[rows.start] = super::BUCKET_DEPTH as u8;
    }

    /// One step of quicksort: by the median of three bytes at this depth.
    fn partition(&mut self, rows: Range<usize>, depth: usize) {
        let times = self.times;
        let byte = |row: usize, depth: usize| self.text[self.sorted.starts[row] as usize + depth];
        // Where all have the same byte, nothing moves.
        let is_branch = |&depth: &usize| byte(rows.start, depth) != byte(rows.end - 1, depth);
        let Some(depth) = (depth..=DEEPEST).find(is_branch) else {
            self.depths[rows.start] = DEEPEST as u8 + 1;
            return;
        };
        let places = rows.start * times..rows.end * times;
        let candidates = [places.start, places.end - 1, (places.start + places.end - 1) / 2];
        let mut bytes = candidates.map(|place| byte(self.entries[place] as usize / times, depth));
        bytes.sort_unstable();
        let border = |is_below: &dyn Fn(u8) -> bool| {
            let starts = &self.sorted.starts[rows.clone()];
            rows.start + starts.partition_point(|&start| is_below(self.text[start as usize + depth]))
        };
        let equal = border(&|byte| byte < bytes[1])..border(&|byte| byte <= bytes[1]);

        let (low, high) = ((equal.start * times) as u32, (equal.end * times) as u32);
        let order = |entry| match entry {
            _ if entry < low => Ordering::Less,
            _ if entry < high => Ordering::Equal,
            _ => Ordering::Greater,
        };
        partition(&mut self.entries[places], order);
        for (start, depth) in [(rows.start, depth), (equal.end, depth), (equal.start, depth + 1)] {
            if start < rows.end {
                self.borders.set(start);
                self.depths[start] = depth as u8;
            }
        }
    }
}
