//! The last column, merged from two sorted lists of rows: the second half of the GPU station's hybrid shape.
//!
//! The shape is Deshpande's (thesis, 2014, section 5.2.1), and rows are compared as in DC3 (Kärkkäinen and Sanders
//! 2003). The input is a text followed by an end mark below all bytes: the codes of a large block, or a block of
//! `.bz2` rotated to its least rotation, whose suffixes have the order of its rotations. The suffixes at positions 1
//! and 2 modulo 3 have been sorted first. They are the sample, which includes the end mark if that is at such a
//! position. The other suffixes have been sorted with the help of the sample. One of the others, at `i`, comes before
//! one of the sample, at `j`, if
//!
//! - `j` = 1 modulo 3: (byte at `i`, rank of `i + 1`) is less than (byte at `j`, rank of `j + 1`);
//! - `j` = 2 modulo 3: (bytes at `i` and `i + 1`, rank of `i + 2`) is less than the same at `j`;
//!
//! and all these ranks are ranks in the sample. In the thesis the core looks them up: for each row, some five random
//! reads of an array with 4 bytes for each position. But sorting the sample, in its order, stably by the byte before
//! each row gives the order of the rows at 0 and 1 modulo 3; and sorting it by the two bytes before gives that of the
//! rows at 0 and 2. Two radix sorts on the device therefore make all these comparisons, and their outcome is one bit
//! for each row of each pair of lists: whether the next row is one of the others. The core merges by these bits,
//! whatever the length of the block: it reads 1.17 bytes for each byte of the block, sequentially.
//!
//! Measured (the Linux source, a busy machine): blocks of 900 kB, 4.5 and 9 MB are merged in 5 to 7 ns a byte, where
//! libsais took 52 to 74 in the same run.

/// The two sorted lists of rows of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thirds {
    /// A bit for each row at 0 or 1 modulo 3, in order, the lowest bit of a word first: whether the row is one of the
    /// others. The second half of the words has the same for the rows at 0 and 2 modulo 3. The end mark has no bit.
    pub(crate) bits: Vec<u32>,
    /// The byte before each row: the sample's, then the others'.
    pub(crate) bytes: Vec<u8>,
    /// The length of the block.
    len: usize,
}

/// The number of rows of a block of `len` bytes that are in the sample (with the end mark's row, if that is in it),
/// and the number of other rows.
pub fn rows(len: usize) -> [usize; 2] {
    [len - len / 3, len.div_ceil(3)]
}

/// The number of words in `bits` for such a block.
pub fn word_count(len: usize) -> usize {
    2 * (rows(len)[0] / 32 + 1)
}

/// The number of bytes in `bytes` for such a block: its length, plus one for an end mark in the sample.
pub fn byte_count(len: usize) -> usize {
    rows(len).iter().sum()
}

impl Thirds {
    /// The lists of a block of `len` bytes, or `None` if they do not have the right lengths ([`word_count`],
    /// [`byte_count`]).
    pub fn new(bits: Vec<u32>, bytes: Vec<u8>, len: usize) -> Option<Thirds> {
        (bits.len() == word_count(len) && bytes.len() == byte_count(len)).then_some(Thirds { bits, bytes, len })
    }

    /// How many of the first bytes in `bytes` are not the block's own: one if the end mark is in the sample, because
    /// its row is the first.
    pub fn marks(len: usize) -> usize {
        usize::from(!len.is_multiple_of(3))
    }

    /// Writes the byte before each row to `column`, which becomes as long as the block. Replaces the `wanted` rows,
    /// which are indices into the two lists (the sample comes first), with their indices in the column.
    ///
    /// Lists that do not belong to a block give some permutation of their bytes. Indices are less than the length of a
    /// block of at least two bytes, whatever the lists.
    pub fn merge(&self, wanted: &mut [u32], column: &mut Vec<u8>) {
        let [samples, _] = rows(self.len);
        let marks = Self::marks(self.len);
        let (sample, others) = self.bytes.split_at(samples);
        let sample = &sample[marks..];
        let before = self.samples_before(sample.len(), others.len());
        for row in wanted {
            let (at, other) = ((*row as usize).saturating_sub(marks), (*row as usize).checked_sub(samples));
            *row = match other {
                Some(other) => before.get(other).map_or(0, |&before| before + other as u32),
                None => (at + before.partition_point(|&before| before as usize <= at)) as u32,
            };
        }
        column.clear();
        column.resize(self.len, 0);
        merge_lists(sample, others, &before, column);
    }

    /// For each of the others, the number of the sample's rows before it, not counting the mark's.
    fn samples_before(&self, samples: usize, others: usize) -> Vec<u32> {
        let (first, second) = self.bits.split_at(self.bits.len() / 2);
        let pairs = ones(first).zip(ones(second)).chain(std::iter::repeat((samples, samples)));
        let mut most = 0;
        let before = pairs.take(others).enumerate().map(|(other, (first, second))| {
            most = (first + second).saturating_sub(2 * other).clamp(most, samples);
            most as u32
        });
        before.collect()
    }
}

/// The indices of the bits that are set.
fn ones(words: &[u32]) -> impl Iterator<Item = usize> {
    let (mut words, mut word, mut end) = (words.iter(), 0, 0);
    std::iter::from_fn(move || {
        while word == 0 {
            word = *words.next()?;
            end += 32;
        }
        let bit = word.trailing_zeros() as usize;
        word &= word - 1;
        Some(end - 32 + bit)
    })
}

/// The number of rows of the sample that are copied at once: rarely do more come before the next row of the others.
const AHEAD: usize = 8;

/// Merges rows. `before` says for each of the others how many of the sample come before it.
fn merge_lists(sample: &[u8], others: &[u8], before: &[u32], column: &mut [u8]) {
    let (mut sample, mut out, mut done) = (sample, column, 0);
    for (&before, &byte) in before.iter().zip(others) {
        let count = before as usize - done;
        done += count;
        match (sample.first_chunk::<AHEAD>(), out.first_chunk_mut::<AHEAD>()) {
            // Rows whose turn has not come yet will be overwritten.
            (Some(copied), Some(room)) if count <= AHEAD => *room = *copied,
            _ => out[..count].copy_from_slice(&sample[..count]),
        }
        out[count] = byte;
        (sample, out) = (&sample[count..], &mut out[count + 1..]);
    }
    out.copy_from_slice(sample);
}

/// The result of sorting a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Sorted completely: the last column.
    Column(Vec<u8>),
    /// Two lists of rows, to be merged.
    Thirds(Thirds),
}

/// What a device does, in the plainest way.
#[cfg(test)]
pub(crate) mod twin {
    use super::super::suffixes;
    use super::*;

    /// The two lists of a text, and the rows in them of `turn` and of each 2^`entry_log`th position after it.
    pub fn thirds(text: &[u8], turn: usize, entry_log: u8) -> (Thirds, Vec<u32>) {
        let len = text.len();
        let mut order = vec![0; len];
        suffixes::sort(text, &mut order);
        // The end mark's suffix is the empty one, the least of all.
        let all = std::iter::once(len).chain(order.iter().map(|&suffix| suffix as usize));
        let sample: Vec<usize> = all.filter(|position| position % 3 != 0).collect();
        // The rows before those of a list, sorted by their first bytes.
        let before = |list: &[usize]| {
            let mut rows: Vec<usize> = list.iter().filter_map(|row| row.checked_sub(1)).collect();
            rows.sort_by_key(|&row| text[row]); // stable
            rows
        };
        let first = before(&sample);
        // The mark comes before all other rows. If it is in the sample, at 2 modulo 3, the row before it is at 1.
        let mark = (len % 3 != 2).then_some(len);
        let second = before(&mark.into_iter().chain(first.iter().copied()).collect::<Vec<_>>());
        let mut bits = vec![0; word_count(len)];
        let half = bits.len() / 2;
        for (list, from) in [(&first, 0), (&second, half)] {
            for (at, _) in list.iter().enumerate().filter(|(_, row)| *row % 3 == 0) {
                bits[from + at / 32] |= 1 << (at % 32);
            }
        }
        let rows: Vec<usize> = sample.into_iter().chain(first.into_iter().filter(|row| row % 3 == 0)).collect();
        let bytes = rows.iter().map(|&row| text[(row + len - 1) % len]).collect();
        let mut wanted = vec![0; (len - turn).div_ceil(1 << entry_log)];
        for (at, &row) in (0..).zip(&rows).filter(|(_, row)| **row < len) {
            if let Some(past) = row.checked_sub(turn).filter(|past| past.is_multiple_of(1 << entry_log)) {
                wanted[past >> entry_log] = at;
            }
        }
        (Thirds::new(bits, bytes, len).unwrap(), wanted)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::codec::bwt::forward::ForwardBwt;
    use crate::codec::bwt::{rotation, suffixes};
    use hybz_testkit::shapes::{Rng, SHAPES};
    use std::sync::Arc;

    /// The rotations of a block, as in a `.bz2` stream.
    fn check(block: &[u8], what: &str) {
        if block.is_empty() || rotation::period(block) != block.len() {
            return;
        }
        let start = rotation::least(block, &mut Vec::new());
        let word = [&block[start..], &block[..start]].concat();
        let turn = (block.len() - start) % block.len();
        let (thirds, mut origin) = twin::thirds(&word, turn, 30);
        let mut bwt = ForwardBwt::new(Arc::default());
        let mut borrowed = block.to_vec();
        let expected = bwt.transform(&mut borrowed);
        let mut column = vec![7; 5];
        thirds.merge(&mut origin, &mut column);
        assert!(column == expected.bytes, "{what}, {} bytes: last column", block.len());
        assert_eq!(origin, [expected.origin], "{what}, {} bytes: origin", block.len());
    }

    /// The suffixes of a text, as in a stream of large blocks, and the rows of all entry points.
    fn check_suffixes(text: &[u8], what: &str) {
        if text.is_empty() {
            return;
        }
        let log = (text.len() % 4) as u8;
        let (mut order, mut rows) = (vec![0; text.len()], vec![0; text.len()]);
        suffixes::sort(text, &mut order);
        (0..).zip(&order).for_each(|(row, &from)| rows[from as usize] = row);
        let (thirds, mut wanted) = twin::thirds(text, 0, log);
        let mut column = Vec::new();
        thirds.merge(&mut wanted, &mut column);
        let before = |&from: &i32| text[(from as usize + text.len() - 1) % text.len()];
        assert!(order.iter().map(before).eq(column), "{what}, {} bytes: column", text.len());
        assert!(rows.iter().step_by(1 << log).eq(&wanted), "{what}, {} bytes: entry points", text.len());
    }

    pub fn check_both(block: &[u8], what: &str) {
        check(block, what);
        check_suffixes(block, what);
    }

    #[test]
    fn long_shapes() {
        for shape in SHAPES {
            check_both(&(shape.make)(60_001), shape.name);
            check(&(shape.make)(900_000), shape.name);
        }
    }

    /// Whatever a device returns, wrong bytes are the worst result.
    #[test]
    fn any_lists_merge() {
        let mut rng = Rng(10);
        for len in 0..300 {
            // Few bits set, about as many as there should be, and all of them.
            for kind in 0..3 {
                let word = |rng: &mut Rng| (rng.below(1 << 16) << 16 | rng.below(1 << 16)) as u32;
                let bits = (0..word_count(len)).map(|_| match kind {
                    0 => word(&mut rng) & word(&mut rng) & word(&mut rng),
                    1 => word(&mut rng),
                    _ => u32::MAX,
                });
                let bits = bits.collect();
                let bytes: Vec<u8> = (0..byte_count(len)).map(|_| rng.below(1 + len % 256) as u8).collect();
                let thirds = Thirds::new(bits, bytes.clone(), len).unwrap();
                let mut column = Vec::new();
                let mut wanted = [0, rng.below(len + 2) as u32, len as u32, u32::MAX];
                thirds.merge(&mut wanted, &mut column);
                assert!(len < 2 || wanted.iter().all(|&place| (place as usize) < len), "{wanted:?} of {len}");
                let mut expected = bytes[Thirds::marks(len)..].to_vec();
                expected.sort_unstable();
                column.sort_unstable();
                assert!(column == expected);
                assert!(Thirds::new(vec![0; word_count(len) + 1], bytes, len).is_none());
            }
        }
    }
}
