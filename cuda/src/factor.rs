//! Lanes that find exact LZ77 factors.

pub use super::abi::hybz_factor as FactorByDevice;

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

/// The max number of factors that [`fetch`](super::DeviceLane::fetch) returns.
pub const MAX_FETCHED: usize = 1 << 20;
