//! Lanes that sort lines.

use std::any::Any;
use std::ops::Range;

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

/// A range of lines, of which some are in [`input`](super::DeviceLane::input), and some are kept on the device.
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
