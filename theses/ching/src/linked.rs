//! A peer of Ching's table 4.2: factors from the longest previous factor of every position.
//!
//! It does what LZ-OG does (Ohlebusch and Gog, CPM 2011), whose code cannot be had here: from the last position to the
//! first, a suffix takes the longer of the common prefixes with its neighbours among the earlier ones, and leaves the
//! list of suffixes in sorted order (Crochemore and Ilie 2008).

use theses_common::ties::{common_prefixes, suffixes};

/// The number of factors of a text.
pub fn factors(text: &[u8]) -> usize {
    let n = text.len();
    let order = suffixes(text);
    let by_position = common_prefixes(text, &order);
    let mut ranks = vec![0u32; n];
    order.iter().enumerate().for_each(|(rank, &suffix)| ranks[suffix as usize] = rank as u32);
    // A list in sorted order between two ends: a suffix's neighbours, and its common prefix with the one before.
    let mut prefixes: Vec<u32> = order.iter().map(|&suffix| by_position[suffix as usize]).chain([0]).collect();
    let (mut before, mut after): (Vec<u32>, Vec<u32>) =
        (0..n as u32).map(|rank| (rank.wrapping_sub(1), rank + 1)).unzip();
    let mut longest = vec![0u32; n];
    for at in (0..n).rev() {
        let rank = ranks[at] as usize;
        let next = after[rank] as usize;
        longest[at] = prefixes[rank].max(prefixes[next]);
        prefixes[next] = prefixes[next].min(prefixes[rank]);
        if next < n {
            before[next] = before[rank];
        }
        if let Some(link) = after.get_mut(before[rank] as usize) {
            *link = next as u32;
        }
    }
    let mut at = 0;
    std::iter::from_fn(|| {
        let length = longest.get(at)?;
        at += (*length).max(1) as usize;
        Some(())
    })
    .count()
}

#[test]
fn as_many_as_the_exact_factors() {
    for n in [1, 2, 17, 1000, 30_000] {
        for letters in [1u32, 2, 4, 250] {
            let mut state = n as u32 * 7 + letters;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) % letters
            };
            let text: Vec<u8> = (0..n).map(|_| next() as u8).collect();
            assert_eq!(factors(&text), hybz_factor::factors(&text).expect("memory").count(), "{n} {letters}");
        }
    }
}
