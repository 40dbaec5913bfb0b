//! The raw reader behind `BZ2File`: reads on in parallel, and seeks with an index that is made as it reads, or given.
//!
//! Text is decoded from the beginning on by one decoder, which records where blocks begin. What lies before it is read
//! by the index of the blocks that have passed; what lies behind it is decoded on the way there. Once the end has been
//! reached, or an index is given, everything is read by the index. Where there can be no index (a pipe, `.bz2` and
//! `.hbz` streams one after the other) seeking backwards begins again at the first byte, as `bz2` always does.

use crate::coders::Guarded;
use crate::errors;
use crate::sequential::{AtHand, Sequential};
use crate::source::{Shared, Source};
use crate::threads;
use hybz::index::{Index, Recorder};
use hybz::{ReadAt, Settings, hbz, seek};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice};
use std::io;
use std::sync::Arc;

/// The first read hands out no more: who looks at the beginning of a file pays for no more. (`bz2` has it so.)
const FIRST: usize = 8 << 10;
/// The most that is handed out at once.
const CHUNK: usize = 1 << 20;
/// Smaller reads that go on where the last one ended are served from text at hand, as much as this, without giving up
/// the interpreter's lock: getting it back takes 5 ms if another thread of Python does not wait for anything, so with
/// 64 KiB at a time nobody would read more than 13 MB/s.
const SMALL: usize = 256 << 10;

/// Reads the text of a file of `.bz2` or `.hbz` streams.
#[pyclass(frozen, module = "hybz._hybz")]
pub(crate) struct Reader {
    state: Guarded<State>,
    seekable: bool,
}

struct State {
    source: Shared,
    settings: Settings,
    /// The process that decoder and seeker belong to.
    process: u32,
    /// Where in the text the next read begins.
    at: u64,
    begun: bool,
    sequential: Option<Sequential>,
    seeker: Option<seek::Reader<Shared>>,
    /// What the seeker's index is made from.
    known: Known,
    scratch: Vec<u8>,
    at_hand: AtHand,
    /// Where the last read ended.
    last: u64,
}

/// How much of the file the seeker knows.
enum Known {
    Nothing,
    Part(Recorder),
    /// The index as a `.bzi`.
    Whole(Arc<Vec<u8>>),
    /// A `.hbz` file, which has its index in it.
    Hbz,
}

impl State {
    /// In the child of a fork: threads have stayed behind, and so decoder and seeker are made anew.
    fn after_fork(&mut self) -> PyResult<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        self.process = std::process::id();
        self.sequential = None;
        if self.seeker.take().is_some() {
            self.open_known()?;
        }
        Ok(())
    }

    /// Opens the seeker by what is known.
    fn open_known(&mut self) -> PyResult<()> {
        let source = self.source.clone();
        self.seeker = match &self.known {
            Known::Nothing => None,
            Known::Part(recorder) => {
                recorder.so_far().map(|index| seek::Reader::with_index(source, index, &self.settings))
            }
            Known::Whole(bytes) => {
                let index = Index::open_unchecked(Arc::new(bytes.to_vec()), &source).map_err(|e| self.error(e))?;
                Some(seek::Reader::with_index(source, index, &self.settings))
            }
            Known::Hbz => Some(seek::Reader::open(source, &self.settings).map_err(|e| self.error(e))?),
        };
        Ok(())
    }

    /// Takes the index of the whole file.
    fn take_index(&mut self, index: Index) -> PyResult<()> {
        let mut bytes = Vec::new();
        index.write(&mut bytes).map_err(|e| self.error(e))?;
        self.known = Known::Whole(Arc::new(bytes));
        self.seeker = Some(seek::Reader::with_index(self.source.clone(), index, &self.settings));
        self.sequential = None;
        Ok(())
    }

    fn error(&self, error: hybz::Error) -> PyErr {
        self.source.0.raised().unwrap_or_else(|| errors::of(error, errors::Stream::Pieces))
    }

    fn io_error(&self, error: io::Error) -> PyErr {
        if let Some(raised) = self.source.0.raised() {
            return raised;
        }
        let head = self.sequential.as_ref().map(|sequential| &sequential.decoder.get_ref().head);
        let is_none = matches!(error.get_ref().and_then(|e| e.downcast_ref()), Some(hybz::Error::NotBzip2));
        match head {
            Some(head) if is_none && errors::is_cut_header(head) => errors::cut(errors::Stream::Pieces),
            _ => errors::of_io(error),
        }
    }

    /// The seeker, if it knows the whole file.
    fn complete(&self) -> Option<&seek::Reader<Shared>> {
        self.seeker.as_ref().filter(|_| matches!(self.known, Known::Whole(_) | Known::Hbz))
    }

    fn seekable(&self) -> bool {
        self.source.0.is_seekable()
    }

    /// The decoder, from the beginning if there is none.
    fn sequential(&mut self) -> &mut Sequential {
        self.sequential.get_or_insert_with(|| Sequential::new(&self.source, &self.settings))
    }

    /// The decoder has come to the end: it has recorded the whole file's index, unless there are `.hbz` streams.
    fn ended(&mut self) -> PyResult<()> {
        let recorder = self.sequential.as_ref().and_then(Sequential::recorder).cloned();
        let index = recorder.filter(|_| self.seekable()).and_then(|recorder| recorder.finish().ok());
        index.map_or(Ok(()), |index| self.take_index(index))
    }

    /// Copies some of the text at hand.
    fn read_at_hand(&mut self, buf: &mut [u8]) -> usize {
        let text = self.at_hand.text();
        let n = text.len().min(buf.len());
        buf[..n].copy_from_slice(&text[..n]);
        self.advance(n);
        n
    }

    /// So much of the text at hand has been read.
    fn advance(&mut self, n: usize) {
        self.at_hand.consume(n);
        self.at += n as u64;
        self.last = self.at;
    }

    /// Moves the position.
    fn go_to(&mut self, at: u64) {
        self.at_hand.moved(at.checked_sub(self.at));
        self.at = at;
    }

    /// Reads some text from the position on; nothing at the end.
    fn read(&mut self, buf: &mut [u8]) -> PyResult<usize> {
        self.after_fork()?;
        if buf.is_empty() {
            return Ok(0);
        }
        if self.at_hand.text().is_empty() {
            if buf.len() > SMALL || self.at != self.last || !self.begun {
                let n = self.read_on(buf)?;
                self.at += n as u64;
                self.last = self.at;
                return Ok(n);
            }
            let mut at_hand = std::mem::take(&mut self.at_hand);
            at_hand.fill(CHUNK, |room| self.read_on(room))?;
            self.at_hand = at_hand;
        }
        Ok(self.read_at_hand(buf))
    }

    /// The same with nothing at hand, and without moving the position.
    fn read_on(&mut self, buf: &mut [u8]) -> PyResult<usize> {
        let most = if self.begun { buf.len() } else { buf.len().min(FIRST) };
        let buf = &mut buf[..most];
        let n = loop {
            if let Some(seeker) = self.complete() {
                break seeker.read_at(buf, self.at).map_err(|e| self.io_error(e))?;
            }
            let decoded = self.sequential().at;
            if self.at >= decoded {
                if !self.skip_to(self.at)? {
                    break 0;
                }
                let read = self.sequential().read(buf);
                match read.map_err(|e| self.io_error(e))? {
                    0 => {
                        self.ended()?;
                        break 0;
                    }
                    n => break n,
                }
            }
            if let Some(seeker) = self.seeker.as_ref().filter(|seeker| self.at < seeker.text_len()) {
                break seeker.read_at(buf, self.at).map_err(|e| self.io_error(e))?;
            }
            self.look_back()?;
        };
        self.begun = true;
        Ok(n)
    }

    /// Decodes up to there. Returns whether the text goes so far; if not, it has been decoded to its end.
    fn skip_to(&mut self, to: u64) -> PyResult<bool> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.resize(CHUNK, 0);
        let result = loop {
            let sequential = self.sequential();
            let missing = to - sequential.at;
            if missing == 0 {
                break Ok(true);
            }
            let most = missing.min(CHUNK as u64) as usize;
            match sequential.read(&mut scratch[..most]) {
                Ok(0) => break self.ended().map(|()| false),
                Ok(_) => {}
                Err(error) => break Err(self.io_error(error)),
            }
        };
        self.scratch = scratch;
        result
    }

    /// The position lies before the decoder, and nobody knows how to read there: finds out, or begins again.
    fn look_back(&mut self) -> PyResult<()> {
        if !self.seekable() {
            return Err(PyValueError::new_err("the underlying file cannot seek"));
        }
        if self.open_hbz() {
            return Ok(());
        }
        let wanted = self.at;
        let mut scratch = vec![0; CHUNK];
        loop {
            let sequential = self.sequential();
            let index = sequential.recorder().and_then(Recorder::so_far);
            if let (Some(index), Some(recorder)) = (index, sequential.recorder().cloned())
                && wanted < index.text_len()
            {
                self.known = Known::Part(recorder);
                self.seeker = Some(seek::Reader::with_index(self.source.clone(), index, &self.settings));
                return Ok(());
            }
            // The block that the decoder is in: where it ends is known once the next has come. What is wrong with that
            // is no concern of this read.
            if !sequential.read_ahead(&mut scratch).unwrap_or(false) {
                break;
            }
        }
        let recorder = self.sequential().recorder().cloned();
        match recorder.and_then(|recorder| recorder.finish().ok()) {
            Some(index) => self.take_index(index),
            None => {
                self.sequential = None;
                Ok(())
            }
        }
    }

    /// Opens a `.hbz` file by its own index. Returns whether it is one, whole and undamaged.
    fn open_hbz(&mut self) -> bool {
        let mut magic = [0; hbz::MAGIC.len()];
        let mut filled = 0;
        while let Ok(n @ 1..) = self.source.read_at(&mut magic[filled..], filled as u64) {
            filled += n;
        }
        if magic != hbz::MAGIC {
            return false;
        }
        let Ok(seeker) = seek::Reader::open(self.source.clone(), &self.settings) else { return false };
        (self.seeker, self.known, self.sequential) = (Some(seeker), Known::Hbz, None);
        true
    }

    /// Bytes of text in the file. Without an index it is decoded to its end.
    fn text_len(&mut self) -> PyResult<u64> {
        self.after_fork()?;
        if self.complete().is_none() && !(self.seekable() && self.open_hbz()) {
            self.skip_to(u64::MAX)?;
        }
        Ok(match self.complete() {
            Some(seeker) => seeker.text_len(),
            None => self.sequential().at,
        })
    }

    /// The index of the whole file, which is made if there is none.
    fn index(&mut self) -> PyResult<&Index> {
        self.text_len()?;
        let index = self.complete().and_then(seek::Reader::index);
        index.ok_or_else(|| PyValueError::new_err("the file has no index: it is a pipe, or it has .hbz streams"))
    }

    /// The lines of offsets that are known so far, or of the whole file.
    fn offsets(&mut self, whole: bool) -> PyResult<Vec<(u64, u64)>> {
        self.after_fork()?;
        let mut lines = Vec::new();
        if whole || self.complete().is_some_and(|seeker| seeker.index().is_some()) {
            let written = self.index()?.write_offsets(&mut lines);
            written.map_err(|e| self.error(e))?;
            let text = String::from_utf8_lossy(&lines);
            let pair = |line: &str| line.split_once(',').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
            return Ok(text.lines().filter_map(pair).collect());
        }
        let index = self.sequential.as_ref().and_then(Sequential::recorder).and_then(Recorder::so_far);
        let index = index.as_ref().or(self.seeker.as_ref().and_then(seek::Reader::index));
        let blocks = index.into_iter().flat_map(Index::iter);
        blocks.map(|b| b.map(|b| (b.bit_offset, b.text_offset)).map_err(|e| self.error(e))).collect()
    }

    /// Where in the compressed file the block of the position begins, in bits.
    fn compressed_at(&mut self) -> PyResult<u64> {
        self.after_fork()?;
        let found = |index: &Index| index.find(self.at).map_err(|e| self.error(e));
        Ok(match (self.complete(), &self.sequential) {
            (Some(seeker), _) => match seeker.index().map(found).transpose()?.flatten() {
                Some(block) => block.bit_offset,
                None => seeker.index().map_or_else(|| self.source.len(), Index::coded_len) * 8,
            },
            (None, Some(sequential)) if self.at + self.at_hand.text().len() as u64 >= sequential.at => {
                sequential.recorder().and_then(Recorder::bit_offset).unwrap_or(0)
            }
            _ => match self.seeker.as_ref().and_then(seek::Reader::index).map(found).transpose()?.flatten() {
                Some(block) => block.bit_offset,
                None => 0,
            },
        })
    }
}

#[pymethods]
impl Reader {
    /// Reads `source`: a descriptor of a regular file, which the reader takes over, or an object with `read`. `base` is
    /// where the first byte is; `None` if the object cannot seek.
    #[new]
    #[pyo3(signature = (source, base, threads))]
    fn new(source: &Bound<'_, PyAny>, base: Option<u64>, threads: i64) -> PyResult<Self> {
        let settings = threads::settings(threads)?;
        let source = Source::of(source, base);
        let seekable = source.is_seekable();
        let state = State {
            source: Shared(Arc::new(source)),
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
        Ok(Reader { state: Guarded::new(state), seekable })
    }

    /// Whether the underlying file can seek.
    fn seekable(&self) -> bool {
        self.seekable
    }

    /// Fills a buffer, as far as there is text at hand. Returns the number of bytes; 0 at the end.
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
        // Not decoded into the buffer itself: whoever else has it may use it while the lock is not held.
        fill(&text)?;
        Ok(text.len())
    }

    /// Reads everything from the position on, or at most so many bytes.
    #[pyo3(signature = (size = None))]
    fn readall<'py>(&self, py: Python<'py>, size: Option<usize>) -> PyResult<Bound<'py, PyBytes>> {
        let text = py.detach(|| {
            let mut state = self.state.lock()?;
            state.begun = true;
            let known = state.complete().map_or(0, |seeker| seeker.text_len().saturating_sub(state.at));
            let known = usize::try_from(known).unwrap_or(usize::MAX);
            let most = size.unwrap_or(usize::MAX);
            let mut text = Vec::new();
            text.try_reserve(known.min(most)).map_err(io::Error::from)?;
            loop {
                let filled = text.len();
                text.resize(filled.saturating_add(CHUNK).min(most), 0);
                match state.read(&mut text[filled..]) {
                    Ok(0) => {
                        text.truncate(filled);
                        return Ok::<_, PyErr>(text);
                    }
                    Ok(n) => text.truncate(filled + n),
                    Err(error) => {
                        // As if nothing had been read.
                        let at = state.at - filled as u64;
                        state.go_to(at);
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
            // Whether there is so much text is found out as `bz2` does it: by going there.
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

    /// Bytes of text.
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.state.lock()?.text_len())
    }

    /// Where in the compressed file the block of the position begins, in bits.
    fn tell_compressed(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.state.lock()?.compressed_at())
    }

    /// Whether the index of the whole file is known.
    fn block_offsets_complete(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| Ok(self.state.lock()?.complete().is_some()))
    }

    /// Where blocks begin, as `{bits: bytes}`: of the whole file, or those that are known.
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

    /// Cuts the text at ends of blocks into ranges of at least so many bytes. Returns of each where it begins and
    /// ends, and the index of its blocks and of those with the next `ahead` bytes.
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

    /// Takes the index of a part of the file, which is all that can be read then.
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
