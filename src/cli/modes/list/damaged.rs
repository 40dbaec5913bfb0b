//! Continues where the decoder of a `.bz2` stopped: lists the damaged places, and the good blocks after them.
//!
//! The search is `--recover`'s, in the rest of the file. It begins with the damaged stream, not with the damaged block:
//! only the header and the end of the stream tell whether a block has no other damage than a wrong CRC field.

use super::HEADER_LEN;
use super::table::Row;
use hybz::recover::{Block, Cause, Found, Hole, What, recover};
use hybz::{Error, Format, Pool, ReadAt, Settings, StreamInfo};
use std::borrow::Cow;
use std::fs::File;
use std::io;

/// The length of the header of a stream, and of its end, in bits.
const HEADER_BITS: u64 = 32;
const END_BITS: u64 = 80;

/// A file from a given byte on, because the caller may have read from its descriptor already.
pub struct FileFrom {
    pub file: File,
    pub from: u64,
}

impl ReadAt for FileFrom {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, self.from.saturating_add(offset))
    }

    fn len(&self) -> u64 {
        self.file.metadata().map_or(0, |found| found.len().saturating_sub(self.from))
    }
}

/// Appends rows for the data after the blocks that have rows: in the stream after `last`, and in those after that
/// stream.
pub fn go_on(
    file: FileFrom,
    pool: &Pool,
    advance: impl Fn(u64),
    last: Option<&StreamInfo>,
    rows: &mut Vec<Row>,
) -> Result<(), Error> {
    let (streams, begin) = last.map_or((0, 0), |last| (last.number, last.end));
    let file = FileFrom { from: file.from + begin, ..file };
    let mut head = [0; HEADER_LEN];
    if file.read_at(&mut head, 0).map_err(Error::Read)? < head.len() || !Format::Bzip2.fits(&head) {
        return Ok(()); // a stream of another format
    }
    let before = rows.iter().take_while(|row| row.stream.is_some_and(|stream| stream <= streams));
    let (number, text_len) = before.fold((0, 0), |(n, len), row| (n + 1, len + row.text_len.unwrap_or(0)));
    let mut rest = AfterDamage {
        begin: begin * 8,
        text_begin: text_len,
        listed: rows.last().map(|row| row.bit_offset),
        number: Some(number),
        stream: Some(streams + 1),
        end: begin * 8 + HEADER_BITS,
        mended: None,
        rows,
    };
    recover(&file, &Settings::new().pool(pool), None, |found| {
        match found {
            Found::Block(block) => {
                advance(begin + block.bits.end / 8);
                rest.block(&block);
            }
            Found::Hole(hole) => rest.hole(&hole),
            Found::Remark(remark) if matches!(remark.what, What::Magic | What::BlockCrc) => {
                rest.mended = Some(remark.what); // the text offset of the next block
            }
            _ => {}
        }
        Ok(())
    })
    .map(drop)
}

/// Turns the blocks and damaged places that are found into rows.
struct AfterDamage<'a> {
    /// The place's start in the file, in bits, and in the text.
    begin: u64,
    text_begin: u64,
    /// The start of the last block that the decoder found.
    listed: Option<u64>,
    /// The number of the last block, until blocks are lost.
    number: Option<u64>,
    /// The number of the stream, while it is known.
    stream: Option<u64>,
    /// The end of the last block, in bits.
    end: u64,
    mended: Option<What>,
    rows: &'a mut Vec<Row>,
}

impl AfterDamage<'_> {
    fn block(&mut self, block: &Block) {
        let begin = self.begin + block.bits.start;
        let next_stream = (self.end + END_BITS).next_multiple_of(8) + HEADER_BITS;
        self.stream = match self.stream {
            Some(stream) if begin == next_stream => Some(stream + 1),
            stream => stream.filter(|_| begin == self.end),
        };
        self.number = self.number.map(|number| number + 1);
        self.end = self.begin + block.bits.end;
        let mended = self.mended.take();
        let state = match mended {
            Some(what) => what.to_string().into(),
            None if block.doubtful => "doubtful: it may belong to another file".into(),
            None => "ok".into(),
        };
        let text = (block.text_offset, Some(block.text_len()));
        self.push(self.number, begin, text, Some(block.crc), state);
    }

    fn hole(&mut self, hole: &Hole) {
        let begin = self.begin + hole.bits.start;
        self.stream = self.stream.filter(|_| begin == self.end);
        self.end = self.begin + hole.bits.end;
        let state = match hole.cause {
            Cause::Cut => "cut".into(),
            cause => cause.to_string().into(),
        };
        let number = self.number.map(|number| number + 1);
        self.push(number, begin, (hole.text_offset, hole.text_len), None, state);
        (self.number, self.stream) = (None, None);
    }

    /// Appends a row for the data from this bit to `self.end`, unless the decoder already listed it.
    fn push(
        &mut self,
        number: Option<u64>,
        bit_offset: u64,
        (text_at, text_len): (Option<u64>, Option<u64>),
        crc: Option<u32>,
        state: Cow<'static, str>,
    ) {
        if self.listed.is_some_and(|listed| bit_offset <= listed) {
            return;
        }
        let before = self.rows.last().map_or(0, |row| row.coded_end);
        let coded_end = (self.end / 8).max(before);
        self.rows.push(Row {
            number,
            stream: self.stream,
            bit_offset,
            coded_len: coded_end - before,
            coded_end,
            text_at: text_at.map(|at| self.text_begin + at),
            text_len,
            crc,
            state,
            is_good: crc.is_some(),
        });
    }
}
