//! One lane of a GPU as a station: it run-length-codes a batch of blocks, has the device sort them, and passes them on; the
//! rest (move-to-front and Huffman coding) is done by CPU cores, one block each.
//!
//! Why passed on: the device sorts 3 to 4 GB/s, while one core codes 0.1 to 0.2 GB/s of what it has sorted. So a GPU needs all
//! cores of its host to finish for it, and a core does most for the whole by finishing first and sorting only
//! when there is nothing to finish. Several lanes keep the device busy: while some
//! prepare, others sort.
//!
//! So it is with the default [`Pipeline`]. With [`Pipeline::Hybrid`], the thesis's, the device sorts two thirds of the rotations and from
//! them the rest, and the core that finishes a block first merges the two lists (`codec::bwt::merge`). Its blocks go to the device
//! turned to their least rotations.
//!
//! What is not for the device is left to the cores: periodic blocks, whose rotations tie forever, and tiny ones.
//!
//! **Trust.** A column must hold the same bytes as its block (sums of the bytes and of their squares, compared), and the origin's row must
//! end in the block's last byte. A device that fails this check is not asked again. Blocks it got right before it failed have
//! been checked the same way.
//!
//! **Failure.** A lane that fails is replaced by one of half the size, down to 16 blocks; then it retires, and at
//! once if its context is lost. Its blocks are passed on as they came.

use super::{Directions, Done, Rows, SortedBlock, Station, StationFailure, Work};
use crate::block::Text;
use crate::codec::bwt::merge::{Thirds, byte_count, key_count};
use crate::codec::bwt::rotation;
use crate::codec::encoder::{LONGEST_BLOCK, run_length_code};
use crate::gpu::{self, Device, Failure, Pipeline, Sorter};
use crate::pipeline::pool::PoolBuilder;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The fewest blocks for which a lane is worth having.
const FEWEST: usize = 16;

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
    /// 64 and 7).
    pub blocks: usize,
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
        Lanes { devices: None, lanes: 8, blocks: 32, after: 64 << 20, pipeline: Pipeline::Bwt }
    }
}

impl Lanes {
    /// Adds these lanes to a pool. Nothing is looked for before they are started, except that without a list of devices
    /// there are only as many lanes as there seem to be devices. A lane that cannot be had says so in its station's report.
    pub fn add_to(&self, mut pool: PoolBuilder) -> PoolBuilder {
        let count = match &self.devices {
            Some(list) => list.split(',').count(),
            None => gpu::likely(),
        };
        // One reader carries 3.6 GB/s, and a device may take more.
        pool = pool.readers(1 + READERS * count);
        let found: Arc<OnceLock<Result<Vec<Device>, String>>> = Arc::default();
        for lane in 0..self.lanes {
            for number in 0..count {
                let found = Arc::clone(&found);
                let Lanes { devices: list, blocks, pipeline, .. } = self.clone();
                // Lists of rows take 6.33 bytes where a column takes one: in pinned memory, and on their way to a core.
                let each = if pipeline == Pipeline::Bwt { 5 } else { 16 };
                let held = each * (blocks * LONGEST_BLOCK) as u64;
                pool = pool.more_memory(held).station(self.after, Directions::COMPRESS, move || {
                    let devices = found.get_or_init(|| {
                        let all = gpu::devices()?;
                        list.map_or(Ok(all.clone()), |list| gpu::select(&list, &all))
                    });
                    let device = devices.as_ref().map_err(String::clone)?.get(number).cloned();
                    let device = device.ok_or_else(|| format!("only {number} GPUs to be used"))?;
                    let name = format!("gpu {} lane {lane}", device.ordinal);
                    let open = move |most| gpu::open(&device, most, LONGEST_BLOCK, pipeline);
                    Ok(Box::new(GpuStation::new(name, blocks, pipeline, Box::new(open))?) as Box<dyn Station>)
                });
            }
        }
        pool
    }
}

/// Opens a lane for so many blocks.
type Open = Box<dyn FnMut(usize) -> Result<Box<dyn Sorter>, Failure> + Send>;

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
            most: most.clamp(1, gpu::MOST_BLOCKS),
            pipeline,
            open,
            sorter: None,
            text: Vec::new(),
            coded: Vec::new(),
            candidates: Vec::new(),
            times: Times::default(),
        };
        station.reopen().map_err(|failure| failure.to_string())?;
        Ok(station)
    }

    /// Opens the lane, with half as many blocks as long as there is too little memory.
    fn reopen(&mut self) -> Result<(), Failure> {
        loop {
            match (self.open)(self.most) {
                Ok(sorter) => {
                    self.sorter = Some(sorter);
                    return Ok(());
                }
                Err(Failure::Memory(_)) if self.most / 2 >= FEWEST => self.most /= 2,
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Sorts what stands in the batch and begins each block of it.
    fn sort(
        sorter: &mut dyn Sorter,
        pipeline: Pipeline,
        batch: &Batch,
        times: &mut Times,
        reply: &mut dyn FnMut(usize, Done),
    ) -> Result<(), Failure> {
        if batch.entries.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let patience = PATIENCE + PATIENCE_PER_BYTE * batch.lengths.iter().sum();
        let (mut keys, mut bytes, origins): (&[u32], &[u8], &[u32]) = match pipeline {
            Pipeline::Bwt => {
                let sorted = sorter.sort(&batch.lengths, patience)?;
                (&[], sorted.columns, sorted.origins)
            }
            Pipeline::Hybrid => {
                let sorted = sorter.thirds(&batch.lengths, &batch.turns, patience)?;
                (sorted.keys, sorted.bytes, sorted.origins)
            }
        };
        times.batches += 1;
        times.blocks += batch.entries.len();
        times.sort += began.elapsed();
        let began = Instant::now();
        for (entry, &origin) in batch.entries.iter().zip(origins) {
            let (key_count, byte_count, marks) = match pipeline {
                Pipeline::Bwt => (0, entry.len, 0),
                Pipeline::Hybrid => (key_count(entry.len), byte_count(entry.len), Thirds::marks(entry.len)),
            };
            let (Some(for_keys), Some(for_bytes)) =
                (keys.split_at_checked(key_count), bytes.split_at_checked(byte_count))
            else {
                return Err(Failure::Other("the device gave back too little".to_owned()));
            };
            (keys, bytes) = (for_keys.1, for_bytes.1);
            let rows = for_bytes.0;
            // The sums do not count the byte before the end mark, but the merge does.
            let mark_is_right = rows[..marks].iter().all(|&byte| byte == entry.turned_last);
            let origin_is_right = rows.get(origin as usize) == Some(&entry.last);
            if !mark_is_right || !origin_is_right || power_sums(&rows[marks..]) != entry.sums {
                return Err(Failure::Lost("the device computes wrongly".to_owned()));
            }
            let rows = rows.to_vec();
            let rows = match pipeline {
                Pipeline::Bwt => Some(Rows::Column(rows)),
                Pipeline::Hybrid => Thirds::new(for_keys.0.to_vec(), rows, entry.len).map(Rows::Thirds),
            };
            let Some(rows) = rows else { continue };
            let begun = SortedBlock { rows, origin, crc: entry.crc, text_len: entry.text_len };
            reply(entry.index, Done::Begun(begun));
        }
        times.pass_on += began.elapsed();
        Ok(())
    }

    /// Does the batch, in as many sorts as the lane needs.
    fn do_batch(
        &mut self,
        sorter: &mut dyn Sorter,
        works: &[Work],
        reply: &mut dyn FnMut(usize, Done),
    ) -> Result<(), Failure> {
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
            let usual = (gpu::SHORTEST..=sorter.longest()).contains(&block.len());
            if !usual || rotation::period(block) != block.len() {
                reply(index, Done::Left);
                continue;
            }
            let start = match self.pipeline {
                Pipeline::Bwt => 0,
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
            let sums = power_sums(block);
            batch.entries.push(Entry { index, crc, text_len: text.len(), len, sums, last, turned_last });
            if batch.entries.len() == sorter.most_blocks() {
                self.times.prepare += began.elapsed();
                Self::sort(sorter, self.pipeline, &batch, &mut self.times, reply)?;
                began = Instant::now();
                batch = Batch::default();
            }
        }
        self.times.prepare += began.elapsed();
        Self::sort(sorter, self.pipeline, &batch, &mut self.times, reply)
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
             {:.0}, sort {:.0}, group {:.0}, rounds {:.0} + {:.0} + {:.0}, thirds {:.0}, download {:.0}",
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
            steps.download,
        ))
    }

    fn work(&mut self, batch: &[Work], reply: &mut dyn FnMut(usize, Done)) -> Result<(), StationFailure> {
        // Put back only after success: after a failure (or a panic) a lane may only be dropped.
        let Some(mut sorter) = self.sorter.take() else {
            return Err(StationFailure { reason: "the lane is closed".to_owned(), retire: true });
        };
        let Err(failure) = self.do_batch(&mut *sorter, batch, reply) else {
            self.sorter = Some(sorter);
            return Ok(());
        };
        drop(sorter);
        let mut retire = matches!(failure, Failure::Lost(_)) || self.most / 2 < FEWEST;
        if !retire {
            self.most /= 2;
            retire = self.reopen().is_err();
        }
        Err(StationFailure { reason: failure.to_string(), retire })
    }
}

/// The sums of the bytes and of their squares: the same for a block and its last column.
///
/// Not the cubes: these two are one `psadbw` and one `pmaddwd` for 8 or more bytes on any x86-64, while 32-bit products
/// made this the slowest part of a lane.
fn power_sums(bytes: &[u8]) -> [u64; 2] {
    let (mut sum, mut squares) = (0, 0);
    // 16384 squares fit in 31 bits.
    for piece in bytes.chunks(16384) {
        sum += piece.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        squares +=
            piece.iter().map(|&byte| i32::from(i16::from(byte)) * i32::from(i16::from(byte))).sum::<i32>() as u64;
    }
    [sum, squares]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::encoder::Encoder;
    use crate::gpu::fake::{FakeSorter, Fault};
    use crate::shapes::SHAPES;
    use crate::station::cpu::CpuStation;
    use crate::{Level, Settings};
    use std::num::NonZeroUsize;

    const PIPELINES: [Pipeline; 2] = [Pipeline::Bwt, Pipeline::Hybrid];

    fn fake(pipeline: Pipeline, most: usize, fault: Option<(usize, Fault)>) -> GpuStation {
        let mut fault = fault;
        let open = move |most| {
            // What replaces a lane that failed is in order.
            Ok(Box::new(FakeSorter::new(most, LONGEST_BLOCK, fault.take())) as Box<dyn Sorter>)
        };
        GpuStation::new("fake".to_owned(), most, pipeline, Box::new(open)).unwrap()
    }

    fn texts() -> Vec<Work> {
        let lens = [1, 63, 64, 65, 5000, 20000];
        let all = SHAPES.iter().flat_map(|shape| lens.map(|len| Work::Compress(Text::Plain((shape.make)(len)))));
        all.collect()
    }

    /// Does the batch; answers how many blocks were sorted, left, and not done, having checked those sorted.
    fn outcome(station: &mut GpuStation, batch: &[Work]) -> ([usize; 3], Result<(), StationFailure>) {
        let mut encoder = Encoder::new();
        let mut core = CpuStation::new(0, Arc::default());
        let mut done = vec![2; batch.len()];
        let result = station.work(batch, &mut |index, answer| {
            assert_eq!(done[index], 2, "answered twice");
            done[index] = match answer {
                Done::Begun(sorted) => {
                    let Work::Compress(text) = &batch[index] else { panic!() };
                    let Done::Coded(finished) = core.one(&Work::Finish(sorted)) else { panic!() };
                    assert_eq!(finished, encoder.encode(text), "block {index}");
                    0
                }
                Done::Left => 1,
                other => panic!("{other:?}"),
            };
        });
        ([0, 1, 2].map(|kind| done.iter().filter(|&&d| d == kind).count()), result)
    }

    #[test]
    fn sorts_what_is_usual_and_leaves_the_rest() {
        let batch = texts();
        for (most, pipeline) in [16, 37, 512].into_iter().flat_map(|most| PIPELINES.map(|pipeline| (most, pipeline))) {
            let ([begun, left, undone], result) = outcome(&mut fake(pipeline, most, None), &batch);
            assert!(result.is_ok());
            assert_eq!(undone, 0);
            assert!(begun > batch.len() / 3 && left > batch.len() / 6, "{begun} {left}");
        }
    }

    #[test]
    fn failures() {
        let batch = texts();
        for (call, pipeline) in (0..3).flat_map(|call| PIPELINES.map(|pipeline| (call, pipeline))) {
            for (fault, retire) in
                [(Fault::Memory, false), (Fault::Sticky, true), (Fault::Hang, true), (Fault::Wrong, true)]
            {
                let mut station = fake(pipeline, 32, Some((call, fault)));
                let ([begun, _, undone], result) = outcome(&mut station, &batch);
                if undone == 0 {
                    continue; // it did not come to that call
                }
                assert_eq!(result.unwrap_err().retire, retire, "{fault:?}");
                assert!(begun >= call * 16, "{fault:?} at call {call}: {begun} begun");
                let (_, again) = outcome(&mut station, &batch);
                assert_eq!(again.is_ok(), !retire, "{fault:?}");
            }
        }
    }

    #[test]
    fn too_little_memory_makes_smaller_lanes() {
        let open = |most: usize| {
            if most > 30 {
                return Err(Failure::Memory("fake".to_owned()));
            }
            Ok(Box::new(FakeSorter::new(most, LONGEST_BLOCK, None)) as Box<dyn Sorter>)
        };
        assert_eq!(GpuStation::new("fake".to_owned(), 100, Pipeline::Bwt, Box::new(open)).unwrap().most(), 25);
        let never = |_| Err(Failure::Memory("none at all".to_owned()));
        assert_eq!(
            GpuStation::new("fake".to_owned(), 100, Pipeline::Bwt, Box::new(never)).err().unwrap(),
            "none at all"
        );
    }

    /// The same with real devices, where there are any.
    #[test]
    fn on_every_device() {
        let devices = match gpu::devices() {
            Ok(devices) => devices,
            Err(why) => return println!("skipped: no device ({why})"),
        };
        let batch = texts();
        for (device, pipeline) in devices.iter().flat_map(|device| PIPELINES.map(|pipeline| (device, pipeline))) {
            for most in [1, 2, 17, 128, 512] {
                let device = device.clone();
                let open = move |most| gpu::open(&device, most, LONGEST_BLOCK, pipeline);
                let mut station = GpuStation::new("device".to_owned(), most, pipeline, Box::new(open)).unwrap();
                for _ in 0..2 {
                    let ([begun, left, undone], result) = outcome(&mut station, &batch);
                    assert!(result.is_ok(), "{result:?}");
                    assert_eq!(undone, 0);
                    assert!(begun > batch.len() / 3 && left > batch.len() / 6, "{begun} {left}");
                }
                println!("{pipeline:?}: {}", station.details().unwrap_or_default());
            }
        }
        // Every level, all shapes, with a pool that leaves nothing but finishing to the cores.
        let mut text = Vec::new();
        for shape in SHAPES {
            text.extend((shape.make)(950_000));
        }
        for (level, pipeline) in (1..=9).flat_map(|level| PIPELINES.map(|pipeline| (level, pipeline))) {
            let settings = Settings::new().level(Level::try_new(level).unwrap());
            let lanes = Lanes { after: 0, blocks: 32, pipeline, ..Lanes::default() };
            let pool = lanes.add_to(crate::Pool::builder().cpu_finishes_only()).build();
            let coded = crate::compress(&text, &settings.clone().pool(&pool)).unwrap();
            assert!(coded == crate::compress(&text, &settings).unwrap(), "level {level}, {pipeline:?}");
            let stations = pool.summary().stations;
            let on_device: u64 = stations.iter().filter(|s| s.name.starts_with("gpu")).map(|s| s.blocks).sum();
            assert!(on_device > 0 && stations.iter().all(|s| s.fallbacks == 0), "{stations:?}");
        }
    }

    /// The whole pipeline, with fake lanes that fail in every way: the bytes are the same.
    #[test]
    fn in_a_pool() {
        let mut text = Vec::new();
        for shape in SHAPES {
            text.extend((shape.make)(150_000));
        }
        let level = Settings::new().level(Level::FASTEST);
        let plain = crate::compress(&text, &level).unwrap();
        for fault in [None, Some(Fault::Memory), Some(Fault::Sticky), Some(Fault::Hang), Some(Fault::Wrong)] {
            for finishes_only in [false, true] {
                for cores in [0, 2] {
                    let mut pool = crate::Pool::builder();
                    pool = match NonZeroUsize::new(cores) {
                        Some(cores) => pool.threads(cores),
                        None => pool.without_cpu(),
                    };
                    if finishes_only {
                        pool = pool.cpu_finishes_only();
                    }
                    for (lane, pipeline) in PIPELINES.into_iter().enumerate() {
                        pool = pool.station(0, Directions::COMPRESS, move || {
                            Ok(Box::new(fake(pipeline, 16, fault.map(|fault| (lane, fault)))) as Box<dyn Station>)
                        });
                    }
                    let pool = pool.build();
                    let coded = crate::compress(&text, &level.clone().pool(&pool)).unwrap();
                    assert!(coded == plain, "{fault:?}, {cores} cores");
                    let summary = pool.summary();
                    let counted: u64 = summary.stations.iter().map(|s| s.bytes_in).sum();
                    assert_eq!(counted, text.len() as u64, "{summary:?}");
                }
            }
        }
    }
}
