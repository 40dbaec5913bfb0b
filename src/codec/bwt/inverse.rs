//! The inverse Burrows-Wheeler transform.
//!
//! A vector T holds, for each row of the sorted rotations, the row of the rotation that begins one byte later, and the
//! row's first byte. The text is read by following T from the origin row: n steps, each of which waits for a load from
//! a random place in 3.6 MB, about 15 ns from the L3 cache. This is the slowest part of decoding bzip2.
//!
//! **Building T from runs.** T's rows for one first byte are the places of that byte in the last column, in ascending
//! order. A run of the last column is therefore written as one piece, counting up, and a table of 256 entries tells
//! where the next piece of each byte goes. (bzip2 does it byte by byte, in two passes, with a dependent increment
//! each.)
//!
//! **Walking in lanes.** Some hundred rows are marked as splitters; they cut the cycle into segments. `LANES` chains
//! walk at once, each from one splitter to the next, so that as many loads are in flight; then the segments are put in
//! order. The splitters are random rows from equal strata, since rows at a fixed stride can all lie on a few percent
//! of the cycle of a repetitive block. Walking several blocks at once would hide the latency as well, but needs that
//! many times the cache.
//!
//! A splitter's row of T is replaced by a jump to a ladder of 16 entries, each of which leads to the next. The loop
//! therefore needs no test for splitters: every 16 steps the lanes that are on a ladder are found; the ladder tells
//! where the segment ended, and the rung tells how many steps ago.
//!
//! Measured on a Zen 5 core, ns per byte of a block of the kernel tarball: 8 lanes 1.75, 12 1.25, 16 1.1, 20 0.97, 24
//! 0.90, 32 0.88; 512 to 2048 splitters and ladders of 8 to 32 rungs make no difference, nor do huge pages. Building T
//! takes 0.70; with runs of up to 8 instead of 16 written together 0.90; prefetching the next piece's line gained
//! nothing. Two bytes a step (T composed with itself) would halve the number of steps, but with 24 chains these no
//! longer wait, and the vector would be twice as large and take one more pass to build.
//!
//! **Not one cycle.** For a periodic text, and for crafted data, T consists of several cycles. The segments from the
//! origin on then lead back to the origin before they have n bytes. bzip2 walks round again until it has its n bytes,
//! so the text is that cycle over and over.

use crate::codec::try_resize;
use crate::formats::bzip2::header::MAX_BLOCK;
use std::collections::TryReserveError;

/// The number of chains that walk at once.
const LANES: usize = 24;
/// The number of steps between two checks of the lanes, and of rungs of a ladder.
const STEPS: usize = 16;
/// The max number of splitters.
const MAX_SPLITTERS: usize = 1024;
/// Blocks of fewer rows are walked by one chain.
const MIN_ROWS: usize = 4096;
/// A block of fewer rows does not make an empty memory grow to full size: 32,768 entries of T stay in the L2 cache.
const MIN_ROWS_IN_LANES: usize = 1 << 15;
/// An entry that leads to itself, for lanes without a segment.
const IDLE: usize = (1 << 20) - 1;
/// The first rung of the first ladder.
const LADDERS: usize = 1 << 20;
/// The entries at which lanes begin segments: the entries that were in the splitters' rows.
const ENTRIES: usize = LADDERS + MAX_SPLITTERS * STEPS;
const TABLE: usize = ENTRIES + MAX_SPLITTERS;

/// The text of a block, computed in the plainest way. `column` [1..=2^24] is the last column, `origin` one of its rows.
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
    table
        .iter()
        .map(|_| {
            let entry = table[row as usize];
            row = entry >> 8;
            entry as u8
        })
        .collect()
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

/// The memory for inverting blocks of at most [`MAX_BLOCK`] bytes.
#[derive(Clone, Debug)]
pub struct Inverse {
    /// T: the rows, then (after memory that is never touched) ladders and entry rows.
    table: Vec<u32>,
    rows: usize,
    segments: Vec<Segment>,
    /// The segment with which the text begins.
    first: u32,
    /// Whether one chain walked the text and came back to the origin before the end of the text.
    came_back: bool,
    /// The output of the lanes, each in its own part.
    lanes: Vec<u8>,
}

impl Inverse {
    /// Memory for any block.
    pub fn new() -> Self {
        // Twice the memory that the lanes need together, so that one may be longer. Unused memory is never touched.
        Inverse {
            table: vec![0; TABLE],
            rows: 0,
            segments: Vec::new(),
            first: 0,
            came_back: false,
            lanes: vec![0; 2 * MAX_BLOCK],
        }
    }

    /// No memory: [`try_reserve`](Self::try_reserve) comes before each block.
    pub fn empty() -> Self {
        Inverse { table: Vec::new(), rows: 0, segments: Vec::new(), first: 0, came_back: false, lanes: Vec::new() }
    }

    /// Enlarges an [`empty`](Self::empty) memory for a block of `rows` rows. A short block gets no ladders, and is
    /// walked by one chain, which costs less than touching the memory of all lanes.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn try_reserve(&mut self, rows: usize) -> Result<(), TryReserveError> {
        if rows < MIN_ROWS_IN_LANES {
            try_resize(&mut self.table, rows)?;
            return try_resize(&mut self.lanes, rows);
        }
        try_resize(&mut self.table, TABLE)?;
        try_resize(&mut self.lanes, 2 * MAX_BLOCK)?;
        self.segments.clear();
        self.segments.try_reserve_exact(MAX_SPLITTERS)
    }

    /// Builds T from the runs of the last column.
    ///
    /// `runs` has a word for each run: its start, shifted left by 8, and its byte. The last word only gives the end of
    /// the last run, which is `rows` [1..=MAX_BLOCK]. The first run begins at 0, and the starts do not decrease.
    pub fn build(&mut self, runs: &[u32], rows: usize) {
        assert!(rows <= MAX_BLOCK, "a block has at most 900,000 rows");
        self.rows = rows;
        let mut counts = [[0u32; 256]; 2];
        let mut before = runs[0];
        for pair in runs[1..].chunks(2) {
            counts[0][usize::from(before as u8)] += (pair[0] >> 8) - (before >> 8);
            if let Some(after) = pair.get(1) {
                counts[1][usize::from(pair[0] as u8)] += (after >> 8) - (pair[0] >> 8);
            }
            before = pair[pair.len() - 1];
        }
        let mut places = [(0u32, 0u32); 256];
        let mut sum = 0;
        for (byte, place) in places.iter_mut().enumerate() {
            let count = counts[0][byte] + counts[1][byte];
            *place = (sum, sum + count);
            sum += count;
        }
        assert!(sum as usize == rows, "the runs are the whole column");
        scatter_best(runs, &mut places, &mut self.table[..rows]);
    }

    /// Walks the text from row `origin` on, which must be less than the rows; then [`pieces`](Self::pieces) returns it.
    pub fn walk(&mut self, origin: u32) {
        assert!((origin as usize) < self.rows, "the origin is a row");
        if self.rows >= MIN_ROWS && self.table.len() == TABLE {
            self.split(origin);
            let walked = self.walk_lanes();
            for (i, segment) in self.segments.iter().enumerate() {
                self.table[segment.row as usize] = self.table[ENTRIES + i];
            }
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

    /// The pieces of the text.
    pub fn pieces(&self) -> Pieces<'_> {
        Pieces { inverse: self, segment: self.first, left: self.rows }
    }

    /// Whether T is one cycle. It is unless the text is a repetition.
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

    /// Chooses the splitters, which include the origin, and turns their rows into jumps to their ladders.
    fn split(&mut self, origin: u32) {
        if self.table[IDLE] == 0 {
            self.table[IDLE] = (IDLE << 8) as u32;
            for (rung, entry) in (LADDERS..).zip(&mut self.table[LADDERS..ENTRIES]) {
                *entry = (rung as u32 + 1) << 8;
            }
        }
        let count = (self.rows / 512).min(MAX_SPLITTERS);
        let stratum = self.rows / count;
        let first = (origin as usize / stratum).min(count - 1);
        self.segments.clear();
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for i in 0..count {
            // One step of a linear congruential generator (Knuth's constants).
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let row = if i == first { origin as usize } else { i * stratum + (random >> 33) as usize % stratum };
            self.segments.push(Segment { row: row as u32, ..Segment::default() });
            self.table[ENTRIES + i] = self.table[row];
            self.table[row] = ((LADDERS + i * STEPS) as u32) << 8;
        }
        self.first = first as u32;
    }

    /// Walks all segments. Returns false if the lanes' memory is too small, because one segment is far longer than it
    /// should be.
    fn walk_lanes(&mut self) -> bool {
        // Not a multiple of 4096, because the lanes would then compete for the same lines of the L1 cache.
        let stride = self.lanes.len() / LANES / 4096 * 4096 - 4096 + 320;
        let mut rows = [IDLE as u32; LANES];
        // For each lane: the segment that it walks, and the step at which the segment began.
        let mut current = [(0u32, 0usize); LANES];
        let mut waiting = 0..self.segments.len();
        let mut busy = 0;
        for (lane, row) in rows.iter_mut().enumerate() {
            if let Some(segment) = waiting.next() {
                *row = (ENTRIES + segment) as u32;
                current[lane] = (segment as u32, 0);
                busy += 1;
            }
        }
        let mut step = 0;
        while busy > 0 {
            if step + STEPS > stride {
                return false;
            }
            step_lanes(&self.table, &mut rows, &mut self.lanes[step..], stride);
            step += STEPS;
            for (lane, row) in rows.iter_mut().enumerate() {
                if (*row as usize) < LADDERS {
                    continue;
                }
                let rung = *row as usize - LADDERS;
                let (segment, began) = current[lane];
                let segment = &mut self.segments[segment as usize];
                segment.at = (lane * stride + began) as u32;
                // The step onto the ladder produced a byte, and so did each step from rung to rung.
                segment.len = (step - 1 - rung % STEPS - began) as u32;
                segment.next = (rung / STEPS) as u32;
                match waiting.next() {
                    Some(segment) => {
                        *row = (ENTRIES + segment) as u32;
                        current[lane] = (segment as u32, step);
                    }
                    None => {
                        *row = IDLE as u32;
                        busy -= 1;
                    }
                }
            }
        }
        true
    }
}

/// The text of a block, piece by piece.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    inverse: &'a Inverse,
    segment: u32,
    left: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    /// The next piece. If T has more than one cycle, the walk goes round the text's cycle until there are as many bytes
    /// as rows.
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.left == 0 {
            return None;
        }
        let Segment { at, len, next, .. } = self.inverse.segments[self.segment as usize];
        let len = self.left.min(len as usize);
        self.left -= len;
        self.segment = next;
        Some(&self.inverse.lanes[at as usize..at as usize + len])
    }
}

impl Default for Inverse {
    fn default() -> Self {
        Self::new()
    }
}

/// [`scatter`], with wider vectors where the CPU has them.
fn scatter_best(runs: &[u32], places: &mut [(u32, u32); 256], table: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    if is_x86_feature_detected!("avx512f") {
        #[target_feature(enable = "avx512f")]
        fn scatter_avx512(runs: &[u32], places: &mut [(u32, u32); 256], table: &mut [u32]) {
            scatter(runs, places, table);
        }
        // SAFETY: the CPU has AVX-512F.
        return unsafe { scatter_avx512(runs, places, table) };
    }
    scatter(runs, places, table);
}

/// Writes each run's piece of T. `places` has for each byte the place of its next piece and the end of its rows.
#[inline(always)]
fn scatter(runs: &[u32], places: &mut [(u32, u32); 256], table: &mut [u32]) {
    /// A run of at most this length (97 of 100 in text) is written as if it had exactly this length: no loop, no
    /// misprediction.
    const PIECE: usize = 16;
    for pair in runs.windows(2) {
        let (run, len) = (pair[0], (pair[1] >> 8) - (pair[0] >> 8));
        let (at, end) = &mut places[usize::from(run as u8)];
        let piece = *at as usize;
        *at += len;
        if len as usize <= PIECE && piece + PIECE <= *end as usize {
            // The byte's next piece overwrites the excess after the run.
            let (whole, _) =
                table[piece..].split_first_chunk_mut::<PIECE>().expect("it ends before the byte's rows do");
            for (i, entry) in whole.iter_mut().enumerate() {
                *entry = run.wrapping_add((i as u32) << 8);
            }
        } else {
            for (entry, i) in table[piece..piece + len as usize].iter_mut().zip(0u32..) {
                *entry = run + (i << 8);
            }
        }
    }
}

/// Walks each lane by [`STEPS`]. Lane i writes its bytes at `i * stride` of `memory`.
#[inline(always)]
fn step_lanes(table: &[u32], rows: &mut [u32; LANES], memory: &mut [u8], stride: usize) {
    assert!(table.len() >= TABLE && memory.len() >= (LANES - 1) * stride + STEPS);
    let mut now = *rows;
    let mut out = memory.as_mut_ptr();
    #[allow(unsafe_code)]
    for _ in 0..STEPS {
        for (lane, row) in now.iter_mut().enumerate() {
            // SAFETY: rows, ladders and entry rows lead to rows, ladders and IDLE, all of them less than TABLE:
            // `build`, `split` and `walk_lanes` write no others. The STEPS bytes of each lane are in `memory` by the
            // assertion.
            unsafe {
                let entry = *table.get_unchecked(*row as usize);
                *out.add(lane * stride) = entry as u8;
                *row = entry >> 8;
            }
        }
        // SAFETY: as above; at most one past the end.
        out = unsafe { out.add(1) };
    }
    *rows = now;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts the rotations by comparing them.
    fn forward(text: &[u8]) -> (Vec<u8>, u32) {
        let n = text.len();
        let mut rotations: Vec<usize> = (0..n).collect();
        let twice = [text, text].concat();
        rotations.sort_by(|&a, &b| twice[a..a + n].cmp(&twice[b..b + n]));
        let column = rotations.iter().map(|&r| text[(r + n - 1) % n]).collect();
        (column, rotations.iter().position(|&r| r == 0).unwrap() as u32)
    }

    fn runs_of(column: &[u8]) -> Vec<u32> {
        let mut runs = vec![];
        for (i, &byte) in column.iter().enumerate() {
            if i == 0 || column[i - 1] != byte {
                runs.push((i as u32) << 8 | u32::from(byte));
            }
        }
        runs.push((column.len() as u32) << 8);
        runs
    }

    fn fast(inverse: &mut Inverse, column: &[u8], origin: u32) -> Vec<u8> {
        inverse.build(&runs_of(column), column.len());
        inverse.walk(origin);
        inverse.pieces().collect::<Vec<_>>().concat()
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, below: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % below
        }
    }

    #[test]
    fn inverts_the_transform() {
        let mut random = Random(1);
        let mut inverse = Inverse::new();
        for len in [1, 2, 3, 10, 100, 1000, 4095, 4096, 5000, 20_000] {
            for symbols in [1, 2, 3, 50, 256] {
                if symbols == 1 && len > 5000 {
                    continue;
                }
                let text: Vec<u8> = (0..len).map(|_| (random.below(symbols) * 255 / symbols) as u8).collect();
                let (column, origin) = forward(&text);
                assert!(plain(&column, origin) == text, "{len} of {symbols}");
                assert!(fast(&mut inverse, &column, origin) == text, "{len} of {symbols}");
            }
        }
    }

    #[test]
    fn columns_that_are_no_transform() {
        let mut random = Random(2);
        let mut inverse = Inverse::new();
        for len in [1, 2, 7, 100, 4096, 5000, 30_000, 123_456] {
            for symbols in [2, 3, 5, 250] {
                for run in [1, 3, 40] {
                    let mut column = Vec::new();
                    while column.len() < len {
                        let run = 1 + random.below(run);
                        column.extend(std::iter::repeat_n(random.below(symbols) as u8, run));
                    }
                    column.truncate(len);
                    for origin in [0, len - 1, random.below(len)] {
                        let expected = plain(&column, origin as u32);
                        assert!(fast(&mut inverse, &column, origin as u32) == expected, "{len} {symbols} {run}");
                    }
                }
            }
        }
    }

    #[test]
    fn cycles_of_every_kind() {
        let mut inverse = Inverse::new();
        for len in [4096, 10_000, 65_536, 900_000] {
            for period in [1, 2, 4, 1000, 5000] {
                // An ascending column is the identity: every row a cycle of its own. A periodic one has cycles too.
                let ascending: Vec<u8> = (0..len).map(|i| (i * 256 / len) as u8).collect();
                let periodic: Vec<u8> = (0..len).map(|i| ((i % period) * 7 % 251) as u8).collect();
                for column in [ascending, periodic] {
                    for origin in [0, 1, len / 2, len - 1] {
                        let expected = plain(&column, origin as u32);
                        assert!(fast(&mut inverse, &column, origin as u32) == expected, "{len} {period}");
                    }
                }
            }
        }
    }
}
