//! The errors of sorting lines.

use std::{error, fmt, io};

/// The error type of the library.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading the input failed.
    Read(io::Error),
    /// Writing the output failed.
    Write(io::Error),
    /// A temporary file could not be created, written or read ([`Limits`](crate::Limits)): the disk is full, for
    /// example.
    Temporary(io::Error),
    /// A line of a temporary file is longer than every line written to it: the file has changed.
    LineTooLong,
    /// A closure that makes keys panicked ([`Key::by`](crate::Key::by)).
    KeyPanicked {
        /// Its message.
        reason: String,
    },
    /// The sorter was created before a fork, and this is the child: the threads that sort belong to the parent. New
    /// sorters work.
    Forked,
    /// A station mis-sorted the lines, and so did the core that retried them. This is a defect of hysort or of the
    /// machine: none of these lines has been written.
    Missorted {
        /// The station that sorted them the second time.
        station: String,
        /// What is wrong with them.
        reason: String,
    },
    /// A station failed or panicked, and so did the core that redid its work. This is a bug in hysort.
    Internal {
        /// The station's message.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(e) | Error::Write(e) => e.fmt(f),
            Error::Temporary(e) => write!(f, "temporary file: {e}"),
            Error::LineTooLong => f.write_str("a line is longer than it was written"),
            Error::KeyPanicked { reason } => write!(f, "a closure that makes keys panicked: {reason}"),
            Error::Forked => f.write_str("the sorter was begun in the process that forked this one"),
            Error::Missorted { station, reason } => {
                write!(f, "lines were sorted wrong twice, the second time by {station}: {reason}")
            }
            Error::Internal { reason } => write!(f, "internal error: {reason}"),
        }
    }
}

impl Error {
    /// The error of this library inside an error of reading or writing, if there is one.
    pub(crate) fn carried(self) -> Error {
        match self {
            Error::Read(e) => e.downcast().unwrap_or_else(Error::Read),
            Error::Write(e) => e.downcast().unwrap_or_else(Error::Write),
            other => other,
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Read(e) | Error::Write(e) | Error::Temporary(e) => Some(e),
            _ => None,
        }
    }
}

impl From<Error> for io::Error {
    /// An I/O error is returned unchanged. [`Error::LineTooLong`] becomes `InvalidData` and the others become `Other`,
    /// with the [`Error`] inside.
    fn from(e: Error) -> Self {
        let kind = match e {
            Error::Read(e) | Error::Write(e) | Error::Temporary(e) => return e,
            Error::LineTooLong => io::ErrorKind::InvalidData,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, e)
    }
}
