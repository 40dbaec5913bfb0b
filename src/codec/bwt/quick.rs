//! Whether bzip2's quick sort certainly gives up on a periodic block.
//!
//! It has a budget of 9 n for a block of n bytes, from which a comparison of two rotations takes 1 for each eight bytes it
//! has to look at. When that is spent it gives up, and the steady sort (`steady`) starts from scratch: what the quick one has
//! done so far does not matter. Here is counted what it must spend at least, and that is often enough by far.
//!
//! It takes the first letters in the order of how often they occur. For each it sorts the buckets of rotations that begin
//! with this letter and then another, unless that other one has had its turn (then the order follows from that of the rotations
//! one byte further on). Equal rotations come into one range there, and it ends with an insertion, where each of them
//! except the first is compared with the one before: once for each rotation of the word and each time but one. Such a
//! comparison would go on through the whole block. But letters that had their turn have left ranks: the
//! first of them that is looked at, 14 to 27 bytes further on or beyond, may end it.

use super::steady::SortedWord;

/// What is spent at least for each byte of the block, before it is called certain. 9 would be enough.
const CERTAIN: u64 = 10;

/// Bytes that are compared without a look at ranks, at least: two of the bucket and the first twelve.
const UNRANKED: usize = 14;

/// The same at most: quicksort can have gone 13 bytes deeper by then.
const UNRANKED_AT_MOST: usize = 27;

/// Whether the quick sort certainly gives up on the block `word` x `times`.
pub fn gives_up(sorted: &SortedWord<'_>, times: usize) -> bool {
    let SortedWord { word, starts } = sorted;
    let len = word.len();
    let mut first_rows = [0; 257];
    for &byte in *word {
        first_rows[usize::from(byte) + 1] += 1;
    }
    let counts: [usize; 256] = std::array::from_fn(|letter| first_rows[letter + 1]);
    for letter in 0..256 {
        first_rows[letter + 1] += first_rows[letter];
    }

    let enough = CERTAIN * (len * times) as u64;
    let mut spent = 0;
    let mut had_turn = [false; 256];
    // Where letters begin that had their turn, ascending.
    let mut ranked: Vec<u32> = Vec::new();
    for letter in turns(&counts) {
        let range = first_rows[letter]..first_rows[letter + 1];
        for &start in &starts[range.clone()] {
            let start = start as usize;
            let second = usize::from(word[(start + 1) % len]);
            if second == letter || had_turn[second] {
                continue;
            }
            let bytes = match ranked_after(&ranked, start, len) {
                Some(offset) => offset.saturating_sub(UNRANKED_AT_MOST),
                None => len * times,
            };
            spent += (times - 1) as u64 * (bytes / 8) as u64;
            if spent > enough {
                return true;
            }
        }
        had_turn[letter] = true;
        ranked.extend_from_slice(&starts[range]);
        ranked.sort();
        // So many ranks that comparisons are short from now on, and counting them is not worth while.
        if ranked.len() > len / 16 {
            break;
        }
    }
    false
}

/// How far from `start` on, and at least `UNRANKED`, the next letter with a rank is.
fn ranked_after(ranked: &[u32], start: usize, len: usize) -> Option<usize> {
    let from = (start + UNRANKED) % len;
    let next = ranked.partition_point(|&at| (at as usize) < from);
    let distance = match ranked.get(next) {
        Some(&at) => at as usize - from,
        None => *ranked.first()? as usize + len - from,
    };
    Some(UNRANKED + distance)
}

/// The letters in the order of their turns: by how often they occur, sorted by Shell's method with bzip2's steps, which decides
/// between letters that occur equally often.
fn turns(counts: &[usize; 256]) -> [usize; 256] {
    let mut order: [usize; 256] = std::array::from_fn(|letter| letter);
    for step in [121, 40, 13, 4, 1] {
        for from in step..order.len() {
            let letter = order[from];
            let mut at = from;
            while at >= step && counts[order[at - step]] > counts[letter] {
                order[at] = order[at - step];
                at -= step;
            }
            order[at] = letter;
        }
    }
    order
}
