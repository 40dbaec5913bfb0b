//! The compiled part of the Python package `hybz`: coders, and a reader that seeks. Everything that is only Python's
//! (files, buffers, text) is in `lib/hybz/`, on Python's own `io`.
//!
//! No work is done while the interpreter's lock is held: the lock is taken to examine arguments, to call file objects
//! and to make results. Small results may be ready already.

mod coders;
mod errors;
mod reader;
mod sequential;
mod shards;
mod signals;
mod source;
mod splits;
mod state;
mod threads;

use errors::Stream;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::borrow::Cow;
use std::io::{self, Read};
use std::mem::MaybeUninit;

/// The bytes of an object. The contents of a `bytes` cannot change, so they are used in place; other contents are
/// copied, because their owner may write to them while the lock is not held.
pub(crate) fn bytes_of<'a>(data: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    let buffer = PyBuffer::<u8>::get(&as_bytes_view(data)?)?;
    Ok(Cow::Owned(buffer.to_vec(data.py())?))
}

/// From this length on, copying a result takes longer than handing the lock to other threads and taking it back.
const LARGE: usize = 1 << 20;

/// A result as `bytes`. The lock is not held while a large one is copied.
#[allow(unsafe_code)]
pub(crate) fn result(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Bound<'_, PyBytes>> {
    if bytes.len() < LARGE {
        return Ok(PyBytes::new(py, &bytes));
    }
    let len = isize::try_from(bytes.len())?;
    // SAFETY: without a source this makes an object with room for `len` bytes, or raises MemoryError; it is `bytes`.
    let object = unsafe {
        let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), len);
        Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked::<PyBytes>()
    };
    // SAFETY: the room has that many bytes, and no one else has the new object before this function returns it.
    let room: &mut [MaybeUninit<u8>] =
        unsafe { std::slice::from_raw_parts_mut(ffi::PyBytes_AsString(object.as_ptr()).cast(), bytes.len()) };
    py.detach(move || {
        for (to, byte) in room.iter_mut().zip(&bytes) {
            to.write(*byte);
        }
        drop(bytes);
    });
    Ok(object)
}

/// The amount requested from a coder in one step: first little, for small results, then twice as much each time.
const PIECES: (usize, usize) = (16 << 10, 1 << 20);

/// All output of a coder. A signal whose handler raises an exception ends the work.
fn read_whole(mut coder: impl Read, error: impl Fn(io::Error) -> PyErr) -> PyResult<Vec<u8>> {
    let (mut made, mut piece, mut signals) = (Vec::new(), PIECES.0, signals::Signals::new());
    loop {
        let filled = made.len();
        made.try_reserve(piece).map_err(io::Error::from)?;
        made.resize(filled + piece, 0);
        let n = coder.read(&mut made[filled..]).map_err(&error)?;
        made.truncate(filled + n);
        if n == 0 {
            return Ok(made);
        }
        signals.check()?;
        if n == piece {
            piece = PIECES.1.min(2 * piece);
        }
    }
}

/// A view, as unsigned bytes, of any object that has a contiguous buffer.
fn as_bytes_view<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let view = pyo3::types::PyMemoryView::from(data)?;
    if !view.getattr("c_contiguous")?.extract::<bool>()? {
        return Err(PyBufferError::new_err("underlying buffer is not C-contiguous"));
    }
    match view.getattr("format")?.extract::<&str>()? {
        "B" if view.getattr("ndim")?.extract::<usize>()? == 1 => Ok(view.into_any()),
        _ => view.call_method1("cast", ("B",)),
    }
}

/// Compresses `data` into one stream of `.bz2`, with bzip2's bytes; with block_size into `.hbz` with such blocks.
#[pyfunction]
#[pyo3(signature = (data, compresslevel = 9, *, threads = 0, block_size = None))]
fn compress<'py>(
    data: &Bound<'py, PyAny>,
    compresslevel: i64,
    threads: i64,
    block_size: Option<i64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    let settings = threads::coding(compresslevel, threads, block_size)?;
    let data = bytes_of(data)?;
    let coded = py.detach(|| {
        let error = |error| errors::of_io_in(error, Stream::Whole);
        let settings = threads::settings_of(settings, data.len());
        read_whole(hybz::bufread::BzEncoder::with_settings(&data[..], &settings), error)
    })?;
    result(py, coded)
}

/// Decompresses `data`: all streams that follow each other, `.bz2` or `.hbz`.
#[pyfunction]
#[pyo3(signature = (data, *, threads = 0))]
fn decompress<'py>(data: &Bound<'py, PyAny>, threads: i64) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    let settings = threads::settings(threads)?;
    let data = bytes_of(data)?;
    if data.is_empty() {
        return Ok(PyBytes::new(py, b""));
    }
    let error = |error: io::Error| match error.get_ref().and_then(|error| error.downcast_ref()) {
        Some(hybz::Error::NotBzip2) if errors::is_cut_header(&data) => errors::cut(Stream::Whole),
        _ => errors::of_io_in(error, Stream::Whole),
    };
    let text = py.detach(|| {
        let settings = threads::settings_of(settings, data.len());
        let coder = hybz::bufread::MultiBzDecoder::with_settings(&data[..], &settings);
        read_whole(coder, error)
    })?;
    result(py, text)
}

/// The compiled part of `hybz`.
#[pymodule(gil_used = false)]
fn _hybz(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(compress, module)?)?;
    module.add_function(wrap_pyfunction!(decompress, module)?)?;
    module.add_function(wrap_pyfunction!(threads::set_threads, module)?)?;
    module.add_function(wrap_pyfunction!(shards::plan, module)?)?;
    module.add_function(wrap_pyfunction!(splits::read_split, module)?)?;
    module.add_class::<shards::Joiner>()?;
    module.add_class::<coders::BZ2Compressor>()?;
    module.add_class::<coders::BZ2Decompressor>()?;
    module.add_class::<reader::Reader>()
}
