//! bzip2's main sort: bucket sort on two bytes, quicksort and Shell's insertion sort inside the buckets.
//!
//! Source: J. Seward, "On the performance of BWT sorting algorithms" (DCC 2000), which improves the sort in Burrows
//! and Wheeler's report (SRC 124, 1994); the constants are those of bzip2 1.0.8. Only periodic blocks are sorted this
//! way (`periodic` says why), so every comparison and every move that decides between equal rotations is the same as
//! bzip2's.
//!
//! - **Buckets.** Rotations are distributed by their first two bytes into 65,536 small buckets; the 256 small buckets
//!   with the same first byte form a big bucket. Big buckets are completed in the *running order*: smallest first.
//! - **Small buckets** are sorted by a multikey quicksort that compares one byte at a time. Ranges that are small
//!   or deep are finished by Shell's insertion sort, which compares whole rotations.
//! - **Copies.** As soon as the other small buckets of a big bucket `x` are sorted, every small bucket `?x` is filled
//!   without comparing: its rotations are in the order of the rotations that begin one byte later. Small buckets whose
//!   second byte has been completed are therefore never sorted, nor is `xx`.
//! - **Quadrants.** Each rotation of a completed big bucket gets its rank there, cut to 16 bits. Later comparisons look
//!   at quadrants as well as bytes, so that long repeats are told apart early.
//! - **Budget.** The first twelve bytes of a comparison are free; after these, every eight bytes that do not decide
//!   cost one unit. When more than 9 units per byte of the block are spent (work factor 30), the main sort gives up,
//!   and the fallback sort starts from scratch.
//!
//! The text and the quadrants continue past the end of the block by a few entries, so that a comparison has to wrap
//! around only once every eight bytes. The comparisons use eight bytes and eight quadrants at a time; bzip2 takes them
//! one by one. Memory: 7 bytes per byte of the block.

use super::partition::partition;
use std::cmp::Ordering;
use std::ops::Range;

/// The number of bytes that all rotations of a small bucket have in common.
const BUCKET_DEPTH: usize = 2;

/// Beyond this depth quicksort leaves a range to the insertion sort.
const MAX_DEPTH: usize = 14;

/// Ranges of at most this many rotations go to the insertion sort too.
const SMALL: usize = 20;

/// The number of bytes that a comparison looks at first, without quadrants and free of charge.
const FREE: usize = 12;

/// The number of bytes that cost one unit of the budget.
const STEP: usize = 8;

/// Units that may be spent for each byte of the block: work factor 30.
const BUDGET: usize = 9;

/// How far past the end of the block a comparison reads before it wraps around.
const OVERSHOOT: usize = MAX_DEPTH + 1 + FREE + STEP;

/// Quadrants are at most this.
const MAX_QUADRANT: usize = 65_534;

/// The gaps of Shell's sort, after Knuth.
const GAPS: [usize; 13] = [797_161, 265_720, 88_573, 29_524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1];

/// The row in which the main sort leaves the block itself, or `None` if it gives up.
///
/// `block` [10,000..=899,985] consists of `times` [2..] copies of a word that is not itself a repetition.
pub fn origin(block: &[u8], times: usize) -> Option<usize> {
    // The first small bucket that is sorted contains every rotation `times` times. Without any quadrants, sorting
    // these copies takes at least `times - 1` comparisons of the whole length. A block of one letter has no such
    // bucket.
    let is_one_letter = times == block.len();
    if !is_one_letter && (times - 1) * undecided_cost(block.len()) > BUDGET * block.len() {
        return None;
    }
    let mut sort = MainSort::new(block);
    sort.sort();
    if sort.gives_up() { None } else { sort.rows.iter().position(|&start| start == 0) }
}

/// The cost of comparing two equal rotations of a block of `len` bytes.
fn undecided_cost(len: usize) -> usize {
    len / STEP + 2
}

/// The state of the sort.
#[derive(Debug)]
struct MainSort {
    /// The block, followed by its beginning, up to `OVERSHOOT` bytes.
    text: Vec<u8>,
    /// For each rotation of a completed big bucket its rank there, cut to 16 bits; 0 for others. It continues past the
    /// end as the text does.
    quadrants: Vec<u16>,
    /// The starts of the rotations, which are being sorted.
    rows: Vec<u32>,
    /// The first row of each small bucket, and the number of rows.
    first_rows: Vec<u32>,
    /// Units of the budget spent so far.
    spent: usize,
}

impl MainSort {
    /// Distributes the rotations into small buckets.
    fn new(block: &[u8]) -> Self {
        let len = block.len();
        let text = [block, &block[..OVERSHOOT]].concat();
        let pair = |start: usize| usize::from(text[start]) << 8 | usize::from(text[start + 1]);
        let mut first_rows = vec![0; (1 << 16) + 1];
        for start in 0..len {
            first_rows[pair(start) + 1] += 1;
        }
        for bucket in 0..1 << 16 {
            first_rows[bucket + 1] += first_rows[bucket];
        }
        let mut next_rows = first_rows.clone();
        let mut rows = vec![0; len];
        for start in 0..len {
            let next = &mut next_rows[pair(start)];
            rows[*next as usize] = start as u32;
            *next += 1;
        }
        MainSort { text, quadrants: vec![0; len + OVERSHOOT], rows, first_rows, spent: 0 }
    }

    fn gives_up(&self) -> bool {
        self.spent > BUDGET * self.rows.len()
    }

    /// The rows of the small bucket of these two bytes.
    fn small_bucket(&self, first: u8, second: u8) -> Range<usize> {
        let pair = usize::from(first) << 8 | usize::from(second);
        self.first_rows[pair] as usize..self.first_rows[pair + 1] as usize
    }

    fn big_bucket(&self, first: u8) -> Range<usize> {
        self.small_bucket(first, 0).start..self.small_bucket(first, 255).end
    }

    /// Sorts all rotations, or at least until the budget is spent.
    fn sort(&mut self) {
        let sizes = std::array::from_fn(|letter| self.big_bucket(letter as u8).len());
        let mut completed = [false; 256];
        for letter in running_order(&sizes) {
            for second in (0..=255).filter(|&second| second != letter && !completed[usize::from(second)]) {
                self.quicksort(self.small_bucket(letter, second));
                if self.gives_up() {
                    return;
                }
            }
            self.copy(letter, &completed);
            completed[usize::from(letter)] = true;
            self.set_quadrants(letter);
        }
    }

    /// Sorts a small bucket.
    fn quicksort(&mut self, bucket: Range<usize>) {
        let mut ranges = vec![(bucket, BUCKET_DEPTH)];
        while let Some((range, depth)) = ranges.pop() {
            if range.len() <= SMALL || depth > MAX_DEPTH {
                self.insertion_sort(range, depth);
                if self.gives_up() {
                    return;
                }
                continue;
            }
            let text = &self.text;
            let byte = |start: u32| text[start as usize + depth];
            let rows = &mut self.rows[range.clone()];
            let mut three = [0, (rows.len() - 1) / 2, rows.len() - 1].map(|at| byte(rows[at]));
            three.sort_unstable();
            match partition(rows, |start| byte(start).cmp(&three[1])) {
                None => ranges.push((range, depth + 1)),
                Some((less, greater)) => {
                    let equal = range.start + less..range.end - greater;
                    ranges.push((range.start..equal.start, depth));
                    ranges.push((equal.end..range.end, depth));
                    ranges.push((equal, depth + 1));
                }
            }
        }
    }

    /// Sorts a range in which all rotations agree on `depth` bytes.
    fn insertion_sort(&mut self, range: Range<usize>, depth: usize) {
        for &gap in GAPS.iter().skip_while(|&&gap| gap >= range.len()) {
            for row in range.start + gap..range.end {
                let start = self.rows[row];
                let mut at = row;
                while at >= range.start + gap && self.is_greater(self.rows[at - gap], start, depth) {
                    self.rows[at] = self.rows[at - gap];
                    at -= gap;
                }
                self.rows[at] = start;
                if self.gives_up() {
                    return;
                }
            }
        }
    }

    /// Whether the rotation that begins at `a` is greater than the one at `b`, which has the same first `depth` bytes.
    /// Charges the budget.
    fn is_greater(&mut self, a: u32, b: u32, depth: usize) -> bool {
        let (len, text, quadrants) = (self.rows.len(), &self.text, &self.quadrants);
        let (mut a, mut b) = (a as usize + depth, b as usize + depth);
        // Quadrants are loaded before they are needed, so that their cache misses overlap with the text's: this saves 5
        // % of the whole process on doubled prose.
        std::hint::black_box((quadrants[a + FREE], quadrants[b + FREE]));
        let order = text[a..a + FREE].cmp(&text[b..b + FREE]);
        if order != Ordering::Equal {
            return order == Ordering::Greater;
        }
        (a, b) = (a + FREE, b + FREE);
        for _ in 0..undecided_cost(len) {
            // Slices, not arrays: an array would be a copy, whose loads wait for its own stores.
            let (bytes_a, bytes_b) = (&text[a..a + STEP], &text[b..b + STEP]);
            let (quadrants_a, quadrants_b) = (&quadrants[a..a + STEP], &quadrants[b..b + STEP]);
            if bytes_a != bytes_b || quadrants_a != quadrants_b {
                return bytes_a.iter().zip(quadrants_a).gt(bytes_b.iter().zip(quadrants_b));
            }
            self.spent += 1;
            let wrapped = |at: usize| if at < len { at } else { at - len };
            (a, b) = (wrapped(a + STEP), wrapped(b + STEP));
        }
        false
    }

    /// Fills the small buckets whose second letter is this one, unless their big bucket is completed: from both ends,
    /// because the small bucket that has the letter twice is the source of some of its own rotations.
    fn copy(&mut self, letter: u8, completed: &[bool; 256]) {
        let len = self.rows.len() as u32;
        let previous = |start: u32| if start == 0 { len - 1 } else { start - 1 };
        let big_bucket = self.big_bucket(letter);
        let mut unfilled: [Range<usize>; 256] = std::array::from_fn(|first| self.small_bucket(first as u8, letter));
        let mut row = big_bucket.start;
        while row < unfilled[usize::from(letter)].start {
            let start = previous(self.rows[row]);
            let first = usize::from(self.text[start as usize]);
            if !completed[first] {
                self.rows[unfilled[first].start] = start;
                unfilled[first].start += 1;
            }
            row += 1;
        }
        let mut row = big_bucket.end;
        while row > unfilled[usize::from(letter)].end {
            row -= 1;
            let start = previous(self.rows[row]);
            let first = usize::from(self.text[start as usize]);
            if !completed[first] {
                unfilled[first].end -= 1;
                self.rows[unfilled[first].end] = start;
            }
        }
    }

    /// Gives the rotations of a completed big bucket their quadrants.
    fn set_quadrants(&mut self, letter: u8) {
        let (len, big_bucket) = (self.rows.len(), self.big_bucket(letter));
        let mut shift = 0;
        while big_bucket.len() >> shift > MAX_QUADRANT {
            shift += 1;
        }
        for (rank, &start) in self.rows[big_bucket].iter().enumerate() {
            let (start, quadrant) = (start as usize, (rank >> shift) as u16);
            self.quadrants[start] = quadrant;
            if start < OVERSHOOT {
                self.quadrants[len + start] = quadrant;
            }
        }
    }
}

/// The letters by the sizes of their big buckets, smallest first. The moves of Shell's sort decide the order of
/// letters with equal sizes.
fn running_order(sizes: &[usize; 256]) -> [u8; 256] {
    let mut order: [u8; 256] = std::array::from_fn(|letter| letter as u8);
    let size = |letter: u8| sizes[usize::from(letter)];
    for gap in [121, 40, 13, 4, 1] {
        for from in gap..order.len() {
            let letter = order[from];
            let mut at = from;
            while at >= gap && size(order[at - gap]) > size(letter) {
                order[at] = order[at - gap];
                at -= gap;
            }
            order[at] = letter;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_a_word() {
        let mut sort = MainSort::new(&b"abracadabra".repeat(20_000));
        assert_eq!((sort.small_bucket(b'a', b'a'), sort.small_bucket(b'a', b'b')), (0..20_000, 20_000..60_000));
        assert_eq!(
            (sort.small_bucket(b'r', b'a'), sort.small_bucket(b'z', b'z')),
            (180_000..220_000, 220_000..220_000)
        );
        let sizes = std::array::from_fn(|letter| sort.big_bucket(letter as u8).len());
        assert_eq!(running_order(&sizes)[251..], *b"cdrba");
        // `a` begins 100,000 rotations, so two share a quadrant; `b` 40,000.
        sort.set_quadrants(b'a');
        sort.set_quadrants(b'b');
        assert_eq!(sort.quadrants.iter().max(), Some(&49_999));
        assert_eq!(sort.quadrants[sort.rows[139_999] as usize], 39_999);
    }
}
