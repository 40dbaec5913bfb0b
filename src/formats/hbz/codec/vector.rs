//! Stages 2 and 3 of decoding: the runs of all segments become the vector, and the walk through it gives the text.
//!
//! The vector holds for each row the next row and, in blocks of up to 2^24 rows, the row's byte. In larger blocks the
//! byte is derived from the row: the first column is sorted, so a small table gives its byte, or a byte close to it.
//!
//! The walk takes longest: each byte waits for a load from a random position in the vector. `LANES` entry points are
//! walked at once, so that as many loads are in flight. The entry points are known, so each lane knows its position in
//! the text, and there are no splitters to find, mark and join as in the decoder of bzip2's blocks.
//!
//! The vector's words are atomic because several stations write to it at once, each to its own words. Without ordering
//! (`Relaxed`) that costs nothing, and it needs no unsafe code.

use super::payload::{PayloadBlock, SEGMENT};
use super::segment::Runs;
use super::text_check::TextLens;
use crate::flaw::Flaw;
use hybz_queue::advise_huge_pages;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The number of chains walked at once.
const LANES: usize = 16;
/// With up to this many rows, the words of the vector have room for the bytes.
const PACKED_ROWS: u32 = 1 << 24;

/// The state that a segment inherits from the segments before it.
#[derive(Debug)]
pub struct SegmentStart {
    /// The move-to-front list at its beginning.
    list: [u8; 256],
    /// By byte: the first word of the vector that the segment fills.
    next: [u32; 256],
}

/// A vector of `rows` words.
pub fn new_vector(rows: usize) -> Vec<AtomicU32> {
    // The system provides the zeros, and the conversion leaves them in place: pages are first touched by the thread
    // that fills them.
    let words = vec![0; rows];
    advise_huge_pages(&words);
    words.into_iter().map(AtomicU32::new).collect()
}

impl PayloadBlock {
    /// Between stages 1 and 2: computes the state at the beginning of each segment, and the first row of each byte.
    pub fn segment_starts(&self, segments: &[Runs]) -> (Vec<SegmentStart>, FirstColumn) {
        let mut list = self.list;
        let mut counts = [0u32; 256];
        let mut starts = Vec::with_capacity(segments.len());
        for segment in segments {
            starts.push(SegmentStart { list, next: counts });
            for (&byte, rows) in list.iter().zip(segment.counts) {
                counts[usize::from(byte)] += rows;
            }
            list = segment.list.map(|place| list[usize::from(place)]);
        }
        let mut first_rows = [0u32; 257];
        for byte in 0..256 {
            first_rows[byte + 1] = first_rows[byte] + counts[byte];
        }
        for start in &mut starts {
            start.next.iter_mut().zip(&first_rows).for_each(|(next, row)| *next += row);
        }
        (starts, FirstColumn::new(first_rows))
    }

    /// Stage 2: fills segment `number`'s part of the vector, which must have at least a word for each row of the block.
    pub fn fill(&self, number: usize, runs: &Runs, start: &SegmentStart, vector: &[AtomicU32]) {
        if self.header.rows <= PACKED_ROWS {
            self.fill_words::<8>(number, runs, start, vector);
        } else {
            self.fill_words::<0>(number, runs, start, vector);
        }
    }

    /// Fills with words whose low `BYTE` bits (8 or 0) are the byte.
    fn fill_words<const BYTE: u32>(&self, number: usize, runs: &Runs, start: &SegmentStart, vector: &[AtomicU32]) {
        let mut next = start.next;
        let base = (number * SEGMENT) as u32;
        let origin = self.entries[0];
        for pair in runs.runs.windows(2) {
            let (first, end) = (base + (pair[0] >> 8), base + (pair[1] >> 8));
            let byte = start.list[usize::from(pair[0] as u8)];
            let at = &mut next[usize::from(byte)];
            let piece = &vector[*at as usize..(*at + (end - first)) as usize];
            *at += end - first;
            // The column's first byte belongs to the sentinel's row, which has no number, so up to `origin` the number
            // of a row is its place in the column less one. After `origin` number and place are equal, because the
            // column omits the sentinel, which would stand right after `origin`.
            for (row, word) in (first..end).zip(piece) {
                let row = row.saturating_sub(u32::from(row <= origin));
                word.store(row << BYTE | if BYTE > 0 { byte.into() } else { 0 }, Relaxed);
            }
        }
    }

    /// Stage 3: returns the text from these entry points on, including perturbation bytes; for a
    /// [compact](BlockHeader::is_compact) block its codes instead, one for each row. This is walk `number` of `lens`.
    pub fn walk(
        &self,
        entries: Range<usize>,
        vector: &[AtomicU32],
        first_column: &FirstColumn,
        (lens, number): (&TextLens, usize),
    ) -> Result<Vec<u8>, Flaw> {
        let codes = self.codes(entries, vector, first_column);
        if self.header.is_compact() {
            return Ok(codes);
        }
        let interval = 1 << self.stream.entry_log;
        let text_len = self.expander.text_len(&codes, interval).ok_or(Flaw::BlockTooLong)?;
        if !lens.set(number, text_len as u64, self.max_perturbed_len()) {
            return Err(Flaw::BlockTooLong);
        }
        self.expander.expand(&codes, interval, text_len).ok_or(Flaw::BlockTooLong)
    }

    /// The codes from these entry points on.
    pub(super) fn codes(&self, entries: Range<usize>, vector: &[AtomicU32], first_column: &FirstColumn) -> Vec<u8> {
        let interval = 1usize << self.stream.entry_log;
        let rows = self.header.rows as usize;
        let from = entries.start * interval;
        let len = (entries.end * interval).min(rows) - from;
        // All chains are walked to full length, even the last one. A single chain ends with the block, because in a
        // block of a few rows the interval may be 16 million.
        let chain = interval.min(len);
        let mut codes = vec![0; len.next_multiple_of(chain)];
        let vector = &vector[..rows];
        let mut chains = codes.chunks_mut(chain);
        for starts in self.entries[entries].chunks(LANES) {
            if self.header.rows <= PACKED_ROWS {
                walk_lanes(starts, &mut chains, |row| {
                    let word = vector[row as usize].load(Relaxed);
                    (word >> 8, word as u8)
                });
            } else {
                walk_lanes(starts, &mut chains, |row| (vector[row as usize].load(Relaxed), first_column.byte(row)));
            }
        }
        codes.truncate(len);
        codes
    }
}

/// Walks up to [`LANES`] chains, each into its own part of the codes.
#[inline(always)]
fn walk_lanes<'a>(starts: &[u32], chains: &mut impl Iterator<Item = &'a mut [u8]>, step: impl Fn(u32) -> (u32, u8)) {
    if let Ok(starts) = <[u32; LANES]>::try_from(starts) {
        let mut rows = starts;
        let mut parts: [&mut [u8]; LANES] = std::array::from_fn(|_| chains.next().unwrap_or_default());
        let len = parts[0].len();
        let mut parts = parts.each_mut().map(|part| &mut part[..len]);
        for at in 0..len {
            for (row, part) in rows.iter_mut().zip(&mut parts) {
                let (next, byte) = step(*row);
                part[at] = byte;
                *row = next;
            }
        }
    } else {
        let mut lanes: Vec<(u32, &mut [u8])> = starts.iter().copied().zip(chains).collect();
        let len = lanes.first().map_or(0, |(_, part)| part.len());
        for at in 0..len {
            for (row, part) in &mut lanes {
                let (next, byte) = step(*row);
                part[at] = byte;
                *row = next;
            }
        }
    }
}

/// The first column of the sorted suffixes: all bytes, ascending.
#[derive(Debug)]
pub struct FirstColumn {
    /// The first row of each byte, and at the end the number of rows.
    starts: [u32; 257],
    /// By the upper bits of a row: the byte of the first row that has them.
    bytes: Vec<u8>,
    shift: u32,
}

impl FirstColumn {
    fn new(starts: [u32; 257]) -> Self {
        let rows = starts[256];
        let shift = (32 - rows.leading_zeros()).saturating_sub(13);
        let byte_of = |row: u32| (0..=255u8).find(|&byte| row < starts[usize::from(byte) + 1]).unwrap_or(255);
        let bytes = (0..=rows.saturating_sub(1) >> shift).map(|part| byte_of(part << shift)).collect();
        FirstColumn { starts, bytes, shift }
    }

    /// The byte of a row.
    #[inline(always)]
    fn byte(&self, row: u32) -> u8 {
        let mut byte = self.bytes[(row >> self.shift) as usize];
        while row >= self.starts[usize::from(byte) + 1] {
            byte += 1;
        }
        byte
    }
}
