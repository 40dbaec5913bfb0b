//! A reader's position, and its ways to get text: see [`crate::reader`].

use crate::errors;
use crate::sequential::{AtHand, Sequential};
use crate::signals::Signals;
use crate::source::Shared;
use hybz::index::{Index, Recorder};
use hybz::{Format, ReadAt, Settings, seek};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::io;
use std::sync::Arc;

/// The maximum of the first read, so that looking at the beginning of a file costs no more. (`bz2` has the same limit.)
pub(crate) const FIRST: usize = 8 << 10;
/// The maximum of any later read.
pub(crate) const CHUNK: usize = 1 << 20;
/// The amount of held text. Smaller reads that continue where the last one ended are served from it, without giving up
/// the interpreter's lock. Getting the lock back takes 5 ms while another Python thread computes, so reads of 64 KiB
/// would reach at most 13 MB/s.
pub(crate) const SMALL: usize = 256 << 10;

/// The state of a reader.
pub(crate) struct State {
    pub source: Shared,
    pub settings: Settings,
    /// The process to which decoder and seeker belong.
    pub process: u32,
    /// The position in the text at which the next read begins.
    pub at: u64,
    pub begun: bool,
    pub sequential: Option<Sequential>,
    pub seeker: Option<seek::Reader<Shared>>,
    /// The index from which the seeker is made.
    pub known: Known,
    pub scratch: Vec<u8>,
    pub at_hand: AtHand,
    /// The position at which the last read ended.
    pub last: u64,
}

/// The part of the file that the seeker knows.
pub(crate) enum Known {
    Nothing,
    Part(Recorder),
    /// The index as a `.bzi`.
    Whole(Arc<Vec<u8>>),
    /// A `.hbz` file, which contains its index.
    Hbz,
}

impl State {
    /// For the child of a fork: threads exist only in the parent, so decoder and seeker are made anew.
    pub fn after_fork(&mut self) -> PyResult<()> {
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

    /// Opens the seeker with the known index.
    pub fn open_known(&mut self) -> PyResult<()> {
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
    pub fn take_index(&mut self, index: Index) -> PyResult<()> {
        let mut bytes = Vec::new();
        index.write(&mut bytes).map_err(|e| self.error(e))?;
        self.known = Known::Whole(Arc::new(bytes));
        self.seeker = Some(seek::Reader::with_index(self.source.clone(), index, &self.settings));
        self.sequential = None;
        Ok(())
    }

    pub fn error(&self, error: hybz::Error) -> PyErr {
        let raised = || self.source.0.named(errors::of(error, errors::Stream::Pieces));
        self.source.0.raised().unwrap_or_else(raised)
    }

    pub fn io_error(&self, error: io::Error) -> PyErr {
        if let Some(raised) = self.source.0.raised() {
            return raised;
        }
        let head = self.sequential.as_ref().map(|sequential| &sequential.decoder.get_ref().head);
        let is_none = matches!(error.get_ref().and_then(|e| e.downcast_ref()), Some(hybz::Error::NotBzip2));
        self.source.0.named(match head {
            Some(head) if is_none && errors::is_cut_header(head) => errors::cut(errors::Stream::Pieces),
            _ => errors::of_io(error),
        })
    }

    /// The seeker, if it knows the whole file.
    pub fn complete(&self) -> Option<&seek::Reader<Shared>> {
        self.seeker.as_ref().filter(|_| matches!(self.known, Known::Whole(_) | Known::Hbz))
    }

    pub fn seekable(&self) -> bool {
        self.source.0.is_seekable()
    }

    /// The decoder, from the beginning if there is none.
    pub fn sequential(&mut self) -> &mut Sequential {
        self.sequential.get_or_insert_with(|| Sequential::new(&self.source, &self.settings))
    }

    /// Handles the decoder's end: it has recorded the whole file's index, unless there are `.hbz` streams.
    pub fn ended(&mut self) -> PyResult<()> {
        let recorder = self.sequential.as_ref().and_then(Sequential::recorder).cloned();
        let index = recorder.filter(|_| self.seekable()).and_then(|recorder| recorder.finish().ok());
        index.map_or(Ok(()), |index| self.take_index(index))
    }

    /// Copies some of the held text.
    pub fn read_at_hand(&mut self, buf: &mut [u8]) -> usize {
        let text = self.at_hand.text();
        let n = text.len().min(buf.len());
        buf[..n].copy_from_slice(&text[..n]);
        self.advance(n);
        n
    }

    /// Records that this much of the held text has been read.
    pub fn advance(&mut self, n: usize) {
        self.at_hand.consume(n);
        self.at += n as u64;
        self.last = self.at;
    }

    /// Moves the position.
    pub fn go_to(&mut self, at: u64) {
        self.at_hand.moved(at.checked_sub(self.at));
        self.at = at;
    }

    /// Goes back to the position from which `text` was read. `text` is kept if it could not be read again.
    pub fn put_back(&mut self, begin: u64, mut text: Vec<u8>) {
        if self.seekable() {
            self.go_to(begin);
            return;
        }
        text.extend_from_slice(self.at_hand.text());
        self.at_hand = AtHand::new(text);
        (self.at, self.last) = (begin, begin);
    }

    /// Reads some text from the position on; nothing at the end.
    pub fn read(&mut self, buf: &mut [u8]) -> PyResult<usize> {
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

    /// Reads some text without using the held text and without moving the position.
    pub fn read_on(&mut self, buf: &mut [u8]) -> PyResult<usize> {
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

    /// Decodes up to a position. Returns whether the text goes so far; if not, it has been decoded to its end.
    pub fn skip_to(&mut self, to: u64) -> PyResult<bool> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.resize(CHUNK, 0);
        let mut signals = Signals::new();
        let result = loop {
            if let Err(error) = signals.check() {
                break Err(error);
            }
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

    /// Handles a position that is before the decoder's and that no index covers: makes an index, or begins again.
    pub fn look_back(&mut self) -> PyResult<()> {
        if !self.seekable() {
            return Err(PyValueError::new_err("the underlying file cannot seek"));
        }
        if self.open_hbz() {
            return Ok(());
        }
        let wanted = self.at;
        let (mut scratch, mut signals) = (vec![0; CHUNK], Signals::new());
        loop {
            signals.check()?;
            let sequential = self.sequential();
            let index = sequential.recorder().and_then(Recorder::so_far);
            if let (Some(index), Some(recorder)) = (index, sequential.recorder().cloned())
                && wanted < index.text_len()
            {
                self.known = Known::Part(recorder);
                self.seeker = Some(seek::Reader::with_index(self.source.clone(), index, &self.settings));
                return Ok(());
            }
            // The end of the decoder's current block is known once the next block has come. Errors in the next block do
            // not concern this read.
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
    pub fn open_hbz(&mut self) -> bool {
        let mut magic = [0; Format::HEAD_LEN];
        let mut filled = 0;
        while let Ok(n @ 1..) = self.source.read_at(&mut magic[filled..], filled as u64) {
            filled += n;
        }
        if Format::of(&magic) != Some(Format::Hbz) {
            return false;
        }
        let Ok(seeker) = seek::Reader::open(self.source.clone(), &self.settings) else { return false };
        (self.seeker, self.known, self.sequential) = (Some(seeker), Known::Hbz, None);
        true
    }

    /// The number of bytes of text in the file. Without an index the file is decoded to its end.
    pub fn text_len(&mut self) -> PyResult<u64> {
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
    pub fn index(&mut self) -> PyResult<&Index> {
        self.text_len()?;
        let index = self.complete().and_then(seek::Reader::index);
        index.ok_or_else(|| PyValueError::new_err("the file has no index: it is a pipe, or it has .hbz streams"))
    }

    /// The lines of offsets that are known so far, or of the whole file.
    pub fn offsets(&mut self, whole: bool) -> PyResult<Vec<(u64, u64)>> {
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

    /// The position in the compressed file, in bits, of the block at the text position.
    pub fn compressed_at(&mut self) -> PyResult<u64> {
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
