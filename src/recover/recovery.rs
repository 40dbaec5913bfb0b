//! Goes through a damaged file from left to right.
//!
//! Of the positions, only `at` moves on from item to item: it is the end of the last good item, and never moves back.
//! A search for the next good block has its own position in [`Opened`], which lives as long as the hole.
//! `stream.start` and `remains_from` are set once for each stream, when it begins and when it ends.

use super::candidates::{Candidate, Candidates};
use super::crcs::StoredCrcs;
use super::marks::{End, Ends, MagicKind, Marks};
use super::place::Places;
use super::remains::{is_end, is_of_a_stream, near};
use super::{Block, Cause, Found, Hole, Recovered, Remark, What};
use crate::bits::writer::set_bits;
use crate::block::{DecodedBlock, SharedBytes};
use crate::codec::Decoder;
use crate::crc;
use crate::error::{Damage, DecodeError, Error};
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_BITS, END_MAGIC, HEADER_BITS, MAX_BLOCK};
use crate::formats::bzip2::stream::items::{Head, level_at};
use crate::read_at::{ReadAt, fill_at};
use crate::settings::Settings;
use std::ops::Range;

/// The min number of bits of a block: 155 of fields, 2 tables of 3 symbols, 1 selector, 2 codes. No lost block can be
/// shorter.
const MIN_BLOCK: u64 = 174;
/// The number of bytes of the file read for a block that is decoded here, and for each retry if those are not enough.
/// Streams may be short, so a file may have one for each 50 of its bytes. The last number is the maximum that hybz
/// decodes for one block.
const BLOCK_BYTES: [usize; 5] = [16 << 10, 128 << 10, 1 << 20, 8 << 20, 64 << 20];

/// A good block and the position of its bits.
struct Good {
    data: SharedBytes,
    /// The position of `data` in the file, in bits.
    at: u64,
    /// Its first bit in `data`.
    start: u64,
    block: DecodedBlock,
    mended: Option<What>,
}

/// What is known about the current hole.
#[derive(Default)]
struct Opened {
    blocks: u64,
    cause: Option<Cause>,
    /// The bit at which the search for blocks continues.
    from: u64,
}

/// The open stream, or the last one.
#[derive(Default)]
struct Stream {
    /// Its start in bits.
    start: u64,
    /// Its combined CRC, if all of its blocks so far are good.
    combined: Option<u32>,
    /// Good blocks.
    blocks: u64,
    /// Whether its header is damaged or missing: the bits there may be the rest of a block.
    headless: bool,
}

/// The recovery of a file.
pub(super) struct Recovery<'a, T> {
    file: &'a dyn ReadAt,
    /// The length of the file, in bits.
    end: u64,
    candidates: Candidates<'a>,
    decoder: Option<Box<Decoder>>,
    places: Places,
    take: T,
    /// The end of the last good item.
    at: u64,
    /// Whether a block or the end of a stream should come next. Otherwise: a header, or the end of the file.
    in_stream: bool,
    stream: Stream,
    /// The bit from which remains of another stream may begin: in the end of the last stream. Bits of that stream's CRC
    /// and padding may be missing, and a magic that begins in their place belongs to another stream.
    remains_from: u64,
    /// The stored CRCs of the stream that begins at this bit.
    stored: Option<(u64, StoredCrcs)>,
    ends: Ends,
    found: Recovered,
}

impl<'a, T: FnMut(Found) -> Result<(), Error>> Recovery<'a, T> {
    pub fn new(file: &'a dyn ReadAt, settings: &Settings, places: Places, take: T) -> Self {
        Recovery {
            file,
            end: file.len().saturating_mul(8),
            candidates: Candidates::new(file, settings),
            decoder: None,
            places,
            take,
            at: 0,
            in_stream: false,
            stream: Stream::default(),
            remains_from: 0,
            stored: None,
            ends: Ends::default(),
            found: Recovered::default(),
        }
    }

    pub fn run(mut self) -> Result<Recovered, Error> {
        while self.at < self.end {
            let mut opened = Opened { from: self.at, ..Opened::default() };
            let goes_on = if self.in_stream { self.block_or_end(&mut opened)? } else { self.header()? };
            if !goes_on && !self.find_after_hole(&mut opened)? {
                self.tail(&opened)?;
                return Ok(self.found);
            }
        }
        if self.in_stream || self.places.expects_more() {
            self.hole(self.end..self.end, 0, Cause::Cut, self.places.missing_at_the_end())?;
        }
        Ok(self.found)
    }

    fn is_header(&self, bit: u64) -> Result<bool, Error> {
        Ok(level_at(self.file, bit)?.is_some())
    }

    fn remark(&mut self, bits: Range<u64>, what: What) -> Result<(), Error> {
        (self.take)(Found::Remark(Remark { bits, what }))
    }

    fn hole(&mut self, bits: Range<u64>, blocks: u64, cause: Cause, text_len: Option<u64>) -> Result<(), Error> {
        self.found.holes += 1;
        let text_offset = self.places.at();
        (self.take)(Found::Hole(Hole { bits, blocks, text_offset, text_len, cause }))
    }

    fn begin_stream(&mut self, start: u64, headless: bool) {
        self.stream = Stream { start, combined: Some(0), blocks: 0, headless };
        self.in_stream = true;
    }

    /// Handles a position at which a header should be.
    fn header(&mut self) -> Result<bool, Error> {
        let begin = self.at;
        let headless = !self.is_header(begin)?;
        if headless {
            if ![BLOCK_MAGIC, END_MAGIC].contains(&Head::at(self.file, begin + HEADER_BITS)?.magic()) {
                return Ok(false);
            }
            self.remark(begin..begin + HEADER_BITS, What::Header)?;
        }
        self.begin_stream(begin, headless);
        self.found.streams += 1;
        self.at += HEADER_BITS;
        Ok(true)
    }

    /// Handles a position at which a block or the end of a stream should be.
    fn block_or_end(&mut self, opened: &mut Opened) -> Result<bool, Error> {
        let head = Head::at(self.file, self.at)?;
        let (magic, crc) = (head.magic(), head.crc());
        if near(magic, END_MAGIC) || self.is_ruined_end(crc)? {
            self.end_of_stream(magic, crc)?;
            return Ok(true);
        }
        if self.candidates.seek(self.at)? == Some(self.at) {
            let Some(candidate) = self.candidates.take(self.found.blocks)? else { return Ok(false) };
            return match self.judge(candidate)? {
                Ok(good) => self.accept(good, false).map(|()| true),
                Err(cause) => {
                    *opened = Opened { blocks: 1, cause: Some(cause), from: self.at + 1 };
                    Ok(false)
                }
            };
        }
        // Either the magic or the block's header is damaged.
        match self.decode(self.at, None)? {
            Ok(good) => {
                self.accept(Good { mended: (magic != BLOCK_MAGIC).then_some(What::Magic), ..good }, false)?;
                Ok(true)
            }
            Err(error) if near(magic, BLOCK_MAGIC) => {
                let wrong = if magic == BLOCK_MAGIC { error } else { Flaw::Magic.into() };
                *opened = Opened { blocks: 1, cause: Some(cause(wrong)), from: self.at + 1 };
                Ok(false)
            }
            Err(_) => Ok(false),
        }
    }

    /// Whether a stream ends here although its end magic cannot be recognised: its CRC is right, and the end of the
    /// file or another stream confirms the position.
    fn is_ruined_end(&self, crc: u32) -> Result<bool, Error> {
        let next = (self.at + END_BITS).next_multiple_of(8);
        // Without blocks the CRC is 0, which is also what a file overwritten with zeros has.
        let fits = self.stream.blocks > 0 && self.stream.combined == Some(crc);
        Ok(fits && next <= self.end && (next == self.end || self.is_header(next)?))
    }

    fn end_of_stream(&mut self, magic: u64, crc: u32) -> Result<(), Error> {
        let begin = self.at;
        self.at = (begin + END_BITS).next_multiple_of(8).min(self.end);
        self.in_stream = false;
        let is_cut = begin + END_BITS > self.end;
        let is_wrong = self.stream.combined.is_some_and(|combined| combined != crc);
        if is_wrong {
            // If part of the end was cut out, the next stream may begin in its place.
            for bit in (begin.next_multiple_of(8)..self.at).step_by(8) {
                if self.is_header(bit)? {
                    self.at = bit;
                    break;
                }
            }
        }
        if self.stream.combined.is_some() && (self.stream.blocks == 0 || self.stream.headless) && (is_cut || is_wrong) {
            // Nothing proves that all blocks of this stream were found: the CRC would belong to other blocks.
            self.hole(begin..begin, 0, if is_cut { Cause::Cut } else { Cause::NoBlock }, None)?;
            self.places.lose();
        } else if magic != END_MAGIC || is_cut {
            self.remark(begin..self.at, What::End)?;
        } else if is_wrong {
            self.remark(begin..self.at, What::StreamCrc)?;
        }
        (self.stream.combined, self.remains_from) = (None, begin + 1);
        Ok(())
    }

    /// Judges a candidate: a good block, or the reason why it is not one.
    fn judge(&mut self, candidate: Candidate) -> Result<Result<Good, Cause>, Error> {
        let Candidate { span, answer } = candidate;
        let bit = span.start_bit();
        let error = match answer {
            Ok(block) => {
                return Ok(Ok(Good { at: span.at, start: span.first, data: span.data, block, mended: None }));
            }
            // The span was cut at bits that look like a magic; the block continues after them.
            Err(DecodeError::OutOfData) if span.end_bit() < self.end => match self.decode(bit, None)? {
                Ok(good) => return Ok(Ok(good)),
                Err(error) => error,
            },
            Err(error) => error,
        };
        if let DecodeError::Damaged(Flaw::BlockCrc { stored, computed }) = error
            && self.explained(bit, stored ^ computed)?
            && let Ok(good) = self.decode(bit, Some(computed))?
        {
            return Ok(Ok(Good { mended: Some(What::BlockCrc), ..good }));
        }
        Ok(Err(cause(error)))
    }

    /// Whether the wrong bits of a block's CRC explain the difference in the combined CRC of its stream.
    fn explained(&mut self, bit: u64, wrong: u32) -> Result<bool, Error> {
        let stored = match self.stored.take() {
            Some((start, stored)) if start == self.stream.start => stored,
            _ => StoredCrcs::read(self.file, self.stream.start)?,
        };
        let explains = stored.explain(bit, wrong);
        self.stored = Some((self.stream.start, stored));
        Ok(explains)
    }

    /// Decodes the block at this bit whatever its magic is, and with `crc` in place of its stored CRC if that is given.
    fn decode(&mut self, bit: u64, crc: Option<u32>) -> Result<Result<Good, DecodeError>, Error> {
        let start = bit % 8;
        for bytes in BLOCK_BYTES {
            let mut data = vec![0; bytes.min((self.file.len() - bit / 8) as usize)];
            let len = fill_at(self.file, &mut data, bit / 8).map_err(Error::Read)?;
            data.truncate(len);
            set_bits(&mut data, start, BLOCK_MAGIC, 48);
            if let Some(crc) = crc {
                set_bits(&mut data, start + 48, crc.into(), 32);
            }
            let decoder = self.decoder.get_or_insert_default();
            match decoder.decode(&data, start, u64::MAX, MAX_BLOCK as u32) {
                Err(DecodeError::OutOfData) if len == bytes => {}
                Ok(block) => {
                    return Ok(Ok(Good { data: data.into(), at: bit - start, start, block, mended: None }));
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Err(DecodeError::OutOfData))
    }

    /// Reports a good block.
    fn accept(&mut self, good: Good, after_hole: bool) -> Result<(), Error> {
        let Good { data, at, start, block: DecodedBlock { text, crc, end_bit, .. }, mended } = good;
        let bits = at + start..at + end_bit;
        let text_len = text.len();
        let text_offset = self.places.of_block(bits.start, crc, text_len, after_hole);
        if !after_hole && self.places.missing_before(text_offset).is_some_and(|missing| missing > 0) {
            // The index has a block of which not a bit is left in the file.
            let missing = self.places.missing_before(text_offset);
            self.hole(bits.start..bits.start, 0, Cause::NoBlock, missing)?;
        }
        let doubtful = after_hole && bits.end < self.end && {
            let magic = Head::at(self.file, bits.end)?.magic();
            !near(magic, BLOCK_MAGIC) && !near(magic, END_MAGIC)
        };
        if let Some(what) = mended {
            self.remark(bits.clone(), what)?;
        }
        self.found.blocks += 1;
        self.stream.blocks += 1;
        self.found.text_len += text_len;
        self.places.pass(text_offset, text_len);
        self.stream.combined = self.stream.combined.map(|combined| crc::combine(combined, crc));
        (self.at, self.in_stream) = (bits.end, true);
        let number = self.found.blocks;
        (self.take)(Found::Block(Block { number, bits, text_offset, crc, doubtful, text, data, start }))
    }

    /// Looks for the next good block after a hole. Returns whether there is one.
    fn find_after_hole(&mut self, opened: &mut Opened) -> Result<bool, Error> {
        while let Some(bit) = self.candidates.seek(opened.from)? {
            let Some(candidate) = self.candidates.take(self.found.blocks)? else { return Ok(false) };
            opened.from = bit + 1;
            let good = match self.judge(candidate)? {
                Ok(good) => good,
                Err(why) => {
                    opened.blocks += 1;
                    opened.cause.get_or_insert(why);
                    continue;
                }
            };
            let header = bit.checked_sub(HEADER_BITS).filter(|&header| header >= self.at);
            let header = match header {
                Some(header) if self.is_header(header)? => Some(header),
                _ => None,
            };
            if let Some(header) = header
                && let Some(end) = self.nested(header, bit)?
            {
                self.remark(header..end, What::Nested)?;
                opened.from = end;
                continue;
            }
            let lost = self.close(header.unwrap_or(bit), opened, &good)?;
            match header {
                Some(header) => {
                    self.begin_stream(header, false);
                    self.found.streams += 1;
                }
                None if lost || self.in_stream => self.stream.combined = None,
                None => self.begin_stream(bit, true),
            }
            self.accept(good, lost)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Reports the bits between the last good item and this block, up to bit `end`, where the block begins, or its
    /// stream's header if that directly precedes it. Returns whether they are a hole.
    fn close(&mut self, end: u64, opened: &Opened, good: &Good) -> Result<bool, Error> {
        let bits = self.at..end;
        let begin = good.at + good.start;
        let offset = self.places.of_block(begin, good.block.crc, good.block.text.len(), true);
        let missing = self.places.missing_before(offset);
        let is_lost = missing.is_some_and(|missing| missing > 0)
            || opened.blocks > 0
            || end - self.at >= MIN_BLOCK
            || self.is_remains(bits.clone(), end < begin)?;
        if is_lost {
            self.hole(bits, opened.blocks, opened.cause.unwrap_or(Cause::NoBlock), missing)?;
        } else if end > self.at {
            self.remark(bits, if self.in_stream { What::End } else { What::Garbage })?;
        }
        Ok(is_lost)
    }

    /// Whether these bits before a good block, too few for a block, are remains of blocks or of a stream. The good
    /// block may be the first of its stream, with a header.
    fn is_remains(&self, bits: Range<u64>, has_header: bool) -> Result<bool, Error> {
        if self.in_stream {
            // The stream before it has an end, or more blocks.
            return Ok(!has_header || !self.is_end(bits)?);
        }
        // If no header was found, these bits may be a damaged header.
        Ok(!has_header && bits.end - bits.start > HEADER_BITS || is_of_a_stream(self.file, bits, self.remains_from)?)
    }

    /// Whether these bits are the end of the current stream. The stream must have blocks: a header alone proves
    /// nothing.
    fn is_end(&self, bits: Range<u64>) -> Result<bool, Error> {
        Ok(self.stream.blocks > 0 && is_end(self.file, bits, self.stream.combined)?)
    }

    /// The end of a stream that begins in a hole, if it lies inside a damaged block: then neither the end of the file
    /// nor another stream follows it, and the next block or end belongs to a stream that began earlier.
    fn nested(&mut self, header: u64, block: u64) -> Result<Option<u64>, Error> {
        if !self.in_stream {
            return Ok(None);
        }
        // The stream before it may have ended properly.
        for padding in 0..8 {
            let end = header.checked_sub(END_BITS + padding).filter(|&end| end >= self.at);
            if let Some(end) = end
                && Head::at(self.file, end)?.magic() == END_MAGIC
            {
                return Ok(None);
            }
        }
        let Some(End { bit: end, next: Some(after) }) = self.ends.after(self.file, block + 48)? else {
            return Ok(None);
        };
        let end = (end + END_BITS).next_multiple_of(8);
        if end >= self.end || self.is_header(end)? {
            return Ok(None);
        }
        let near_end = after < end + MIN_BLOCK;
        let headed = after >= end + HEADER_BITS && self.is_header(after - HEADER_BITS)?;
        Ok((!near_end && !headed).then_some(end))
    }

    /// Reports the rest of the file: no good block follows.
    fn tail(&mut self, opened: &Opened) -> Result<(), Error> {
        let missing = self.places.missing_at_the_end();
        let begin = self.at;
        let cause = opened.cause.unwrap_or(if self.in_stream { Cause::Cut } else { Cause::NoBlock });
        if !self.in_stream {
            let is_complete = self.found.streams > 0 && opened.blocks == 0 && !self.places.expects_more();
            if is_complete && !is_of_a_stream(self.file, begin..self.end, self.remains_from)? {
                return self.remark(begin..self.end, What::Garbage);
            }
            return self.hole(begin..self.end, opened.blocks, cause, missing);
        }
        // The last recognisable end of a stream in the rest.
        let mut last = None;
        for mark in Marks::new(self.file, opened.from) {
            let mark = mark?;
            if mark.kind == MagicKind::End && mark.bit + END_BITS <= self.end {
                last = Some(mark.bit);
            }
        }
        let end = last.unwrap_or(self.end);
        if opened.blocks == 0 && !self.places.expects_more() && self.is_end(begin..self.end)? {
            return self.remark(begin..self.end, What::End);
        }
        let cause = if opened.cause.is_none() && last.is_some() { Cause::NoBlock } else { cause };
        self.hole(begin..end, opened.blocks, cause, missing)?;
        let next = (end + END_BITS).next_multiple_of(8);
        if last.is_some() && next < self.end {
            self.remark(next..self.end, What::Garbage)?;
        }
        Ok(())
    }
}

fn cause(error: DecodeError) -> Cause {
    match error {
        DecodeError::Damaged(flaw) => Cause::Damage(Damage(flaw)),
        DecodeError::OutOfData => Cause::Cut,
    }
}
