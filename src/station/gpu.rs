//! One lane of a GPU as a station: it run-length-codes a batch of blocks and has the device do what the lane's [`Pipeline`] says.
//!
//! With [`Pipeline::Resident`] that is all of it: the lane writes the blocks' heads before their codes and replies. With
//! [`Pipeline::Bwt`] the device sorts, and the rest (move-to-front and Huffman coding) is passed on to CPU cores, one block each:
//! the device sorts 3 to 4 GB/s, one core codes 0.1 to 0.2 GB/s of what it has sorted, so it takes all cores of its host, and a core
//! does most for the whole by finishing first and sorting only when there is nothing to finish. With [`Pipeline::Hybrid`], the
//! thesis's, the device sorts two thirds of the rotations and from them the rest, and the core that finishes a block first merges the two
//! lists (`codec::bwt::merge`). Its blocks go to the device turned to their least rotations.
//!
//! Several lanes keep the device busy: while some prepare, others sort.
//!
//! Lanes for [`Pipeline::Suffixes`] do blocks of `.hbz` streams instead, and those only (`suffixes`).
//!
//! What is not for the device is left to the cores: periodic blocks, whose rotations tie forever, and tiny ones.
//!
//! **Trust.** A column must hold the same bytes as its block (sums of the bytes and of their squares, compared), and the origin's row must
//! end in the block's last byte. A device that fails this check is not asked again. Blocks it got right before it failed have
//! been checked the same way. Of coded blocks see `coded`.
//!
//! **DeviceError.** A lane that fails is replaced by one of half the size, down to 16 blocks (one, of large ones); then it retires, and at
//! once if its context is lost. Its blocks are passed on as they came.

use super::{Directions, Done, Station, StationError, Work};
use crate::block::Text;
use crate::codec::bwt::rotation;
use crate::codec::encoder::{MAX_ENCODER_BLOCK, run_length_code};
use crate::format::hbz::LargeBlocks;
use crate::gpu::{self, Device, DeviceError, Pipeline, Sorter};
use crate::pipeline::pool::PoolBuilder;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

mod begun;
mod coded;
mod suffixes;
#[cfg(test)]
mod tests;

/// The fewest blocks for which a lane is worth having, where they are of bzip2's size.
const MIN_BATCH: usize = 16;
/// How much text a batch of large blocks should have, and all of a device's lanes together: up to 78 bytes of device memory for each byte.
const LARGE_BATCH: usize = 32 << 20;
const LARGE_BATCHES: usize = 512 << 20;

/// Threads that read and cut one long file for each device.
const READERS: usize = 2;

/// How long a batch may take, whatever its size, and per byte (50 MB/s: the slowest batches seen run at 500).
const PATIENCE: Duration = Duration::from_secs(5);
const PATIENCE_PER_BYTE: Duration = Duration::from_nanos(20);

/// What a pool is to have of GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Which devices, as [`gpu::select`] takes them; all that are visible if `None`.
    pub devices: Option<String>,
    /// Lanes of each device.
    pub lanes: usize,
    /// The most blocks in a batch. Each costs 73 bytes of device memory and 2 of pinned memory for each of its bytes (hybrid:
    /// 64 and 7, resident: 73 and 2.25, suffixes: 70 to 78 and 2).
    pub blocks: usize,
    /// The longest block, in bytes: of `.bz2` streams 900,000 and a few more.
    pub longest: usize,
    /// No lane is started before the pool has been given so many bytes of work.
    pub after: u64,
    /// What the devices do and what the cores.
    pub pipeline: Pipeline,
}

impl Default for Lanes {
    /// Eight lanes of 32 blocks (2.1 GB of device memory each) on every device, for inputs of more than 64 MB.
    ///
    /// A lane's thread prepares and checks for two thirds of its time, so four lanes leave an H200 half idle: on one machine of
    /// 16 cores four lanes of 64 gave 1.57 GB/s all-core and eight of 32 2.12.
    fn default() -> Self {
        let (lanes, blocks, longest) = (8, 32, MAX_ENCODER_BLOCK);
        Lanes { devices: None, lanes, blocks, longest, after: 64 << 20, pipeline: Pipeline::default() }
    }
}

impl Lanes {
    /// Lanes that sort blocks of `.hbz` streams, and none of `.bz2`: batches of 32 MB or one block, in up to eight lanes.
    pub fn for_large_blocks(large: &LargeBlocks) -> Self {
        let stream = large.stream();
        // Perturbation makes blocks longer, and what no lane can hold is left to the cores.
        let longest = (stream.max_rows(stream.block_size) as usize).min(gpu::MAX_WIDE_BLOCK);
        let blocks = LARGE_BATCH.div_ceil(longest).min(gpu::MAX_BATCH);
        let lanes = (LARGE_BATCHES / (blocks * longest)).clamp(1, 8);
        Lanes { lanes, blocks, longest, pipeline: Pipeline::Suffixes, ..Lanes::default() }
    }

    /// How many bytes of the window a lane can hold at once.
    fn held(&self) -> u64 {
        let each = match self.pipeline {
            Pipeline::Bwt | Pipeline::Resident => 5,
            // Lists of rows take 6.33 bytes where a column takes one: in pinned memory, and on their way to a core.
            Pipeline::Hybrid => 16,
            // What such a block is charged with, in the lane and after it.
            Pipeline::Suffixes => 24,
        };
        each * (self.blocks * self.longest) as u64
    }

    /// Adds these lanes to a pool. Nothing is looked for before they are started, except that without a list of devices
    /// there are only as many lanes as there seem to be devices. A lane that cannot be had says so in its station's report.
    pub fn add_to(&self, mut pool: PoolBuilder) -> PoolBuilder {
        let count = match &self.devices {
            Some(list) => list.split(',').count(),
            None => gpu::likely(),
        };
        // One reader carries 3.6 GB/s, and a device may take more.
        pool = pool.readers(1 + READERS * count);
        // The threads of lanes and readers need cores and memory, and more threads than cores make all of them slower. One H200 and 16
        // cores, 8 GB: 3.16 s with all at work beside eight lanes, 3.05 with half of them, 2.91 with one; two and 32 cores, 24 GB:
        // 5.0 s with 32 stations, 4.66 with 24 or 16, 4.77 with one.
        pool = pool.resting(self.lanes * count);
        let found: Arc<OnceLock<Result<Vec<Device>, String>>> = Arc::default();
        for lane in 0..self.lanes {
            for number in 0..count {
                let found = Arc::clone(&found);
                let Lanes { devices: list, blocks, longest, pipeline, .. } = self.clone();
                pool = pool.more_memory(self.held()).station(self.after, Directions::COMPRESS, move || {
                    let devices = found.get_or_init(|| {
                        let all = gpu::devices()?;
                        list.map_or(Ok(all.clone()), |list| gpu::select(&list, &all))
                    });
                    let device = devices.as_ref().map_err(String::clone)?.get(number).cloned();
                    let device = device.ok_or_else(|| format!("only {number} GPUs to be used"))?;
                    let name = format!("gpu {} lane {lane}", device.ordinal);
                    let open = move |most| gpu::open(&device, most, longest, pipeline);
                    Ok(Box::new(GpuStation::new(name, blocks, pipeline, Box::new(open))?) as Box<dyn Station>)
                });
            }
        }
        pool
    }
}

/// Opens a lane for so many blocks.
type Open = Box<dyn FnMut(usize) -> Result<Box<dyn Sorter>, DeviceError> + Send>;

/// One lane.
pub(crate) struct GpuStation {
    name: String,
    most: usize,
    pipeline: Pipeline,
    open: Open,
    sorter: Option<Box<dyn Sorter>>,
    /// A text put together from its parts, and run-length-coded.
    text: Vec<u8>,
    coded: Vec<u8>,
    candidates: Vec<u32>,
    coder: coded::Coder,
    preparer: suffixes::Preparer,
    times: Times,
}

/// What the lane's thread was busy with.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    batches: u32,
    blocks: usize,
    prepare: Duration,
    sort: Duration,
    pass_on: Duration,
}

/// A block in the batch.
struct Entry {
    index: usize,
    crc: u32,
    text_len: u64,
    len: usize,
    sums: [u64; 2],
    last: u8,
    /// The last byte of the turned block: what stands before the end mark.
    turned_last: u8,
}

/// The blocks that stand in a sorter's texts.
#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    lengths: Vec<u32>,
    /// Where each began before it was turned.
    turns: Vec<u32>,
    filled: usize,
}

impl GpuStation {
    /// A lane for `most` blocks, or as many as there is memory for.
    pub fn new(name: String, most: usize, pipeline: Pipeline, open: Open) -> Result<GpuStation, String> {
        let mut station = GpuStation {
            name,
            most: most.clamp(1, gpu::MAX_BATCH),
            pipeline,
            open,
            sorter: None,
            text: Vec::new(),
            coded: Vec::new(),
            candidates: Vec::new(),
            coder: coded::Coder::default(),
            preparer: suffixes::Preparer::default(),
            times: Times::default(),
        };
        station.reopen().map_err(|failure| failure.to_string())?;
        Ok(station)
    }

    /// Opens the lane, with half as many blocks as long as there is too little memory.
    fn reopen(&mut self) -> Result<(), DeviceError> {
        loop {
            match (self.open)(self.most) {
                Ok(sorter) => {
                    self.sorter = Some(sorter);
                    return Ok(());
                }
                Err(DeviceError::Memory(_)) if self.most / 2 >= self.fewest() => self.most /= 2,
                Err(failure) => return Err(failure),
            }
        }
    }

    /// The fewest blocks for which the lane is worth having.
    fn fewest(&self) -> usize {
        if self.pipeline == Pipeline::Suffixes { 1 } else { MIN_BATCH }
    }

    /// Has the device do what stands in the batch, and replies.
    fn do_sort(
        &mut self,
        sorter: &mut dyn Sorter,
        batch: &Batch,
        reply: &mut dyn FnMut(usize, Done),
    ) -> Result<(), DeviceError> {
        if batch.entries.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let patience = PATIENCE + PATIENCE_PER_BYTE * batch.lengths.iter().sum();
        let times = &mut self.times;
        let mut sorted = || {
            times.batches += 1;
            times.blocks += batch.entries.len();
            times.sort += began.elapsed();
            Instant::now()
        };
        let passing_on;
        match self.pipeline {
            // Large blocks do not come here.
            Pipeline::Bwt | Pipeline::Suffixes => {
                let answer = sorter.sort(&batch.lengths, patience)?;
                passing_on = sorted();
                begun::columns(batch, answer, reply)?;
            }
            Pipeline::Hybrid => {
                let answer = sorter.thirds(&batch.lengths, &batch.turns, patience)?;
                passing_on = sorted();
                begun::thirds(batch, answer, reply)?;
            }
            Pipeline::Resident => {
                let answer = sorter.code(&batch.lengths, patience)?;
                passing_on = sorted();
                let sample = self.times.batches as usize;
                self.coder.reply_all(batch, answer, sample, reply)?;
            }
        }
        self.times.pass_on += passing_on.elapsed();
        Ok(())
    }

    /// Does the batch, in as many sorts as the lane needs.
    fn do_batch(
        &mut self,
        sorter: &mut dyn Sorter,
        works: &[Work],
        reply: &mut dyn FnMut(usize, Done),
    ) -> Result<(), DeviceError> {
        if self.pipeline == Pipeline::Suffixes {
            return self.do_large(sorter, works, reply);
        }
        let mut began = Instant::now();
        let mut batch = Batch::default();
        for (index, work) in works.iter().enumerate() {
            let Work::Compress(text) = work else {
                reply(index, Done::Left);
                continue;
            };
            let (block, crc): (&[u8], u32) = match text {
                Text::RunLength { coded, crc, .. } => (coded, *crc),
                plain => {
                    self.coded.clear();
                    let crc = run_length_code(plain, &mut self.text, &mut self.coded);
                    (&self.coded, crc)
                }
            };
            let usual = (gpu::MIN_DEVICE_BLOCK..=sorter.longest()).contains(&block.len());
            if !usual || rotation::period(block) != block.len() {
                reply(index, Done::Left);
                continue;
            }
            let start = match self.pipeline {
                Pipeline::Bwt | Pipeline::Resident | Pipeline::Suffixes => 0,
                Pipeline::Hybrid => rotation::least(block, &mut self.candidates),
            };
            let place = &mut sorter.texts()[batch.filled..batch.filled + block.len()];
            let (before, from) = block.split_at(start);
            place[..from.len()].copy_from_slice(from);
            place[from.len()..].copy_from_slice(before);
            batch.filled += block.len();
            batch.lengths.push(block.len() as u32);
            batch.turns.push(if start == 0 { 0 } else { (block.len() - start) as u32 });
            let (len, last) = (block.len(), block[block.len() - 1]);
            let turned_last = before.last().copied().unwrap_or(last);
            // Only a column is compared by them.
            let sums = if self.pipeline == Pipeline::Resident { [0; 2] } else { begun::power_sums(block) };
            batch.entries.push(Entry { index, crc, text_len: text.len(), len, sums, last, turned_last });
            if batch.entries.len() == sorter.most_blocks() {
                self.times.prepare += began.elapsed();
                self.do_sort(sorter, &batch, reply)?;
                began = Instant::now();
                batch = Batch::default();
            }
        }
        self.times.prepare += began.elapsed();
        self.do_sort(sorter, &batch, reply)
    }
}

impl Station for GpuStation {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn most(&self) -> usize {
        self.most
    }

    fn details(&self) -> Option<String> {
        let Times { batches, blocks, prepare, sort, pass_on } = self.times;
        let steps = self.sorter.as_ref().map(|sorter| sorter.steps()).unwrap_or_default();
        Some(format!(
            "{batches} sorts of {:.0} blocks; prepare {:.3} s, sort {:.3} s, pass on {:.3} s; device, in ms: upload {:.0}, keys \
             {:.0}, sort {:.0}, group {:.0}, rounds {:.0} + {:.0} + {:.0}, thirds {:.0}, mtf {:.0}, tables {:.0}, codes {:.0}, download {:.0}",
            blocks as f64 / f64::from(batches.max(1)),
            prepare.as_secs_f64(),
            sort.as_secs_f64(),
            pass_on.as_secs_f64(),
            steps.upload,
            steps.keys,
            steps.sort,
            steps.group,
            steps.small,
            steps.large,
            steps.commit,
            steps.thirds,
            steps.mtf,
            steps.tables,
            steps.bits,
            steps.download,
        ))
    }

    fn work(&mut self, batch: &[Work], reply: &mut dyn FnMut(usize, Done)) -> Result<(), StationError> {
        // Put back only after success: after a failure (or a panic) a lane may only be dropped.
        let Some(mut sorter) = self.sorter.take() else {
            return Err(StationError { reason: "the lane is closed".to_owned(), retire: true });
        };
        let Err(failure) = self.do_batch(&mut *sorter, batch, reply) else {
            self.sorter = Some(sorter);
            return Ok(());
        };
        drop(sorter);
        let mut retire = matches!(failure, DeviceError::Lost(_)) || self.most / 2 < self.fewest();
        if !retire {
            self.most /= 2;
            retire = self.reopen().is_err();
        }
        Err(StationError { reason: failure.to_string(), retire })
    }
}
