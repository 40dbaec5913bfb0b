//! The index of a `.bz2` file, `.bzi`: a header and fixed records, each with a CRC of its own. All numbers are
//! little-endian; the specification is `docs/INDEX.md`.
//!
//! ```text
//! header   64  magic 8 | version 1 | flags 1 | bytes of a record 2 | zero 4 | end of the last stream 8 | text bytes 8
//!              | records 8 | blocks 8 | streams 8 | zero 4 | CRC 4
//! record   32  bit offset 8 | text offset 8 | CRC 4 | stream 4 | level 1 | kind 1 | zero 2 | check 4
//!          40  the same with the line ends before it 8, in front of the check
//! ```

use crate::crc;

/// The magic of an index. Its line ends reveal a transfer that has changed line ends.
pub const MAGIC: [u8; 8] = *b"\x89BZI\r\n\x1a\n";
/// The only version so far.
const VERSION: u8 = 1;
/// The flag of an index with line ends.
const LINES: u8 = 1;
/// The number of bytes of the header.
pub const HEADER_LEN: usize = 64;
/// The maximum number of bytes of a record.
pub const MAX_RECORD: usize = 40;

/// The reason why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The bytes do not begin with the magic.
    Magic,
    /// A version or a flag is unknown.
    Version(u8),
    /// The CRC is wrong, or a field.
    Damaged,
}

/// The header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexHeader {
    /// Whether records have the number of line ends before them.
    pub lines: bool,
    /// The end of the last stream in the compressed file, in bytes.
    pub coded_len: u64,
    /// The number of bytes of text in all blocks.
    pub text_len: u64,
    /// The number of records that follow.
    pub records: u64,
    /// The number of records for blocks.
    pub blocks: u64,
    /// The number of records for ends of streams.
    pub streams: u64,
}

impl IndexHeader {
    /// The number of bytes of a record.
    pub fn record_len(&self) -> usize {
        if self.lines { MAX_RECORD } else { 32 }
    }

    /// The number of bytes of the whole index; `None` if it does not fit 64 bits.
    pub fn index_len(&self) -> Option<u64> {
        self.records.checked_mul(self.record_len() as u64)?.checked_add(HEADER_LEN as u64)
    }

    /// The header as bytes of the file.
    pub fn write(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&[VERSION, if self.lines { LINES } else { 0 }]);
        bytes[10..12].copy_from_slice(&(self.record_len() as u16).to_le_bytes());
        let numbers = [self.coded_len, self.text_len, self.records, self.blocks, self.streams];
        for (place, number) in bytes[16..56].as_chunks_mut().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        let crc = crc::checksum(&bytes[..60]);
        bytes[60..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads and checks a header.
    pub fn parse(bytes: &[u8; HEADER_LEN]) -> Result<IndexHeader, Unread> {
        if bytes[..8] != MAGIC {
            return Err(Unread::Magic);
        }
        if u32_at(bytes, 60) != crc::checksum(&bytes[..60]) {
            return Err(Unread::Damaged);
        }
        if bytes[8] != VERSION || bytes[9] & !LINES != 0 {
            return Err(Unread::Version(bytes[8]));
        }
        let header = IndexHeader {
            lines: bytes[9] & LINES != 0,
            coded_len: u64_at(bytes, 16),
            text_len: u64_at(bytes, 24),
            records: u64_at(bytes, 32),
            blocks: u64_at(bytes, 40),
            streams: u64_at(bytes, 48),
        };
        // Every other field follows from these, or must be 0. No stream and no block is shorter than 14 bytes.
        let parts = header.blocks.checked_add(header.streams).and_then(|parts| parts.checked_add(1));
        let fits = header.streams > 0
            && parts == Some(header.records)
            && header.records <= header.coded_len
            // More than the size of any file, with room for the arithmetic on bits.
            && header.coded_len <= 1 << 60
            && header.index_len().is_some()
            && header.blocks <= header.text_len;
        if fits && header.write() == *bytes { Ok(header) } else { Err(Unread::Damaged) }
    }
}

/// The subject of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A block.
    Block,
    /// The end of a stream.
    EndOfStream,
    /// The end of the last stream: the last record.
    EndOfData,
}

/// A record: the start of a block or of an end record in the compressed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its kind.
    pub kind: RecordKind,
    /// The position in the compressed file, in bits.
    pub bit_offset: u64,
    /// The number of bytes of text before it.
    pub text_offset: u64,
    /// The CRC after the magic: the block's, or the stream's combined CRC. 0 at the end.
    pub crc: u32,
    /// The number of its stream, from 1; `u32::MAX` stands for the stream of that number and all later ones.
    pub stream: u32,
    /// The level of that stream.
    pub level: u8,
    /// The number of line ends in the text before it; 0 if they were not counted.
    pub lines: u64,
}

impl Record {
    /// The record with this number as bytes of a file, in the first `record_len` bytes.
    pub fn write(&self, number: u64, header: &IndexHeader) -> [u8; MAX_RECORD] {
        let mut bytes = [0; MAX_RECORD];
        bytes[..8].copy_from_slice(&self.bit_offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.text_offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.crc.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.stream.to_le_bytes());
        bytes[24..26].copy_from_slice(&[self.level, self.kind as u8]);
        let at = header.record_len() - 4;
        if header.lines {
            bytes[28..36].copy_from_slice(&self.lines.to_le_bytes());
        }
        let check = check(number, &bytes[..at]);
        bytes[at..at + 4].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads and checks the record with this number, which has `record_len` bytes; `None` if it is damaged.
    pub fn parse(bytes: &[u8], number: u64, header: &IndexHeader) -> Option<Record> {
        let at = bytes.len().checked_sub(4).filter(|at| at + 4 == header.record_len())?;
        let kind = match bytes[25] {
            0 => RecordKind::Block,
            1 => RecordKind::EndOfStream,
            2 => RecordKind::EndOfData,
            _ => return None,
        };
        let record = Record {
            kind,
            bit_offset: u64_at(bytes, 0),
            text_offset: u64_at(bytes, 8),
            crc: u32_at(bytes, 16),
            stream: u32_at(bytes, 20),
            level: bytes[24],
            lines: if header.lines { u64_at(bytes, 28) } else { 0 },
        };
        let whole = (header.coded_len * 8, header.text_len, 0);
        let good = check(number, &bytes[..at]) == u32_at(bytes, at)
            && (1..=9).contains(&record.level)
            && bytes[26..28] == [0, 0]
            && (kind == RecordKind::EndOfData) == (number + 1 == header.records)
            && record.bit_offset <= header.coded_len * 8
            && record.text_offset <= header.text_len
            && (kind != RecordKind::EndOfData || (record.bit_offset, record.text_offset, record.crc) == whole);
        good.then_some(record)
    }
}

/// The CRC of a record's number and bytes, so that a record in the wrong place is invalid.
fn check(number: u64, bytes: &[u8]) -> u32 {
    let mut crc = crc::Crc::new();
    crc.update(&number.to_le_bytes());
    crc.update(bytes);
    crc.finish()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(lines: bool) -> IndexHeader {
        IndexHeader { lines, coded_len: 1000, text_len: 5000, records: 5, blocks: 2, streams: 2 }
    }

    /// The CRC is right and the numbers are impossible.
    #[test]
    fn impossible_headers() {
        for absurd in [
            IndexHeader { records: 4, ..header(false) },
            IndexHeader { blocks: u64::MAX, ..header(false) },
            IndexHeader { records: 1, blocks: 0, streams: 0, ..header(false) },
            IndexHeader { records: 1 << 62, blocks: (1 << 62) - 3, ..header(false) },
            IndexHeader { coded_len: u64::MAX, ..header(false) },
            IndexHeader { text_len: 1, ..header(false) },
        ] {
            assert_eq!(IndexHeader::parse(&absurd.write()), Err(Unread::Damaged), "{absurd:?}");
        }
    }

    #[test]
    fn a_newer_version_is_no_damage() {
        let mut newer = header(true).write();
        newer[8] = VERSION + 1;
        let sum = crc::checksum(&newer[..60]);
        newer[60..64].copy_from_slice(&sum.to_le_bytes());
        let opened = crate::index::Index::open_unchecked(std::sync::Arc::new(newer.to_vec()), &b"BZh9".to_vec());
        let expected = format!("this index has a newer version ({}) than this program knows", VERSION + 1);
        assert_eq!(opened.err().map(|error| error.to_string()), Some(expected));
    }
}
