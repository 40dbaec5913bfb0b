//! Compares the index at the end of a stream with the blocks before it. The index has 12 bytes for each block, so
//! neither side is stored: each has a keyed hash, which no file can foresee.

use crate::crc::Crc;
use crate::flaw::Flaw;
use crate::formats::hbz::header::{ENTRY_LEN, INDEX_HEAD, INDEX_TAIL, IndexEntry, index_tail};
use std::hash::{BuildHasher, Hasher, RandomState};

/// A hash of the blocks, and of the part of the index that has been read.
pub(crate) struct Index {
    blocks: u32,
    of_blocks: <RandomState as BuildHasher>::Hasher,
    of_index: <RandomState as BuildHasher>::Hasher,
    crc: Crc,
    /// The number of bytes of the index read so far.
    len: u64,
}

/// The result of reading the last bytes of the index.
pub(crate) enum Judged {
    More,
    Good,
    Bad(Flaw),
}

impl Index {
    pub fn new() -> Index {
        let key = RandomState::new();
        let (of_blocks, of_index) = (key.build_hasher(), key.build_hasher());
        Index { blocks: 0, of_blocks, of_index, crc: Crc::new(), len: 0 }
    }

    /// Adds a block.
    pub fn add(&mut self, entry: IndexEntry) {
        self.of_blocks.write(&entry.write());
        self.blocks += 1;
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// The number of bytes of the index that have been read.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The length of the index without its tail.
    fn body(&self) -> u64 {
        (INDEX_HEAD + ENTRY_LEN * self.blocks as usize) as u64
    }

    /// The number of bytes to read next.
    pub fn wants(&self) -> usize {
        if self.len == 0 {
            INDEX_HEAD
        } else if self.len < self.body() {
            ENTRY_LEN
        } else {
            INDEX_TAIL
        }
    }

    /// Reads the next [`wants`](Self::wants) bytes. The first ones are already known to be the head of an index with
    /// this number of blocks.
    pub fn read(&mut self, bytes: &[u8]) -> Judged {
        let (before, body) = (self.len, self.body());
        self.len += bytes.len() as u64;
        if before == body {
            return self.judge(bytes);
        }
        self.crc.update(bytes);
        if before > 0 {
            self.of_index.write(bytes);
        }
        Judged::More
    }

    fn judge(&self, tail: &[u8]) -> Judged {
        let computed = self.crc.finish();
        let expected = index_tail(computed, self.body());
        let (stored, rest) = tail.split_at(4);
        if rest != &expected[4..] {
            Judged::Bad(Flaw::Field("index"))
        } else if stored != &expected[..4] {
            let stored = u32::from_le_bytes(std::array::from_fn(|i| stored[i]));
            Judged::Bad(Flaw::PartCrc { part: "index", stored, computed })
        } else if self.of_blocks.finish() != self.of_index.finish() {
            Judged::Bad(Flaw::Index { blocks: self.blocks, listed: self.blocks })
        } else {
            Judged::Good
        }
    }
}
