//! The longest earlier occurrence at each position, in text order.
//!
//! If position i shares n bytes with a neighbour, then position i + 1 shares n - 1 or more with its neighbour on the
//! same side: the neighbour's successor begins earlier than i + 1 and is on the same side of it in sorted order, and
//! the neighbour of i + 1 is at least as near (the Phi rule). A thread that handles a run of consecutive positions
//! therefore compares each byte once or twice, except at its first position, about which it knows nothing. In a text
//! of equal bytes that first comparison would be as long as the text, for each thread.
//!
//! The same holds over any distance d, with n - d instead of n - 1. The positions therefore form levels: each 128th
//! position, each 128th of those, and so on, up to a level that one thread handles alone. Work begins at this highest
//! level and goes downwards, and each thread begins with the result that the level above found for its first position.
//! All comparisons of a level, for one side, then take at most twice the length of the text: each byte once, and again
//! the bytes that the steps lose. A single comparison may be as long as half the text, if the second half repeats the
//! first. The kernel gives such comparisons to warps and CTAs, and can usually end them early: a comparison that
//! reaches the next run's first position can use its result, if that position's neighbour is at the same distance.

use super::Sizes;
use crate::neighbours::{NONE, Pair};
use crate::parse::common;

/// The longest earlier occurrence of a position: its offset and its length. On a tie, the occurrence at the smaller
/// suffix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Undefined if `len` is 0.
    pub source: u32,
    /// 0 if there is no earlier occurrence.
    pub len: u32,
}

/// The number of equal bytes compared: by all threads together, and by the thread that compared most. The byte that
/// differs and ends a comparison is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// By all threads.
    pub all: u64,
    /// By the one that compared most.
    pub thread: u64,
}

/// The longest earlier occurrence of each position; `ranks` and `pairs` (by rank) belong to the same text.
pub fn longest(text: &[u8], ranks: &[u32], pairs: &[Pair], sizes: &Sizes) -> (Vec<Earlier>, Work) {
    let (len, run) = (text.len(), sizes.run);
    // The distance between positions on each level: the length of a thread's run on the level below.
    let mut strides = vec![1];
    while let Some(&last) = strides.last().filter(|&&last| len.div_ceil(last) > run) {
        strides.push(last * run);
    }
    // The lengths for both neighbours at the positions of a level.
    let mut known: Vec<[u32; 2]> = Vec::new();
    let mut work = Work::default();
    for &stride in strides.iter().rev() {
        let mut found = vec![[0; 2]; len.div_ceil(stride)];
        for (thread, found) in found.chunks_mut(run).enumerate() {
            let mut compared = 0;
            let mut lens = known.get(thread).copied().unwrap_or_default();
            for (number, found) in found.iter_mut().enumerate() {
                let at = (thread * run + number) * stride;
                let pair = pairs[ranks[at] as usize];
                for (len, neighbour) in lens.iter_mut().zip(pair) {
                    // The result at the first position of a run is known. (On the first level, that is position 0.)
                    let least = if number > 0 { len.saturating_sub(stride as u32) } else { *len };
                    *len = match neighbour {
                        NONE => 0,
                        neighbour => common(text, neighbour as usize, at, least as usize) as u32,
                    };
                    compared += u64::from(*len - least.min(*len));
                }
                *found = lens;
            }
            work.all += compared;
            work.thread = work.thread.max(compared);
        }
        known = found;
    }
    let all = known.iter().zip(ranks).map(|(&[smaller, larger], &rank)| {
        let pair = pairs[rank as usize];
        match smaller >= larger {
            true => Earlier { source: pair[0] as u32, len: smaller },
            false => Earlier { source: pair[1] as u32, len: larger },
        }
    });
    (all.collect(), work)
}
