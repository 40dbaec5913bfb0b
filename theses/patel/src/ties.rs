//! Figure 4.3 of Patel's thesis (2012): the ties that a sort has to break, of suffixes and of words.

use crate::BLOCK;
use std::collections::{HashMap, HashSet};
use theses_common::ties::{common_prefixes, of_sorted, suffixes};

const LENGTHS: [u32; 7] = [4, 8, 16, 32, 64, 256, 1024];

/// The share of neighbours in sorted order that have at least as many bytes in common: of all suffixes of his blocks of
/// 1 MB, and of the text's different words. The last column: suffixes whose first four bytes no other has.
pub fn lengths(set: &str, text: &[u8]) {
    let of_suffixes: Vec<u32> = text.chunks(BLOCK).flat_map(|block| common_prefixes(block, &suffixes(block))).collect();
    let words: HashSet<&[u8]> =
        text.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut words: Vec<&[u8]> = words.into_iter().collect();
    words.sort_unstable();
    println!("# Patel 2012: suffixes have far more long ties than words, and sort 3 to 20 times as slowly.");
    println!("set,what,strings,{},unique_first_4", LENGTHS.map(|length| format!("at_least_{length}")).join(","));
    for (what, ties, unique) in [
        ("suffixes", of_suffixes, text.chunks(BLOCK).map(|block| unique(block.windows(4))).sum()),
        ("words", of_sorted(&words), unique(words.iter().map(|word| &word[..word.len().min(4)]))),
    ] {
        let share = |count: usize| format!("{:.4}", count as f64 / ties.len().max(1) as f64);
        let shares = LENGTHS.map(|length| share(ties.iter().filter(|&&tie| tie >= length).count()));
        println!("{set},{what},{},{},{}", ties.len(), shares.join(","), share(unique));
    }
}

/// The number of strings that occur once.
fn unique<'a>(strings: impl Iterator<Item = &'a [u8]>) -> usize {
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    strings.for_each(|string| *counts.entry(string).or_default() += 1);
    counts.values().filter(|&&count| count == 1).count()
}
