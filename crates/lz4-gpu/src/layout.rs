//! The positions of LZ4 blocks in their frames, and of their text.

use super::Error;
use super::sequence::sequences;
use hybz::Error as FrameError;
use hybz::internals::Flaw;
use hybz::internals::damaged as damaged_at;
use hybz::internals::formats::lz4::{Ending, FramePart, Header, Index, Walker, checksum};
use hybz_gpu::Lz4ForDevice;
use std::ops::Range;
use std::thread;

/// A length that is not known yet.
const UNKNOWN: u32 = u32::MAX;

/// The positions of LZ4 blocks in their frames, and of their text: what a device must know to decode them.
///
/// ```
/// use hybz::{Settings, lz4::Frame};
/// use hybz_lz4_gpu::Layout;
/// let text = b"hybz".repeat(100_000);
/// let coded = hybz::compress(&text, &Settings::new().encoding(Frame::new()))?;
/// let layout = Layout::read(&coded).unwrap();
/// assert_eq!((layout.text_len(), layout.blocks()), (400_000, 7));
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    blocks: Vec<Lz4ForDevice>,
    /// The checksums of blocks that have one, with the blocks' numbers.
    checksums: Vec<(usize, u32)>,
    text_len: u64,
    coded_len: u64,
}

/// A frame whose end was not reached yet, or whose index may follow.
#[derive(Clone, Copy)]
struct Open {
    at: u64,
    /// Its first block.
    first: usize,
    header: Header,
    /// The position of its end.
    end: u64,
}

impl Layout {
    /// The layout of a whole file: consecutive frames, with skippable ones between them.
    ///
    /// If an index follows a frame, only the lengths of its blocks are read. Otherwise the lengths of the texts are
    /// not stored, and all cores parse the blocks' tokens.
    ///
    /// # Errors
    /// [`Error::NotLz4`], [`Error::Linked`], [`Error::Legacy`]; and [`Error::Frame`] for frames that are damaged, cut
    /// or need a dictionary, for an index that belongs to another frame, and for bytes after the last frame.
    pub fn read(coded: &[u8]) -> Result<Layout, Error> {
        let mut reading =
            Reading { layout: Layout::default(), open: None, frames: Vec::new(), skipped: 0, complete: 0 };
        reading.walk(coded)?;
        let Reading { mut layout, frames, .. } = reading;
        layout.measure(coded, &frames)?;
        layout.place(&frames)?;
        layout.coded_len = coded.len() as u64;
        Ok(layout)
    }

    /// The number of bytes of text.
    pub fn text_len(&self) -> u64 {
        self.text_len
    }

    /// The number of bytes of the file.
    pub fn coded_len(&self) -> u64 {
        self.coded_len
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Verifies the stored checksums of the blocks, on all cores. Frames of hybz have no checksums of blocks, only one
    /// of the text.
    ///
    /// # Errors
    /// [`Error::Frame`] for the first block with a wrong checksum; [`Error::Short`].
    pub fn check_blocks(&self, coded: &[u8]) -> Result<(), Error> {
        self.check_len(coded.len() as u64)?;
        in_parts(&self.checksums, |(number, stored)| {
            let computed = checksum(bytes_of(coded, &self.blocks[*number]));
            let wrong =
                || damaged(&self.blocks, *number, Flaw::Lz4Checksum { part: "block", stored: *stored, computed });
            if computed == *stored { Ok(()) } else { Err(wrong()) }
        })
        .map(drop)
    }

    pub(super) fn of_device(&self) -> &[Lz4ForDevice] {
        &self.blocks
    }

    pub(super) fn check_len(&self, found: u64) -> Result<(), Error> {
        if found < self.coded_len { Err(Error::Short { layout: self.coded_len, found }) } else { Ok(()) }
    }

    /// The error for a block that a device cannot decode.
    pub(super) fn damaged(&self, number: usize) -> Error {
        damaged(&self.blocks, number, Flaw::Lz4Block)
    }

    /// Computes the lengths of texts that are not stored.
    fn measure(&mut self, coded: &[u8], frames: &[Open]) -> Result<(), Error> {
        let mut unknown = Vec::new();
        for (frame, range) in with_blocks(frames, self.blocks.len()) {
            let most = frame.header.block_size as usize;
            unknown.extend(range.filter(|&n| self.blocks[n].length == UNKNOWN).map(|n| (n, most)));
        }
        let blocks = &self.blocks;
        let found = in_parts(&unknown, |&(number, most)| {
            let found = sequences(bytes_of(coded, &blocks[number]), most, |_, _, _| ());
            found.ok_or_else(|| damaged(blocks, number, Flaw::Lz4Block))
        })?;
        for ((number, _), length) in unknown.into_iter().zip(found) {
            self.blocks[number].length = length as u32;
        }
        Ok(())
    }

    /// Assigns each block its offset in the text, and checks the lengths stated in headers.
    fn place(&mut self, frames: &[Open]) -> Result<(), Error> {
        for (frame, range) in with_blocks(frames, self.blocks.len()) {
            let before = self.text_len;
            for block in &mut self.blocks[range.clone()] {
                block.to = self.text_len;
                self.text_len += u64::from(block.length);
            }
            let found = self.text_len - before;
            // To `lz4`, a length of 0 means an unknown length.
            if let Some(stated) = frame.header.text_len.filter(|&stated| stated != found && stated > 0) {
                let damage = Flaw::Lz4TextLength { stated, found };
                // The position of its end mark, which the checksum follows.
                let mark = frame.end - if frame.header.text_checksum { 8 } else { 4 };
                let (block, bit_offset) = (range.end as u64 + 1, mark * 8);
                return Err(Error::Frame(damaged_at(block, bit_offset, damage)));
            }
        }
        Ok(())
    }
}

/// Each frame with the range of its blocks; `count` is the total number of blocks.
fn with_blocks(frames: &[Open], count: usize) -> impl Iterator<Item = (&Open, Range<usize>)> {
    let ends = frames.iter().skip(1).map(|frame| frame.first).chain([count]);
    frames.iter().zip(ends).map(|(frame, end)| (frame, frame.first..end))
}

fn bytes_of<'a>(coded: &'a [u8], block: &Lz4ForDevice) -> &'a [u8] {
    &coded[block.from as usize..][..block.coded as usize]
}

fn damaged(blocks: &[Lz4ForDevice], number: usize, damage: Flaw) -> Error {
    // The length field precedes the bytes.
    Error::Frame(damaged_at(number as u64 + 1, (blocks[number].from - 4) * 8, damage))
}

/// Calls `each` for all elements on all cores, and returns the results in order, or the first error.
fn in_parts<T: Sync, R: Send>(all: &[T], each: impl Fn(&T) -> Result<R, Error> + Sync) -> Result<Vec<R>, Error> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    // Starting a thread takes longer than parsing a few blocks.
    let part = all.len().div_ceil(threads).max(64);
    let work = |part: &[T]| part.iter().map(&each).collect::<Result<Vec<R>, Error>>();
    if all.len() <= part {
        return work(all);
    }
    let work = &work;
    thread::scope(|scope| {
        // If a thread cannot be started, this one does its part.
        let start = |part| thread::Builder::new().spawn_scoped(scope, move || work(part)).map_err(|_| part);
        let parts: Vec<_> = all.chunks(part).map(start).collect();
        let mut results = Vec::with_capacity(all.len());
        for part in parts {
            results.extend(match part {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(part) => work(part),
            }?);
        }
        Ok(results)
    })
}

/// The state of reading a layout.
struct Reading {
    layout: Layout,
    /// The last frame, which an index may follow.
    open: Option<Open>,
    frames: Vec<Open>,
    /// The position of the current skippable frame.
    skipped: u64,
    /// The number of complete blocks.
    complete: u64,
}

impl Reading {
    fn wrong(&self, at: u64, damage: Flaw) -> Error {
        let block = self.layout.blocks.len() as u64 + 1;
        Error::Frame(damaged_at(block, at * 8, damage))
    }

    fn walk(&mut self, coded: &[u8]) -> Result<(), Error> {
        let (mut walker, mut rest) = (Walker::default(), coded);
        loop {
            let part = walker.next(&mut rest);
            let at = walker.at();
            match part {
                FramePart::Need => return self.end(walker.ending(), at),
                FramePart::Frame(header) => self.frame(header, self.skipped)?,
                FramePart::Block { len, stored } => self.block(at, len, stored),
                FramePart::Data(_) => {}
                FramePart::BlockEnd(stored) => {
                    self.complete += 1;
                    let number = self.layout.blocks.len() - 1;
                    self.layout.checksums.extend(stored.map(|stored| (number, stored)));
                }
                FramePart::End(_) => {
                    if let (Some(open), Some(frame)) = (&mut self.open, self.frames.last_mut()) {
                        (open.end, frame.end) = (at, at);
                    }
                    self.skipped = at;
                }
                FramePart::Skipped => {
                    self.index(&coded[self.skipped as usize..at as usize])?;
                    self.skipped = at;
                }
                FramePart::Other(bytes) => return Err(self.other(at - bytes.len() as u64)),
                FramePart::Wrong(unread) => return Err(self.wrong(self.skipped, unread)),
                FramePart::TooLong(len) => {
                    let max = self.open.map_or(0, |open| open.header.block_size);
                    return Err(self.wrong(at - 4, Flaw::Lz4Length { len, max }));
                }
            }
        }
    }

    fn frame(&mut self, header: Header, offset: u64) -> Result<(), Error> {
        if header.legacy {
            return Err(Error::Legacy { offset });
        }
        if header.linked {
            return Err(Error::Linked { offset });
        }
        let open = Open { at: offset, first: self.layout.blocks.len(), header, end: 0 };
        self.frames.push(open);
        self.open = Some(open);
        Ok(())
    }

    fn block(&mut self, from: u64, coded: u32, stored: bool) {
        let length = if stored { coded } else { UNKNOWN };
        self.layout.blocks.push(Lz4ForDevice { from, to: 0, coded, length, plain: stored.into(), unused: 0 });
    }

    /// Takes a skippable frame: if it is the index of the frame before it, it gives the text lengths of blocks.
    fn index(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(open) = self.open.take() else { return Ok(()) };
        if !Index::claims(bytes) {
            return Ok(());
        }
        let bad = |what| Error::Frame(FrameError::BadIndex(what));
        let index = Index::parse(bytes).map_err(bad)?;
        let blocks = &mut self.layout.blocks[open.first..];
        if index.frame_len != open.end - open.at || index.blocks.len() != blocks.len() {
            return Err(bad("it belongs to another frame"));
        }
        for (block, &(offset, text_len)) in blocks.iter_mut().zip(&index.blocks) {
            let stands = block.from - 4 - open.at == offset;
            if !stands || block.plain != 0 && block.length != text_len {
                return Err(bad("a block differs from the index"));
            }
            block.length = text_len;
        }
        Ok(())
    }

    /// The error for bytes that are not a frame.
    fn other(&self, offset: u64) -> Error {
        if offset == 0 { Error::NotLz4 } else { Error::Frame(FrameError::TrailingGarbage { offset }) }
    }

    fn end(&self, ending: Ending, at: u64) -> Result<(), Error> {
        match ending {
            Ending::Clean if at == 0 => Err(Error::NotLz4),
            Ending::Clean | Ending::Legacy => Ok(()),
            Ending::Magic(len, begun) if !begun || at > len as u64 => Err(self.other(at - len as u64)),
            Ending::Magic(..) | Ending::Cut => {
                let block = self.complete + 1;
                Err(Error::Frame(FrameError::Truncated { block, bit_offset: at * 8 }))
            }
        }
    }
}
