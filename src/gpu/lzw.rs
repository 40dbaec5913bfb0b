//! Lanes that decode strips of LZW codes.

use super::DeviceError;
pub use super::abi::{HYBZ_MAX_LZW as MAX_STRIP, hybz_lzw_found as StripFound, hybz_lzw_strip as StripForDevice};
use std::time::Duration;

/// The capacity of a lane: the max size of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripsSize {
    /// The number of strips.
    pub strips: usize,
    /// The total bytes of codes.
    pub coded: usize,
    /// The total bytes of text.
    pub text: usize,
}

/// A lane that decodes strips of LZW codes (`cuda/lzw.cu`).
pub trait DecodeStrips: Send {
    /// The capacity.
    fn size(&self) -> StripsSize;

    /// From now on texts hold differences, which are undone: rows of `row` bytes, and pixels of `pixel` bytes.
    fn differences(&mut self, pixel: u32, row: u32) -> Result<(), DeviceError>;

    /// Decodes strips of `coded` into `text`; `found` has an entry for each.
    ///
    /// After any error the lane must not be used again, only dropped.
    fn decode_strips(
        &mut self,
        coded: &[u8],
        strips: &[StripForDevice],
        text: &mut [u8],
        found: &mut [StripFound],
        timeout: Duration,
    ) -> Result<(), DeviceError>;

    /// Like [`decode_strips`](Self::decode_strips), from `coded_len` bytes at `coded` to `text_len` bytes at `text`,
    /// both device addresses.
    ///
    /// # Safety
    /// The addresses have that many bytes on this lane's device, in its primary context; nothing else writes to them
    /// during the call, and all earlier writes to them are complete.
    #[allow(unsafe_code)]
    unsafe fn decode_on_device(
        &mut self,
        coded: (u64, usize),
        strips: &[StripForDevice],
        text: (u64, usize),
        found: &mut [StripFound],
        timeout: Duration,
    ) -> Result<(), DeviceError>;
}
