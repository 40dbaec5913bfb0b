//! Where compressed bytes come from: a file that the system reads, or a Python object with `read`, and `seek` if it has
//! that.

use hybz::ReadAt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

/// How much is asked of an object that cannot seek at once. A pipe hands out nothing before it has so much.
const PIPE_READ: usize = 64 << 10;

/// Compressed bytes from `base` on.
pub(crate) struct Source {
    from: From,
    /// Where the first byte is in the file: where a file object was when it was handed over.
    base: u64,
    /// What a file object has raised. The library keeps only the text of errors.
    raised: Mutex<Option<PyErr>>,
}

enum From {
    /// Reading it does not move the position of the descriptor, which parent and child of a fork share.
    File(File),
    /// Its position is moved, so one reads at a time: whoever has the interpreter's lock.
    Seekable(Py<PyAny>),
    Pipe(Py<PyAny>),
}

impl Source {
    /// What Python hands over: a descriptor of a regular file, or an object with `read`; with `base` also `seek`.
    pub fn of(source: &Bound<'_, PyAny>, base: Option<u64>) -> Source {
        match source.extract::<RawFd>() {
            Ok(descriptor) => Source::file(descriptor, base.unwrap_or(0)),
            Err(_) => Source::object(source.clone().unbind(), base),
        }
    }

    /// A regular file, by a descriptor of its own, which is closed with this.
    #[allow(unsafe_code)]
    fn file(descriptor: RawFd, base: u64) -> Source {
        // SAFETY: the caller (`lib/hybz/_file.py`) has made it with `os.dup` for this, and nobody else has its number.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
        Source { from: From::File(file), base, raised: Mutex::default() }
    }

    /// An object with `read`; with `base` also `seek`.
    fn object(object: Py<PyAny>, base: Option<u64>) -> Source {
        let from = if base.is_some() { From::Seekable(object) } else { From::Pipe(object) };
        Source { from, base: base.unwrap_or(0), raised: Mutex::default() }
    }

    pub fn is_seekable(&self) -> bool {
        !matches!(self.from, From::Pipe(_))
    }

    /// What a file object has raised since this was last asked.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn failed(&self, error: PyErr) -> io::Error {
        let text = error.to_string();
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        io::Error::other(text)
    }

    /// Calls `read` of a file object, after `seek` if there is a position.
    fn read_object(&self, object: &Py<PyAny>, at: Option<u64>, buf: &mut [u8]) -> io::Result<usize> {
        let read = |py: Python<'_>| -> PyResult<usize> {
            let object = object.bind(py);
            if let Some(at) = at {
                object.call_method1("seek", (at,))?;
            }
            let read = object.call_method1("read", (buf.len(),))?;
            let bytes = match read.cast::<PyBytes>() {
                Ok(bytes) => bytes.clone(),
                Err(_) => PyBytes::new(py, &crate::bytes_of(&read)?),
            };
            let bytes = bytes.as_bytes();
            let there = buf.get_mut(..bytes.len());
            let why = "read() returned more bytes than were asked for";
            there.ok_or_else(|| pyo3::exceptions::PyOSError::new_err(why))?.copy_from_slice(bytes);
            Ok(bytes.len())
        };
        Python::attach(read).map_err(|error| self.failed(error))
    }
}

/// A source that several readers have.
#[derive(Clone)]
pub(crate) struct Shared(pub Arc<Source>);

impl ReadAt for Shared {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let at = self.0.base + offset;
        match &self.0.from {
            From::File(file) => file.read_at(buf, at),
            From::Seekable(object) => self.0.read_object(object, Some(at), buf),
            From::Pipe(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn len(&self) -> u64 {
        let len = match &self.0.from {
            From::File(file) => file.len(),
            From::Seekable(object) => Python::attach(|py| object.call_method1(py, "seek", (0, 2))?.extract::<u64>(py))
                .unwrap_or_else(|error| {
                    let _ = self.0.failed(error);
                    0
                }),
            From::Pipe(_) => 0,
        };
        len.saturating_sub(self.0.base)
    }
}

/// Reads a source from its first byte on.
pub(crate) struct Cursor {
    source: Shared,
    at: u64,
    /// The first bytes: whether they are a header that is cut.
    pub head: Vec<u8>,
}

impl Cursor {
    pub fn new(source: &Shared) -> Cursor {
        Cursor { source: source.clone(), at: 0, head: Vec::new() }
    }
}

impl Read for Cursor {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = match &self.source.0.from {
            From::Pipe(object) => {
                let most = buf.len().min(PIPE_READ);
                self.source.0.read_object(object, None, &mut buf[..most])?
            }
            _ => self.source.read_at(buf, self.at)?,
        };
        self.at += n as u64;
        let missing = 4 - self.head.len();
        self.head.extend_from_slice(&buf[..n.min(missing)]);
        Ok(n)
    }
}
