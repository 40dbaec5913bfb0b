//! What a [`Sorter`](super::Sorter) may hold, and what it has done.

use std::fmt;
use std::fs::File;
use std::io;

/// Makes a temporary file.
pub(super) type Temporary = Box<dyn FnMut() -> io::Result<File> + Send>;

/// How much a [`Sorter`](super::Sorter) may hold, and where it puts what is more.
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
    /// None: everything is kept in memory.
    pub fn new() -> Limits {
        Limits { memory: u64::MAX, temporary: None }
    }

    /// The most bytes that the sorter may hold: text, keys, output. It needs [`temporary`](Self::temporary) files for
    /// the rest, long lines too; without them it holds everything, whatever this and the budget of the pool say.
    pub fn memory(self, bytes: u64) -> Limits {
        Limits { memory: bytes, ..self }
    }

    /// How to make a temporary file, which must be open for reading and writing and should have no name, so that
    /// nothing is left behind.
    pub fn temporary(self, make: impl FnMut() -> io::Result<File> + Send + 'static) -> Limits {
        Limits { temporary: Some(Box::new(make)), ..self }
    }
}

/// What a [`Sorter`](super::Sorter) has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Lines that came in.
    pub lines: u64,
    /// Lines that were written: less if equal ones are dropped.
    pub lines_written: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
    /// Into how many ranges of keys the lines were cut.
    pub ranges: u64,
    /// Bytes that were written to temporary files.
    pub spilled: u64,
}
