//! The listed data of blocks.

use hybz::hbz::List;
use hybz::{BlockInfo, Error};
use std::borrow::Cow;

/// The row of a block or of a damaged place. After a damaged place some fields are unknown.
pub struct Row {
    /// Counted from 1 over the whole file.
    pub number: Option<u64>,
    /// The number of its stream.
    pub stream: Option<u64>,
    /// The row's start in the compressed file, in bits.
    pub bit_offset: u64,
    /// The number of bytes of the compressed file that are finished with it, and how many of them were not before.
    pub coded_end: u64,
    pub coded_len: u64,
    pub text_at: Option<u64>,
    pub text_len: Option<u64>,
    pub crc: Option<u32>,
    /// "ok", or the error.
    pub state: Cow<'static, str>,
    /// Whether the block's text is known and right, even if there is damage around it.
    pub is_good: bool,
}

/// The blocks that were decoded.
pub fn of_decoded(blocks: &[BlockInfo]) -> Vec<Row> {
    let (mut at, mut text_at) = (0, 0);
    let rows = blocks.iter().map(|block| {
        let &BlockInfo { number, stream, bytes_in, bit_offset, text_len, crc, .. } = block;
        let row = Row {
            number: Some(number),
            stream: Some(stream),
            bit_offset,
            coded_end: bytes_in,
            coded_len: bytes_in - at,
            text_at: Some(text_at),
            text_len: Some(text_len),
            crc: Some(crc),
            state: "ok".into(),
            is_good: true,
        };
        (at, text_at) = (bytes_in, text_at + text_len);
        row
    });
    rows.collect()
}

/// The blocks of a file that contains an index.
pub fn of_list(list: &List, verdicts: Vec<Result<(), Error>>) -> Vec<Row> {
    let mut stream = 0;
    let rows = (1..).zip(list.blocks()).zip(verdicts).map(|((number, block), verdict)| {
        stream += u64::from(block.number == 0);
        Row {
            number: Some(number),
            stream: Some(stream),
            bit_offset: block.at * 8,
            coded_end: block.at + u64::from(block.coded_len),
            coded_len: block.coded_len.into(),
            text_at: Some(block.text_at),
            text_len: Some(block.text_len.into()),
            crc: Some(block.crc),
            is_good: verdict.is_ok(),
            state: state(verdict),
        }
    });
    rows.collect()
}

/// "ok" for a good block, or its error.
fn state(verdict: Result<(), Error>) -> Cow<'static, str> {
    match verdict {
        Ok(()) => "ok".into(),
        Err(Error::Data { damage, .. }) => damage.to_string().into(),
        Err(Error::Truncated { .. }) => "cut".into(),
        Err(error) => error.to_string().into(),
    }
}
