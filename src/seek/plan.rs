//! Reads text of a `.bz2` file whose bytes the caller fetches, for example from an asynchronous store.

use super::blocks::{Wanted, submit};
use super::cache::Cache;
use crate::error::Error;
use crate::index::Index;
use crate::settings::Settings;
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a `.bz2` file to fetch for a range of its text, by its index: exactly those of the blocks with that
/// text, each once. The plan does no I/O and needs no runtime, so it serves any asynchronous client: the ranges are
/// what `object_store`'s `get_ranges` takes, and the pieces what it returns. `examples/remote.rs` uses it over HTTP.
///
/// The `.bzi` of a remote file is fetched as a whole (32 or 40 bytes for each block) and opened with
/// [`Index::open_unchecked`]. Whether it fits the file is checked at each block.
///
/// ```
/// use hybz::{Level, Settings, index::Index, seek::Plan};
/// use std::sync::Arc;
/// let text: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
/// let file = hybz::compress(&text, &Settings::new().level(Level::FASTEST))?;
/// let mut bzi = Vec::new();
/// Index::build(&file[..], &Settings::new())?.write(&mut bzi)?;
///
/// let index = Index::open_unchecked(Arc::new(bzi), &Vec::new())?;
/// let plan = Plan::new(&index, 250_000..250_100)?;
/// let pieces: Vec<&[u8]> = plan.ranges().iter().map(|r| &file[r.start as usize..r.end as usize]).collect();
/// assert!(pieces.concat().len() < file.len() / 3);
/// assert_eq!(plan.decode(&pieces, &Settings::new())?, text[250_000..250_100]);
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    text: Range<u64>,
    blocks: Vec<Wanted>,
    ranges: Vec<Range<u64>>,
}

impl Plan {
    /// The plan for these bytes of the text; bytes beyond the text's end are left out.
    ///
    /// # Errors
    /// See [`Index::find`].
    pub fn new(index: &Index, text: Range<u64>) -> Result<Plan, Error> {
        let text = text.start..text.end.min(index.text_len());
        let (mut blocks, mut ranges) = (Vec::new(), Vec::<Range<u64>>::new());
        let mut next = if text.is_empty() { None } else { index.find(text.start)? };
        while let Some(block) = next {
            let bytes = block.bytes();
            match ranges.last_mut() {
                // Blocks end and begin at any bit: most share a byte with the next one.
                Some(last) if last.end >= bytes.start => last.end = bytes.end,
                _ => ranges.push(bytes),
            }
            next = if block.text_offset + block.text_len < text.end { index.next(&block)? } else { None };
            blocks.push(Wanted::of_index(block));
        }
        Ok(Plan { text, blocks, ranges })
    }

    /// The bytes of the file to fetch: in order, none empty, with a gap between each and the next.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// The text, from the bytes of each of [`ranges`](Self::ranges). The stations of the settings' pool decode, while
    /// the calling thread waits: asynchronous callers call it where blocking is allowed, as `spawn_blocking` does.
    ///
    /// Besides the text, memory is needed for twice as many blocks as the pool has cores.
    ///
    /// # Errors
    /// [`Error::Data`] for a damaged block, [`Error::ForeignIndex`] if the index does not fit the file,
    /// [`Error::Truncated`] for a piece that is missing or too short.
    pub fn decode(&self, pieces: &[impl AsRef<[u8]>], settings: &Settings) -> Result<Vec<u8>, Error> {
        let client = settings.get_pool().client();
        let cache = Arc::new(Cache::new(0));
        let most = super::AHEAD_PER_CORE * settings.get_pool().cores().max(1);
        let mut ranges = self.ranges.iter().zip(pieces).peekable();
        let mut submitted = self.blocks.iter();
        let mut out = Vec::new();
        for (count, block) in self.blocks.iter().enumerate() {
            let ahead = if count == 0 { most } else { 1 };
            for block in submitted.by_ref().take(ahead) {
                while ranges.next_if(|(range, _)| range.end < block.bytes.end).is_some() {}
                let at = |range: &Range<u64>| {
                    (block.bytes.start - range.start) as usize..(block.bytes.end - range.start) as usize
                };
                let bytes = ranges.peek().and_then(|(range, piece)| piece.as_ref().get(at(range)));
                let bytes = bytes.ok_or_else(|| block.cut(block.bytes.start))?;
                cache.reserve(block.key, block.cost(), true);
                submit(block, bytes, &client, &cache)?;
            }
            let decoded = cache.wait(block.key).ok_or_else(|| {
                let reason = "the cache lost it".to_owned();
                Error::Internal { block: block.number, reason }
            })??;
            let from = self.text.start.max(block.text_offset);
            let (have, len) = (out.len(), self.text.end.min(block.text_end()) - from);
            out.resize(have + len as usize, 0);
            decoded.copy(from - block.text_offset, &mut out[have..]);
        }
        Ok(out)
    }
}
