//! The input and output of a device that decodes blocks of `.hbz` streams
//! ([`Pipeline::DecodeLarge`](super::Pipeline::DecodeLarge)).

pub use super::abi::{
    HYBZ_LARGE_INPUT as input_room, HYBZ_MAX_LARGE as MAX_LARGE, hybz_large as LargeForDevice,
    hybz_segment as SegmentForDevice,
};

/// The max number of rows of a lane, for all blocks of a batch together.
pub const MAX_ROWS: usize = 1 << 30;
/// The max distance of entry points, as a base-2 logarithm.
pub const MAX_ENTRY_LOG: u8 = super::abi::HYBZ_MAX_ENTRY_LOG as u8;
/// Blocks begin at multiples of this many rows.
pub const ROW_UNIT: usize = 16;

/// A decoded batch.
#[derive(Clone, Copy, Debug)]
pub struct DecodedCodes<'a> {
    /// For each block: not 0 if the block is unusual or wrong in some way, so that a core must decode it.
    pub odd: &'a [u32],
    /// At each block's base: its codes, in the order of the text. Nothing in them is checked yet.
    pub codes: &'a [u8],
}
