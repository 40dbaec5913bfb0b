//! Tells from the bits around a byte of a `.bz2` file where the next item begins.

use super::Source;
use crate::codec::Decoder;
use crate::codec::find_magic::{find, find_end, plausible};
use crate::error::Error;
use crate::formats::bzip2::header::{END_BITS, HEADER_BITS, Header, MAX_BLOCK, parse_stream_header};
use crate::formats::bzip2::stream::chain::{Expect, Place};
use crate::formats::bzip2::stream::items::Head;
use crate::formats::bzip2::stream::walk::{BlockWalk, Walked};
use crate::read_at::fill_at;

/// Blocks that begin more than this many bytes before a byte are not found from it. No encoder writes a longer block:
/// 18,002 groups of 50 codes of 20 bits are 2.25 MB, and the header is at most 30 kB. Longer ones are possible if
/// code lengths wander up and down (`part` checks these).
pub(super) const REACH: u64 = 5 << 19;
/// The number of bytes after the byte that are read at first.
const AHEAD: u64 = 256 << 10;

/// What the bits around a byte say about where the next item begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The next item is this one.
    One(Place),
    /// There are several answers.
    Several,
    /// Nothing lies across the byte.
    Nothing,
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
    /// The offset in the file of the first of these bytes.
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

    /// Reads on until there are `len` bytes in all. Returns whether any were added.
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
                && (Head::at(self.file, self.at * 8 + end)?.may_be_magic() || self.is_right(bit, end))
            {
                found.push(Place { bit: self.at * 8 + end, expect: Expect::Block(None) });
            }
        }
        Ok(())
    }

    /// The bit at which the codes of a block end, if they are codes and end after the byte.
    fn end_of_block(&mut self, bit: u64) -> Result<Option<u64>, Error> {
        let all = self.here / 8 + REACH;
        loop {
            if let Ok(end) = self.decoder.find_end(&self.data, bit, self.here) {
                return Ok(end);
            }
            let mut walk = BlockWalk::new(bit);
            match walk.advance(&self.data, self.data.len() as u64 * 8) {
                Walked::End => return Ok(Some(walk.position())),
                Walked::Damaged => return Ok(None),
                Walked::More if (self.data.len() as u64) < all && self.extend(all)? => {}
                Walked::More => return Ok(None),
            }
        }
    }

    /// Whether the text of a block has its CRC. Only then is a damaged magic after it known to be one.
    fn is_right(&mut self, bit: u64, end: u64) -> bool {
        self.decoder.decode(&self.data, bit, end, MAX_BLOCK as u32).is_ok()
    }

    /// The ends of streams that begin before the byte and end at it or after it.
    fn ends(&self, found: &mut Vec<Place>) {
        for bit in self.end_magics(self.here.saturating_sub(END_BITS + 7), self.here) {
            let end = (bit + END_BITS).next_multiple_of(8);
            if end >= self.here {
                found.push(Place { bit: self.at * 8 + end, expect: Expect::Header });
            }
        }
    }

    /// The magics of ends that begin at bits `from .. to` of the data.
    fn end_magics(&self, from: u64, to: u64) -> impl Iterator<Item = u64> {
        let data = &self.data[..self.data.len().min((to / 8) as usize + 7)];
        let after = move |from| find_end(data, from).filter(|&bit| bit < to);
        std::iter::successors(after(from), move |&bit| after(bit + 1))
    }

    /// The headers of streams that begin before the byte and end at it or after it.
    fn headers(&self, found: &mut Vec<Place>) {
        let here = (self.here / 8) as usize;
        for begin in here.saturating_sub(4)..here {
            let Some(Header::Stream(level)) = self.data.get(begin..begin + 4).map(parse_stream_header) else {
                continue;
            };
            let bit = begin as u64 * 8;
            let follows_an_end =
                || self.end_magics(bit.saturating_sub(END_BITS + 7), bit - END_BITS + 1).next().is_some();
            if self.at + begin as u64 == 0 || bit >= END_BITS && follows_an_end() {
                found.push(Place { bit: self.at * 8 + bit + HEADER_BITS, expect: Expect::Block(Some(level)) });
            }
        }
    }
}
