//! Parses `.hbz` streams incrementally, as their bytes come. All code that reads streams from their start uses it.

use super::header::{
    BlockHeader, ENTRY_LEN, HEADER_LEN, INDEX_HEAD, INDEX_TAIL, IndexEntry, MAGIC, StreamHeader, index_count,
    index_tail, words,
};
use crate::crc::Crc;
use crate::flaw::Flaw;
use crate::stream::piece::StreamEndDetector;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The next part of the input.
pub(crate) enum StreamPart<'a> {
    /// All bytes are consumed; more are needed.
    Need,
    /// A stream begins.
    Stream(StreamHeader),
    /// A block begins; its payload comes next.
    Block(StreamHeader, BlockHeader),
    /// Bytes of the payload, at least one.
    Payload(&'a [u8]),
    /// The stream ends with an index of this many bytes, which lists its blocks.
    End(u64),
    /// No stream begins here. These bytes were consumed, and no more will be.
    Other(Vec<u8>),
    /// The part that [begins](Walker::begin) last is damaged. No more bytes will be consumed.
    Damaged(Flaw),
}

#[derive(Clone, Copy, Default)]
enum WalkState {
    /// Before or in the header of a stream.
    #[default]
    Header,
    /// Before or in the header of a block, or the first bytes of the index.
    Next(StreamHeader),
    /// This many bytes of a payload are left.
    Payload(StreamHeader, u32),
    Index,
    /// Nothing more can be parsed.
    Lost,
}

/// The parser.
#[derive(Default)]
pub(crate) struct Walker {
    state: WalkState,
    /// The bytes of an incomplete part.
    head: [u8; HEADER_LEN],
    head_len: usize,
    index: Index,
    begin: u64,
    at: u64,
}

impl Walker {
    /// The offset of the last part that has begun: a header, a payload or an index.
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// The number of bytes consumed.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Whether a payload or an index is incomplete.
    pub fn is_inside(&self) -> bool {
        matches!(self.state, WalkState::Payload(..) | WalkState::Index)
    }

    /// Whether the last stream is complete.
    pub fn is_after_stream(&self) -> bool {
        matches!(self.state, WalkState::Header) && self.head_len == 0 && self.at > 0
    }

    /// Consumes bytes up to the next part.
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> StreamPart<'a> {
        match self.state {
            WalkState::Header => self.header(bytes),
            WalkState::Next(stream) => self.block_or_index(stream, bytes),
            WalkState::Payload(stream, left) => {
                let some = self.take(left as usize, bytes);
                if some.is_empty() {
                    return StreamPart::Need;
                }
                self.leave_payload(stream, left - some.len() as u32);
                StreamPart::Payload(some)
            }
            WalkState::Index => self.index(bytes),
            WalkState::Lost => StreamPart::Need,
        }
    }

    /// Goes to the end of the payload, whose bytes are not given.
    pub fn skip_payload(&mut self) {
        if let WalkState::Payload(stream, left) = self.state {
            self.at += u64::from(left);
            self.leave_payload(stream, 0);
        }
    }

    fn leave_payload(&mut self, stream: StreamHeader, left: u32) {
        self.state = WalkState::Payload(stream, left);
        if left == 0 {
            (self.state, self.begin) = (WalkState::Next(stream), self.at);
        }
    }

    fn take<'a>(&mut self, n: usize, bytes: &mut &'a [u8]) -> &'a [u8] {
        let (some, rest) = bytes.split_at(bytes.len().min(n));
        *bytes = rest;
        self.at += some.len() as u64;
        some
    }

    /// Reads on until the head has `n` bytes or more. Returns whether it has.
    fn fill(&mut self, n: usize, bytes: &mut &[u8]) -> bool {
        let some = self.take(n.saturating_sub(self.head_len), bytes);
        self.head[self.head_len..self.head_len + some.len()].copy_from_slice(some);
        self.head_len += some.len();
        self.head_len >= n
    }

    /// Enters this state after a complete header or index.
    fn enter(&mut self, state: WalkState) {
        (self.state, self.head_len, self.begin) = (state, 0, self.at);
    }

    fn damaged<'a>(&mut self, flaw: Flaw) -> StreamPart<'a> {
        self.state = WalkState::Lost;
        StreamPart::Damaged(flaw)
    }

    fn header<'a>(&mut self, bytes: &mut &[u8]) -> StreamPart<'a> {
        self.fill(MAGIC.len(), bytes);
        let magic = self.head_len.min(MAGIC.len());
        if self.head[..magic] != MAGIC[..magic] {
            self.state = WalkState::Lost;
            return StreamPart::Other(self.head[..self.head_len].to_vec());
        }
        if !self.fill(HEADER_LEN, bytes) {
            return StreamPart::Need;
        }
        match StreamHeader::parse(&self.head) {
            Ok(stream) => {
                self.index = Index::default();
                self.enter(WalkState::Next(stream));
                StreamPart::Stream(stream)
            }
            Err(flaw) => self.damaged(flaw),
        }
    }

    fn block_or_index<'a>(&mut self, stream: StreamHeader, bytes: &mut &[u8]) -> StreamPart<'a> {
        if !self.fill(HEADER_LEN, bytes) {
            return StreamPart::Need;
        }
        let blocks = self.index.blocks;
        match (index_count(&self.head), BlockHeader::parse(&self.head, &stream, blocks)) {
            (Some(listed), _) if listed != blocks => self.damaged(Flaw::Index { blocks, listed }),
            (Some(_), _) => {
                self.state = WalkState::Index;
                self.index(bytes)
            }
            (None, Ok(block)) => {
                self.index.add(block.entry());
                self.enter(WalkState::Payload(stream, block.coded_len));
                StreamPart::Block(stream, block)
            }
            (None, Err(flaw)) => self.damaged(flaw),
        }
    }

    fn index<'a>(&mut self, bytes: &mut &[u8]) -> StreamPart<'a> {
        loop {
            let n = self.index.wants();
            if !self.fill(n, bytes) {
                return StreamPart::Need;
            }
            let complete = self.index.read(&self.head[..n]);
            self.head.copy_within(n..self.head_len, 0);
            self.head_len -= n;
            match complete {
                Ok(false) => {}
                Ok(true) => {
                    let len = self.at - self.begin;
                    self.enter(WalkState::Header);
                    return StreamPart::End(len);
                }
                Err(flaw) => return self.damaged(flaw),
            }
        }
    }
}

/// A stream states the length of each of its parts, and ends after its index. Damage counts as an end too: the joiner
/// then returns the error.
impl StreamEndDetector for Walker {
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        loop {
            match self.next(&mut rest) {
                StreamPart::Need => return None,
                StreamPart::End(_) | StreamPart::Other(_) | StreamPart::Damaged(_) => {
                    return Some(bytes.len() - rest.len());
                }
                StreamPart::Stream(_) | StreamPart::Block(..) | StreamPart::Payload(_) => {}
            }
        }
    }
}

/// Compares the index at the end of a stream with the blocks before it. The index has 12 bytes for each block, so
/// neither these nor the index are stored: each has a keyed hash, which no file can foresee.
struct Index {
    blocks: u32,
    of_blocks: <RandomState as BuildHasher>::Hasher,
    of_index: <RandomState as BuildHasher>::Hasher,
    crc: Crc,
    /// The number of bytes of the index read so far.
    len: u64,
}

impl Default for Index {
    fn default() -> Index {
        let key = RandomState::new();
        let (of_blocks, of_index) = (key.build_hasher(), key.build_hasher());
        Index { blocks: 0, of_blocks, of_index, crc: Crc::new(), len: 0 }
    }
}

impl Index {
    fn add(&mut self, entry: IndexEntry) {
        self.of_blocks.write(&entry.write());
        self.blocks += 1;
    }

    /// The length of the index without its tail.
    fn body(&self) -> u64 {
        (INDEX_HEAD + ENTRY_LEN * self.blocks as usize) as u64
    }

    /// The number of bytes to read next.
    fn wants(&self) -> usize {
        if self.len == 0 {
            INDEX_HEAD
        } else if self.len < self.body() {
            ENTRY_LEN
        } else {
            INDEX_TAIL
        }
    }

    /// Reads the next [`wants`](Self::wants) bytes, and returns whether they complete the index. The first ones are
    /// already known to be the head of an index with this number of blocks.
    fn read(&mut self, bytes: &[u8]) -> Result<bool, Flaw> {
        if self.len == self.body() {
            return self.judge(bytes).map(|()| true);
        }
        self.crc.update(bytes);
        if self.len > 0 {
            self.of_index.write(bytes);
        }
        self.len += bytes.len() as u64;
        Ok(false)
    }

    fn judge(&self, tail: &[u8]) -> Result<(), Flaw> {
        let computed = self.crc.finish();
        let expected = index_tail(computed, self.body());
        let (stored, rest) = tail.split_at(4);
        if rest != &expected[4..] {
            Err(Flaw::Field("index"))
        } else if stored != &expected[..4] {
            let [stored] = words(stored);
            Err(Flaw::PartCrc { part: "index", stored, computed })
        } else if self.of_blocks.finish() != self.of_index.finish() {
            Err(Flaw::Index { blocks: self.blocks, listed: self.blocks })
        } else {
            Ok(())
        }
    }
}
