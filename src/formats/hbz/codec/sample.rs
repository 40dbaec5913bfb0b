//! Checks a block that a device has coded: decodes its rows, and its text from the beginning on as far as wanted.
//!
//! Meanwhile other blocks wait to be written, so several threads share the work. Walking all rows of a long block
//! would take most of the time.

use super::decode::{PayloadBlock, Vectors, segment_mtf};
use crate::codec::perturb;
use crate::flaw::Flaw;
use crate::formats::hbz::header::{BlockHeader, StreamHeader};
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

/// The number of threads.
const THREADS: usize = 4;

/// Whether header and payload decode to a text that begins as `text` does. All rows are decoded; `walked` of them or a
/// few more are walked. If these are all rows, they must decode to the whole text.
pub fn begins(text: &[u8], walked: usize, stream: StreamHeader, header: BlockHeader, payload: Arc<Vec<u8>>) -> bool {
    let Ok(block) = PayloadBlock::parse(stream, header, payload) else { return false };
    let interval = 1 << stream.entry_log;
    let entries = walked.div_ceil(interval).min(block.entries.len());
    let Ok(codes) = codes(&block, entries) else { return false };
    let Some(mut decoded) = block.expander.expand(&codes, interval, block.max_perturbed_len() as usize) else {
        return false;
    };
    if stream.interval > 0 {
        perturb::remove(&mut decoded, stream.interval as usize, 0);
    }
    if entries == block.entries.len() { decoded == text } else { text.starts_with(&decoded) }
}

/// The codes from the beginning of the block to this entry point.
fn codes(block: &PayloadBlock, entries: usize) -> Result<Vec<u8>, Flaw> {
    let runs = in_parts(block.segments.len(), |part| {
        let mut mtf = segment_mtf();
        part.map(|number| block.runs(number, &mut mtf)).collect::<Result<Vec<_>, _>>()
    });
    let runs: Vec<_> = runs.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let (starts, first_column) = block.segment_starts(&runs);
    let vector = Vectors::of_one().take(block.header.rows);
    in_parts(runs.len(), |part| part.for_each(|number| block.fill(number, &runs[number], &starts[number], &vector)));
    Ok(in_parts(entries, |part| block.codes(part, &vector, &first_column)).concat())
}

/// Divides the numbers below `count` among threads. If a thread cannot be started, this thread does its part.
fn in_parts<T: Send>(count: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let each = count.div_ceil(THREADS);
    let parts = (0..count).step_by(each.max(1)).map(|from| from..count.min(from + each));
    thread::scope(|scope| {
        let start = |part: Range<usize>| {
            let (work, own) = (&work, part.clone());
            thread::Builder::new().spawn_scoped(scope, move || work(own)).map_err(|_| part)
        };
        let started: Vec<_> = parts.map(start).collect();
        let join = |started: Result<thread::ScopedJoinHandle<'_, T>, Range<usize>>| match started {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(part) => work(part),
        };
        started.into_iter().map(join).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::super::encode::HbzEncoder;
    use super::*;
    use hybz_testkit::shapes::SHAPES;

    fn stream(interval: u32) -> StreamHeader {
        StreamHeader { block_size: 1 << 20, interval, seed: 7, entry_log: 12 }
    }

    #[test]
    fn beginnings_of_the_right_text_only() {
        let mut encoder = HbzEncoder::default();
        for shape in SHAPES {
            for (len, interval) in [(1, 0), (4097, 0), (70_003, 1000), (200_003, 0)] {
                let text = (shape.make)(len);
                let (header, payload) = encoder.encode(&text, 0, &stream(interval));
                let payload = Arc::new(payload);
                let begins = |text: &[u8], walked| begins(text, walked, stream(interval), header, Arc::clone(&payload));
                let rows = header.rows as usize;
                for walked in [1, 5000, rows, usize::MAX] {
                    assert!(begins(&text, walked), "{}, {len} bytes, {walked} rows", shape.name);
                    let mut other = text.clone();
                    other[0] ^= 1;
                    assert!(!begins(&other, walked), "{}, {len} bytes, {walked} rows", shape.name);
                }
                // Walking half of the rows gives about half of the text, with the changed byte.
                let mut other = text.clone();
                other[len / 4] ^= 1;
                assert!(!begins(&other, rows / 2 + 1), "{}, {len} bytes", shape.name);
                let longer = [&text[..], b"x"].concat();
                assert!(!begins(&longer, rows) && !begins(&text[..len - 1], rows), "{}, {len} bytes", shape.name);
            }
        }
    }
}
