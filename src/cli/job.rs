//! What is known of an operand when it has been opened and checked, or has failed.

use crate::cli::account::Entry;
use crate::cli::index::IndexJob;
use crate::cli::journal::Completion;
use crate::cli::place::Place;
use crate::cli::report::Failure;
use crate::cli::source::SourceFile;
use crate::cli::underway::Underway;
use std::ffi::OsString;

/// What is known about one operand before the work.
pub struct Job {
    /// Its name in messages.
    pub name: OsString,
    /// A remark that bzip2 prints before the work.
    pub remark: Option<Vec<u8>>,
    pub state: State,
    /// The index that is made of it.
    pub index: Option<IndexJob>,
    /// What the report says of it.
    pub entry: Option<Box<Entry>>,
    /// Dropped when its result has its name, and its source is removed.
    pub underway: Underway,
}

/// What is to be done with an operand.
pub enum State {
    Ready(Box<Ready>),
    /// Nothing: `--resume` finds its result there and right.
    Complete(Complete),
    /// Nothing: it failed a check.
    Failed(Failure),
}

/// A result that is there, and right.
pub struct Complete {
    pub result: OsString,
    /// The length of the source.
    pub bytes: u64,
}

/// An operand that passed all checks.
pub struct Ready {
    /// The file; `None` is stdin.
    pub source: Option<SourceFile>,
    pub destination: Destination,
    /// Where it is noted that its result is complete.
    pub entry: Option<Completion>,
}

/// Where the result of one operand goes.
#[derive(Clone, Debug)]
pub enum Destination {
    Stdout,
    File(Place),
    /// The operand is only tested.
    Nothing,
}
