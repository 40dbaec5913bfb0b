//! What the first bytes of data say about their format.

use hybz::Formats;

/// How many bytes name a format.
pub const HEAD_LEN: usize = hybz::hbz::MAGIC.len();

/// The header of a `.bz2` stream; the digit may be any from 1 to 9.
const HEADER: &[u8] = b"BZh9";

/// So many bytes are looked at.
pub const LEN: usize = HEADER.len();

/// Whether data that begin with `head` are LZ4 frames, skippable ones included.
pub fn is_lz4(head: &[u8]) -> bool {
    head.starts_with(&hybz::lz4::MAGIC)
        || head.starts_with(&hybz::lz4::LEGACY_MAGIC)
        || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Whether data that begin with `head`, which may be cut short, can be of one of these formats. What cannot is copied
/// by `-dcf`, by bzip2's rule. (That takes whatever begins as one of its files does, even a file of a single `B`. Of a
/// `.Z`, which has no digit to look at, and of an LZ4 frame, the whole magic must be there.)
pub fn may_be_compressed(head: &[u8], formats: Formats) -> bool {
    if formats == Formats::All {
        if head.first() == hybz::hbz::MAGIC.first() {
            return head.iter().zip(&hybz::hbz::MAGIC).all(|(a, b)| a == b);
        }
        if head.starts_with(&hybz::lzw::MAGIC) || is_lz4(head) {
            return true;
        }
    }
    let magic = head.iter().zip(&HEADER[..3]).all(|(a, b)| a == b);
    magic && head.get(3).is_none_or(|digit| (b'1'..=b'9').contains(digit))
}

/// The name of the format of data that begin with `head`, and the program that decompresses them, if it is one that
/// hybz does not read.
pub fn other_format(head: &[u8]) -> Option<(&'static str, &'static str)> {
    match head {
        [0x1f, 0x8b, ..] => Some(("gzip", "gzip")),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(("xz", "xz")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(("zstd", "zstd")),
        _ => None,
    }
}

/// Whether `--recover` may find something in data that begin with `head`: they may be a damaged `.bz2`.
pub fn may_be_recovered(head: &[u8]) -> bool {
    let other = head.starts_with(&hybz::hbz::MAGIC) || head.starts_with(&hybz::lzw::MAGIC) || is_lz4(head);
    !other && other_format(head).is_none()
}
