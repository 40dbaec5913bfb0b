//! Decodes a block one sequence after the other, byte by byte: the twin of [`groups`](super::groups) in tests.

use super::sequence::{Unreadable, parse};

/// Decodes `coded` into `text` from `from` on; matches may begin before that. Returns the end of the block's text.
///
/// # Errors
/// The error of the first sequence that cannot be decoded.
pub fn decode(coded: &[u8], text: &mut [u8], from: usize) -> Result<usize, Unreadable> {
    let (mut at, mut to) = (0, from);
    loop {
        let sequence = parse(coded, &mut at)?;
        sequence.check(to, text.len())?;
        for n in 0..sequence.literals_len {
            text[to + n] = coded[sequence.literals + n];
        }
        to += sequence.literals_len;
        for _ in 0..sequence.match_len {
            text[to] = text[to - sequence.offset];
            to += 1;
        }
        if at == coded.len() {
            return Ok(to);
        }
    }
}
