//! Crafted `.bz2` files: traps for decoders, and the reaction of bzip2 1.0.8 to each of them.
//!
//! [`block`] and [`stream`] write streams bit by bit. Their output is valid by default (a naive encoder fills in the
//! fields), and every field can be set to something else. [`cases`] is the table of traps. `tests/library/traps.rs`
//! compares the table with the `bzip2` program, and hybz with the table.

pub mod bits;
pub mod block;
pub mod cases;
pub mod model;
pub mod randomise;
pub mod stream;

use crate::program::Refusal;

/// A crafted file.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    /// The reason why a decoder might fail at it, or the reason for bzip2's verdict.
    pub why: &'static str,
    pub file: Vec<u8>,
    pub expect: Expect,
}

/// The result of bzip2 1.0.8 for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Exit 0 and these bytes.
    Accepted(Vec<u8>),
    /// Exit 2.
    Refused {
        reason: Refusal,
        /// The text of all whole blocks before the damage. bzip2 may write it and then some bytes that no CRC covers;
        /// hybz must write exactly this text.
        good: Vec<u8>,
    },
}

/// Collects cases.
#[derive(Default)]
pub struct Family {
    pub cases: Vec<Case>,
}

impl Family {
    /// bzip2 accepts `file` and decodes it to `text`.
    pub fn accepted(&mut self, name: impl Into<String>, why: &'static str, file: Vec<u8>, text: Vec<u8>) {
        self.cases.push(Case { name: name.into(), why, file, expect: Expect::Accepted(text) });
    }

    /// bzip2 accepts `stream` and decodes it to the text that the model gives.
    pub fn right(&mut self, name: impl Into<String>, why: &'static str, stream: &stream::Stream) {
        self.accepted(name, why, stream.bytes(), stream.text());
    }

    /// bzip2 accepts this block, alone in a stream of level 9.
    pub fn good_block(&mut self, name: impl Into<String>, why: &'static str, block: block::Block) {
        self.right(name, why, &stream::Stream::single(block));
    }

    /// bzip2 calls `file` damaged, after whole blocks with the text `good`.
    pub fn damaged(&mut self, name: impl Into<String>, why: &'static str, file: Vec<u8>, good: Vec<u8>) {
        self.refused(name, why, file, Refusal::Data, good);
    }

    /// bzip2 calls this block damaged, alone in a stream of level 9.
    pub fn bad_block(&mut self, name: impl Into<String>, why: &'static str, block: block::Block) {
        self.damaged(name, why, stream::Stream::single(block).bytes(), Vec::new());
    }

    pub fn refused(
        &mut self,
        name: impl Into<String>,
        why: &'static str,
        file: Vec<u8>,
        reason: Refusal,
        good: Vec<u8>,
    ) {
        self.cases.push(Case { name: name.into(), why, file, expect: Expect::Refused { reason, good } });
    }
}

/// Data without structure: the bytes of a simple generator (xorshift), the same on every run.
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Data like text: some structure, a small alphabet, no long runs.
pub fn words(seed: u64, len: usize) -> Vec<u8> {
    let words: [&[u8]; 8] =
        [b"block ", b"stream ", b"run ", b"rotation ", b"origin\n", b"selector ", b"table ", b"station "];
    noise(seed, len).iter().flat_map(|&i| words[usize::from(i % 8)]).copied().take(len).collect()
}
