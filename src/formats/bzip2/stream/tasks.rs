//! The tasks of `.bz2` streams: blocks to be encoded and decoded.

use crate::block::{CodedBlock, DecodedBlock, SharedBytes, Text};
use crate::codec::Proof;
use crate::codec::bwt::forward::LastColumn;
use crate::codec::bwt::merge::Rows;
use crate::codec::decoder::Decoder;
use crate::codec::encoder::Encoder;
use crate::codec::mismatch::Mismatch;
use crate::codec::run_length::Run;
use crate::error::DecodeError;
use crate::formats::bzip2::header::Level;
use hybz_queue::{Checked, Class, Core, Task};

/// Blocks to be encoded.
///
/// A core needs at most 50 ms for a block, however long its text is (46 MB of zeros, say). The high rate says that no
/// accelerator need be started before the first block has been measured.
pub const ENCODE: Class = Class::new("encode .bz2", 1e9);
/// Blocks to be decoded. Their rate is high for the same reason.
pub const DECODE: Class = Class::new("decode .bz2", 1e9);

/// Encode a block from its text.
#[derive(Clone, Debug)]
pub struct EncodeBlock {
    /// The text.
    pub text: Text,
    /// Its runs of four and more bytes, cut every 255 bytes, if the text's reader has listed them.
    pub runs: Option<Vec<Run>>,
}

impl From<Text> for EncodeBlock {
    /// A block whose runs are not known.
    fn from(text: Text) -> Self {
        EncodeBlock { text, runs: None }
    }
}

/// This core's encoder. The cores of a pool share their knowledge of periodic blocks.
fn encoder(core: &mut Core) -> &mut Encoder {
    core.state_with(|core| {
        let encoder = Encoder::with_memo(core.shared());
        if memory_is_short() { encoder.sparing() } else { encoder }
    })
}

/// Whether this process may map so little memory (`ulimit -v`, `ulimit -d`) that a thread cannot have 5 MB more for
/// speed: one thread works in 22 MB.
fn memory_is_short() -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, getrlimit};
        const SHORT: u64 = 64 << 20;
        let limits = [Resource::As, Resource::Data].map(|resource| getrlimit(resource).current);
        limits.into_iter().flatten().any(|limit| limit < SHORT)
    }
    #[cfg(not(target_os = "linux"))]
    false
}

impl Task for EncodeBlock {
    type Output = CodedBlock;

    fn run(&self, core: &mut Core) -> CodedBlock {
        encoder(core).encode(&self.text)
    }

    fn bytes_out(block: &CodedBlock) -> u64 {
        block.bytes.len() as u64
    }
}

impl Checked for EncodeBlock {
    type Wrong = Mismatch;
    const WORDS: [&'static str; 3] = ["a block", "coded", "decoded"];

    /// Decodes the block and compares it with its text.
    fn check(&self, block: &mut CodedBlock, core: &mut Core) -> Result<(), Mismatch> {
        match core.state::<Decoder>().verify(block, &self.text)? {
            Proof::Whole => Ok(()),
            // Only bzip2's sort can tell which of several origins bzip2 chooses.
            Proof::ButOrigin if encoder(core).encode(&self.text) == *block => Ok(()),
            Proof::ButOrigin => Err(Mismatch::Part("origin")),
        }
    }

    fn is_same(a: &CodedBlock, b: &CodedBlock) -> bool {
        a == b
    }
}

/// Encode a block whose rotations an accelerator has sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedBlock {
    /// Its rows.
    pub rows: Rows,
    /// The row of the block itself.
    pub origin: u32,
    /// The CRC of the block's text.
    pub crc: u32,
    /// The number of bytes of text in the block.
    pub text_len: u64,
}

/// Memory for the column that a core merges.
#[derive(Default)]
struct Merged(Vec<u8>);

impl Task for SortedBlock {
    type Output = CodedBlock;

    fn run(&self, core: &mut Core) -> CodedBlock {
        let (mut merged, mut origin) = (std::mem::take(&mut core.state::<Merged>().0), [self.origin]);
        let bytes = match &self.rows {
            Rows::Column(column) => column,
            Rows::Thirds(thirds) => {
                thirds.merge(&mut origin, &mut merged);
                &merged
            }
        };
        let block = encoder(core).finish(LastColumn { bytes, origin: origin[0] }, self.crc, self.text_len);
        core.state::<Merged>().0 = merged;
        block
    }

    fn bytes_out(block: &CodedBlock) -> u64 {
        block.bytes.len() as u64
    }
}

/// Decode the block whose magic begins at bit `start` of `data`, which may hold more than the block, or less.
#[derive(Clone, Debug)]
pub struct DecodeBlock {
    /// Compressed bytes.
    pub data: SharedBytes,
    /// The position of the block's magic in `data`, in bits.
    pub start: u64,
    /// The first bit that does not belong to these data (the last byte may be shared with the next span).
    pub end: u64,
}

impl DecodeBlock {
    /// The amount of work: bytes of input.
    pub fn bytes(&self) -> u64 {
        self.data.len() as u64
    }
}

impl Task for DecodeBlock {
    /// The block with its CRC checked, or the damage that the reference decoder found: an output, not a failure.
    type Output = Result<DecodedBlock, DecodeError>;

    fn run(&self, core: &mut Core) -> Self::Output {
        // The level is unknown here; the joiner compares the block's length with it.
        let limit = Level::BEST.block_limit();
        core.state::<Decoder>().decode(&self.data, self.start, self.end, limit)
    }

    fn bytes_out(block: &Self::Output) -> u64 {
        block.as_ref().map_or(0, |block| block.text.len())
    }
}
