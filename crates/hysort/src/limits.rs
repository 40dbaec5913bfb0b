//! Limits of a [`Sorter`](super::Sorter), and its report.

use std::fs::File;
use std::{fmt, io};

/// Makes a temporary file.
pub(super) type Temporary = Box<dyn FnMut() -> io::Result<File> + Send>;

/// How much a [`Sorter`](super::Sorter) may hold, and where it puts the rest.
///
/// ```
/// use hysort::Limits;
/// let everything_in_memory = Limits::new();
/// let limits = Limits::new().memory(1 << 30).temporary(|| std::fs::File::open("/dev/null"));
/// # drop((everything_in_memory, limits));
/// ```
pub struct Limits {
    pub(super) memory: u64,
    pub(super) temporary: Option<Temporary>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits::new()
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let temporary = self.temporary.is_some();
        f.debug_struct("Limits").field("memory", &self.memory).field("temporary", &temporary).finish()
    }
}

impl Limits {
    /// No limit: everything is kept in memory.
    pub fn new() -> Limits {
        Limits { memory: u64::MAX, temporary: None }
    }

    /// The maximum number of bytes that the sorter may hold: text, keys, output. It needs
    /// [`temporary`](Self::temporary) files for the rest, including long lines; without them it holds everything,
    /// whatever this limit and the pool's budget are.
    pub fn memory(self, bytes: u64) -> Limits {
        Limits { memory: bytes, ..self }
    }

    /// How to make a temporary file, which must be open for reading and writing and should have no name, so that no
    /// file is left over.
    pub fn temporary(self, make: impl FnMut() -> io::Result<File> + Send + 'static) -> Limits {
        Limits { temporary: Some(Box::new(make)), ..self }
    }
}

/// What a [`Sorter`](super::Sorter) has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Lines in the input.
    pub lines: u64,
    /// Lines that were written: fewer if equal ones are dropped.
    pub lines_written: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
    /// The number of ranges into which the lines were divided.
    pub ranges: u64,
    /// Bytes that were written to temporary files.
    pub spilled: u64,
}
