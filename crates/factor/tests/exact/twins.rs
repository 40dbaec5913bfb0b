//! The same factors by the definition, in quadratic time.

use hybz_factor::Factor;
use hybz_factor::neighbours::{NONE, Pair};

/// The length of the longest earlier occurrence of the text at each position: all pairs of positions are compared.
pub fn longest(text: &[u8]) -> Vec<usize> {
    let mut longest = vec![0; text.len()];
    // The length of the common prefix at position `at` and at each other position, computed from that of the two next
    // positions.
    let mut row = vec![0; text.len() + 1];
    for at in (0..text.len()).rev() {
        for other in 0..text.len() {
            row[other] = if text[at] == text[other] { row[other + 1] + 1 } else { 0 };
        }
        longest[at] = row[..at].iter().copied().max().unwrap_or(0);
    }
    longest
}

/// The neighbours of each position, from all suffixes sorted by comparison.
pub fn neighbours(text: &[u8]) -> Vec<Pair> {
    let mut sorted: Vec<usize> = (0..text.len()).collect();
    sorted.sort_by_key(|&at| &text[at..]);
    let mut pairs = vec![[NONE; 2]; text.len()];
    for (rank, &at) in sorted.iter().enumerate() {
        let number = |&other: &usize| other as i32;
        let before = sorted[..rank].iter().rfind(|&&other| other < at).map_or(NONE, number);
        let after = sorted[rank..].iter().find(|&&other| other < at).map_or(NONE, number);
        pairs[at] = [before, after];
    }
    pairs
}

/// The factors by the definition. Their sources are neighbours.
pub fn factors(text: &[u8]) -> Vec<Factor> {
    let (longest, pairs) = (longest(text), neighbours(text));
    let (mut at, mut all) = (0, Vec::new());
    while at < text.len() {
        let len = longest[at];
        let fits = |source: &&i32| **source != NONE && text[**source as usize..].starts_with(&text[at..at + len]);
        all.push(match pairs[at].iter().find(fits) {
            Some(&source) if len > 0 => Factor::Copy { source: source as u32, len: len as u32 },
            _ => Factor::Letter(text[at]),
        });
        at += len.max(1);
    }
    all
}
