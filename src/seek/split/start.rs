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
//! soon as a block lies wholly in the data of another, and takes a damaged block for data.

use super::Source;
use super::around::{Answer, ask};
use super::part::Part;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_MAGIC, HEADER_BITS, Header};
use crate::formats::bzip2::perturbed;
use crate::formats::bzip2::stream::chain::{Expect, Place};
use crate::formats::bzip2::stream::items::{Head, is_plausible, level_at};
use crate::recover::marks::{MagicKind, Marks};
use crate::settings::Settings;

/// The items that begin before bit `stop`, from the first item at or after byte `byte` of the file on.
pub(super) fn find_start(file: &Source, byte: u64, stop: u64, settings: &Settings) -> Result<Part, Error> {
    check_head(file)?;
    if byte == 0 {
        return Ok(Part::new(file, Place::START, stop, settings));
    }
    let from = byte.saturating_mul(8);
    let place = match ask(file, byte)? {
        Answer::One(place) => place,
        Answer::Nothing => search(file, from, stop, settings)?,
        Answer::Several => {
            let mut part = Part::new(file, Place::START, from, settings);
            while part.next()?.is_some() {}
            part.go_on(stop);
            return Ok(part);
        }
    };
    Ok(Part::new(file, place, stop, settings))
}

/// Every part finds out the file's format, so that each of them reports another format.
fn check_head(file: &Source) -> Result<(), Error> {
    let head = Head::at(file, 0)?;
    match head.header() {
        Header::Stream(_) => perturbed::refuse(file),
        Header::Short => Err(Error::Truncated { block: 1, bit_offset: head.len() }),
        Header::Other => Err(Error::NotBzip2),
    }
}

/// The first good block at or after this bit, for a byte that lies in damage or after the last stream. The block must
/// be followed by another block or the end of a stream.
///
/// A bad block is an error: it may be damaged, and its text must not be lost silently.
fn search(file: &Source, from: u64, stop: u64, settings: &Settings) -> Result<Place, Error> {
    for mark in Marks::new(file, from) {
        let mark = mark?;
        if mark.bit >= stop {
            break;
        }
        if mark.kind == MagicKind::Block && is_plausible(file, mark.bit)? {
            let block = Place { bit: mark.bit, expect: Expect::Block(None) };
            let mut part = Part::new(file, block, mark.bit + 1, settings);
            part.next()?;
            let end = part.position();
            if ![BLOCK_MAGIC, END_MAGIC].contains(&Head::at(file, end)?.magic()) {
                return Err(Error::damaged(1, end, Flaw::Magic));
            }
            let header = mark.bit.checked_sub(HEADER_BITS).filter(|bit| *bit >= from);
            return Ok(match header {
                Some(bit) if level_at(file, bit)?.is_some() => Place { bit, expect: Expect::Header },
                _ => block,
            });
        }
    }
    // The file has no more items.
    Ok(Place { bit: file.len().saturating_mul(8), expect: Expect::Header })
}
