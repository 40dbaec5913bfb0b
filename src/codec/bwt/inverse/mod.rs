//! The inverse Burrows-Wheeler transform.
//!
//! A vector T holds, for each row of the sorted rotations, the row of the rotation that begins one byte later, and the
//! row's first byte. The text is read by following T from the origin row: n steps, each of which waits for a load from
//! a random place in 3.6 MB, about 15 ns from the L3 cache. This is the slowest part of decoding bzip2.
//!
//! `build` makes T from the runs of the last column, and `walk` follows it in lanes.
//!
//! **Walking in lanes.** Up to 1024 rows are marked as splitters; they cut the cycle into segments. Several chains,
//! the lanes, walk at once, each from one splitter to the next, so that one load per lane is in flight; then the
//! segments are put in order. The splitters are random rows from equal strata, since rows at a fixed stride can all
//! lie on a few percent of the cycle of a repetitive block. Walking several blocks at once would hide the latency as
//! well, but needs that many times the cache.
//!
//! A splitter's row of T is replaced by a jump to a ladder of 16 entries, each of which leads to the next. The loop
//! therefore needs no test for splitters: every 16 steps the lanes that are on a ladder are found; the ladder tells
//! where the segment ended, and the rung tells how many steps ago.
//!
//! 512 to 2048 splitters and ladders of 8 to 32 rungs make no difference, nor do huge pages. 64 lanes moved by gathers
//! of AVX-512 made the whole decoder 1.01 times as fast (Zen 5). Two bytes a step (T composed with itself) would halve
//! the number of steps, but with 48 lanes the steps hardly wait, and the vector would be twice as large and take
//! one more pass to build.
//!
//! **Not one cycle.** For a periodic text, and for crafted data, T consists of several cycles. The segments from the
//! origin on then lead back to the origin before they have n bytes. bzip2 walks round again until it has its n bytes,
//! so the text is that cycle over and over.

mod build;
#[cfg(test)]
pub(super) mod tests;
mod walk;

use crate::codec::try_resize;
use crate::formats::bzip2::header::MAX_BLOCK;
use std::collections::TryReserveError;
use walk::{MAX_SPLITTERS, TABLE};

/// Blocks of fewer rows are walked by one chain.
const MIN_ROWS: usize = 4096;
/// For a block of fewer rows, empty memory is not enlarged to full size, and fewer lanes walk: 32,768 entries of T
/// stay in the L2 cache.
const MIN_ROWS_IN_LANES: usize = 1 << 15;
/// Twice the memory that the lanes need together, so that a lane may walk more than its share.
const LANES_BYTES: usize = 2 * MAX_BLOCK;
/// The text of a block, computed in the plainest way. `column` (1 to 2^24 bytes) is the last column, `origin` a row.
pub fn plain(column: &[u8], origin: u32) -> Vec<u8> {
    let mut next = [0usize; 256];
    for &byte in column {
        next[usize::from(byte)] += 1;
    }
    let mut sum = 0;
    for count in &mut next {
        (*count, sum) = (sum, sum + *count);
    }
    let mut table = vec![0u32; column.len()];
    for (row, &byte) in column.iter().enumerate() {
        table[next[usize::from(byte)]] = (row as u32) << 8 | u32::from(byte);
        next[usize::from(byte)] += 1;
    }
    let mut row = origin;
    let step = |_| {
        let entry = table[row as usize];
        row = entry >> 8;
        entry as u8
    };
    column.iter().map(step).collect()
}

/// A segment of the text, walked by one lane.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    /// The splitter's row.
    row: u32,
    /// The offset of its bytes in the lanes' memory.
    at: u32,
    len: u32,
    /// The segment after it.
    next: u32,
}

/// The memory for inverting blocks of at most [`MAX_BLOCK`] bytes. Empty at first: [`build`](Self::build) allocates
/// it, unless [`try_reserve`](Self::try_reserve) has.
#[derive(Clone, Debug, Default)]
pub struct Inverse {
    /// T: the rows, then (after memory that is never touched) ladders and entry rows.
    table: Vec<u32>,
    rows: usize,
    /// The number of rungs of ladders written so far.
    rungs: usize,
    segments: Vec<Segment>,
    /// The segment with which the text begins.
    first: u32,
    /// Whether one chain walked the text and came back to the origin before the end of the text.
    came_back: bool,
    /// The output of the lanes, each in its own part.
    lanes: Vec<u8>,
}

impl Inverse {
    /// Enlarges the memory for a block of `rows` rows. A short block gets no ladders, and is walked by one chain, which
    /// costs less than touching the memory of all lanes.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn try_reserve(&mut self, rows: usize) -> Result<(), TryReserveError> {
        if rows < MIN_ROWS_IN_LANES {
            try_resize(&mut self.table, rows)?;
            return try_resize(&mut self.lanes, rows);
        }
        // The table last: if it has full size, the lanes have their memory, too.
        try_resize(&mut self.lanes, LANES_BYTES)?;
        try_resize(&mut self.table, TABLE)?;
        self.segments.clear();
        self.segments.try_reserve_exact(MAX_SPLITTERS)
    }

    /// Builds T from the runs of the last column.
    ///
    /// `runs` has a word for each run: its start, shifted left by 8, and its byte. The last word only gives the end of
    /// the last run, which is `rows` (1 to MAX_BLOCK). The first run begins at 0, and the starts do not decrease.
    pub fn build(&mut self, runs: &[u32], rows: usize) {
        assert!(rows <= MAX_BLOCK, "a block has at most 900,000 rows");
        if self.table.len() < rows {
            // Memory for any block (unneeded pages are never touched), except for a tiny block.
            let (table, lanes) = if rows < MIN_ROWS { (rows, rows) } else { (TABLE, LANES_BYTES) };
            (self.table, self.lanes) = (vec![0; table], vec![0; lanes]);
        }
        self.rows = rows;
        build::build(runs, &mut self.table[..rows]);
    }

    /// Walks the text from row `origin` on, one of the rows; [`pieces`](Self::pieces) then returns the text.
    pub fn walk(&mut self, origin: u32) {
        assert!((origin as usize) < self.rows, "the origin is a row");
        if self.rows >= MIN_ROWS && self.table.len() == TABLE {
            let walked = self.walk_segments(origin);
            self.came_back = false;
            if walked {
                return;
            }
        }
        let (mut row, mut visits) = (origin, 0);
        for byte in &mut self.lanes[..self.rows] {
            visits += usize::from(row == origin);
            let entry = self.table[row as usize];
            row = entry >> 8;
            *byte = entry as u8;
        }
        self.came_back = visits > 1;
        self.segments.clear();
        self.segments.push(Segment { row: origin, at: 0, len: self.rows as u32, next: 0 });
        self.first = 0;
    }

    /// The text, piece by piece. If T has more than one cycle, the pieces go round the text's cycle until there are as
    /// many bytes as rows.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let (mut segment, mut left) = (self.first, self.rows);
        std::iter::from_fn(move || {
            let Segment { at, len, next, .. } = self.segments[segment as usize];
            let len = left.min(len as usize);
            (segment, left) = (next, left - len);
            (len > 0).then(|| &self.lanes[at as usize..at as usize + len])
        })
    }

    /// Whether T is one cycle, which it is unless the text is a repetition.
    pub fn is_one_cycle(&self) -> bool {
        let (mut number, mut len) = (self.first, 0);
        loop {
            let segment = &self.segments[number as usize];
            (number, len) = (segment.next, len + segment.len as usize);
            if number == self.first || len >= self.rows {
                return number == self.first && len == self.rows && !self.came_back;
            }
        }
    }
}
