//! Recovers all good blocks of a damaged `.bz2` file.
//!
//! Blocks of a `.bz2` are independent, and each has a CRC of its text. The pool's stations decode everything that looks
//! like a block, and a block with the right CRC is taken. The search runs from left to right and continues where a good
//! block ends. A part between good blocks is a hole. Damage between blocks, in the headers and the ends of streams,
//! loses nothing. A block whose magic is damaged is found where the block before it ends; one whose CRC field is
//! damaged is accepted if the combined CRC at the end of its stream confirms it.
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
pub(crate) mod marks;
mod place;
mod recovery;
mod rejoin;
mod remains;

use crate::bits::{BitWriter, append_bits_from};
use crate::block::{SharedBytes, Text};
use crate::error::{Damage, Error};
use crate::formats::bzip2::perturbed;
use crate::index::Index;
use crate::read_at::ReadAt;
use crate::settings::Settings;
use crate::stream::text::write_text;
use std::fmt;
use std::io::Write;
use std::ops::Range;

pub use rejoin::Rejoiner;

/// A good block.
#[derive(Debug)]
#[non_exhaustive]
pub struct Block {
    /// Its number among the good blocks, from 1.
    pub number: u64,
    /// The block's bits in the file, including its magic.
    pub bits: Range<u64>,
    /// The offset of its text in the whole text: known up to the first hole, or from the index.
    pub text_offset: Option<u64>,
    /// The CRC of its text.
    pub crc: u32,
    /// The block follows a hole and nothing follows the block, so it may belong to another file of which this file has
    /// remains.
    pub doubtful: bool,
    text: Text,
    data: SharedBytes,
    /// Its first bit in `data`.
    start: u64,
}

impl Block {
    /// The number of bytes of its text.
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

    /// Appends the block's bits, with a damaged magic or CRC corrected.
    fn append_to(&self, bits: &mut BitWriter) {
        append_bits_from(bits, &self.data, self.start, self.bits.end - self.bits.start);
    }
}

/// A part of the file in which blocks are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hole {
    /// The bits of the file. An empty range at the end of the file means that the file ends where a block should begin;
    /// an empty range elsewhere means that nothing is left of the blocks.
    pub bits: Range<u64>,
    /// The number of blocks that visibly begin in it. More may begin with damaged magics.
    pub blocks: u64,
    /// The offset of its text in the whole text: known for the first hole, or from the index.
    pub text_offset: Option<u64>,
    /// The number of bytes of text lost, if an index tells.
    pub text_len: Option<u64>,
    /// What is wrong.
    pub cause: Cause,
}

/// The reason why the blocks of a hole are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The first block is damaged.
    Damage(Damage),
    /// No recognisable block begins at the place where one should begin.
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

/// A defect that loses no text of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// The bits of the file.
    pub bits: Range<u64>,
    /// What is wrong.
    pub what: What,
}

/// The kinds of defects that lose nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The header of a stream is damaged or missing.
    Header,
    /// The magic of a block is damaged.
    Magic,
    /// The CRC field of a block is damaged: the combined CRC of the stream agrees with the computed CRC.
    BlockCrc,
    /// The end of a stream is damaged or cut.
    End,
    /// The combined CRC of a stream is wrong, although all of its blocks are good.
    StreamCrc,
    /// Bits that belong to no stream.
    Garbage,
    /// A whole stream inside a damaged block: another file that was stored there or written over it. Its text is left
    /// out.
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

/// A finding in a file; findings are reported from its beginning to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Found {
    /// A good block.
    Block(Block),
    /// A part in which blocks are lost.
    Hole(Hole),
    /// A defect that loses nothing.
    Remark(Remark),
}

/// Totals over a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// Good blocks.
    pub blocks: u64,
    /// The number of streams with a good header or a good end.
    pub streams: u64,
    /// The number of bytes of text of the good blocks.
    pub text_len: u64,
    /// Holes between good blocks.
    pub holes: u64,
}

/// Goes through a `.bz2` file and calls `take` with each finding, in order.
///
/// With `index`, the index of the file made before it was damaged ([`Index::open_unchecked`]), the offsets and lengths
/// of holes in the text are known. Blocks are recognised by their CRCs and lengths, even if they have moved. Memory is
/// bounded by the pool's budget plus 80 bytes for each block of the index.
///
/// # Errors
/// [`Error::Read`], errors from `take`, errors in the index, and [`Error::Perturbed`]. Damage is not an error here.
pub fn recover(
    file: &dyn ReadAt,
    settings: &Settings,
    index: Option<&Index>,
    take: impl FnMut(Found) -> Result<(), Error>,
) -> Result<Recovered, Error> {
    perturbed::refuse(file)?;
    recovery::Recovery::new(file, settings, place::Places::new(index)?, take).run()
}
