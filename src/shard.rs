//! Compresses one file in parts, on any machines, and joins the parts to the file that bzip2 would have written.
//!
//! bzip2 ends a block between two runs, and its state at the start of a block is the same as at the start of a stream.
//! A shard of whole blocks is therefore coded the same alone as in the middle of its file, and a part is an ordinary
//! `.bz2` stream. [`plan`] finds shards: it cuts the text as the encoder does, without coding it. [`Joiner`] appends
//! the blocks of the parts to each other, shifted by some bits. It need not decode them, because the combined CRC of
//! two sequences of blocks follows from the CRCs of both: combined(AB) = combined(A) rotated left by the number of B's
//! blocks, xor combined(B).
//!
//! ```
//! use hybz::{Level, Settings, shard};
//! let text = b"to be or not to be\n".repeat(30_000);
//! let settings = Settings::new().level(Level::FASTEST);
//! let mut shards = Vec::new();
//! shard::plan(&text[..], Level::FASTEST, 200_000, |shard| Ok(shards.push(shard)))?;
//! assert_eq!(shards.len(), 2);
//!
//! // Each of them somewhere else.
//! let part = |shard: &shard::Shard| hybz::compress(&text[shard.text()], &settings);
//! let parts = shards.iter().map(part).collect::<Result<Vec<_>, _>>()?;
//!
//! let mut joiner = shard::Joiner::new(Level::FASTEST, Vec::new());
//! for (shard, part) in shards.iter().zip(&parts) {
//!     joiner.part(shard, part)?;
//! }
//! let (whole, _) = joiner.finish()?;
//! assert!(whole == hybz::compress(&text, &settings)?);
//! # Ok::<(), hybz::Error>(())
//! ```

use crate::bits::{BitWriter, append_bits};
use crate::block::Text;
use crate::crc;
use crate::error::Error;
use crate::formats::bzip2::header::{self, END_BITS, END_MAGIC, HEADER_BITS, Level};
use crate::formats::bzip2::stream::items::{Head, level_at};
use crate::formats::bzip2::stream::split::{BlockOptions, Splitter};
use crate::read_at::{ReadAt, fill_at, read_some};
use crate::stream::piece::{Cut, Input};
use crate::stream::text::look_at;
use crossbeam_channel::bounded;
use std::fmt;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The number of blocks that may wait for their CRCs.
const AHEAD: usize = 8;
/// The number of bytes of a part copied in one step: as many as fit in an L2 cache, and more than a buffer of 256 KiB,
/// so that the copy bypasses such buffers.
const COPY: usize = 320 << 10;

/// Some consecutive blocks of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shard {
    /// The shard's number, from 0.
    pub number: u64,
    /// The number of bytes of text before it.
    pub offset: u64,
    /// The number of bytes of its text.
    pub length: u64,
    /// The number of its blocks.
    pub blocks: u64,
    /// The combined CRC of its blocks, which is stored at the end of the part.
    pub crc: u32,
}

impl Shard {
    /// A shard as listed in a plan.
    pub fn new(number: u64, offset: u64, length: u64, blocks: u64, crc: u32) -> Shard {
        Shard { number, offset, length, blocks, crc }
    }

    /// The range of its bytes, for a text that is in memory.
    pub fn text(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.length) as usize
    }
}

/// Finds the shards of a text: each has whole blocks, and each except the last has at least `size` bytes. They are
/// handed to `each` while the text is read. An empty text has none. Returns the combined CRC of all blocks, which the
/// end of the joined stream stores.
///
/// One thread reads and cuts, and the caller's thread computes CRCs; if no thread can be started, the caller's thread
/// does both.
///
/// # Errors
/// [`Error::Read`]; [`Error::Write`] with the error that `each` returns.
pub fn plan(
    text: impl Read + Send,
    level: Level,
    size: u64,
    each: impl FnMut(Shard) -> io::Result<()>,
) -> Result<u32, Error> {
    let mut planning = Planning { shard: Shard::new(0, 0, 0, 0, 0), crc: 0, size, each };
    // The thread takes the text out of this cell; if it cannot be started, the text is still in it.
    let text = Mutex::new(Some(text));
    let take = || text.lock().unwrap_or_else(PoisonError::into_inner).take();
    thread::scope(|scope| {
        let (sender, blocks) = bounded(AHEAD);
        let cutting = thread::Builder::new().spawn_scoped(scope, move || match take() {
            Some(text) => cut(text, level, |block| sender.send(block).is_ok()),
            None => Ok(()),
        });
        let cut = match cutting {
            Ok(cutting) => {
                // Dropping `blocks` ends the other thread.
                blocks.into_iter().try_for_each(|block| planning.add(&block))?;
                cutting.join().unwrap_or_else(|_| Err(io::Error::other("the cutting thread panicked")))
            }
            Err(_) => {
                let mut added = Ok(());
                let cut = take().map_or(Ok(()), |text| {
                    cut(text, level, |block| {
                        added = planning.add(&block);
                        added.is_ok()
                    })
                });
                added?;
                cut
            }
        };
        cut.map_err(Error::Read)?;
        planning.finish()
    })
}

/// A plan that is being made.
struct Planning<F> {
    /// The open shard.
    shard: Shard,
    /// The combined CRC of all blocks so far.
    crc: u32,
    size: u64,
    each: F,
}

impl<F: FnMut(Shard) -> io::Result<()>> Planning<F> {
    fn add(&mut self, block: &Text) -> Result<(), Error> {
        let shard = &mut self.shard;
        let crc = crc_of(block);
        self.crc = crc::combine(self.crc, crc);
        shard.crc = crc::combine(shard.crc, crc);
        shard.length += block.len();
        shard.blocks += 1;
        if shard.length < self.size {
            return Ok(());
        }
        let next = Shard::new(shard.number + 1, shard.offset + shard.length, 0, 0, 0);
        (self.each)(std::mem::replace(shard, next)).map_err(Error::Write)
    }

    fn finish(mut self) -> Result<u32, Error> {
        if self.shard.blocks > 0 {
            (self.each)(self.shard).map_err(Error::Write)?;
        }
        Ok(self.crc)
    }
}

/// Reads a text and cuts it into blocks, and nothing more: the baseline for measuring a plan. Returns the number of
/// blocks.
#[cfg(any(test, feature = "internals"))]
pub fn split(text: impl Read, level: Level) -> io::Result<u64> {
    let mut blocks = 0;
    cut(text, level, |_| {
        blocks += 1;
        true
    })?;
    Ok(blocks)
}

/// Cuts a text to its end, or until no more blocks are wanted.
fn cut(mut text: impl Read, level: Level, mut out: impl FnMut(Text) -> bool) -> io::Result<()> {
    let mut splitter = Splitter::new(level, BlockOptions::default());
    let mut ended = false;
    while !ended {
        match read_some(&mut text, splitter.room())? {
            0 => {
                splitter.finish();
                ended = true;
            }
            n => splitter.filled(n),
        }
        while let Some(block) = splitter.next_piece() {
            if !out(block.text) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn crc_of(block: &Text) -> u32 {
    if let Text::RunLength { crc, .. } = block {
        return *crc;
    }
    let mut crc = crc::Crc::new();
    look_at(block, |piece| crc.update(piece));
    crc.finish()
}

/// A part, as its beginning and its end describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The level in its header.
    pub level: Level,
    /// The combined CRC at its end.
    pub crc: u32,
    /// The bit at which the end of its stream begins. Its blocks are the bits from 32 on.
    end_bit: u64,
}

impl Part {
    /// Reads the beginning and the end of a part.
    ///
    /// # Errors
    /// [`Error::NotBzip2`] or [`Error::Truncated`], if it does not begin or end as a stream does; [`Error::Read`].
    pub fn open(file: &(impl ReadAt + ?Sized)) -> Result<Part, Error> {
        let Some(level) = level_at(file, 0)? else { return Err(Error::NotBzip2) };
        let bits = file.len().saturating_mul(8);
        let mut last = [0];
        for padding in 0..8 {
            let Some(end_bit) = bits.checked_sub(END_BITS + padding).filter(|end| *end >= HEADER_BITS) else { break };
            fill_at(file, &mut last, file.len() - 1).map_err(Error::Read)?;
            let zeros = last[0] & ((1 << padding) - 1) == 0;
            if let Some((END_MAGIC, crc)) = Head::at(file, end_bit)?.whole().filter(|_| zeros) {
                return Ok(Part { level, crc, end_bit });
            }
        }
        Err(Error::Truncated { block: 1, bit_offset: bits })
    }
}

/// Joins the parts of all shards of a plan, in order, to one stream.
pub struct Joiner<W> {
    out: W,
    bits: BitWriter,
    combined: u32,
    written: u64,
    buf: Vec<u8>,
}

impl<W: Write> Joiner<W> {
    /// Begins a stream of this level, which is written to `out`.
    pub fn new(level: Level, out: W) -> Self {
        let mut bits = BitWriter::new();
        header::write_stream_header(&mut bits, level);
        Joiner { out, bits, combined: 0, written: 0, buf: Vec::new() }
    }

    /// Writes the blocks of the next part.
    ///
    /// The caller must make sure that the file has the blocks of this shard: [`Part`] has the CRC to compare. The
    /// blocks' contents are not checked.
    ///
    /// # Errors
    /// The same as for [`Part::open`]; [`Error::Write`].
    pub fn part(&mut self, shard: &Shard, file: &(impl ReadAt + ?Sized)) -> Result<(), Error> {
        let part = Part::open(file)?;
        self.combined = self.combined.rotate_left((shard.blocks % 32) as u32) ^ part.crc;
        self.buf.resize(COPY, 0);
        let mut at = HEADER_BITS;
        while at < part.end_bit {
            let count = (part.end_bit - at).min(COPY as u64 * 8);
            let bytes = &mut self.buf[..count.div_ceil(8) as usize];
            if fill_at(file, bytes, at / 8).map_err(Error::Read)? < bytes.len() {
                return Err(Error::Truncated { block: 1, bit_offset: at });
            }
            append_bits(&mut self.bits, bytes, count);
            at += count;
            self.drain()?;
        }
        Ok(())
    }

    /// Appends a block of this CRC, whose bits `append` appends.
    pub(crate) fn block(&mut self, crc: u32, append: impl FnOnce(&mut BitWriter)) -> Result<(), Error> {
        append(&mut self.bits);
        self.combined = crc::combine(self.combined, crc);
        self.drain()
    }

    fn drain(&mut self) -> Result<(), Error> {
        self.out.write_all(self.bits.whole_bytes()).map_err(Error::Write)?;
        self.written += self.bits.whole_bytes().len() as u64;
        self.bits.forget_whole_bytes();
        Ok(())
    }

    /// The combined CRC of all blocks so far, which the end of the stream will store. Compare it with the CRC that
    /// [`plan`] returned before you call [`finish`](Self::finish).
    pub fn crc(&self) -> u32 {
        self.combined
    }

    /// Ends the stream. Returns the writer, and how many bytes were written.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(mut self) -> Result<(W, u64), Error> {
        header::write_stream_end(&mut self.bits, self.combined);
        let end = self.bits.finish();
        self.out.write_all(&end).map_err(Error::Write)?;
        Ok((self.out, self.written + end.len() as u64))
    }
}

impl<W> fmt::Debug for Joiner<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joiner").field("written", &self.written).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use hybz_testkit::shapes::{Rng, SHAPES};

    fn shards(text: &[u8], level: Level, size: u64) -> (Vec<Shard>, u32) {
        let mut shards = Vec::new();
        let crc = plan(text, level, size, |shard| {
            shards.push(shard);
            Ok(())
        });
        (shards, crc.unwrap())
    }

    /// Plans, compresses each shard, joins, and compares with the whole compressed at once.
    fn check(text: &[u8], level: Level, size: u64) -> usize {
        let settings = Settings::new().level(level);
        let (shards, crc) = shards(text, level, size);
        let ends = shards.iter().map(|shard| shard.offset + shard.length);
        assert!(shards.iter().map(|shard| shard.offset).eq([0].into_iter().chain(ends).take(shards.len())));
        let mut parts = Vec::new();
        for (number, shard) in shards.iter().enumerate() {
            assert!(shard.number == number as u64 && (shard.length >= size || number + 1 == shards.len()));
            let part = crate::compress(&text[shard.text()], &settings).unwrap();
            let ends = Part::open(&part).unwrap();
            assert_eq!((ends.crc, ends.level), (shard.crc, level));
            parts.push(part);
        }
        let mut joiner = Joiner::new(level, Vec::new());
        shards.iter().zip(&parts).for_each(|(shard, part)| joiner.part(shard, part).unwrap());
        assert_eq!(joiner.crc(), crc);
        let (whole, written) = joiner.finish().unwrap();
        assert_eq!(Part::open(&whole).unwrap().crc, crc);
        assert_eq!(written, whole.len() as u64);
        assert!(whole == crate::compress(text, &settings).unwrap(), "{} bytes, {size}", text.len());
        shards.len()
    }

    #[test]
    fn parts_joined_are_the_whole() {
        let level = Level::FASTEST;
        assert_eq!(check(b"", level, 1), 0);
        assert_eq!(check(b"x", level, 1), 1);
        let mut rng = Rng(4);
        for shape in SHAPES {
            let text = (shape.make)(450_000);
            check(&text, level, 1);
            check(&text, level, 1 + rng.below(400_000) as u64);
        }
        let text = (hybz_testkit::shapes::shape("words").make)(2_000_000);
        for level in 1..=9 {
            check(&text, Level::try_new(level).unwrap(), 500_000);
        }
        assert_eq!(check(&text, level, u64::MAX), 1);
        // Long runs are kept run-length-coded.
        assert!(check(&vec![0; 60_000_000], Level::FASTEST, 1) > 10);
    }

    #[test]
    fn runs_across_ends_of_shards() {
        let before = (hybz_testkit::shapes::shape("de_bruijn").make)(99_981);
        let after = (hybz_testkit::shapes::shape("words").make)(101_000);
        for gap in [0, 1, 2, 3, 4, 5, 254, 255, 256] {
            for run in [1, 2, 3, 4, 5, 254, 255, 256, 259, 600] {
                let text = [&before[..before.len() - gap], &vec![b'r'; run], &after].concat();
                assert!(check(&text, Level::FASTEST, 1) >= 2);
            }
        }
    }

    /// A source whose length in bits does not fit into 64 bits.
    #[test]
    fn lengths_that_cannot_be() {
        struct Endless;
        impl ReadAt for Endless {
            fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
                buf.iter_mut().zip(offset..).for_each(|(byte, at)| *byte = *b"BZh9".get(at as usize).unwrap_or(&1));
                Ok(buf.len())
            }
            fn len(&self) -> u64 {
                u64::MAX
            }
        }
        assert!(matches!(Part::open(&Endless), Err(Error::Truncated { .. })));
    }

    /// The receiver of the shards may stop, and a text that cannot be read is an error.
    #[test]
    fn errors_of_both_ends() {
        let text = vec![7; 40_000_000];
        let stopped = plan(&text[..], Level::FASTEST, 1, |_| Err(io::Error::other("enough")));
        assert!(matches!(stopped, Err(Error::Write(_))));
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("a bad sector"))
            }
        }
        assert!(matches!(plan(Broken, Level::FASTEST, 1, |_| Ok(())), Err(Error::Read(_))));
    }
}
