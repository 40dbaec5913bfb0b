//! The data of sorting: parts of texts, lines by bucket, strings.

use std::ops::Range;
use std::sync::Arc;

/// A part of a text: whole lines, each ended.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The text.
    pub text: Arc<Vec<u8>>,
    /// The part.
    pub range: Range<usize>,
}

impl Piece {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.text[self.range.clone()]
    }
}

/// A chunk of text with its lines grouped by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parted {
    /// The lines of all ranges, each ended, range after range. (Lines that equal a splitter are only counted.)
    pub text: Vec<u8>,
    /// Indexed by bucket.
    pub buckets: Vec<Bucket>,
    /// Whether a core made it ([`Task::run`](hybz_queue::Task)): then it is not checked.
    pub(crate) own: bool,
}

impl Parted {
    /// The number of bytes that it takes.
    pub(crate) fn memory(&self) -> u64 {
        (self.text.len() + size_of_val(&self.buckets[..])) as u64
    }
}

/// The part of a chunk that is in a range, or equals a splitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// The offset of its first byte in the text.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
    /// The number of its lines.
    pub lines: u32,
    /// The sum of its lines.
    pub sum: u64,
}

/// A sorted range.
#[derive(Debug, Default)]
pub struct Sorted {
    /// Its lines, each ended.
    pub text: Vec<u8>,
    /// How many lines there were, and how many are left after equal ones were dropped: the check counts them.
    pub(crate) lines: u64,
    pub(crate) kept: u64,
}

impl From<Vec<u8>> for Sorted {
    fn from(text: Vec<u8>) -> Sorted {
        Sorted { text, lines: 0, kept: 0 }
    }
}

/// What is wrong with an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong(pub(crate) &'static str);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
