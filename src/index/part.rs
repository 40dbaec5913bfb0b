//! The index of a part of a file, for a reader of that part only.

use super::Index;
use super::records::Records;
use crate::error::Error;
use crate::formats::bzip2::header::HEADER_BITS;
use crate::index::bzi::{IndexHeader, Record, RecordKind};
use std::ops::Range;

impl Index {
    /// The index of just the blocks that contain some of this text: 32 or 40 bytes for each.
    ///
    /// It is for a reader of that part of the file, on another machine for example. Offsets are those of the whole
    /// file; numbers of blocks and streams count from the part's first. Open such an index with
    /// [`open_unchecked`](Self::open_unchecked), because the file continues after the part. Text before the part cannot
    /// be read with it (`find` returns [`Error::BadIndex`]), and the text ends where the part ends.
    ///
    /// ```
    /// use hybz::{Level, Settings, index::Index, seek::Reader};
    /// let settings = Settings::new().level(Level::FASTEST);
    /// let text: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    /// let file = hybz::compress(&text, &settings)?;
    /// let part = Index::build(&file[..], &settings)?.part(150_000..250_000)?;
    /// assert_eq!(part.blocks(), 2);
    ///
    /// let mut some = [0; 100];
    /// Reader::with_index(file, part, &settings).read_at(&mut some, 200_000)?;
    /// assert_eq!(some, text[200_000..200_100]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`find`](Self::find). [`Error::BadIndex`] also if the file has no text there.
    pub fn part(&self, text: Range<u64>) -> Result<Index, Error> {
        let end = text.end.min(self.header.text_len);
        let first = if text.start < end { self.find(text.start)? } else { None };
        let first = first.ok_or(Error::BadIndex("it has no such part"))?;
        let mut records = Vec::new();
        if first.bit_offset != HEADER_BITS {
            // Represents everything before the part: readers want a record for the beginning of the file, and blocks
            // after it.
            let before = Record { kind: RecordKind::EndOfStream, stream: 1, ..self.record(0)? };
            records.push(Record { bit_offset: HEADER_BITS, text_offset: 0, lines: 0, ..before });
        }
        // The stream of the first block is the one after the record before it.
        let stream = 1 + records.len() as u32;
        let renumbered = |record: Record| Record { stream: record.stream - first.stream + stream, ..record };
        let (mut number, mut blocks) = (first.record, 0);
        let last = loop {
            let record = self.record(number)?;
            if record.text_offset >= end || record.kind == RecordKind::EndOfData {
                break record;
            }
            blocks += u64::from(record.kind == RecordKind::Block);
            records.push(renumbered(record));
            number += 1;
        };
        // The last block ends where the next record begins. For readers of the part that record is the end of the
        // stream.
        let last = Record { kind: RecordKind::EndOfStream, ..renumbered(last) };
        let end = last.bit_offset.div_ceil(8);
        records.push(last);
        records.push(Record { kind: RecordKind::EndOfData, bit_offset: end * 8, crc: 0, ..last });
        let header = IndexHeader {
            lines: self.header.lines,
            coded_len: end,
            text_len: last.text_offset,
            records: records.len() as u64,
            blocks,
            streams: records.len() as u64 - 1 - blocks,
        };
        Ok(Index { header, records: Records::Memory(records), from_offsets: false })
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::index::{Block, Index};
    use crate::seek::Reader;
    use crate::{Level, Settings};
    use std::sync::Arc;

    /// Three streams: the second is empty, the others have blocks of different lengths.
    fn file() -> (Vec<u8>, Vec<u8>) {
        let text: Vec<u8> = (0..200_000u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        let coded = [(1, 0..350_000), (9, 0..0), (2, 350_000..800_000)].map(|(level, range)| {
            crate::compress(&text[range], &Settings::new().level(Level::try_new(level).unwrap())).unwrap()
        });
        (text, coded.concat())
    }

    #[test]
    fn parts_read_as_the_whole() {
        let (text, file) = file();
        let settings = Settings::new();
        let whole = Index::build(&file[..], &settings).unwrap();
        let starts: Vec<u64> = whole.iter().map(|block| block.unwrap().text_offset).collect();
        assert!(starts.len() > 6);
        for (at, &from) in starts.iter().enumerate() {
            for &to in starts[at + 1..].iter().chain([&(text.len() as u64)]) {
                let part = whole.part(from..to).unwrap();
                // The part also survives being written and read.
                let mut bytes = Vec::new();
                part.write(&mut bytes).unwrap();
                let part = Index::open_unchecked(Arc::new(bytes), &file).unwrap();
                let blocks: Vec<_> = part.iter().map(Result::unwrap).collect();
                assert_eq!((blocks[0].text_offset, blocks[0].number), (from, 1));
                assert_eq!(part.blocks(), blocks.len() as u64);
                assert_eq!(part.text_len(), to);
                let wholes = whole.iter().map(Result::unwrap).skip(at);
                for (&mine, of_whole) in blocks.iter().zip(wholes) {
                    let Block { number, stream, record, .. } = mine;
                    assert_eq!(mine, Block { number, stream, record, ..of_whole });
                }
                if from > 0 {
                    assert!(matches!(part.find(from - 1), Err(Error::BadIndex(_))));
                    assert!(matches!(part.find(0), Err(Error::BadIndex(_))));
                }
                let reader = Reader::with_index(file.clone(), part, &settings);
                let mut read = vec![0; (to - from) as usize + 10];
                let n = reader.read_at(&mut read, from).unwrap();
                assert!(read[..n] == text[from as usize..to as usize]);
            }
        }
    }

    #[test]
    fn any_places() {
        let (text, file) = file();
        let whole = Index::build(&file[..], &Settings::new()).unwrap();
        let len = text.len() as u64;
        assert_eq!(whole.part(0..u64::MAX).unwrap().blocks(), whole.blocks());
        assert_eq!(whole.part(len - 1..len).unwrap().blocks(), 1);
        assert_eq!(whole.part(99_000..99_001).unwrap().text_len(), whole.find(99_000).unwrap().unwrap().text_len);
        for none in [len..len + 5, 7..7, len + 1..u64::MAX] {
            assert!(matches!(whole.part(none), Err(Error::BadIndex(_))));
        }
    }
}
