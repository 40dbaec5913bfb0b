//! Lanes that sort lines.

use super::{DeviceError, DeviceLane};
use std::time::Duration;

/// How lines are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineOrder {
    /// The byte that ends a line.
    pub end: u8,
    /// Whether the largest comes first.
    pub reverse: bool,
}

/// A batch of ranges of lines, sorted.
#[derive(Clone, Copy, Debug)]
pub struct SortedLines<'a> {
    /// The ranges back to back, each as long as it was.
    pub text: &'a [u8],
}

/// A lane that sorts lines by their bytes (`cuda/sort_lines.cu`). Its size is in ranges and bytes of a range; what
/// counts are all of them together.
pub trait SortLines: DeviceLane {
    /// How many lines a batch may have.
    fn max_lines(&self) -> u64;

    /// Sorts each of the ranges that [`texts`](DeviceLane::texts) holds back to back, which have these lengths: at
    /// least 1, and the last byte of each ends a line.
    ///
    /// After any error the lane must not be used again, only dropped.
    fn sort_lines(
        &mut self,
        lengths: &[u32],
        order: LineOrder,
        timeout: Duration,
    ) -> Result<SortedLines<'_>, DeviceError>;

    /// Sorts `length` bytes at `text` into `sorted`, both addresses in the device's memory; of equal lines only one if
    /// `unique`. Returns how many bytes that makes.
    ///
    /// # Safety
    /// Both have `length` bytes, which nobody writes meanwhile, on this lane's device and in its primary context; what
    /// was to be written to `text` has been.
    #[allow(unsafe_code)]
    unsafe fn sort_on_device(
        &mut self,
        text: u64,
        length: u32,
        order: LineOrder,
        unique: bool,
        sorted: u64,
        timeout: Duration,
    ) -> Result<u32, DeviceError> {
        let _ = (text, length, order, unique, sorted, timeout);
        Err(DeviceError::Other("this device sorts what comes from the host only".to_owned()))
    }
}
