//! The source of compressed bytes: a file that the system reads, or a Python object with `read` and perhaps `seek`.

use hybz::ReadAt;
use pyo3::PyTraverseError;
use pyo3::exceptions::{PyBlockingIOError, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum size of one read from an object that cannot seek.
const PIPE_READ: usize = 64 << 10;

/// Compressed bytes from `base` on.
pub(crate) struct Source {
    from: From,
    /// The position of the first byte in the file: the file object's position when it was handed over.
    base: u64,
    /// The exception that a file object has raised. The library keeps only the text of errors.
    raised: Mutex<Option<PyErr>>,
    /// What a file object has returned beyond what it was asked for.
    surplus: Mutex<Surplus>,
    /// The end of what has been read of a file so far, as a position in it.
    furthest: AtomicU64,
    /// The file's name, for errors.
    name: Option<String>,
}

/// Bytes, of which some have been taken, and the position of the first of them (0 in an object that cannot seek).
#[derive(Default)]
struct Surplus {
    at: u64,
    bytes: Vec<u8>,
    taken: usize,
}

impl Surplus {
    /// Copies bytes from this position on, if they are here. In an object that cannot seek, they are.
    fn take(&mut self, at: Option<u64>, buf: &mut [u8]) -> usize {
        let is_next = at.is_none_or(|at| at == self.at + self.taken as u64);
        let rest = if is_next { &self.bytes[self.taken..] } else { &[] };
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        if self.taken == self.bytes.len() {
            *self = Surplus::default();
        }
        n
    }
}

enum From {
    /// Reading it does not move the position of the descriptor, which parent and child of a fork share.
    #[cfg_attr(not(unix), allow(dead_code))]
    File(File),
    /// Reading moves its position, so only the thread with the interpreter's lock may read.
    Seekable(Object),
    Pipe(Object),
}

/// A file object; `None` after the garbage collector has cleared it. It is locked only for a moment, by threads that
/// have the interpreter's lock.
struct Object(Mutex<Option<Py<PyAny>>>);

impl Object {
    fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let object = object.as_ref().map(|object| object.bind(py).clone());
        object.ok_or_else(|| PyValueError::new_err("I/O operation on closed file"))
    }
}

/// Reads from an object that cannot seek. If it has `read1`, that is used, because it does not wait for more bytes than
/// are available: the writer of a pipe may be waiting for an answer.
fn read_some<'py>(object: &Bound<'py, PyAny>, most: usize) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let Some(read1) = object.getattr_opt("read1")? else { return object.call_method1("read", (most,)) };
    match read1.call1((most,)) {
        // No bytes mean the end. If a file that does not block has no data now, `read` returns None.
        Ok(some) if some.is_none() || some.len()? == 0 => object.call_method1("read", (1,)),
        // io.BufferedIOBase has a read1 that raises this.
        Err(error) if error.is_instance(py, &py.import("io")?.getattr("UnsupportedOperation")?) => {
            object.call_method1("read", (most,))
        }
        read => read,
    }
}

impl Source {
    /// The source that Python hands over: a descriptor of a regular file, or an object with `read` and, with `base`,
    /// also `seek`.
    pub fn of(source: &Bound<'_, PyAny>, base: Option<u64>, name: Option<String>) -> Source {
        let from = Source::file(source).unwrap_or_else(|| Source::object(source.clone().unbind(), base));
        let (raised, surplus, furthest) = Default::default();
        Source { from, base: base.unwrap_or(0), raised, surplus, furthest, name }
    }

    /// A regular file, by a separate descriptor, which is closed with this source. `None` if it is an object.
    #[cfg(unix)]
    #[allow(unsafe_code)]
    fn file(source: &Bound<'_, PyAny>) -> Option<From> {
        use std::os::fd::{FromRawFd, OwnedFd, RawFd};
        let descriptor: RawFd = source.extract().ok()?;
        // SAFETY: the caller (`lib/hybz/_file.py`) has made the descriptor with `os.dup` for this purpose, and no other
        // code has its number.
        Some(From::File(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) })))
    }

    /// Without descriptors of the system's, `lib/hybz/_file.py` hands over objects only.
    #[cfg(not(unix))]
    fn file(_: &Bound<'_, PyAny>) -> Option<From> {
        None
    }

    /// An object with `read`; with `base` also `seek`.
    fn object(object: Py<PyAny>, base: Option<u64>) -> From {
        let object = Object(Mutex::new(Some(object)));
        if base.is_some() { From::Seekable(object) } else { From::Pipe(object) }
    }

    /// Shows the garbage collector the file object.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let From::Seekable(object) | From::Pipe(object) = &self.from
            && let Ok(object) = object.0.try_lock()
        {
            visit.call(&*object)?;
        }
        Ok(())
    }

    /// Drops the file object.
    pub fn clear(&self) {
        if let From::Seekable(object) | From::Pipe(object) = &self.from {
            let object = object.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            // The object is dropped after unlocking, because its finalizer may do anything.
            drop(object);
        }
    }

    /// The error with a note that names the file.
    pub fn named(&self, error: PyErr) -> PyErr {
        if let Some(name) = &self.name {
            Python::attach(|py| {
                // Without the note the error is still the right one.
                let _ = error.value(py).call_method1("add_note", (format!("file: {name}"),));
            });
        }
        error
    }

    pub fn is_seekable(&self) -> bool {
        !matches!(self.from, From::Pipe(_))
    }

    /// The end of what has been read of a regular file so far, as a position in the file. 0 for an object, whose own
    /// position moves.
    pub fn furthest(&self) -> u64 {
        self.furthest.load(Relaxed)
    }

    /// The exception that a file object has raised since the last call.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps an exception for `raised`.
    pub fn failed(&self, error: PyErr) -> io::Error {
        let text = error.to_string();
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        io::Error::other(text)
    }

    /// Calls `read` of a file object, after `seek` if there is a position. Objects may return more than they were asked
    /// for, as wrappers of iterators do: the rest is kept for the next call.
    fn read_object(&self, object: &Object, at: Option<u64>, buf: &mut [u8]) -> io::Result<usize> {
        let read = |py: Python<'_>| -> PyResult<usize> {
            let n = self.surplus.lock().unwrap_or_else(PoisonError::into_inner).take(at, buf);
            if n > 0 {
                return Ok(n);
            }
            let object = object.get(py)?;
            let read = match at {
                Some(at) => {
                    object.call_method1("seek", (at,))?;
                    object.call_method1("read", (buf.len(),))?
                }
                None => read_some(&object, buf.len())?,
            };
            if read.is_none() {
                return Err(PyBlockingIOError::new_err("read() returned no data: the file does not block"));
            }
            let bytes = match read.cast::<PyBytes>() {
                Ok(bytes) => bytes.clone(),
                Err(_) => PyBytes::new(py, &crate::bytes_of(&read)?),
            };
            let bytes = bytes.as_bytes();
            let n = bytes.len().min(buf.len());
            buf[..n].copy_from_slice(&bytes[..n]);
            if n < bytes.len() {
                let at = at.map_or(0, |at| at + n as u64);
                let mut surplus = self.surplus.lock().unwrap_or_else(PoisonError::into_inner);
                *surplus = Surplus { at, bytes: bytes[n..].to_vec(), taken: 0 };
            }
            Ok(n)
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
            From::File(file) => {
                let n = file.read_at(buf, at)?;
                self.0.furthest.fetch_max(at + n as u64, Relaxed);
                Ok(n)
            }
            From::Seekable(object) => self.0.read_object(object, Some(at), buf),
            From::Pipe(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn len(&self) -> u64 {
        let len = match &self.0.from {
            From::File(file) => file.len(),
            From::Seekable(object) => {
                Python::attach(|py| object.get(py)?.call_method1("seek", (0, 2))?.extract::<u64>()).unwrap_or_else(
                    |error| {
                        let _ = self.0.failed(error);
                        0
                    },
                )
            }
            From::Pipe(_) => 0,
        };
        len.saturating_sub(self.0.base)
    }
}

/// Reads a source from its first byte on.
pub(crate) struct Cursor {
    source: Shared,
    at: u64,
    /// The first bytes, which tell whether they are a cut header.
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
