//! Detects sequential readers and decides how many blocks to decode ahead for them.

/// The number of sequences tracked, which bounds the threads that can each read a part sequentially.
const KNOWN: usize = 16;
/// The number of consecutive reads after which the next block is decoded ahead.
const IN_A_ROW: u32 = 2;

/// A sequence of reads, each of which continues the one before it.
struct Sequence {
    /// The end of the last read.
    end: u64,
    reads: u32,
    /// The last block, and the number of blocks decoded ahead at that time.
    block: u64,
    ahead: usize,
}

/// The current sequences, the most recently used one last.
pub(super) struct Sequences {
    known: Vec<Sequence>,
    /// The max number of blocks decoded ahead.
    most: usize,
}

impl Sequences {
    pub fn new(most: usize) -> Sequences {
        Sequences { known: Vec::new(), most }
    }

    /// Notes a read at `offset`, in this block. Returns the number of blocks to decode after the wanted ones: one at
    /// first, twice as many for each block that the sequence has advanced since.
    pub fn ahead(&mut self, offset: u64, block: u64) -> usize {
        let Some(sequence) = self.known.iter_mut().find(|known| known.end == offset) else { return 0 };
        if sequence.reads < IN_A_ROW {
            return 0;
        }
        if sequence.ahead == 0 {
            sequence.ahead = 1;
        } else if block == sequence.block {
            return 0; // they are already being decoded
        } else {
            sequence.ahead = (sequence.ahead * 2).min(self.most);
        }
        sequence.block = block;
        sequence.ahead
    }

    /// Notes that the read at `offset` has ended at `end`.
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
        // Reads elsewhere, and then again at the old offset.
        assert_eq!([read(1000, 50), read(500, 30), read(1010, 50), read(80, 6)], [0, 0, 0, 6]);
        for other in 0..KNOWN as u64 {
            read(100_000 * (other + 1), 99);
        }
        assert_eq!(read(90, 7), 0, "forgotten");
    }
}
