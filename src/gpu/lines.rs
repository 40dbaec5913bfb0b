//! Lanes that sort lines.

use super::{DeviceError, DeviceLane};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
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

/// Text in the memory of a device, for all lanes of that device.
pub trait KeptText: Send + Sync {
    /// For the lanes: what it is.
    fn as_any(&self) -> &dyn Any;
}

/// A range of lines of which some are in [`DeviceLane::texts`], and some are kept.
#[derive(Clone, Debug, Default)]
pub struct RangeInParts {
    /// Bytes in the host's memory, those of all ranges of a batch back to back: they come first.
    pub host: u32,
    /// Which bytes of the kept text follow.
    pub kept: Vec<Range<u64>>,
}

impl RangeInParts {
    /// All bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.host) + self.kept.iter().map(|kept| kept.end - kept.start).sum::<u64>()
    }
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

    /// Takes so many bytes of the device's memory for text that is kept.
    fn keep(&mut self, bytes: u64) -> Result<Arc<dyn KeptText>, DeviceError>;

    /// Sorts the first `length` bytes of [`texts`](DeviceLane::texts), ascending, and keeps them from `at` on: as
    /// [`sort_lines`](Self::sort_lines), but nothing comes back to the host.
    fn sort_and_keep(
        &mut self,
        length: u32,
        end: u8,
        kept: &dyn KeptText,
        at: u64,
        timeout: Duration,
    ) -> Result<(), DeviceError>;

    /// Sorts ranges that are in parts, as [`sort_lines`](Self::sort_lines) does.
    fn sort_parts(
        &mut self,
        ranges: &[RangeInParts],
        kept: &dyn KeptText,
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
