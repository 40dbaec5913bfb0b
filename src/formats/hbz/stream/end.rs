//! Finds the end of a `.hbz` stream. A stream states the length of each of its parts, and ends after its index.

use crate::formats::hbz::header::{BlockHeader, HEADER_LEN, Next, StreamHeader, next};
use crate::stream::piece::StreamEndDetector;

/// The position in a `.hbz` stream.
#[derive(Default)]
pub(super) struct Parts {
    stream: Option<StreamHeader>,
    /// The number of blocks so far.
    blocks: u32,
    /// The beginning of the next header.
    header: [u8; HEADER_LEN],
    header_len: usize,
    /// Remaining bytes of a payload or of the index.
    left: usize,
    /// Whether the remaining bytes belong to the index.
    last: bool,
}

impl StreamEndDetector for Parts {
    /// A damaged header counts as an end too: the joiner then returns the error.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.left > 0 {
                let n = self.left.min(bytes.len() - at);
                at += n;
                self.left -= n;
            } else {
                let n = (HEADER_LEN - self.header_len).min(bytes.len() - at);
                self.header[self.header_len..self.header_len + n].copy_from_slice(&bytes[at..at + n]);
                at += n;
                self.header_len += n;
                if self.header_len == HEADER_LEN {
                    self.header_len = 0;
                    let Some(left) = self.after_header() else { return Some(at) };
                    self.left = left;
                }
            }
            if self.last && self.left == 0 {
                return Some(at);
            }
        }
        None
    }
}

impl Parts {
    /// How many bytes of payload or index follow the header that was read; `None` if it is damaged.
    fn after_header(&mut self) -> Option<usize> {
        let Some(stream) = &self.stream else {
            self.stream = Some(StreamHeader::parse(&self.header).ok()?);
            return Some(0);
        };
        match next(&self.header, self.blocks) {
            Next::Block => {
                let block = BlockHeader::parse(&self.header, stream, self.blocks).ok()?;
                self.blocks += 1;
                Some(block.coded_len as usize)
            }
            Next::Index(len) => {
                self.last = true;
                Some(len - HEADER_LEN)
            }
            Next::OtherIndex(_) | Next::Other => None,
        }
    }
}
