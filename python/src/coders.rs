//! `BZ2Compressor` and `BZ2Decompressor`: the library's writers, which write to memory.

use crate::errors::{self, Stream};
use crate::signals::Signals;
use crate::{bytes_of, result, threads};
use hybz::Settings;
use hybz::index::Recorder;
use hybz::write::{BzDecoder, BzEncoder};
use pyo3::exceptions::{PyEOFError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, Read, Write};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// State that one thread uses at a time.
pub(crate) struct Guarded<T> {
    state: Mutex<T>,
    /// The process that used it last.
    process: AtomicU32,
    /// The thread that has the state now; 0 if no thread has it.
    owner: AtomicUsize,
}

/// The state, while a thread has it.
pub(crate) struct Guard<'a, T> {
    state: MutexGuard<'a, T>,
    owner: &'a AtomicUsize,
}

impl<'a, T> Guard<'a, T> {
    fn new(state: MutexGuard<'a, T>, owner: &'a AtomicUsize) -> Self {
        owner.store(this_thread(), Relaxed);
        Guard { state, owner }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.owner.store(0, Relaxed);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state
    }
}

/// A number that no other live thread has.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

impl<T> Guarded<T> {
    pub fn new(state: T) -> Self {
        Guarded { state: Mutex::new(state), process: AtomicU32::new(std::process::id()), owner: AtomicUsize::new(0) }
    }

    /// Takes the state if no other thread has it, without waiting.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Guard::new(state, &self.owner))
    }

    /// Takes the state, and waits for the threads that have it before. (The interpreter's lock is not held meanwhile,
    /// because they may need it.) If another thread had the state when the process was forked, that thread does not
    /// exist here, so waiting is an error. A signal's handler, or a file object's `read`, cannot wait for the call
    /// within which it runs.
    pub fn lock(&self) -> PyResult<Guard<'_, T>> {
        let state = match self.try_lock() {
            Some(state) => state,
            None if self.owner.load(Relaxed) == this_thread() => {
                return Err(PyRuntimeError::new_err("reentrant call: this thread is using the object"));
            }
            None if self.process.load(Relaxed) != std::process::id() => {
                let why = "another thread was using this object when the process was forked";
                return Err(PyRuntimeError::new_err(why));
            }
            None => Guard::new(self.state.lock().unwrap_or_else(PoisonError::into_inner), &self.owner),
        };
        self.process.store(std::process::id(), Relaxed);
        Ok(state)
    }
}

/// The number of bytes that a compressor takes between two checks for signals.
const PIECE: usize = 256 << 10;

fn not_pickled<T>(name: &str) -> PyResult<T> {
    Err(PyTypeError::new_err(format!("cannot pickle '{name}' object")))
}

/// Compresses one stream piece by piece, with bzip2's bytes.
///
/// BZ2Compressor(compresslevel=9, /, *, threads=0, block_size=None): blocks go to the threads (0: one for each core) as
/// they fill up, so a call may return output for an earlier call's data. With block_size the output is `.hbz` with such
/// blocks.
#[pyclass(frozen, module = "hybz")]
pub(crate) struct BZ2Compressor {
    coder: Guarded<Compressor>,
}

struct Compressor {
    /// `None` after `flush`.
    encoder: Option<BzEncoder<Vec<u8>>>,
    /// The positions of the stream's blocks, if they were asked for.
    recorder: Option<Recorder>,
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // The rest of the stream is not wanted, and the thread that drops this holds the interpreter's lock.
        if let Some(encoder) = self.encoder.take() {
            encoder.cancel();
        }
    }
}

#[pymethods]
impl BZ2Compressor {
    #[new]
    #[pyo3(signature = (compresslevel = 9, /, *, threads = 0, block_size = None, _recording = false))]
    fn new(compresslevel: i64, threads: i64, block_size: Option<i64>, _recording: bool) -> PyResult<Self> {
        let settings = threads::coding(compresslevel, threads, block_size)?;
        let encoder = match _recording {
            true => BzEncoder::recording(Vec::new(), &settings),
            false => BzEncoder::with_settings(Vec::new(), &settings),
        };
        Ok(BZ2Compressor { coder: Guarded::new(Compressor { encoder: Some(encoder), recorder: None }) })
    }

    /// Takes data. Returns the compressed data that are ready. If a signal's handler raises an exception, a part of the
    /// data has been taken.
    #[pyo3(signature = (data, /))]
    fn compress<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = data.py();
        let data = bytes_of(data)?;
        let coded = py.detach(|| {
            let mut coder = self.coder.lock()?;
            let encoder = coder.encoder.as_mut();
            let encoder = encoder.ok_or_else(|| PyValueError::new_err("Compressor has been flushed"))?;
            let mut signals = Signals::new();
            for piece in data.chunks(PIECE) {
                encoder.write_all(piece).map_err(errors::of_io)?;
                signals.check()?;
            }
            Ok::<_, PyErr>(std::mem::take(encoder.get_mut()))
        })?;
        result(py, coded)
    }

    /// Ends the stream. Returns the rest of the compressed data; the compressor takes no more.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let coded = py.detach(|| {
            let mut coder = self.coder.lock()?;
            let encoder = coder.encoder.take();
            let mut encoder = encoder.ok_or_else(|| PyValueError::new_err("Repeated call to flush()"))?;
            encoder.try_finish().map_err(errors::of_io)?;
            coder.recorder = encoder.recorder().cloned();
            Ok::<_, PyErr>(encoder.cancel())
        })?;
        result(py, coded)
    }

    /// The index of the stream, after `flush`, as a `.bzi`.
    fn _index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let recorder = self.coder.lock()?.recorder.clone();
            let recorder = recorder.ok_or_else(|| PyValueError::new_err("There is no index"))?;
            let mut bytes = Vec::new();
            let written = recorder.finish().and_then(|index| index.write(&mut bytes));
            written.map_err(|error| errors::of(error, Stream::Pieces))?;
            Ok::<_, PyErr>(bytes)
        })?;
        result(py, bytes)
    }

    #[pyo3(signature = (*_args))]
    fn __reduce__(&self, _args: &Bound<'_, PyAny>) -> PyResult<()> {
        not_pickled("BZ2Compressor")
    }
}

/// The number of bytes at the beginning of a stream that are examined before the decoder gets them.
const LOOK: usize = 1 << 10;

/// Memory with a limit.
struct Limited {
    bytes: Vec<u8>,
    limit: usize,
}

impl Write for Limited {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match buf.len().min(self.limit - self.bytes.len()) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            n => {
                self.bytes.extend_from_slice(&buf[..n]);
                Ok(n)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decompresses one stream, `.bz2` or `.hbz`, piece by piece.
///
/// BZ2Decompressor(*, threads=0): all blocks that the data of one call complete are decoded at the same time, so large
/// pieces are faster.
#[pyclass(frozen, module = "hybz")]
pub(crate) struct BZ2Decompressor {
    state: Guarded<Decompressor>,
}

struct Decompressor {
    /// `None` only while it is dropped.
    decoder: Option<BzDecoder<Limited>>,
    settings: Settings,
    /// The first bytes of the stream, and the number of them that have been examined.
    head: Vec<u8>,
    looked: usize,
    /// The data are damaged.
    failed: bool,
    /// Input that is not taken yet, because output must be fetched first.
    pending: Vec<u8>,
    needs_input: bool,
    eof: bool,
    unused_data: Vec<u8>,
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // As for the compressor: the thread that drops this holds the interpreter's lock.
        if let Some(decoder) = self.decoder.take() {
            decoder.cancel();
        }
    }
}

impl Decompressor {
    /// Takes as many bytes as the limit allows.
    fn decompress(&mut self, data: &[u8], limit: Option<usize>) -> PyResult<Vec<u8>> {
        if self.eof {
            return Err(PyEOFError::new_err("End of stream already reached"));
        }
        if self.failed {
            return Err(PyValueError::new_err("The decompressor cannot be used after a previous error"));
        }
        let result = self.look(data).and_then(|()| self.take(data, limit));
        if result.is_err() {
            (self.failed, self.needs_input) = (true, false);
        }
        result
    }

    /// Detects damage in the first bytes immediately, as `bz2` does. (The decoder, which looks for whole blocks, waits
    /// for the end of the first block.) It looks again when there are twice as many bytes.
    fn look(&mut self, data: &[u8]) -> PyResult<()> {
        let missing = LOOK - self.head.len();
        self.head.extend_from_slice(&data[..data.len().min(missing)]);
        if self.head.len() < 2 * self.looked || self.head.len() <= self.looked {
            return Ok(());
        }
        self.looked = self.head.len();
        // One byte is enough: its block is decoded, and only a little of the block is expanded.
        let read = hybz::read::BzDecoder::with_settings(&self.head[..], &self.settings).read(&mut [0]);
        match read.map_err(io::Error::downcast::<hybz::Error>) {
            Err(Ok(hybz::Error::NotBzip2)) if errors::is_cut_header(&self.head) => Ok(()),
            Err(Ok(error @ (hybz::Error::NotBzip2 | hybz::Error::Data { .. }))) => {
                Err(errors::of(error, Stream::Pieces))
            }
            _ => Ok(()),
        }
    }

    /// Takes data and gives text, up to a maximum.
    fn take(&mut self, data: &[u8], limit: Option<usize>) -> PyResult<Vec<u8>> {
        let Some(decoder) = &mut self.decoder else { return Ok(Vec::new()) };
        *decoder.get_mut() = Limited { bytes: Vec::new(), limit: limit.unwrap_or(usize::MAX) };
        let mut joined = std::mem::take(&mut self.pending);
        let mut rest = data;
        if !joined.is_empty() {
            joined.extend_from_slice(data);
            rest = &joined;
        }
        match push(decoder, &mut rest) {
            Ok(()) => {
                self.needs_input = true;
                if decoder.is_complete() {
                    (self.eof, self.needs_input) = (true, false);
                    self.unused_data = rest.to_vec();
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.needs_input = false;
                self.pending = rest.to_vec();
            }
            Err(error) => return Err(errors::of_io(error)),
        }
        Ok(std::mem::take(&mut decoder.get_mut().bytes))
    }
}

/// Writes data up to the end of the stream, and fetches the complete text. `rest` gets the data that were not taken.
fn push(decoder: &mut BzDecoder<Limited>, rest: &mut &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        match decoder.write(rest)? {
            0 => break,
            n => *rest = &rest[n..],
        }
    }
    decoder.flush()
}

#[pymethods]
impl BZ2Decompressor {
    #[new]
    #[pyo3(signature = (*, threads = 0))]
    fn new(threads: i64) -> PyResult<Self> {
        let out = Limited { bytes: Vec::new(), limit: 0 };
        let settings = threads::settings(threads)?;
        let decoder = Some(BzDecoder::with_settings(out, &settings));
        let state = Decompressor {
            decoder,
            settings,
            head: Vec::new(),
            looked: 0,
            failed: false,
            pending: Vec::new(),
            needs_input: true,
            eof: false,
            unused_data: Vec::new(),
        };
        Ok(BZ2Decompressor { state: Guarded::new(state) })
    }

    /// Takes data. Returns the text of the blocks that are complete: at most max_length bytes, if that is not negative.
    /// Further text is kept for the next call (needs_input is then False).
    #[pyo3(signature = (data, max_length = -1), text_signature = "($self, data, max_length=-1)")]
    fn decompress<'py>(&self, data: &Bound<'py, PyAny>, max_length: isize) -> PyResult<Bound<'py, PyBytes>> {
        let py = data.py();
        let data = bytes_of(data)?;
        let limit = usize::try_from(max_length).ok();
        let text = py.detach(|| self.state.lock()?.decompress(&data, limit))?;
        result(py, text)
    }

    /// Whether the end of the stream has been reached.
    #[getter]
    fn eof(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| Ok(self.state.lock()?.eof))
    }

    /// Whether further output needs more input.
    #[getter]
    fn needs_input(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| Ok(self.state.lock()?.needs_input))
    }

    /// The data that were found after the end of the stream.
    #[getter]
    fn unused_data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let unused = py.detach(|| Ok::<_, PyErr>(self.state.lock()?.unused_data.clone()))?;
        Ok(PyBytes::new(py, &unused))
    }

    #[pyo3(signature = (*_args))]
    fn __reduce__(&self, _args: &Bound<'_, PyAny>) -> PyResult<()> {
        not_pickled("BZ2Decompressor")
    }
}
