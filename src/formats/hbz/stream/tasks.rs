//! The tasks of `.hbz` streams: blocks to be encoded and decoded.

use super::stages;
use crate::block::Text;
use crate::codec::bwt::merge::Rows;
use crate::codec::mismatch::Mismatch;
use crate::flaw::Flaw;
use crate::formats::hbz::codec::decode::{HbzDecoder, PayloadBlock, Vectors};
use crate::formats::hbz::codec::encode::{HbzEncoder, Prepared};
use crate::formats::hbz::header::{BlockHeader, StreamHeader};
use hybz_queue::{Checked, Class, Core, Start, Submitter, Task};
use std::sync::Arc;

/// A core's rate for long blocks, rounded down from the slowest machine measured: no client can wait until the first
/// block has been measured.
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
    /// The amount of work: bytes of text.
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
    fn check(&self, coded: &mut CodedLarge, core: &mut Core) -> Result<(), Mismatch> {
        decoder(core).verify(&self.text, self.number, self.stream, coded)
    }

    fn is_same(a: &CodedLarge, b: &CodedLarge) -> bool {
        a == b
    }
}

/// Encode a block whose codes an accelerator has sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedLarge {
    pub(crate) prepared: Prepared,
    pub(crate) rows: Rows,
    /// The rows of the entry points.
    pub(crate) entries: Vec<u32>,
}

impl Task for SortedLarge {
    type Output = CodedLarge;

    fn run(&self, core: &mut Core) -> CodedLarge {
        let encoder = core.state::<HbzEncoder>();
        match &self.rows {
            Rows::Column(column) => encoder.finish(&self.prepared, column, &self.entries),
            Rows::Thirds(thirds) => encoder.finish_thirds(&self.prepared, thirds, &self.entries),
        }
    }

    fn bytes_out((_, payload): &CodedLarge) -> u64 {
        payload.len() as u64
    }
}

/// This core's decoder. Frees the encoder, whose memory is what the largest block so far needed.
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
    /// The submitter for the tasks of the stages, if the block is so long that all stations should work on it.
    pub stages: Option<Submitter>,
}

impl DecodeLarge {
    /// The amount of work: bytes of payload.
    pub fn bytes(&self) -> u64 {
        self.payload.len() as u64
    }
}

impl Task for DecodeLarge {
    /// The text with its CRC checked, or the damage of the block.
    type Output = Result<Text, Flaw>;

    fn run(&self, core: &mut Core) -> Self::Output {
        decoder(core).decode(self.stream, self.header, Arc::clone(&self.payload))
    }

    fn start(&self, core: &mut Core) -> Start<Self::Output> {
        let Some(submitter) = self.stages.clone() else { return Start::Done(self.run(core)) };
        core.release::<HbzEncoder>();
        match PayloadBlock::parse(self.stream, self.header, Arc::clone(&self.payload)) {
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
