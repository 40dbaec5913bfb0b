//! Gets out of a damaged `.bz2` file all blocks that are good.
//!
//! Blocks of a `.bz2` are independent, and each has a CRC of its text. So everything that looks like a block is decoded
//! by the stations of the pool, and taken if its CRC is right: from left to right, where one ends the search goes on.
//! What is between them is a hole. What is damaged between blocks loses nothing: the headers and the ends of streams.
//! A block whose magic is damaged is found where the block before it ends; one whose CRC field is damaged is believed
//! if the combined CRC at the end of its stream bears it out.
//!
//! ```
//! use hybz::{Level, Settings, recover::{Found, recover}};
//! let text: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
//! let mut file = hybz::compress(&text, &Settings::new().level(Level::FASTEST))?;
//! let middle = file.len() / 2;
//! file[middle] ^= 1;
//!
//! let (mut good, mut lost) = (Vec::new(), 0);
//! let summary = recover(&file, &Settings::new(), None, |found| match found {
//!     Found::Block(block) => block.write_text(&mut good),
//!     Found::Hole(hole) => Ok(lost += hole.blocks),
//!     _ => Ok(()),
//! })?;
//! assert_eq!((summary.blocks, summary.holes, lost), (4, 1, 1));
//! assert_eq!(good.len() as u64, summary.text_len);
//! # Ok::<(), hybz::Error>(())
//! ```

mod candidates;
mod crcs;
mod marks;
mod place;
mod rejoin;
mod remains;
mod walk;

use crate::bits::{BitWriter, append_bits_from};
use crate::block::Text;
use crate::error::{Damage, Error};
use crate::index::Index;
use crate::read_at::ReadAt;
use crate::settings::Settings;
use crate::stream::driver::write_text;
use std::fmt;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

pub use marks::{Kind, Mark, Marks};
pub use rejoin::Rejoiner;

/// A good block.
#[derive(Debug)]
#[non_exhaustive]
pub struct Block {
    /// Counted from 1 over the good blocks.
    pub number: u64,
    /// Its bits in the file, from its magic on.
    pub bits: Range<u64>,
    /// Where its text begins in the whole text: known up to the first hole, or by the index.
    pub text_offset: Option<u64>,
    /// The CRC of its text.
    pub crc: u32,
    /// Behind a hole, and nothing follows it: it may be of another file, parts of which stand in this one.
    pub doubtful: bool,
    text: Text,
    data: Arc<Vec<u8>>,
    /// Its first bit in `data`.
    start: u64,
}

impl Block {
    /// How many bytes its text has.
    pub fn text_len(&self) -> u64 {
        self.text.len()
    }

    /// Writes its text.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write_text(&self, mut out: impl Write) -> Result<(), Error> {
        write_text(&mut out, &self.text).map(drop).map_err(Error::Write)
    }

    /// Appends its bits. (A magic or a CRC that was damaged is right in them.)
    fn append_to(&self, bits: &mut BitWriter) {
        append_bits_from(bits, &self.data, self.start, self.bits.end - self.bits.start);
    }
}

/// A part of the file in which blocks are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hole {
    /// The bits of the file. None at its end means that the file ends where a block should begin, none elsewhere that
    /// nothing is left of the blocks.
    pub bits: Range<u64>,
    /// How many blocks begin in it, as far as that can be seen: there may be more, if their magics are damaged.
    pub blocks: u64,
    /// Where its text begins in the whole text: known of the first hole, or by the index.
    pub text_offset: Option<u64>,
    /// How much text is lost, if an index says it.
    pub text_len: Option<u64>,
    /// What is wrong.
    pub cause: Cause,
}

/// Why blocks of a hole are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The first of them is damaged.
    Damage(Damage),
    /// No block can be seen where one should begin.
    NoBlock,
    /// The file ends before the block or the stream does.
    Cut,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Damage(damage) => damage.fmt(f),
            Cause::NoBlock => f.write_str("no block begins there"),
            Cause::Cut => f.write_str("the file ends there"),
        }
    }
}

/// Something else that is not as it should be. No text of the file is lost by it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// The bits of the file.
    pub bits: Range<u64>,
    /// What is wrong.
    pub what: What,
}

/// What is wrong without a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The header of a stream is damaged or missing.
    Header,
    /// The magic of a block is damaged.
    Magic,
    /// The CRC field of a block is damaged: the combined CRC of the stream is that of the computed one.
    BlockCrc,
    /// The end of a stream is damaged or cut.
    End,
    /// The combined CRC of a stream does not fit its blocks, which are all good.
    StreamCrc,
    /// Bits that belong to no stream.
    Garbage,
    /// A whole stream inside a damaged block: another file that is stored there, or was written over it. Its text is
    /// left out.
    Nested,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            What::Header => "the header of a stream is damaged",
            What::Magic => "the magic of a block is damaged",
            What::BlockCrc => "the stored CRC of a block is damaged",
            What::End => "the end of a stream is damaged",
            What::StreamCrc => "the combined CRC of a stream does not fit its blocks, which are all good",
            What::Garbage => "these bits belong to no stream",
            What::Nested => "doubtful: a whole stream inside a damaged block, which is left out",
        })
    }
}

/// What is found in a file, from its beginning to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Found {
    /// A good block.
    Block(Block),
    /// Something is lost.
    Hole(Hole),
    /// Something is wrong, and nothing is lost.
    Remark(Remark),
}

/// What was found in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// Good blocks.
    pub blocks: u64,
    /// Streams of which the header or the end is good.
    pub streams: u64,
    /// Bytes of their text.
    pub text_len: u64,
    /// Holes between them.
    pub holes: u64,
}

/// Looks through a `.bz2` file and gives to `take` what is found, in order, block by block.
///
/// With `index`, the index of the file before it was damaged ([`Index::open_unchecked`]), the places and lengths of
/// holes in the text are known; blocks are recognised by their CRCs and lengths, also where they have moved. Memory is
/// bounded by the pool's budget, and by 80 bytes for each block of the index.
///
/// # Errors
/// [`Error::Read`], what `take` returns, or what is wrong with the index. Damage is no error here.
pub fn recover(
    file: &dyn ReadAt,
    settings: &Settings,
    index: Option<&Index>,
    take: impl FnMut(Found) -> Result<(), Error>,
) -> Result<Recovered, Error> {
    walk::Walker::new(file, settings, place::Places::new(index)?, take).run()
}
