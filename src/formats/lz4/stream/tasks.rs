//! The tasks of LZ4 frames: text to be encoded, blocks to be decoded.

use crate::formats::lz4::Frame;
use crate::formats::lz4::block::{self, Blocks, CodedBlocks, DecodedBlocks};
use hybz_queue::{Class, Core, Task};
use std::sync::Arc;

/// Text to be encoded.
pub const ENCODE_LZ4: Class = Class::new("encode LZ4", 20e6);
/// Blocks to be decoded.
pub const DECODE_LZ4: Class = Class::new("decode LZ4", 20e6);

/// Encode some text as blocks of an LZ4 frame.
#[derive(Clone, Debug)]
pub struct EncodeLz4 {
    /// The text.
    pub text: Vec<u8>,
    /// How the frame is written.
    pub frame: Frame,
}

impl Task for EncodeLz4 {
    type Output = CodedBlocks;

    fn run(&self, _: &mut Core) -> CodedBlocks {
        block::encode(&self.text, self.frame)
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

impl DecodeLz4 {
    /// The amount of work: bytes of input.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.bytes.len() as u64
    }
}

impl Task for DecodeLz4 {
    /// The text, and the damage of the block after it.
    type Output = DecodedBlocks;

    fn run(&self, _: &mut Core) -> DecodedBlocks {
        self.blocks.decode(&self.history)
    }

    fn bytes_out(decoded: &DecodedBlocks) -> u64 {
        decoded.text.len() as u64
    }
}
