//! Who does the work: the [`Station`] trait and the loop that every station thread runs.

use crate::block::{CodedBlock, DecodedBlock, Text};
use crate::codec::bwt::merge::Thirds;
use crate::error::DecodeError;
use crate::pipeline::queue::{Job, Reply, Source, Waits};
use crate::summary::Counters;
use cpu::CpuStation;
use crossbeam_channel::Sender;
use large::{LargeDone, LargeWork, SortedLarge};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

pub use crate::pipeline::queue::Directions;

pub(crate) mod cpu;
pub mod gpu;
pub mod large;

/// One block's worth of work, as it lies on the queue. Stations only read it: a station that fails has lost nothing.
#[derive(Clone, Debug)]
pub enum Work {
    /// Code this text as one block.
    Compress(Text),
    /// Code this block, which another station has sorted.
    Finish(Begun),
    /// Decode the block whose magic begins at bit `start` of `data` (which may hold more than the block, or too little).
    Decompress {
        /// Compressed bytes.
        data: Arc<Vec<u8>>,
        /// Where in them the block's magic begins, in bits.
        start: u64,
        /// The first bit that does not belong to these data (the last byte may be shared with the next span).
        end: u64,
    },
    /// A block of a `.hbz` stream, or a part of one.
    Large(LargeWork),
}

impl Work {
    /// How many bytes go in: text when compressing, compressed bytes when decompressing.
    pub fn bytes_in(&self) -> u64 {
        match self {
            Work::Compress(text) => text.len(),
            Work::Finish(begun) => begun.text_len(),
            Work::Decompress { data, .. } => data.len() as u64,
            Work::Large(work) => work.bytes_in(),
        }
    }

    /// Which of the queue's [`Directions`] it is, numbered as they are there. Whoever compresses may be given any blocks of text, and
    /// leave those that are not for it.
    pub(crate) fn direction(&self) -> usize {
        match self {
            Work::Compress(_) | Work::Finish(_) | Work::Large(LargeWork::Encode { .. }) => 0,
            Work::Decompress { .. } => 1,
            Work::Large(_) => 2,
        }
    }

    /// Whether it is a block that a core should not begin where stations are there for that.
    pub(crate) fn is_long(&self) -> bool {
        matches!(self, Work::Large(LargeWork::Encode { text, .. }) if text.len() > LONG)
    }
}

/// A core is busy with a block of so many bytes for 0.4 s and more, in which a GPU has started. (Tests have no time for these.)
const LONG: usize = if cfg!(test) { 32 << 10 } else { 16 << 20 };

/// A block that one station has sorted, for another to code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Of a `.bz2` stream.
    Block(SortedBlock),
    /// Of a `.hbz` stream.
    Large(SortedLarge),
}

impl Begun {
    /// How many bytes of text it holds.
    pub fn text_len(&self) -> u64 {
        match self {
            Begun::Block(sorted) => sorted.text_len,
            Begun::Large(sorted) => sorted.prepared.text_len(),
        }
    }
}

/// How far a block has been sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All the way: the last column.
    Column(Vec<u8>),
    /// Two lists of rotations, to be merged.
    Thirds(Thirds),
}

/// A block whose rotations are sorted, on its way from the station that sorted it to the one that codes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedBlock {
    /// Its rows.
    pub rows: Rows,
    /// Which of them is the block itself.
    pub origin: u32,
    /// The CRC of the block's text.
    pub crc: u32,
    /// How many bytes of text it holds.
    pub text_len: u64,
}

/// What a station made of one [`Work`].
#[derive(Debug)]
pub enum Done {
    /// A block, coded.
    Coded(CodedBlock),
    /// A block, decoded and its CRC right; or what the plain decoder says is wrong with it: an answer, not a failure.
    Decoded(Result<DecodedBlock, DecodeError>),
    /// The block begun: what is left to do, for another station.
    Begun(Begun),
    /// Not done: this kind of block is better done by a CPU core, from the beginning.
    Left,
    /// What came of a [`Work::Large`].
    Large(LargeDone),
}

/// A station could not do (all of) its batch. The blocks it did not reply to are done by the CPU codec, and counted.
#[derive(Debug)]
pub struct StationError {
    /// What happened, for the user.
    pub reason: String,
    /// Whether the station must not be given work again.
    pub retire: bool,
}

/// Somebody who can code and decode blocks: a CPU core, a lane of a GPU, or a fake in a test.
///
/// A station runs on a thread of its own, which takes work from the queue, calls [`work`](Station::work) and replies.
/// It never waits for anything but the queue: this is why the pipeline cannot deadlock.
pub trait Station: Send {
    /// A short name for reports, such as `cpu 3` or `gpu 0 lane 1`.
    fn name(&self) -> String;

    /// How many blocks it would like to take at once.
    fn most(&self) -> usize {
        1
    }

    /// What it was busy with, in words, for reports.
    fn details(&self) -> Option<String> {
        None
    }

    /// Does a batch and hands each result to `reply` under its index in `batch`, in any order, each once.
    ///
    /// What has no reply when this returns (with `Ok` or `Err`) or panics is done by a CPU core.
    fn work(&mut self, batch: &[Work], reply: &mut dyn FnMut(usize, Done)) -> Result<(), StationError>;
}

/// The loop of a station's thread: take, work, reply, until the queue closes or the station retires. Returns why it retired.
///
/// Every job that is taken is replied to, whatever the station does: what it begins or leaves undone is passed on, if there is
/// anybody else to take it, or else done here by the CPU codec.
pub(crate) fn serve(
    station: &mut dyn Station,
    source: &Source,
    counters: &Counters,
    share: &dyn Fn(Waits) -> usize,
    rests: &dyn Fn() -> bool,
    anybody_else: &dyn Fn() -> bool,
) -> Option<String> {
    let pass_on = |job| if anybody_else() { source.pass_on(job) } else { Err(job) };
    loop {
        let waiting = Instant::now();
        let jobs = source.take(share, rests)?;
        counters.waited_ns.fetch_add(waiting.elapsed().as_nanos() as u64, Relaxed);
        let working = Instant::now();
        let finishing = jobs.iter().all(|job| matches!(job.work, Work::Finish(_)));
        let outcome = work_off(station, jobs, counters, &pass_on);
        let busy = working.elapsed().as_nanos() as u64;
        counters.busy_ns.fetch_add(busy, Relaxed);
        if finishing {
            counters.finishing_ns.fetch_add(busy, Relaxed);
        }
        if let Some(details) = station.details() {
            counters.say(details);
        }
        if let Err(StationError { reason, retire }) = outcome {
            counters.fail(&reason);
            if retire {
                return Some(reason);
            }
        }
    }
}

/// Where a job's result goes, and whether anybody still wants it.
type Answer = (Sender<Reply>, Arc<AtomicBool>);

/// Has the station do some jobs. Those that it begins or leaves undone are passed on; those that `pass_on` gives back are done
/// here, by the CPU codec.
pub(crate) fn work_off(
    station: &mut dyn Station,
    mut jobs: Vec<Job>,
    counters: &Counters,
    pass_on: &dyn Fn(Job) -> Result<(), Job>,
) -> Result<(), StationError> {
    jobs.retain(|job| !job.cancelled.load(Relaxed));
    let (batch, mut answers): (Vec<Work>, Vec<Option<Answer>>) =
        jobs.into_iter().map(|job| (job.work, Some((job.reply, job.cancelled)))).unzip();
    if batch.is_empty() {
        return Ok(());
    }
    let mut left = vec![false; batch.len()];
    let mut returned = Vec::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        station.work(&batch, &mut |index, done| {
            // What answers another question is no reply; the CPU codec will give one.
            let fits = matches!(
                (batch.get(index), &done),
                (Some(_), Done::Left)
                    | (Some(Work::Compress(_)), Done::Coded(_) | Done::Begun(Begun::Block(_)))
                    | (Some(Work::Finish(Begun::Block(_))), Done::Coded(_))
                    | (Some(Work::Finish(Begun::Large(_))), Done::Large(LargeDone::Encoded(..)))
                    | (Some(Work::Decompress { .. }), Done::Decoded(_))
                    | (Some(Work::Large(LargeWork::Encode { .. })), Done::Begun(Begun::Large(_)))
                    | (Some(Work::Large(_)), Done::Large(_))
            );
            if !fits {
                return;
            }
            let Some((reply, cancelled)) = answers.get_mut(index).and_then(Option::take) else { return };
            match done {
                Done::Begun(begun) => {
                    counters.blocks.fetch_add(1, Relaxed);
                    counters.bytes_in.fetch_add(begun.text_len(), Relaxed);
                    returned.extend(pass_on(Job { work: Work::Finish(begun), reply, cancelled }).err());
                }
                Done::Left => {
                    left[index] = true;
                    answers[index] = Some((reply, cancelled));
                }
                done => {
                    count(counters, &batch[index], &done);
                    let _ = reply.send(Ok(done)); // nobody waits for it any more: fine
                }
            }
        })
    }));
    let outcome = outcome.unwrap_or_else(|panic| Err(StationError { reason: panic_text(&*panic), retire: false }));
    for ((work, answer), left) in batch.into_iter().zip(answers).zip(left) {
        let Some((reply, cancelled)) = answer else { continue };
        if !left {
            counters.fallbacks.fetch_add(1, Relaxed);
        }
        returned.extend(pass_on(Job { work, reply, cancelled }).err());
    }
    for Job { work, reply, .. } in returned {
        // A fresh codec: the station's own may be in any state.
        let done = catch_unwind(AssertUnwindSafe(|| CpuStation::new(0, Arc::default()).one(&work)));
        let done = done.map_err(|panic| panic_text(&*panic));
        if let Ok(done) = &done {
            count(counters, &work, done);
        }
        let _ = reply.send(done);
    }
    outcome
}

fn count(counters: &Counters, work: &Work, done: &Done) {
    // Whoever began a block has counted it.
    if matches!(work, Work::Finish(_)) {
        counters.finished.fetch_add(1, Relaxed);
    } else {
        counters.blocks.fetch_add(1, Relaxed);
        counters.bytes_in.fetch_add(work.bytes_in(), Relaxed);
    }
    let out = match done {
        Done::Coded(block) => block.bytes.len() as u64,
        Done::Decoded(Ok(block)) => block.text.len(),
        Done::Decoded(Err(_)) | Done::Begun(_) | Done::Left => 0,
        Done::Large(done) => done.bytes_out(),
    };
    counters.bytes_out.fetch_add(out, Relaxed);
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("panic").to_owned()
}
