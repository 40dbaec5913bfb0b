//! What a caller can choose.

use crate::format::hbz::{self, StreamHeader};
use crate::pipeline::pool::Pool;
use crate::pipeline::scan;

/// How large a block is: 1 to 9 times 100,000 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    /// 100,000 bytes a block: least memory.
    pub const FASTEST: Level = Level(1);
    /// 900,000 bytes a block: smallest output, and bzip2's default.
    pub const BEST: Level = Level(9);

    /// The level `level`, if it is one of 1 to 9.
    pub const fn try_new(level: u8) -> Option<Level> {
        if level >= 1 && level <= 9 { Some(Level(level)) } else { None }
    }

    /// The digit, 1 to 9, as it stands in the stream's header.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The most bytes (run-length-coded) that a decoder takes for one block at this level.
    pub const fn block_limit(self) -> u32 {
        self.0 as u32 * 100_000
    }
}

impl Default for Level {
    fn default() -> Self {
        Level::BEST
    }
}

/// What a `.hbz` stream is made of: blocks that are larger than bzip2's, or perturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargeBlocks {
    size: u32,
    interval: u32,
    seed: u64,
}

impl LargeBlocks {
    /// Blocks of `size` bytes of text, if that is 1 KiB to 1 GiB.
    ///
    /// Small blocks are there for tests: below 900,000 bytes `.bz2` is better in every way.
    pub const fn try_new(size: u32) -> Option<LargeBlocks> {
        let allowed = size >= hbz::LEAST_BLOCK && size <= hbz::MOST_BLOCK;
        if allowed { Some(LargeBlocks { size, interval: 0, seed: 0 }) } else { None }
    }

    /// Puts a byte in after every `interval` bytes of a block (0: none), from a generator that starts from `seed`; readers drop
    /// them. It helps sorters that compare fixed stretches of long repeats; it costs about 5 bytes of output each.
    pub const fn perturbation(mut self, interval: u32, seed: u64) -> LargeBlocks {
        self.interval = interval;
        self.seed = seed;
        self
    }

    /// Bytes of text in a block.
    pub const fn size(&self) -> u32 {
        self.size
    }

    pub(crate) const fn stream(&self) -> StreamHeader {
        // Without perturbation the seed is nobody's business: the same blocks, the same bytes.
        let seed = if self.interval == 0 { 0 } else { self.seed };
        StreamHeader { block_size: self.size, interval: self.interval, seed, entry_log: hbz::ENTRY_LOG }
    }
}

/// How a stream is to be compressed or decompressed, and by whom. Start from [`Settings::new`].
#[derive(Clone)]
pub struct Settings {
    pub(crate) level: Level,
    pub(crate) large_blocks: Option<LargeBlocks>,
    pub(crate) trailing_garbage: bool,
    pub(crate) pool: Option<Pool>,
    pub(crate) scan_chunk: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { level: Level::BEST, large_blocks: None, trailing_garbage: true, pool: None, scan_chunk: scan::CHUNK }
    }
}

impl Settings {
    /// Level 9, trailing garbage ignored as bzip2 does, the process's own pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// The block size to compress with.
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Compress to `.hbz` with such blocks, instead of to `.bz2`. (Decompressing, the data say which they are.)
    pub fn large_blocks(mut self, large: LargeBlocks) -> Self {
        self.large_blocks = Some(large);
        self
    }

    /// Whether bytes that are no stream may follow the last stream (bzip2: yes, and they are ignored).
    pub fn trailing_garbage(mut self, allowed: bool) -> Self {
        self.trailing_garbage = allowed;
        self
    }

    /// The stations that work for the stream; without this those of [`Pool::global`].
    pub fn pool(mut self, pool: &Pool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// How many bytes of compressed input are scanned at once, so that tests can put every boundary everywhere.
    #[doc(hidden)]
    pub fn scan_chunk(mut self, bytes: usize) -> Self {
        self.scan_chunk = bytes;
        self
    }

    pub(crate) fn get_pool(&self) -> &Pool {
        self.pool.as_ref().unwrap_or_else(|| Pool::global())
    }
}
