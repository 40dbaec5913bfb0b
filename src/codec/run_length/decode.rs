//! Run-length decoding: after four equal bytes the next one says how many more of them follow, 0 to 255.
//!
//! Runs are looked for 16 bytes at a time (the compiler makes vector code of the loop); what lies between runs is copied
//! whole. The count may equal the bytes around it, so a run cannot be told by looking back: the search starts afresh
//! behind each count.

use super::find_run;
use crate::block::Text;
use crate::codec::crc::{self, Crc};
use crate::error::Damage;

/// Text up to this size leaves the decoder as plain bytes; longer text, which is nearly all runs (a block of 900,000
/// bytes can stand for 46,620,000), as coded bytes, to be expanded piece by piece when it is written.
pub const MOST_PLAIN: usize = 2 << 20;

/// Appends what `coded` stands for to `out`. Stops, and returns false, before `out` grows over `most` bytes.
pub fn expand(coded: &[u8], out: &mut Vec<u8>, most: usize) -> Result<bool, Damage> {
    let mut rest = coded;
    loop {
        match find_run(rest, 0) {
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
#[derive(Clone, Debug, Default)]
pub struct Expander {
    /// Where in the coded bytes it has arrived.
    at: usize,
    /// How many bytes from there on are known to be no run.
    literal: usize,
    /// The rest of a run: how many and of what.
    run: (usize, u8),
}

impl Expander {
    /// An expander at the beginning of the coded bytes, which is a token's beginning, as a block's is.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fills `buf` with the next bytes and says how many these are: fewer than fit only at the end of the text.
    /// `coded` is the same at every call.
    pub fn next(&mut self, coded: &[u8], buf: &mut [u8]) -> usize {
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
                buf[filled..filled + now].copy_from_slice(&coded[self.at..self.at + now]);
                self.at += now;
                self.literal -= now;
                filled += now;
            } else if self.at == coded.len() {
                break;
            } else {
                self.look_ahead(&coded[self.at..]);
            }
        }
        filled
    }

    /// Finds the next literal bytes, or the next run if it comes at once.
    fn look_ahead(&mut self, rest: &[u8]) {
        /// Enough to keep each search short, whatever the size of the caller's pieces.
        const AHEAD: usize = 4096;
        let ahead = &rest[..rest.len().min(AHEAD)];
        match find_run(ahead, 0) {
            Some(0) => {
                let count = rest.get(4).copied().unwrap_or(0);
                self.run = (4 + usize::from(count), rest[0]);
                self.at += rest.len().min(5);
            }
            Some(at) => self.literal = at,
            // A run may begin in the last three bytes.
            None if ahead.len() == rest.len() => self.literal = ahead.len(),
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
    while let Some(run) = find_run(rest, 0) {
        rest = rest.get(run + 5..).ok_or(Damage::MissingRunCount)?;
    }
    plain.resize(MOST_PLAIN, 0);
    let (mut expander, mut crc, mut len) = (Expander::new(), Crc::new(), 0);
    loop {
        let n = expander.next(&coded, &mut plain);
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
        let (mut expander, mut buf, mut all) = (Expander::new(), vec![0; size], Vec::new());
        loop {
            let n = expander.next(coded, &mut buf);
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
