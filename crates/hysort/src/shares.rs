//! How a sorter's memory is divided.

/// The maximum memory of each part of sorting, as a share of the whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    /// The whole memory.
    pub memory: u64,
}

impl Shares {
    /// Text that waits to be partitioned, before the first splitters are known.
    pub fn held(self) -> u64 {
        self.memory / 2
    }

    /// Partitioned text that waits to be sorted, or written to a file.
    pub fn parted(self) -> u64 {
        self.memory / 8 * 3
    }

    /// Chunks that are being partitioned.
    pub fn chunks(self) -> u64 {
        self.memory / 8
    }

    /// Ranges that are being sorted, when all other text is in files. (Not the whole memory: freed memory may still
    /// belong to the allocator.)
    pub fn sorting(self) -> u64 {
        self.memory / 2
    }

    /// A chunk.
    pub fn chunk(self) -> usize {
        (self.memory / 64).clamp(1 << 12, 1 << 20) as usize
    }

    /// The longest line in a chunk. (A merge of runs holds a line of each run.)
    pub fn line(self) -> usize {
        (self.memory / 256).clamp(1 << 12, 1 << 20) as usize
    }

    /// The number of ranges for a text of unknown length: their parts in a file should not be tiny.
    pub fn ranges(self) -> u64 {
        (self.memory >> 18).clamp(16, 1024)
    }

    /// The number of ranges for a text of this length.
    pub fn ranges_of(self, bytes: u64) -> u64 {
        (bytes / (self.memory / 32).clamp(1 << 12, 1 << 20)).clamp(2, 1024)
    }
}
