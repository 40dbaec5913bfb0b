//! Sorting as a kind of work: what stations are asked, and what they answer.
//!
//! | question | answer | class |
//! |---|---|---|
//! | [`PartitionChunk`]: a chunk of whole lines | its lines by range | [`PARTITION`] |
//! | [`PartitionStrings`]: a chunk of strings | their indices by range | [`PARTITION`] |
//! | [`SortRange`]: the lines of a range | the same, sorted | [`SORT`] |
//! | [`RankRange`]: the strings of a range | their numbers, in order | [`RANK`] |
//! | [`Check`]: an answer to one of these | whether it is right | as the question |
//!
//! What devices keep has questions of its own: `stored.rs`.

use super::order::Order;
use super::splitters::Splitters;
use super::stored::{KeepText, SortStored, StorePart, StoredRange};
use crate::schedule::{AnyJob, Class, ErasedJob, Job, Question};
use std::ops::Range;
use std::sync::Arc;

/// The kind of work: sorting lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines;

/// Chunks of text to be partitioned.
pub const PARTITION: Class = Class(0);
/// Ranges of lines to be sorted.
pub const SORT: Class = Class(1);
/// Ranges of strings whose numbers are asked for.
pub const RANK: Class = Class(2);

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

/// Put the lines of a chunk where their ranges are, or only count what each range would have.
#[derive(Clone, Debug)]
pub struct PartitionChunk {
    pub(crate) chunk: Piece,
    pub(crate) splitters: Arc<Splitters>,
    pub(crate) end: u8,
    /// Whether the text is wanted.
    pub(crate) keep: bool,
    pub(crate) again: bool,
}

impl PartitionChunk {
    pub(crate) fn new(chunk: Piece, splitters: &Arc<Splitters>, end: u8) -> PartitionChunk {
        PartitionChunk { chunk, splitters: Arc::clone(splitters), end, keep: true, again: false }
    }
}

/// A chunk of text, its lines by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parted {
    /// The lines of all ranges, each ended, range after range. (Of lines that equal a splitter nothing is kept but
    /// their number.)
    pub text: Vec<u8>,
    /// By bucket.
    pub buckets: Vec<Bucket>,
    /// A core of the house made it: then it is not checked.
    pub(crate) own: bool,
}

impl Parted {
    /// How many bytes it takes.
    pub(crate) fn memory(&self) -> u64 {
        (self.text.len() + size_of_val(&self.buckets[..])) as u64
    }
}

/// The part of a range, or of equal lines, in a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Where it begins in the text, and where it ends.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
    /// How many lines it has.
    pub lines: u32,
    /// The sum of its lines.
    pub sum: u64,
}

impl Question for PartitionChunk {
    type Answer = Parted;
    const CLASS: Class = PARTITION;

    fn bytes(&self) -> u64 {
        self.chunk.range.len() as u64
    }

    fn is_second_stage(&self) -> bool {
        self.again
    }

    fn bytes_out(parted: &Parted) -> u64 {
        parted.text.len() as u64
    }
}

/// The lines of a range: less than 4 GiB.
#[derive(Debug)]
pub struct RangeText {
    /// The parts of the text that have them.
    pub pieces: Vec<Piece>,
    /// How they are ordered. (Equal lines are all kept: who checks the answer drops them.)
    pub order: Order,
    /// How many bytes all of them have in common at their beginnings, at least.
    pub common_prefix: usize,
    /// The sum of the lines, if whoever put them here has it.
    pub(crate) sum: Option<u64>,
    /// More lines, on a device: then there is a sum.
    pub(crate) stored: Option<StoredRange>,
}

impl RangeText {
    /// Lines of which nothing is known.
    pub(crate) fn new(pieces: Vec<Piece>, order: Order) -> RangeText {
        RangeText { pieces, order, common_prefix: 0, sum: None, stored: None }
    }

    /// Bytes of text.
    pub fn len(&self) -> usize {
        let stored = self.stored.as_ref().map_or(0, |stored| stored.bytes as usize);
        self.pieces.iter().map(|piece| piece.range.len()).sum::<usize>() + stored
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Sort a range: the answer is its lines, each ended.
#[derive(Clone, Debug)]
pub struct SortRange {
    /// The range.
    pub range: Arc<RangeText>,
    pub(crate) again: bool,
}

/// A sorted range.
#[derive(Debug, Default)]
pub struct Sorted {
    /// Its lines, each ended.
    pub text: Vec<u8>,
    /// How many lines there were, and how many are left where equal ones are dropped: whoever checks it counts them.
    pub(crate) lines: u64,
    pub(crate) kept: u64,
}

impl From<Vec<u8>> for Sorted {
    fn from(text: Vec<u8>) -> Sorted {
        Sorted { text, lines: 0, kept: 0 }
    }
}

impl Question for SortRange {
    type Answer = Sorted;
    const CLASS: Class = SORT;

    fn bytes(&self) -> u64 {
        self.range.len() as u64
    }

    fn is_second_stage(&self) -> bool {
        self.again
    }

    fn bytes_out(sorted: &Sorted) -> u64 {
        sorted.text.len() as u64
    }
}

/// Strings of any bytes, one after the other: less than 4 GiB.
#[derive(Debug, Default)]
pub struct Strings {
    /// Their bytes.
    pub text: Vec<u8>,
    /// Where each of them ends.
    pub ends: Vec<u32>,
    /// The number of the first.
    pub first: u64,
}

impl Strings {
    /// One of them.
    pub fn get(&self, index: usize) -> &[u8] {
        &self.text[self.range(index)]
    }

    /// Where it is.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[index] as usize
    }
}

/// Say which strings are in which range.
#[derive(Clone, Debug)]
pub struct PartitionStrings {
    /// The strings.
    pub strings: Arc<Strings>,
    pub(crate) splitters: Arc<Splitters>,
    pub(crate) again: bool,
}

/// Strings by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartedStrings {
    /// Their indices, bucket after bucket, in each in their order.
    pub indices: Vec<u32>,
    /// Where the indices of each bucket end.
    pub ends: Vec<usize>,
    /// A core of the house made it: then it is not checked.
    pub(crate) own: bool,
}

impl PartedStrings {
    /// Where the indices of a bucket are.
    pub(crate) fn range(&self, bucket: usize) -> Range<usize> {
        bucket.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[bucket]
    }
}

impl Question for PartitionStrings {
    type Answer = PartedStrings;
    const CLASS: Class = PARTITION;

    fn bytes(&self) -> u64 {
        self.strings.text.len() as u64
    }

    fn is_second_stage(&self) -> bool {
        self.again
    }

    fn bytes_out(parted: &PartedStrings) -> u64 {
        4 * parted.indices.len() as u64
    }
}

/// Some of the strings of a range.
#[derive(Clone, Debug)]
pub struct RankPart {
    /// Where they are.
    pub strings: Arc<Strings>,
    /// Which they are.
    pub parted: Arc<PartedStrings>,
    /// Where in that their indices are.
    pub range: Range<usize>,
}

impl RankPart {
    /// The numbers of the strings, and the strings.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let indices = self.parted.indices[self.range.clone()].iter();
        indices.map(|&index| (self.strings.first + u64::from(index), self.strings.get(index as usize)))
    }
}

/// The strings of a range: less than 4 GiB, with 4 bytes more for each.
#[derive(Debug)]
pub struct RankText {
    /// The strings, in the order of their numbers.
    pub parts: Vec<RankPart>,
    /// How they are ordered.
    pub order: Order,
    /// How many bytes all of them have in common at their beginnings, at least.
    pub common_prefix: usize,
    /// Bytes.
    pub(crate) bytes: u64,
}

/// Sort strings and say their numbers in this order; equal ones in the order of their numbers.
#[derive(Clone, Debug)]
pub struct RankRange {
    /// The strings.
    pub range: Arc<RankText>,
    pub(crate) again: bool,
}

impl Question for RankRange {
    type Answer = Vec<u64>;
    const CLASS: Class = RANK;

    fn bytes(&self) -> u64 {
        self.range.bytes
    }

    fn is_second_stage(&self) -> bool {
        self.again
    }

    fn bytes_out(numbers: &Vec<u64>) -> u64 {
        8 * numbers.len() as u64
    }
}

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong(pub(crate) &'static str);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// Say whether an answer is right. Only cores are asked, and not the one that gave it, if there is another.
pub struct Check<Q: Question> {
    pub(crate) question: Q,
    pub(crate) answer: Q::Answer,
}

impl<Q: Question + std::fmt::Debug> std::fmt::Debug for Check<Q> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check").field("question", &self.question).finish_non_exhaustive()
    }
}

impl<Q: Question> Question for Check<Q>
where
    Q::Answer: Default,
{
    /// The answer as it is to be used, and what is wrong with it.
    type Answer = (Q::Answer, Result<(), Wrong>);
    const CLASS: Class = Q::CLASS;

    fn bytes(&self) -> u64 {
        self.question.bytes()
    }

    fn is_second_stage(&self) -> bool {
        true
    }

    fn is_verification(&self) -> bool {
        true
    }
}

/// What lies on the queue.
#[derive(Debug)]
pub enum LineJob {
    /// [`PartitionChunk`].
    Partition(Job<PartitionChunk>),
    /// [`SortRange`].
    Sort(Job<SortRange>),
    /// [`RankRange`].
    Rank(Job<RankRange>),
    /// [`PartitionStrings`].
    PartitionStrings(Job<PartitionStrings>),
    /// [`Check`] of a partition of strings.
    CheckStrings(Job<Check<PartitionStrings>>),
    /// [`Check`] of a partition.
    CheckChunk(Job<Check<PartitionChunk>>),
    /// [`Check`] of a sorted range.
    CheckRange(Job<Check<SortRange>>),
    /// [`Check`] of numbers.
    CheckRanks(Job<Check<RankRange>>),
    /// [`KeepText`].
    Keep(Job<KeepText>),
    /// [`StorePart`].
    Store(Job<StorePart>),
    /// [`SortStored`].
    SortStored(Job<SortStored>),
    /// [`Check`] of a sorted range.
    CheckStored(Job<Check<SortStored>>),
}

impl AnyJob for LineJob {
    fn erased(&mut self) -> &mut dyn ErasedJob {
        match self {
            LineJob::Partition(job) => job,
            LineJob::Sort(job) => job,
            LineJob::Rank(job) => job,
            LineJob::PartitionStrings(job) => job,
            LineJob::CheckStrings(job) => job,
            LineJob::CheckChunk(job) => job,
            LineJob::CheckRange(job) => job,
            LineJob::CheckRanks(job) => job,
            LineJob::Keep(job) => job,
            LineJob::Store(job) => job,
            LineJob::SortStored(job) => job,
            LineJob::CheckStored(job) => job,
        }
    }
}

/// Which variant holds the job of which question.
macro_rules! variants {
    ($($variant:ident: $question:ty),*) => {
        $(impl From<Job<$question>> for LineJob {
            fn from(job: Job<$question>) -> Self {
                LineJob::$variant(job)
            }
        })*
    };
}
variants!(Partition: PartitionChunk, Sort: SortRange, Rank: RankRange);
variants!(PartitionStrings: PartitionStrings, CheckStrings: Check<PartitionStrings>);
variants!(Keep: KeepText, Store: StorePart, SortStored: SortStored, CheckStored: Check<SortStored>);
variants!(CheckChunk: Check<PartitionChunk>, CheckRange: Check<SortRange>, CheckRanks: Check<RankRange>);
