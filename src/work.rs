//! The codec's kind of work: what stations are asked, and what they answer.
//!
//! | question | answer | class |
//! |---|---|---|
//! | [`EncodeBlock`]: a text, or a block that is sorted already | the block, coded | [`ENCODE`] |
//! | [`DecodeBlock`]: a span of compressed bits | the text, or what is wrong | [`DECODE`] |
//! | [`RecodeBlock`]: a text whose coded block was wrong | the block, coded by a core with a fresh codec | [`ENCODE`] |
//! | [`VerifyBlock`]: a coded block and its text | whether one is the other | [`ENCODE`] |
//! | [`EncodeLarge`]: a text of a `.hbz` stream, or its sorted codes | header and payload | [`ENCODE_LARGE`] |
//! | [`RecodeLarge`], [`VerifyLarge`] | as for `.bz2` | [`ENCODE_LARGE`] |
//! | [`DecodeLarge`]: a payload | the text, or what is wrong | [`DECODE_LARGE`] |
//! | [`DecodeLzw`]: the codes of a `.Z` stream | some of its text | [`DECODE_LZW`] |
//! | [`EncodeLz4`]: some text | blocks of an LZ4 frame | [`ENCODE_LZ4`] |
//! | [`DecodeLz4`]: blocks of an LZ4 frame | their text | [`DECODE_LZ4`] |
//! | [`DecodeRuns`], [`FillVector`], [`WalkEntries`]: the stages of a long block | a part of it | [`DECODE_LARGE`] |

use crate::block::{CodedBlock, DecodedBlock, Text};
use crate::codec::bwt::merge::Thirds;
use crate::codec::bwt::periodic::PeriodicOrigins;
use crate::codec::hbz::decode::{Block, FirstColumn, Runs, SegmentStart, TextLens, Vector, Vectors};
use crate::codec::hbz::encode::Prepared;
use crate::codec::mismatch::Mismatch;
use crate::error::{Damage, DecodeError, Error};
use crate::format::hbz::{BlockHeader, StreamHeader};
use crate::lz4::Frame;
use crate::lz4::block::{Blocks, CodedBlocks, DecodedBlocks};
use crate::lzw::ChunkDecoder;
use crate::schedule::{AnyJob, Class, ErasedJob, Job, Question, Submitter};
use std::ops::Range;
use std::sync::Arc;

/// The codec's kind of work. How a core does it is in `station`.
#[derive(Debug, Default)]
pub struct Codec {
    /// What the stations of one pool learn about periodic blocks.
    pub(crate) origins: Arc<PeriodicOrigins>,
    /// The vectors of all large blocks that are being decoded.
    pub(crate) vectors: Arc<Vectors>,
}

/// Blocks to be coded for a `.bz2` stream.
pub const ENCODE: Class = Class(0);
/// Blocks to be decoded of a `.bz2` stream.
pub const DECODE: Class = Class(1);
/// Blocks to be coded for a `.hbz` stream.
pub const ENCODE_LARGE: Class = Class(2);
/// Blocks to be decoded of a `.hbz` stream.
pub const DECODE_LARGE: Class = Class(3);
/// Codes to be decoded of a `.Z` stream.
pub const DECODE_LZW: Class = Class(4);
/// Text to be coded for an LZ4 frame.
pub const ENCODE_LZ4: Class = Class(5);
/// Blocks to be decoded of an LZ4 frame.
pub const DECODE_LZ4: Class = Class(6);

/// Code a block of a `.bz2` stream.
#[derive(Clone, Debug)]
pub enum EncodeBlock {
    /// From its text.
    Text(Text),
    /// From its sorted rotations.
    Sorted(SortedBlock),
}

/// A block whose rotations are sorted, on its way from the accelerator that sorted it to the core that codes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedBlock {
    /// Its rows.
    pub rows: Rows,
    /// The row that is the block itself.
    pub origin: u32,
    /// The CRC of the block's text.
    pub crc: u32,
    /// How many bytes of text it holds.
    pub text_len: u64,
}

/// How far a block has been sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All the way: the last column.
    Column(Vec<u8>),
    /// Two lists of rotations, to be merged.
    Thirds(Thirds),
}

impl Question for EncodeBlock {
    type Answer = CodedBlock;
    const CLASS: Class = ENCODE;

    fn bytes(&self) -> u64 {
        match self {
            EncodeBlock::Text(text) => text.len(),
            EncodeBlock::Sorted(sorted) => sorted.text_len,
        }
    }

    fn is_second_stage(&self) -> bool {
        matches!(self, EncodeBlock::Sorted(_))
    }

    fn bytes_out(block: &CodedBlock) -> u64 {
        block.bytes.len() as u64
    }
}

/// Decode the block whose magic begins at bit `start` of `data`, which may hold more than the block, or too little.
#[derive(Clone, Debug)]
pub struct DecodeBlock {
    /// Compressed bytes.
    pub data: Arc<Vec<u8>>,
    /// Where in them the block's magic begins, in bits.
    pub start: u64,
    /// The first bit that does not belong to these data (the last byte may be shared with the next span).
    pub end: u64,
}

impl Question for DecodeBlock {
    /// The block with its CRC right, or what the reference decoder says is wrong with it: an answer, not a failure.
    type Answer = Result<DecodedBlock, DecodeError>;
    const CLASS: Class = DECODE;

    fn bytes(&self) -> u64 {
        self.data.len() as u64
    }

    fn bytes_out(block: &Self::Answer) -> u64 {
        block.as_ref().map_or(0, |block| block.text.len())
    }
}

/// Code a block of a `.bz2` stream once more, from its text: what was made of it is wrong.
#[derive(Clone, Debug)]
pub struct RecodeBlock(pub Text);

impl Question for RecodeBlock {
    type Answer = CodedBlock;
    const CLASS: Class = ENCODE;

    fn bytes(&self) -> u64 {
        self.0.len()
    }

    /// For a core, and older than what nobody has begun.
    fn is_second_stage(&self) -> bool {
        true
    }

    fn bytes_out(block: &CodedBlock) -> u64 {
        block.bytes.len() as u64
    }
}

/// Decode a coded block of a `.bz2` stream and compare it with its text.
#[derive(Clone, Debug)]
pub struct VerifyBlock {
    /// The text.
    pub text: Text,
    /// What a station has made of it.
    pub block: CodedBlock,
}

impl Question for VerifyBlock {
    /// The block, and whether it is right.
    type Answer = (CodedBlock, Result<(), Mismatch>);
    const CLASS: Class = ENCODE;

    fn bytes(&self) -> u64 {
        self.text.len()
    }

    /// For a core: no accelerator has a say in what is right.
    fn is_second_stage(&self) -> bool {
        true
    }

    fn is_verification(&self) -> bool {
        true
    }
}

/// Code a block of a `.hbz` stream.
#[derive(Clone, Debug)]
pub enum EncodeLarge {
    /// From its text.
    Text {
        /// The text.
        text: Arc<Vec<u8>>,
        /// The block's number in its stream, from 0.
        number: u32,
        /// The stream's header.
        stream: StreamHeader,
    },
    /// From its sorted codes.
    Sorted(SortedLarge),
}

/// A block of a `.hbz` stream whose codes are sorted, on its way from the accelerator that sorted them to the core that
/// codes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedLarge {
    pub(crate) prepared: Prepared,
    /// The last column, and the rows of the entry points.
    pub(crate) column: Vec<u8>,
    pub(crate) entries: Vec<u32>,
}

impl Question for EncodeLarge {
    type Answer = (BlockHeader, Vec<u8>);
    const CLASS: Class = ENCODE_LARGE;

    fn bytes(&self) -> u64 {
        match self {
            EncodeLarge::Text { text, .. } => text.len() as u64,
            EncodeLarge::Sorted(sorted) => sorted.prepared.text_len(),
        }
    }

    fn is_second_stage(&self) -> bool {
        matches!(self, EncodeLarge::Sorted(_))
    }

    fn bytes_out((_, payload): &Self::Answer) -> u64 {
        payload.len() as u64
    }
}

/// Code a block of a `.hbz` stream once more, from its text: what was made of it is wrong.
#[derive(Clone, Debug)]
pub struct RecodeLarge {
    /// The text.
    pub text: Arc<Vec<u8>>,
    /// The block's number in its stream, from 0.
    pub number: u32,
    /// The stream's header.
    pub stream: StreamHeader,
}

impl Question for RecodeLarge {
    type Answer = (BlockHeader, Vec<u8>);
    const CLASS: Class = ENCODE_LARGE;

    fn bytes(&self) -> u64 {
        self.text.len() as u64
    }

    fn is_second_stage(&self) -> bool {
        true
    }

    fn bytes_out((_, payload): &Self::Answer) -> u64 {
        payload.len() as u64
    }
}

/// Decode a coded block of a `.hbz` stream and compare it with its text.
#[derive(Clone, Debug)]
pub struct VerifyLarge {
    /// The text.
    pub text: Arc<Vec<u8>>,
    /// The block's number in its stream, from 0.
    pub number: u32,
    /// The stream's header.
    pub stream: StreamHeader,
    /// What a station has made of it: header and payload.
    pub coded: (BlockHeader, Vec<u8>),
}

impl Question for VerifyLarge {
    /// Header and payload, and whether they are right.
    type Answer = ((BlockHeader, Vec<u8>), Result<(), Mismatch>);
    const CLASS: Class = ENCODE_LARGE;

    fn bytes(&self) -> u64 {
        self.text.len() as u64
    }

    fn is_second_stage(&self) -> bool {
        true
    }

    fn is_verification(&self) -> bool {
        true
    }
}

/// Decode a block of a `.hbz` stream.
#[derive(Clone, Debug)]
pub struct DecodeLarge {
    /// Its payload.
    pub payload: Arc<Vec<u8>>,
    /// Its header.
    pub header: BlockHeader,
    /// The stream's header.
    pub stream: StreamHeader,
    /// For a block so long that all stations should work on it: where the jobs of its stages go.
    pub stages: Option<Submitter<Codec>>,
}

impl Question for DecodeLarge {
    /// The text with its CRC right, or what is wrong with the block.
    type Answer = Result<Text, Damage>;
    const CLASS: Class = DECODE_LARGE;

    fn bytes(&self) -> u64 {
        self.payload.len() as u64
    }

    fn bytes_out(text: &Self::Answer) -> u64 {
        text.as_ref().map_or(0, Text::len)
    }
}

/// Stage 1 of decoding a long block: the runs of some segments.
#[derive(Clone, Debug)]
pub struct DecodeRuns {
    /// The block.
    pub block: Arc<Block>,
    /// Which segments.
    pub segments: Range<usize>,
}

impl Question for DecodeRuns {
    type Answer = Result<Vec<Runs>, Damage>;
    const CLASS: Class = DECODE_LARGE;

    fn bytes(&self) -> u64 {
        self.block.coded_bytes(self.segments.clone())
    }

    /// Older than all blocks that nobody has begun.
    fn is_second_stage(&self) -> bool {
        true
    }
}

/// Stage 2: some segments into the vector.
#[derive(Clone, Debug)]
pub struct FillVector {
    /// The block.
    pub block: Arc<Block>,
    /// The runs and starts of some consecutive segments.
    pub parts: Vec<Arc<(Runs, SegmentStart)>>,
    /// The number of the first of them.
    pub first: usize,
    /// The vector, a word for each row.
    pub vector: Arc<Vector>,
}

impl Question for FillVector {
    type Answer = ();
    const CLASS: Class = DECODE_LARGE;

    fn bytes(&self) -> u64 {
        0
    }

    fn is_second_stage(&self) -> bool {
        true
    }
}

/// Stage 3: the text from some entry points on.
#[derive(Clone, Debug)]
pub struct WalkEntries {
    /// The block.
    pub block: Arc<Block>,
    /// Which entry points.
    pub entries: Range<usize>,
    /// The vector, complete.
    pub vector: Arc<Vector>,
    /// Where the rows of each byte are.
    pub first_column: Arc<FirstColumn>,
    /// Which of the block's walks this is.
    pub number: usize,
    /// How much text each of them gives.
    pub lens: Arc<TextLens>,
}

impl Question for WalkEntries {
    /// The text, perturbation still in it, its CRC not yet compared; of a compact block its codes.
    type Answer = Result<Vec<u8>, Damage>;
    const CLASS: Class = DECODE_LARGE;

    fn bytes(&self) -> u64 {
        0
    }

    fn is_second_stage(&self) -> bool {
        true
    }

    fn bytes_out(text: &Self::Answer) -> u64 {
        text.as_ref().map_or(0, |text| text.len() as u64)
    }
}

/// Decode codes of a `.Z` stream. The station takes the decoder out of the question, and gives it back with the answer.
#[derive(Debug)]
pub struct DecodeLzw(pub(crate) Option<Box<ChunkDecoder>>);

impl Question for DecodeLzw {
    /// The decoder, some text, and whether what follows it is wrong; nothing if a station failed that had the decoder.
    type Answer = Option<(Box<ChunkDecoder>, Vec<u8>, Result<(), Error>)>;
    const CLASS: Class = DECODE_LZW;

    fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |decoder| decoder.left().len() as u64)
    }

    fn bytes_out(answer: &Self::Answer) -> u64 {
        answer.as_ref().map_or(0, |(_, text, _)| text.len() as u64)
    }
}

/// Code some text as blocks of an LZ4 frame.
#[derive(Clone, Debug)]
pub struct EncodeLz4 {
    /// The text.
    pub text: Vec<u8>,
    /// How the frame is written.
    pub frame: Frame,
}

impl Question for EncodeLz4 {
    type Answer = CodedBlocks;
    const CLASS: Class = ENCODE_LZ4;

    fn bytes(&self) -> u64 {
        self.text.len() as u64
    }

    fn bytes_out(coded: &CodedBlocks) -> u64 {
        coded.bytes.len() as u64
    }
}

/// Decode blocks of an LZ4 frame.
#[derive(Clone, Debug)]
pub struct DecodeLz4 {
    pub(crate) blocks: Blocks,
    /// The text before them, if they are linked.
    pub(crate) history: Arc<Vec<u8>>,
}

impl Question for DecodeLz4 {
    /// The text, and what is wrong with the block behind it.
    type Answer = DecodedBlocks;
    const CLASS: Class = DECODE_LZ4;

    fn bytes(&self) -> u64 {
        self.blocks.bytes.len() as u64
    }

    fn bytes_out(decoded: &DecodedBlocks) -> u64 {
        decoded.text.len() as u64
    }
}

/// What lies on the codec's queue.
#[derive(Debug)]
#[non_exhaustive]
pub enum BlockJob {
    /// A block of a `.bz2` stream to code.
    Encode(Job<EncodeBlock>),
    /// One to decode.
    Decode(Job<DecodeBlock>),
    /// One to code again.
    Recode(Job<RecodeBlock>),
    /// One to verify.
    Verify(Job<VerifyBlock>),
    /// A block of a `.hbz` stream to code.
    EncodeLarge(Job<EncodeLarge>),
    /// One to decode.
    DecodeLarge(Job<DecodeLarge>),
    /// One to code again.
    RecodeLarge(Job<RecodeLarge>),
    /// One to verify.
    VerifyLarge(Job<VerifyLarge>),
    /// Stage 1 of decoding a long one.
    Runs(Job<DecodeRuns>),
    /// Stage 2.
    Fill(Job<FillVector>),
    /// Stage 3.
    Walk(Job<WalkEntries>),
    /// Codes of a `.Z` stream to decode.
    DecodeLzw(Job<DecodeLzw>),
    /// Text to be coded for an LZ4 frame.
    EncodeLz4(Job<EncodeLz4>),
    /// Blocks to be decoded of one.
    DecodeLz4(Job<DecodeLz4>),
}

impl AnyJob for BlockJob {
    fn erased(&mut self) -> &mut dyn ErasedJob {
        match self {
            BlockJob::Encode(job) => job,
            BlockJob::Decode(job) => job,
            BlockJob::EncodeLarge(job) => job,
            BlockJob::DecodeLarge(job) => job,
            BlockJob::Recode(job) => job,
            BlockJob::Verify(job) => job,
            BlockJob::RecodeLarge(job) => job,
            BlockJob::VerifyLarge(job) => job,
            BlockJob::Runs(job) => job,
            BlockJob::Fill(job) => job,
            BlockJob::Walk(job) => job,
            BlockJob::DecodeLzw(job) => job,
            BlockJob::EncodeLz4(job) => job,
            BlockJob::DecodeLz4(job) => job,
        }
    }
}

/// Which variant holds the job of which question.
macro_rules! variants {
    ($($variant:ident: $question:ty),*) => {
        $(impl From<Job<$question>> for BlockJob {
            fn from(job: Job<$question>) -> Self {
                BlockJob::$variant(job)
            }
        })*
    };
}
variants!(Encode: EncodeBlock, Decode: DecodeBlock, EncodeLarge: EncodeLarge, DecodeLarge: DecodeLarge);
variants!(Recode: RecodeBlock, Verify: VerifyBlock, RecodeLarge: RecodeLarge, VerifyLarge: VerifyLarge);
variants!(Runs: DecodeRuns, Fill: FillVector, Walk: WalkEntries, DecodeLzw: DecodeLzw);
variants!(EncodeLz4: EncodeLz4, DecodeLz4: DecodeLz4);
