//! Lanes that find exact LZ77 factors.

pub use super::abi::hybz_factor as FactorByDevice;
use super::{DeviceError, DeviceLane};
use std::time::Duration;

/// The results for a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FactorsByDevice {
    /// The number of factors.
    pub factors: u32,
    /// The number of runs of equal letters in the Burrows-Wheeler transform of the text and an end mark; 0 if not
    /// wanted.
    pub runs: u32,
    /// The milliseconds of device time for each step, in the order of [`FACTOR_STEPS`].
    pub times: [f32; FACTOR_STEPS.len()],
}

/// The steps that are timed.
pub const FACTOR_STEPS: [&str; 6] = ["upload", "sort", "neighbours", "longest", "path", "runs"];

/// The max number of factors that [`FindFactors::fetch`] returns.
pub const MAX_FETCHED: usize = 1 << 20;

/// A lane that finds factors (`cuda/factor.cu`), of one text of up to `max_length` bytes. Its
/// [`texts`](DeviceLane::texts) are empty: it reads the text from the caller's memory.
pub trait FindFactors: DeviceLane {
    /// Finds the factors of a text of at least [`MIN_DEVICE_BLOCK`](super::MIN_DEVICE_BLOCK) bytes. They are exact if
    /// `divisions` is less than 2; otherwise they are cut at the ends of that many equal parts (the PLZ of Ching 2014).
    ///
    /// After any error the lane must not be used again, only dropped.
    fn find(
        &mut self,
        text: &[u8],
        divisions: u32,
        runs: bool,
        timeout: Duration,
    ) -> Result<FactorsByDevice, DeviceError>;

    /// Fetches up to [`MAX_FETCHED`] factors of the last text.
    fn fetch(&mut self, from: u32, count: usize, timeout: Duration) -> Result<&[FactorByDevice], DeviceError>;
}
