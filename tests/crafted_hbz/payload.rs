//! A block's payload as a structure of its fields (docs/FORMAT.md).

use hybz::internals::bits::{BitSource, BitWriter, SliceBits};
use hybz::internals::formats::hbz::{BlockHeader, StreamHeader};

/// The meaning of a code, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    Byte(u8),
    /// A phrase of any length that fits into 8 bits; 0 is the escape.
    Phrase(Vec<u8>),
}

/// The fields of a payload.
#[derive(Clone, Debug)]
pub struct Payload {
    /// Whether the code occurs, and its meaning.
    pub codes: Vec<(bool, Meaning)>,
    pub entries: Vec<u32>,
    /// Six tables of tokens for each selector.
    pub tokens: Vec<Vec<u32>>,
    /// One table for each selector.
    pub selectors: Vec<Vec<u32>>,
    /// The numbers of bytes and tokens of each segment.
    pub directory: Vec<(u32, u32)>,
    pub segments: Vec<u8>,
}

const CLASSES: usize = 6;
const TOKENS: usize = 26;

impl Payload {
    /// Takes a good payload apart into its fields.
    pub fn parse(bytes: &[u8], header: &BlockHeader, stream: &StreamHeader) -> Payload {
        let mut source = SliceBits::new(bytes, 0, u64::MAX);
        let mut read = |count: u32| source.bits(count).expect("a good payload");
        let codes = (0..=read(8)).map(|_| (read(1) == 1, meaning(&mut read))).collect();
        let width = width(header.rows);
        let entries = (0..header.rows.div_ceil(1 << stream.entry_log)).map(|_| read(width)).collect();
        let count = read(4) as usize + 1;
        let mut table = |symbols: usize| (0..symbols).map(|_| share(&mut read)).collect();
        let tokens = (0..count * CLASSES).map(|_| table(TOKENS)).collect();
        let selectors = (0..count).map(|_| table(count)).collect();
        let directory = (0..header.rows.div_ceil(1 << 16)).map(|_| (read(24), read(17))).collect();
        let begin = source.position().div_ceil(8) as usize;
        Payload { codes, entries, tokens, selectors, directory, segments: bytes[begin..].to_vec() }
    }

    /// Puts the payload together. Values that do not fit their field are cut to their low bits.
    pub fn write(&self, rows: u32) -> Vec<u8> {
        let mut bits = BitWriter::new();
        let mut put = |value: u32, count: u32| bits.write(u64::from(value) & ((1 << count) - 1), count);
        put(self.codes.len() as u32 - 1, 8);
        for (used, meaning) in &self.codes {
            put((*used).into(), 1);
            match meaning {
                Meaning::Byte(byte) => put((*byte).into(), 9),
                Meaning::Phrase(string) => {
                    put(256 + string.len() as u32, 9);
                    string.iter().for_each(|&byte| put(byte.into(), 8));
                }
            }
        }
        self.entries.iter().for_each(|&row| put(row, width(rows)));
        put(self.selectors.len() as u32 - 1, 4);
        for &share in self.tokens.iter().chain(&self.selectors).flatten() {
            let len = 32 - share.leading_zeros();
            put(len, 4);
            if len > 1 {
                put(share & ((1 << (len - 1)) - 1), len - 1);
            }
        }
        for &(len, tokens) in &self.directory {
            put(len, 24);
            put(tokens, 17);
        }
        bits.align();
        let mut bytes = bits.finish();
        bytes.extend_from_slice(&self.segments);
        bytes
    }
}

fn meaning(read: &mut impl FnMut(u32) -> u32) -> Meaning {
    match read(9) {
        byte @ 0..256 => Meaning::Byte(byte as u8),
        long => Meaning::Phrase((256..long).map(|_| read(8) as u8).collect()),
    }
}

fn share(read: &mut impl FnMut(u32) -> u32) -> u32 {
    match read(4) {
        0 => 0,
        1 => 1,
        len => 1 << (len - 1) | read(len - 1),
    }
}

/// The number of bits of an entry point.
fn width(rows: u32) -> u32 {
    (32 - (rows - 1).leading_zeros()).max(1)
}
