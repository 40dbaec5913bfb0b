//! Checks the answers of stations.
//!
//! A sorted text is right if its lines are in order and are the input's lines, that is, if the sums of both are equal
//! ([`line_sum_at`]). Checking a sorted range takes about a tenth of the time of sorting it.

use super::parts::{Sorted, Wrong};
use super::range::RangeText;
use super::text::{Ends, key, line_sum_at};

/// The sum of all lines of a text.
pub(super) fn sum_of(text: &[u8], end: u8) -> u64 {
    let mut start = 0;
    let mut sum = 0u64;
    for at in Ends::new(text, end) {
        sum = sum.wrapping_add(line_sum_at(text, start, at - start));
        start = at + 1;
    }
    sum
}

/// Checks a sorted range, and drops equal lines if only one of them is wanted.
pub(super) fn range(range: &RangeText, answer: &mut Sorted) -> Result<(), Wrong> {
    let Sorted { text: sorted, lines, kept } = answer;
    *lines = 0;
    let (order, end) = (&range.order, range.order.end_byte());
    if sorted.len() != range.len() || sorted.last().is_some_and(|&last| last != end) {
        return Err(Wrong("it has another length"));
    }
    let depth = range.common_prefix;
    let key_of = |text: &[u8], at: usize, len: usize| {
        let skip = depth.min(len);
        key(text, at + skip, len - skip)
    };
    let text = &sorted[..];
    let (mut sum, mut start, mut equal) = (0u64, 0, 0u64);
    let mut last: Option<(usize, usize, u64)> = None;
    for at in Ends::new(text, end) {
        let line = &text[start..at];
        *lines += 1;
        sum = sum.wrapping_add(line_sum_at(text, start, line.len()));
        let own = key_of(text, start, line.len());
        if let Some((from, to, other)) = last {
            // The keys decide for most lines. (If the lines are the right ones, they have the prefix in common.)
            let in_order = if order.is_reverse() { own < other } else { other < own };
            if !in_order {
                match order.compare(&text[from..to], line) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => equal += 1,
                    std::cmp::Ordering::Greater => return Err(Wrong("two of its lines are out of order")),
                }
            }
        }
        last = Some((start, at, own));
        start = at + 1;
    }
    let expected = range
        .sum
        .unwrap_or_else(|| range.pieces.iter().fold(0, |sum, piece| sum.wrapping_add(sum_of(piece.bytes(), end))));
    if sum != expected {
        return Err(Wrong("it has other lines"));
    }
    *kept = *lines;
    if order.is_unique() && equal > 0 {
        *kept -= equal;
        drop_equal(sorted, end);
    }
    Ok(())
}

/// Keeps the first of equal neighbours.
pub(super) fn drop_equal(text: &mut Vec<u8>, end: u8) {
    let ends: Vec<usize> = Ends::new(text, end).collect();
    let (mut start, mut kept) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    for at in ends {
        if last.is_none_or(|(from, to)| text[from..to] != text[start..at]) {
            last = Some((kept, kept + at - start));
            text.copy_within(start..at + 1, kept);
            kept += at + 1 - start;
        }
        start = at + 1;
    }
    text.truncate(kept);
}
