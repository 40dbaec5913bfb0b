//! Text that goes to a device as it comes, part by part, while cores count the lines of each range.
//!
//! ```text
//! chunks -> (a core) lines, bytes and sum of each range -------------> where the slices of each range are
//!        '-> parts of 64 MB -> (a lane) sorted and kept on the device -'-> ranges, by lanes: see stored.rs
//! ```
//!
//! The device's memory is requested when the first chunk comes, and parts wait until it is allocated. Cores partition
//! the text that the device does not take, whatever the reason, as if there were no device.

use super::flight::Flight;
use super::order::Order;
use super::parts::{Bucket, Parted, Piece};
use super::splitters::Splitters;
use super::stored::{Kept, PART, Part, StoredText};
use super::tasks::{KeepText, PartitionChunk, STORE, StorePart};
use super::{Pool, hold};
use crate::error::Error;
use hybz_queue::{Client, Permit, Ticket};
use std::mem::take;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The shortest text that goes to a device: starting a device takes as long as cores take to partition this much. (One
/// H200 and 16 cores: 0.7 s, and 3 GB/s.)
const LEAST: u64 = if cfg!(test) { 1 << 20 } else { 2 << 30 };

/// The longest text that goes to a device: there are at most 1,024 ranges, none of which may be longer than a part,
/// and a sample is not exact.
const MOST: u64 = 16 << 30;

/// How long to wait for a device's memory after all text has come.
const PATIENCE: Duration = Duration::from_secs(10);

/// A part that is being sent.
struct Pending {
    chunks: Arc<Vec<Piece>>,
    bytes: u64,
    at: u64,
    /// Indexed by bucket.
    counts: Vec<Bucket>,
    /// Whether all of it has come.
    is_whole: bool,
    /// The request to keep it, until the request is answered; and whether it is kept.
    asked: Option<Ticket<bool>>,
    kept: Option<bool>,
}

/// The state of text that goes to a device.
pub(super) struct Resident {
    end: u8,
    splitters: Arc<Splitters>,
    client: Client,
    permits: Vec<Permit>,
    opening: Option<Ticket<Option<Kept>>>,
    kept: Option<Kept>,
    /// A part was not kept. Further parts would not be kept either, so no more text is taken.
    is_closed: bool,
    /// How much text the memory holds.
    room: u64,
    /// How much text has come.
    bytes: u64,
    counting: Flight<PartitionChunk, usize>,
    /// The parts; the last one is being filled.
    parts: Vec<Pending>,
    /// The chunks of the last part so far.
    chunks: Vec<Piece>,
}

impl Resident {
    /// `None` if it does not pay for `bytes` of text, or if there is no device.
    pub fn new(order: &Order, pool: &Pool, splitters: &Arc<Splitters>, bytes: u64, counting: u64) -> Option<Resident> {
        if !(LEAST..=MOST).contains(&bytes) || !pool.has_accelerators_for(STORE) {
            return None;
        }
        let client = pool.client();
        // Each file may lack the end of its last line.
        let room = bytes + bytes / 64 + (1 << 16);
        let opening = Some(client.task(KeepText { bytes: room }).class(STORE, 0).submit());
        Some(Resident {
            end: order.end_byte(),
            splitters: Arc::clone(splitters),
            client,
            permits: Vec::new(),
            opening,
            kept: None,
            is_closed: false,
            room,
            bytes: 0,
            counting: Flight::new(pool, counting),
            parts: Vec::new(),
            chunks: Vec::new(),
        })
    }

    /// Whether the device has refused the memory.
    pub fn is_refused(&self) -> bool {
        self.opening.is_none() && self.kept.is_none()
    }

    /// Takes whole lines, or gives them back if the device or the host has no memory for them.
    pub fn push(&mut self, chunk: Piece) -> Result<Option<Piece>, Error> {
        let bytes = chunk.range.len() as u64;
        self.poll();
        if self.is_closed || bytes > PART || self.bytes + bytes > self.room {
            return Ok(Some(chunk));
        }
        let Some(permit) = hold(&self.client, bytes) else { return Ok(Some(chunk)) };
        self.permits.push(permit);
        if self.parts.last().is_none_or(|part| part.bytes + bytes > PART) {
            self.end_part();
            let counts = vec![Bucket::default(); self.splitters.buckets()];
            let chunks = Arc::default();
            let (bytes, at, is_whole, asked, kept) = (0, self.bytes, false, None, None);
            self.parts.push(Pending { chunks, bytes, at, counts, is_whole, asked, kept });
        }
        self.bytes += bytes;
        self.chunks.push(chunk.clone());
        let Resident { counting, parts, splitters, end, .. } = self;
        let number = parts.len() - 1;
        parts[number].bytes += bytes;
        let task = PartitionChunk { keep: false, ..PartitionChunk::new(chunk, splitters, *end) };
        counting.submit(task, number, bytes, &mut |part, counted| count(parts, part, &counted))?;
        Ok(None)
    }

    /// The last part is complete.
    fn end_part(&mut self) {
        if let Some(part) = self.parts.last_mut().filter(|part| !part.is_whole) {
            part.chunks = Arc::new(take(&mut self.chunks));
            part.is_whole = true;
        }
        self.ask();
    }

    /// Checks whether the device's memory is allocated, and which parts are kept.
    fn poll(&mut self) {
        if let Some(opened) = self.opening.as_ref().and_then(|opening| opening.poll()) {
            self.opening = None;
            self.kept = opened.ok().flatten();
        }
        for part in &mut self.parts {
            if let Some(answer) = part.asked.as_ref().and_then(Ticket::poll) {
                (part.asked, part.kept) = (None, Some(answer == Ok(true)));
                self.is_closed |= part.kept == Some(false);
            }
        }
    }

    /// Requests that parts be kept, if possible.
    fn ask(&mut self) {
        let Some(kept) = &self.kept else { return };
        let is_new = |part: &&mut Pending| part.is_whole && part.asked.is_none() && part.kept.is_none();
        for part in self.parts.iter_mut().filter(is_new) {
            let Pending { chunks, bytes, at, .. } = part;
            let (kept, chunks, end) = (kept.clone(), Arc::clone(chunks), self.end);
            let task = StorePart { kept, chunks, bytes: *bytes, at: *at, end };
            part.asked = Some(self.client.task(task).class(STORE, *bytes).submit());
        }
    }

    /// All text has come. Returns the kept text, if there is any, and the chunks that are not kept.
    pub fn finish(mut self) -> Result<(Option<StoredText>, Vec<Piece>), Error> {
        self.end_part();
        self.wait_for_memory();
        let Resident { counting, parts, .. } = &mut self;
        counting.finish(&mut |part, counted| count(parts, part, &counted))?;
        let Some(kept) = self.kept.take() else { return Ok((None, self.into_chunks())) };
        let (mut stored, mut rest) = (Vec::new(), Vec::new());
        let mut counts = vec![(0u64, 0u64); self.splitters.buckets()];
        for part in take(&mut self.parts) {
            let starts = self.starts(&part);
            let is_kept = part.kept.unwrap_or_else(|| part.asked.is_some_and(|asked| asked.wait() == Ok(true)));
            // (If the ranges do not add up to the part, a core has counted wrong.)
            if !is_kept || starts.last() != Some(&(part.at + part.bytes)) {
                rest.extend_from_slice(&part.chunks);
                continue;
            }
            for (all, own) in counts.iter_mut().zip(&part.counts) {
                *all = (all.0 + u64::from(own.lines), all.1.wrapping_add(own.sum));
            }
            let chunks = Mutex::new(Arc::unwrap_or_clone(part.chunks));
            stored.push(Part { chunks, starts, parted: OnceLock::new() });
        }
        let splitters = Arc::clone(&self.splitters);
        let text = StoredText { kept, splitters, end: self.end, parts: stored, counts };
        Ok(((!text.parts.is_empty()).then_some(text), rest))
    }

    /// The start of each range of a part in the kept text, and the end of the last one.
    fn starts(&self, part: &Pending) -> Vec<u64> {
        let mut starts = vec![part.at];
        let mut at = part.at;
        for (number, own) in part.counts.iter().enumerate() {
            let len_of_equal = |(line, _): (&[u8], u64)| u64::from(own.lines) * (line.len() as u64 + 1);
            at += self.splitters.heavy(number).map_or(u64::from(own.end), len_of_equal);
            starts.push(at);
        }
        starts
    }

    /// Waits until it is known whether there is memory, but not for ever, because a driver may hang.
    fn wait_for_memory(&mut self) {
        let until = Instant::now() + PATIENCE;
        while self.opening.is_some() && Instant::now() < until {
            self.poll();
            std::thread::sleep(Duration::from_millis(2));
        }
        self.ask();
    }

    /// Returns all chunks that have come, to be partitioned by cores.
    pub fn into_chunks(mut self) -> Vec<Piece> {
        self.end_part();
        take(&mut self.parts).into_iter().flat_map(|part| Arc::unwrap_or_clone(part.chunks)).collect()
    }
}

/// Adds a core's counts to the part that they belong to.
fn count(parts: &mut [Pending], part: usize, counted: &Parted) -> Result<(), Error> {
    for (all, own) in parts[part].counts.iter_mut().zip(&counted.buckets) {
        all.end += own.end - own.start;
        all.lines += own.lines;
        all.sum = all.sum.wrapping_add(own.sum);
    }
    Ok(())
}
