//! The tasks of sorting.
//!
//! | task | output | class |
//! |---|---|---|
//! | [`PartitionChunk`]: a chunk of whole lines | its lines by range | [`PARTITION`] |
//! | [`SortRange`]: the lines of a range | the same, sorted | [`SORT`], or [`STORE`] if a device keeps some of them |
//! | [`KeepText`]: memory for an amount of text | the memory, if a lane has it | [`STORE`] |
//! | [`StorePart`]: sort and keep a part | whether that was done | [`STORE`] |

use super::cpu::LineSorter;
use super::parts::{Parted, Piece, Sorted, Wrong};
use super::range::RangeText;
use super::splitters::Splitters;
use super::stored::Kept;
use super::verify;
use hybz_queue::{Checked, Class, Core, Task};
use std::sync::Arc;

/// Chunks of text to be partitioned.
pub const PARTITION: Class = Class::new("partition", 500e6);
/// Ranges of lines to be sorted.
pub const SORT: Class = Class::new("sort", 80e6);
/// Tasks that only lanes of the device that keeps the text can do. Cores get such a task only after a lane has failed
/// at it.
pub const STORE: Class = Class::new("store", 80e6);

/// A task of sorting whose outputs are checked.
pub(super) trait LineTask: Checked<Wrong = Wrong> {
    /// Its class.
    fn class(&self) -> Class;

    /// The amount of work: bytes of text.
    fn bytes(&self) -> u64;

    /// Whether this output is to be checked.
    fn is_to_be_checked(output: &Self::Output) -> bool {
        let _ = output;
        true
    }
}

/// The names of the object, its making and its checking in messages.
const WORDS: [&str; 3] = ["a part", "sorted", "checked"];

/// Group the lines of a chunk by range, or only count the lines of each range.
#[derive(Clone, Debug)]
pub struct PartitionChunk {
    pub(super) chunk: Piece,
    pub(super) splitters: Arc<Splitters>,
    pub(super) end: u8,
    /// Whether the text is wanted.
    pub(super) keep: bool,
}

impl PartitionChunk {
    pub(super) fn new(chunk: Piece, splitters: &Arc<Splitters>, end: u8) -> PartitionChunk {
        PartitionChunk { chunk, splitters: Arc::clone(splitters), end, keep: true }
    }

    /// Does the task; for use in custom stations.
    pub fn partition(&self, sorter: &mut LineSorter) -> Parted {
        sorter.partition(self.chunk.bytes(), self.end, &self.splitters, self.keep)
    }
}

impl Task for PartitionChunk {
    type Output = Parted;

    fn run(&self, core: &mut Core) -> Parted {
        Parted { own: true, ..self.partition(core.state()) }
    }

    fn bytes_out(parted: &Parted) -> u64 {
        parted.text.len() as u64
    }
}

impl Checked for PartitionChunk {
    type Wrong = Wrong;
    const WORDS: [&'static str; 3] = WORDS;

    fn check(&self, parted: &mut Parted, core: &mut Core) -> Result<(), Wrong> {
        let same = Self::is_same(parted, &self.partition(core.state()));
        if same { Ok(()) } else { Err(Wrong("a range has other lines")) }
    }

    fn is_same(a: &Parted, b: &Parted) -> bool {
        a.text == b.text && a.buckets == b.buckets
    }
}

impl LineTask for PartitionChunk {
    fn class(&self) -> Class {
        PARTITION
    }

    fn bytes(&self) -> u64 {
        self.chunk.range.len() as u64
    }

    /// Checking a partition means making it again; the sums that a core made are checked once the lines have been
    /// sorted.
    fn is_to_be_checked(parted: &Parted) -> bool {
        !parted.own
    }
}

/// Sort a range: the output is its lines, each with its end.
#[derive(Clone)]
pub struct SortRange {
    /// The range.
    pub range: Arc<RangeText>,
}

impl Task for SortRange {
    type Output = Sorted;

    fn run(&self, core: &mut Core) -> Sorted {
        let number = core.number();
        core.state::<LineSorter>().sort(&self.range, number).into()
    }

    fn bytes_out(sorted: &Sorted) -> u64 {
        sorted.text.len() as u64
    }
}

impl Checked for SortRange {
    type Wrong = Wrong;
    const WORDS: [&'static str; 3] = WORDS;

    /// Counts the lines, and drops equal ones if only one of them is wanted.
    fn check(&self, sorted: &mut Sorted, _: &mut Core) -> Result<(), Wrong> {
        verify::range(&self.range, sorted)
    }

    fn is_same(a: &Sorted, b: &Sorted) -> bool {
        a.text == b.text
    }
}

impl LineTask for SortRange {
    fn class(&self) -> Class {
        if self.range.stored.is_some() { STORE } else { SORT }
    }

    fn bytes(&self) -> u64 {
        self.range.len() as u64
    }
}

/// Allocate memory for an amount of text.
#[derive(Clone, Copy, Debug)]
pub struct KeepText {
    pub(super) bytes: u64,
}

impl Task for KeepText {
    type Output = Option<Kept>;

    /// No lane took the task: nothing is kept.
    fn run(&self, _: &mut Core) -> Option<Kept> {
        None
    }
}

/// Sort some chunks as one text, and keep it.
#[derive(Clone)]
pub struct StorePart {
    pub(super) kept: Kept,
    pub(super) chunks: Arc<Vec<Piece>>,
    pub(super) bytes: u64,
    /// Its position in the kept text.
    pub(super) at: u64,
    pub(super) end: u8,
}

impl Task for StorePart {
    type Output = bool;

    /// No lane took the task: the part is not kept.
    fn run(&self, _: &mut Core) -> bool {
        false
    }
}
