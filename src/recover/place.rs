//! The offsets of blocks and holes in the text.

use crate::error::Error;
use crate::index::{self, Index};
use std::collections::HashMap;

/// Keeps track of the offset in the text.
pub(super) struct Places {
    index: Vec<index::Block>,
    /// The blocks of the index by CRC and length, in order.
    alike: HashMap<(u32, u64), Vec<usize>>,
    text_len: u64,
    /// The first block of the index that the walk has not passed yet.
    next: usize,
    /// The offset in the text at which the last good block ends, if known.
    at: Option<u64>,
}

impl Places {
    pub fn new(index: Option<&Index>) -> Result<Places, Error> {
        let blocks = index.map_or(Ok(Vec::new()), |index| index.iter().collect::<Result<Vec<_>, Error>>())?;
        Ok(Places::of_blocks(blocks, index.map_or(0, Index::text_len)))
    }

    fn of_blocks(index: Vec<index::Block>, text_len: u64) -> Places {
        let mut alike: HashMap<_, Vec<usize>> = HashMap::new();
        for (i, block) in index.iter().enumerate() {
            alike.entry((block.crc, block.text_len)).or_default().push(i);
        }
        Places { index, alike, text_len, next: 0, at: Some(0) }
    }

    /// The offset in the text at which the last good block ends.
    pub fn at(&self) -> Option<u64> {
        self.at
    }

    /// Whether the index has text after that offset.
    pub fn expects_more(&self) -> bool {
        !self.index.is_empty() && self.at.is_some_and(|at| at < self.text_len)
    }

    /// The offset of a good block's text. Without an index it is unknown after a hole.
    pub fn of_block(&self, bit: u64, crc: u32, text_len: u64, after_hole: bool) -> Option<u64> {
        match self.find(bit, crc, text_len) {
            Some(place) => Some(self.index[place].text_offset),
            None => self.at.filter(|_| !after_hole),
        }
    }

    /// The block's position in the index.
    fn find(&self, bit: u64, crc: u32, text_len: u64) -> Option<usize> {
        // The block is at the recorded bit, or it is the next block with this CRC and length: inserted or removed data
        // move all later blocks.
        let alike = self.alike.get(&(crc, text_len))?;
        let rest = &alike[alike.partition_point(|&i| i < self.next)..];
        let unmoved = rest.binary_search_by_key(&bit, |&i| self.bit(i));
        rest.get(unmoved.unwrap_or(0)).copied()
    }

    /// The bit of a block of the index.
    fn bit(&self, block: usize) -> u64 {
        #[cfg(test)]
        tests::STEPS.set(tests::STEPS.get() + 1);
        self.index[block].bit_offset
    }

    /// Records that a good block was taken, whose text begins at `offset`.
    pub fn pass(&mut self, offset: Option<u64>, text_len: u64) {
        self.at = offset.map(|offset| offset + text_len);
        if let Some(at) = self.at {
            self.next += self.index[self.next..].partition_point(|block| block.text_offset < at);
        }
    }

    /// Records that text is lost here. Without an index, the offset of the next block's text is unknown.
    pub fn lose(&mut self) {
        self.at = self.at.filter(|_| !self.index.is_empty());
    }

    /// The number of bytes of text missing before `offset`, or before the end.
    pub fn missing_before(&self, offset: Option<u64>) -> Option<u64> {
        if self.index.is_empty() {
            return None;
        }
        offset.zip(self.at).and_then(|(offset, at)| offset.checked_sub(at))
    }

    /// The number of bytes of text missing at the end.
    pub fn missing_at_the_end(&self) -> Option<u64> {
        self.missing_before((!self.index.is_empty()).then_some(self.text_len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use std::cell::Cell;

    thread_local!(
        /// The number of blocks of an index that were looked at.
        pub static STEPS: Cell<usize> = const { Cell::new(0) }
    );

    /// Looks up `count` blocks in a wrong index. The index has every second one, at another bit, and many like it.
    fn steps(count: u64) -> usize {
        let block = |number: u64| index::Block {
            number,
            stream: 1,
            level: Level::BEST,
            bit_offset: 1000 * number,
            end_bit: 1000 * number + 999,
            text_offset: 10 * number,
            text_len: 10,
            crc: 2,
            lines_before: None,
            record: number - 1,
        };
        let places = Places::of_blocks((1..=count).map(block).collect(), 10 * count);
        let before = STEPS.get();
        for number in 1..=count {
            let found = places.of_block(1000 * number + 1, 1 + (number % 2) as u32, 10, true);
            assert_eq!(found.is_some(), number % 2 == 1);
        }
        STEPS.get() - before
    }

    #[test]
    fn a_wrong_index_is_not_searched_from_the_front() {
        let [short, long] = [1000, 2000].map(steps);
        assert!(2 * long <= 5 * short, "{short} steps, then {long}");
    }
}
