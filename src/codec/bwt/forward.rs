//! The forward transform: from a block to its last column and origin.
//!
//! bzip2 sorts rotations. Suffix sorters are faster, and never slow, but sort suffixes. For the block's least rotation
//! L the two orders are the same if the block is primitive (not a repetition of a shorter word): L is then a Lyndon
//! word, so it has no border and is smaller than each of its suffixes. Suppose that suffix j of L is a proper prefix
//! of suffix i, so that suffix i is suffix j followed by some u. Rotation i continues with u and rotation j with the
//! beginning of L, and L < u with a difference inside u (otherwise u would be a border). So rotation j comes first, as
//! does the shorter suffix. If neither suffix is a prefix of the other, the first difference decides both orders.
//!
//! The suffix sorter is libsais (I. Grebnov; induced sorting after Nong, Zhang and Chan, DCC 2009), linear for any
//! block. Words of 300 kB to 1 MB are sorted by their LMS positions (`lms`), which is faster. (A build without libsais
//! has `sais` in its place: see `suffixes`.)
//! Measured on full blocks of the Linux source (Zen 5): suffix array 75 MB/s; with the last column gathered from it and
//! the origin looked up, 73. libsais can produce the last column itself (74), but then the origin has to come from its
//! samples: 70 with every 16th row sampled, 62 with every second. Nothing was gained by compiling libsais with -O3 or
//! for this very CPU, by huge pages for the suffix array, or by more memory than libsais asks for. Sorting by keys of
//! eight bytes is no alternative: 80 % of the suffixes of source code are still tied after eight bytes, 19 % after 64.
//!
//! A periodic block (a word w, m times) has m equal rows for each rotation of w. Its last column is the last column of
//! w with each byte repeated m times; its origin comes from `periodic`.

use super::lms::{self, LmsSort};
use super::periodic::PeriodicOrigins;
use super::rotation;
use super::suffixes::{self, ROWS, find};
use crate::codec::try_resize;
use std::collections::TryReserveError;
use std::sync::Arc;

/// Computes last columns in its own memory, which it reuses for each block: 5 bytes per byte of the longest block, and
/// another 3 to 5 for blocks that `lms` sorts.
#[derive(Debug)]
pub struct ForwardBwt {
    lms: Option<LmsSort>,
    suffixes: Vec<i32>,
    last: Vec<u8>,
    candidates: Vec<u32>,
    origins: Arc<PeriodicOrigins>,
}

/// A transformed block.
#[derive(Clone, Copy, Debug)]
pub struct LastColumn<'a> {
    /// The last byte of each rotation, in the order of the rotations.
    pub bytes: &'a [u8],
    /// The row of the block itself.
    pub origin: u32,
}

impl ForwardBwt {
    /// A transform that looks up the origins of periodic blocks in `origins`, and adds new ones.
    pub fn new(origins: Arc<PeriodicOrigins>) -> Self {
        ForwardBwt {
            lms: Some(LmsSort::new()),
            suffixes: Vec::new(),
            last: Vec::new(),
            candidates: Vec::new(),
            origins,
        }
    }

    /// Sorts all blocks with libsais, which needs no more memory than [`try_reserve`](Self::try_reserve) reserves.
    pub fn by_libsais(self) -> Self {
        ForwardBwt { lms: None, ..self }
    }

    /// Reserves the memory for a block of `len` bytes that is not periodic.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn try_reserve(&mut self, len: usize) -> Result<(), TryReserveError> {
        try_resize(&mut self.suffixes, len)?;
        self.last.clear();
        self.last.try_reserve_exact(len)?;
        self.candidates.clear();
        self.candidates.try_reserve_exact(rotation::max_candidates(len))
    }

    /// Transforms a block of at least one byte and at most 2^31 - 4096.
    ///
    /// The block is borrowed mutably because it is rotated in place; afterwards it is as it was.
    pub fn transform(&mut self, block: &mut Vec<u8>) -> LastColumn<'_> {
        let len = block.len();
        let period = rotation::period(block);
        let times = len / period;
        let least = rotation::least(&block[..period], &mut self.candidates);
        let row = match self.sort_by_lms(block, least, times) {
            Some(row) => row,
            None => {
                // From 1 to `period`, so that there is always a byte before it.
                let start = if least == 0 { period } else { least };
                if times == 1 {
                    block.extend_from_within(..start);
                }
                self.sort(&block[start - 1..start + period], (period - start) as i32, times)
            }
        };
        block.truncate(len);

        let origin = if times == 1 { row } else { self.origins.origin(block, period, row) };
        LastColumn { bytes: &self.last, origin }
    }

    /// The same as [`ForwardBwt::sort`], for words that [`LmsSort`] takes. The block is the word; bytes are appended
    /// to it and removed again.
    fn sort_by_lms(&mut self, block: &mut Vec<u8>, least: usize, times: usize) -> Option<u32> {
        let len = block.len();
        let lms = self.lms.as_mut().filter(|lms| times == 1 && lms.takes(len))?;
        let start = if least < lms::BEFORE { least + len } else { least };
        let end = start + len + lms::AFTER;
        block.reserve_exact(end - len);
        block.extend_from_within(..(end - len).min(len));
        block.extend_from_within(..end - block.len());
        make_room(&mut self.suffixes, lms::room(len));
        let ring = &block[start - lms::BEFORE..end];
        let row = lms.last_column(ring, (len - least) as i32 % len as i32, &mut self.suffixes, &mut self.last);
        block.truncate(len);
        row
    }

    /// Fills the last column of a Lyndon word, each byte `times` times. `ring` is the word, preceded by its last byte.
    /// Returns the row of the rotation that begins at byte `turn` of the word.
    fn sort(&mut self, ring: &[u8], turn: i32, times: usize) -> u32 {
        let word = &ring[1..];
        make_room(&mut self.suffixes, word.len());
        suffixes::sort(word, &mut self.suffixes);

        let mut row = None;
        self.last.clear();
        self.last.reserve(word.len() * times);
        for (number, part) in self.suffixes[..word.len()].chunks(ROWS).enumerate() {
            // The byte before byte i of the word is byte i of the ring.
            let column = part.iter().map(|&suffix| ring[suffix as usize]);
            if times == 1 {
                self.last.extend(column);
            } else {
                self.last.extend(column.flat_map(|byte| std::iter::repeat_n(byte, times)));
            }
            row = row.or_else(|| find(part, |suffix| suffix == turn).map(|at| number * ROWS + at));
        }
        row.expect("each rotation has a row") as u32
    }
}

fn make_room(suffixes: &mut Vec<i32>, len: usize) {
    if suffixes.len() < len {
        *suffixes = vec![0; len.next_multiple_of(4096)];
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use hybz_testkit::shapes::SHAPES;

    /// `rows` are the starts of all rotations, sorted.
    pub fn check(bwt: &mut ForwardBwt, block: &[u8], rows: &[usize], what: &str) {
        let last = rows.iter().map(|&start| block[(start + block.len() - 1) % block.len()]);
        let mut borrowed = block.to_vec();
        let made = bwt.transform(&mut borrowed);
        assert!(borrowed == block, "{what}: the block was changed");
        assert!(last.eq(made.bytes.iter().copied()), "{what}, {} bytes: last column", block.len());
        // Rows of a periodic block tie, and each of the equal rows decodes to the same block. `periodic` tests that the
        // choice is bzip2's.
        let times = block.len() / rotation::period(block);
        let row = rows.iter().position(|&start| start == 0).unwrap();
        assert_eq!(made.origin as usize / times, row / times, "{what}, {} bytes: origin", block.len());
    }

    /// `lms` and libsais give the same column, whether a block's least rotation begins at its start, middle or end.
    #[test]
    fn by_lms_as_by_libsais() {
        let mut by_lms = ForwardBwt::new(Arc::default());
        let mut by_libsais = ForwardBwt::new(Arc::default()).by_libsais();
        let mut sorted = 0;
        for shape in SHAPES {
            let mut block = (shape.make)(lms::MIN + 4321);
            if rotation::period(&block) != block.len() {
                continue;
            }
            let least = rotation::least(&block, &mut Vec::new());
            block.rotate_left(least);
            let turns = [0, 1, 1, 1, block.len() / 2, block.len() / 2 - 5];
            let before = sorted;
            for turn in turns {
                block.rotate_right(turn);
                let least = rotation::least(&block, &mut Vec::new());
                sorted += usize::from(by_lms.sort_by_lms(&mut block, least, 1).is_some());
                let wanted = by_libsais.transform(&mut block.clone());
                let made = by_lms.transform(&mut block);
                assert!(made.bytes == wanted.bytes, "{}, turned: last column", shape.name);
                assert_eq!(made.origin, wanted.origin, "{}, turned: origin", shape.name);
            }
            assert!(sorted == before || sorted == before + turns.len(), "{}: some left to libsais", shape.name);
        }
        assert!(sorted > 60, "only {sorted} blocks were not left to libsais");
    }
}
