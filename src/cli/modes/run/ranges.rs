//! `--ranges`: a reader of parts of the text, one after the other. The flow copies them to their destination.
//!
//! With an index, only blocks that contain a wanted byte are decoded. Without an index, all stations decode everything
//! from the beginning to the end of the last part; if parts go backwards, an index is made first.

use crate::cli::args::{Amount, Range};
use crate::cli::files::Seen;
use hybz::index::Index;
use hybz::internals::Sequential;
use hybz::read::MultiBzDecoder;
use hybz::seek::Reader;
use hybz::{ReadAt, Settings};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::vec;

/// The number of bytes searched for line ends in one step.
const PIECE: usize = 64 << 10;
/// The number of bytes whose line ends are counted at once.
const STRETCH: usize = 256;

pub type Coded = Arc<dyn ReadAt>;

pub struct Parts {
    text: Cursor,
    ranges: vec::IntoIter<Range>,
    lines: bool,
    now: Now,
    /// The end of the last range of whole lines. If set, `text` is at the first line that begins there or later.
    ended: Option<u64>,
    /// The range that is being read, until it has given a byte.
    empty: Option<Range>,
    seen: Option<Arc<Seen>>,
}

#[derive(Clone, Copy)]
enum Now {
    Next,
    UpTo(u64),
    /// Everything up to this byte, and then the rest of the line, unless the last byte was a line end.
    LinesUpTo {
        end: u64,
        at_start: bool,
    },
    Lines(u64),
}

impl Parts {
    /// These ranges of a text; with `lines`, the lines that begin in them.
    /// Notes in `seen` the first range that begins at the end of the text or after it. (With whole lines an empty
    /// range proves nothing, because perhaps no line begins in it.)
    pub fn new(text: Cursor, ranges: Vec<Range>, lines: bool, seen: &Arc<Seen>) -> Parts {
        let (ranges, seen) = (ranges.into_iter(), (!lines).then(|| Arc::clone(seen)));
        Parts { text, ranges, lines, now: Now::Next, ended: None, empty: None, seen }
    }

    /// Notes the last range, if it was not empty and did not begin at the beginning of the text, but gave no byte.
    fn note_empty(&mut self) {
        let none = |amount: Amount| matches!(amount, Amount::Bytes(0) | Amount::Lines(0));
        if let (Some(range), Some(seen)) = (self.empty.take(), &self.seen)
            && !none(range.size)
            && !none(range.offset)
        {
            let _ = seen.beyond.set(range); // only the first is recorded
        }
    }

    /// Goes to the start of a range. Returns what to read there.
    fn begin(&mut self, range: Range) -> io::Result<Now> {
        match (range.bytes(), range.offset) {
            (Some((from, end)), _) if self.lines => return self.first_line(from, end),
            (_, Amount::Bytes(from)) => self.text.go(from)?,
            (_, Amount::Lines(line)) => self.text.go_to_line(line)?,
            (_, Amount::All) => {}
        }
        Ok(match range.size {
            Amount::Bytes(len) => Now::UpTo(self.text.at.saturating_add(len)),
            Amount::Lines(count) => Now::Lines(count),
            Amount::All => Now::UpTo(u64::MAX),
        })
    }

    /// Goes to the first line that begins at byte `from` or after it. A line begins after a line end.
    fn first_line(&mut self, from: u64, end: u64) -> io::Result<Now> {
        if from >= end {
            return Ok(Now::UpTo(0));
        }
        // The current position may be that line already, if the range before this one ended with the line before it.
        let is_there = self.ended.is_some_and(|ended| ended <= from) && self.text.at >= from;
        self.ended = Some(end);
        if !is_there {
            self.text.go(from.saturating_sub(1))?;
            if from > 0 {
                self.text.pass_line_ends(1)?;
            }
        }
        Ok(if self.text.at < end { Now::LinesUpTo { end, at_start: true } } else { Now::UpTo(0) })
    }
}

impl Read for Parts {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            let n = match self.now {
                Now::Next => {
                    self.note_empty();
                    let Some(range) = self.ranges.next() else { return Ok(0) };
                    self.empty = Some(range);
                    self.now = self.begin(range)?;
                    continue;
                }
                Now::UpTo(end) => self.text.copy(buf, end.saturating_sub(self.text.at))?,
                Now::LinesUpTo { end, at_start } if self.text.at < end => {
                    let n = self.text.copy(buf, end - self.text.at)?;
                    let at_start = if n > 0 { buf[n - 1] == b'\n' } else { at_start };
                    self.now = Now::LinesUpTo { end, at_start };
                    n
                }
                Now::LinesUpTo { at_start: true, .. } | Now::Lines(0) => 0,
                Now::LinesUpTo { .. } => self.copy_lines(buf, 1)?,
                Now::Lines(count) => self.copy_lines(buf, count)?,
            };
            if n > 0 {
                self.empty = None;
                return Ok(n);
            }
            self.now = Now::Next;
        }
    }
}

impl Parts {
    fn copy_lines(&mut self, buf: &mut [u8], count: u64) -> io::Result<usize> {
        let piece = self.text.piece()?;
        let piece = &piece[..piece.len().min(buf.len())];
        let (n, ends) = up_to_line_end(piece, count);
        buf[..n].copy_from_slice(&piece[..n]);
        self.text.consume(n);
        self.now = Now::Lines(count - ends);
        Ok(n)
    }
}

/// The length of the longest prefix of `piece` with at most `most` line ends, and how many it has. Little more than
/// the prefix is searched, because a piece may have many ranges.
fn up_to_line_end(piece: &[u8], most: u64) -> (usize, u64) {
    let mut ends = 0;
    for (i, stretch) in piece.chunks(STRETCH).enumerate() {
        let more = line_ends(stretch);
        if ends + more >= most {
            let Some(last) = (most - ends).checked_sub(1) else { return (i * STRETCH, most) };
            let at = stretch.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(last as usize);
            return (at.map_or(0, |(at, _)| i * STRETCH + at + 1), most);
        }
        ends += more;
    }
    (piece.len(), ends)
}

fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

pub struct Cursor {
    text: BufReader<Way>,
    at: u64,
    /// The line at offset `at`, if known.
    line: Option<Line>,
}

#[derive(Clone, Copy)]
struct Line {
    /// The number of line ends before a place in the text.
    ends: u64,
    /// Whether a line begins at the place. None begins at the end of a text that ends without a line end.
    begins: bool,
}

impl Line {
    const FIRST: Line = Line { ends: 0, begins: true };

    fn after(self, bytes: &[u8]) -> Line {
        let Some(last) = bytes.last() else { return self };
        Line { ends: self.ends + line_ends(bytes), begins: *last == b'\n' }
    }

    /// The number of line ends from the place to the start of `line` (counted from 0), unless the line starts before
    /// the place.
    fn to(self, line: u64) -> Option<u64> {
        line.checked_sub(self.ends).filter(|ends| *ends > 0 || self.begins)
    }
}

enum Way {
    Indexed(Box<Reader<Coded>>),
    /// By decoding everything before it.
    Forward {
        coded: Coded,
        settings: Settings,
        decoder: Box<MultiBzDecoder<Sequential<Coded>>>,
    },
}

impl Cursor {
    pub fn indexed(reader: Reader<Coded>) -> Cursor {
        Cursor::new(Way::Indexed(Box::new(reader)))
    }

    pub fn forward(coded: Coded, settings: Settings) -> Cursor {
        let decoder = Box::new(MultiBzDecoder::with_settings(Sequential { source: coded.clone(), at: 0 }, &settings));
        Cursor::new(Way::Forward { coded, settings, decoder })
    }

    fn new(way: Way) -> Cursor {
        Cursor { text: BufReader::with_capacity(PIECE, way), at: 0, line: Some(Line::FIRST) }
    }

    /// Goes to a byte of the text, or to the end of a shorter text.
    fn go(&mut self, to: u64) -> io::Result<()> {
        if to == self.at {
            return Ok(());
        }
        self.line = (to == 0).then_some(Line::FIRST);
        let is_indexed = matches!(self.text.get_ref(), Way::Indexed(_));
        if is_indexed || to < self.at {
            self.at = self.text.seek(SeekFrom::Start(if is_indexed { to } else { 0 }))?;
        }
        while self.at < to {
            let n = self.piece()?.len();
            if n == 0 {
                break;
            }
            self.consume(n.min(usize::try_from(to - self.at).unwrap_or(usize::MAX)));
        }
        Ok(())
    }

    /// Goes to the beginning of this line, counted from 0.
    fn go_to_line(&mut self, line: u64) -> io::Result<()> {
        let index = match self.text.get_ref() {
            Way::Indexed(reader) => reader.index(),
            Way::Forward { .. } => None,
        };
        // If the index does not count line ends, everything before the line is decoded.
        let lines = index.map_or(Ok(None), Index::lines)?;
        if let (Some(index), Some(all)) = (index, lines)
            && line > all
        {
            return self.go(index.text_len());
        }
        let block = match index.filter(|_| lines.is_some()) {
            Some(index) => index.find_line_end(line)?,
            None => None,
        };
        // The index's block contains the line end before `line`, so a place at or after the block's start is at least
        // as near to the line as the block is.
        let nearer = |at: u64| block.as_ref().is_none_or(|block| block.text_offset <= at);
        let ends = match (self.line.and_then(|here| here.to(line)), block) {
            (Some(ends), _) if nearer(self.at) => ends,
            (_, Some(block)) => {
                self.go(block.text_offset)?;
                let ends = block.lines_before.unwrap_or(0);
                self.line.get_or_insert(Line { ends, begins: false });
                // The line end before the line is in the block.
                line.saturating_sub(ends)
            }
            (_, None) => {
                self.go(0)?;
                line
            }
        };
        self.pass_line_ends(ends)
    }

    fn pass_line_ends(&mut self, mut count: u64) -> io::Result<()> {
        while count > 0 {
            let (n, ends) = up_to_line_end(self.piece()?, count);
            if n == 0 {
                break;
            }
            self.consume(n);
            count -= ends;
        }
        Ok(())
    }

    fn copy(&mut self, buf: &mut [u8], most: u64) -> io::Result<usize> {
        let most = buf.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        let counts = !self.text.buffer().is_empty();
        let n = self.text.read(&mut buf[..most])?;
        self.line = self.line.filter(|_| counts || n == 0).map(|line| line.after(&buf[..n]));
        self.at += n as u64;
        Ok(n)
    }

    fn piece(&mut self) -> io::Result<&[u8]> {
        self.text.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        let used = &self.text.buffer()[..n];
        self.line = self.line.map(|line| line.after(used));
        self.text.consume(n);
        self.at += n as u64;
    }
}

impl Read for Way {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Way::Indexed(reader) => reader.read(buf),
            Way::Forward { decoder, .. } => decoder.read(buf),
        }
    }
}

impl Seek for Way {
    /// Without an index, seeks to the beginning only.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Way::Indexed(reader) => reader.seek(to),
            Way::Forward { coded, settings, decoder } => {
                **decoder = MultiBzDecoder::with_settings(Sequential { source: coded.clone(), at: 0 }, settings);
                Ok(0)
            }
        }
    }
}

/// Whether these ranges can be read in this order without going back.
pub fn are_ascending(ranges: &[Range]) -> bool {
    let ascend = |of: fn(&Range) -> Option<(u64, u64)>| {
        let places: Option<Vec<_>> = ranges.iter().map(of).collect();
        places.is_some_and(|places| places.windows(2).all(|pair| pair[0].1 <= pair[1].0))
    };
    ranges.len() == 1 || ascend(Range::bytes) || ascend(Range::lines)
}

#[cfg(test)]
mod tests;
