//! Text that goes to a device as it comes, part by part, while cores count what each range will have.
//!
//! ```text
//! chunks -> (a core) lines, bytes and sum of each range -------------> where the slices of each range are
//!        '-> parts of 128 MB -> (a lane) sorted and kept on the device -'-> ranges, by lanes: see stored.rs
//! ```
//!
//! The device's memory is asked for when the first chunk comes, and parts wait until it is there. What the device does
//! not take, whatever the reason, is partitioned by cores as if there were no device.

use super::order::Order;
use super::splitters::Splitters;
use super::stored::{KeepText, Kept, Part, STORE, StorePart, StoredText};
use super::way::Flight;
use super::work::{Bucket, Lines, Parted, PartitionChunk, Piece};
use super::{Pool, hold};
use crate::error::Error;
use crate::schedule::{Client, Permit, Ticket};
use std::mem::take;
use std::sync::{Arc, OnceLock};

/// The least text for which this is done: starting a device takes as long as cores take to partition so much. (One H200
/// and 16 cores: 0.7 s, and 3 GB/s.)
const LEAST: u64 = if cfg!(test) { 1 << 20 } else { 2 << 30 };

/// A part: as long as a batch of a lane.
const PART: u64 = if cfg!(test) { 2 << 20 } else { 128 << 20 };

/// A part on its way.
struct Pending {
    chunks: Arc<Vec<Piece>>,
    bytes: u64,
    at: u64,
    /// By bucket.
    counts: Vec<Bucket>,
    /// Whether all of it has come.
    is_whole: bool,
    /// Whether it is kept, once it has been asked for.
    answer: Option<Ticket<bool>>,
}

/// Text on its way to a device.
pub(super) struct Resident {
    end: u8,
    splitters: Arc<Splitters>,
    client: Client<Lines>,
    permits: Vec<Permit>,
    opening: Option<Ticket<Option<Kept>>>,
    kept: Option<Kept>,
    /// How much text there is memory for.
    room: u64,
    /// How much has come.
    bytes: u64,
    counting: Flight<PartitionChunk, usize>,
    /// The last one is being filled.
    parts: Vec<Pending>,
    /// The chunks that the last part has so far.
    chunks: Vec<Piece>,
}

impl Resident {
    /// If it is worth it for so many bytes, and if there is a device, or seems to be.
    pub fn new(order: &Order, pool: &Pool, splitters: &Arc<Splitters>, bytes: u64, counting: u64) -> Option<Resident> {
        if bytes < LEAST || !pool.has_accelerators_for(STORE) {
            return None;
        }
        let client = pool.client();
        // Each file may lack the end of its last line.
        let room = bytes + bytes / 64 + (1 << 16);
        let opening = Some(client.submit(KeepText { bytes: room }));
        Some(Resident {
            end: order.end_byte(),
            splitters: Arc::clone(splitters),
            client,
            permits: Vec::new(),
            opening,
            kept: None,
            room,
            bytes: 0,
            counting: Flight::new(pool, counting),
            parts: Vec::new(),
            chunks: Vec::new(),
        })
    }

    /// Takes whole lines, or gives them back if there is no room for them.
    pub fn push(&mut self, chunk: Piece) -> Result<Option<Piece>, Error> {
        let bytes = chunk.range.len() as u64;
        if bytes > PART || self.bytes + bytes > self.room {
            return Ok(Some(chunk));
        }
        if self.parts.last().is_none_or(|part| part.bytes + bytes > PART) {
            self.end_part();
            let counts = vec![Bucket::default(); self.splitters.buckets()];
            let chunks = Arc::default();
            self.parts.push(Pending { chunks, bytes: 0, at: self.bytes, counts, is_whole: false, answer: None });
        }
        self.bytes += bytes;
        self.chunks.push(chunk.clone());
        self.permits.extend(hold(&self.client, bytes));
        let Resident { counting, parts, splitters, end, .. } = self;
        let number = parts.len() - 1;
        parts[number].bytes += bytes;
        let question = PartitionChunk { keep: false, ..PartitionChunk::new(chunk, splitters, *end) };
        counting.ask(question, number, bytes, &mut |part, counted| count(parts, part, &counted))?;
        Ok(None)
    }

    /// The last part is whole.
    fn end_part(&mut self) {
        if let Some(part) = self.parts.last_mut().filter(|part| !part.is_whole) {
            part.chunks = Arc::new(take(&mut self.chunks));
            part.is_whole = true;
        }
        if let Some(opened) = self.opening.as_ref().and_then(|opening| opening.poll()) {
            self.opened(opened.ok().flatten());
        }
        self.ask();
    }

    /// The device's memory is there, or it is known that there is none.
    fn opened(&mut self, kept: Option<Kept>) {
        self.opening = None;
        self.kept = kept;
    }

    /// Has parts kept, if that can be.
    fn ask(&mut self) {
        let Some(kept) = &self.kept else { return };
        for part in self.parts.iter_mut().filter(|part| part.is_whole && part.answer.is_none()) {
            let Pending { chunks, bytes, at, .. } = part;
            let (kept, chunks, end) = (kept.clone(), Arc::clone(chunks), self.end);
            part.answer = Some(self.client.submit(StorePart { kept, chunks, bytes: *bytes, at: *at, end }));
        }
    }

    /// All text has come. Returns what is kept, if anything is, and the chunks that are not: all of them if a range
    /// together with what `parted` has of it is too long for a lane.
    pub fn finish(mut self, parted: &[Parted]) -> Result<(Option<Arc<StoredText>>, Vec<Piece>), Error> {
        self.end_part();
        if let Some(opening) = &self.opening {
            let opened = opening.wait().ok().flatten();
            self.opened(opened);
            self.ask();
        }
        let Resident { counting, parts, .. } = &mut self;
        counting.finish(&mut |part, counted| count(parts, part, &counted))?;
        let mut rest = Vec::new();
        let Some(kept) = self.kept.take() else { return Ok((None, self.into_chunks())) };
        let mut stored = StoredText {
            kept,
            splitters: Arc::clone(&self.splitters),
            end: self.end,
            parts: Vec::new(),
            counts: vec![Bucket::default(); self.splitters.buckets()],
        };
        for part in take(&mut self.parts) {
            if !part.answer.is_some_and(|answer| answer.wait() == Ok(true)) {
                rest.extend_from_slice(&part.chunks);
                continue;
            }
            let mut at = part.at;
            let mut starts = vec![at];
            for (number, (own, all)) in part.counts.iter().zip(&mut stored.counts).enumerate() {
                let len_of_equal = |(line, _): (&[u8], u64)| u64::from(own.lines) * (line.len() as u64 + 1);
                at += self.splitters.heavy(number).map_or(u64::from(own.end), len_of_equal);
                starts.push(at);
                all.lines += own.lines;
                all.sum = all.sum.wrapping_add(own.sum);
            }
            if at != part.at + part.bytes {
                // A core has counted wrong. What it counted cannot be used; the next to do it will be checked.
                rest.extend_from_slice(&part.chunks);
                return Ok((None, [rest, chunks_of(stored.parts)].concat()));
            }
            stored.parts.push(Part { chunks: part.chunks, starts, parted: OnceLock::new() });
        }
        if !(0..self.splitters.buckets()).step_by(2).all(|number| fits(&stored, parted, number)) {
            return Ok((None, [rest, chunks_of(stored.parts)].concat()));
        }
        let some = !stored.parts.is_empty();
        Ok((some.then(|| Arc::new(stored)), rest))
    }

    /// All chunks that have come, for others.
    pub fn into_chunks(mut self) -> Vec<Piece> {
        self.end_part();
        take(&mut self.parts).into_iter().flat_map(|part| part.chunks.to_vec()).collect()
    }
}

fn chunks_of(parts: Vec<Part>) -> Vec<Piece> {
    parts.into_iter().flat_map(|part| part.chunks.to_vec()).collect()
}

/// Whether a lane has room for a range.
fn fits(stored: &StoredText, parted: &[Parted], number: usize) -> bool {
    let host = parted.iter().map(|parted| parted.buckets[number]);
    let (bytes, lines) =
        host.fold((0, 0), |(bytes, lines), own| (bytes + u64::from(own.end - own.start), lines + u64::from(own.lines)));
    let lines = lines + u64::from(stored.counts[number].lines);
    bytes + stored.len_of(number) <= stored.kept.batch && lines <= stored.kept.lines
}

/// Adds what a core has counted to its part.
fn count(parts: &mut [Pending], part: usize, counted: &Parted) -> Result<(), Error> {
    for (all, own) in parts[part].counts.iter_mut().zip(&counted.buckets) {
        all.end += own.end - own.start;
        all.lines += own.lines;
        all.sum = all.sum.wrapping_add(own.sum);
    }
    Ok(())
}
