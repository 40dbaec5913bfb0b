//! What bzip2's quick sort makes of a periodic block: that it gives up, or the row of the block itself.
//!
//! The quick sort takes the first letters in the order of how often they occur. For each it sorts the buckets of rotations
//! that begin with this letter and then another, unless that other one had its turn: then, and where both letters are the
//! same, the bucket is filled in the order in which the rotations one byte further on stand. A bucket is sorted by a
//! quicksort on single bytes, and its small or deep ranges by insertion (Shell's), which compares whole rotations.
//! Rotations whose letter had its turn have a rank by then (bzip2's quadrants), and from the 13th byte on ranks are
//! compared as well as bytes. Each eight bytes compared that way cost one unit of a budget of 9 n, and when that is
//! spent, bzip2 gives up and has the steady sort (`steady`) start from scratch.
//!
//! Here the same is done on what is known, the sorted rotations of the word:
//!
//! - An entry is a row and which copy of the word it begins in. Bytes need not be looked at one by one: a byte at some depth
//!   splits a range of rows at two borders (`ranges`). What a comparison of rotations would answer is the order of their
//!   rows, and what it would cost is known from where the next ranked letter is (`charge`).
//! - The copies of one rotation differ in nothing but the ranks of what follows, so the first ranked letter decides, by the
//!   order of the copies that begin there (`copies`). Letters in more than 65,534 rows share ranks: then perhaps a later one.
//! - Whether the budget suffices is a sum, so it matters neither in which order ranges are taken nor what happens in those
//!   where no comparison costs anything. Most are of that kind, as soon as some letters are ranked: quicksort is followed
//!   only to those in which one may cost something, and to those that decide between copies elsewhere, when they do.
//!
//! So what is spent is known to the unit (tested against `plain`), and usually for a small part of the work. To bound it
//! instead was no way: real files spend anything from a tenth of the budget to all of it.
//!
//! Memory for a full block, while it lasts: 16 bytes for each of the word's and at most 5 for each of the block's. Measured:
//! see `periodic`.

mod charge;
mod copies;
mod least;
mod marks;
#[cfg(test)]
pub mod plain;
mod ranges;

use super::word::SortedWord;
use marks::Marks;

/// Where quicksort begins in a bucket: rotations have two letters in common.
const BUCKET_DEPTH: usize = 2;

/// Beyond this depth quicksort leaves a range to insertion.
const DEEPEST: usize = 14;

/// Ranges of no more entries than that it leaves as well.
const SMALL: usize = 20;

/// Bytes that a comparison looks at without ranks, and for nothing.
const FREE: usize = 12;

/// Bytes that cost one unit of the budget.
const STEP: usize = 8;

/// What can be spent for each byte of the block, with bzip2's usual work factor.
const BUDGET: usize = 9;

/// A big bucket has ranks up to this, each perhaps for several rows.
const RANKS: usize = 65_534;

/// The row that the quick sort gives to the block `word` x `times`, or `None` if it gives up.
///
/// The word has at least two different letters, the block at least 10,000 bytes.
pub fn origin(sorted: &SortedWord<'_>, times: usize) -> Option<usize> {
    let mut quick = finished(sorted, times)?;
    let order = quick.order(0);
    Some(sorted.rows[0] as usize * times + quick.place(order, 0))
}

/// The sort when all letters had their turn, or `None` if it gives up.
fn finished<'a>(sorted: &'a SortedWord<'_>, times: usize) -> Option<Quick<'a>> {
    let len = sorted.word.len();
    let budget = BUDGET * len * times;
    // The first bucket that is sorted has each of its rotations in all copies, and no ranks to tell them apart. So from now
    // on there are few copies, and the word is long.
    if (times - 1) * unequalled(len * times) > budget {
        return None;
    }
    let mut quick = Quick::new(sorted, times);
    for letter in quick.letters.order {
        quick.take_turn(letter);
        if quick.spent > budget {
            return None;
        }
    }
    Some(quick)
}

/// What it costs to compare two rotations of a block of `n` bytes that nothing tells apart.
fn unequalled(n: usize) -> usize {
    n / STEP + 2
}

/// The quick sort at some point of its work.
#[derive(Debug)]
struct Quick<'a> {
    sorted: &'a SortedWord<'a>,
    times: usize,
    /// The word twice, and what loads touch behind it.
    text: Vec<u8>,
    letters: Letters,
    /// Where letters are that had their turn.
    ranked: Marks,
    /// The same for those whose ranks may differ between copies.
    telling: Marks,
    /// The same for those whose ranks always do.
    telling_all: Marks,
    /// For each place of the sorted block, if its range has been filled: `times` x row + copy of the word.
    entries: Vec<u32>,
    /// The first rows of ranges.
    borders: Marks,
    /// For the first row of a range: at which depth all in it are the same, or `UNTOUCHED`.
    depths: Vec<u8>,
    /// For each row, if known, a `Likeness`.
    likenesses: Vec<u32>,
    /// The orders that are kept, one after another: for each copy, which among its equals it is.
    places: Vec<u8>,
    scratch: charge::Scratch,
    way: Vec<(usize, usize)>,
    spent: usize,
    budget: usize,
}

/// What is known of the letters before sorting.
#[derive(Debug)]
struct Letters {
    order: [u8; 256],
    /// The inverse of that.
    turns: [u8; 256],
    /// The first row of each two letters, and the number of rows.
    first_rows: Vec<u32>,
    /// By how many bits the ranks of a letter are cut.
    shifts: [u32; 256],
}

impl Letters {
    fn new(word: &[u8], times: usize) -> Self {
        let mut first_rows = vec![0; (1 << 16) + 1];
        let mut pair = usize::from(word[word.len() - 1]);
        for &byte in word {
            pair = pair << 8 & 0xff00 | usize::from(byte);
            first_rows[pair + 1] += 1;
        }
        let mut rows = 0;
        for first in &mut first_rows {
            rows += *first;
            *first = rows;
        }
        let counts: [usize; 256] =
            std::array::from_fn(|letter| (first_rows[(letter + 1) << 8] - first_rows[letter << 8]) as usize);
        let order = turns(&counts);
        let mut turns = [0; 256];
        for (turn, &letter) in order.iter().enumerate() {
            turns[usize::from(letter)] = turn as u8;
        }
        let shift = |count: usize| (0..).find(|shift| (count * times) >> shift <= RANKS).unwrap_or(0);
        Letters { order, turns, first_rows, shifts: counts.map(shift) }
    }

    /// The rows that begin with these two letters.
    fn bucket(&self, first: u8, second: u8) -> std::ops::Range<usize> {
        let pair = usize::from(first) << 8 | usize::from(second);
        self.first_rows[pair] as usize..self.first_rows[pair + 1] as usize
    }

    fn turn(&self, letter: u8) -> u8 {
        self.turns[usize::from(letter)]
    }

    /// Whether the bucket of these letters gets its order from the rotations one byte further on.
    fn is_copied(&self, first: u8, second: u8) -> bool {
        self.turn(second) <= self.turn(first)
    }
}

/// The letters in the order of their turns: by how often they occur, sorted by Shell's method with bzip2's steps, which decides
/// between letters that occur equally often.
fn turns(counts: &[usize; 256]) -> [u8; 256] {
    let mut order: [u8; 256] = std::array::from_fn(|letter| letter as u8);
    let count = |letter: u8| counts[usize::from(letter)];
    for step in [121, 40, 13, 4, 1] {
        for from in step..order.len() {
            let letter = order[from];
            let mut at = from;
            while at >= step && count(order[at - step]) > count(letter) {
                order[at] = order[at - step];
                at -= step;
            }
            order[at] = letter;
        }
    }
    order
}

impl<'a> Quick<'a> {
    fn new(sorted: &'a SortedWord<'a>, times: usize) -> Self {
        let len = sorted.word.len();
        let letters = Letters::new(sorted.word, times);
        let mut borders = Marks::new(len + 1);
        letters.first_rows.iter().for_each(|&row| borders.set(row as usize));
        let mut text = sorted.word.repeat(2);
        text.extend_from_within(..64);
        Quick {
            sorted,
            times,
            text,
            letters,
            ranked: Marks::ring(len),
            telling: Marks::ring(len),
            telling_all: Marks::ring(len),
            entries: vec![0; len * times],
            borders,
            depths: vec![ranges::UNTOUCHED as u8; len],
            likenesses: vec![0; len],
            places: Vec::new(),
            scratch: charge::Scratch::default(),
            way: Vec::new(),
            spent: 0,
            budget: BUDGET * len * times,
        }
    }

    fn len(&self) -> usize {
        self.sorted.word.len()
    }

    /// Sorts what begins with this letter, as far as it matters, and ranks it. Ends early when the budget is spent.
    fn take_turn(&mut self, letter: u8) {
        for second in 0..=255 {
            if self.letters.is_copied(letter, second) {
                continue;
            }
            let bucket = self.letters.bucket(letter, second);
            let mut row = bucket.start;
            while row < bucket.end {
                row = self.pay_for(row);
                if self.spent > self.budget {
                    return;
                }
            }
        }
        let rows = self.letters.bucket(letter, 0).start..self.letters.bucket(letter, 255).end;
        let sharing = 1_usize << self.letters.shifts[usize::from(letter)];
        self.ranked.set_all(&self.sorted.starts[rows.clone()], self.len());
        if !sharing.is_multiple_of(self.times) {
            self.telling.set_all(&self.sorted.starts[rows.clone()], self.len());
        }
        if sharing == 1 {
            self.telling_all.set_all(&self.sorted.starts[rows], self.len());
        }
    }

    /// This place in the word, if it is behind the end as well.
    fn wrapped(&self, at: usize) -> usize {
        let len = self.len();
        match at {
            _ if at < len => at,
            _ if at < 2 * len => at - len,
            _ => at % len,
        }
    }

    /// Pays for the range with this row, if this one can cost something, and says from which row on it is to be looked further.
    fn pay_for(&mut self, row: usize) -> usize {
        let start = self.sorted.starts[row] as usize;
        if !self.may_cost(start, BUCKET_DEPTH) {
            return row + 1;
        }
        while self.split(row) {
            if !self.may_cost(start, self.range(row).1) {
                return row + 1;
            }
        }
        let (range, depth) = self.range(row);
        self.charge(range.clone(), depth);
        range.end
    }

    /// Whether comparing a rotation that begins here with an equal one can cost something: if quicksort leaves it at this depth
    /// or below such that in the eight bytes after the free ones nothing tells the copies apart. If not, then comparing it
    /// with another one costs nothing either.
    fn may_cost(&self, start: usize, depth: usize) -> bool {
        let window = self.telling_all.window(self.wrapped(start + depth + FREE));
        let depths = DEEPEST + 2 - depth;
        let mut gaps = !window & ((1 << (depths + STEP - 1)) - 1);
        for step in [1, 2, 4] {
            gaps &= gaps >> step;
        }
        gaps & ((1 << depths) - 1) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::rotation;
    use super::plain::Plain;
    use super::*;
    use crate::shapes::Rng;

    /// Words on which few or many rotations agree for long, of many letters or few, more or less alike.
    fn word(rng: &mut Rng, len: usize) -> Vec<u8> {
        let copies = [0, 0, 2, 20, 100][rng.below(5)];
        let longest = [5, 40, 400][rng.below(3)];
        let letters = [2, 3, 4, 8, 30, 256][rng.below(6)];
        let rare = [1, 10, 100, 0][rng.below(4)];
        let mut word = Vec::new();
        while word.len() < len {
            if rng.below(1000) < copies && word.len() > longest {
                let from = rng.below(word.len() - longest);
                word.extend_from_within(from..from + 1 + rng.below(longest));
            } else {
                let letter = match rare {
                    0 => rng.next_u64().trailing_zeros() as usize + rng.below(letters.min(3)),
                    rare if rng.below(rare) == 0 => rng.below(letters),
                    _ => rng.below(letters.min(3)),
                };
                word.push(letter as u8);
            }
        }
        word.truncate(len);
        word
    }

    /// The same budget is spent to the unit, and the same row comes out, or both give up.
    fn check(word: &[u8], times: usize, finished_ones: &mut usize) {
        if rotation::period(word) < word.len() {
            return;
        }
        let block = word.repeat(times);
        let plain = Plain::sort(&block);
        let sorted = SortedWord::sort(word);
        let quick = finished(&sorted, times);
        assert_eq!(quick.is_none(), plain.gives_up(), "{word:?} x {times}");
        if let Some(quick) = quick {
            assert_eq!(quick.spent, plain.spent, "{word:?} x {times}");
            assert_eq!(origin(&sorted, times), Some(plain.origin()), "{word:?} x {times}");
            *finished_ones += 1;
        }
    }

    fn at_random(seed: u64, rounds: usize) {
        let rng = &mut Rng(seed);
        let mut finished_ones = 0;
        for _ in 0..rounds {
            let times = [2, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 40, 60][rng.below(14)];
            let len = (10_000 + rng.below(10_000)).div_ceil(times);
            check(&word(rng, len), times, &mut finished_ones);
        }
        println!("{finished_ones} of {rounds} finished");
        assert!(finished_ones > rounds / 10 && finished_ones < rounds * 9 / 10);
    }

    #[test]
    fn as_the_plain_one() {
        at_random(34, 300);
    }

    /// Some thousands of cases: `cargo test --release -- --ignored very_many`.
    #[test]
    #[ignore = "takes minutes"]
    fn very_many() {
        let seed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
        println!("seed {seed}");
        at_random(seed, 10_000);
    }

    /// Letters in more than 65,534 rows.
    #[test]
    fn ranks_that_rows_share() {
        let rng = &mut Rng(35);
        let mut finished_ones = 0;
        for times in [2, 3, 4, 5, 7, 8, 9] {
            // One half, a quarter, an eighth ... of two letters each: the first turns are of single ones.
            let letter = |rng: &mut Rng| (rng.next_u64().trailing_zeros() * 2) as u8 + rng.below(2) as u8;
            let word: Vec<u8> = (0..450_000 / times).map(|_| letter(rng)).collect();
            check(&word, times, &mut finished_ones);
        }
        assert!(finished_ones > 2, "{finished_ones}");
    }

    #[test]
    fn letters_of_a_word() {
        let letters = Letters::new(b"abracadabra", 20_000);
        assert_eq!(letters.order[251..], *b"cdrba");
        assert_eq!((letters.bucket(b'a', b'a'), letters.bucket(b'a', b'b')), (0..1, 1..3));
        assert_eq!((letters.bucket(b'r', b'a'), letters.bucket(b'z', b'z')), (9..11, 11..11));
        assert_eq!((letters.shifts[usize::from(b'a')], letters.shifts[usize::from(b'b')]), (1, 0));
        assert!(letters.is_copied(b'a', b'a') && letters.is_copied(b'b', b'r') && !letters.is_copied(b'r', b'b'));
    }
}
