//! The least rotation of a block, and its period.
//!
//! Sorting rotations with a suffix sorter requires the block to be rotated to its least rotation (see `forward`).
//! Textbooks find it with two pointers in one pass over the block, byte by byte: measured at 130-295 MB/s. Here:
//!
//! 1. Find the least byte. The least rotation begins where a run of that byte begins; most blocks have few such places,
//!    because after run-length coding the least byte is often a rare count byte.
//! 2. Keep the places with the least eight bytes; of these, keep those with the least next eight bytes; and so on,
//!    until one is left. Nearly always the first eight bytes suffice.
//! 3. If many places agree for long (Fibonacci words, repeated pages), this would take quadratic time. After a fixed
//!    budget the two pointers therefore take over, eight bytes at a time, in linear time for any block.
//!
//! Measured (Zen 5): 13 GB/s of prose, 15 of XML, 12 of machine code, 5 of random bytes, 2 of tables and de Bruijn
//! words, 1.2 of a Fibonacci word (the two pointers): at most 3 % of the time of sorting.

/// The number of positions tested together for the start of a run of the least byte.
const CHUNK: usize = 64;

/// The max number of candidates that [`least`] collects in a text of `len` bytes.
pub fn max_candidates(len: usize) -> usize {
    len / 16 + 16
}

/// The start of the least rotation of `text`; of equal ones, the first. 0 for an empty text.
///
/// `candidates` is scratch memory.
pub fn least(text: &[u8], candidates: &mut Vec<u32>) -> usize {
    if text.is_empty() {
        return 0;
    }
    let least_byte = text.iter().fold(u8::MAX, |least, &byte| least.min(byte));
    let max = max_candidates(text.len());
    candidates.clear();
    // If the least byte occurs four times in a row anywhere, only such places need to be examined: in machine code
    // every other chunk has a zero, but few chunks have four in a row.
    let chunks = (0..text.len().saturating_sub(CHUNK + 3)).step_by(CHUNK);
    let few_enough = if chunks.into_iter().any(|at| begins_run::<4>(text, at, least_byte)) {
        collect::<4>(text, least_byte, max, candidates)
    } else {
        collect::<1>(text, least_byte, max, candidates)
    };
    if few_enough && let Some(start) = refine(text, candidates) {
        return start;
    }
    two_pointers(text)
}

/// Collects the positions at which a run of at least `RUN` least bytes begins, and whose eight bytes are the least.
/// Returns false if there are more than `max`.
fn collect<const RUN: usize>(text: &[u8], least_byte: u8, max: usize, candidates: &mut Vec<u32>) -> bool {
    let mut best = u64::MAX;
    for from in (0..text.len()).step_by(CHUNK) {
        if !begins_run::<RUN>(text, from, least_byte) {
            continue;
        }
        let mut before = text[from.checked_sub(1).unwrap_or(text.len() - 1)];
        for (offset, &byte) in text[from..].iter().take(CHUNK).enumerate() {
            if byte == least_byte && before != least_byte {
                let window = window(text, from + offset);
                if window < best {
                    best = window;
                    candidates.clear();
                }
                if window == best {
                    if candidates.len() == max {
                        return false;
                    }
                    candidates.push((from + offset) as u32);
                }
            }
            before = byte;
        }
    }
    true
}

/// Whether a run of `RUN` of this byte begins at any of the `CHUNK` positions from `at`. Always true near the end,
/// where a run may wrap around.
#[inline]
fn begins_run<const RUN: usize>(text: &[u8], at: usize, byte: u8) -> bool {
    let Some(window) = text.get(at..at + CHUNK + RUN - 1) else { return true };
    // Without an early exit, so that it becomes vector code.
    (0..CHUNK).fold(false, |any, i| any | (0..RUN).fold(true, |all, j| all & (window[i + j] == byte)))
}

/// Narrows the candidates, which agree on eight bytes, down to the least one. `None` if this takes too long.
fn refine(text: &[u8], candidates: &mut Vec<u32>) -> Option<usize> {
    let mut budget = text.len() / 4;
    let mut depth = 8;
    while candidates.len() > 1 && depth < text.len() {
        budget = budget.checked_sub(candidates.len())?;
        let next = |start: u32| window(text, wrap(start as usize + depth, text.len()));
        let best = candidates.iter().map(|&start| next(start)).min()?;
        candidates.retain(|&start| next(start) == best);
        depth += 8;
    }
    // No candidates: the text is one byte repeated, and all its rotations are equal.
    Some(candidates.first().map_or(0, |&start| start as usize))
}

/// The eight bytes from `start` on, around the end if necessary, as a number that compares like these bytes.
#[inline]
fn window(text: &[u8], start: usize) -> u64 {
    match text.get(start..start + 8) {
        Some(bytes) => u64::from_be_bytes(bytes.try_into().expect("eight bytes")),
        None => (0..8).fold(0, |word, i| word << 8 | u64::from(text[(start + i) % text.len()])),
    }
}

/// Wraps a position that is less than twice the length.
#[inline]
fn wrap(position: usize, len: usize) -> usize {
    if position < len { position } else { position - len }
}

/// The least rotation by elimination: of two candidate starts that agree on `same` bytes and then differ, the greater
/// one is eliminated, and with it the `same` starts after it, each of which would lose to its counterpart.
fn two_pointers(text: &[u8]) -> usize {
    let len = text.len();
    let (mut a, mut b) = (0, 1);
    while a < len && b < len {
        let Some((same, greater)) = compare(text, a, b) else { break };
        if greater {
            a += same + 1;
        } else {
            b += same + 1;
        }
        if a == b {
            b += 1;
        }
    }
    a.min(b)
}

/// The number of bytes on which the rotations at `a` and `b` agree, and whether the one at `a` is the greater; `None`
/// if they are equal.
fn compare(text: &[u8], a: usize, b: usize) -> Option<(usize, bool)> {
    let mut same = 0;
    while same < text.len() {
        let (left, right) = (window(text, wrap(a + same, text.len())), window(text, wrap(b + same, text.len())));
        if left != right {
            same += ((left ^ right).leading_zeros() / 8) as usize;
            return (same < text.len()).then_some((same, left > right));
        }
        same += 8;
    }
    None
}

/// The length of the shortest word of which `text` is one or more copies: `text.len()` if it is not a repetition.
///
/// If the text consists of copies of a shorter word, it also consists of p copies of some word, for a prime factor p of
/// its length. A few comparisons therefore decide, and nearly all of them fail within a few bytes.
pub fn period(text: &[u8]) -> usize {
    let mut period = text.len();
    let mut rest = text.len();
    let mut prime = 2;
    while rest > 1 {
        if prime * prime > rest {
            prime = rest;
        }
        if !rest.is_multiple_of(prime) {
            prime += 1;
            continue;
        }
        rest /= prime;
        let shorter = period / prime;
        if text[shorter..] == text[..text.len() - shorter] {
            period = shorter;
        }
    }
    period
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use hybz_testkit::shapes::SHAPES;

    /// `rows` are the starts of all rotations, sorted.
    pub fn check(text: &[u8], rows: &[usize], what: &str) {
        let expected = rows.first().copied().unwrap_or(0);
        assert_eq!(least(text, &mut Vec::new()), expected, "{what}, {} bytes", text.len());
        if !text.is_empty() {
            assert_eq!(two_pointers(text), expected, "two pointers: {what}, {} bytes", text.len());
        }
        let divides = |p: &usize| text.len().is_multiple_of(*p) && text.chunks(*p).all(|word| word == &text[..*p]);
        let expected = (1..=text.len()).find(divides).unwrap_or(0);
        assert_eq!(period(text), expected, "period: {what}, {} bytes", text.len());
    }

    #[test]
    fn large_ones_agree_with_two_pointers() {
        for shape in SHAPES {
            let text = (shape.make)(300_007);
            assert_eq!(least(&text, &mut Vec::new()), two_pointers(&text), "{}", shape.name);
        }
    }
}
