//! How bzip2's steady sort leaves the equal rotations of a periodic block, without sorting the block.
//!
//! bzip2 has two sorts. The quick one (buckets of two bytes, then quicksort) has a budget of work; the steady one, which
//! takes over when that is spent and for blocks under 10,000 bytes, is Manber and Myers' (SIAM J. Computing 22, 1993):
//! buckets of rotations that agree on H bytes, each sorted by the buckets of the rotations H further on, for
//! H = 1, 2, 4 ... Which of the equal rows comes first is then decided by nothing but the moves of a quicksort that is not
//! stable, but has no chance in it either: its pivots come from a fixed little generator.
//!
//! What a pass does to one bucket depends on the order in it before and on the keys; and the keys (where the bucket of
//! the rotation H further on begins) depend on no order at all. So to know where the block itself ends up, only the
//! bucket it is in has to be followed, from pass to pass, until it holds nothing but the equal rows: then all keys are
//! equal, and such a bucket both of bzip2's methods leave alone. The keys follow from the word alone: its sorted rotations,
//! and how many bytes each has in common with the one before (Kasai et al., CPM 2001).
//!
//! Cost for a full block, of `n` bytes: at most log n passes over the bucket, of which the first has as many entries as
//! the block has bytes like its first one, and those after it mostly far fewer. At most 20 bytes of memory for each of the
//! word's and 8 for each of the block's, while it lasts. Measured: see `periodic`.

use super::partition::partition;
use super::word::SortedWord;

/// A range up to here is sorted by insertion.
const FEW: usize = 10;

/// A rotation of the block, in the bucket that is followed.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u32,
    /// Where in the word it begins; with `BLOCK`, if it is the block itself.
    start: u32,
}

/// Marks the one rotation that is looked for. The words are shorter than that.
const BLOCK: u32 = 1 << 31;

/// The row that the steady sort gives to the block `word` x `times`.
pub fn origin(sorted: &SortedWord<'_>, times: usize) -> usize {
    let word = sorted.word;
    let len = word.len();
    let rows = &sorted.rows;
    let common = sorted.common();

    // The first pass counts bytes, and puts what begins later first.
    let of_one = (0..len as u32).rev().filter(|&start| word[start as usize] == word[0]);
    let mut bucket = of_one.map(|start| Entry { key: 0, start }).collect::<Vec<_>>().repeat(times);
    bucket.last_mut().expect("a word is not empty").start |= BLOCK;

    let mut heads = vec![0; len];
    let mut depth = 1;
    while bucket.len() > times {
        // The first row of each bucket at this depth, for all its rows.
        let mut head = 0;
        for (row, (place, &common)) in heads.iter_mut().zip(&common).enumerate() {
            head = if (common as usize) < depth { row as u32 } else { head };
            *place = head;
        }
        let further = (depth % len) as u32;
        let key_of = |start: u32| {
            let at = (start & !BLOCK) + further;
            heads[rows[if at < len as u32 { at } else { at - len as u32 } as usize] as usize]
        };
        for entry in &mut bucket {
            entry.key = key_of(entry.start);
        }
        let own = key_of(0);
        quicksort(&mut bucket, own);
        bucket.retain(|entry| entry.key == own);
        depth *= 2;
    }
    let before = bucket.iter().position(|entry| entry.start & BLOCK != 0);
    rows[0] as usize * times + before.expect("the block is in its own bucket")
}

/// Bentley and McIlroy's quicksort: what equals the pivot is gathered at both ends and then swapped into the middle. The
/// ranges are taken up as bzip2 does (the smaller part next), because they share the generator of the pivots.
///
/// Ends early when `wanted` was a pivot: then the entries with this key are where they stay, in the order they keep.
fn quicksort(entries: &mut [Entry], wanted: u32) {
    let mut chance = 0_u32;
    let mut ranges = vec![(0, entries.len())];
    while let Some((from, to)) = ranges.pop() {
        if to - from <= FEW {
            few(&mut entries[from..to]);
            continue;
        }
        chance = (chance * 7621 + 1) % 32768;
        let pivot = match chance % 3 {
            0 => entries[from].key,
            1 => entries[(from + to - 1) / 2].key,
            _ => entries[to - 1].key,
        };
        let parts = partition(&mut entries[from..to], |entry: Entry| entry.key.cmp(&pivot));
        if pivot == wanted {
            return;
        }
        if let Some((less, greater)) = parts {
            let (less, greater) = ((from, from + less), (to - greater, to));
            if less.1 - less.0 > greater.1 - greater.0 {
                ranges.extend([less, greater]);
            } else {
                ranges.extend([greater, less]);
            }
        }
    }
}

/// Sorts a few by insertion from the back: in steps of four first, if there are more than that, then of one.
fn few(entries: &mut [Entry]) {
    for step in [4, 1] {
        for from in (0..entries.len().saturating_sub(step)).rev() {
            let entry = entries[from];
            let mut at = from;
            while at + step < entries.len() && entry.key > entries[at + step].key {
                entries[at] = entries[at + step];
                at += step;
            }
            entries[at] = entry;
        }
    }
}
