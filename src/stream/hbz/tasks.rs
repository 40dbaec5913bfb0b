//! The tasks of `.hbz` streams: blocks to be encoded and decoded, and the stages of decoding a long one.

use super::stages;
use crate::block::Text;
use crate::codec::hbz::decode::{
    Block, FirstColumn, HbzDecoder, Runs, SegmentStart, TextLens, Vector, Vectors, segment_mtf,
};
use crate::codec::hbz::encode::{HbzEncoder, Prepared};
use crate::codec::mismatch::Mismatch;
use crate::codec::mtf::decode::MtfDecoder;
use crate::error::Damage;
use crate::format::hbz::{BlockHeader, StreamHeader};
use crate::schedule::{Checked, Class, Core, Start, Submitter, Task};
use std::ops::Range;
use std::sync::Arc;

/// What a core does of long blocks, rounded down from the slowest machine measured: no client can wait until the first
/// has been measured.
const CORE_RATE: f64 = 20e6;
/// Blocks to be encoded.
pub const ENCODE_LARGE: Class = Class::new("encode .hbz", CORE_RATE);
/// Blocks to be decoded.
pub const DECODE_LARGE: Class = Class::new("decode .hbz", CORE_RATE);

/// Header and payload of a block.
pub type CodedLarge = (BlockHeader, Vec<u8>);

/// Encode a block from its text.
#[derive(Clone, Debug)]
pub struct EncodeLarge {
    /// The text.
    pub text: Arc<Vec<u8>>,
    /// The block's number in its stream, from 0.
    pub number: u32,
    /// The stream's header.
    pub stream: StreamHeader,
}

impl EncodeLarge {
    /// How much work it is: bytes of text.
    pub fn bytes(&self) -> u64 {
        self.text.len() as u64
    }
}

impl Task for EncodeLarge {
    type Output = CodedLarge;

    fn run(&self, core: &mut Core) -> CodedLarge {
        core.state::<HbzEncoder>().encode(&self.text, self.number, &self.stream)
    }

    fn bytes_out((_, payload): &CodedLarge) -> u64 {
        payload.len() as u64
    }
}

impl Checked for EncodeLarge {
    type Wrong = Mismatch;
    const WORDS: [&'static str; 3] = ["a block", "coded", "decoded"];

    /// Decodes the block, on this core alone, and compares it with its text.
    fn check(&self, (header, payload): &mut CodedLarge, core: &mut Core) -> Result<(), Mismatch> {
        let coded = std::mem::take(payload);
        let verdict;
        (*payload, verdict) = decoder(core).verify(&self.text, self.number, self.stream, *header, coded);
        verdict
    }

    fn is_same(a: &CodedLarge, b: &CodedLarge) -> bool {
        a == b
    }
}

/// Encode a block whose codes an accelerator has sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedLarge {
    pub(crate) prepared: Prepared,
    /// The last column, and the rows of the entry points.
    pub(crate) column: Vec<u8>,
    pub(crate) entries: Vec<u32>,
}

impl Task for SortedLarge {
    type Output = CodedLarge;

    fn run(&self, core: &mut Core) -> CodedLarge {
        core.state::<HbzEncoder>().finish(&self.prepared, &self.column, &self.entries)
    }

    fn bytes_out((_, payload): &CodedLarge) -> u64 {
        payload.len() as u64
    }
}

/// This core's decoder. The encoder's memory, which is that of the largest block so far, is given back for it.
fn decoder(core: &mut Core) -> &mut HbzDecoder {
    core.release::<HbzEncoder>();
    core.state_with(|core| HbzDecoder::with_vectors(core.shared()))
}

/// Decode a block.
#[derive(Clone, Debug)]
pub struct DecodeLarge {
    /// Its payload.
    pub payload: Arc<Vec<u8>>,
    /// Its header.
    pub header: BlockHeader,
    /// The stream's header.
    pub stream: StreamHeader,
    /// For a block so long that all stations should work on it: where the tasks of its stages go.
    pub stages: Option<Submitter>,
}

impl DecodeLarge {
    /// How much work it is: bytes of payload.
    pub fn bytes(&self) -> u64 {
        self.payload.len() as u64
    }
}

impl Task for DecodeLarge {
    /// The text with its CRC right, or what is wrong with the block.
    type Output = Result<Text, Damage>;

    fn run(&self, core: &mut Core) -> Self::Output {
        decoder(core).decode(self.stream, self.header, Arc::clone(&self.payload))
    }

    fn start(&self, core: &mut Core) -> Start<Self::Output> {
        let Some(submitter) = self.stages.clone() else { return Start::Done(self.run(core)) };
        core.release::<HbzEncoder>();
        match Block::parse(self.stream, self.header, Arc::clone(&self.payload)) {
            Ok(block) => {
                let vectors = core.shared::<Vectors>();
                Start::Later(Box::new(move |duty| stages::start(block, submitter, vectors, duty)))
            }
            Err(damage) => Start::Done(Err(damage)),
        }
    }

    fn bytes_out(text: &Self::Output) -> u64 {
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

/// What a core needs for segments.
struct SegmentMtf(MtfDecoder);

impl Task for DecodeRuns {
    type Output = Result<Vec<Runs>, Damage>;

    fn run(&self, core: &mut Core) -> Self::Output {
        core.release::<HbzEncoder>();
        let SegmentMtf(mtf) = core.state_with(|_| SegmentMtf(segment_mtf()));
        self.segments.clone().map(|number| self.block.runs(number, mtf)).collect()
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

impl Task for FillVector {
    type Output = ();

    fn run(&self, _: &mut Core) {
        for (number, part) in (self.first..).zip(&self.parts) {
            self.block.fill(number, &part.0, &part.1, &self.vector);
        }
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

impl Task for WalkEntries {
    /// The text, perturbation still in it, its CRC not yet compared; of a compact block its codes.
    type Output = Result<Vec<u8>, Damage>;

    fn run(&self, _: &mut Core) -> Self::Output {
        self.block.walk(self.entries.clone(), &self.vector, &self.first_column, self.lens.of(self.number))
    }

    fn bytes_out(text: &Self::Output) -> u64 {
        text.as_ref().map_or(0, |text| text.len() as u64)
    }
}
