//! Reading a `.bz2` file, or one that has an index in it, at any place of its text, and decoding only the blocks that
//! are wanted.
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
mod sequence;
pub(crate) mod text;

use crate::Client;
use crate::error::Error;
use crate::format::Format;
use crate::index::Index;
use crate::read_at::{Positioned, ReadAt, fill_at, sought};
use crate::settings::Settings;
use crate::stream::formats;
use blocks::{Blocks, Wanted};
use cache::Cache;
use sequence::Sequences;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks in the cache, by default for each core of the pool: 8 MiB of text.
const CACHE_PER_CORE: u64 = 8 << 20;
/// The least that the cache holds by default.
const MIN_CACHE: u64 = 64 << 20;
/// How many blocks are read ahead at most, for each core.
const AHEAD_PER_CORE: usize = 2;
/// How much of the compressed file is read at once, where several blocks are wanted.
const READ: u64 = 4 << 20;
/// What may stand between two blocks that are read together: the end of a stream and the header of the next.
const GAP: u64 = 16;

/// Reads the text of a compressed file at any place. The [module](self) has an example.
///
/// Any number of threads may call [`read_at`](Self::read_at) at once. Blocks are decoded by the stations of the
/// settings' pool, all that a call wants at the same time. Decoded blocks are kept, the last used ones, up to a number
/// of bytes ([`cache`](Self::cache)). From the third read on that begins where one before it ended, blocks are decoded
/// ahead: one at first, twice as many for each further block, up to two for each core and half of the cache.
///
/// Nothing is returned of a block whose text has not the CRC, and the length, that file and index say.
pub struct Reader<R> {
    source: R,
    blocks: Box<dyn Blocks>,
    cache: Arc<Cache>,
    sequences: Mutex<Sequences>,
    client: Client,
    /// The position of `Read` and `Seek`.
    at: u64,
}

impl<R: ReadAt> Reader<R> {
    /// Opens a file that has no index beside it.
    ///
    /// An index in the file is read. A `.bz2` file, which has none, is decoded once to make it.
    ///
    /// # Errors
    /// What is wrong with the file; [`Error::NoIndex`] if streams of several formats follow each other in
    /// it.
    pub fn open(source: R, settings: &Settings) -> Result<Self, Error> {
        let mut head = [0; Format::HEAD_LEN];
        let len = fill_at(&source, &mut head, 0).map_err(Error::Read)?;
        let blocks = match formats::by_index(&head[..len]) {
            Some(by_index) => (by_index.seek)(&source)?,
            None => Box::new(Index::build(Positioned { source: &source, at: 0 }, settings)?),
        };
        Ok(Self::new(source, blocks, settings))
    }

    /// A `.bz2` file with its index. Nothing is read of the file.
    pub fn with_index(source: R, index: Index, settings: &Settings) -> Self {
        Self::new(source, Box::new(index), settings)
    }

    fn new(source: R, blocks: Box<dyn Blocks>, settings: &Settings) -> Self {
        let pool = settings.get_pool();
        let cache = Cache::new((pool.cores() as u64 * CACHE_PER_CORE).max(MIN_CACHE));
        let sequences = Mutex::new(Sequences::new(pool.cores().max(1) * AHEAD_PER_CORE));
        Reader { source, blocks, cache: Arc::new(cache), sequences, client: pool.client(), at: 0 }
    }

    /// Keeps at most so many bytes of decoded blocks; by default 8 MiB for each core of the pool, and 64 MiB at least.
    ///
    /// A block that is being read is kept whatever its length. (Text of runs is kept as it is coded: 46 MB of zeros
    /// take 0.9 MB.) This is beside the pool's own memory.
    pub fn cache(self, bytes: u64) -> Self {
        self.cache.set_limit(bytes);
        self
    }

    /// Bytes of text in the file.
    pub fn text_len(&self) -> u64 {
        self.blocks.text_len()
    }

    /// The index of a `.bz2` file; none of a file that has its own in it.
    pub fn index(&self) -> Option<&Index> {
        self.blocks.index()
    }

    /// The file.
    pub fn get_ref(&self) -> &R {
        &self.source
    }

    /// Fills `buf` with the text from `offset` on, as far as there is any. Returns how many bytes that are: fewer than
    /// `buf` has only at the end of the text, or before a block that cannot be read.
    ///
    /// # Errors
    /// If the first byte cannot be read: an error of the file or of the index, or `InvalidData` with an [`Error`]
    /// inside: [`Error::Data`] for a damaged block, [`Error::ForeignIndex`] if the index does not fit the file. Other
    /// places can still be read.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buf.len() {
            match self.read_block(&mut buf[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(_) if filled > 0 => break, // the next call meets it again
                Err(error) => return Err(error.into()),
            }
        }
        let end = offset + filled as u64;
        self.sequences.lock().unwrap_or_else(PoisonError::into_inner).end(offset, end);
        Ok(filled)
    }

    /// Fills `buf` from `offset` on, from the block there. Has further blocks decoded at the same time.
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
            // Another thread was told that it cannot be decoded: this one asks again.
            None => return self.read_block(buf, offset),
        };
        Ok(decoded.copy(offset - first.text_offset, buf))
    }

    /// Has these blocks decoded if they are not in the cache: `first`, then those up to the text offset `end`, but no
    /// more than `most` (or more short ones), and `ahead` more. Only so many as half of the cache holds.
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
            // What is ahead is of no use if its place in the index is damaged; whoever wants it will see that.
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

    /// Reads these blocks, which follow each other in the file, and has them decoded.
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

    /// So many bytes of the file, or fewer where it ends. Memory grows with what is there: an index may claim anything.
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

/// Blocks of which the cache expects the text. If the source panics, nobody shall wait for them.
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
    /// As for [`read_at`](Reader::read_at).
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.read_at(buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl<R: ReadAt> Seek for Reader<R> {
    /// Moves the position, also behind the end of the text.
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
