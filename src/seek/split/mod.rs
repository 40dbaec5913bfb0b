//! Reads a part of a `.bz2` file that is given by its compressed bytes, without an index and without the file's
//! beginning: `start` finds the first block by what lies `around` a byte, `part` follows the blocks from there.

mod around;
mod part;
mod start;

use crate::block::Text;
use crate::error::Error;
use crate::read_at::ReadAt;
use crate::settings::Settings;
use crate::stream::cursor::TextCursor;
use part::Part;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

type Source = Arc<dyn ReadAt>;

/// Reads the text of the blocks that begin in some of a `.bz2` file's bytes.
///
/// The parts of a file together are its text: each block is in exactly one part, and no part needs an index, or
/// anything of the file but its own bytes, up to 2.5 MiB before them, and the rest of its last block. Any number of
/// processes can therefore share the reading, one for each part.
///
/// ```
/// use hybz::{Settings, seek::SplitReader};
/// use std::{io::Read, sync::Arc};
/// let text: Vec<u8> = (0..100_000).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
/// let file: Arc<dyn hybz::ReadAt> = Arc::new(hybz::compress(&text, &Settings::new())?);
/// let mut parts = Vec::new();
/// for number in 0..3 {
///     let bytes = SplitReader::bytes_of_part(number, 3, file.len());
///     SplitReader::new(file.clone(), bytes, true, &Settings::new()).read_to_end(&mut parts)?;
/// }
/// assert!(parts == text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Magics in the data of blocks mislead no part, nor do blocks within the data of blocks. Damage is an error of the
/// part in which the damaged block begins. Block numbers in errors count from the part's first block, bit offsets from
/// the file's first bit. Two checks need the beginning of a stream, and are left out in its other parts: whether blocks
/// are longer than its level allows, and its combined CRC. Garbage after the last stream is ignored, unless something
/// in it looks like a block; that is [`Error::TrailingGarbage`] in the part in which the garbage begins.
pub struct SplitReader {
    file: Source,
    bytes: Range<u64>,
    lines: bool,
    settings: Settings,
    part: Option<Part>,
    state: State,
    output: TextCursor,
}

/// The text to read next.
enum State {
    /// Nothing is open yet.
    Closed,
    /// The line that belongs to the previous part.
    FirstLine,
    /// The text of the part's own blocks.
    Own,
    /// The rest of the last line, in blocks of the next parts.
    LastLine,
    Ended,
    Failed(Error),
}

impl SplitReader {
    /// Reads the blocks of `file` that begin in this range of its bytes. If the bytes go up to the file's end or
    /// beyond, so does the part. Nothing is read before the first read of text.
    ///
    /// With `lines`, the part has whole lines: those that begin after the first byte of the text of its blocks, up to
    /// the one that begins right after that text; the first part also has the first line. Each line of the file is
    /// therefore in exactly one part, and a part may need blocks of the next parts for the rest of its last line.
    pub fn new(file: Arc<dyn ReadAt>, bytes: Range<u64>, lines: bool, settings: &Settings) -> SplitReader {
        let (settings, output) = (settings.clone(), TextCursor::default());
        SplitReader { file, bytes, lines, settings, part: None, state: State::Closed, output }
    }

    /// The bytes of one of `parts` parts of about the same length, numbered from 0, of a file of `len` bytes. There is
    /// at least one part.
    pub fn bytes_of_part(number: u64, parts: u64, len: u64) -> Range<u64> {
        let parts = parts.max(1);
        let begin = |number: u64| (u128::from(len) * u128::from(number.min(parts)) / u128::from(parts)) as u64;
        begin(number)..begin(number.saturating_add(1))
    }

    /// The bit at which the part ends.
    fn stop(&self) -> u64 {
        if self.bytes.end >= self.file.len() { u64::MAX } else { self.bytes.end.saturating_mul(8) }
    }

    fn open(&mut self) -> Result<(), Error> {
        let (stop, len) = (self.stop(), self.file.len());
        if len > 0 && (self.bytes.is_empty() || self.bytes.start >= len) {
            self.state = State::Ended;
            return Ok(());
        }
        self.part = Some(start::find_start(&self.file, self.bytes.start, stop, &self.settings)?);
        self.state = if self.lines && self.bytes.start > 0 { State::FirstLine } else { State::Own };
        Ok(())
    }

    /// The text of the next block for the current state.
    fn block(&mut self) -> Result<Option<Text>, Error> {
        let Some(part) = &mut self.part else { return Ok(None) };
        loop {
            let text = part.next()?;
            if text.is_some() || !matches!(self.state, State::LastLine) || !part.go_on_by_one() {
                return Ok(text);
            }
        }
    }

    /// Makes some output available, unless the part has ended.
    fn fill(&mut self) -> Result<(), Error> {
        while self.output.next().is_empty() {
            match self.state {
                State::Closed => self.open()?,
                State::Ended | State::Failed(_) => break,
                _ => match self.block()? {
                    Some(text) => self.output.set(text),
                    None if self.lines && matches!(self.state, State::Own) && self.bytes.end < self.file.len() => {
                        self.state = State::LastLine;
                    }
                    None => self.state = State::Ended,
                },
            }
        }
        Ok(())
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Result<usize, Error> {
        loop {
            self.fill()?;
            let bytes = self.output.next();
            let line_end = |bytes: &[u8]| bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            match self.state {
                _ if bytes.is_empty() => return Ok(0),
                State::FirstLine => {
                    let end = line_end(bytes);
                    let n = end.unwrap_or(bytes.len());
                    self.output.consume(n);
                    if end.is_some() {
                        self.state = State::Own;
                    }
                }
                _ => {
                    let bytes = &bytes[..bytes.len().min(buf.len())];
                    let end = if matches!(self.state, State::LastLine) { line_end(bytes) } else { None };
                    let n = end.unwrap_or(bytes.len());
                    buf[..n].copy_from_slice(&bytes[..n]);
                    self.output.consume(n);
                    if end.is_some() {
                        self.end();
                    }
                    return Ok(n);
                }
            }
        }
    }

    fn end(&mut self) {
        (self.part, self.output, self.state) = (None, TextCursor::default(), State::Ended);
    }
}

impl Read for SplitReader {
    /// Reads on.
    ///
    /// # Errors
    /// An error of reading the file, or an [`Error`] inside; every later call returns the same error again.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        if let State::Failed(error) = &self.state {
            return Err(error.again().into());
        }
        self.try_read(buf).map_err(|error| {
            self.end();
            self.state = State::Failed(error.again());
            error.into()
        })
    }
}

impl fmt::Debug for SplitReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitReader").field("bytes", &self.bytes).field("lines", &self.lines).finish_non_exhaustive()
    }
}
