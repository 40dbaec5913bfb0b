//! The input and output of a device that decodes ([`Pipeline::Decode`](super::Pipeline::Decode)).

pub use super::abi::{hybz_block as BlockForDevice, hybz_decoded as DecodedByDevice};

/// A decoded batch.
#[derive(Clone, Copy, Debug)]
pub struct DecodedBatch<'a> {
    /// Its blocks.
    pub blocks: &'a [DecodedByDevice],
    /// Their outputs.
    pub output: &'a [u8],
}
