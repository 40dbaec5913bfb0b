//! Tells from the bits around a byte of a `.bz2` file where the next item begins.

use super::{Expect, Place, Source, StreamState};
use crate::codec::Decoder;
use crate::codec::find_magic::{find, plausible};
use crate::error::Error;
use crate::formats::bzip2::header::{
    BLOCK_MAGIC, END_BITS, END_MAGIC, HEADER_BITS, Header, MAX_BLOCK, parse_stream_header,
};
use crate::formats::bzip2::stream::walk::{Walk, Walked};
use crate::read_at::fill_at;

/// Blocks that begin more than this many bytes before a byte are not found from it. No encoder writes a longer block:
/// 18,002 groups of 50 codes of 20 bits are 2.25 MB, and the header is at most 30 kB. Longer ones are possible if
/// code lengths wander up and down (`chain` checks these).
pub(super) const REACH: u64 = 5 << 19;
/// The number of bytes after the byte that are read at first.
const AHEAD: u64 = 256 << 10;

/// The answer of the bits around a byte to the question of the next item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The next item is this one.
    One(Place),
    /// There are several answers.
    Several,
    /// Nothing lies across the byte.
    Nothing,
}

/// The next 48 bits of a file, with zeros after its end, and how many of them are in whole bytes of the file.
pub(super) fn magic_at(file: &Source, bit: u64) -> Result<(u64, u64), Error> {
    let mut bytes = [0; 8];
    let len = fill_at(file, &mut bytes[..7], bit / 8).map_err(Error::Read)?;
    let have = (len as u64 * 8).saturating_sub(bit % 8);
    Ok((u64::from_be_bytes(bytes) << (bit % 8) >> 16, have.min(48) / 8 * 8))
}

/// Whether a block could begin at this bit, judged by its first fields.
pub(super) fn is_plausible(file: &Source, bit: u64) -> Result<bool, Error> {
    let mut head = [0; 64];
    let len = fill_at(file, &mut head, bit / 8).map_err(Error::Read)?;
    Ok(plausible(&head[..len], bit % 8, len as u64 * 8))
}

/// Finds out where the next item begins, from everything that looks like an item across this byte.
pub(super) fn ask(file: &Source, byte: u64) -> Result<Answer, Error> {
    let mut around = Around::read(file, byte)?;
    let mut found = Vec::new();
    around.blocks(&mut found)?;
    around.ends(&mut found);
    around.headers(&mut found);
    found.dedup();
    Ok(match found[..] {
        [] => Answer::Nothing,
        [place] => Answer::One(place),
        _ if found.iter().all(|place| *place == found[0]) => Answer::One(found[0]),
        _ => Answer::Several,
    })
}

/// The bytes around a byte.
struct Around<'a> {
    file: &'a Source,
    /// The first of these bytes in the file.
    at: u64,
    data: Vec<u8>,
    /// The bit of `data` with which the byte begins.
    here: u64,
    decoder: Box<Decoder>,
}

impl<'a> Around<'a> {
    fn read(file: &'a Source, byte: u64) -> Result<Self, Error> {
        let at = byte.saturating_sub(REACH);
        let mut around = Around { file, at, data: Vec::new(), here: (byte - at) * 8, decoder: Box::default() };
        around.extend(byte - at + AHEAD)?;
        Ok(around)
    }

    /// Reads on up to this many bytes. Returns whether there were more than before.
    fn extend(&mut self, len: u64) -> Result<bool, Error> {
        let have = self.data.len();
        self.data.resize(len as usize, 0);
        let filled = fill_at(self.file, &mut self.data[have..], self.at + have as u64).map_err(Error::Read)?;
        self.data.truncate(have + filled);
        Ok(filled > 0)
    }

    /// The ends of blocks that begin before the byte and end after it.
    fn blocks(&mut self, found: &mut Vec<Place>) -> Result<(), Error> {
        let mut from = 0;
        while let Some(bit) = find(&self.data, from).filter(|&bit| bit < self.here) {
            from = bit + 1;
            if plausible(&self.data, bit, self.data.len() as u64 * 8)
                && let Some(end) = self.end_of_block(bit)?
                && end >= self.here
                && (self.joins(end)? || self.is_right(bit, end))
            {
                found.push(Place { bit: self.at * 8 + end, expect: Expect::Block(None) });
            }
        }
        Ok(())
    }

    /// The bit at which the codes of a block end, if they are codes, and if that is after the byte.
    fn end_of_block(&mut self, bit: u64) -> Result<Option<u64>, Error> {
        let all = self.here / 8 + REACH;
        loop {
            if let Ok(end) = self.decoder.find_end(&self.data, bit, self.here) {
                return Ok(end);
            }
            let mut walk = Walk::new(bit);
            match walk.advance(&self.data, self.data.len() as u64 * 8) {
                Walked::End => return Ok(Some(walk.position())),
                Walked::Damaged => return Ok(None),
                Walked::More if (self.data.len() as u64) < all && self.extend(all)? => {}
                Walked::More => return Ok(None),
            }
        }
    }

    /// Whether another block, or the end of the stream, begins at this bit, as far as the file goes.
    fn joins(&self, bit: u64) -> Result<bool, Error> {
        let (magic, len) = magic_at(self.file, self.at * 8 + bit)?;
        Ok([BLOCK_MAGIC, END_MAGIC].iter().any(|wanted| wanted >> (48 - len) == magic >> (48 - len)))
    }

    /// Whether the text of a block has its CRC. Only then a damaged magic after it is known to be one.
    fn is_right(&mut self, bit: u64, end: u64) -> bool {
        self.decoder.decode(&self.data, bit, end, MAX_BLOCK as u32).is_ok()
    }

    /// The ends of streams that begin before the byte and end at it or after it.
    fn ends(&self, found: &mut Vec<Place>) {
        for bit in self.here.saturating_sub(END_BITS + 7)..self.here {
            let end = (bit + END_BITS).next_multiple_of(8);
            if end >= self.here && self.is_end(bit) {
                found.push(Place { bit: self.at * 8 + end, expect: Expect::Header });
            }
        }
    }

    fn is_end(&self, bit: u64) -> bool {
        let byte = (bit / 8) as usize;
        let Some(bytes) = self.data.get(byte..byte + 7) else { return false };
        let word = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        word >> (8 - bit % 8) & ((1 << 48) - 1) == END_MAGIC
    }

    /// The headers of streams that begin before the byte and end at it or after it.
    fn headers(&self, found: &mut Vec<Place>) {
        let here = (self.here / 8) as usize;
        for begin in here.saturating_sub(4)..here {
            let Some(Header::Stream(level)) = self.data.get(begin..begin + 4).map(parse_stream_header) else {
                continue;
            };
            let bit = begin as u64 * 8;
            let follows_an_end = || (bit.saturating_sub(END_BITS + 7)..=bit - END_BITS).any(|bit| self.is_end(bit));
            if self.at + begin as u64 == 0 || bit >= END_BITS && follows_an_end() {
                let stream = StreamState { level, combined_crc: 0 };
                found.push(Place { bit: self.at * 8 + bit + HEADER_BITS, expect: Expect::Block(Some(stream)) });
            }
        }
    }
}
