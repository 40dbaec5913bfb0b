//! Groups the lines of a chunk of text by range.

use super::parts::{Bucket, Parted};
use super::splitters::Splitters;
use super::text::{Ends, line_sum_at};

/// A core's memory for partitioning, kept from chunk to chunk.
#[derive(Debug, Default)]
pub(crate) struct Partitioner {
    /// The start of each line, and its length without its end.
    lines: Vec<(u32, u32)>,
    /// The bucket of each line.
    numbers: Vec<u16>,
}

impl Partitioner {
    /// Partitions a text of whole lines; if the text is not to be kept, only counts the lines of each range.
    pub fn partition(&mut self, text: &[u8], end: u8, splitters: &Splitters, keep: bool) -> Parted {
        let Partitioner { lines, numbers } = self;
        let mut start = 0;
        lines.clear();
        lines.extend(Ends::new(text, end).map(|at| {
            let line = (start, at as u32 - start);
            start = at as u32 + 1;
            line
        }));
        numbers.clear();
        splitters.buckets_of(text, lines, |number| numbers.push(number as u16));
        let mut buckets = vec![Bucket::default(); splitters.buckets()];
        for (&number, &(at, len)) in numbers.iter().zip(&*lines) {
            let bucket = &mut buckets[usize::from(number)];
            bucket.lines += 1;
            bucket.end += len + 1;
            bucket.sum = bucket.sum.wrapping_add(line_sum_at(text, at as usize, len as usize));
        }
        let mut kept = 0;
        for (number, bucket) in buckets.iter_mut().enumerate() {
            let len = if splitters.heavy(number).is_some() { 0 } else { bucket.end };
            (bucket.start, bucket.end) = (kept, kept + len);
            kept += len;
        }
        if !keep {
            return Parted { text: Vec::new(), buckets, own: false };
        }
        let mut out = vec![0; kept as usize];
        let mut next: Vec<u32> = buckets.iter().map(|bucket| bucket.start).collect();
        for (&number, &(at, len)) in numbers.iter().zip(&*lines) {
            let (number, from, len) = (usize::from(number), at as usize, len as usize + 1);
            if buckets[number].start != buckets[number].end {
                let to = next[number] as usize;
                out[to..to + len].copy_from_slice(&text[from..from + len]);
                next[number] += len as u32;
            }
        }
        Parted { text: out, buckets, own: false }
    }
}
