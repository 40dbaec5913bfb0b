//! Finds the first block, or other item, of a `.bz2` file at or after a byte, without its beginning.
//!
//! Every item of an intact file that lies across the byte, or ends at it, says where the next one begins: a block by
//! its codes, the end of a stream by its length, the header of a stream likewise. All bits before the byte that look
//! like such an item are examined, and those that cannot be one are dropped. If one answer is left, it is the right
//! one, because the true item is among them. If several are left, the file has blocks within the data of blocks; the
//! file is then decoded from its beginning, which settles the question. A magic in the data of a block therefore costs
//! time, but never gives a wrong text.
//!
//! The obvious alternative, to take the first block after the byte that decodes with its CRC, loses or doubles text as
//! soon as a block lies whole in the data of another, and takes a damaged block for data.

use super::around::{Answer, ask, is_plausible, magic_at};
use super::chain::Chain;
use super::{Expect, Place, Source};
use crate::error::{DecodeError, Error};
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_MAGIC, HEADER_BITS, Header, MAX_BLOCK, parse_stream_header};
use crate::formats::bzip2::perturbed;
use crate::read_at::fill_at;
use crate::recover::marks::{MagicKind, Marks};
use crate::settings::Settings;

/// The first item at or after byte `byte` of the file. `stop` is a bit from which on it does not matter.
pub(super) fn find_start(file: &Source, byte: u64, stop: u64, settings: &Settings) -> Result<Place, Error> {
    check_head(file)?;
    if byte == 0 {
        return Ok(Place { bit: 0, expect: Expect::Header });
    }
    match ask(file, byte)? {
        Answer::One(place) => Ok(place),
        Answer::Nothing => search(file, byte.saturating_mul(8), stop, settings),
        Answer::Several => {
            let mut chain =
                Chain::new(file, Place { bit: 0, expect: Expect::Header }, byte.saturating_mul(8), settings);
            while chain.next()?.is_some() {}
            Ok(chain.place)
        }
    }
}

/// Every part finds out the file's format, so that none of them is silent about another format.
fn check_head(file: &Source) -> Result<(), Error> {
    let mut head = [0; 4];
    let len = fill_at(file, &mut head, 0).map_err(Error::Read)?;
    match parse_stream_header(&head[..len]) {
        Header::Stream(_) => perturbed::refuse(file),
        Header::Short => Err(Error::Truncated { block: 1, bit_offset: len as u64 * 8 }),
        Header::Other => Err(Error::NotBzip2),
    }
}

/// The first good block at or after this bit, for a byte that lies in damage or after the last stream. The block must
/// be followed by another block or the end of a stream.
///
/// A bad block is an error: it may be damaged, and its text must not be lost in silence.
fn search(file: &Source, from: u64, stop: u64, settings: &Settings) -> Result<Place, Error> {
    for mark in Marks::new(file, from) {
        let mark = mark?;
        if mark.bit >= stop {
            break;
        }
        if mark.kind == MagicKind::Block && is_plausible(file, mark.bit)? {
            let mut chain = Chain::new(file, Place { bit: mark.bit, expect: Expect::Block(None) }, 0, settings);
            let end = match chain.decode(mark.bit, MAX_BLOCK as u32)? {
                Ok((block, at)) => at + block.end_bit,
                Err(DecodeError::OutOfData) => return Err(chain.truncated()),
                Err(DecodeError::Damaged(damage)) => return Err(chain.damaged(damage)),
            };
            if ![BLOCK_MAGIC, END_MAGIC].contains(&magic_at(file, end)?.0) {
                chain.place.bit = end;
                return Err(chain.damaged(Flaw::Magic));
            }
            let header = mark.bit.checked_sub(HEADER_BITS).filter(|bit| *bit >= from && bit.is_multiple_of(8));
            return Ok(match header {
                Some(header) if is_header(file, header)? => Place { bit: header, expect: Expect::Header },
                _ => Place { bit: mark.bit, expect: Expect::Block(None) },
            });
        }
    }
    Ok(Place { bit: u64::MAX, expect: Expect::Header })
}

fn is_header(file: &Source, bit: u64) -> Result<bool, Error> {
    let mut bytes = [0; 4];
    let len = fill_at(file, &mut bytes, bit / 8).map_err(Error::Read)?;
    Ok(matches!(parse_stream_header(&bytes[..len]), Header::Stream(_)))
}
