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

#[cfg(test)]
mod tests {
    use super::super::text::line_sum;
    use super::*;
    use crate::shapes;

    #[test]
    fn lines_are_where_their_buckets_are() {
        for shape in shapes::SHAPES {
            let mut text = (shape.make)(20_000);
            text.push(b' ');
            let lines: Vec<&[u8]> = text[..text.len() - 1].split(|&byte| byte == b' ').collect();
            let mut sample: Vec<(Vec<u8>, bool)> =
                lines.iter().step_by(lines.len() / 20 + 1).map(|line| (line.to_vec(), line.len() % 2 == 0)).collect();
            sample.sort();
            sample.dedup_by(|a, b| a.0 == b.0);
            let splitters = Splitters::new(sample);
            let parted = Partitioner::default().partition(&text, b' ', &splitters, true);
            let mut whole = Vec::new();
            for (number, bucket) in parted.buckets.iter().enumerate() {
                assert_eq!(bucket.start as usize, whole.len());
                let mut expected = lines.clone();
                let mut at = 0;
                expected.retain(|line| {
                    let bucket = splitters.bucket(&text, at, line.len());
                    at += line.len() + 1;
                    bucket == number
                });
                assert_eq!(bucket.lines as usize, expected.len(), "{}", shape.name);
                let sum = expected.iter().fold(0u64, |sum, line| sum.wrapping_add(line_sum(line)));
                assert_eq!(bucket.sum, sum, "{}", shape.name);
                if splitters.heavy(number).is_none() {
                    whole.extend(expected.iter().flat_map(|line| [line, &b" "[..]].concat()));
                }
                assert_eq!(bucket.end as usize, whole.len());
            }
            assert!(parted.text == whole, "{}", shape.name);
            let counted = Partitioner::default().partition(&text, b' ', &splitters, false);
            assert!(counted.text.is_empty() && counted.buckets == parted.buckets, "{}", shape.name);
        }
    }
}
