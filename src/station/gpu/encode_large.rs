//! Codes blocks of `.hbz` streams completely ([`Offload::CodeLarge`](super::Offload::CodeLarge)): the lane's
//! thread turns each text into codes, the device sorts and codes these, and the lane's thread writes the head of the
//! payload before the segments.
//!
//! This file computes prices and tables from the device's counts (`hbz::codec::tally`), so a block has the same bytes
//! as a core's.
//!
//! **Trust.** As in `encode`: all data except the segments must be valid, and one block of a device's first batch and
//! of every [`SAMPLED`]th (rarer if blocks are long) is decoded and must have its text, of which a long block's first
//! [`WALKED`] rows are compared. A device that computes wrong results is therefore noticed at its first batch; a single
//! wrong bit can pass, and verification finds it ([`Verify::Devices`](crate::Verify)).
//!
//! Measured (one H200, 16 cores, 8 GB of source code): 3.4 s at 9M, 3.7 to 3.9 at 64M; 5.7 at first, compared with 9.4
//! if the device only sorts. Of a lane's 3.2 s at 64M, 1.2 are for the codes of the text and 1.9 for the device, which
//! other lanes use as well.

use super::batches::{Answered, Batch, Batched, Jobs, Put, timeout};
use super::suffixes::Preparer;
use super::trust::{computes_wrongly, right, too_little};
use crate::formats::hbz::codec::encode::{CodedColumn, Prepared, assemble};
use crate::formats::hbz::codec::sample::begins;
use crate::formats::hbz::codec::tally::{Prices, Tally, rounds, selector_count, step, weights};
use crate::formats::hbz::header::{BlockHeader, ENTRY_LOG, GROUP, SEGMENT_LOG};
use crate::formats::hbz::stream::tasks::EncodeLarge;
use hybz_gpu::{
    CodedSegment, CodedSegments, DeviceError, DeviceLane, PricesForDevice, SharesForDevice, Tokenized, TokensByDevice,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One block in this many batches of a device is decoded; if blocks are n times as long as [`WALKED`], one block in n
/// times as many.
const SAMPLED: u32 = 16;
/// The number of rows of such a block that are walked, or a few more. Blocks after it wait for their turn to be written
/// meanwhile, and lanes then wait for memory. 8 GB in blocks of 64 MB took 4.88 s while one thread walked all rows,
/// with this limit 4.07, and without any check 3.76 (medians of four on one host); with four threads 3.88, and without
/// any check 3.89 (on another).
const WALKED: u32 = 9_000_000;

#[derive(Default)]
pub(super) struct LargeCodes {
    preparer: Preparer,
    /// The number of batches of the device.
    batches: Arc<AtomicU32>,
}

/// The number of batches of a device of which one block is decoded.
fn interval(lengths: &[u32]) -> u32 {
    SAMPLED * lengths.iter().max().map_or(1, |longest| longest.div_ceil(WALKED))
}

impl LargeCodes {
    /// One of the lanes that count the batches of their device together.
    pub fn counting(batches: &Arc<AtomicU32>) -> Self {
        LargeCodes { batches: Arc::clone(batches), ..LargeCodes::default() }
    }
}

impl Batched for LargeCodes {
    type Task = EncodeLarge;
    type Kept = Prepared;
    type Input = u32;
    type Found<'a> = (Vec<About>, CodedSegments<'a>);
    const MIN_BATCH: usize = 1;

    fn put(&mut self, task: &EncodeLarge, lane: &mut dyn DeviceLane, batch: &Batch<Self>) -> Put<Prepared, u32> {
        self.preparer.put(task, lane, batch.filled, |prepared, _| prepared)
    }

    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<Self::Found<'a>, DeviceError> {
        code(lane, &batch.inputs)
    }

    fn answer(
        &mut self,
        batch: Batch<Self>,
        (about, coded): Self::Found<'_>,
        jobs: &mut Jobs<'_, EncodeLarge>,
    ) -> Answered {
        let sample = self.batches.fetch_add(1, Ordering::Relaxed);
        // Valid segments always fit into the room for them.
        right(!coded.bytes.is_empty())?;
        let blocks = finish_all(&batch, &about, coded)?;
        let interval = interval(&batch.inputs);
        if sample.is_multiple_of(interval) {
            let number = (sample / interval) as usize % blocks.len();
            let (header, payload) = &blocks[number];
            right(jobs.get(number).is_some_and(|job| {
                let task = job.task();
                begins(&task.text, WALKED as usize, task.stream, *header, Arc::new(payload.clone()))
            }))?;
        }
        for (number, block) in blocks.into_iter().enumerate() {
            if let Some(job) = jobs.get(number) {
                job.complete(block);
            }
        }
        Ok(())
    }
}

/// The data of a block apart from its segments.
pub(super) struct About {
    tokens: TokensByDevice,
    entries: Vec<u32>,
    tally: Tally,
}

impl About {
    fn selectors(&self) -> usize {
        self.tokens.selectors as usize
    }
}

/// Sorts a batch, chooses tables for it, and encodes it.
fn code<'a>(lane: &'a mut dyn DeviceLane, lengths: &[u32]) -> Result<(Vec<About>, CodedSegments<'a>), DeviceError> {
    // Up to sixteen lanes share a device.
    let limit = 4 * timeout(lengths);
    let mut about = begin(lengths, lane.tokens(lengths, ENTRY_LOG, &weights(), limit)?)?;
    let most = about.iter().map(About::selectors).max().unwrap_or(1);
    for round in rounds(most) {
        let prices = |about: &About| Prices::new(&about.tally, round.free_moves, about.selectors());
        let prices: Vec<PricesForDevice> = about.iter().map(|about| (&prices(about)).into()).collect();
        let tallies = lane.choose(&prices, round.all, limit)?;
        if tallies.len() != about.len() {
            return Err(too_little());
        }
        about.iter_mut().zip(tallies).for_each(|(about, tally)| about.tally = tally.into());
    }
    right(about.iter().all(all_counted))?;
    let shares = |about: &About| {
        let (tokens, selectors) = about.tally.tables(about.selectors());
        SharesForDevice::new(&tokens, &selectors)
    };
    let shares: Vec<SharesForDevice> = about.iter().map(shares).collect();
    Ok((about, lane.segments(&shares, limit)?))
}

/// The results of the first step for each block, if they are valid.
fn begin(lengths: &[u32], begun: Tokenized<'_>) -> Result<Vec<About>, DeviceError> {
    if begun.blocks.len() != lengths.len() || begun.tallies.len() != lengths.len() {
        return Err(too_little());
    }
    let each = begun.entries.len() / lengths.len();
    let blocks = lengths.iter().zip(begun.blocks).zip(begun.tallies).zip(begun.entries.chunks(each.max(1)));
    blocks
        .map(|(((&length, tokens), tally), entries)| {
            let count = (length as usize).div_ceil(1 << ENTRY_LOG);
            let entries = entries.get(..count).ok_or_else(too_little)?.to_vec();
            let selectors = selector_count(tokens.tokens as usize);
            let segments = (length as usize).div_ceil(1 << SEGMENT_LOG);
            let possible = entries.iter().all(|&row| row < length)
                && (1..=length).contains(&tokens.tokens)
                && (tokens.selectors as usize, tokens.step as usize) == (selectors, step(selectors, segments))
                && tokens.used.iter().any(|&mask| mask != 0);
            possible.then_some(About { tokens: *tokens, entries, tally: tally.into() }).ok_or_else(computes_wrongly)
        })
        .collect()
}

/// Whether the last choice counted each token once, with a selector that exists.
fn all_counted(about: &About) -> bool {
    let Tally { tokens, moves } = &about.tally;
    let count: u64 = tokens[..about.selectors()].iter().flatten().map(|&times| u64::from(times)).sum();
    let beyond = tokens[about.selectors()..].iter().flatten().any(|&times| times > 0)
        || moves.iter().enumerate().any(|(before, moves)| {
            let known = if before < about.selectors() { about.selectors() } else { 0 };
            moves[known..].iter().any(|&times| times > 0)
        });
    count == u64::from(about.tokens.tokens) && !beyond
}

/// A block's header and payload.
type Coded = (BlockHeader, Vec<u8>);

/// Writes the heads of all blocks.
fn finish_all(batch: &Batch<LargeCodes>, about: &[About], coded: CodedSegments<'_>) -> Result<Vec<Coded>, DeviceError> {
    let (mut segments, mut bytes) = (coded.segments, coded.bytes);
    let mut blocks = Vec::with_capacity(about.len());
    for ((prepared, about), &length) in batch.kept.iter().zip(about).zip(&batch.inputs) {
        let count = (length as usize).div_ceil(1 << SEGMENT_LOG);
        let (own, rest) = segments.split_at_checked(count).ok_or_else(too_little)?;
        let size = |segment: &CodedSegment| (segment.bits.div_ceil(8), segment.tokens);
        let sizes: Vec<(u32, u32)> = own.iter().map(size).collect();
        // Each token takes at least one row, and each group of tokens has a selector.
        let rows = |number: usize| (length as usize - (number << SEGMENT_LOG)).min(1 << SEGMENT_LOG);
        let possible =
            |(number, size): (usize, &(u32, u32))| (1..=rows(number)).contains(&(size.1 as usize)) && size.0 >> 24 == 0;
        let all = sizes.iter().fold((0, 0, 0), |all, &(bytes, tokens)| {
            let (bytes, tokens) = (bytes as usize, tokens as usize);
            (all.0 + bytes, all.1 + tokens, all.2 + tokens.div_ceil(GROUP) as u64)
        });
        let moves: u64 = about.tally.moves.iter().flatten().map(|&times| u64::from(times)).sum();
        let all_possible = sizes.iter().enumerate().all(possible);
        right(all_possible && (all.1, all.2) == (about.tokens.tokens as usize, moves))?;
        let (body, after) = bytes.split_at_checked(all.0).ok_or_else(too_little)?;
        (segments, bytes) = (rest, after);
        let (tokens, selectors) = about.tally.tables(about.selectors());
        let column = CodedColumn {
            rows: length as usize,
            used: &std::array::from_fn(|code| about.tokens.used[code / 32] >> (code % 32) & 1 == 1),
            entries: &about.entries,
            tokens: &tokens,
            selectors: &selectors,
            sizes: &sizes,
            body,
        };
        blocks.push(assemble(prepared, &column));
    }
    Ok(blocks)
}
