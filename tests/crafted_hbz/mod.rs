//! Crafted `.hbz` files: payloads taken apart into their fields and put together again, blocks and indexes of any
//! kind. All CRCs are right, so the decoder meets the error itself, not a wrong checksum.
#![allow(dead_code)] // each test binary uses its own part

mod payload;

pub use payload::{Meaning, Payload};

use hybz::internals::crc;
use hybz::internals::formats::hbz::encode::HbzEncoder;
use hybz::internals::formats::hbz::{BlockHeader, IndexEntry, StreamHeader, write_index};

/// The header of a stream of such blocks.
pub fn stream(block_size: u32) -> StreamHeader {
    StreamHeader { block_size, interval: 0, seed: 0, entry_log: 15 }
}

/// A block: its payload, and the fields of its header except for the payload's CRC.
#[derive(Clone, Debug)]
pub struct Block {
    pub header: BlockHeader,
    pub payload: Vec<u8>,
}

impl Block {
    /// A block of this text.
    pub fn of(text: &[u8], stream: &StreamHeader) -> Block {
        let (header, payload) = HbzEncoder::default().encode(text, 0, stream);
        Block { header, payload }
    }

    /// `rows` equal codes, each of which stands for `phrase`.
    pub fn bomb(rows: usize, phrase: &[u8], stream: &StreamHeader) -> Block {
        // Neither words nor blanks contain the byte 2, so each 2 is a code.
        let mut block = Block::of(&vec![2; rows], stream);
        let mut payload = Payload::parse(&block.payload, &block.header, stream);
        payload.codes[0].1 = Meaning::Phrase(phrase.to_vec());
        block.payload = payload.write(block.header.rows);
        block.header.text_len = (rows * phrase.len()) as u32;
        let mut text = crc::Crc::new();
        let many = phrase.repeat(1024);
        (0..rows / 1024).for_each(|_| text.update(&many));
        text.update(&many[..rows % 1024 * phrase.len()]);
        block.header.crc = text.finish();
        block
    }

    /// Writes the block with this number; the length and CRC are its own.
    fn write(&self, number: u32, out: &mut Vec<u8>) {
        let (coded_len, coded_crc) = (self.payload.len() as u32, crc::checksum(&self.payload));
        out.extend(BlockHeader { number, coded_len, coded_crc, ..self.header }.write());
        out.extend_from_slice(&self.payload);
    }

    fn entry(&self) -> IndexEntry {
        IndexEntry { text_len: self.header.text_len, coded_len: self.payload.len() as u32, crc: self.header.crc }
    }
}

/// A stream of these blocks, in order.
pub fn file<'a>(stream: &StreamHeader, blocks: impl IntoIterator<Item = &'a Block>) -> Vec<u8> {
    let mut out = stream.write().to_vec();
    let mut index = Vec::new();
    for (number, block) in (0..).zip(blocks) {
        block.write(number, &mut out);
        index.push(block.entry());
    }
    out.extend(write_index(&index));
    out
}
