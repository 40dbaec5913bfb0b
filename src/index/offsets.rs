//! Lines of offsets, `bits,bytes`: indexed_bzip2 and rapidgzip make them of a `.bz2` file (`block_offsets`, `ibzip2
//! -L`), and ratarmount keeps them.
//!
//! Observed with indexed_bzip2 1.7.0 and rapidgzip 0.15.2: a line for each block has the bit at which the block begins
//! and the number of bytes of text before it. Where a stream ends there is a line for its end record, so its byte
//! offset occurs twice. The parallel readers leave out streams without blocks, and add a line for the end of the last
//! stream. The serial one has a line for the end of each stream, and none for the end of the file. For a file without
//! blocks the parallel readers write `0,0`. We write what the parallel readers write, and read both.
//!
//! The lines lack CRCs, levels and streams. These are read from the compressed file, some bytes for each line, and so
//! is everything between the end of a stream and the next block. The result is the same index that decoding makes,
//! without line ends.
//!
//! The lines have no checksums. Lines that contradict the file are refused here; [`Index::open`] checks the length of
//! the last block's text.

use super::{Index, Recorder};
use crate::error::Error;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_BITS, END_MAGIC, HEADER_BITS, Level, MAX_BLOCK_BITS};
use crate::formats::bzip2::stream::items::{Head, level_at};
use crate::index::bzi::RecordKind;
use crate::read_at::{Positioned, ReadAt};
use crate::summary::StreamInfo;
use std::io::{BufRead, BufReader, Read, Write};

/// The max length of a line: two numbers of 20 digits, a comma, blanks, a line end.
const MAX_LINE: usize = 64;

/// Whether lines of offsets could begin with these bytes.
pub(super) fn may_be(bytes: &[u8]) -> bool {
    let first = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    first.is_some_and(|at| bytes[at].is_ascii_digit()) && bytes.iter().take(16).all(u8::is_ascii)
}

/// Writes the lines.
pub(super) fn write(index: &Index, out: &mut dyn Write) -> Result<(), Error> {
    let mut line = |bits: u64, text: u64| writeln!(out, "{bits},{text}").map_err(Error::Write);
    let mut has_blocks = false;
    let mut end = 0;
    for number in 0..index.header.records {
        let record = index.record(number)?;
        match record.kind {
            RecordKind::EndOfStream if !has_blocks => continue,
            RecordKind::EndOfStream => end = (record.bit_offset + END_BITS).next_multiple_of(8),
            RecordKind::EndOfData => return line(end, record.text_offset),
            RecordKind::Block => {}
        }
        has_blocks = record.kind == RecordKind::Block;
        line(record.bit_offset, record.text_offset)?;
    }
    Ok(())
}

/// Reads the lines for the compressed file `file`.
pub(super) fn read(lines: &dyn ReadAt, file: &dyn ReadAt) -> Result<Index, Error> {
    let mut lines = Lines(BufReader::new(Positioned { source: lines, at: 0 }));
    let mut import = Import { file, recorder: Recorder::new(), at: 0, stream: None };
    let mut this = lines.next()?.ok_or(Error::NotAnIndex)?;
    if this.1 != 0 {
        return Err(Error::BadIndex("its first line is not the beginning of the text"));
    }
    while let Some(next) = lines.next()? {
        if next.0 <= this.0 || next.1 < this.1 {
            return Err(Error::BadIndex("its lines are not in order"));
        }
        if next.1 > this.1 {
            import.block(this.0, next.0, next.1 - this.1)?;
        } else {
            import.end_of_stream(this.0)?;
        }
        this = next;
    }
    import.end_of_data(this.0)?;
    import.finish()
}

/// The lines, one after the other.
struct Lines<R>(R);

impl<R: BufRead> Lines<R> {
    /// The next line that is not blank.
    fn next(&mut self) -> Result<Option<(u64, u64)>, Error> {
        loop {
            let mut line = Vec::new();
            let read = (&mut self.0).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).map_err(Error::Read)?;
            if read > MAX_LINE {
                return Err(Error::NotAnIndex);
            }
            match line.trim_ascii() {
                b"" if read == 0 => return Ok(None),
                b"" => {}
                text => return parse(text).map(Some).ok_or(Error::NotAnIndex),
            }
        }
    }
}

/// The two numbers of a line. Blanks around them are allowed, signs are not.
fn parse(line: &[u8]) -> Option<(u64, u64)> {
    let number = |text: &str| {
        let text = text.trim_ascii();
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
    };
    let (bits, bytes) = str::from_utf8(line).ok()?.split_once(',')?;
    Some((number(bits)?, number(bytes)?))
}

/// Builds an index from the starts of blocks and from the data between blocks in the file.
struct Import<'a> {
    file: &'a dyn ReadAt,
    recorder: Recorder,
    /// The bit at which the next block or end must begin.
    at: u64,
    /// The number and level of the open stream.
    stream: Option<(u64, Level)>,
}

impl Import<'_> {
    fn foreign<T>(&self) -> Result<T, Error> {
        Err(Error::ForeignIndex { bit_offset: self.at })
    }

    /// Adds the block from `bit` to `end`.
    fn block(&mut self, bit: u64, end: u64, text_len: u64) -> Result<(), Error> {
        while self.at < bit {
            self.step()?;
        }
        let (Some((stream, level)), Some((BLOCK_MAGIC, crc)), true) =
            (self.stream, Head::at(self.file, bit)?.whole(), self.at == bit)
        else {
            return self.foreign();
        };
        if end - bit > MAX_BLOCK_BITS {
            return Err(Error::BadIndex("it leaves blocks out"));
        }
        self.recorder.block_without_lines(bit, stream, Some(level), crc, text_len);
        self.at = end;
        Ok(())
    }

    /// Two lines have the same byte offset: a stream must end at `bit`.
    fn end_of_stream(&mut self, bit: u64) -> Result<(), Error> {
        while self.at < bit {
            self.step()?;
        }
        if self.at != bit || self.stream.is_none() {
            return self.foreign();
        }
        self.step()
    }

    /// Handles the last line, which is at `bit`. After the last stream with blocks, its position may be anywhere in the
    /// file: the parallel readers write the end of a stream there, or 0 if there are no blocks.
    fn end_of_data(&self, bit: u64) -> Result<(), Error> {
        let is_there = (self.at..=self.file.len().saturating_mul(8)).contains(&bit);
        if is_there { Ok(()) } else { Err(Error::BadIndex("its last line is not at the end of the data")) }
    }

    /// Skips the data between blocks: the end of a stream, or a stream's header.
    fn step(&mut self) -> Result<(), Error> {
        if let Some((number, level)) = self.stream {
            let Some((END_MAGIC, combined_crc)) = Head::at(self.file, self.at)?.whole() else { return self.foreign() };
            let info = StreamInfo::bzip2(number, Some(level), self.at, combined_crc);
            self.recorder.stream(&info);
            (self.at, self.stream) = (info.end * 8, None);
            return Ok(());
        }
        let Some(level) = level_at(self.file, self.at)? else { return self.foreign() };
        self.stream = Some((self.recorder.streams() + 1, level));
        self.at += HEADER_BITS;
        Ok(())
    }

    /// Skips, after the last block, the end of its stream and streams without blocks.
    fn finish(mut self) -> Result<Index, Error> {
        while self.at == 0 || self.stream.is_some() || level_at(self.file, self.at)?.is_some() {
            self.step()?;
        }
        self.recorder.finish()
    }
}
