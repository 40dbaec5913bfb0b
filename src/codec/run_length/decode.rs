//! Run-length decoding: after four equal bytes the next one says how many more of them follow, 0 to 255.
//!
//! Runs are looked for 16 bytes at a time (the compiler makes vector code of the loop); what lies between runs is copied
//! whole. The count may equal the bytes around it, so a run cannot be told by looking back: the search starts afresh
//! behind each count.

use super::super::crc::{self, Crc};
use crate::block::Text;
use crate::error::Damage;

/// Text up to this size leaves the decoder as plain bytes; longer text, which is nearly all runs (a block of 900,000
/// bytes can stand for 46,620,000), as coded bytes, to be expanded piece by piece when it is written.
pub const MOST_PLAIN: usize = 2 << 20;

/// Where the first four equal bytes begin, if there are such.
#[inline]
fn find_run(bytes: &[u8]) -> Option<usize> {
    const STEP: usize = 16;
    let mut at = 0;
    while let Some(window) = bytes.get(at..at + STEP + 3) {
        let mut any = 0u8;
        for i in 0..STEP {
            let same = window[i] == window[i + 1] && window[i] == window[i + 2] && window[i] == window[i + 3];
            any |= u8::from(same);
        }
        if any != 0 {
            break;
        }
        at += STEP;
    }
    bytes[at..].windows(4).position(|four| four == [four[0]; 4]).map(|i| at + i)
}

/// Appends what `coded` stands for to `out`. Stops, and returns false, before `out` grows over `most` bytes.
pub fn expand(coded: &[u8], out: &mut Vec<u8>, most: usize) -> Result<bool, Damage> {
    let mut rest = coded;
    loop {
        match find_run(rest) {
            None => {
                let fits = out.len() + rest.len() <= most;
                if fits {
                    out.extend_from_slice(rest);
                }
                return Ok(fits);
            }
            Some(run) => {
                let count = usize::from(*rest.get(run + 4).ok_or(Damage::MissingRunCount)?);
                if out.len() + run + 4 + count > most {
                    return Ok(false);
                }
                out.extend_from_slice(&rest[..run + 4]);
                out.resize(out.len() + count, rest[run]);
                rest = &rest[run + 5..];
            }
        }
    }
}

/// Expands run-length-coded bytes into pieces of any size, for text that should never be in memory as a whole.
///
/// Four equal bytes at the very end with no count after them stand for themselves: [`text_of`] has refused them before.
#[derive(Clone, Debug)]
pub struct Expander<'a> {
    /// What is still coded.
    rest: &'a [u8],
    /// How many bytes at the front of `rest` are known to be no run.
    literal: usize,
    /// The rest of a run: how many and of what.
    run: (usize, u8),
}

impl<'a> Expander<'a> {
    /// Expands `coded`, which begins at a token's beginning, as a block does.
    pub fn new(coded: &'a [u8]) -> Self {
        Expander { rest: coded, literal: 0, run: (0, 0) }
    }

    /// Fills `buf` with the next bytes and says how many these are: fewer than fit only at the end of the text.
    pub fn next(&mut self, buf: &mut [u8]) -> usize {
        let mut filled = 0;
        while filled < buf.len() {
            let room = buf.len() - filled;
            if self.run.0 > 0 {
                let now = self.run.0.min(room);
                buf[filled..filled + now].fill(self.run.1);
                self.run.0 -= now;
                filled += now;
            } else if self.literal > 0 {
                let now = self.literal.min(room);
                buf[filled..filled + now].copy_from_slice(&self.rest[..now]);
                self.rest = &self.rest[now..];
                self.literal -= now;
                filled += now;
            } else if self.rest.is_empty() {
                break;
            } else {
                self.look_ahead();
            }
        }
        filled
    }

    /// Finds the next literal bytes, or the next run if it comes at once.
    fn look_ahead(&mut self) {
        /// Enough to keep each search short, whatever the size of the caller's pieces.
        const AHEAD: usize = 4096;
        let ahead = &self.rest[..self.rest.len().min(AHEAD)];
        match find_run(ahead) {
            Some(0) => {
                let count = self.rest.get(4).copied().unwrap_or(0);
                self.run = (4 + usize::from(count), self.rest[0]);
                self.rest = &self.rest[self.rest.len().min(5)..];
            }
            Some(at) => self.literal = at,
            // A run may begin in the last three bytes.
            None if ahead.len() == self.rest.len() => self.literal = ahead.len(),
            None => self.literal = ahead.len() - 3,
        }
    }
}

/// What the block `coded` stands for, plain if it is at most [`MOST_PLAIN`] bytes long; and its CRC.
///
/// # Errors
/// [`Damage::MissingRunCount`] if the block ends in four equal bytes without a count.
pub fn text_of(coded: Vec<u8>) -> Result<(Text, u32), Damage> {
    let mut plain = Vec::with_capacity(coded.len() + coded.len() / 8);
    if expand(&coded, &mut plain, MOST_PLAIN)? {
        let crc = crc::of(&plain);
        return Ok((Text::Plain(plain), crc));
    }
    // Only the scan meets a missing count: the expander has no way to say so.
    let mut rest = &coded[..];
    while let Some(run) = find_run(rest) {
        rest = rest.get(run + 5..).ok_or(Damage::MissingRunCount)?;
    }
    plain.resize(MOST_PLAIN, 0);
    let (mut expander, mut crc, mut len) = (Expander::new(&coded), Crc::new(), 0);
    loop {
        let n = expander.next(&mut plain);
        if n == 0 {
            break;
        }
        crc.update(&plain[..n]);
        len += n as u64;
    }
    let crc = crc.finish();
    Ok((Text::RunLength { coded, len, crc }, crc))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The automaton of five states, byte by byte.
    fn naive(coded: &[u8]) -> Result<Vec<u8>, Damage> {
        let (mut out, mut equal) = (Vec::<u8>::new(), 0);
        for &byte in coded {
            if equal == 4 {
                let last = out[out.len() - 1];
                out.extend((0..byte).map(|_| last));
                equal = 0;
            } else {
                equal = if equal > 0 && out.last() == Some(&byte) { equal + 1 } else { 1 };
                out.push(byte);
            }
        }
        if equal == 4 { Err(Damage::MissingRunCount) } else { Ok(out) }
    }

    fn pieces(coded: &[u8], size: usize) -> Vec<u8> {
        let (mut expander, mut buf, mut all) = (Expander::new(coded), vec![0; size], Vec::new());
        loop {
            let n = expander.next(&mut buf);
            all.extend_from_slice(&buf[..n]);
            if n < size {
                return all;
            }
        }
    }

    fn check(coded: &[u8]) {
        let expected = naive(coded);
        let got = text_of(coded.to_vec());
        match (&expected, &got) {
            (Err(a), Err(b)) => assert_eq!(a, b),
            (Ok(text), Ok((Text::Plain(plain), crc))) => {
                assert!(text == plain && text.len() <= MOST_PLAIN);
                assert_eq!(crc::of(text), *crc);
            }
            (Ok(text), Ok((Text::RunLength { coded: same, len, crc: a }, b))) => {
                assert!(same == coded && *len == text.len() as u64 && text.len() > MOST_PLAIN);
                assert_eq!((crc::of(text), *a), (*b, *b));
            }
            _ => panic!("{expected:?} and {got:?}"),
        }
        if let Ok(text) = expected {
            for size in [1, 2, 5, 37, 4096, 70_000] {
                if text.len() / size < 100_000 {
                    assert!(pieces(coded, size) == text, "pieces of {size}");
                }
            }
        }
    }

    #[test]
    fn all_short_blocks_of_two_symbols() {
        for len in 0..=13 {
            for bits in 0..1u32 << len {
                check(&(0..len).map(|i| (bits >> i & 1) as u8 * 4).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn every_count_and_place_of_a_run() {
        for count in 0..=255 {
            for before in 0..40usize {
                let mut coded: Vec<u8> = (0..before as u8).collect();
                coded.extend([200, 200, 200, 200, count]);
                check(&coded);
                coded.extend([count; 3]);
                coded.extend(100..130);
                check(&coded);
            }
        }
    }

    #[test]
    fn random_blocks_of_few_symbols() {
        let mut seed = 1u64;
        for len in [100, 4095, 4096, 4097, 8192, 30_000] {
            for symbols in [2, 3, 4] {
                let coded: Vec<u8> = std::iter::repeat_with(|| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((seed >> 33) % symbols) as u8
                })
                .take(len)
                .collect();
                check(&coded);
            }
        }
    }

    #[test]
    fn a_bomb_stays_coded() {
        let coded: Vec<u8> = [7, 7, 7, 7, 255].repeat(180_000);
        check(&coded);
        check(&[coded.clone(), vec![1, 2, 3]].concat());
        check(&[coded, vec![8; 4]].concat());
        // Just at the limit, and one more.
        let mut coded = [0, 0, 0, 0, 252].repeat(MOST_PLAIN / 256);
        check(&coded);
        coded.push(1);
        check(&coded);
    }
}
