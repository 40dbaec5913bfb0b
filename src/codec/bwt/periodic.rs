//! The origin of a block that is a word w repeated m times.
//!
//! Each rotation of such a block has m equal rows, any of which as the origin gives the same block. Which one is
//! written depends on how bzip2's sorts happen to leave equal rotations: in 31 % of random cases it is not the
//! last, and there is no rule. Such blocks are common: in a file of zeros, all blocks but the last are periodic.
//!
//! These blocks, and no others, are therefore sorted as bzip2 sorts them. Blocks of 10,000 bytes or more go to the main
//! sort (`main_sort`), which gives up when comparing has cost too much. Shorter blocks, and those on which the main
//! sort gives up, go to the fallback sort (`fallback_sort`). The origin is remembered, because such blocks seldom come
//! alone.
//!
//! CPU time of the whole command for one block of about 900,000 bytes, in ms: hybz / bzip2 / an earlier hybz, which
//! derived the origin from the sorted rotations of the word (EPYC, a virtual machine shared with others, minimum of 7;
//! a block of dickens that repeats nothing takes 29 / 61 / 30):
//!
//! | word | x 2 | x 3 | x 9 | x 100 |
//! |---|---|---|---|---|
//! | dickens | 68 / 74 / 49 | 68 / 73 / 44 | 71 / 107 / 27 | 7 / 163 / 5 |
//! | nci | 104 / 102 / 66 | 104 / 116 / 54 | 38 / 210 / 11 | 7 / 158 / 5 |
//! | ooffice | 60 / 241 / 37 | 48 / 227 / 26 | 32 / 195 / 12 | 6 / 151 / 5 |
//! | xml | 106 / 108 / 42 | 104 / 102 / 33 | 94 / 109 / 21 | 6 / 155 / 5 |
//! | 4 letters at random | 68 / 234 / 39 | 54 / 223 / 29 | 39 / 197 / 16 | 10 / 171 / 7 |
//!
//! Zeros take 34 / 275 / 32 (the whole file of 45.9 MB), `ab` 7 / 95 / 6, a Fibonacci word x 2 102 / 200 / 306, a de
//! Bruijn word of 160,000 bytes x 5 33 / 153 / 13. hybz takes about as long as bzip2 only on doubled text, where the
//! main sort finishes.
//!
//! Consecutive full blocks of one periodic stretch begin at the same phase, because all of them are whole words long.
//! They are therefore the same block, and the memo misses once: measured on 100 MB each of zeros, `yes`, and patterns
//! of 7 to 300,007 bytes, at levels 1, 2, 3, 5, 8 and 9. (Most of these patterns make no full block periodic: without
//! runs a full block has 100,000 x level - 19 bytes, which at level 9 is a prime.)
//!
//! The reference is bzip2 1.0.8, the command. The `bzip2` crate (0.6.1 with libbz2-rs-sys 0.2.6) differs: for comparing
//! equal rotations its main sort charges one or two units less, and so it may finish where bzip2 gives up
//! (`just_too_much` below).

use super::{fallback_sort, main_sort};
use std::sync::{Mutex, PoisonError};

/// The maximum total length of the remembered words (plus one word of any length). The word of a full block of zeros
/// has five bytes.
const MAX_BYTES: usize = 4 << 20;

/// The max number of words remembered, so that a lookup stays fast.
const MAX_WORDS: usize = 64;

/// The longest block of bzip2: at level 9 bzip2 ends a block as soon as it has 899,981 bytes, and the last step adds at
/// most 5.
const MAX_LEN: usize = 899_985;

/// Shorter blocks go straight to the fallback sort.
const MIN_MAIN_SORT: usize = 10_000;

/// Origins already found, shared by all encoders of a pool.
///
/// No thread waits for an origin that another thread is computing: the lock is held for lookups only, and threads that
/// meet the same new block at the same time all sort it.
#[derive(Debug, Default)]
pub struct PeriodicOrigins {
    /// The most recently used one is last.
    known: Mutex<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    word: Box<[u8]>,
    times: usize,
    origin: u32,
}

impl PeriodicOrigins {
    /// The origin that bzip2 gives to the run-length-coded `block`. The block consists of at least two copies of a
    /// word, its first `period` bytes; `row` is the word's row among its own sorted rotations. A block too long for
    /// bzip2 gets some origin that decodes.
    pub fn origin(&self, block: &[u8], period: usize, row: u32) -> u32 {
        let times = block.len() / period;
        if block.len() > MAX_LEN {
            return row * times as u32;
        }
        let word = &block[..period];
        if let Some(origin) = self.recall(word, times) {
            return origin;
        }
        let main = if block.len() < MIN_MAIN_SORT { None } else { main_sort::origin(block, times) };
        let origin = main.unwrap_or_else(|| fallback_sort::origin(word, times));
        debug_assert_eq!(origin / times, row as usize, "a sort is wrong");
        self.remember(word, times, origin as u32);
        origin as u32
    }

    /// The origin of `word` x `times`, if it is known. Words are compared whole, not by hashes: a collision would make
    /// a wrong file.
    fn recall(&self, word: &[u8], times: usize) -> Option<u32> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|k| k.times == times && *k.word == *word)?;
        let found = known.remove(at);
        let origin = found.origin;
        known.push(found);
        Some(origin)
    }

    /// Adds an origin, and drops the least recently used ones.
    fn remember(&self, word: &[u8], times: usize, origin: u32) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|k| k.times != times || *k.word != *word);
        known.push(Known { word: word.into(), times, origin });
        let mut bytes: usize = known.iter().map(|k| k.word.len()).sum();
        while known.len() > 1 && (bytes > MAX_BYTES || known.len() > MAX_WORDS) {
            bytes -= known.remove(0).word.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::forward::ForwardBwt;
    use super::super::rotation;
    use super::*;
    use crate::codec::run_length::decode::Expander;
    use crate::codec::run_length::encode::encode;
    use hybz_testkit::shapes::{self, Rng, shape};
    use hybz_testkit::{program, reference, rounds};
    use std::sync::Arc;

    /// The lowest level at which this is one block: the sort does not depend on the level, but its memory does.
    fn level(block: &[u8]) -> u8 {
        (block.len() + 19).div_ceil(100_000).clamp(1, 9) as u8
    }

    /// The origin in the head of a stream: after "BZh9", 48 bits of magic, 32 of CRC and one for randomisation.
    fn origin_in(stream: &[u8]) -> u32 {
        let origin = u32::from_be_bytes([stream[14], stream[15], stream[16], stream[17]]);
        origin >> 7 & 0xff_ffff
    }

    /// The origin that the command `bzip2` writes, if it is installed.
    fn ask_command(block: &[u8]) -> Option<u32> {
        program::installed_for_part("bzip2").then(|| origin_in(&program::bzip2(level(block), &text_of(block))))
    }

    /// The text of a run-length-coded block.
    fn text_of(block: &[u8]) -> Vec<u8> {
        let mut text = vec![0; 52 * block.len()];
        let len = Expander::default().next(block, &mut text);
        text.truncate(len);
        text
    }

    /// The run-length-coded form of a text.
    fn coded(text: &[u8]) -> Vec<u8> {
        let mut coded = Vec::new();
        encode(text, &mut coded);
        coded
    }

    /// Compares the origin of word x times with bzip2's. Returns whether it comes from the main sort, or `None` for
    /// blocks that bzip2 cannot make or that are not periodic.
    fn check(word: &[u8], times: usize) -> Option<bool> {
        let block = word.repeat(times);
        let period = rotation::period(&block);
        let len = block.len();
        if period == len || len > MAX_LEN || coded(&text_of(&block)) != block {
            return None;
        }
        let (word, times) = (&block[..period], len / period);
        let made = ForwardBwt::new(Arc::default()).transform(&mut block.clone()).origin;
        let by_crate = origin_in(&reference::compress(level(&block), &text_of(&block)));
        let main = if len < MIN_MAIN_SORT || period == 1 { None } else { main_sort::origin(&block, times) };
        if made != by_crate {
            // The crate charges less than bzip2 for comparing equal rotations, and may finish instead of giving up.
            let what = format!("{:?} x {times}: {made}, {by_crate}", &word[..period.min(100)]);
            assert!(main.is_none() && made as usize == fallback_sort::origin(word, times), "{what}");
            assert!(ask_command(&block).is_none_or(|by_command| made == by_command), "{what}");
        }
        Some(main.is_some())
    }

    /// Words with few or many long repeats and runs, over few or many letters, more or less evenly distributed.
    fn word(rng: &mut Rng, len: usize) -> Vec<u8> {
        let copies = [0, 0, 2, 20, 100][rng.below(5)];
        let longest = [5, 40, 400][rng.below(3)];
        let letters = [1, 2, 3, 4, 8, 30, 256][rng.below(7)];
        let rare = [1, 10, 100, 0][rng.below(4)];
        let runs = [1, 1, 1, 1, 2, 6, 300][rng.below(7)];
        let mut text = Vec::new();
        while text.len() < len {
            if rng.below(1000) < copies && text.len() > longest {
                let from = rng.below(text.len() - longest);
                text.extend_from_within(from..from + 1 + rng.below(longest));
            } else {
                let letter = match rare {
                    0 => rng.next_u64().trailing_zeros() as usize + rng.below(letters.min(3)),
                    rare if rng.below(rare) == 0 => rng.below(letters),
                    _ => rng.below(letters.min(3)),
                };
                text.extend(std::iter::repeat_n(letter as u8, 1 + rng.below(runs)));
            }
        }
        let mut coded = coded(&text);
        coded.truncate(len);
        coded
    }

    /// Checks `rounds` words of all kinds, repeated to blocks of about `min` to `min + more` bytes. Returns how often
    /// the main sort finished.
    fn at_random(seed: u64, rounds: usize, min: usize, more: &[usize]) -> usize {
        let rng = &mut Rng(seed);
        let (mut checked, mut finished) = (0, 0);
        while checked < rounds {
            let more = more[rng.below(more.len())];
            let len = min + rng.below(more);
            let times = [2, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 40, 60, len / 50 + 1, len / 5][rng.below(16)];
            if let Some(by_main) = check(&word(rng, len.div_ceil(times.max(2))), times.max(2)) {
                checked += 1;
                finished += usize::from(by_main);
            }
        }
        println!("of {rounds} blocks of {min} bytes and more, the main sort finished {finished}");
        finished
    }

    #[test]
    fn fallback_from_the_beginning() {
        assert_eq!(at_random(31, rounds(500, 20_000), 4, &[20, 200, 2000, 9970]), 0);
    }

    #[test]
    fn main_or_fallback() {
        let finished = at_random(32, 500, 9_980, &[60, 20_000]);
        assert!((50..450).contains(&finished), "{finished} of 500");
        at_random(34, rounds(50, 20_000), 9_980, &[60, 20_000, 90_000]);
    }

    /// One letter, for which the main sort has nothing to compare; and lengths around the main sort's minimum.
    #[test]
    fn one_letter_and_the_threshold() {
        for len in [5, 15, 1275, 9_995, 10_000, 10_005, 100_980] {
            assert!(check(&[251; 5], len / 5).is_some());
        }
        for (len, word) in
            (9_998..10_003).flat_map(|len| ["ab", "ba", "abc", "abcab", "baaaa\0"].map(|word| (len, word)))
        {
            assert!(check(word.as_bytes(), len / word.len()).is_some());
        }
    }

    /// Full blocks of zeros, at each level, and of the kinds that take bzip2 longest.
    #[test]
    fn full_blocks() {
        let fibonacci = (shape("fibonacci").make)(317_811);
        let tokens = [&[7, 7, 7, 7, 251].repeat(89_997)[..], &[1]].concat();
        let turned = [&tokens[449_985..], &tokens[..449_985]].concat();
        let (two, nine) = (shapes::letters(449_990, 256), shapes::letters(90_000, 20));
        let longest: [(&[u8], _); 7] =
            [(b"ab", 449_990), (b"abcab", 179_996), (&two, 2), (&nine, 9), (&fibonacci, 2), (&tokens, 2), (&turned, 2)];
        let zeros = (1..=9).map(|level| (&[0, 0, 0, 0, 251][..], (level * 100_000 - 15) / 5));
        for (word, times) in zeros.chain(longest) {
            assert_eq!(check(word, times), Some(false), "{} x {times}", word.len());
        }
    }

    /// In doubled text the rare letters are completed first. Quadrants are then everywhere, so the main sort does not
    /// give up.
    #[test]
    fn doubled_text() {
        let words = coded(&shapes::words(450_000));
        let (mut finished, mut rng) = (0, Rng(33));
        for _ in 0..30 {
            let len = 5_000 + rng.below(15_000);
            finished += usize::from(check(&words[..len], 2).unwrap_or_default());
        }
        assert!(finished > 20, "{finished}");
        assert!(check(&words[..449_900], 2).is_some());
        // One rare letter, with increasing frequency.
        let word = [&shapes::letters(300, 20)[..], &[1]].concat();
        assert!((34..110).all(|times| check(&word, times).is_some()));
    }

    /// Letters that begin more than 65,534 rotations, which share quadrants.
    #[test]
    fn quadrants_that_rotations_share() {
        let rng = &mut Rng(35);
        let mut finished = 0;
        for times in [2, 3, 4, 5, 7, 8, 9] {
            // One half, a quarter, an eighth ... of two letters each: the running order begins with those that occur
            // once.
            let letter = |rng: &mut Rng| (rng.next_u64().trailing_zeros() * 2) as u8 + rng.below(2) as u8;
            let text: Vec<u8> = (0..450_000 / times).map(|_| letter(rng)).collect();
            let mut word = coded(&text);
            // A run at the end must not continue in the next copy.
            word.truncate(450_000 / times - 1);
            word.push(99);
            finished += usize::from(check(&word, times).expect("bzip2 makes such a block"));
        }
        assert!(finished > 2, "{finished}");
    }

    /// Full blocks of real files, several times over.
    #[test]
    fn real_files() {
        let files = shapes::real_files(2 << 20);
        if files.is_empty() {
            return hybz_testkit::skip::skip(hybz_testkit::skip::Need::Shared, "there is no ../shared/data");
        }
        for (_, text) in files {
            for times in [3, 20] {
                check(&coded(&text)[1000..1000 + 899_900 / times], times);
            }
        }
    }

    /// A budget overdrawn by 1 of 1,347,588. The origin is that of the `bzip2` 1.0.8 command; the crate's is 35,750.
    #[test]
    fn just_too_much() {
        let rng = &mut Rng(2277);
        let (times, letters) = (2 + rng.below(12), 1 + rng.below(8));
        let letter = |_| rng.next_u64().trailing_zeros() as u8 + rng.below(letters) as u8;
        let word = coded(&(0..20_000).map(letter).collect::<Vec<u8>>());
        let mut block = word[..13_612].repeat(times);
        assert_eq!(ForwardBwt::new(Arc::default()).transform(&mut block).origin, 35_751);
        assert!(ask_command(&block).is_none_or(|by_command| by_command == 35_751));
    }

    #[test]
    fn asked_by_many_at_once() {
        let origins = PeriodicOrigins::default();
        let answers: Vec<u32> = std::thread::scope(|scope| {
            let ask = |times| origins.origin(&b"abcab".repeat(times), 5, 1);
            let threads: Vec<_> = (0..8).map(|i| scope.spawn(move || ask(1000 + i % 2))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(answers.iter().step_by(2).all(|answer| *answer == answers[0]));
        assert!(answers.iter().skip(1).step_by(2).all(|answer| *answer == answers[1]));
        assert_eq!(origins.known.lock().unwrap().len(), 2);
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_latest() {
        let origins = PeriodicOrigins::default();
        for times in 2..200 {
            origins.remember(b"ab", times, 0);
        }
        assert_eq!(origins.known.lock().unwrap().len(), MAX_WORDS);
        origins.remember(b"ab", 150, 7);
        for word in 0..20 {
            origins.remember(&vec![word; MAX_BYTES / 4], 2, 0);
            assert_eq!(origins.recall(b"ab", 150), Some(7), "asked for again and again, it stays");
        }
        assert!(origins.known.lock().unwrap().iter().map(|k| k.word.len()).sum::<usize>() <= MAX_BYTES);
        assert_eq!(origins.recall(b"ab", 151), None);
    }

    /// Blocks that are longer than any of bzip2's, or that are not the run-length coding of any text, get some origin
    /// that decodes.
    #[test]
    fn what_bzip2_could_not_have_made() {
        let origins = PeriodicOrigins::default();
        assert_eq!(origins.origin(&b"ab".repeat(450_001), 2, 0), 0);
        assert_eq!(origins.origin(&b"ba".repeat(450_001), 2, 1), 450_001);
        assert!(origins.origin(&[0; 1000], 1, 0) < 1000);
        assert!(origins.origin(b"aaaa\xffaaaa\xff", 5, 0) / 2 == 0);
    }
}
