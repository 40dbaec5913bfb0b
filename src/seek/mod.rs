//! Reads a `.bz2` file, or a file that contains an index, at any offset in its text; decodes only the wanted blocks.
//!
//! ```
//! use hybz::{Settings, index::Index, seek::Reader};
//! use std::io::{Read, Seek, SeekFrom};
//! let file = hybz::compress(b"to be or not to be", &Settings::new())?;
//! let mut reader = Reader::open(file, &Settings::new())?;
//! let mut text = String::new();
//! reader.seek(SeekFrom::End(-5))?;
//! reader.read_to_string(&mut text)?;
//! assert_eq!(text, "to be");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod blocks;
pub(crate) mod cache;
pub(crate) mod hbz;
mod plan;
mod sequence;
mod split;
pub(crate) mod text;

use crate::error::Error;
use crate::format::Format;
use crate::index::Index;
use crate::read_at::{Positioned, ReadAt, fill_at, sought};
use crate::settings::Settings;
use crate::table;
use blocks::{BlockMap, Wanted};
use cache::Cache;
use hybz_queue::Client;
use sequence::Sequences;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

pub use plan::Plan;
pub use split::SplitReader;

/// The default size of the cache for each core of the pool: 8 MiB of text.
const CACHE_PER_CORE: u64 = 8 << 20;
/// The min default size of the cache.
const MIN_CACHE: u64 = 64 << 20;
/// The max number of blocks read ahead for each core.
const AHEAD_PER_CORE: usize = 2;
/// The maximum size of one read of the compressed file, when several blocks are wanted.
const READ: u64 = 4 << 20;
/// The max gap between two blocks that are read together: the end of a stream and the header of the next.
const GAP: u64 = 16;

/// Reads the text of a compressed file at any offset. The [module](self) has an example.
///
/// Any number of threads may call [`read_at`](Self::read_at) at the same time. The stations of the settings' pool
/// decode all blocks of a call at the same time. The least recently used blocks are dropped when the cache exceeds its
/// size in bytes ([`cache`](Self::cache)). From the third read on that begins where an earlier one ended, blocks are
/// decoded ahead: one at first, twice as many for each further block, up to two for each core and half of the cache.
///
/// Nothing is returned from a block whose text does not have the CRC and the length that file and index give.
pub struct Reader<R> {
    source: R,
    blocks: Box<dyn BlockMap>,
    cache: Arc<Cache>,
    sequences: Mutex<Sequences>,
    client: Client,
    /// The position of `Read` and `Seek`.
    at: u64,
}

impl<R: ReadAt> Reader<R> {
    /// Opens a file without a separate index.
    ///
    /// An index in the file is read. A `.bz2` file, which has none, is decoded once to make it.
    ///
    /// # Errors
    /// An error for the damage in the file; [`Error::NoIndex`] if streams of several formats follow each other in it.
    pub fn open(source: R, settings: &Settings) -> Result<Self, Error> {
        let mut head = [0; Format::HEAD_LEN];
        let len = fill_at(&source, &mut head, 0).map_err(Error::Read)?;
        let blocks = match table::by_index(&head[..len]) {
            Some(by_index) => (by_index.seek)(&source)?,
            None => Box::new(Index::build(Positioned { source: &source, at: 0 }, settings)?),
        };
        Ok(Self::new(source, blocks, settings))
    }

    /// Opens a `.bz2` file with its index. Reads nothing from the file.
    pub fn with_index(source: R, index: Index, settings: &Settings) -> Self {
        Self::new(source, Box::new(index), settings)
    }

    fn new(source: R, blocks: Box<dyn BlockMap>, settings: &Settings) -> Self {
        let pool = settings.get_pool();
        let cache = Cache::new((pool.cores() as u64 * CACHE_PER_CORE).max(MIN_CACHE));
        let sequences = Mutex::new(Sequences::new(pool.cores().max(1) * AHEAD_PER_CORE));
        Reader { source, blocks, cache: Arc::new(cache), sequences, client: pool.client(), at: 0 }
    }

    /// Sets the size of the cache in bytes. The default is 8 MiB for each core of the pool, and at least 64 MiB.
    ///
    /// A block that is being read is kept, however long it is. (Text of long runs is kept run-length coded: 46 MB of
    /// zeros take 0.9 MB.) The cache is not part of the pool's own memory.
    pub fn cache(self, bytes: u64) -> Self {
        self.cache.set_limit(bytes);
        self
    }

    /// The number of bytes of the file's text.
    pub fn text_len(&self) -> u64 {
        self.blocks.text_len()
    }

    /// The index of a `.bz2` file; `None` for a file that contains its own index.
    pub fn index(&self) -> Option<&Index> {
        self.blocks.index()
    }

    /// The file.
    pub fn get_ref(&self) -> &R {
        &self.source
    }

    /// Fills `buf` with the text from `offset` on and returns the number of bytes. The number is less than `buf` holds
    /// only at the end of the text or before a block that cannot be read.
    ///
    /// # Errors
    /// If the first byte cannot be read: an error of the file or of the index, or `InvalidData` with an [`Error`]
    /// inside: [`Error::Data`] for a damaged block, [`Error::ForeignIndex`] if the index does not fit the file. Other
    /// parts of the text can still be read.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buf.len() {
            match self.read_block(&mut buf[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(_) if filled > 0 => break, // the next call gets the error again
                Err(error) => return Err(error.into()),
            }
        }
        let end = offset + filled as u64;
        self.sequences.lock().unwrap_or_else(PoisonError::into_inner).end(offset, end);
        Ok(filled)
    }

    /// Fills `buf` from `offset` on with text of one block, and submits further blocks for decoding at the same time.
    fn read_block(&self, buf: &mut [u8], offset: u64) -> Result<usize, Error> {
        if self.client.is_foreign() {
            return Err(Error::Forked);
        }
        let Some(first) = self.blocks.find(offset)? else { return Ok(0) };
        let ahead = {
            let mut sequences = self.sequences.lock().unwrap_or_else(PoisonError::into_inner);
            sequences.ahead(offset, first.key)
        };
        let end = offset.saturating_add(buf.len() as u64);
        let most = AHEAD_PER_CORE * self.client.pool().cores().max(1);
        self.want(first.clone(), end, ahead, most);
        let decoded = match self.cache.wait(first.key) {
            Some(decoded) => decoded?,
            // Another thread got the error; this one tries again.
            None => return self.read_block(buf, offset),
        };
        Ok(decoded.copy(offset - first.text_offset, buf))
    }

    /// Submits the blocks that are not in the cache: `first`, then those up to the text offset `end`, at most `most`
    /// (or more if they are short), then `ahead` more. Stops at half of the cache.
    fn want(&self, first: Wanted, end: u64, ahead: usize, most: usize) {
        let half = self.cache.limit() / 2;
        let mut room = half;
        let mut missing: Vec<Wanted> = Vec::new();
        let (mut next, mut extra) = (Some(first), ahead);
        for count in 0.. {
            let Some(block) = next.take() else { break };
            let many = count >= most && half - room > READ;
            let needed = count == 0 || (block.text_offset < end && !many);
            let cost = block.cost();
            if !needed && extra == 0 || count > 0 && cost > room {
                break;
            }
            if !needed {
                extra -= 1;
            }
            room = room.saturating_sub(cost);
            // A damaged index entry ahead does not matter yet; a read that needs it will get the error.
            next = if count == 0 && end <= block.text_end() && ahead == 0 {
                None
            } else {
                self.blocks.next(&block).unwrap_or(None)
            };
            if self.cache.reserve(block.key, cost, count == 0) {
                missing.push(block);
            }
        }
        let mut rest = Reserved { cache: &self.cache, blocks: &missing };
        while let Some(first) = rest.blocks.first() {
            let together = |pair: &[Wanted]| pair[0].bytes.end + GAP >= pair[1].bytes.start;
            let fits = |block: &&Wanted| block.bytes.end - first.bytes.start <= READ;
            let pairs = rest.blocks.windows(2).zip(&rest.blocks[1..]);
            let row = 1 + pairs.take_while(|(pair, b)| together(pair) && fits(b)).count();
            let (now, later) = rest.blocks.split_at(row);
            self.decode(now);
            rest.blocks = later;
        }
    }

    /// Reads these consecutive blocks of the file and submits them for decoding.
    fn decode(&self, blocks: &[Wanted]) {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return };
        let at = first.bytes.start;
        let read = self.read_bytes(at, last.bytes.end - at);
        for block in blocks {
            let range = (block.bytes.start - at) as usize..(block.bytes.end - at) as usize;
            let submitted = match &read {
                Ok(bytes) => match bytes.get(range) {
                    Some(bytes) => self.blocks.submit(block, bytes, &self.client, &self.cache),
                    None => Err(block.cut(at + bytes.len() as u64)),
                },
                Err(e) => Err(Error::Read(io::Error::new(e.kind(), e.to_string()))),
            };
            if let Err(error) = submitted {
                self.cache.put(block.key, Err(error));
            }
        }
    }

    /// Reads `len` bytes of the file, or fewer at its end. Memory grows with the bytes present, because an index may
    /// claim any length.
    fn read_bytes(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < len {
            let have = bytes.len();
            bytes.resize(have + (len - have as u64).min(READ) as usize, 0);
            let filled = fill_at(&self.source, &mut bytes[have..], at + have as u64)?;
            if have + filled < bytes.len() {
                bytes.truncate(have + filled);
                break;
            }
        }
        Ok(bytes)
    }
}

/// Blocks whose text the cache expects. If the source panics, their waiters get an error.
struct Reserved<'a> {
    cache: &'a Cache,
    blocks: &'a [Wanted],
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        for block in self.blocks {
            let reason = "reading the file panicked".to_owned();
            self.cache.put_if_pending(block.key, || Error::Internal { block: block.number, reason });
        }
    }
}

impl<R: ReadAt> Read for Reader<R> {
    /// Reads from the current position on.
    ///
    /// # Errors
    /// See [`read_at`](Reader::read_at).
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.read_at(buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl<R: ReadAt> Seek for Reader<R> {
    /// Moves the position, possibly beyond the end of the text.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = sought(to, self.at, self.text_len())?;
        Ok(self.at)
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("text_len", &self.blocks.text_len())
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
