//! How many bytes neighbours in sorted order have in common: the depth of a sort.

use libsais::SuffixArrayConstruction;

/// The length of each suffix's common prefix with its predecessor in sorted order, by position in the block; by Kasai's
/// algorithm (CPM 2001) from the suffix array.
pub fn common_prefixes(block: &[u8], suffixes: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0u32; block.len()];
    suffixes.iter().enumerate().for_each(|(rank, &suffix)| ranks[suffix as usize] = rank as u32);
    let mut lens = vec![0u32; block.len()];
    let mut same = 0;
    for at in 0..block.len() {
        let rank = ranks[at] as usize;
        if rank == 0 {
            same = 0;
            continue;
        }
        let before = suffixes[rank - 1] as usize;
        same += block[at + same..].iter().zip(&block[before + same..]).take_while(|(a, b)| a == b).count();
        lens[at] = same as u32;
        same = same.saturating_sub(1);
    }
    lens
}

/// The suffix array, by libsais.
pub fn suffixes(block: &[u8]) -> Vec<u32> {
    let mut suffixes = vec![0i32; block.len() + 2048];
    SuffixArrayConstruction::for_text(block).in_borrowed_buffer(&mut suffixes).single_threaded().run().expect("memory");
    suffixes[..block.len()].iter().map(|&suffix| suffix as u32).collect()
}

/// The common prefixes of neighbours among sorted strings.
pub fn of_sorted(strings: &[&[u8]]) -> Vec<u32> {
    let same = |pair: &[&[u8]]| pair[0].iter().zip(pair[1]).take_while(|(a, b)| a == b).count() as u32;
    strings.windows(2).map(same).collect()
}

#[test]
fn a_small_text() {
    // Sorted: a, ana, anana, banana, na, nana.
    assert_eq!(common_prefixes(b"banana", &suffixes(b"banana")), [0, 3, 2, 1, 0, 0]);
    assert_eq!(of_sorted(&[b"a", b"ab", b"abc", b"b"]), [1, 2, 0]);
}
