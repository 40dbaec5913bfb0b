//! Summaries of streams and blocks.

pub(crate) use crate::format::Format as StreamFormat;
use crate::formats::bzip2::header::{END_BITS, Level};

/// The summary of one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamSummary {
    /// The number of bytes read (up to the trailing garbage, if there is any).
    pub bytes_in: u64,
    /// The number of bytes written.
    pub bytes_out: u64,
    /// The number of its blocks.
    pub blocks: u64,
    /// The number of streams read or written: by an encoder 1 (43 if perturbed), unless it is set to write several.
    pub streams: u64,
    /// The largest block size of the streams, in bytes: 100,000 times the level of a `.bz2` stream, for example. 0 if
    /// no stream was read.
    pub block_size: u32,
    /// The combined CRC of the last stream.
    pub combined_crc: u32,
    /// The number of blocks that were verified before they were written ([`Verify`](crate::Verify)).
    pub verified_blocks: u64,
    /// The number of blocks that verification found wrong, and that were coded and verified again.
    pub recoded_blocks: u64,
    /// The byte offset of trailing garbage in the input, if there is any.
    pub trailing_garbage: Option<u64>,
}

/// One block that was processed, in the order of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInfo {
    /// The number, counted from 1 over the whole input.
    pub number: u64,
    /// The CRC of its text.
    pub crc: u32,
    /// The combined CRC of its stream up to here.
    pub combined_crc: u32,
    /// The number of bytes of its text.
    pub text_len: u64,
    /// The number of its bytes after run-length coding.
    pub block_len: u32,
    /// The number of bytes of this input processed so far.
    pub bytes_in: u64,
    /// The position of the block in the compressed file, in bits: its magic, or its header if the format has headers.
    pub bit_offset: u64,
    /// The number of its stream, counted from 1 over the whole input.
    pub stream: u64,
    /// The level of that stream; `None` if the format has none.
    pub level: Option<Level>,
    /// The number of line ends (bytes 0x0a) in its text, if they are counted ([`Input::count_lines`]).
    ///
    /// [`Input::count_lines`]: crate::flow::Input::count_lines
    pub lines: Option<u64>,
}

/// One stream that has ended, in the order of the input. Streams without blocks are reported too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamInfo {
    /// The number, counted from 1 over the whole input.
    pub number: u64,
    /// Its format.
    pub format: StreamFormat,
    /// The level of a `.bz2` stream; `None` for others.
    pub level: Option<Level>,
    /// The position in the compressed file, in bits, of the record that ends the stream: the end magic, or an index. If
    /// the format has none: the end of the stream.
    pub bit_offset: u64,
    /// The end of the stream in the compressed file, in bytes.
    pub end: u64,
    /// The combined CRC of its blocks.
    pub combined_crc: u32,
}

impl StreamInfo {
    /// A `.bz2` stream whose end magic is at this bit.
    pub(crate) fn bzip2(number: u64, level: Option<Level>, bit_offset: u64, combined_crc: u32) -> StreamInfo {
        let end = (bit_offset + END_BITS).div_ceil(8);
        StreamInfo { number, format: StreamFormat::Bzip2, level, bit_offset, end, combined_crc }
    }
}

/// The block or stream that a piece of output completes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Block(BlockInfo),
    Stream(StreamInfo),
}
