//! Makes an index from a stream's reports about its blocks.

use super::Index;
use super::records::Records;
use crate::error::Error;
use crate::format::{Blocks, Format, IndexKind};
use crate::formats::bzip2::header::Level;
use crate::formats::bzip2::perturbed::MarkFinder;
use crate::index::bzi::{IndexHeader, Record, RecordKind};
use crate::summary::{BlockInfo, Mark, StreamInfo};

/// Makes the index of a file while it is compressed or decompressed. It takes the reports of
/// [`Outputs::block`](crate::flow::Outputs::block) and [`Outputs::stream`](crate::flow::Outputs::stream), in that
/// order, and 48 bytes of memory for each block and each stream.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    records: Vec<Record>,
    header: IndexHeader,
    lines: u64,
    /// The last format other than `.bz2` of which there was a stream.
    other: Option<Format>,
    /// Whether there was a block of another format.
    other_blocks: bool,
    marks: MarkFinder,
    /// Whether a stream was perturbed.
    perturbed: bool,
}

impl Recorder {
    /// An empty recorder.
    pub fn new() -> Recorder {
        Recorder::default()
    }

    /// Adds the next block.
    pub fn block(&mut self, block: &BlockInfo) {
        let &BlockInfo { bit_offset, stream, level, crc, text_len, lines, .. } = block;
        self.header.lines = lines.is_some() && (self.header.lines || self.header.blocks == 0);
        self.block_without_lines(bit_offset, stream, level, crc, text_len);
        self.lines += lines.unwrap_or(0);
    }

    /// Adds the next block of a file whose line ends are not counted.
    pub(super) fn block_without_lines(&mut self, bit: u64, stream: u64, level: Option<Level>, crc: u32, text_len: u64) {
        self.marks.block();
        self.push(RecordKind::Block, bit, stream, level, crc);
        self.header.blocks += 1;
        self.header.text_len += text_len;
    }

    /// Adds the end of the last blocks' stream.
    pub fn stream(&mut self, stream: &StreamInfo) {
        let &StreamInfo { number, format, level, bit_offset, end, combined_crc, .. } = stream;
        self.marks.stream(level);
        self.perturbed |= self.marks.is_marked();
        if format.row().index != IndexKind::Beside {
            self.other = Some(format);
        }
        if self.other.is_some_and(|format| format.row().blocks != Blocks::Listed) {
            return;
        }
        self.push(RecordKind::EndOfStream, bit_offset, number, level, combined_crc);
        self.header.streams += 1;
        self.header.coded_len = end;
    }

    /// Adds the block or stream that an output completes.
    pub(crate) fn mark(&mut self, mark: Option<Mark>) {
        match mark {
            Some(Mark::Block(block)) => self.block(&block),
            Some(Mark::Stream(stream)) => self.stream(&stream),
            None => {}
        }
    }

    fn push(&mut self, kind: RecordKind, bit_offset: u64, stream: u64, level: Option<Level>, crc: u32) {
        self.other_blocks |= level.is_none();
        let stream = u32::try_from(stream).unwrap_or(u32::MAX);
        let level = level.map_or(0, Level::get);
        let (text_offset, lines) = (self.header.text_len, self.lines);
        self.records.push(Record { kind, bit_offset, text_offset, crc, stream, level, lines });
    }

    /// The number of streams that have ended.
    pub(super) fn streams(&self) -> u64 {
        self.header.streams
    }

    /// The position of the last block or end of a stream in the compressed file, in bits.
    #[cfg(any(test, feature = "internals"))]
    pub fn bit_offset(&self) -> Option<u64> {
        Some(self.records.last()?.bit_offset)
    }

    /// An index of the blocks whose end is known: all but the last, until its stream ends. `None` if there are none, or
    /// if there was a stream of another format.
    ///
    /// It is for reading ([`seek::Reader::with_index`](crate::seek::Reader::with_index)) the part of a file that has
    /// been decoded so far. Opening it from a file fails, because it does not cover the whole `.bz2`.
    ///
    /// ```
    /// use hybz::{Level, Settings, read::MultiBzDecoder, seek};
    /// use std::io::Read;
    /// let settings = Settings::new().level(Level::FASTEST);
    /// let text: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    /// let file = hybz::compress(&text, &settings)?;
    /// let mut decoder = MultiBzDecoder::recording(&file[..], &settings);
    /// decoder.read_exact(&mut [0; 250_000])?;
    /// let index = decoder.recorder().and_then(|recorder| recorder.so_far()).expect("two blocks have passed");
    /// assert_eq!(index.blocks(), 2);
    ///
    /// let mut part = [0; 100];
    /// seek::Reader::with_index(file.clone(), index, &settings).read_at(&mut part, 50_000)?;
    /// assert_eq!(part, text[50_000..50_100]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(any(test, feature = "internals"))]
    pub fn so_far(&self) -> Option<Index> {
        let mut known = self.clone();
        let last =
            known.records.last_mut().filter(|_| self.other.is_none() && !self.other_blocks && !self.perturbed)?;
        if last.kind == RecordKind::Block {
            if self.header.blocks == 1 {
                return None;
            }
            // The last block only tells where the block before it ends, as the end of a stream would.
            last.kind = RecordKind::EndOfStream;
            known.header.blocks -= 1;
            known.header.streams += 1;
            known.header.text_len = last.text_offset;
            known.header.coded_len = last.bit_offset / 8;
        }
        known.finish().ok().filter(|index| index.blocks() > 0)
    }

    /// Returns the index after the whole file was read without error.
    ///
    /// # Errors
    /// [`Error::NoIndex`] if the file has streams of another format than `.bz2`; [`Error::Perturbed`];
    /// [`Error::BadIndex`] if no stream has ended.
    pub fn finish(mut self) -> Result<Index, Error> {
        if let Some(format) = self.other {
            return Err(Error::NoIndex { format, why: format.no_index() });
        }
        if self.perturbed {
            return Err(Error::Perturbed);
        }
        let Some(last) = self.records.last().copied().filter(|last| last.kind == RecordKind::EndOfStream) else {
            return Err(Error::BadIndex("the last stream has no end"));
        };
        let bit_offset = self.header.coded_len * 8;
        self.records.push(Record { kind: RecordKind::EndOfData, bit_offset, crc: 0, ..last });
        self.header.records = self.records.len() as u64;
        if !self.header.lines {
            self.records.iter_mut().for_each(|record| record.lines = 0);
        }
        Ok(Index { header: self.header, records: Records::Memory(self.records), from_offsets: false })
    }
}
