//! The chain: decides which of the speculative results are the blocks of the file, and checks the bits between them.
//!
//! `scan` cut the input at everything that looks like a block's magic, and the stations decoded each span on trust. The
//! real blocks form a chain that starts at bit 0: a block follows the stream header; the next block, or the end of the
//! stream, follows where that block ends; after the end, byte-aligned, another stream may follow. A result counts only
//! if its span begins exactly where the chain has arrived. All others (magics inside a block's data, even a whole valid
//! block nested there) are dropped unseen.
//!
//! A block whose span ended too early, because such a false magic cut it, or that has no span of its own, is decoded
//! here with the plain decoder from as many spans as it takes. This is slow and rare: only a file made to provoke it
//! does so often.

use super::span::{IssuedSpan, Span};
use super::walk::{Walk, Walked};
use crate::bits::SliceBits;
use crate::block::{DecodedBlock, Text};
use crate::codec::decoder::Decoder;
use crate::crc;
use crate::error::{DecodeError, Error};
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{
    BLOCK_MAGIC, END_BITS, END_MAGIC, HEADER_BITS, Header, Level, MAX_BLOCK_BITS, parse_stream_header,
};
use crate::stream::piece::{Extent, Issued, Join, Step};
use crate::stream::text::count_lines;
use crate::summary::{BlockInfo, Mark, StreamFormat, StreamInfo, StreamSummary};
use std::collections::VecDeque;

/// The item that is expected at the chain's position.
#[derive(Clone, Copy)]
enum Expect {
    /// A stream header, or after the first stream: the end of the input, or garbage.
    Header,
    /// A block of a stream of this level, or the end of the stream.
    Block(Level),
    /// A block of a stream of this level without a usable span result. It is decoded here once all of its bits are
    /// available.
    Redo(Level),
    /// Another format, or garbage.
    Other,
    /// The end of the output.
    End,
}

/// A block that is decoded here.
struct Redo {
    walk: Walk,
    /// Its bytes so far, beginning with the one that contains its first bit.
    bytes: Vec<u8>,
    /// The number of bits of `bytes` up to the end of the available data.
    end: u64,
    /// The number of held spans that are already in `bytes`.
    spans: usize,
}

/// Joins decoded blocks.
pub(crate) struct Chain {
    /// The held spans, from the one that contains `bit` on.
    held: VecDeque<Issued<IssuedSpan>>,
    /// The chain's position, in bits of the whole input.
    bit: u64,
    expect: Expect,
    ended: bool,
    extent: Extent,
    /// Whether line ends are counted.
    lines: bool,
    summary: StreamSummary,
    redo: Option<Redo>,
    plain: Option<Box<Decoder>>,
}

impl Redo {
    /// A block that begins at bit `skew` of its first byte.
    fn new(skew: u64) -> Redo {
        Redo { walk: Walk::new(skew), bytes: Vec::new(), end: skew, spans: 0 }
    }

    /// Adds the next span, up to bit `most`. `at` is the position of `bytes` in the input.
    fn add(&mut self, span: &Span, at: u64, most: u64) {
        // Neighbouring spans share the byte in which one ends and the next begins.
        let skip = ((at + self.bytes.len() as u64 * 8).saturating_sub(span.at) / 8) as usize;
        self.bytes.extend_from_slice(span.data.get(skip..).unwrap_or_default());
        self.end = span.end_bit().saturating_sub(at).min(most).max(self.end);
        self.spans += 1;
    }
}

impl Chain {
    /// A chain at the start of the input.
    pub fn new(extent: Extent, lines: bool) -> Self {
        Chain {
            held: VecDeque::new(),
            bit: 0,
            expect: Expect::Header,
            ended: false,
            extent,
            lines,
            summary: StreamSummary::default(),
            redo: None,
            plain: None,
        }
    }

    /// The number of the next block, counted from 1.
    fn number(&self) -> u64 {
        self.summary.blocks + 1
    }

    fn damaged(&self, damage: Flaw) -> Error {
        Error::damaged(self.number(), self.bit, damage)
    }

    fn truncated(&self) -> Error {
        Error::Truncated { block: self.number(), bit_offset: self.held_end() }
    }

    /// The end of the available spans.
    fn held_end(&self) -> u64 {
        self.held.back().map_or(self.bit, |held| held.piece.span.end_bit())
    }

    /// Available bits from the chain's position on.
    fn on_hand(&self) -> u64 {
        self.held_end().saturating_sub(self.bit)
    }

    /// The `n <= 64` bits at `offset` bits after the chain's position; they must be available.
    fn peek(&self, offset: u64, n: u32) -> u64 {
        let mut at = self.bit + offset;
        let mut value = 0;
        let mut missing = u64::from(n);
        for span in self.held.iter().map(|held| &held.piece.span) {
            while missing > 0 && at < span.end_bit() {
                let bit = at - span.at;
                let take = (8 - bit % 8).min(missing).min(span.end_bit() - at);
                let byte = u64::from(span.data[(bit / 8) as usize]);
                let bits = (byte >> (8 - bit % 8 - take)) & ((1 << take) - 1);
                value = (value << take) | bits;
                at += take;
                missing -= take;
            }
        }
        value
    }

    /// Drops the spans that lie wholly before the chain's position.
    fn drop_passed(&mut self) {
        while let Some(held) = self.held.front() {
            if held.piece.span.end_bit() > self.bit {
                break;
            }
            self.held.pop_front();
        }
    }

    /// Asks for another piece. First the held spans give their permits back, so that the next piece can come however
    /// small the budget is. Their results are dropped as well: thousands of blocks nested in one block's data must not
    /// pile up. If one of them turns out to be a true block, it is decoded again.
    fn need(&mut self) -> Step {
        // Only the last spans still have permits: earlier ones gave them back the last time. Going through all of them
        // would be costly in a flood of false magics.
        for held in self.held.iter_mut().rev().take_while(|held| held.permit.is_some()) {
            held.permit = None;
            held.piece.block = None;
        }
        Step::Need
    }

    fn header(&mut self) -> Result<Option<Step>, Error> {
        let have = (self.on_hand() / 8).min(4);
        let bytes: [u8; 4] =
            std::array::from_fn(|i| if (i as u64) < have { self.peek(i as u64 * 8, 8) as u8 } else { 0 });
        match parse_stream_header(&bytes[..have as usize]) {
            Header::Stream(level) => {
                self.bit += HEADER_BITS;
                self.summary.streams += 1;
                self.summary.block_size = self.summary.block_size.max(level.block_limit());
                self.summary.combined_crc = 0;
                self.expect = Expect::Block(level);
            }
            Header::Short if !self.ended => return Ok(Some(self.need())),
            Header::Short if have == 0 && self.summary.streams > 0 => self.expect = Expect::End,
            Header::Short => return Err(self.truncated()),
            Header::Other if self.summary.streams == 0 => return Err(Error::NotBzip2),
            Header::Other => self.expect = Expect::Other,
        }
        Ok(None)
    }

    fn block_or_end(&mut self, level: Level, wait: bool) -> Result<Option<Step>, Error> {
        if let Some(IssuedSpan { span, block: Some(ticket) }) = self.held.front().map(|held| &held.piece)
            && span.start_bit() == self.bit
        {
            let at = span.at;
            return match ticket.take(wait) {
                None => Ok(Some(Step::Pending)),
                Some(Ok(Ok(block))) if block.block_len <= level.block_limit() => {
                    self.believe(block, at, level).map(Some)
                }
                Some(Ok(Err(DecodeError::OutOfData))) => {
                    // A false magic cut the span: the block goes on in the next one.
                    self.expect = Expect::Redo(level);
                    Ok(None)
                }
                Some(Ok(Ok(_) | Err(DecodeError::Damaged(_)))) => {
                    // Only the reference decoder may report that a file is damaged.
                    self.expect = Expect::Redo(level);
                    Ok(None)
                }
                Some(Err(error)) => Err(Error::Internal { block: self.number(), reason: error.0 }),
            };
        }
        let have = self.on_hand();
        // Compares byte by byte, as bzip2 does, so that a wrong byte is damage even if the input ends before the sixth
        // byte.
        let whole = (have.min(48) / 8 * 8) as u32;
        let begin = self.peek(0, whole);
        if ![BLOCK_MAGIC, END_MAGIC].iter().any(|magic| magic >> (48 - whole) == begin) {
            return Err(self.damaged(Flaw::Magic));
        }
        if have < 48 {
            return if self.ended { Err(self.truncated()) } else { Ok(Some(self.need())) };
        }
        match self.peek(0, 48) {
            BLOCK_MAGIC => self.expect = Expect::Redo(level),
            END_MAGIC if have < END_BITS => {
                return if self.ended { Err(self.truncated()) } else { Ok(Some(self.need())) };
            }
            END_MAGIC => {
                let stored = self.peek(48, 32) as u32;
                let computed = self.summary.combined_crc;
                if stored != computed {
                    return Err(self.damaged(Flaw::StreamCrc { stored, computed }));
                }
                return Ok(Some(self.end_of_stream(level)));
            }
            _ => return Err(self.damaged(Flaw::Magic)),
        }
        Ok(None)
    }

    /// The chain's position is at the end of a good stream.
    fn end_of_stream(&mut self, level: Level) -> Step {
        let StreamSummary { streams: number, combined_crc, .. } = self.summary;
        let bit_offset = self.bit;
        self.bit = (self.bit + END_BITS).next_multiple_of(8);
        self.expect = if self.extent.is_reached(number) { Expect::End } else { Expect::Header };
        let (format, level, end) = (StreamFormat::Bzip2, Some(level), self.bit / 8);
        let info = StreamInfo { number, format, level, bit_offset, end, combined_crc };
        Step::Out(Text::Plain(Vec::new()), Some(Mark::Stream(info)))
    }

    /// Decodes the block at the chain's position once all of it is available.
    fn redo(&mut self, level: Level) -> Result<Option<Step>, Error> {
        let skew = self.bit % 8;
        let at = self.bit - skew;
        let mut redo = self.redo.take().unwrap_or_else(|| Redo::new(skew));
        loop {
            match redo.walk.advance(&redo.bytes, redo.end) {
                Walked::End | Walked::Damaged => break,
                Walked::More if redo.end == skew + MAX_BLOCK_BITS => {
                    return Err(Error::BlockTooLarge { block: self.number(), bit_offset: self.bit });
                }
                Walked::More => match self.held.get(redo.spans).map(|held| &held.piece.span) {
                    Some(span) => redo.add(span, at, skew + MAX_BLOCK_BITS),
                    None if self.ended => break,
                    None => {
                        self.redo = Some(redo);
                        return Ok(Some(self.need()));
                    }
                },
            }
        }
        let mut bits = SliceBits::new(&redo.bytes, skew, redo.end);
        let plain = self.plain.get_or_insert_default();
        match plain.decode_reference(&mut bits, level.block_limit()) {
            Ok(block) => self.believe(block, at, level).map(Some),
            Err(DecodeError::OutOfData) if self.ended => Err(self.truncated()),
            Err(DecodeError::OutOfData) => {
                let reason = "the decoder reads past the end of the block".to_owned();
                Err(Error::Internal { block: self.number(), reason })
            }
            Err(DecodeError::Damaged(damage)) => Err(self.damaged(damage)),
        }
    }

    /// Accepts a block as the next one of the file; `at` is the position in the input of the data from which it was
    /// decoded.
    fn believe(&mut self, block: DecodedBlock, at: u64, level: Level) -> Result<Step, Error> {
        if block.block_len > level.block_limit() {
            return Err(self.damaged(Flaw::BlockTooLong));
        }
        let bit_offset = std::mem::replace(&mut self.bit, at + block.end_bit);
        self.expect = Expect::Block(level);
        self.summary.blocks += 1;
        self.summary.combined_crc = crc::combine(self.summary.combined_crc, block.crc);
        let info = BlockInfo {
            number: self.summary.blocks,
            crc: block.crc,
            combined_crc: self.summary.combined_crc,
            text_len: block.text.len(),
            block_len: block.block_len,
            bytes_in: self.bit / 8,
            bit_offset,
            stream: self.summary.streams,
            level: Some(level),
            lines: self.lines.then(|| count_lines(&block.text)),
        };
        Ok(Step::Out(block.text, Some(Mark::Block(info))))
    }
}

impl Join for Chain {
    type Issued = IssuedSpan;

    fn add(&mut self, piece: Issued<IssuedSpan>) {
        self.held.push_back(piece);
    }

    fn finish(&mut self) {
        self.ended = true;
    }

    fn step(&mut self, wait: bool) -> Result<Step, Error> {
        loop {
            self.drop_passed();
            let step = match self.expect {
                Expect::Header => self.header()?,
                Expect::Block(level) => self.block_or_end(level, wait)?,
                Expect::Redo(level) => self.redo(level)?,
                Expect::Other => {
                    self.summary.bytes_in = self.bit / 8;
                    Some(Step::Other)
                }
                Expect::End => {
                    self.held.clear();
                    self.summary.bytes_in = self.bit / 8;
                    Some(Step::Done)
                }
            };
            if let Some(step) = step {
                return Ok(step);
            }
        }
    }

    fn rest(&mut self) -> Option<Vec<u8>> {
        self.drop_passed();
        let span = self.held.pop_front()?.piece.span;
        let bytes = span.data[((self.bit - span.at) / 8) as usize..].to_vec();
        // If the next span begins in the last byte of this one, that byte has been used.
        self.bit = span.at + span.data.len() as u64 * 8;
        Some(bytes)
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
