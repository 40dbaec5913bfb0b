//! Samples of lines, from which splitters are chosen.

use super::parts::Piece;
use super::splitters::{Splitters, choose};
use super::text::{Ends, mix};

/// How many lines are sampled for each range.
const SAMPLES: u64 = 32;

/// The maximum number of bytes of a sample, if memory is not short.
const MAX_BYTES: u64 = 32 << 20;

/// How many bytes are read at a position: they contain some lines, or a part of a long one.
pub(super) const NEAR: u64 = 1 << 13;

/// How large a sample may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    ranges: u64,
    lines: u64,
    /// How many bytes of a line are kept.
    line: usize,
}

impl Size {
    /// The size for this number of ranges, within a part of the memory.
    pub fn new(ranges: u64, memory: u64) -> Size {
        let lines = ranges * SAMPLES;
        let line = (memory / 32).min(MAX_BYTES) / lines;
        Size { ranges, lines, line: line.clamp(32, 1 << 16) as usize }
    }

    /// How many lines are sampled.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Lines from all over a text of `total` bytes; `look` returns the text at a position: [`NEAR`] bytes, fewer at the
    /// end. There are few such positions, far apart, so some lines are taken at each.
    pub fn lines_near<E>(
        &self,
        total: u64,
        end: u8,
        mut look: impl FnMut(u64) -> Result<Vec<u8>, E>,
    ) -> Result<Vec<(Vec<u8>, bool)>, E> {
        const AT_ONCE: u64 = 16;
        let mut lines = Vec::new();
        for number in 0..self.lines.div_ceil(AT_ONCE) {
            let near = look(place(number, total))?;
            let starts = Ends::new(&near, end).take(AT_ONCE as usize).map(|at| at + 1);
            lines.extend(starts.filter(|&at| at < near.len()).map(|at| self.first_line(&near[at..], end)));
        }
        lines.push(self.first_line(&look(0)?, end));
        Ok(lines)
    }

    pub fn choose(self, sample: Vec<(Vec<u8>, bool)>) -> Splitters {
        choose(sample, self.ranges as usize)
    }

    /// The kept part of the first line of `text`, and whether this is the whole line.
    pub fn first_line(&self, text: &[u8], end: u8) -> (Vec<u8>, bool) {
        let cut = &text[..text.len().min(self.line + 1)];
        match Ends::new(cut, end).next() {
            Some(found) => (cut[..found].to_vec(), true),
            None => (cut.to_vec(), false),
        }
    }
}

/// The position of the `number`th sample in a text of `total` bytes. The sorted output does not depend on it, so it may
/// be the same every time.
fn place(number: u64, total: u64) -> u64 {
    ((u128::from(mix(number + 1)) * u128::from(total)) >> 64) as u64
}

/// Chooses splitters from lines all over a text.
pub(super) fn splitters(pieces: &[Piece], size: Size, end: u8) -> Splitters {
    let mut starts = Vec::with_capacity(pieces.len());
    let mut total = 0;
    for piece in pieces {
        starts.push(total);
        total += piece.range.len() as u64;
    }
    let line_at = |number: u64| {
        let at = place(number, total);
        let piece = starts.partition_point(|&start| start <= at) - 1;
        let bytes = pieces[piece].bytes();
        let rest = &bytes[(at - starts[piece]) as usize..];
        let near = &rest[..rest.len().min(1 << 16)];
        // The line after this position; near the end of the piece, or within a long line, the first line of the piece.
        match Ends::new(near, end).next() {
            Some(found) if found + 1 < rest.len() => size.first_line(&rest[found + 1..], end),
            _ => size.first_line(bytes, end),
        }
    };
    size.choose((0..size.lines()).map(line_at).collect())
}
