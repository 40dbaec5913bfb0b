//! The index of a frame, which follows it in a skippable frame (docs/FORMAT.md has the layout).

use super::groups::{self, Sample};
use crate::error::Error;
use crate::formats::lz4::header::{STORED, checksum};
use crate::read_at::{ReadAt, fill_at};

/// The magic that we use, of the sixteen for skippable frames.
const SKIPPABLE: [u8; 4] = [0x5b, 0x2a, 0x4d, 0x18];
const MAGIC: [u8; 4] = *b"hLZ4";
const VERSION: u8 = 1;
/// The skippable frame's own header.
const FRAME_HEAD: usize = 8;
const HEAD: usize = 32;
const ENTRY: usize = 16;
const SAMPLE: usize = 4;
/// Checksum, length of the skippable frame, magic.
const TAIL: usize = 12;
/// The max number of blocks (256 GiB of text). A longer frame is written without an index.
const MAX_BLOCKS: usize = 4 << 20;
/// The max number of places within blocks (4 GiB of text at least). Blocks after that have none.
const MAX_SAMPLES: usize = 4 << 20;
/// The max length of the whole skippable frame.
const MAX_LEN: usize = FRAME_HEAD + HEAD + MAX_BLOCKS * ENTRY + MAX_SAMPLES * SAMPLE + TAIL;

/// A block, as described by an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedBlock {
    /// The position of its length field, from the first byte of the frame.
    pub offset: u64,
    /// The length of its text.
    pub text_len: u32,
    /// The number of its first [`Sample`].
    first_sample: u32,
}

/// The positions of a frame's blocks, and the places within them at which decoding can begin: one for every eighth
/// group of 32 sequences.
///
/// An index is checked for consistency when it is read, and against the frame when it is used
/// ([`decode`](Self::decode)). A false index causes an error, never wrong text.
///
/// ```
/// use hybz::{Settings, internals::formats::lz4::Index, lz4::Frame};
/// let text = b"hybz".repeat(100_000);
/// let coded = hybz::compress(&text, &Settings::new().encoding(Frame::new()))?;
/// let index = Index::read(&coded)?.expect("written after the frame");
/// assert_eq!(index.text_len(), 400_000);
/// let bytes = &coded[index.range(3)];
/// assert_eq!(index.decode(3, bytes)?, &text[3 << 16..4 << 16]);
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The frame's length, without the index.
    frame_len: u64,
    /// The position of the frame in the file that was read.
    frame_at: u64,
    text_len: u64,
    block_size: u32,
    blocks: Vec<IndexedBlock>,
    samples: Vec<Sample>,
    /// The frame exceeds the limits of an index.
    full: bool,
}

impl Index {
    pub(crate) fn new(block_size: u32) -> Index {
        Index { block_size, ..Index::default() }
    }

    /// Adds a block whose length field is at `offset` of the frame.
    pub(crate) fn push(&mut self, offset: u64, text_len: u32, samples: &[Sample]) {
        if self.blocks.len() == MAX_BLOCKS {
            self.full = true;
            return;
        }
        self.blocks.push(IndexedBlock { offset, text_len, first_sample: self.samples.len() as u32 });
        self.text_len += u64::from(text_len);
        if self.samples.len() + samples.len() <= MAX_SAMPLES {
            self.samples.extend_from_slice(samples);
        }
    }

    /// The skippable frame for a frame of this length, or `None` beyond the limits of an index.
    pub(crate) fn write(&self, frame_len: u64) -> Option<Vec<u8>> {
        if self.full {
            return None;
        }
        let len = FRAME_HEAD + HEAD + self.blocks.len() * ENTRY + self.samples.len() * SAMPLE + TAIL;
        let mut bytes = Vec::with_capacity(len);
        bytes.extend(SKIPPABLE);
        bytes.extend(((len - FRAME_HEAD) as u32).to_le_bytes());
        bytes.extend(MAGIC);
        bytes.extend([VERSION, groups::GROUP as u8, groups::STRIDE as u8, 0]);
        bytes.extend(self.block_size.to_le_bytes());
        bytes.extend((self.blocks.len() as u32).to_le_bytes());
        bytes.extend(self.text_len.to_le_bytes());
        bytes.extend(frame_len.to_le_bytes());
        for block in &self.blocks {
            bytes.extend(block.offset.to_le_bytes());
            bytes.extend(block.text_len.to_le_bytes());
            bytes.extend(block.first_sample.to_le_bytes());
        }
        for sample in &self.samples {
            bytes.extend(sample.input.to_le_bytes());
            bytes.extend(sample.output.to_le_bytes());
        }
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes.extend((len as u32).to_le_bytes());
        bytes.extend(MAGIC);
        Some(bytes)
    }

    /// Reads the index at the end of a file, if there is one.
    ///
    /// # Errors
    /// [`Error::Read`]; [`Error::BadIndex`] if it contradicts itself.
    pub fn read<R: ReadAt + ?Sized>(file: &R) -> Result<Option<Index>, Error> {
        let end = file.len();
        let mut tail = [0; TAIL];
        let Some(at) = end.checked_sub(TAIL as u64) else { return Ok(None) };
        fill_at(file, &mut tail, at).map_err(Error::Read)?;
        let len = u32_at(&tail, 4);
        if tail[8..] != MAGIC || (len as usize) < FRAME_HEAD + HEAD + TAIL {
            return Ok(None);
        }
        if len as usize > MAX_LEN {
            return Err(Error::BadIndex("it is too long"));
        }
        let Some(at) = end.checked_sub(len.into()) else { return Err(Error::BadIndex("it is longer than the file")) };
        let mut bytes = vec![0; len as usize];
        fill_at(file, &mut bytes, at).map_err(Error::Read)?;
        let mut index = Index::parse(&bytes).map_err(Error::BadIndex)?;
        index.frame_at =
            at.checked_sub(index.frame_len).ok_or(Error::BadIndex("the frame is longer than the data before it"))?;
        Ok(Some(index))
    }

    /// Whether a whole skippable frame claims to be an index.
    #[cfg(any(test, feature = "cuda", feature = "internals"))]
    pub(crate) fn claims(frame: &[u8]) -> bool {
        frame.starts_with(&SKIPPABLE) && frame.get(FRAME_HEAD..FRAME_HEAD + 4) == Some(&MAGIC)
    }

    /// The length of the indexed frame.
    #[cfg(any(test, feature = "cuda", feature = "internals"))]
    pub(crate) fn frame_len(&self) -> u64 {
        self.frame_len
    }

    /// Parses a whole skippable frame as an index.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Index, &'static str> {
        let ensure = |right: bool, what: &'static str| if right { Ok(()) } else { Err(what) };
        let end = bytes.len().checked_sub(TAIL).ok_or("it is cut")?;
        ensure(end >= FRAME_HEAD + HEAD, "it is cut")?;
        ensure(bytes[..4] == SKIPPABLE && bytes[8..12] == MAGIC && bytes[end + 8..] == MAGIC, "its magic is wrong")?;
        let [len, again] = [u32_at(bytes, 4) as usize + FRAME_HEAD, u32_at(bytes, end + 4) as usize];
        ensure(len == bytes.len() && again == len, "its length is wrong")?;
        ensure(checksum(&bytes[..end]) == u32_at(bytes, end), "its checksum is wrong")?;
        ensure(bytes[12] == VERSION, "its version is unknown")?;
        ensure(
            bytes[13..16] == [groups::GROUP as u8, groups::STRIDE as u8, 0],
            "its groups are not those of its version",
        )?;
        let (block_size, count) = (u32_at(bytes, 16), u32_at(bytes, 20) as usize);
        ensure(block_size == super::Frame::BLOCK_SIZE, "its block size is not that of its version")?;
        let body = &bytes[FRAME_HEAD + HEAD..end];
        ensure(count <= MAX_BLOCKS && count * ENTRY <= body.len(), "it has fewer blocks than it says")?;
        let (entries, samples) = body.split_at(count * ENTRY);
        ensure(samples.len() % SAMPLE == 0 && samples.len() / SAMPLE <= MAX_SAMPLES, "its length is wrong")?;
        let block = |entry: &[u8]| IndexedBlock {
            offset: u64_at(entry, 0),
            text_len: u32_at(entry, 8),
            first_sample: u32_at(entry, 12),
        };
        let sample = |bytes: &[u8]| Sample {
            input: u16::from_le_bytes([bytes[0], bytes[1]]),
            output: u16::from_le_bytes([bytes[2], bytes[3]]),
        };
        let index = Index {
            frame_len: u64_at(bytes, 32),
            frame_at: 0,
            text_len: u64_at(bytes, 24),
            block_size,
            blocks: entries.chunks_exact(ENTRY).map(block).collect(),
            samples: samples.chunks_exact(SAMPLE).map(sample).collect(),
            full: false,
        };
        index.check()?;
        Ok(index)
    }

    /// Checks that all fields are consistent.
    fn check(&self) -> Result<(), &'static str> {
        let (mut text_len, mut sampled) = (0, 0);
        for (n, block) in self.blocks.iter().enumerate() {
            let end = self.blocks.get(n + 1).map_or(self.frame_len, |next| next.offset);
            // At least a length and a byte; the end mark follows the last block.
            if n == 0 && !(7..=19).contains(&block.offset) || end.checked_sub(block.offset).is_none_or(|len| len < 5) {
                return Err("its blocks are not in order");
            }
            if n + 1 < self.blocks.len() && end - block.offset > u64::from(self.block_size) + 4 {
                return Err("a block is too long");
            }
            if !(1..=self.block_size).contains(&block.text_len) {
                return Err("a block has too much text, or none");
            }
            text_len += u64::from(block.text_len);
            if block.first_sample as usize != sampled {
                return Err("its places are not in order");
            }
            sampled = self.blocks.get(n + 1).map_or(self.samples.len(), |next| next.first_sample as usize);
            let samples =
                self.samples.get(block.first_sample as usize..sampled).ok_or("its places are not in order")?;
            // Each sequence takes at least three bytes, and four of text.
            let (mut input, mut output) = (0, 0);
            const STEP: u32 = (groups::GROUP * groups::STRIDE) as u32;
            for sample in samples {
                if u32::from(sample.input) < input + 3 * STEP || u32::from(sample.output) < output + 4 * STEP {
                    return Err("its places are not in order");
                }
                (input, output) = (sample.input.into(), sample.output.into());
            }
            if u64::from(input) >= end - block.offset - 4 || output >= block.text_len {
                return Err("a place is after its block");
            }
        }
        if text_len == self.text_len && sampled == self.samples.len() {
            Ok(())
        } else {
            Err("its lengths contradict each other")
        }
    }

    /// The length of the text.
    pub fn text_len(&self) -> u64 {
        self.text_len
    }

    /// The blocks.
    pub fn blocks(&self) -> &[IndexedBlock] {
        &self.blocks
    }

    /// The places within a block.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn samples(&self, block: usize) -> &[Sample] {
        let end = self.blocks.get(block + 1).map_or(self.samples.len(), |next| next.first_sample as usize);
        &self.samples[self.blocks[block].first_sample as usize..end]
    }

    /// The range of a block's bytes in the file: its length field and its data. For the last block the range is longer:
    /// it goes up to the end of the frame, or to the maximum length of a block.
    ///
    /// # Panics
    /// If there is no such block, or its range exceeds the address space.
    pub fn range(&self, block: usize) -> std::ops::Range<usize> {
        let at = self.blocks[block].offset;
        let next = self.blocks.get(block + 1).map_or(self.frame_len, |next| next.offset);
        let end = next.min(at + u64::from(self.block_size) + 4);
        let place = |at: u64| usize::try_from(self.frame_at + at).expect("no more than memory has");
        place(at)..place(end)
    }

    /// Decodes the block whose bytes, at its [`range`](Self::range), are given. It uses the places, as a device does.
    ///
    /// # Errors
    /// [`Error::BadIndex`] if the bytes contradict the index or cannot be decoded.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn decode(&self, block: usize, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let wrong = Error::BadIndex("a block differs from the index");
        let IndexedBlock { text_len, .. } = self.blocks[block];
        let Some((length, coded)) = bytes.split_first_chunk() else { return Err(wrong) };
        let word = u32::from_le_bytes(*length);
        let len = (word & !STORED) as usize;
        let is_last = block + 1 == self.blocks.len();
        if len > coded.len() || len != coded.len() && !is_last {
            return Err(wrong);
        }
        let coded = &coded[..len];
        if word & STORED != 0 {
            return if coded.len() == text_len as usize { Ok(coded.to_vec()) } else { Err(wrong) };
        }
        let mut text = vec![0; text_len as usize];
        match groups::decode_sampled(coded, &mut text, self.samples(block)) {
            Ok(end) if end == text.len() => Ok(text),
            _ => Err(wrong),
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
