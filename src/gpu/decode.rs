//! The input and output of a device that decodes ([`Offload::Decode`](super::Offload::Decode)).

pub use super::abi::{hybz_block as BlockForDevice, hybz_decoded as DecodedByDevice};
use super::{DeviceError, DeviceLane};
use std::time::Duration;

/// A lane that decodes blocks.
pub trait DecodeBlocks: DeviceLane {
    /// Decodes blocks to their texts, or up to their run-length-coded texts. The first `bytes` bytes of
    /// [`texts`](DeviceLane::texts) hold the codes and selectors of all blocks: at most `max_length` bytes for each
    /// block on average.
    fn decode(
        &mut self,
        blocks: &[BlockForDevice],
        bytes: usize,
        expand: bool,
        timeout: Duration,
    ) -> Result<DecodedBatch<'_>, DeviceError>;
}

/// A decoded batch.
#[derive(Clone, Copy, Debug)]
pub struct DecodedBatch<'a> {
    /// Its blocks.
    pub blocks: &'a [DecodedByDevice],
    /// Their outputs.
    pub output: &'a [u8],
}
