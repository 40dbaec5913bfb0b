//! The chain: decides which of the speculative results are the blocks of the file, and checks the bits between them.
//!
//! `scan` cut the input at everything that looks like a block's magic, and the stations decoded each span on trust. The
//! real blocks form a chain that starts at bit 0: a block follows the stream header; the next block, or the end of the
//! stream, follows where that block ends; after the end, byte-aligned, another stream may follow. A result counts only
//! if its span begins exactly where the chain has arrived. All others (magics inside a block's data, even a whole valid
//! block nested there) are dropped unseen.
//!
//! A block whose span ended too early, because such a false magic cut it, or that has no span of its own, is decoded
//! here from as many spans as it takes. This is slow and rare: only a file made to provoke it
//! does so often.
//!
//! There is one scan (`scan`, or `parallel_scan` for several readers), one parse (`items`) and one chain, whatever is
//! read. A part of a file is the chain with a start and a stop: it begins at any item, and leaves those that begin at
//! the stop or later to another part. Two chains would mean two rules for what a valid file is, and parts would not
//! always add up to the text of the file. A chain that begins in the middle of a stream lacks the stream's level and
//! the CRCs of its earlier blocks. It accepts blocks of all levels there, and does not check the combined CRC.

use super::items::Head;
use super::span::{IssuedSpan, Span};
use super::walk::{BlockWalk, Walked};
use crate::block::{DecodedBlock, Text};
use crate::codec::decoder::Decoder;
use crate::error::{DecodeError, Error};
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_BITS, HEADER_BITS, Header, Level, MAX_BLOCK_BITS};
use crate::stream::piece::{Extent, Join, Pieces, Step};
use crate::stream::text::count_lines;
use crate::summary::{BlockInfo, Mark, StreamInfo, StreamSummary};

/// An item of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The bit at which it begins.
    pub bit: u64,
    pub expect: Expect,
}

/// The item that is expected at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// A stream header, or after the first stream: the end of the input, or garbage.
    Header,
    /// A block of a stream of this level, or the end of the stream. Without a level the stream's header is not known.
    Block(Option<Level>),
    /// The same, but the span's result was of no use: the block is decoded here once all of its bits are available.
    Redo(Option<Level>),
    /// Another format, or garbage.
    Other,
    /// The end of the output.
    End,
}

impl Place {
    /// The beginning of a file.
    pub const START: Place = Place { bit: 0, expect: Expect::Header };
}

/// The maximum length of a block.
fn limit(level: Option<Level>) -> u32 {
    level.unwrap_or(Level::BEST).block_limit()
}

/// A block that is decoded here.
struct Redo {
    walk: BlockWalk,
    /// Its bytes so far, beginning with the one that contains its first bit.
    bytes: Vec<u8>,
    /// The number of bits of `bytes` up to the end of the available data.
    end: u64,
    /// The number of held spans that are already in `bytes`.
    spans: usize,
}

/// The spans from the one that contains the next item on.
pub(crate) type Spans = Pieces<IssuedSpan>;

/// Joins decoded blocks.
pub(crate) struct Chain {
    /// The next item.
    next: Place,
    /// The output is complete before an item that begins at this bit or later.
    stop: u64,
    extent: Extent,
    /// Whether line ends are counted.
    lines: bool,
    summary: StreamSummary,
    redo: Option<Redo>,
    decoder: Option<Box<Decoder>>,
}

impl Redo {
    /// A block that begins at bit `skew` of its first byte.
    fn new(skew: u64) -> Redo {
        Redo { walk: BlockWalk::new(skew), bytes: Vec::new(), end: skew, spans: 0 }
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
    /// The items of the input from `start` on that begin before bit `stop`.
    pub fn new(start: Place, stop: u64, extent: Extent, lines: bool) -> Self {
        Chain { next: start, stop, extent, lines, summary: StreamSummary::default(), redo: None, decoder: None }
    }

    /// The next item.
    pub fn next(&self) -> Place {
        self.next
    }

    /// Continues up to bit `stop`. Blocks are counted from 1 again.
    pub fn go_on(&mut self, stop: u64) {
        self.stop = stop;
        self.summary.blocks = 0;
    }

    /// The number of the next block, counted from 1.
    fn number(&self) -> u64 {
        self.summary.blocks + 1
    }

    fn damaged(&self, damage: Flaw) -> Error {
        Error::damaged(self.number(), self.next.bit, damage)
    }

    fn truncated(&self, pieces: &Spans) -> Error {
        Error::Truncated { block: self.number(), bit_offset: self.held_end(pieces) }
    }

    /// The end of the available spans.
    fn held_end(&self, pieces: &Spans) -> u64 {
        pieces.held.back().map_or(self.next.bit, |held| held.piece.span.end_bit())
    }

    /// The next bits of the input, as far as they are available.
    fn head(&self, pieces: &Spans) -> Head {
        let (mut at, mut word, mut missing) = (self.next.bit, 0, END_BITS);
        for span in pieces.held.iter().map(|held| &held.piece.span) {
            while missing > 0 && at < span.end_bit() {
                let bit = at - span.at;
                let take = (8 - bit % 8).min(missing).min(span.end_bit() - at);
                let byte = u128::from(span.data[(bit / 8) as usize]);
                missing -= take;
                at += take;
                word |= (byte >> (8 - bit % 8 - take) & ((1 << take) - 1)) << (48 + missing);
            }
        }
        Head::new(word, END_BITS - missing)
    }

    /// Drops the spans that lie wholly before the chain's position.
    fn drop_passed(&self, pieces: &mut Spans) {
        while let Some(held) = pieces.held.front() {
            if held.piece.span.end_bit() > self.next.bit {
                break;
            }
            pieces.held.pop_front();
        }
    }

    /// Asks for another piece. First the held spans give their permits back, so that the next piece can come however
    /// small the budget is. Their results are dropped as well: thousands of blocks nested in one block's data must not
    /// pile up. If one of them turns out to be a true block, it is decoded again.
    fn need(pieces: &mut Spans) -> Step {
        // Only the last spans still have permits: earlier ones gave them back the last time. Going through all of them
        // would be costly in a flood of false magics.
        for held in pieces.held.iter_mut().rev().take_while(|held| held.permit.is_some()) {
            held.permit = None;
            held.piece.block = None;
        }
        Step::Need
    }

    fn header(&mut self, pieces: &mut Spans) -> Result<Option<Step>, Error> {
        let head = self.head(pieces);
        let is_first = self.next.bit == 0;
        match head.header() {
            Header::Stream(level) => {
                self.next = Place { bit: self.next.bit + HEADER_BITS, expect: Expect::Block(Some(level)) };
                self.summary.streams += 1;
                self.summary.block_size = self.summary.block_size.max(level.block_limit());
                self.summary.combined_crc = 0;
            }
            Header::Short if !pieces.ended => return Ok(Some(Chain::need(pieces))),
            Header::Short if head.len() == 0 && !is_first => self.next.expect = Expect::End,
            Header::Short => return Err(self.truncated(pieces)),
            Header::Other if is_first => return Err(Error::NotBzip2),
            Header::Other => self.next.expect = Expect::Other,
        }
        Ok(None)
    }

    fn block_or_end(&mut self, pieces: &mut Spans, level: Option<Level>, wait: bool) -> Result<Option<Step>, Error> {
        if let Some(IssuedSpan { span, block: Some(ticket) }) = pieces.held.front().map(|held| &held.piece)
            && span.start_bit() == self.next.bit
        {
            let at = span.at;
            return match ticket.take(wait) {
                None => Ok(Some(Step::Pending)),
                Some(Ok(Ok(block))) if block.block_len <= limit(level) => self.believe(block, at, level).map(Some),
                // A false magic cut the span, and the block goes on in the next one; or the block is damaged, which is
                // only reported after the reference decoder has seen all of it.
                Some(Ok(_)) => {
                    self.next.expect = Expect::Redo(level);
                    Ok(None)
                }
                Some(Err(error)) => Err(Error::Internal { block: self.number(), reason: error.0 }),
            };
        }
        let head = self.head(pieces);
        if !head.may_be_magic() {
            return Err(self.damaged(Flaw::Magic));
        }
        if head.len() >= 48 && head.magic() == BLOCK_MAGIC {
            self.next.expect = Expect::Redo(level);
            return Ok(None);
        }
        let Some((_, stored)) = head.whole() else {
            return if pieces.ended { Err(self.truncated(pieces)) } else { Ok(Some(Chain::need(pieces))) };
        };
        let computed = self.summary.combined_crc;
        if level.is_some() && stored != computed {
            return Err(self.damaged(Flaw::StreamCrc { stored, computed }));
        }
        let info = StreamInfo::bzip2(self.summary.streams, level, self.next.bit, computed);
        let expect = if self.extent.is_reached(info.number) { Expect::End } else { Expect::Header };
        self.next = Place { bit: info.end * 8, expect };
        Ok(Some(Step::Out(Text::Plain(Vec::new()), Some(Mark::Stream(info)))))
    }

    /// Decodes the block at the chain's position once all of it is available.
    fn redo(&mut self, pieces: &mut Spans, level: Option<Level>) -> Result<Option<Step>, Error> {
        let skew = self.next.bit % 8;
        let at = self.next.bit - skew;
        let mut redo = self.redo.take().unwrap_or_else(|| Redo::new(skew));
        loop {
            match redo.walk.advance(&redo.bytes, redo.end) {
                Walked::End | Walked::Damaged => break,
                Walked::More if redo.end == skew + MAX_BLOCK_BITS => {
                    return Err(Error::BlockTooLarge { block: self.number(), bit_offset: self.next.bit });
                }
                Walked::More => match pieces.held.get(redo.spans).map(|held| &held.piece.span) {
                    Some(span) => redo.add(span, at, skew + MAX_BLOCK_BITS),
                    None if pieces.ended => break,
                    None => {
                        self.redo = Some(redo);
                        return Ok(Some(Chain::need(pieces)));
                    }
                },
            }
        }
        let decoder = self.decoder.get_or_insert_default();
        match decoder.decode(&redo.bytes, skew, redo.end, limit(level)) {
            Ok(block) => self.believe(block, at, level).map(Some),
            Err(DecodeError::OutOfData) if pieces.ended => Err(self.truncated(pieces)),
            Err(DecodeError::OutOfData) => {
                let reason = "the decoder reads past the end of the block".to_owned();
                Err(Error::Internal { block: self.number(), reason })
            }
            Err(DecodeError::Damaged(damage)) => Err(self.damaged(damage)),
        }
    }

    /// Accepts a block as the next one of the file; `at` is the position in the input of the data from which it was
    /// decoded.
    fn believe(&mut self, block: DecodedBlock, at: u64, level: Option<Level>) -> Result<Step, Error> {
        if block.block_len > limit(level) {
            return Err(self.damaged(Flaw::BlockTooLong));
        }
        let bit_offset = self.next.bit;
        self.next = Place { bit: at + block.end_bit, expect: Expect::Block(level) };
        let info = self.summary.block(block.crc, block.text.len(), bit_offset);
        let lines = self.lines.then(|| count_lines(&block.text));
        let info = BlockInfo { block_len: block.block_len, bytes_in: self.next.bit / 8, level, lines, ..info };
        Ok(Step::Out(block.text, Some(Mark::Block(info))))
    }
}

impl Join for Chain {
    type Issued = IssuedSpan;

    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, wait: bool) -> Result<Step, Error> {
        loop {
            self.drop_passed(pieces);
            let step = match self.next.expect {
                _ if self.next.bit >= self.stop => Some(Step::Done),
                Expect::Header => self.header(pieces)?,
                Expect::Block(level) => self.block_or_end(pieces, level, wait)?,
                Expect::Redo(level) => self.redo(pieces, level)?,
                Expect::Other => {
                    self.summary.bytes_in = self.next.bit / 8;
                    Some(Step::Other)
                }
                Expect::End => {
                    pieces.held.clear();
                    self.summary.bytes_in = self.next.bit / 8;
                    Some(Step::Done)
                }
            };
            if let Some(step) = step {
                return Ok(step);
            }
        }
    }

    fn rest(&mut self, pieces: &mut Spans) -> Option<Vec<u8>> {
        self.drop_passed(pieces);
        let span = pieces.held.pop_front()?.piece.span;
        let bytes = span.data[((self.next.bit - span.at) / 8) as usize..].to_vec();
        // If the next span begins in the last byte of this one, that byte has been used.
        self.next.bit = span.at + span.data.len() as u64 * 8;
        Some(bytes)
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
