//! The order of lines and strings as numbers.

use super::Pool;
use super::chunker::MAX_JOB;
use super::flight::Flight;
use super::order::Order;
use super::parts::{PartedStrings, Strings};
use super::range::{RankPart, RankText};
use super::sample::{Size, place};
use super::tasks::{PartitionStrings, RankRange};
use super::text;
use crate::error::Error;
use std::sync::Arc;

/// The numbers of the lines of `text`, from 0, in the order of the lines. Equal lines stay in their order; with
/// [`Order::unique`] only the first of them is kept.
///
/// ```
/// use hysort::{Order, lines};
/// let pool = hysort::pool().build();
/// assert_eq!(lines(b"pear\nfig\npear", &Order::new(), &pool)?, [1, 0, 2]);
/// assert_eq!(lines(b"pear\nfig\npear", &Order::new().unique(true), &pool)?, [1, 0]);
/// # Ok::<(), hysort::Error>(())
/// ```
///
/// # Errors
/// As [`sorted`](super::sorted).
pub fn lines(text: &[u8], order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    rank(text::lines(text, order.end_byte()).map(|line| &text[line]), order, pool)
}

/// The numbers of `strings`, from 0, in the order of the strings, which may have any bytes. Equal strings stay in their
/// order; with [`Order::unique`] only the first of them is kept.
///
/// ```
/// use hysort::{Order, strings};
/// let pool = hysort::pool().build();
/// assert_eq!(strings(&["b\n", "b", "a"], &Order::new(), &pool)?, [2, 1, 0]);
/// # Ok::<(), hysort::Error>(())
/// ```
///
/// # Errors
/// As [`sorted`](super::sorted).
pub fn strings<S: AsRef<[u8]> + Sync>(strings: &[S], order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    rank(strings.iter().map(AsRef::as_ref), order, pool)
}

/// The approximate size of a chunk of strings.
const CHUNK: usize = 1 << 20;

fn rank<'a>(items: impl Iterator<Item = &'a [u8]>, order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    let chunks = chunks(items)?;
    let mut numbers = Vec::new();
    if let [only] = &chunks[..] {
        let count = only.ends.len();
        let all = PartedStrings { indices: (0..count as u32).collect(), ends: vec![count], own: true };
        let parts = vec![RankPart { strings: Arc::clone(only), parted: Arc::new(all), range: 0..count }];
        let mut flight = Flight::new(pool, u64::MAX);
        rank_range(&mut flight, parts, 0, order, &mut numbers)?;
        flight.finish(&mut append_to(&mut numbers))?;
    } else if !chunks.is_empty() {
        rank_chunks(&chunks, order, pool, &mut numbers)?;
    }
    if order.is_unique() {
        let get = |number: u64| {
            let chunk = &chunks[chunks.partition_point(|chunk| chunk.first <= number) - 1];
            chunk.get((number - chunk.first) as usize)
        };
        numbers.dedup_by(|b, a| get(*a) == get(*b));
    }
    Ok(numbers)
}

/// Copies strings into chunks for jobs.
fn chunks<'a>(items: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Arc<Strings>>, Error> {
    let mut chunks = Vec::new();
    let mut strings = Strings::default();
    for item in items {
        if strings.text.len() + item.len() > CHUNK && !strings.ends.is_empty() || strings.ends.len() > CHUNK {
            let first = strings.first + strings.ends.len() as u64;
            chunks.push(Arc::new(std::mem::replace(&mut strings, Strings { first, ..Strings::default() })));
        }
        if item.len() as u64 > MAX_JOB {
            return Err(Error::LineTooLong);
        }
        strings.text.extend_from_slice(item);
        strings.ends.push(strings.text.len() as u32);
    }
    if !strings.ends.is_empty() {
        chunks.push(Arc::new(strings));
    }
    Ok(chunks)
}

/// Partitions chunks, and ranks range after range.
fn rank_chunks(chunks: &[Arc<Strings>], order: &Order, pool: &Pool, numbers: &mut Vec<u64>) -> Result<(), Error> {
    let size = Size::new((chunks.len() as u64).clamp(2, 1024), u64::MAX);
    let line_at = |number: u64| {
        let chunk = &chunks[place(2 * number, chunks.len() as u64) as usize];
        size.cut(chunk.get(place(2 * number + 1, chunk.ends.len() as u64) as usize))
    };
    let splitters = Arc::new(size.choose((0..size.lines()).map(line_at).collect()));
    let mut parted = Vec::with_capacity(chunks.len());
    let mut flight = Flight::new(pool, u64::MAX);
    let mut done = |strings: Arc<Strings>, answer: PartedStrings| {
        parted.push((strings, Arc::new(answer)));
        Ok(())
    };
    for strings in chunks {
        let bytes = 4 * strings.ends.len() as u64;
        let task = PartitionStrings { strings: Arc::clone(strings), splitters: Arc::clone(&splitters) };
        flight.submit(task, Arc::clone(strings), bytes, &mut done)?;
    }
    flight.finish(&mut done)?;
    let mut flight = Flight::new(pool, u64::MAX);
    let count = splitters.buckets();
    for at in 0..count {
        let bucket = if order.is_reverse() { count - 1 - at } else { at };
        let parts = parted.iter().map(|(strings, parted)| {
            let (strings, parted, range) = (Arc::clone(strings), Arc::clone(parted), parted.range(bucket));
            RankPart { strings, parted, range }
        });
        let parts: Vec<RankPart> = parts.filter(|part| !part.range.is_empty()).collect();
        if splitters.heavy(bucket).is_some() {
            // Equal strings stay in the order of their numbers.
            flight.finish(&mut append_to(numbers))?;
            numbers.extend(parts.iter().flat_map(RankPart::iter).map(|(number, _)| number));
        } else if !parts.is_empty() {
            let prefix = splitters.common_prefix(bucket);
            rank_range(&mut flight, parts, prefix, order, numbers)?;
        }
    }
    flight.finish(&mut append_to(numbers))
}

/// Appends what comes to the numbers so far.
fn append_to(numbers: &mut Vec<u64>) -> impl FnMut((), Vec<u64>) -> Result<(), Error> {
    |(), answer| {
        numbers.extend(answer);
        Ok(())
    }
}

/// Asks for the order of a range.
fn rank_range(
    flight: &mut Flight<RankRange, ()>,
    parts: Vec<RankPart>,
    common_prefix: usize,
    order: &Order,
    numbers: &mut Vec<u64>,
) -> Result<(), Error> {
    let (mut bytes, mut count) = (0, 0);
    for (_, string) in parts.iter().flat_map(RankPart::iter) {
        bytes += string.len() as u64;
        count += 1;
    }
    if bytes + 4 * count > MAX_JOB {
        return Err(Error::LineTooLong);
    }
    let range = Arc::new(RankText { parts, order: *order, common_prefix, bytes });
    flight.submit(RankRange { range }, (), bytes + 36 * count, &mut append_to(numbers))
}
