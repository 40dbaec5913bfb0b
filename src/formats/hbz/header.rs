//! The parts of a `.hbz` stream around its coded blocks. All numbers are little-endian; the specification is
//! `docs/FORMAT.md`.
//!
//! ```text
//! stream   := header block* index
//! header   32  magic 8 | version 1 | flags 1 | entry log 1 | segment log 1 | block size 4 | interval 4 | seed 8
//!              | CRC 4
//! block    32  "hbzB" | number 4 | text bytes 4 | rows 4 | payload bytes 4 | CRC of text 4 | CRC of payload 4 | CRC 4
//!          ..  payload: see `hbz::codec`
//! index     8  "hbzX" | number of blocks 4
//!          12  for each block: text bytes 4 | payload bytes 4 | CRC of text 4
//!          24  CRC of the index so far 4 | zero 4 | bytes of the index so far 8 | end magic 8
//! ```
//!
//! Each header ends in the CRC of its other bytes, and each field is checked before it is used. A header's claims bound
//! the memory that a reader asks for, and the stream's block size bounds these claims.

use crate::crc;
use crate::flaw::Flaw;
use std::ops::RangeInclusive;

/// The first bytes of a stream. bzip2 rejects the first byte; the others reveal a transfer that has changed line ends.
pub const MAGIC: [u8; 8] = *b"\x89HBZ\r\n\x1a\n";
/// The last bytes of a stream.
pub const END_MAGIC: [u8; 8] = *b"\x89HBZend\n";
/// The first bytes of a block.
const BLOCK_MAGIC: [u8; 4] = *b"hbzB";
/// The first bytes of an index.
const INDEX_MAGIC: [u8; 4] = *b"hbzX";
/// The only version so far.
const VERSION: u8 = 1;
/// The number of bytes of a stream header and of a block header. An index is never shorter.
pub const HEADER_LEN: usize = 32;
/// The number of bytes of an index without blocks.
const INDEX_LEN: usize = 32;
/// The number of bytes that each block adds to the index.
pub const ENTRY_LEN: usize = 12;
/// The number of bytes of an index before the entries.
pub const INDEX_HEAD: usize = 8;
/// The number of bytes of an index after the entries.
pub const INDEX_TAIL: usize = 24;

/// The smallest block size.
pub const MIN_BLOCK: u32 = 1 << 10;
/// The largest block size: 1 GiB.
pub const MAX_BLOCK: u32 = 1 << 30;
/// The base-2 logarithms that are allowed for the number of rows between two entry points.
pub const ENTRY_LOGS: RangeInclusive<u8> = 12..=24;
/// The base-2 logarithm of the rows between two entry points, as the encoder writes it: 32,768 rows. This costs 0.06 %
/// of size, and gives even a block of 1 MB some 20 chains.
pub const ENTRY_LOG: u8 = 15;
/// The base-2 logarithm of the rows of a segment. Version 1 allows no other.
pub const SEGMENT_LOG: u32 = 16;
/// The number of tokens coded with one selector's tables.
pub const GROUP: usize = 32;
/// The maximum number of selectors, and of sets of tables, in a block.
pub const MAX_TABLES: usize = 16;
/// The number of states of a table of tokens.
pub const TOKEN_STATES: usize = 2048;
/// The number of states of a table of selectors.
pub const SELECTOR_STATES: usize = 256;
/// The longest phrase of a dictionary, in bytes.
pub const MAX_PHRASE: usize = 255;

/// The options of a `.hbz` stream, whose blocks are larger than bzip2's or perturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargeBlocks {
    size: u32,
    interval: u32,
    seed: u64,
}

impl LargeBlocks {
    /// Blocks of `size` bytes of text; `None` if `size` is not 1 KiB to 1 GiB.
    ///
    /// Small blocks exist for tests: below 900,000 bytes `.bz2` is better in every way.
    pub const fn try_new(size: u32) -> Option<LargeBlocks> {
        let allowed = size >= MIN_BLOCK && size <= MAX_BLOCK;
        if allowed { Some(LargeBlocks { size, interval: 0, seed: 0 }) } else { None }
    }

    /// Inserts a byte after every `interval` bytes of a block (0: none), from a generator that starts from `seed`.
    /// Readers drop these bytes. Perturbation helps sorters whose time grows with the longest repeat, like the GPU
    /// string sort of Deshpande (2014). Each inserted byte costs about 5 bytes of output.
    pub const fn perturbation(mut self, interval: u32, seed: u64) -> LargeBlocks {
        self.interval = interval;
        self.seed = seed;
        self
    }

    /// The number of bytes of text in a block.
    pub const fn size(&self) -> u32 {
        self.size
    }

    pub(crate) const fn stream(&self) -> StreamHeader {
        // Without perturbation the seed is written as 0, so that the same blocks give the same bytes.
        let seed = if self.interval == 0 { 0 } else { self.seed };
        StreamHeader { block_size: self.size, interval: self.interval, seed, entry_log: ENTRY_LOG }
    }
}

/// The header of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamHeader {
    /// The number of bytes of text in each block. The last block may have fewer.
    pub block_size: u32,
    /// The perturbation interval: a byte was inserted after every `interval` bytes of a block's text. 0: none.
    pub interval: u32,
    /// The start value of the generator of these bytes. Readers do not need it.
    pub seed: u64,
    /// The base-2 logarithm of the rows between two entry points: 12 to 24.
    pub entry_log: u8,
}

impl StreamHeader {
    /// The header as bytes of the stream.
    pub fn write(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&[VERSION, 0, self.entry_log, SEGMENT_LOG as u8]);
        put(&mut bytes[12..28], &[self.block_size, self.interval, self.seed as u32, (self.seed >> 32) as u32]);
        write_crc(&mut bytes);
        bytes
    }

    /// Reads and checks a header.
    pub fn parse(bytes: &[u8; HEADER_LEN]) -> Result<StreamHeader, Flaw> {
        if bytes[..8] != MAGIC {
            return Err(Flaw::Magic);
        }
        check_crc("stream header", bytes)?;
        let [version, flags, entry_log, segment_log] = [bytes[8], bytes[9], bytes[10], bytes[11]];
        if version != VERSION || flags != 0 {
            return Err(Flaw::Version(version));
        }
        let [block_size, interval, low, high] = words(&bytes[12..]);
        let header = StreamHeader { block_size, interval, seed: u64::from(low) | u64::from(high) << 32, entry_log };
        check("segment size", u32::from(segment_log) == SEGMENT_LOG)?;
        check("entry interval", ENTRY_LOGS.contains(&entry_log))?;
        check("block size", (MIN_BLOCK..=MAX_BLOCK).contains(&header.block_size))?;
        Ok(header)
    }

    /// The maximum number of rows of a text of `text_len` bytes, perturbation included.
    pub fn max_rows(&self, text_len: u32) -> u32 {
        text_len + text_len.checked_div(self.interval).unwrap_or(0)
    }
}

/// The header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// The number of the block in its stream, counted from 0.
    pub number: u32,
    /// The number of bytes of its text.
    pub text_len: u32,
    /// The number of rows of its last column, which is the number of codes of its text after perturbation.
    pub rows: u32,
    /// The number of bytes of its payload, which follows the header.
    pub coded_len: u32,
    /// The CRC of the text.
    pub crc: u32,
    /// The CRC of the payload.
    pub coded_crc: u32,
}

impl BlockHeader {
    /// The header as bytes of the stream.
    pub fn write(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&BLOCK_MAGIC);
        let fields = [self.number, self.text_len, self.rows, self.coded_len, self.crc, self.coded_crc];
        put(&mut bytes[4..28], &fields);
        write_crc(&mut bytes);
        bytes
    }

    /// Reads and checks the header of block `expected`.
    pub fn parse(bytes: &[u8; HEADER_LEN], stream: &StreamHeader, expected: u32) -> Result<BlockHeader, Flaw> {
        if bytes[..4] != BLOCK_MAGIC {
            return Err(Flaw::Magic);
        }
        check_crc("block header", bytes)?;
        let [number, text_len, rows, coded_len, crc, coded_crc] = words(&bytes[4..]);
        let header = BlockHeader { number, text_len, rows, coded_len, crc, coded_crc };
        check("block number", header.number == expected)?;
        check("text length", (1..=stream.block_size).contains(&header.text_len))?;
        check("number of rows", (1..=stream.max_rows(header.text_len)).contains(&header.rows))?;
        // No encoder needs 3 bytes a row: the longest token takes 17 bits. The rest is for the tables and the
        // dictionary.
        let max = 3 * u64::from(header.rows) + (1 << 18);
        check("payload length", (1..=max).contains(&u64::from(header.coded_len)))?;
        Ok(header)
    }

    /// The block's entry in the index.
    pub(crate) fn entry(&self) -> IndexEntry {
        IndexEntry { text_len: self.text_len, coded_len: self.coded_len, crc: self.crc }
    }

    /// Whether the text is so much longer than the rows that it is kept as codes until it is written.
    pub(crate) fn is_compact(&self) -> bool {
        u64::from(self.text_len) > 3 * u64::from(self.rows) + MAX_SMALL_TEXT
    }

    /// The maximum number of bytes that decoding the block takes, its text and payload included: 4 bytes of the vector
    /// for each row, and in addition either 4 bytes of runs for each row, or the codes and the text with its
    /// perturbation bytes, whichever is more.
    pub(crate) fn decoding_bytes(&self, stream: &StreamHeader) -> u64 {
        let rows = u64::from(self.rows);
        let text = if self.is_compact() { 0 } else { u64::from(self.text_len) };
        let text = text + text.checked_div(stream.interval.into()).unwrap_or(0);
        let codes = rows.next_multiple_of(rows.min(1 << stream.entry_log));
        let alive = (8 * rows).max(4 * rows + codes + text);
        let segments = rows.div_ceil(1 << SEGMENT_LOG);
        u64::from(self.coded_len) + alive + segments * SEGMENT_TABLES + BLOCK_TABLES
    }
}

/// Text of at most this many bytes is kept as text, however few rows it has.
const MAX_SMALL_TEXT: u64 = 64 << 10;
/// The bytes for lists and counts that decoding takes for each segment.
const SEGMENT_TABLES: u64 = 3 << 10;
/// The bytes that decoding takes for each block, for the slot of its result and for its parts.
const BLOCK_TABLES: u64 = 2 << 10;

/// The index entry of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// The number of bytes of its text.
    pub text_len: u32,
    /// The number of bytes of its payload.
    pub coded_len: u32,
    /// The CRC of its text.
    pub crc: u32,
}

impl IndexEntry {
    /// The entry as bytes of the index.
    pub(crate) fn write(&self) -> [u8; ENTRY_LEN] {
        let mut bytes = [0; ENTRY_LEN];
        put(&mut bytes, &[self.text_len, self.coded_len, self.crc]);
        bytes
    }

    /// Reads an entry.
    pub(crate) fn parse(bytes: &[u8; ENTRY_LEN]) -> IndexEntry {
        let [text_len, coded_len, crc] = words(bytes);
        IndexEntry { text_len, coded_len, crc }
    }
}

/// The index of a stream as bytes, with the end magic.
pub fn write_index(entries: &[IndexEntry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(INDEX_LEN + ENTRY_LEN * entries.len());
    bytes.extend(INDEX_MAGIC);
    bytes.extend((entries.len() as u32).to_le_bytes());
    entries.iter().for_each(|entry| bytes.extend(entry.write()));
    bytes.extend(index_tail(crc::checksum(&bytes), bytes.len() as u64));
    bytes
}

/// The number of entries of the index that begins with these bytes.
pub fn index_count(head: &[u8]) -> Option<u32> {
    head.starts_with(&INDEX_MAGIC).then(|| words(&head[4..])).map(|[count]| count)
}

/// The end of an index; `crc` and `len` are those of its other bytes.
pub fn index_tail(crc: u32, len: u64) -> [u8; INDEX_TAIL] {
    let mut tail = [0; INDEX_TAIL];
    put(&mut tail[..16], &[crc, 0, len as u32, (len >> 32) as u32]);
    tail[16..].copy_from_slice(&END_MAGIC);
    tail
}

/// The length of a whole index that ends in `tail`, the last 16 bytes of a stream.
pub fn index_len(tail: &[u8; 16]) -> Option<u64> {
    let [low, high] = words(tail);
    let len = u64::from(low) | u64::from(high) << 32;
    (tail[8..] == END_MAGIC && len <= 1 << 36).then_some(len + (INDEX_LEN as u64 - 8))
}

/// Writes numbers.
fn put(bytes: &mut [u8], numbers: &[u32]) {
    bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(at, number)| *at = number.to_le_bytes());
}

/// The first numbers of these bytes.
pub(super) fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|j| bytes[4 * i + j])))
}

fn write_crc(bytes: &mut [u8; HEADER_LEN]) {
    let crc = crc::checksum(&bytes[..HEADER_LEN - 4]);
    put(&mut bytes[HEADER_LEN - 4..], &[crc]);
}

fn check_crc(part: &'static str, bytes: &[u8; HEADER_LEN]) -> Result<(), Flaw> {
    let ([stored], computed) = (words(&bytes[HEADER_LEN - 4..]), crc::checksum(&bytes[..HEADER_LEN - 4]));
    if stored == computed { Ok(()) } else { Err(Flaw::PartCrc { part, stored, computed }) }
}

/// The number of bits of the row of an entry point, in the payload of a block of `rows` rows.
pub const fn row_bits(rows: u32) -> u32 {
    let last = rows - 1;
    if last == 0 { 1 } else { 32 - last.leading_zeros() }
}

/// Returns an error for `field` unless `good`.
pub fn check(field: &'static str, good: bool) -> Result<(), Flaw> {
    if good { Ok(()) } else { Err(Flaw::Field(field)) }
}
