//! Ranges of a text for readers that share it, made of whole blocks.

use super::{Index, OUT_OF_ORDER};
use crate::error::Error;

/// Consecutive blocks of a `.bz2` file, and their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextRange {
    /// The range's number, from 0.
    pub number: u64,
    /// The number of bytes of text before it.
    pub offset: u64,
    /// The number of bytes of its text.
    pub length: u64,
    /// Its number of blocks.
    pub blocks: u64,
    /// The position of its first block's magic in the compressed file, in bits.
    pub bit_offset: u64,
    /// The bit after its last block's last bit.
    pub end_bit: u64,
    /// The number of line ends (bytes 0x0a) in the text before it, if they were counted.
    pub lines_before: Option<u64>,
}

impl Index {
    /// Splits the text into consecutive ranges of whole blocks for readers that share it. Each has at least `size`
    /// bytes, except for the last. No block is decoded twice, unless a reader needs the end of a line from the next
    /// range.
    ///
    /// ```
    /// use hybz::{Level, Settings, index::Index};
    /// let text: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    /// let file = hybz::compress(&text, &Settings::new().level(Level::FASTEST))?;
    /// let index = Index::build(&file[..], &Settings::new())?;
    /// let ranges = index.ranges(150_000).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(ranges.iter().map(|range| range.blocks).collect::<Vec<_>>(), [2, 2, 1]);
    /// assert_eq!(ranges[1].offset, ranges[0].length);
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn ranges(&self, size: u64) -> impl Iterator<Item = Result<TextRange, Error>> {
        let mut blocks = self.iter();
        let (mut number, mut end) = (0, 0);
        std::iter::from_fn(move || {
            let mut range: Option<TextRange> = None;
            loop {
                let block = match blocks.next() {
                    Some(Ok(block)) if block.text_offset == end => block,
                    Some(Ok(_)) => return Some(Err(Error::BadIndex(OUT_OF_ORDER))),
                    Some(Err(error)) => return Some(Err(error)),
                    None => break,
                };
                end += block.text_len;
                let range = range.get_or_insert(TextRange {
                    number,
                    offset: block.text_offset,
                    length: 0,
                    blocks: 0,
                    bit_offset: block.bit_offset,
                    end_bit: 0,
                    lines_before: block.lines_before,
                });
                range.length += block.text_len;
                range.blocks += 1;
                range.end_bit = block.end_bit;
                if range.length >= size {
                    break;
                }
            }
            number += 1;
            range.map(Ok)
        })
    }
}
