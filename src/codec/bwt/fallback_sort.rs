//! bzip2's fallback sort, for blocks under 10,000 bytes and for those on which the main sort gives up.
//!
//! The algorithm is Manber and Myers' (SIAM J. Computing 22, 1993), which bzip2 calls exponential radix sort:
//! rotations that agree on H bytes form a bucket, and each bucket is sorted by the buckets of the rotations that begin
//! H bytes later, for H = 1, 2, 4 ... Equal rotations are never told apart; their final order is decided by the moves
//! of a quicksort that is not stable, but deterministic, because its pivots come from a small pseudo-random generator.
//!
//! The result of a pass over a bucket depends on the bucket's order and on the keys, and the keys depend on no order.
//! All keys can therefore come from the word that the block repeats, and any sort may refine the rotations of that
//! word. Only the bucket that contains the block itself is sorted by bzip2's moves, with all copies of its rotations.
//! That bucket is sorted when only the copies of one rotation are left in it: equal keys move nothing, so bzip2's
//! later passes do not change it.
//!
//! Memory: 12 bytes per byte of the word, and 8 for each byte of the block that equals the block's first byte.

use super::partition::partition;
use std::ops::Range;

/// Ranges of at most this many rotations go to the insertion sort.
const SMALL: usize = 10;

/// A rotation of the block.
#[derive(Clone, Copy, Debug)]
struct SortItem {
    /// The key by which this pass sorts.
    key: u32,
    /// The position of the rotation's first byte.
    start: u32,
}

/// The row in which the fallback sort leaves a block that consists of `times` copies of `word`. `word` must not itself
/// be a repetition.
pub fn origin(word: &[u8], times: usize) -> usize {
    let len = word.len();
    let entry = |start: usize| SortItem { key: word[start % len].into(), start: start as u32 };
    let mut rotations: Vec<SortItem> = (0..len).map(entry).collect();
    // For each rotation of the word, the first row of its bucket.
    let mut heads = vec![0; len];
    let mut unsorted = refine(&mut rotations, std::iter::once(0..len).collect(), &mut heads);
    // The bucket of the block itself. The first pass, by bytes, puts rotations that begin later first.
    let mut own: Vec<SortItem> =
        (0..len * times).rev().map(entry).filter(|entry| entry.key == u32::from(word[0])).collect();
    let mut depth = 1;
    while own.len() > times {
        let set_key = |entry: &mut SortItem| entry.key = heads[(entry.start as usize + depth) % len];
        own.iter_mut().for_each(set_key);
        unsorted.iter().for_each(|bucket| rotations[bucket.clone()].iter_mut().for_each(set_key));

        quicksort(&mut own);
        let key = heads[depth % len];
        own.retain(|entry| entry.key == key);
        unsorted = refine(&mut rotations, unsorted, &mut heads);
        depth *= 2;
    }
    let place = own.iter().position(|entry| entry.start == 0).expect("the block is in its own bucket");
    heads[0] as usize * times + place
}

/// Splits buckets by the keys of their rotations. Returns the buckets with more than one rotation.
fn refine(rotations: &mut [SortItem], buckets: Vec<Range<usize>>, heads: &mut [u32]) -> Vec<Range<usize>> {
    let mut unsorted = Vec::new();
    for bucket in buckets {
        let mut head = bucket.start;
        let rotations = &mut rotations[bucket];
        rotations.sort_unstable_by_key(|entry| entry.key);
        for equal in rotations.chunk_by(|a, b| a.key == b.key) {
            equal.iter().for_each(|entry| heads[entry.start as usize] = head as u32);
            if equal.len() > 1 {
                unsorted.push(head..head + equal.len());
            }
            head += equal.len();
        }
    }
    unsorted
}

/// Sorts by keys. The parts are taken in bzip2's order (the smaller one next), because they share the generator of the
/// pivots.
fn quicksort(entries: &mut [SortItem]) {
    let mut random = 0_u32;
    let mut ranges = Vec::from_iter(std::iter::once(0..entries.len()));
    while let Some(range) = ranges.pop() {
        let part = &mut entries[range.clone()];
        if part.len() <= SMALL {
            insertion_sort(part);
            continue;
        }
        random = (random * 7621 + 1) % 32_768;
        let pivot = match random % 3 {
            0 => part[0].key,
            1 => part[(part.len() - 1) / 2].key,
            _ => part[part.len() - 1].key,
        };
        if let Some((less, greater)) = partition(part, |entry| entry.key.cmp(&pivot)) {
            let (less, greater) = (range.start..range.start + less, range.end - greater..range.end);
            ranges.extend(if less.len() > greater.len() { [less, greater] } else { [greater, less] });
        }
    }
}

/// Sorts by keys, from the back: first with a gap of four, if there are more than four entries, then with a gap of one.
fn insertion_sort(entries: &mut [SortItem]) {
    for gap in [4, 1] {
        for from in (0..entries.len().saturating_sub(gap)).rev() {
            let entry = entries[from];
            let mut at = from;
            while at + gap < entries.len() && entry.key > entries[at + gap].key {
                entries[at] = entries[at + gap];
                at += gap;
            }
            entries[at] = entry;
        }
    }
}
