//! How the memory of a sorter is shared out.

/// How memory is used: what a part of sorting may take, of all that there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    /// All that there is.
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

    /// Ranges that are being sorted, when all other text is in files. (Not all that there is: what was freed before may
    /// still belong to the allocator.)
    pub fn sorting(self) -> u64 {
        self.memory / 2
    }

    /// A chunk.
    pub fn chunk(self) -> usize {
        (self.memory / 64).clamp(1 << 12, 1 << 20) as usize
    }

    /// A line that may be in a chunk. (When runs are merged, there is a line of each.)
    pub fn line(self) -> usize {
        (self.memory / 256).clamp(1 << 12, 1 << 20) as usize
    }

    /// How many ranges a text of unknown length is cut into: parts of them in a file should not be tiny.
    pub fn ranges(self) -> u64 {
        (self.memory >> 18).clamp(16, 1024)
    }

    /// How many ranges a text of this length is cut into.
    pub fn ranges_of(self, bytes: u64) -> u64 {
        (bytes / (self.memory / 32).clamp(1 << 12, 1 << 20)).clamp(2, 1024)
    }
}
