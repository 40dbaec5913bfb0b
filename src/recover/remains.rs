//! Classifies the bits between good blocks: the end of a stream, the remains of a lost stream, or garbage.

use super::marks::Marks;
use crate::codec::find_magic::{find, find_end};
use crate::error::Error;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_BITS, END_MAGIC, Header, parse_stream_header};
use crate::read_at::{ReadAt, fill_at};
use std::ops::Range;

/// The max number of wrong bits at which a magic is still recognised.
const NEAR: u32 = 2;
/// The max number of wrong bits at which the first 72 bits of a stream are still recognised. Random bits have 36.
const NEAR_BEGINNING: u32 = 16;
/// Ranges of at most this many bits are read with one read.
const SHORT: u64 = 4096;

/// Whether this magic is `wanted`, give or take [`NEAR`] bits.
pub(super) fn near(magic: u64, wanted: u64) -> bool {
    (magic ^ wanted).count_ones() <= NEAR
}

/// Whether these bits, which follow a good block, are just the end of its stream, possibly cut or with some bytes
/// zeroed. `combined` is the CRC it must have, if known.
pub(super) fn is_end(file: &dyn ReadAt, bits: Range<u64>, combined: Option<u32>) -> Result<bool, Error> {
    let (len, skew) = (bits.end - bits.start, bits.start % 8);
    // A magic further on belongs to the end of another block.
    if !(8..END_BITS + 8).contains(&len) || has_magic(file, bits.start + 1..bits.end)? {
        return Ok(false);
    }
    let mut bytes = [0; 16];
    fill_at(file, &mut bytes, bits.start / 8).map_err(Error::Read)?;
    let found = u128::from_be_bytes(bytes);
    let have = len.min(48);
    let wrong = |magic: u64| ((found << skew ^ u128::from(magic) << 80) >> (128 - have)).count_ones();
    if wrong(END_MAGIC) <= if have < 24 { 0 } else { NEAR } {
        return Ok(true);
    }
    let Some(combined) = combined else { return Ok(len >= END_BITS && wrong(BLOCK_MAGIC) > NEAR) };
    let wanted = (u128::from(END_MAGIC) << 80 | u128::from(combined) << 48) >> skew;
    let mask = (u128::MAX << 48) >> skew;
    let is_zero_or_right = |at: u32| {
        let byte = |word: u128| (word >> at) as u8;
        byte(found & mask) == 0 || byte((found ^ wanted) & mask) == 0
    };
    Ok(len >= END_BITS && (0..128).step_by(8).all(is_zero_or_right))
}

/// Whether these bits, which should not exist, are remains of another stream: a magic begins at `from` or after it, or
/// a stream begins in them. `from` may lie before the bits.
pub(super) fn is_of_a_stream(file: &dyn ReadAt, bits: Range<u64>, from: u64) -> Result<bool, Error> {
    let mut bytes = [0; 10];
    let len = ((bits.end - bits.start) / 8).min(10) as usize;
    if bits.start.is_multiple_of(8) && len > 0 {
        fill_at(file, &mut bytes[..len], bits.start / 8).map_err(Error::Read)?;
        let is_cut_header = bits.end - bits.start <= 24 && b"BZh".starts_with(&bytes[..len]);
        let mut beginning = [b'B', b'Z', b'h', bytes[3], 0, 0, 0, 0, 0, 0];
        beginning[4..].copy_from_slice(&BLOCK_MAGIC.to_be_bytes()[2..]);
        let wrong: u32 = bytes.iter().zip(beginning).map(|(a, b)| (a ^ b).count_ones()).sum();
        if is_cut_header || (len == 10 && wrong <= NEAR_BEGINNING) {
            return Ok(true);
        }
    }
    Ok(has_beginning(file, &bits)? || has_magic(file, from..bits.end)?)
}

/// Whether these bits contain a header and the first byte of a magic. In long ranges such bits may occur by chance, so
/// only ranges of at most [`SHORT`] bits are searched.
fn has_beginning(file: &dyn ReadAt, bits: &Range<u64>) -> Result<bool, Error> {
    let bytes = bits.start.div_ceil(8)..bits.end / 8;
    if bits.end - bits.start > SHORT || bytes.end < bytes.start + 5 {
        return Ok(false);
    }
    let mut found = vec![0; (bytes.end - bytes.start) as usize];
    let len = fill_at(file, &mut found, bytes.start).map_err(Error::Read)?;
    let magics = [BLOCK_MAGIC, END_MAGIC].map(|magic| magic.to_be_bytes()[2]);
    let begins = |bytes: &[u8]| matches!(parse_stream_header(bytes), Header::Stream(_)) && magics.contains(&bytes[4]);
    Ok(found[..len].windows(5).any(begins))
}

/// Whether these bits contain a magic.
fn has_magic(file: &dyn ReadAt, bits: Range<u64>) -> Result<bool, Error> {
    let fits = |bit: u64| bit + 48 <= bits.end;
    if bits.end.saturating_sub(bits.start) > SHORT {
        let first = Marks::new(file, bits.start).next().transpose()?;
        return Ok(first.is_some_and(|mark| fits(mark.bit)));
    }
    let at = bits.start / 8;
    let mut bytes = vec![0; (bits.end.div_ceil(8).saturating_sub(at)) as usize];
    let len = fill_at(file, &mut bytes, at).map_err(Error::Read)?;
    let first = [find, find_end].into_iter().filter_map(|find| find(&bytes[..len], bits.start % 8)).min();
    Ok(first.is_some_and(|bit| fits(at * 8 + bit)))
}
