//! Notices who reads on from where a read before ended, and how far ahead blocks should be decoded for that.

/// How many sequences are known at once: as many threads can read, each a part of its own.
const KNOWN: usize = 16;
/// From so many reads in a row on, the next block is decoded ahead.
const IN_A_ROW: u32 = 2;

/// Reads that went on from each other.
struct Sequence {
    /// Where the last one ended.
    end: u64,
    reads: u32,
    /// The last block, and how many more were decoded ahead then.
    block: u64,
    ahead: usize,
}

/// All that are going on; the last used at the end.
pub(super) struct Sequences {
    known: Vec<Sequence>,
    /// How many blocks are decoded ahead at most.
    most: usize,
}

impl Sequences {
    pub fn new(most: usize) -> Sequences {
        Sequences { known: Vec::new(), most }
    }

    /// Somebody reads at `offset`, in this block. Returns how many blocks behind those that are wanted should be
    /// decoded: one at first, twice as many for each block that the sequence has come to since.
    pub fn ahead(&mut self, offset: u64, block: u64) -> usize {
        let Some(sequence) = self.known.iter_mut().find(|known| known.end == offset) else { return 0 };
        if sequence.reads < IN_A_ROW {
            return 0;
        }
        if sequence.ahead == 0 {
            sequence.ahead = 1;
        } else if block == sequence.block {
            return 0; // they are on their way
        } else {
            sequence.ahead = (sequence.ahead * 2).min(self.most);
        }
        sequence.block = block;
        sequence.ahead
    }

    /// A read from `offset` has ended at `end`.
    pub fn end(&mut self, offset: u64, end: u64) {
        let mut sequence = match self.known.iter().position(|known| known.end == offset) {
            Some(at) => self.known.remove(at),
            None => Sequence { end, reads: 0, block: 0, ahead: 0 },
        };
        if self.known.len() == KNOWN {
            self.known.remove(0);
        }
        (sequence.end, sequence.reads) = (end, sequence.reads.saturating_add(1));
        self.known.push(sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sequential_reads_look_ahead() {
        let mut sequences = Sequences::new(6);
        let mut read = |offset: u64, block| {
            let ahead = sequences.ahead(offset, block);
            sequences.end(offset, offset + 10);
            ahead
        };
        assert_eq!([read(0, 1), read(10, 1), read(20, 1), read(30, 1)], [0, 0, 1, 0]);
        assert_eq!([read(40, 2), read(50, 3), read(60, 4), read(70, 5)], [2, 4, 6, 6]);
        // Elsewhere, and back.
        assert_eq!([read(1000, 50), read(500, 30), read(1010, 50), read(80, 6)], [0, 0, 0, 6]);
        for other in 0..KNOWN as u64 {
            read(100_000 * (other + 1), 99);
        }
        assert_eq!(read(90, 7), 0, "forgotten");
    }
}
