//! How a CPU core sorts.

use super::local::{Entry, LocalSort};
use super::partition::Partitioner;
use super::parts::Parted;
use super::range::RangeText;
use super::splitters::Splitters;
use super::text::Ends;

/// A core's memory for sorting, kept from range to range: as much as the largest range so far needed.
#[derive(Debug, Default)]
pub struct LineSorter {
    partitioner: Partitioner,
    sort: LocalSort,
    entries: Vec<Entry>,
    text: Vec<u8>,
}

impl LineSorter {
    /// Groups the lines of a chunk by range.
    pub(super) fn partition(&mut self, text: &[u8], end: u8, splitters: &Splitters, keep: bool) -> Parted {
        self.partitioner.partition(text, end, splitters, keep)
    }

    /// Sorts a range. Cores with different numbers mostly begin with different parts of the text that a device keeps.
    pub fn sort(&mut self, range: &RangeText, number: usize) -> Vec<u8> {
        let LineSorter { sort, entries, text, partitioner } = self;
        let text = match &range.pieces[..] {
            [piece] if range.stored.is_none() => piece.bytes(),
            pieces => {
                text.clear();
                pieces.iter().for_each(|piece| text.extend_from_slice(piece.bytes()));
                if let Some(stored) = &range.stored {
                    stored.text.append(stored.bucket, number, partitioner, text);
                }
                text
            }
        };
        entries.clear();
        let mut start = 0;
        for at in Ends::new(text, range.order.end_byte()) {
            entries.push(Entry { key: 0, at: start as u32, len: (at - start) as u32 });
            start = at + 1;
        }
        sort.sort(text, entries, range.common_prefix);
        let mut out = Out { bytes: vec![0; text.len() + SPARE], len: 0 };
        if range.order.is_reverse() {
            entries.iter().rev().for_each(|entry| out.push(text, entry));
        } else {
            entries.iter().for_each(|entry| out.push(text, entry));
        }
        out.bytes.truncate(out.len);
        out.bytes
    }
}

/// How many more bytes [`Out`] has than its lines.
const SPARE: usize = 32;

/// Sorted text.
struct Out {
    bytes: Vec<u8>,
    len: usize,
}

impl Out {
    /// Appends a line with its end. A short line is copied as if it had 16 or 32 bytes, and the next line overwrites
    /// the surplus: calling a copy of variable length takes longer than copying.
    fn push(&mut self, text: &[u8], entry: &Entry) {
        let (at, len) = (entry.at as usize, entry.len as usize + 1);
        let to = self.len;
        self.len += len;
        if len <= 32 && at + 32 <= text.len() {
            self.bytes[to..to + 16].copy_from_slice(&text[at..at + 16]);
            if len > 16 {
                self.bytes[to + 16..to + 32].copy_from_slice(&text[at + 16..at + 32]);
            }
        } else {
            self.bytes[to..to + len].copy_from_slice(&text[at..at + len]);
        }
    }
}
