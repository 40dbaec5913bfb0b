//! One file compressed in parts by tasks on several machines: the part of the library's shards that
//! `lib/hybz/_tasks.py` needs.

use crate::coders::Guarded;
use crate::errors::{self, Stream};
use crate::signals::Signals;
use crate::source::{Cursor, Shared, Source};
use crate::{bytes_of, result, threads};
use hybz::shard::{self, Part, Shard};
use hybz::{Level, ReadAt};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Cuts the text of `source` (as for a reader) into shards of whole blocks, of at least `size` bytes. Returns for each
/// shard its offset, its length, the number of its blocks and their combined CRC.
#[pyfunction]
#[pyo3(signature = (source, base, compresslevel, size, name = None))]
pub(crate) fn plan(
    source: &Bound<'_, PyAny>,
    base: Option<u64>,
    compresslevel: i64,
    size: u64,
    name: Option<String>,
) -> PyResult<Vec<(u64, u64, u64, u32)>> {
    let py = source.py();
    let source = Shared(Arc::new(Source::of(source, base, name)));
    let level = threads::level(compresslevel)?;
    let (mut shards, mut signals) = (Vec::new(), Signals::new());
    let planned = py.detach(|| {
        shard::plan(Cursor::new(&source), level, size, |shard| {
            shards.push((shard.offset, shard.length, shard.blocks, shard.crc));
            signals.check().map_err(|error| source.0.failed(error))
        })
    });
    let error = |error| source.0.named(errors::of(error, Stream::Pieces));
    planned.map_err(|e| source.0.raised().unwrap_or_else(|| error(e)))?;
    Ok(shards)
}

/// Joins parts to one stream.
#[pyclass(frozen, module = "hybz._hybz")]
pub(crate) struct Joiner {
    level: Level,
    /// `None` after `finish`.
    joiner: Guarded<Option<shard::Joiner<Written>>>,
    written: Written,
}

/// The bytes that a joiner has written and Python has not fetched yet.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A part in memory.
struct Bytes<'a>(&'a [u8]);

impl ReadAt for Bytes<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        usize::try_from(offset).ok().and_then(|at| self.0.get(at..)).unwrap_or_default().read(buf)
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

#[pymethods]
impl Joiner {
    #[new]
    fn new(compresslevel: i64) -> PyResult<Self> {
        let (level, written) = (threads::level(compresslevel)?, Written::default());
        let joiner = Guarded::new(Some(shard::Joiner::new(level, written.clone())));
        Ok(Joiner { level, joiner, written })
    }

    /// Takes the part of the next shard, which must have `blocks` blocks with this combined CRC. Returns the bytes to
    /// write.
    fn part<'py>(&self, blocks: u64, crc: u32, part: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = part.py();
        let part = bytes_of(part)?;
        let joined = py.detach(|| {
            let mut guard = self.joiner.lock()?;
            let joiner = guard.as_mut().ok_or_else(|| PyValueError::new_err("The stream has been finished"))?;
            let found = Part::open(&Bytes(&part)).map_err(|error| errors::of(error, Stream::Pieces))?;
            if (found.level, found.crc) != (self.level, crc) {
                return Err(PyValueError::new_err("The part does not have the shard's blocks"));
            }
            let shard = Shard::new(0, 0, 0, blocks, crc);
            joiner.part(&shard, &Bytes(&part)).map_err(|error| errors::of(error, Stream::Pieces))?;
            Ok(self.written.take())
        })?;
        result(py, joined)
    }

    /// Ends the stream. Returns the bytes to write.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let end = py.detach(|| {
            let joiner = self.joiner.lock()?.take();
            let joiner = joiner.ok_or_else(|| PyValueError::new_err("The stream has been finished"))?;
            joiner.finish().map_err(|error| errors::of(error, Stream::Pieces))?;
            Ok::<_, PyErr>(self.written.take())
        })?;
        result(py, end)
    }
}
