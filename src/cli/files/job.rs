//! An operand that has been opened and checked, or has failed.

use crate::cli::args::Range;
use crate::cli::files::{IndexJob, Pending, Place, SourceFile};
use crate::cli::messages::formats::HEAD_LEN;
use crate::cli::messages::{Entry, Failure};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub struct Job {
    pub name: OsString,
    /// A remark that bzip2 prints before it begins the work.
    pub remark: Option<Vec<u8>>,
    pub state: State,
    pub index: Option<IndexJob>,
    pub entry: Option<Box<Entry>>,
    /// Dropped when the operand's result has its name and its source is removed.
    pub pending: Pending,
}

pub enum State {
    Ready(Box<Ready>),
    /// No work: `--resume` found the result complete and correct. `bytes` is the length of the source.
    Complete {
        result: OsString,
        bytes: u64,
    },
    Failed(Failure),
    /// No work: hybz itself writes this file. (Also the state of an operand that is not open yet.)
    Own,
}

pub struct Ready {
    /// The file; `None` is stdin.
    pub source: Option<SourceFile>,
    pub destination: Destination,
    pub seen: Arc<Seen>,
}

impl Ready {
    /// The first bytes of the compressed data, as far as they are known. They are read again if the operand is a file
    /// that has not changed.
    pub fn head(&self) -> Vec<u8> {
        let mut head = self.seen.head.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(source) = self.source.as_ref().filter(|source| head.is_empty() && source.found.is_file())
            && let Ok(Some(file)) = source.open_again()
        {
            // Without these bytes, a message is just less specific.
            let _ = file.take(HEAD_LEN as u64).read_to_end(&mut head);
        }
        head
    }
}

#[derive(Default)]
pub struct Seen {
    /// The first bytes of an input that cannot be read again, such as a pipe.
    head: Mutex<Vec<u8>>,
    /// The first requested range that begins at or after the end of the text.
    pub beyond: OnceLock<Range>,
}

impl Seen {
    /// Records the next bytes. Returns whether more of them are wanted.
    pub fn note(&self, bytes: &[u8]) -> bool {
        let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = HEAD_LEN.saturating_sub(head.len());
        head.extend_from_slice(&bytes[..bytes.len().min(missing)]);
        head.len() < HEAD_LEN
    }
}

#[derive(Clone, Debug)]
pub enum Destination {
    Stdout,
    File(Place),
    /// The operand is only tested.
    Nothing,
}

impl Destination {
    pub fn name(&self) -> &OsStr {
        match self {
            Destination::Stdout => OsStr::new("(stdout)"),
            Destination::File(place) => place.name(),
            Destination::Nothing => OsStr::new("(none)"),
        }
    }
}
