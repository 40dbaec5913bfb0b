//! Finds the end of an LZ4 frame. A frame states the length of each of its blocks, and ends after the last one. A
//! legacy frame does not tell which block is the last, so all bytes are taken.

use crate::formats::lz4::walk::{FramePart, Walker};
use crate::stream::piece::StreamEndDetector;

#[derive(Default)]
pub(super) struct FrameEnd(Walker);

impl StreamEndDetector for FrameEnd {
    /// A frame found damaged ends too: the joiner then returns the error.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        loop {
            match self.0.next(&mut rest) {
                FramePart::Need => return None,
                // The bytes that end a legacy frame belong to the data after it.
                FramePart::End(None) if self.0.is_in_magic() => {}
                FramePart::End(_) | FramePart::Other(_) | FramePart::Wrong(_) | FramePart::TooLong(_) => {
                    return Some(bytes.len() - rest.len());
                }
                _ => {}
            }
        }
    }
}
