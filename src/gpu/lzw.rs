//! Lanes that decode strips of LZW codes.

use super::DeviceError;
use std::time::Duration;

/// The position of a strip in the codes of a batch, and of its text: `struct hybz_lzw_strip` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StripForDevice {
    /// The offset of its codes in the input.
    pub from: u64,
    /// The offset of its text in the output. Texts are in ascending order there; gaps are allowed.
    pub to: u64,
    /// The number of bytes of codes, at most [`MAX_STRIP`].
    pub coded: u32,
    /// The number of bytes of text, at most [`MAX_STRIP`].
    pub length: u32,
}

/// The device's result for a strip: `struct hybz_lzw_found`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct StripFound {
    /// `HYBZ_LZW_...`: 0 if the strip is valid.
    pub status: u32,
    /// The unknown code, or the length of the text.
    pub code: u32,
    /// The number of known codes.
    pub known: u32,
}

/// The max number of bytes of a strip on a device, for its codes and for its text.
pub const MAX_STRIP: usize = 1 << 28;

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
