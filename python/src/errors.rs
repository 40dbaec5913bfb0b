//! Converts the library's errors to those that `bz2` raises. Further details (block, bit, CRCs) are added as a note.

use hybz::Error;
use pyo3::exceptions::{PyEOFError, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::io;

/// The caller's kind of input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// `compress` and `decompress`, which have all of it.
    Whole,
    /// A file or a coder.
    Pieces,
}

/// Whether all of the data could be the beginning of a stream's header.
pub(crate) fn is_cut_header(bytes: &[u8]) -> bool {
    bytes.len() < 4 && b"BZh".starts_with(bytes)
}

/// The input ends within a stream.
pub(crate) fn cut(stream: Stream) -> PyErr {
    match stream {
        Stream::Whole => PyValueError::new_err("Compressed data ended before the end-of-stream marker was reached"),
        Stream::Pieces => PyEOFError::new_err("Compressed file ended before the end-of-stream marker was reached"),
    }
}

/// An error of the library.
pub(crate) fn of(error: Error, stream: Stream) -> PyErr {
    let note = error.to_string();
    let raised = match error {
        Error::Read(error) | Error::Write(error) => return of_io(error),
        Error::Truncated { .. } => cut(stream),
        Error::Memory { .. } => return PyMemoryError::new_err(note),
        Error::NotAnIndex
        | Error::BadIndex(_)
        | Error::NewerIndex { .. }
        | Error::NoIndex { .. }
        | Error::Perturbed => {
            return PyValueError::new_err(note);
        }
        Error::ForeignIndex { .. } | Error::Internal { .. } => return PyOSError::new_err(note),
        Error::Forked => return PyRuntimeError::new_err(note),
        _ => PyOSError::new_err("Invalid data stream"),
    };
    Python::attach(|py| {
        // Without the note the error is still the right one.
        let _ = raised.value(py).call_method1("add_note", (note,));
    });
    raised
}

/// An error of a reader or writer of the library, of a file or of a file object.
pub(crate) fn of_io(error: io::Error) -> PyErr {
    of_io_in(error, Stream::Pieces)
}

/// Converts an error for the given kind of caller.
pub(crate) fn of_io_in(error: io::Error, stream: Stream) -> PyErr {
    match error.downcast::<Error>() {
        Ok(error) => of(error, stream),
        // Returns the exception that a file object raised, if the error contains one, or makes an exception.
        Err(error) => error.into(),
    }
}
