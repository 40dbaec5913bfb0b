//! The raw reader under `BZ2File`: reads ahead in parallel, and seeks with an index that is given or made while
//! reading.
//!
//! Text is decoded from the beginning on by one decoder, which records where blocks begin. Text before its position is
//! read with the index of the blocks that have passed; text after it is decoded on the way there. Once the end has been
//! reached, or an index is given, everything is read by the index. If there can be no index (a pipe, `.bz2` and `.hbz`
//! streams one after the other), seeking backwards begins again at the first byte, as `bz2` always does.

use crate::coders::Guarded;
use crate::sequential::AtHand;
use crate::signals::Signals;
use crate::source::{Shared, Source};
use crate::state::{CHUNK, Known, SMALL, State};
use crate::threads;
use hybz::index::Index;
use pyo3::PyTraverseError;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice};
use std::io;
use std::sync::Arc;

/// Reads the text of a file of `.bz2` or `.hbz` streams.
#[pyclass(frozen, module = "hybz._hybz")]
pub(crate) struct Reader {
    state: Guarded<State>,
    /// The same source as the state's, kept here so that the garbage collector finds it without waiting.
    source: Shared,
}

#[pymethods]
impl Reader {
    /// Reads `source`: a descriptor of a regular file, which the reader takes over, or an object with `read`. `base` is
    /// the position of the first byte; `None` if the object cannot seek. `name` is the name in errors.
    #[new]
    #[pyo3(signature = (source, base, threads, name = None))]
    fn new(source: &Bound<'_, PyAny>, base: Option<u64>, threads: i64, name: Option<String>) -> PyResult<Self> {
        let settings = threads::settings(threads)?;
        let source = Shared(Arc::new(Source::of(source, base, name)));
        let state = State {
            source: source.clone(),
            settings,
            process: std::process::id(),
            at: 0,
            begun: false,
            sequential: None,
            seeker: None,
            known: Known::Nothing,
            scratch: Vec::new(),
            at_hand: AtHand::default(),
            last: 0,
        };
        Ok(Reader { state: Guarded::new(state), source })
    }

    /// Shows the garbage collector the file object, which may refer to this reader.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.source.0.traverse(&visit)
    }

    /// Drops the file object, to break a cycle.
    fn __clear__(&self) {
        self.source.0.clear();
    }

    /// Whether the underlying file can seek.
    fn seekable(&self) -> bool {
        self.source.0.is_seekable()
    }

    /// The end of what has been read of a regular file so far, as a position in the file; 0 for an object.
    fn position(&self) -> u64 {
        self.source.0.furthest()
    }

    /// Fills a buffer as far as text is available. Returns the number of bytes; 0 at the end.
    fn readinto(&self, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = buffer.py();
        let view = crate::as_bytes_view(buffer)?;
        let most = view.len()?.min(CHUNK);
        let fill = |text: &[u8]| {
            let part = view.get_item(PySlice::new(py, 0, text.len() as isize, 1))?;
            PyBuffer::<u8>::get(&part)?.copy_from_slice(py, text)
        };
        if most <= SMALL
            && let Some(mut state) = self.state.try_lock()
        {
            let text = state.at_hand.text();
            let n = text.len().min(most);
            if n > 0 {
                fill(&text[..n])?;
                state.advance(n);
                return Ok(n);
            }
        }
        let text = py.detach(|| {
            let mut text = vec![0; most];
            let n = self.state.lock()?.read(&mut text)?;
            text.truncate(n);
            Ok::<_, PyErr>(text)
        })?;
        // The text is not decoded into the buffer itself, because another owner may use the buffer while the lock is
        // not held.
        fill(&text)?;
        Ok(text.len())
    }

    /// Reads everything from the position on, or at most `size` bytes.
    #[pyo3(signature = (size = None))]
    fn readall<'py>(&self, py: Python<'py>, size: Option<usize>) -> PyResult<Bound<'py, PyBytes>> {
        let text = py.detach(|| {
            let mut state = self.state.lock()?;
            state.begun = true;
            let known = state.complete().map_or(0, |seeker| seeker.text_len().saturating_sub(state.at));
            let known = usize::try_from(known).unwrap_or(usize::MAX);
            let most = size.unwrap_or(usize::MAX);
            let (mut text, begin, mut signals) = (Vec::new(), state.at, Signals::new());
            text.try_reserve(known.min(most)).map_err(io::Error::from)?;
            loop {
                let filled = text.len();
                text.resize(filled.saturating_add(CHUNK).min(most), 0);
                let read = state.read(&mut text[filled..]);
                let n = *read.as_ref().unwrap_or(&0);
                text.truncate(filled + n);
                match read.and_then(|n| signals.check().map(|()| n)) {
                    Ok(0) => return Ok::<_, PyErr>(text),
                    Ok(_) => {}
                    Err(error) => {
                        // The position is restored, as if nothing had been read.
                        state.put_back(begin, text);
                        return Err(error);
                    }
                }
            }
        })?;
        crate::result(py, text)
    }

    /// The position in the text.
    fn tell(&self, py: Python<'_>) -> PyResult<u64> {
        if let Some(state) = self.state.try_lock() {
            return Ok(state.at);
        }
        py.detach(|| Ok(self.state.lock()?.at))
    }

    /// Moves the position, to the end of the text at most. Returns it.
    fn seek(&self, py: Python<'_>, offset: i64, whence: i64) -> PyResult<u64> {
        py.detach(|| {
            let mut state = self.state.lock()?;
            let from = match whence {
                0 => 0,
                1 => state.at,
                2 => state.text_len()?,
                _ => return Err(PyValueError::new_err(format!("Invalid value for whence: {whence}"))),
            };
            let to = (i128::from(from) + i128::from(offset)).max(0);
            let to = u64::try_from(to).unwrap_or(u64::MAX);
            // Like `bz2`, this finds out whether there is so much text by going there.
            state.after_fork()?;
            let end = if let Some(seeker) = state.complete() {
                seeker.text_len()
            } else if to <= state.sequential().at {
                to
            } else if state.seekable() && state.open_hbz() || !state.skip_to(to)? {
                state.text_len()?
            } else {
                to
            };
            state.go_to(to.min(end));
            Ok(state.at)
        })
    }

    /// The number of bytes of text.
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.state.lock()?.text_len())
    }

    /// The position in the compressed file, in bits, of the block at the text position.
    fn tell_compressed(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.state.lock()?.compressed_at())
    }

    /// Whether the index of the whole file is known.
    fn block_offsets_complete(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| Ok(self.state.lock()?.complete().is_some()))
    }

    /// The positions of blocks, as `{bits: bytes}`: of the whole file, or those known so far.
    fn block_offsets<'py>(&self, py: Python<'py>, whole: bool) -> PyResult<Bound<'py, PyDict>> {
        let offsets = py.detach(|| self.state.lock()?.offsets(whole))?;
        let dict = PyDict::new(py);
        for (bits, bytes) in offsets {
            dict.set_item(bits, bytes)?;
        }
        Ok(dict)
    }

    /// The index of the whole file: as a `.bzi`, or lines of offsets.
    fn write_index<'py>(&self, py: Python<'py>, offsets: bool) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let mut state = self.state.lock()?;
            let (mut bytes, index) = (Vec::new(), state.index()?);
            let written = if offsets { index.write_offsets(&mut bytes) } else { index.write(&mut bytes) };
            written.map_err(|e| state.error(e))?;
            Ok::<_, PyErr>(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Cuts the text at ends of blocks into ranges of at least `size` bytes. Returns for each range its begin and its
    /// end, and the index of its blocks and of those with the next `ahead` bytes.
    fn ranges(&self, py: Python<'_>, size: u64, ahead: u64) -> PyResult<Vec<(u64, u64, Vec<u8>)>> {
        py.detach(|| {
            let mut state = self.state.lock()?;
            let (mut ranges, mut begin, index) = (Vec::new(), 0, state.index()?);
            let mut range = |end: u64, begin: u64| {
                let mut bytes = Vec::new();
                index.part(begin..end.saturating_add(ahead))?.write(&mut bytes)?;
                ranges.push((begin, end, bytes));
                Ok(())
            };
            let cut = index.iter().try_for_each(|block| {
                let block = block?;
                let end = block.text_offset + block.text_len;
                if end - begin >= size || end == index.text_len() {
                    range(end, std::mem::replace(&mut begin, end))?;
                }
                Ok(())
            });
            cut.map_err(|e| state.error(e))?;
            Ok(ranges)
        })
    }

    /// Takes the index of a part of the file. Only that part can be read afterwards.
    fn read_part(&self, py: Python<'_>, bytes: Vec<u8>) -> PyResult<()> {
        py.detach(|| {
            let mut state = self.state.lock()?;
            state.after_fork()?;
            let opened = Index::open_unchecked(Arc::new(bytes), &state.source);
            let index = opened.map_err(|e| state.error(e))?;
            state.take_index(index)
        })
    }

    /// Takes an index: a `.bzi`, or lines of offsets.
    fn read_index(&self, py: Python<'_>, bytes: Vec<u8>) -> PyResult<()> {
        py.detach(|| {
            let mut state = self.state.lock()?;
            state.after_fork()?;
            let index = match Index::open(Arc::new(bytes), &state.source) {
                Err(error @ hybz::Error::ForeignIndex { .. }) => Err(PyValueError::new_err(error.to_string())),
                opened => opened.map_err(|e| state.error(e)),
            }?;
            state.take_index(index)
        })
    }
}
