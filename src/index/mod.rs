//! Indexes of `.bz2` files: the position of each block in the compressed file and in the text. With an index any part
//! of the text is read by decoding only the blocks that contain it ([`seek::Reader`](crate::seek::Reader)).
//!
//! An index is made while a file is compressed or decompressed ([`Recorder`]) or by decoding it once
//! ([`Index::build`]). It is kept next to the file, as `FILE.bz2.bzi`. The format is specified in `docs/INDEX.md`: a
//! header of 64 bytes and records of 32 or 40, so that a lookup reads a few records, however long the file is. Lines of
//! `bits,bytes`, as indexed_bzip2 and rapidgzip use them, can be read and written too.
//!
//! Whether an index fits a file is checked on use: each record has the CRC that must follow the magic in the file, and
//! that the decoded text must have.
//!
//! ```
//! use hybz::{Level, Settings, index::Index, seek::Reader};
//! let text: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
//! let file = hybz::compress(&text, &Settings::new().level(Level::FASTEST))?;
//! let index = Index::build(&file[..], &Settings::new())?;
//! assert_eq!((index.blocks(), index.text_len()), (5, 400_000));
//!
//! let reader = Reader::with_index(file, index, &Settings::new());
//! let mut part = [0; 100];
//! reader.read_at(&mut part, 250_000)?;
//! assert_eq!(part, text[250_000..250_100]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod bzi;
mod offsets;
#[cfg(any(test, feature = "internals"))]
mod part;
mod recorder;
mod records;

use crate::codec::Decoder;
use crate::error::{DecodeError, Error};
use crate::flow::one_stream::Driver;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_BITS, END_MAGIC, HEADER_BITS, Level, MAX_BLOCK, MAX_BLOCK_BITS};
use crate::formats::bzip2::perturbed;
use crate::formats::bzip2::stream::items::{self, Head};
use crate::index::bzi::{HEADER_LEN, IndexHeader, Record, RecordKind, Unread};
use crate::read_at::{ReadAt, fill_at};
use crate::settings::Settings;
use records::Records;
use std::io::{BufWriter, Read, Write};
use std::sync::Arc;

pub use recorder::Recorder;

/// The error for an index whose records are each valid but contradict each other.
const OUT_OF_ORDER: &str = "its records are not in order";

/// The index of a `.bz2` file. The [module](self) has an example.
#[derive(Debug)]
pub struct Index {
    header: IndexHeader,
    records: Records,
    /// The index was made from lines of offsets, which have no checksums.
    from_offsets: bool,
}

/// A block of a `.bz2` file, as described by the index.
///
/// ```
/// use hybz::{Settings, index::Index};
/// let file = hybz::compress(b"to be or not to be\n", &Settings::new())?;
/// let index = Index::build(&file[..], &Settings::new())?;
/// let block = index.find(7)?.expect("the text has 19 bytes");
/// assert_eq!((block.number, block.stream, block.level.get()), (1, 1, 9));
/// assert_eq!((block.bit_offset, block.text_offset, block.text_len), (32, 0, 19));
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// Its number in the file, from 1.
    pub number: u64,
    /// The number of its stream in the file, from 1. All streams from the 4,294,967,295th on have this number.
    pub stream: u32,
    /// The level of its stream.
    pub level: Level,
    /// The position of its magic in the compressed file, in bits.
    pub bit_offset: u64,
    /// The bit after the block's last bit.
    pub end_bit: u64,
    /// The number of bytes of text before it.
    pub text_offset: u64,
    /// The number of bytes of its text.
    pub text_len: u64,
    /// The CRC of its text, which also follows its magic.
    pub crc: u32,
    /// The number of line ends (bytes 0x0a) in the text before it, if they were counted.
    pub lines_before: Option<u64>,
    /// The number of its record.
    pub(crate) record: u64,
}

impl Index {
    /// Makes the index of a `.bz2` file by decoding it once, with all stations of the settings' pool. It has counts of
    /// line ends.
    ///
    /// # Errors
    /// An error for the damage in the file; [`Error::NoIndex`] if the file is not a `.bz2`.
    pub fn build(mut file: impl Read, settings: &Settings) -> Result<Index, Error> {
        let mut driver = Driver::decompress(settings, true);
        let mut recorder = Recorder::new();
        while let Some((_, mark)) = driver.pull(&mut file)? {
            recorder.mark(mark);
        }
        recorder.finish()
    }

    /// Opens the index of `file`. The content tells the kind of index: a `.bzi`, or lines of offsets (`bits,bytes`).
    ///
    /// Up to 64 KiB of a `.bzi` are read, however long it is, and more on lookups. Lines of offsets are read
    /// completely, and some bytes of `file` for each line: the CRCs, and the levels of the streams.
    ///
    /// The end of the file's last stream is checked here; entries for blocks are checked when they are used. Lines of
    /// offsets have no checksums, so the last block is decoded too: it must end where they say, and have as much text
    /// as they say.
    ///
    /// # Errors
    /// [`Error::NotAnIndex`], [`Error::BadIndex`], [`Error::ForeignIndex`], [`Error::Perturbed`], or [`Error::Read`];
    /// for lines of offsets also [`Error::Data`] if the last block is damaged, since the length of the text cannot be
    /// checked then.
    pub fn open(index: Arc<dyn ReadAt>, file: &dyn ReadAt) -> Result<Index, Error> {
        perturbed::refuse(file)?;
        let index = Index::open_unchecked(index, file)?;
        index.check_end(file)?;
        if index.from_offsets {
            index.check_last_block(file)?;
        }
        Ok(index)
    }

    /// Opens the index of a damaged or cut file, without checking the file's end
    /// ([`recover`](crate::recover::recover)). Lines of offsets are useless here if the damage hits the places to which
    /// they point.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn open_unchecked(index: Arc<dyn ReadAt>, file: &dyn ReadAt) -> Result<Index, Error> {
        let mut bytes = [0; HEADER_LEN];
        let len = fill_at(&*index, &mut bytes, 0).map_err(Error::Read)?;
        match IndexHeader::parse(&bytes) {
            Ok(header) if header.index_len() == Some(index.len()) => {
                Ok(Index { header, records: Records::open(index, &header)?, from_offsets: false })
            }
            Ok(_) => Err(Error::BadIndex("it has another length than its header says")),
            Err(Unread::Version(version)) => Err(Error::NewerIndex { version }),
            Err(Unread::Damaged) => Err(Error::BadIndex("its header")),
            Err(Unread::Magic) if offsets::may_be(&bytes[..len]) => {
                Ok(Index { from_offsets: true, ..offsets::read(&*index, file)? })
            }
            Err(Unread::Magic) => Err(Error::NotAnIndex),
        }
    }

    /// Writes the index as a `.bzi`.
    ///
    /// # Errors
    /// [`Error::Write`], and errors of the index if it is read from a file.
    pub fn write(&self, out: impl Write) -> Result<(), Error> {
        let mut out = BufWriter::new(out);
        out.write_all(&self.header.write()).map_err(Error::Write)?;
        for number in 0..self.header.records {
            let bytes = self.record(number)?.write(number, &self.header);
            out.write_all(&bytes[..self.header.record_len()]).map_err(Error::Write)?;
        }
        out.flush().map_err(Error::Write)
    }

    /// Writes the index as lines of `bits,bytes`, as indexed_bzip2 and rapidgzip do: a line for each block, one for
    /// each end of a stream that has blocks, and one for the end of the last such stream.
    ///
    /// ```
    /// use hybz::{Settings, index::Index};
    /// let file = hybz::compress(b"to be or not to be\n", &Settings::new())?;
    /// let mut lines = Vec::new();
    /// Index::build(&file[..], &Settings::new())?.write_offsets(&mut lines)?;
    /// assert_eq!(lines, b"32,0\n343,19\n424,19\n");
    /// # Ok::<(), hybz::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`write`](Self::write).
    pub fn write_offsets(&self, out: impl Write) -> Result<(), Error> {
        let mut out = BufWriter::new(out);
        offsets::write(self, &mut out)?;
        out.flush().map_err(Error::Write)
    }

    /// The number of bytes of the file's text.
    pub fn text_len(&self) -> u64 {
        self.header.text_len
    }

    /// The end of the last stream in the compressed file, in bytes. Other bytes may follow.
    pub fn coded_len(&self) -> u64 {
        self.header.coded_len
    }

    /// The number of blocks of the file.
    pub fn blocks(&self) -> u64 {
        self.header.blocks
    }

    /// The number of streams of the file.
    pub fn streams(&self) -> u64 {
        self.header.streams
    }

    /// The highest level of a stream. Reads all records.
    ///
    /// # Errors
    /// See [`find`](Self::find).
    #[cfg(any(test, feature = "internals"))]
    pub fn level(&self) -> Result<Level, Error> {
        let mut highest = Level::FASTEST;
        for number in 0..self.header.records {
            highest = highest.max(Level::try_new(self.record(number)?.level).unwrap_or(Level::FASTEST));
        }
        Ok(highest)
    }

    /// The number of line ends in the text, if they were counted.
    ///
    /// # Errors
    /// See [`find`](Self::find).
    pub fn lines(&self) -> Result<Option<u64>, Error> {
        match self.header.lines {
            true => Ok(Some(self.record(self.header.records - 1)?.lines)),
            false => Ok((self.header.blocks == 0).then_some(0)),
        }
    }

    /// The block that contains this byte of the text; `None` beyond the text.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::BadIndex`], if the index is read from a file.
    pub fn find(&self, text_offset: u64) -> Result<Option<Block>, Error> {
        if text_offset >= self.header.text_len {
            return Ok(None);
        }
        // The record of a stream's end comes before the next block's record.
        self.find_by(text_offset, self.header.text_len, |record| record.text_offset)
    }

    /// The block with the line end of this number, from 1; the next line begins right after that line end. `None` if
    /// the text has fewer line ends.
    ///
    /// # Errors
    /// See [`find`](Self::find); [`Error::BadIndex`] also if line ends were not counted.
    #[cfg(any(test, feature = "internals"))]
    pub fn find_line_end(&self, number: u64) -> Result<Option<Block>, Error> {
        let Some(all) = self.lines()? else { return Err(Error::BadIndex("it has no line ends")) };
        if number == 0 || number > all {
            return Ok(None);
        }
        self.find_by(number - 1, all, |record| record.lines)
    }

    /// The block of the last record at which `of` is at most `value`; at the index's last record `of` is `most`.
    fn find_by(&self, value: u64, most: u64, of: impl Fn(&Record) -> u64) -> Result<Option<Block>, Error> {
        let after = self.first_after(value, most, &of)?;
        let block = self.block(after - 1)?;
        let is_there = (of(&self.record(after - 1)?)..of(&self.record(after)?)).contains(&value);
        if is_there { Ok(Some(block)) } else { Err(Error::BadIndex(OUT_OF_ORDER)) }
    }

    /// The block after this one.
    ///
    /// # Errors
    /// See [`find`](Self::find).
    pub(crate) fn next(&self, block: &Block) -> Result<Option<Block>, Error> {
        let Some(next) = self.block_from(block.record + 1)? else { return Ok(None) };
        let follows = next.bit_offset >= block.end_bit && next.text_offset == block.text_offset + block.text_len;
        if follows { Ok(Some(next)) } else { Err(Error::BadIndex(OUT_OF_ORDER)) }
    }

    /// All blocks, in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<Block, Error>> {
        let mut record = 0;
        std::iter::from_fn(move || {
            let block = self.block_from(record).transpose()?;
            record = block.as_ref().map_or(u64::MAX, |block| block.record + 1);
            Some(block)
        })
    }

    /// The first block at or after this record.
    fn block_from(&self, record: u64) -> Result<Option<Block>, Error> {
        for number in record..self.header.records {
            if self.record(number)?.kind == RecordKind::Block {
                return self.block(number).map(Some);
            }
        }
        Ok(None)
    }

    fn record(&self, number: u64) -> Result<Record, Error> {
        self.records.get(number, &self.header)
    }

    /// The block of this record, which also depends on the record after it.
    fn block(&self, record: u64) -> Result<Block, Error> {
        let (this, next) = (self.record(record)?, self.record(record + 1)?);
        let bits = next.bit_offset.checked_sub(this.bit_offset);
        let text_len = next.text_offset.checked_sub(this.text_offset);
        let level = Level::try_new(this.level);
        let fits = this.kind == RecordKind::Block
            && next.kind != RecordKind::EndOfData
            && (next.stream, next.level) == (this.stream, this.level)
            && next.lines >= this.lines
            // A longer block is refused everywhere.
            && bits.is_some_and(|bits| (1..=MAX_BLOCK_BITS).contains(&bits))
            && (record > 0 || (this.bit_offset, this.text_offset, this.lines) == (HEADER_BITS, 0, 0));
        let (true, Some(text_len @ 1..), Some(level)) = (fits, text_len, level) else {
            return Err(Error::BadIndex(OUT_OF_ORDER));
        };
        Ok(Block {
            // Each stream before it has one record that is not a block.
            number: (record + 2).saturating_sub(this.stream.into()),
            stream: this.stream,
            level,
            bit_offset: this.bit_offset,
            end_bit: next.bit_offset,
            text_offset: this.text_offset,
            text_len,
            crc: this.crc,
            lines_before: self.header.lines.then_some(this.lines),
            record,
        })
    }

    /// The number of the first record at which `of` exceeds `value`. At the last record `of` is `most`, which is more
    /// than `value`.
    ///
    /// Blocks have about the same length, so the record is estimated: this reads a few pages of the index, where
    /// binary search would read 20 of a million records. Every third step bisects, for lengths that are very uneven.
    fn first_after(&self, value: u64, most: u64, of: impl Fn(&Record) -> u64) -> Result<u64, Error> {
        let (mut low, mut high) = (0, self.header.records - 1);
        let (mut below, mut above) = (0, most);
        for step in 1.. {
            if high - low <= 1 {
                break;
            }
            let part = u128::from(value.saturating_sub(below)) * u128::from(high - low);
            let estimate = low + (part / u128::from(above.saturating_sub(below).max(1))) as u64;
            let middle = if step % 3 == 0 { low + (high - low) / 2 } else { estimate.clamp(low + 1, high - 1) };
            let found = of(&self.record(middle)?);
            if found > value {
                (high, above) = (middle, found);
            } else {
                (low, below) = (middle, found);
            }
        }
        // The first record was not compared, but no record comes before it.
        Ok(high)
    }

    /// Checks that the last stream ends in the file where the index says, and no stream follows.
    fn check_end(&self, file: &dyn ReadAt) -> Result<(), Error> {
        let foreign = |bit_offset| Err(Error::ForeignIndex { bit_offset });
        // Reading the record checks that it fits the header.
        self.record(self.header.records - 1)?;
        let last = self.record(self.header.records - 2)?;
        let end = self.header.coded_len;
        let bits = Head::at(file, last.bit_offset)?.whole();
        let fits = last.kind == RecordKind::EndOfStream
            && (last.bit_offset + END_BITS).div_ceil(8) == end
            && bits == Some((END_MAGIC, last.crc));
        if !fits {
            return foreign(last.bit_offset);
        }
        if items::level_at(file, end * 8)?.is_some() { foreign(end * 8) } else { Ok(()) }
    }

    /// Checks that the last block ends, and has as much text, as the index says.
    fn check_last_block(&self, file: &dyn ReadAt) -> Result<(), Error> {
        let mut last = None;
        for number in (0..self.header.records).rev() {
            if self.record(number)?.kind == RecordKind::Block {
                last = Some(self.block(number)?);
                break;
            }
        }
        let Some(block) = last else { return Ok(()) };
        let Block { number, bit_offset, end_bit, text_len, .. } = block;
        // The end of the block's stream was found in the file, so these bytes do not exceed the file.
        let mut bytes = vec![0; (end_bit.div_ceil(8) - bit_offset / 8) as usize];
        let len = fill_at(file, &mut bytes, bit_offset / 8).map_err(Error::Read)?;
        let start = bit_offset % 8;
        match Decoder::default().decode(&bytes[..len], start, u64::MAX, MAX_BLOCK as u32) {
            Ok(found) if found.text.len() == text_len && found.end_bit == start + (end_bit - bit_offset) => Ok(()),
            Ok(_) | Err(DecodeError::OutOfData) => Err(Error::ForeignIndex { bit_offset }),
            Err(DecodeError::Damaged(damage)) => Err(Error::damaged(number, bit_offset, damage)),
        }
    }
}

impl Block {
    /// The bytes of the compressed file that contain the block's bits.
    pub(crate) fn bytes(&self) -> std::ops::Range<u64> {
        self.bit_offset / 8..self.end_bit.div_ceil(8)
    }

    /// Whether these bits, found at the block's position, are its magic and its CRC.
    pub(crate) fn begins(&self, head: Head) -> bool {
        head.whole() == Some((BLOCK_MAGIC, self.crc))
    }
}
