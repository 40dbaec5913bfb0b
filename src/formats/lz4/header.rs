//! The layout of LZ4 files: frames, one after the other. Numbers are little-endian.
//!
//! ```text
//! frame      04 22 4d 18 | flags 1 | block size 1 | [length of the text 8] | header checksum 1
//!            | blocks .. | 0 (4 bytes) | [checksum of the text 4]
//! block      length 4, bit 31: stored as it is | bytes | [checksum of these bytes 4]
//! legacy     02 21 4c 18 | blocks of 8 MiB of text: length 4 | bytes; ends where no such length follows
//! skippable  5x 2a 4d 18 | length 4 | bytes that mean nothing to LZ4
//! ```
//!
//! All checksums are xxHash32 with seed 0; a header's checksum is the second byte of its hash.
//!
//! The bytes of a block are sequences: a token (four bits for the number of literals, four for the match's length less
//! 4; a value of 15 means that bytes follow which are added to it, up to and including the first byte below 255), the
//! literals, the offset in 2 bytes, and the added bytes of the match's length. The last sequence has literals only.

use crate::flaw::Flaw;
use crate::format::Magic;
use twox_hash::XxHash32;

/// The first bytes of a frame.
pub const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// The first bytes of a legacy frame.
pub const LEGACY_MAGIC: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];
/// The bytes after the first byte of a skippable frame, which is 0x50 to 0x5f.
pub const SKIPPABLE_TAIL: [u8; 3] = [0x2a, 0x4d, 0x18];
/// The maximum length of a frame's header: magic, flags, block size, length, dictionary, checksum.
pub const MAX_HEADER_LEN: usize = 19;
/// The maximum length of a legacy block's text.
pub const LEGACY_BLOCK: u32 = 8 << 20;
/// The maximum length of a legacy block: a larger number is not a length, but may be a magic.
pub const LEGACY_BOUND: u32 = LEGACY_BLOCK + LEGACY_BLOCK / 255 + 16;
/// The maximum distance of a match.
pub const WINDOW: usize = 64 << 10;
/// The bit of a block's length that marks a block stored as its text.
pub const STORED: u32 = 1 << 31;

/// The header of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Matches reach into the blocks before.
    pub linked: bool,
    /// A checksum follows each block.
    pub block_checksums: bool,
    /// A checksum of the text follows the blocks.
    pub text_checksum: bool,
    /// The length of the text.
    pub text_len: Option<u64>,
    /// The maximum length of a block's text.
    pub block_size: u32,
    /// The frame is a legacy frame, which has only blocks.
    pub legacy: bool,
}

impl Header {
    /// The header of legacy frames.
    pub const LEGACY: Header = Header {
        linked: false,
        block_checksums: false,
        text_checksum: false,
        text_len: None,
        block_size: LEGACY_BLOCK,
        legacy: true,
    };

    /// The header of frames that hybz writes, but for the length of the text.
    pub const OURS: Header = Header { text_checksum: true, block_size: 64 << 10, legacy: false, ..Header::LEGACY };

    /// The length of a header that begins with the magic and these flags.
    pub fn len(flags: u8) -> usize {
        7 + 8 * usize::from(flags >> 3 & 1) + 4 * usize::from(flags & 1)
    }

    /// Parses a header, which begins with the magic and has the length that [`len`](Self::len) returns.
    pub fn parse(bytes: &[u8]) -> Result<Header, Flaw> {
        let [_, _, _, _, flags, sizes, fields @ .., checksum] = bytes else { return Err(Flaw::Lz4Field("header")) };
        if bytes.len() != Header::len(*flags) {
            return Err(Flaw::Lz4Field("header"));
        }
        let flag = |bit: u32| flags >> bit & 1 == 1;
        if flags >> 6 != 1 {
            return Err(Flaw::Lz4Field("version of the frame"));
        }
        if flag(1) || sizes & 0x8f != 0 {
            return Err(Flaw::Lz4Field("reserved bit of the frame"));
        }
        let size = sizes >> 4;
        if size < 4 {
            return Err(Flaw::Lz4Field("block size of the frame"));
        }
        let computed = header_checksum(&bytes[4..bytes.len() - 1]);
        if *checksum != computed {
            let (stored, computed) = ((*checksum).into(), computed.into());
            return Err(Flaw::Lz4Checksum { part: "header", stored, computed });
        }
        let (text_len, dictionary) = if flag(3) { fields.split_at(8) } else { (&[][..], fields) };
        if let Ok(dictionary) = dictionary.try_into() {
            return Err(Flaw::Lz4Dictionary(u32::from_le_bytes(dictionary)));
        }
        Ok(Header {
            linked: !flag(5),
            block_checksums: flag(4),
            text_checksum: flag(2),
            text_len: text_len.try_into().ok().map(u64::from_le_bytes),
            block_size: 1 << (8 + 2 * size),
            legacy: false,
        })
    }

    /// The header's bytes.
    pub fn write(&self) -> Vec<u8> {
        if self.legacy {
            return LEGACY_MAGIC.to_vec();
        }
        let flag = |bit: u32, set: bool| u8::from(set) << bit;
        let flags = 1 << 6
            | flag(5, !self.linked)
            | flag(4, self.block_checksums)
            | flag(3, self.text_len.is_some())
            | flag(2, self.text_checksum);
        let mut bytes = MAGIC.to_vec();
        bytes.extend([flags, (((self.block_size.trailing_zeros() - 8) / 2) as u8) << 4]);
        bytes.extend(self.text_len.iter().flat_map(|len| len.to_le_bytes()));
        bytes.push(header_checksum(&bytes[4..]));
        bytes
    }

    /// The maximum length of a block.
    pub fn max_block_len(&self) -> u32 {
        if self.legacy { LEGACY_BOUND } else { self.block_size }
    }
}

/// How many of the data's first bytes match the magic of a frame of any kind.
pub(crate) fn magic(head: &[u8]) -> Magic {
    let first = head.first().copied().unwrap_or(MAGIC[0]);
    if first & 0xf0 == 0x50 {
        let [a, b, c] = SKIPPABLE_TAIL;
        Magic::of(head, &[first, a, b, c])
    } else {
        Magic::of(head, if first == MAGIC[0] { &MAGIC } else { &LEGACY_MAGIC })
    }
}

/// The xxHash32 of some bytes.
pub fn checksum(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(0, bytes)
}

fn header_checksum(bytes: &[u8]) -> u8 {
    (checksum(bytes) >> 8) as u8
}
