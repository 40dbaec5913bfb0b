//! What a caller can choose.

use crate::Pool;
use crate::format::bzip2::Level;
use crate::format::hbz::LargeBlocks;

/// How a stream is to be compressed or decompressed, and by whom. Start from [`Settings::new`].
#[derive(Clone)]
pub struct Settings {
    pub(crate) level: Level,
    pub(crate) large_blocks: Option<LargeBlocks>,
    pub(crate) trailing_garbage: bool,
    pub(crate) pool: Option<Pool>,
    pub(crate) scan_chunk: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { level: Level::BEST, large_blocks: None, trailing_garbage: true, pool: None, scan_chunk: None }
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
        self.scan_chunk = Some(bytes);
        self
    }

    pub(crate) fn get_pool(&self) -> &Pool {
        self.pool.as_ref().unwrap_or_else(|| Pool::global())
    }
}
