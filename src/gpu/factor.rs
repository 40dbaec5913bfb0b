//! Lanes that find exact LZ77 factors.

use super::{DeviceError, DeviceLane};
use std::time::Duration;

/// A factor of a text: `struct hybz_factor` of `cuda/hybz.h`. Nothing in it is checked yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FactorByDevice {
    /// Where it begins earlier, or a letter.
    pub source: u32,
    /// 0 if it is a letter that has not been before.
    pub length: u32,
}

/// What was found in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FactorsByDevice {
    /// How many factors.
    pub factors: u32,
    /// The runs of equal letters in the Burrows-Wheeler transform of the text and an end mark; 0 if not wanted.
    pub runs: u32,
    /// Milliseconds of device time for each step, in the order of [`FACTOR_STEPS`].
    pub times: [f32; FACTOR_STEPS.len()],
}

/// The steps of finding factors.
pub const FACTOR_STEPS: [&str; 6] = ["upload", "sort", "neighbours", "longest", "path", "runs"];

/// How many factors [`FindFactors::fetch`] returns at most.
pub const MAX_FETCHED: usize = 1 << 20;

/// A lane that finds factors (`cuda/factor.cu`), of one text of up to `max_length` bytes. Its
/// [`texts`](DeviceLane::texts) are empty: it takes the text from where it is.
pub trait FindFactors: DeviceLane {
    /// Finds the factors of a text of at least [`MIN_DEVICE_BLOCK`](super::MIN_DEVICE_BLOCK) bytes; exactly if there
    /// are less than two `divisions`, else they are cut at the ends of so many equal ones (the PLZ of Ching 2014).
    ///
    /// After any error the lane must not be used again, only dropped.
    fn find(
        &mut self,
        text: &[u8],
        divisions: u32,
        runs: bool,
        timeout: Duration,
    ) -> Result<FactorsByDevice, DeviceError>;

    /// Some of the factors of the last text, up to [`MAX_FETCHED`].
    fn fetch(&mut self, from: u32, count: usize, timeout: Duration) -> Result<&[FactorByDevice], DeviceError>;
}
