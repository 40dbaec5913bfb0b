//! Follows the items of a `.bz2` file from one of them on: headers, blocks and ends of streams. The pool decodes ahead
//! everything that looks like a block.
//!
//! Verdicts are those of `formats::bzip2::stream::chain`, as far as possible without the data before the first item:
//! the level of the first stream and the CRCs of its earlier blocks are unknown.

use super::around::{Answer, REACH, ask, is_plausible, magic_at};
use super::{Expect, Place, Source, StreamState};
use crate::block::{DecodedBlock, Text};
use crate::codec::Decoder;
use crate::crc;
use crate::error::{DecodeError, Error};
use crate::flaw::Flaw;
use crate::format::Format;
use crate::formats::bzip2::header::{
    BLOCK_MAGIC, END_BITS, END_MAGIC, HEADER_BITS, Header, Level, MAX_BLOCK_BITS, parse_stream_header,
};
use crate::formats::bzip2::stream::candidates::{Candidate, Candidates};
use crate::read_at::{ReadAt, fill_at};
use crate::recover::marks::{MagicKind, Marks};
use crate::settings::Settings;
use std::io::{self, Read};
use std::sync::Arc;

/// The number of bytes read for a block that is decoded here. No encoder writes longer blocks.
const BLOCK_BYTES: u64 = 4 << 20;

/// Reads a file from a byte on.
struct From {
    file: Source,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read_at(buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// The items of a file from a place on.
pub(super) struct Chain {
    file: Source,
    /// The length of the file in bits.
    end: u64,
    /// The next item.
    pub place: Place,
    /// Items that begin at this bit or later are left to others.
    stop: u64,
    candidates: Candidates<From>,
    decoder: Option<Box<Decoder>>,
    garbage_allowed: bool,
    /// Whether other parts follow, which must not take garbage for blocks.
    pub has_successors: bool,
    /// The number of blocks so far.
    blocks: u64,
}

impl Chain {
    /// The items from `place` on that begin before bit `stop`.
    pub fn new(file: &Source, place: Place, stop: u64, settings: &Settings) -> Chain {
        let at = place.bit / 8;
        let reader = From { file: Arc::clone(file), at };
        Chain {
            file: Arc::clone(file),
            end: file.len().saturating_mul(8),
            place,
            stop,
            candidates: Candidates::new(reader, at, stop, settings.get_pool(), settings.scan_chunk),
            decoder: None,
            garbage_allowed: settings.allows_garbage(),
            has_successors: stop < u64::MAX,
            blocks: 0,
        }
    }

    /// Whether the file has ended.
    pub fn is_at_end(&self) -> bool {
        self.place.bit >= self.end && self.place.expect == Expect::Header
    }

    pub fn damaged(&self, damage: Flaw) -> Error {
        Error::damaged(self.blocks + 1, self.place.bit, damage)
    }

    pub fn truncated(&self) -> Error {
        Error::Truncated { block: self.blocks + 1, bit_offset: self.end }
    }

    /// The text of the next block; `None` if no other begins before the stop.
    pub fn next(&mut self) -> Result<Option<Text>, Error> {
        while self.place.bit < self.stop {
            match self.place.expect {
                Expect::Header if self.is_at_end() => break,
                Expect::Header => self.header()?,
                Expect::Block(stream) => {
                    if let Some(block) = self.block_or_end(stream)? {
                        return Ok(Some(block));
                    }
                }
            }
        }
        Ok(None)
    }

    fn header(&mut self) -> Result<(), Error> {
        let mut bytes = [0; 4];
        let byte = self.place.bit / 8;
        let len = fill_at(&self.file, &mut bytes, byte).map_err(Error::Read)?;
        match parse_stream_header(&bytes[..len]) {
            Header::Stream(level) => {
                let stream = StreamState { level, combined_crc: 0 };
                self.place = Place { bit: self.place.bit + HEADER_BITS, expect: Expect::Block(Some(stream)) };
                Ok(())
            }
            Header::Short => Err(self.truncated()),
            Header::Other if byte == 0 => Err(Error::NotBzip2),
            Header::Other => self.garbage(byte),
        }
    }

    /// Handles the data after the last stream, which bzip2 ignores. Later parts of the file cannot know that they are
    /// in garbage, so nothing in it may look like a block.
    fn garbage(&mut self, byte: u64) -> Result<(), Error> {
        let mut head = [0; Format::HEAD_LEN];
        let len = fill_at(&self.file, &mut head, byte).map_err(Error::Read)?;
        if let Some(format) = Format::of(&head[..len]).filter(|format| format.row().native.is_some()) {
            return Err(Error::NoIndex { format, why: format.no_index() });
        }
        if !self.garbage_allowed || self.has_successors && self.has_candidates(byte * 8)? {
            return Err(Error::TrailingGarbage { offset: byte });
        }
        self.place.bit = self.end.max(self.stop);
        Ok(())
    }

    /// Whether something looks like a block, from this bit on.
    fn has_candidates(&self, from: u64) -> Result<bool, Error> {
        for mark in Marks::new(&self.file, from) {
            let mark = mark?;
            if mark.kind == MagicKind::Block && is_plausible(&self.file, mark.bit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn block_or_end(&mut self, stream: Option<StreamState>) -> Result<Option<Text>, Error> {
        let (magic, len) = magic_at(&self.file, self.place.bit)?;
        // Compares byte by byte, as bzip2 does, so that a wrong byte is damage even if the input ends before the sixth
        // byte.
        if ![BLOCK_MAGIC, END_MAGIC].iter().any(|wanted| wanted >> (48 - len) == magic >> (48 - len)) {
            return Err(self.damaged(Flaw::Magic));
        }
        match magic {
            _ if len < 48 => Err(self.truncated()),
            END_MAGIC => self.end_of_stream(stream).map(|()| None),
            _ => self.block(stream).map(Some),
        }
    }

    fn end_of_stream(&mut self, stream: Option<StreamState>) -> Result<(), Error> {
        let bit = self.place.bit;
        if bit + END_BITS > self.end {
            return Err(self.truncated());
        }
        // The last 32 of the 48 bits from its 32nd bit on.
        let stored = magic_at(&self.file, bit + 32)?.0 as u32;
        if let Some(StreamState { combined_crc: computed, .. }) = stream
            && stored != computed
        {
            return Err(self.damaged(Flaw::StreamCrc { stored, computed }));
        }
        self.place = Place { bit: (bit + END_BITS).next_multiple_of(8), expect: Expect::Header };
        Ok(())
    }

    fn block(&mut self, stream: Option<StreamState>) -> Result<Text, Error> {
        let bit = self.place.bit;
        let limit = stream.map_or(Level::BEST, |stream| stream.level).block_limit();
        let candidate = match self.candidates.seek(bit)? {
            Some(start) if start == bit => self.candidates.take(self.blocks)?,
            _ => None,
        };
        let decoded = match candidate {
            Some(Candidate { span, answer: Ok(block) }) if block.block_len <= limit => Ok((block, span.at)),
            // The data of the span may end too early, and its level was not known. Only the reference decoder may
            // report that a file is damaged.
            _ => self.decode(bit, limit)?,
        };
        let (block, at) = match decoded {
            Ok(decoded) => decoded,
            Err(DecodeError::OutOfData) => return Err(self.truncated()),
            Err(DecodeError::Damaged(damage)) => return Err(self.damaged(damage)),
        };
        if block.block_len > limit {
            return Err(self.damaged(Flaw::BlockTooLong));
        }
        let stream = stream.map(|StreamState { level, combined_crc }| StreamState {
            level,
            combined_crc: crc::combine(combined_crc, block.crc),
        });
        let next = Place { bit: at + block.end_bit, expect: Expect::Block(stream) };
        self.check_reach(bit, next.bit)?;
        (self.place, self.blocks) = (next, self.blocks + 1);
        Ok(block.text)
    }

    /// Checks that a reader of the data from the stop on finds the end of a block that is longer than any encoder's.
    fn check_reach(&self, start: u64, end: u64) -> Result<(), Error> {
        let is_longer = end >= self.stop && self.stop - start > REACH * 8;
        let is_found = || match ask(&self.file, self.stop / 8)? {
            Answer::One(place) => Ok(place.bit == end),
            Answer::Several => Ok(true),
            Answer::Nothing => Ok(false),
        };
        if is_longer && !is_found()? {
            return Err(Error::BlockTooLarge { block: self.blocks + 1, bit_offset: start });
        }
        Ok(())
    }

    /// Decodes the block at this bit. Returns the block, and the position of the data from which its end is counted.
    pub fn decode(&mut self, bit: u64, limit: u32) -> Result<Result<(DecodedBlock, u64), DecodeError>, Error> {
        for bytes in [BLOCK_BYTES, MAX_BLOCK_BITS / 8 + 1] {
            let mut data = vec![0; bytes.min(self.end / 8 - bit / 8) as usize];
            let len = fill_at(&self.file, &mut data, bit / 8).map_err(Error::Read)?;
            data.truncate(len);
            let decoder = self.decoder.get_or_insert_default();
            match decoder.decode(&data, bit % 8, bit % 8 + MAX_BLOCK_BITS, limit) {
                Err(DecodeError::OutOfData) if (len as u64) < bytes => return Ok(Err(DecodeError::OutOfData)),
                Err(DecodeError::OutOfData) => {}
                decoded => return Ok(decoded.map(|block| (block, bit - bit % 8))),
            }
        }
        Err(Error::BlockTooLarge { block: self.blocks + 1, bit_offset: bit })
    }
}
