//! Decodes `.bz2` streams in the calling thread.
//!
//! A block does not state its length. It is decoded once the magic of the next item has come: the block probably ends
//! there, and decoding it earlier would be in vain. If the magic was in the block's own data, the block is followed
//! code by code ([`BlockWalk`]) until its end has come, so the work is linear however the input is made.

use crate::codec::{self, find_magic};
use crate::crc;
use crate::error::{DecodeError, Error};
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_BITS, HEADER_BITS, Header, Level, MAX_BLOCK_BITS};
use crate::formats::bzip2::push::block::Block;
use crate::formats::bzip2::stream::items::Head;
use crate::formats::bzip2::stream::walk::{BlockWalk, Walked};
use crate::stream::cursor::TextCursor;

/// A block longer than this is followed code by code, so that damage is found before 64 MiB are read. No encoder writes
/// such a block.
const MAX_SEARCH: u64 = 4 << 23;

/// Decodes consecutive `.bz2` streams. It accepts what bzip2 1.0.8 accepts, and ignores other bytes after the last
/// stream, as bzip2 does ([`trailing`](Self::trailing) tells where they begin).
///
/// It takes about 9 MB, and the bytes of the open block. Bytes that were pushed are kept until [`text`](Self::text) has
/// decoded them. Perturbed streams ([`Encoding::Perturbed`](crate::Encoding::Perturbed)) give the text that bzip2
/// gives.
#[derive(Default)]
pub struct Decoder {
    codec: codec::Decoder,
    input: Vec<u8>,
    /// The position of `input` in the whole input, in bytes.
    at: u64,
    /// The bit of `input` at which the next item begins.
    bit: u64,
    expect: Expect,
    /// How far the block at `bit` has been searched, in bits from its start: the next magic is not before.
    searched: u64,
    /// Set once the block at `bit` is followed code by code.
    walk: Option<Box<BlockWalk>>,
    ended: bool,
    single: bool,
    streams: u64,
    blocks: u64,
    /// The bit of the whole input at which the last block begins.
    block_bit: u64,
    combined_crc: u32,
    text: TextCursor,
    /// The number of bytes of `text` that have been handed out.
    taken: usize,
    error: Option<Error>,
}

/// The item that is expected.
#[derive(Clone, Copy, Default)]
enum Expect {
    #[default]
    Header,
    /// A block of a stream of this level, or the end of the stream.
    Block(Level),
    /// Nothing: the streams have ended.
    Nothing,
}

/// What a step has done.
enum Step {
    /// It has passed an item, made text, or begun to walk through a block: call it again.
    On,
    /// It needs more input, or has come to the end.
    Stop,
}

impl Decoder {
    /// A decoder of all consecutive streams.
    pub fn new() -> Decoder {
        Decoder::default()
    }

    /// A decoder of the first stream only. [`position`](Self::position) tells where it ends.
    pub fn single() -> Decoder {
        Decoder { single: true, ..Decoder::new() }
    }

    /// Adds bytes of the input.
    pub fn push(&mut self, coded: &[u8]) {
        if matches!(self.expect, Expect::Nothing) || self.error.is_some() {
            return;
        }
        let passed = (self.bit / 8) as usize;
        if passed >= self.input.len() / 2 {
            self.input.drain(..passed);
            self.at += passed as u64;
            self.bit %= 8;
        }
        self.input.extend_from_slice(coded);
    }

    /// Records that the input is complete.
    pub fn finish(&mut self) {
        self.ended = true;
    }

    /// Decodes the next block, if it is there. Returns the next bytes of text; `None` if more input is needed, or if
    /// the streams have ended.
    ///
    /// # Errors
    /// What is wrong with the input, once all text before the error has been taken; later calls return the same error.
    pub fn text(&mut self) -> Result<Option<&[u8]>, Error> {
        if let Some(error) = &self.error {
            return Err(error.again());
        }
        while !self.has_text() {
            match self.step() {
                Ok(Step::On) => {}
                Ok(Step::Stop) => return Ok(None),
                Err(error) => {
                    (self.input, self.text) = (Vec::new(), TextCursor::default());
                    return Err(self.error.insert(error).again());
                }
            }
        }
        let text = self.text.next();
        self.taken = text.len();
        Ok(Some(text))
    }

    /// Whether text of the last block is left. Frees the text that was handed out.
    fn has_text(&mut self) -> bool {
        self.text.consume(std::mem::take(&mut self.taken));
        !self.text.next().is_empty()
    }

    /// The byte of the input at which the streams end, if other bytes follow them there.
    pub fn trailing(&self) -> Option<u64> {
        let garbage = matches!(self.expect, Expect::Nothing) && !self.single;
        garbage.then(|| self.at + self.bit / 8).filter(|_| self.bit / 8 < self.input.len() as u64)
    }

    /// The byte of the input after the last whole item: the next item begins in it.
    pub fn position(&self) -> u64 {
        self.at + self.bit / 8
    }

    /// The first bit, in the input, of the block whose text came last; 0 before the first one.
    pub fn block_bit(&self) -> u64 {
        self.block_bit
    }

    /// The bytes that were pushed and are still kept, and the position of the first one in the whole input. All bytes
    /// from the next item on are among them.
    pub fn input(&self) -> (u64, &[u8]) {
        (self.at, &self.input)
    }

    /// The first bit, in the input, of the block that [`text`](Self::text) would decode next; `None` if it would do
    /// something else: hand out more of the last block, ask for input, or fail.
    pub fn next_block(&mut self) -> Option<u64> {
        while self.error.is_none() && !self.has_text() {
            if self.at_block() {
                return Some(self.at * 8 + self.bit);
            }
            // An error stays until `text` meets it.
            let Ok(Step::On) = self.step() else { break };
        }
        None
    }

    /// Passes over the next block, which another decoder has decoded at the bit that [`next_block`](Self::next_block)
    /// tells. `block.text` is not looked at here. Returns false, and passes over nothing, if `block` does not fit this
    /// stream: `text` then tells why.
    pub fn accept(&mut self, block: &Block) -> bool {
        let Some(begin) = self.next_block() else { return false };
        let Expect::Block(level) = self.expect else { return false };
        let ends = begin..=8 * (self.at + self.input.len() as u64);
        if block.block_len > level.block_limit() || !ends.contains(&block.end_bit) {
            return false;
        }
        self.pass(block.end_bit - 8 * self.at, block.crc);
        true
    }

    /// Goes on at bit `end` of `input`, after a block with this CRC.
    fn pass(&mut self, end: u64, crc: u32) {
        self.block_bit = self.at * 8 + self.bit;
        self.bit = end;
        self.blocks += 1;
        self.combined_crc = crc::combine(self.combined_crc, crc);
        (self.searched, self.walk) = (0, None);
    }

    /// Whether the input has ended, or may end, after what was pushed: the last stream is complete.
    pub fn is_complete(&self) -> bool {
        let between = matches!(self.expect, Expect::Header) && self.bit / 8 == self.input.len() as u64;
        self.error.is_none() && (matches!(self.expect, Expect::Nothing) || self.streams > 0 && between)
    }

    /// The number of the next block.
    fn number(&self) -> u64 {
        self.blocks + 1
    }

    fn damaged(&self, damage: Flaw) -> Error {
        Error::damaged(self.number(), self.at * 8 + self.bit, damage)
    }

    /// More input is needed.
    fn need(&self) -> Result<Step, Error> {
        let bit_offset = (self.at + self.input.len() as u64) * 8;
        if self.ended { Err(Error::Truncated { block: self.number(), bit_offset }) } else { Ok(Step::Stop) }
    }

    /// What is at `bit`.
    fn head(&self) -> Head {
        Head::of(&self.input[(self.bit / 8) as usize..], self.bit % 8)
    }

    /// Whether the next item is a block.
    fn at_block(&self) -> bool {
        let head = self.head();
        matches!(self.expect, Expect::Block(_)) && head.len() >= 48 && head.magic() == BLOCK_MAGIC
    }

    fn step(&mut self) -> Result<Step, Error> {
        let head = self.head();
        match self.expect {
            Expect::Header => self.header(head),
            Expect::Block(level) if self.at_block() => self.block(level),
            Expect::Block(_) => self.stream_end(head),
            Expect::Nothing => Ok(Step::Stop),
        }
    }

    fn header(&mut self, head: Head) -> Result<Step, Error> {
        match head.header() {
            Header::Stream(level) => {
                (self.streams, self.combined_crc) = (self.streams + 1, 0);
                self.bit += HEADER_BITS;
                self.expect = Expect::Block(level);
                Ok(Step::On)
            }
            Header::Short if head.len() == 0 && self.streams > 0 => Ok(Step::Stop),
            Header::Short => self.need(),
            Header::Other if self.streams == 0 => Err(Error::NotBzip2),
            Header::Other => {
                self.expect = Expect::Nothing;
                Ok(Step::Stop)
            }
        }
    }

    fn stream_end(&mut self, head: Head) -> Result<Step, Error> {
        if !head.may_be_magic() {
            return Err(self.damaged(Flaw::Magic));
        }
        let Some((_, stored)) = head.whole() else { return self.need() };
        let computed = self.combined_crc;
        if stored != computed {
            return Err(self.damaged(Flaw::StreamCrc { stored, computed }));
        }
        self.bit = (self.bit + END_BITS).next_multiple_of(8);
        self.expect = if self.single { Expect::Nothing } else { Expect::Header };
        Ok(Step::On)
    }

    /// Decodes the block at `bit` once all of it has come.
    fn block(&mut self, level: Level) -> Result<Step, Error> {
        let skew = self.bit % 8;
        let first = (self.bit / 8) as usize;
        let data = &self.input[first..];
        let most = skew + MAX_BLOCK_BITS;
        let end = (data.len() as u64 * 8).min(most);
        match &mut self.walk {
            None => {
                // The magic of the block itself is passed over.
                let from = skew + self.searched.max(48);
                let found = find_magic::find(data, from).or_else(|| find_magic::find_end(data, from));
                if found.is_none() && !self.ended {
                    // A magic may begin in the last 47 bits.
                    self.searched = self.searched.max((end - skew).saturating_sub(47));
                    if end - skew <= MAX_SEARCH {
                        return Ok(Step::Stop);
                    }
                    self.walk = Some(Box::new(BlockWalk::new(skew)));
                    return Ok(Step::On);
                }
            }
            Some(walk) => match walk.advance(data, end) {
                Walked::More if end == most => {
                    return Err(Error::BlockTooLarge { block: self.number(), bit_offset: self.at * 8 + self.bit });
                }
                Walked::More if !self.ended => return Ok(Step::Stop),
                _ => {}
            },
        }
        match self.codec.decode(data, skew, end, level.block_limit()) {
            Ok(block) => {
                self.pass(first as u64 * 8 + block.end_bit, block.crc);
                self.text.set(block.text);
                Ok(Step::On)
            }
            Err(DecodeError::Damaged(damage)) => Err(self.damaged(damage)),
            Err(DecodeError::OutOfData) if self.walk.is_none() => {
                self.walk = Some(Box::new(BlockWalk::new(skew)));
                Ok(Step::On)
            }
            Err(DecodeError::OutOfData) if self.ended => self.need(),
            Err(DecodeError::OutOfData) => {
                let reason = "the decoder reads past the end of the block".to_owned();
                Err(Error::Internal { block: self.number(), reason })
            }
        }
    }
}
