//! Divides a lane's jobs into batches, for every kind of lane.

use super::trust::computes_wrongly;
use hybz_gpu::{self as gpu, DeviceError, DeviceLane, LaneSize, Result};
use hybz_gpu::{GpuStation, Offloaded, Open, Times};
use hybz_queue::{Core, Job, Station, Task, TypedJob};
use std::marker::PhantomData;
use std::time::{Duration, Instant};

/// The time that any batch may take, plus a time for each byte (50 MB/s: the slowest batches seen run at 500).
const TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT_PER_BYTE: Duration = Duration::from_nanos(20);

/// The maximum time of a batch.
pub(super) fn timeout(lengths: &[u32]) -> Duration {
    TIMEOUT + TIMEOUT_PER_BYTE * lengths.iter().sum()
}

/// The reason why a block is not in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unplaced {
    /// The block is left to a core.
    Never,
    /// The batch has no room for it. If the batch is empty, the block is left to a core.
    NotNow,
    Failed(DeviceError),
}

impl From<DeviceError> for Unplaced {
    fn from(error: DeviceError) -> Self {
        Unplaced::Failed(error)
    }
}

/// A block in a lane's input: what the lane's thread keeps of it, what the device is told, and its number of bytes.
pub(super) struct Placed<K, I> {
    pub kept: K,
    pub input: I,
    pub bytes: usize,
}

pub(super) type Put<K, I> = Result<Placed<K, I>, Unplaced>;

/// Whether what the device has found was right, as far as the lane's thread can tell.
pub(super) type Answered = Result<()>;

/// How a lane's thread handles batches of blocks.
pub(super) trait Batched: Send + Sized {
    type Task: Task;

    /// What the lane's thread keeps of a block.
    type Kept;

    /// What the device is told of a block.
    type Input;

    /// What the device returns for a batch.
    type Found<'a>;

    /// The minimum number of blocks for which a lane is worth having.
    const MIN_BATCH: usize;

    /// The number of bytes of jobs that such a lane should take in one batch.
    fn max_bytes(size: LaneSize) -> u64 {
        let _ = size;
        u64::MAX
    }

    /// The lane has failed and been dropped. Another may come, of half the size.
    fn lane_is_gone(&mut self) {}

    /// Writes a block into the lane's input, after those of the batch, which has fewer blocks than the lane can take.
    fn put(
        &mut self,
        task: &Self::Task,
        lane: &mut dyn DeviceLane,
        batch: &Batch<Self>,
    ) -> Put<Self::Kept, Self::Input>;

    /// Has the device do a batch, which is not empty.
    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<Self::Found<'a>>;

    /// Checks what the device has found, and completes, forwards or declines the jobs.
    fn answer(&mut self, batch: Batch<Self>, found: Self::Found<'_>, jobs: &mut Jobs<'_, Self::Task>) -> Answered;
}

/// The blocks in a lane's input.
pub(super) struct Batch<B: Batched> {
    /// The index of each block's job.
    indices: Vec<usize>,
    pub kept: Vec<B::Kept>,
    pub inputs: Vec<B::Input>,
    /// The number of bytes of the lane's input that are in use.
    pub filled: usize,
}

impl<B: Batched> Default for Batch<B> {
    fn default() -> Self {
        Batch { indices: Vec::new(), kept: Vec::new(), inputs: Vec::new(), filled: 0 }
    }
}

impl<B: Batched> Batch<B> {
    pub fn push(&mut self, index: usize, placed: Placed<B::Kept, B::Input>) {
        self.indices.push(index);
        self.kept.push(placed.kept);
        self.inputs.push(placed.input);
        self.filled += placed.bytes;
    }
}

/// The jobs of a batch.
pub(super) struct Jobs<'a, T> {
    jobs: &'a mut [Job],
    indices: Vec<usize>,
    core: &'a mut Core,
    /// Whether a block of the batch has been judged.
    judged: bool,
    of: PhantomData<T>,
}

/// The reason why what the device has found for a block is not used.
pub(super) enum Doubt {
    /// A core must do the block.
    Odd,
    /// Either the data are damaged, or the device computes wrong results.
    Suspect,
}

impl<T: Task> Jobs<'_, T> {
    /// The job of a block of the batch, if it is open: to be forwarded, or completed where the output is no `Result`.
    pub fn get(&mut self, number: usize) -> Option<TypedJob<'_, T>> {
        self.jobs[self.indices[number]].of()
    }

    /// Completes a job with what `find` returns, or declines it. This thread itself judges the first suspect of a
    /// batch: if the block is right, the device is not.
    pub fn complete<O, E>(
        &mut self,
        number: usize,
        find: impl FnOnce(&T) -> Result<O, Doubt>,
        judge: impl FnOnce(&T, &mut Core) -> Result<O, E>,
    ) -> Result<()>
    where
        T: Task<Output = Result<O, E>>,
    {
        let Some(job) = self.jobs[self.indices[number]].of::<T>() else { return Ok(()) };
        let judged = match find(job.task()) {
            Ok(output) => {
                job.complete(Ok(output));
                return Ok(());
            }
            Err(Doubt::Suspect) if !std::mem::replace(&mut self.judged, true) => Some(judge(job.task(), self.core)),
            Err(_) => None,
        };
        let right = matches!(judged, Some(Ok(_)));
        match judged {
            Some(verdict) => job.complete(verdict),
            None => job.decline(),
        }
        if right { Err(computes_wrongly()) } else { Ok(()) }
    }
}

/// A lane for `blocks` blocks, or for as many as memory allows.
pub(super) fn station<B: Batched + 'static>(
    name: String,
    blocks: usize,
    open: Open,
    batched: B,
) -> Result<Box<dyn Station>, String> {
    let batches = Batches { batched, core: Core::new(0) };
    Ok(Box::new(GpuStation::new(name, blocks.clamp(1, gpu::MAX_BATCH), B::MIN_BATCH, open, batches)?))
}

/// Work that is done in batches of blocks.
struct Batches<B> {
    batched: B,
    /// The state with which the lane's thread judges blocks.
    core: Core,
}

impl<B: Batched> Batches<B> {
    fn put(&mut self, job: &Job, lane: &mut dyn DeviceLane, batch: &Batch<B>) -> Put<B::Kept, B::Input> {
        let task = job.task().ok_or(Unplaced::Never)?;
        if batch.kept.len() == lane.size().max_blocks {
            return Err(Unplaced::NotNow);
        }
        self.batched.put(task, lane, batch)
    }

    fn run(
        &mut self,
        lane: &mut dyn DeviceLane,
        mut batch: Batch<B>,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<()> {
        let indices = std::mem::take(&mut batch.indices);
        let mut jobs = Jobs { jobs, indices, core: &mut self.core, judged: false, of: PhantomData };
        times.batch(
            batch.kept.len(),
            || Ok((B::device(lane, &batch)?, batch)),
            |(found, batch)| self.batched.answer(batch, found, &mut jobs),
        )
    }
}

impl<B: Batched> Offloaded for Batches<B> {
    fn limits(blocks: usize, lane: &dyn DeviceLane) -> (usize, u64) {
        (blocks, B::max_bytes(lane.size()))
    }

    fn lane_is_gone(&mut self) {
        self.batched.lane_is_gone();
    }

    /// Does the jobs in as many batches as the lane needs.
    fn work(&mut self, _: usize, lane: &mut dyn DeviceLane, jobs: &mut [Job], times: &mut Times) -> Result<()> {
        let mut began = Instant::now();
        let mut batch = Batch::default();
        for index in 0..jobs.len() {
            loop {
                match self.put(&jobs[index], lane, &batch) {
                    Ok(placed) => batch.push(index, placed),
                    Err(Unplaced::NotNow) if !batch.kept.is_empty() => {
                        times.prepare += began.elapsed();
                        self.run(lane, std::mem::take(&mut batch), jobs, times)?;
                        began = Instant::now();
                        continue;
                    }
                    Err(Unplaced::Failed(error)) => return Err(error),
                    Err(Unplaced::Never | Unplaced::NotNow) => jobs[index].decline(),
                }
                break;
            }
        }
        times.prepare += began.elapsed();
        if batch.kept.is_empty() { Ok(()) } else { self.run(lane, batch, jobs, times) }
    }
}
