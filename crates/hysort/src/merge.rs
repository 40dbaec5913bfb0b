//! Merges sorted lines: `sort -m`.

use super::order::Order;
use super::ordered::read_line;
use super::text::key;
use crate::error::Error;
use std::cmp::Ordering;
use std::io::{BufRead, BufWriter, Write};

/// A source and its next line.
struct Source<R> {
    reader: R,
    key: u64,
    line: Vec<u8>,
    /// Among equal lines, that of the first source goes first.
    number: usize,
}

impl<R: BufRead> Source<R> {
    /// Goes on to the next line. Returns whether there is one.
    fn advance(&mut self, end: u8) -> Result<bool, Error> {
        let found = read_line(&mut self.reader, end, &mut self.line)?;
        self.key = key(&self.line, 0, self.line.len());
        Ok(found)
    }

    fn compare(&self, other: &Self, order: &Order) -> Ordering {
        let keys = if order.is_reverse() { other.key.cmp(&self.key) } else { self.key.cmp(&other.key) };
        keys.then_with(|| order.compare(&self.line, &other.line)).then(self.number.cmp(&other.number))
    }
}

/// Merges, and returns the number of lines and bytes written. `seen` gets each line, and whether it is kept.
pub(super) fn merge_counted(
    sources: Vec<impl BufRead>,
    order: &Order,
    out: impl Write,
    mut seen: impl FnMut(&[u8], bool),
) -> Result<(u64, u64), Error> {
    let (mut lines, mut bytes) = (0, 0);
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let end = order.end_byte();
    // A heap, the least line on top.
    let mut heap = Vec::with_capacity(sources.len());
    for (number, reader) in sources.into_iter().enumerate() {
        let mut source = Source { reader, key: 0, line: Vec::new(), number };
        if source.advance(end)? {
            heap.push(source);
        }
    }
    for at in (0..heap.len() / 2).rev() {
        sift_down(&mut heap, at, order);
    }
    let mut last: Option<Vec<u8>> = None;
    while let Some(top) = heap.first_mut() {
        let repeated = order.is_unique() && last.as_ref() == Some(&top.line);
        seen(&top.line, !repeated);
        if !repeated {
            lines += 1;
            bytes += top.line.len() as u64 + 1;
            out.write_all(&top.line).and_then(|()| out.write_all(&[end])).map_err(Error::Write)?;
            if order.is_unique() {
                let last = last.get_or_insert_default();
                last.clear();
                last.extend_from_slice(&top.line);
            }
        }
        if !top.advance(end)? {
            heap.swap_remove(0);
        }
        sift_down(&mut heap, 0, order);
    }
    out.flush().map_err(Error::Write)?;
    Ok((lines, bytes))
}

fn sift_down<R: BufRead>(heap: &mut [Source<R>], mut at: usize, order: &Order) {
    loop {
        let mut least = at;
        for child in [2 * at + 1, 2 * at + 2] {
            if child < heap.len() && heap[child].compare(&heap[least], order).is_lt() {
                least = child;
            }
        }
        if least == at {
            return;
        }
        heap.swap(at, least);
        at = least;
    }
}
