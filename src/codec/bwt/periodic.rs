//! The origin of a block that is a word w repeated m times.
//!
//! Each rotation of such a block has m equal rows, and any of them as origin decodes to the same block. Which one
//! stands in the file is whatever bzip2's sorting left behind: in 31 % of random cases not the last, and by no
//! rule. Such blocks are common: all bytes of a zero-filled region that fill a block are one. So the answer comes from
//! bzip2 itself (the `bzip2` crate, a faithful translation of it): the block's text is compressed, which takes 0.1 to
//! a few seconds, and the origin read out of the result. It is remembered, because one such block seldom comes alone.
//!
//! Compared are whole words, not hashes: a collision would be a wrong file.

use bzip2::{Action, Compress, Compression, Status};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes of words that are kept, at most (and one word of any length). A full block of zeros has a word of five.
const MOST_BYTES: usize = 4 << 20;

/// Words that are kept, at most, so that looking one up stays quick.
const MOST_WORDS: usize = 64;

/// bzip2 has no longer block: at level 9 it closes one as soon as 899,981 bytes are in it, and what closes it has 5.
const LONGEST: usize = 899_985;

/// Origins already asked for, shared by everybody who codes blocks.
#[derive(Debug, Default)]
pub struct PeriodicOrigins {
    /// The one used last stands last.
    known: Mutex<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    word: Arc<[u8]>,
    times: u32,
    /// Filled by whoever asked first, while others who ask for the same block wait and those with another one don't.
    origin: Arc<OnceLock<u32>>,
}

impl PeriodicOrigins {
    /// Nothing asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The origin that bzip2 gives to the run-length-coded block `word` x `times`, where the word itself has row `row`
    /// among its own rotations. A block that bzip2 could not have made gets the first origin that decodes.
    pub fn origin(&self, word: &[u8], times: u32, row: u32) -> u32 {
        let rows = row * times..(row + 1) * times;
        if word.len() * times as usize > LONGEST {
            return rows.start;
        }
        let origin = *self.entry(word, times).get_or_init(|| ask_bzip2(word, times));
        // What is no run-length coding of any text, bzip2 has seen as another block.
        if rows.contains(&origin) { origin } else { rows.start }
    }

    /// The place for the answer: an old one, or a new one in the stead of those not asked for in a long time.
    fn entry(&self, word: &[u8], times: u32) -> Arc<OnceLock<u32>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().position(|k| k.times == times && *k.word == *word);
        let entry = match found {
            Some(at) => known.remove(at),
            None => Known { word: word.into(), times, origin: Arc::default() },
        };
        let origin = Arc::clone(&entry.origin);
        known.push(entry);
        let mut bytes: usize = known.iter().map(|k| k.word.len()).sum();
        while known.len() > 1 && (bytes > MOST_BYTES || known.len() > MOST_WORDS) {
            bytes -= known.remove(0).word.len();
        }
        origin
    }
}

/// Has bzip2 compress the text of this block, as one block, and reads the origin from what it writes.
fn ask_bzip2(word: &[u8], times: u32) -> u32 {
    let block = word.repeat(times as usize);
    // The lowest level at which it is one block: the sort does not depend on the level, but its memory does.
    let level = (block.len() + 19).div_ceil(100_000).clamp(1, 9);
    // 30 is the work factor of the command: how long the quick sort may struggle before the steady one takes over.
    let mut bzip2 = Compress::new(Compression::new(level as u32), 30);
    let mut head = Vec::with_capacity(1 << 16);

    // The text goes in as it does in the command, where the end is only known once all has been read: fed and finished
    // in one go, bzip2 can close the block before the last byte.
    let mut text = Vec::with_capacity(1 << 16);
    let mut feed = |text: &mut Vec<u8>| {
        bzip2.compress_vec(text, &mut head, Action::Run).expect("bzip2 takes text");
        text.clear();
    };
    let mut run = 0;
    let mut last = None;
    for &byte in &block {
        if run == 4 {
            text.extend(std::iter::repeat_n(last.unwrap_or(byte), usize::from(byte)));
            (run, last) = (0, None);
        } else {
            run = if last == Some(byte) { run + 1 } else { 1 };
            last = Some(byte);
            text.push(byte);
        }
        if text.len() + 256 > 1 << 16 {
            feed(&mut text);
        }
    }
    feed(&mut text);

    // "BZh9", 48 bits of magic, 32 of CRC, one that says not randomised; then 24 of origin.
    while head.len() < 18 {
        let status = bzip2.compress_vec(&[], &mut head, Action::Finish).expect("bzip2 finishes");
        assert!(head.len() >= 18 || status != Status::StreamEnd, "bzip2 wrote no block");
    }
    let origin = u32::from_be_bytes([head[14], head[15], head[16], head[17]]);
    origin >> 7 & 0xff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asked_by_many_at_once() {
        let origins = PeriodicOrigins::new();
        let answers: Vec<u32> = std::thread::scope(|scope| {
            let ask = |times| origins.origin(b"abcab", times, 0);
            let threads: Vec<_> = (0..8).map(|i| scope.spawn(move || ask(1000 + i % 2))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(answers.iter().step_by(2).all(|answer| *answer == answers[0]));
        assert!(answers.iter().skip(1).step_by(2).all(|answer| *answer == answers[1]));
        assert_eq!(origins.known.lock().unwrap().len(), 2);
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_latest() {
        let origins = PeriodicOrigins::new();
        for times in 2..200 {
            origins.entry(b"ab", times);
        }
        assert_eq!(origins.known.lock().unwrap().len(), MOST_WORDS);
        let kept = origins.entry(b"ab", 150);
        kept.set(7).unwrap();
        for word in 0..20 {
            origins.entry(&vec![word; MOST_BYTES / 4], 2);
            assert_eq!(origins.entry(b"ab", 150).get(), Some(&7), "asked for again and again, it stays");
        }
        assert!(origins.known.lock().unwrap().iter().map(|k| k.word.len()).sum::<usize>() <= MOST_BYTES);
    }

    /// Longer than any block of bzip2's, or no run-length coding of any text: some origin that decodes.
    #[test]
    fn what_bzip2_could_not_have_made() {
        let origins = PeriodicOrigins::new();
        assert_eq!(origins.origin(b"ab", 450_001, 0), 0);
        assert_eq!(origins.origin(b"ba", 450_001, 1), 450_001);
        assert!(origins.origin(&[0], 1000, 0) < 1000);
        assert!(origins.origin(b"aaaa\xff", 2, 1) / 2 == 1);
    }
}
