//! The last column, merged from two sorted lists of rotations: the second half of the GPU station's hybrid shape.
//!
//! The shape is Deshpande's (thesis, 2014, section 5.2), and rotations are compared as in DC3 (Kärkkäinen and Sanders
//! 2003). The input is the block, rotated to its least rotation and followed by an end mark below all bytes. The
//! suffixes at positions 1 and 2 modulo 3 have been sorted first. They are the sample, which includes the end mark if
//! that is at such a position. The others have been sorted from the sample. One of the others, at `i`, comes before one
//! of the sample, at `j`, if
//!
//! - `j` = 1 modulo 3: (byte at `i`, rank of `i + 1`) is less than (byte at `j`, rank of `j + 1`);
//! - `j` = 2 modulo 3: (bytes at `i` and `i + 1`, rank of `i + 2`) is less than the same at `j`;
//!
//! and all these ranks are ranks in the sample. In the thesis the core looks them up: some five reads all over 4.5 MB
//! for each rotation, which is why 63 to 72 MB/s were predicted. Here the device, which gathers cheaply while its ranks
//! are still in its cache, delivers the compared numbers in the order of the rows, so that the core reads three
//! streams. First bytes are not delivered: a list has as many rows that begin with a byte as there are rows of another
//! residue that this byte precedes. The merge counts those rows, and then proceeds from first byte to first byte.
//!
//! A branch on the list of the next row would be mispredicted half the time, and a misprediction costs more than the
//! step itself. For each row of the others, the merge therefore compares the next eight rows of the sample together,
//! and advances by the number of rows that come first: it mispredicts only when all eight come first. Measured (900 kB
//! of the Linux source): 5.1 times the rate of a full sort running at the same time (going row by row without a branch:
//! 3.0 times); 116 MB/s on a Sapphire Rapids core.

/// Set in the key of a sample row whose position is 2 modulo 3.
const SECOND: u32 = 1 << 31;

/// The two sorted lists of rotations of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thirds {
    /// The numbers by which rows are compared: one for each row of the sample and two for each other row. The first is
    /// the rank after one symbol. The second is the next symbol (bytes: plus one) from bit 20 up and the rank after it
    /// below, or 0 if the block has ended. A row of the sample has the first if its position is 1 modulo 3, else the
    /// second with bit 31 set.
    pub(crate) keys: Vec<u32>,
    /// The byte before each row: the sample's, then the others'.
    pub(crate) bytes: Vec<u8>,
    /// The length of the block.
    len: usize,
}

/// The number of rows of a block of `len` bytes that are in the sample (with the end mark's, if that is there), and the
/// number of other rows.
pub fn rows(len: usize) -> [usize; 2] {
    [len - len / 3, len.div_ceil(3)]
}

/// The number of keys of such a block.
pub fn key_count(len: usize) -> usize {
    let [sample, others] = rows(len);
    sample + 2 * others
}

/// The number of bytes before rows of such a block: its length, plus one for an end mark in the sample.
pub fn byte_count(len: usize) -> usize {
    rows(len).iter().sum()
}

impl Thirds {
    /// The lists of a block of `len` bytes, or `None` if they do not have the right lengths ([`key_count`],
    /// [`byte_count`]).
    pub fn new(keys: Vec<u32>, bytes: Vec<u8>, len: usize) -> Option<Thirds> {
        (keys.len() == key_count(len) && bytes.len() == byte_count(len)).then_some(Thirds { keys, bytes, len })
    }

    /// The number of leading bytes before rows that are not the block's own: one if the end mark is in the sample,
    /// because its row is the first.
    pub fn marks(len: usize) -> usize {
        usize::from(!len.is_multiple_of(3))
    }

    /// Writes the last column, which is as long as the block. Returns the place in it of row `origin` of the two lists,
    /// whose rows are counted from the sample's on.
    ///
    /// Lists that do not belong to a block give some permutation of their bytes.
    pub fn merge(&self, origin: u32, column: &mut Vec<u8>) -> u32 {
        let [samples, _] = rows(self.len);
        let (sample_keys, other_keys) = self.keys.split_at(samples);
        let (other_keys, _) = other_keys.as_chunks::<2>();
        let (sample_bytes, other_bytes) = self.bytes.split_at(samples);
        let marks = Self::marks(self.len);
        let mut sample = List { keys: &sample_keys[marks..], bytes: &sample_bytes[marks..] };
        let mut others = List { keys: other_keys, bytes: other_bytes };
        let counts = first_bytes(sample_keys, sample_bytes, &other_bytes[marks.min(other_bytes.len())..]);

        column.clear();
        column.resize(self.len, 0);
        let mut rest = &mut column[..];
        let origin = origin as usize;
        let (mut from_sample, mut from_others) = (marks, samples);
        let mut row = 0;
        for [in_sample, in_others] in counts {
            let (a, b) = (sample.take(in_sample), others.take(in_others));
            if (from_sample..from_sample + a.keys.len()).contains(&origin) {
                let at = origin - from_sample;
                let key = a.keys[at];
                row = self.len - rest.len() + at + b.keys.partition_point(|bounds| !comes_first(key, bounds));
            } else if (from_others..from_others + b.keys.len()).contains(&origin) {
                let at = origin - from_others;
                let bounds = &b.keys[at];
                row = self.len - rest.len() + at + a.keys.partition_point(|&key| comes_first(key, bounds));
            }
            from_sample += a.keys.len();
            from_others += b.keys.len();
            let (here, after) = rest.split_at_mut(a.keys.len() + b.keys.len());
            rest = after;
            merge_lists(&a, &b, here);
        }
        // If the lists belong to a block, nothing is left of them.
        let (first, second) = rest.split_at_mut(sample.bytes.len());
        first.copy_from_slice(sample.bytes);
        second.copy_from_slice(others.bytes);
        row as u32
    }
}

/// The key of a symbol and of the rank of the suffix after it. The end mark is `None`, and has no rank.
#[cfg(test)]
fn second_key(symbol: Option<u8>, rank: u32) -> u32 {
    symbol.map_or(0, |byte| (u32::from(byte) + 1) << 20 | rank)
}

/// Rows in order.
struct List<'a, K> {
    keys: &'a [K],
    bytes: &'a [u8],
}

impl<'a, K> List<'a, K> {
    /// Takes `count` rows off the front, or all if there are fewer.
    fn take(&mut self, count: usize) -> List<'a, K> {
        let count = count.min(self.keys.len());
        let (keys, bytes) = (self.keys.split_at(count), self.bytes.split_at(count));
        (self.keys, self.bytes) = (keys.1, bytes.1);
        List { keys: keys.0, bytes: bytes.0 }
    }
}

/// For each byte, the number of rows of the sample and of others that begin with it.
fn first_bytes(sample_keys: &[u32], sample_bytes: &[u8], other_bytes: &[u8]) -> [[usize; 2]; 256] {
    // The byte before a row at 1 modulo 3 is the first byte of an "other" row; the byte before any other row is the
    // first byte of a sample row. Counters alternate, because a counter just written takes time to be read again.
    let mut counts = [[[0u32; 2]; 256]; 2];
    for (at, (&key, &byte)) in sample_keys.iter().zip(sample_bytes).enumerate() {
        counts[at % 2][usize::from(byte)][usize::from(key & SECOND == 0)] += 1;
    }
    for (at, &byte) in other_bytes.iter().enumerate() {
        counts[at % 2][usize::from(byte)][0] += 1;
    }
    std::array::from_fn(|byte| std::array::from_fn(|list| (counts[0][byte][list] + counts[1][byte][list]) as usize))
}

/// Whether the sample's row comes before the other one, if both begin with the same byte.
#[inline]
fn comes_first(key: u32, bounds: &[u32; 2]) -> bool {
    // Without a branch or a table, so that it becomes vector code.
    let second = (key as i32 >> 31) as u32;
    ((key & !SECOND) as i32) < (bounds[0] ^ (second & (bounds[0] ^ bounds[1]))) as i32
}

/// The number of sample rows compared together: rarely do more come before the next row of the others.
const AHEAD: usize = 8;

/// Merges rows that begin with the same byte.
fn merge_lists(sample: &List<'_, u32>, others: &List<'_, [u32; 2]>, column: &mut [u8]) {
    let (mut keys, mut bytes, mut out) = (sample.keys, sample.bytes, column);
    for (bounds, &byte) in others.keys.iter().zip(others.bytes) {
        while let (Some(next), Some(copied), Some(room)) =
            (keys.first_chunk::<AHEAD>(), bytes.first_chunk::<AHEAD>(), out.first_chunk_mut::<AHEAD>())
        {
            // Rows whose turn has not come yet will be overwritten.
            *room = *copied;
            let count = next.iter().map(|&key| i32::from(comes_first(key, bounds))).sum::<i32>() as usize;
            let count = count.min(AHEAD);
            (keys, bytes, out) = (&keys[count..], &bytes[count..], &mut out[count..]);
            if count < AHEAD {
                break;
            }
        }
        while let Some(&key) = keys.first()
            && comes_first(key, bounds)
        {
            out[0] = bytes[0];
            (keys, bytes, out) = (&keys[1..], &bytes[1..], &mut out[1..]);
        }
        out[0] = byte;
        out = &mut out[1..];
    }
    out.copy_from_slice(bytes);
}

/// The steps of a device, in the plainest way.
#[cfg(test)]
pub(crate) mod twin {
    use super::*;
    use libsais::SuffixArrayConstruction;

    /// The two lists of a block that is its own least rotation, and the row of the rotation at `turn` in them.
    pub fn thirds(word: &[u8], turn: usize) -> (Thirds, u32) {
        let len = word.len();
        let mut suffixes = vec![0i32; len];
        SuffixArrayConstruction::for_text(word).in_borrowed_buffer(&mut suffixes).single_threaded().run().unwrap();
        // The end mark's suffix is the empty one, the least of all.
        let all = std::iter::once(len).chain(suffixes.iter().map(|&suffix| suffix as usize));
        from_sample(word, turn, all.filter(|position| position % 3 != 0).collect())
    }

    /// Like [`thirds`], but from a sample that is sorted by the definition.
    pub fn plain(word: &[u8], turn: usize) -> (Thirds, u32) {
        let mut sample: Vec<usize> = (0..=word.len()).filter(|position| position % 3 != 0).collect();
        sample.sort_by_key(|&position| &word[position..]);
        from_sample(word, turn, sample)
    }

    fn from_sample(word: &[u8], turn: usize, sample: Vec<usize>) -> (Thirds, u32) {
        let len = word.len();
        let mut rank = vec![0; len + 2];
        for (row, &position) in sample.iter().enumerate() {
            rank[position] = row as u32;
        }
        let mut others: Vec<usize> = sample.iter().filter(|&&p| p % 3 == 1).map(|&p| p - 1).collect();
        others.sort_by_key(|&position| word[position]); // stable
        let second = |position: usize| second_key(word.get(position + 1).copied(), rank[position + 2]);
        let first = sample.iter().map(|&p| {
            if p == len {
                if p % 3 == 2 { SECOND } else { 0 }
            } else if p % 3 == 1 {
                rank[p + 1]
            } else {
                SECOND | second(p)
            }
        });
        let keys = first.chain(others.iter().flat_map(|&p| [rank[p + 1], second(p)])).collect();
        let rows = || sample.iter().chain(&others);
        let bytes = rows().map(|&p| word[(p + len - 1) % len]).collect();
        let origin = rows().position(|&p| p == turn).unwrap() as u32;
        (Thirds::new(keys, bytes, len).unwrap(), origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::bwt::forward::ForwardBwt;
    use crate::codec::bwt::rotation;
    use hybz_testkit::shapes::{Rng, SHAPES};
    use std::sync::Arc;

    fn check(block: &[u8], what: &str) {
        if block.is_empty() || rotation::period(block) != block.len() {
            return;
        }
        let start = rotation::least(block, &mut Vec::new());
        let word = [&block[start..], &block[..start]].concat();
        let turn = (block.len() - start) % block.len();
        let (thirds, origin) = twin::thirds(&word, turn);
        if block.len() < 1500 {
            assert!((thirds.clone(), origin) == twin::plain(&word, turn), "{what}, {} bytes: lists", block.len());
        }
        let mut bwt = ForwardBwt::new(Arc::default());
        let mut borrowed = block.to_vec();
        let expected = bwt.transform(&mut borrowed);
        let mut column = vec![7; 5];
        let row = thirds.merge(origin, &mut column);
        assert!(column == expected.bytes, "{what}, {} bytes: last column", block.len());
        assert_eq!(row, expected.origin, "{what}, {} bytes: origin", block.len());
    }

    #[test]
    fn shapes() {
        for shape in SHAPES {
            for len in (1..40).chain([1000, 1001, 1002, 60_001, 900_000]) {
                check(&(shape.make)(len), shape.name);
            }
        }
    }

    #[test]
    fn all_small_texts() {
        for len in 1..11u32 {
            for number in 0..2u32.pow(len) {
                check(&(0..len).map(|i| (number >> i & 1) as u8 * 255).collect::<Vec<_>>(), "two letters");
            }
        }
        for len in 1..8u32 {
            for number in 0..3u32.pow(len) {
                check(&(0..len).map(|i| (number / 3u32.pow(i) % 3) as u8).collect::<Vec<_>>(), "three letters");
            }
        }
    }

    #[test]
    fn every_turn() {
        let mut rng = Rng(9);
        let block: Vec<u8> = (0..100).map(|_| rng.below(3) as u8).collect();
        for turn in 0..block.len() {
            check(&[&block[turn..], &block[..turn]].concat(), "turned");
        }
    }

    /// Whatever a device returns, wrong bytes are the worst result.
    #[test]
    fn any_lists_merge() {
        let mut rng = Rng(10);
        for len in 0..200 {
            let keys = (0..key_count(len)).map(|_| (rng.below(1 << 16) << 16 | rng.below(1 << 16)) as u32).collect();
            let bytes: Vec<u8> = (0..byte_count(len)).map(|_| rng.below(1 + len % 256) as u8).collect();
            let thirds = Thirds::new(keys, bytes.clone(), len).unwrap();
            let mut column = Vec::new();
            thirds.merge(rng.below(len + 2) as u32, &mut column);
            let mut expected = bytes[Thirds::marks(len)..].to_vec();
            expected.sort_unstable();
            column.sort_unstable();
            assert!(column == expected);
            assert!(Thirds::new(vec![0; key_count(len) + 1], bytes, len).is_none());
        }
    }
}
