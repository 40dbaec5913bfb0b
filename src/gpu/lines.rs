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
    /// The largest line comes first.
    pub reverse: bool,
}

/// A sorted batch of ranges of lines.
#[derive(Clone, Copy, Debug)]
pub struct SortedLines<'a> {
    /// The ranges back to back, with unchanged lengths.
    pub text: &'a [u8],
}

/// Text in the memory of a device, for all lanes of that device.
pub trait KeptText: Send + Sync {
    /// For lanes to downcast.
    fn as_any(&self) -> &dyn Any;
}

/// A range of lines: some in [`DeviceLane::texts`], and some kept on the device.
#[derive(Clone, Debug, Default)]
pub struct RangeInParts {
    /// The number of bytes in host memory, which come first; the host bytes of all ranges of a batch are back to back.
    pub host: u32,
    /// The parts of the kept text that follow.
    pub kept: Vec<Range<u64>>,
}

impl RangeInParts {
    /// The total number of bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.host) + self.kept.iter().map(|kept| kept.end - kept.start).sum::<u64>()
    }
}

/// A lane that sorts lines by their bytes (`cuda/sort_lines.cu`). Its size gives a number of ranges and the bytes of a
/// range; only their product is a limit.
pub trait SortLines: DeviceLane {
    /// The max number of lines in a batch.
    fn max_lines(&self) -> u64;

    /// Sorts each of the ranges that [`texts`](DeviceLane::texts) holds back to back, given their lengths. Each has at
    /// least 1 byte, and its last byte ends a line.
    ///
    /// After any error the lane must not be used again, only dropped.
    fn sort_lines(
        &mut self,
        lengths: &[u32],
        order: LineOrder,
        timeout: Duration,
    ) -> Result<SortedLines<'_>, DeviceError>;

    /// Allocates `bytes` bytes of device memory for kept text.
    fn keep(&mut self, bytes: u64) -> Result<Arc<dyn KeptText>, DeviceError>;

    /// Sorts the first `length` bytes of [`texts`](DeviceLane::texts), ascending, and keeps them at offset `at`. Like
    /// [`sort_lines`](Self::sort_lines), but nothing is copied to the host.
    fn sort_and_keep(
        &mut self,
        length: u32,
        end: u8,
        kept: &dyn KeptText,
        at: u64,
        timeout: Duration,
    ) -> Result<(), DeviceError>;

    /// Like [`sort_lines`](Self::sort_lines), for ranges that are in parts.
    fn sort_parts(
        &mut self,
        ranges: &[RangeInParts],
        kept: &dyn KeptText,
        order: LineOrder,
        timeout: Duration,
    ) -> Result<SortedLines<'_>, DeviceError>;

    /// Sorts `length` bytes at `text` into `sorted`, both device addresses; with `unique`, keeps one of equal lines.
    /// Returns the number of bytes written.
    ///
    /// # Safety
    /// Both addresses have `length` bytes on this lane's device, in its primary context; nothing else writes to them
    /// during the call, and all earlier writes to `text` are complete.
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
        Err(DeviceError::Other("this device sorts only text from the host".to_owned()))
    }
}
