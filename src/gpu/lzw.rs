//! Lanes that decode strips of LZW codes.

use super::DeviceError;
use std::time::Duration;

/// Where a strip is among the codes of a batch, and where its text goes: `struct hybz_lzw_strip` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StripForDevice {
    /// Its first byte in the input.
    pub from: u64,
    /// Its first byte in the output. Texts lie one after the other there; gaps are allowed.
    pub to: u64,
    /// Bytes of codes, at most [`MAX_STRIP`].
    pub coded: u32,
    /// Bytes of text, at most [`MAX_STRIP`].
    pub length: u32,
}

/// What a device found of a strip: `struct hybz_lzw_found`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct StripFound {
    /// `HYBZ_LZW_...`: 0 if the strip is right.
    pub status: u32,
    /// Which code is not known, or how much text there is.
    pub code: u32,
    /// How many codes are known.
    pub known: u32,
}

/// The most bytes of a strip on a device, of its codes and of its text.
pub const MAX_STRIP: usize = 1 << 28;

/// How large the batches of a lane may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripsSize {
    /// Strips.
    pub strips: usize,
    /// Bytes of codes, of all of them.
    pub coded: usize,
    /// Bytes of text.
    pub text: usize,
}

/// A lane that decodes strips of LZW codes (`cuda/lzw.cu`).
pub trait DecodeStrips: Send {
    /// How large a batch may be.
    fn size(&self) -> StripsSize;

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

    /// The same from `coded_len` bytes of codes at `coded` to `text_len` bytes of text at `text`, both addresses in the
    /// device's memory.
    ///
    /// # Safety
    /// They have so many bytes, which nobody writes meanwhile, on this lane's device and in its primary context; what
    /// was to be written there has been.
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
