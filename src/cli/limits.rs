//! How many threads, how much memory and which GPUs one call uses unless it is told: at most its share of the machine
//! or container.

use crate::cli::args::{Gpus, Mode, Operand, Plan};
use crate::cli::os::memory;
use hybz::station::gpu::Lanes;
use std::fs::{self, File};
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::thread;

/// What a CPU station needs at most, with its share of the blocks in flight: 12 MB of tables and 11 MB, measured.
const PER_THREAD: u64 = 24 << 20;

/// GPUs are worth starting for this much input per thread: half a second's work.
const WORTH_A_GPU: u64 = 24 << 20;

/// Whether there is so little to do that starting threads, or finding out how many there may be, takes longer than the
/// work. A 1 kB file takes 0.3 ms less this way, of 1.4.
pub fn no_threads(plan: &Plan) -> bool {
    let [operand] = &plan.operands[..] else { return false };
    // The size may be wrong (in /proc it is 0). Then one thread does more work than intended, and does it correctly.
    let max_len = match plan.mode {
        Mode::Compress => plan.level.block_limit().into(),
        Mode::Decompress | Mode::Test => 16 << 10,
    };
    plan.verbose < 2 && !plan.gpu_required && file_len(operand).is_some_and(|len| (1..=max_len).contains(&len))
}

/// The length of an operand, if it is a file.
fn file_len(operand: &Operand) -> Option<u64> {
    let found = match operand {
        Operand::Stdin => io::stdin().as_fd().try_clone_to_owned().and_then(|stdin| File::from(stdin).metadata()),
        Operand::File(path) => fs::metadata(path),
    };
    found.ok().filter(fs::Metadata::is_file).map(|found| found.len())
}

/// The lanes of the GPUs that help, if any.
///
/// If all operands are files, their sizes say beforehand whether GPUs are worth starting; of a pipe it is known once
/// enough has been read. Below that CUDA is not called at all: starting it takes as long as the cores need for such an
/// input, and slows them down. (16 cores: 100 MB in 0.15 s without and 0.22 s with a GPU, 203 MB in 0.30 and 0.42, 1 GB
/// in 1.46 and 1.0.)
pub fn lanes(plan: &Plan) -> Option<Lanes> {
    let devices = match (&plan.gpus, plan.mode) {
        (Gpus::None, _) | (_, Mode::Decompress | Mode::Test) => return None,
        (Gpus::Visible, _) => None,
        (Gpus::These(list), _) => Some(list.clone()),
    };
    let kind = match &plan.large_blocks {
        Some(large) => Lanes::for_large_blocks(large),
        None => Lanes { pipeline: plan.gpu_pipeline, ..Lanes::default() },
    };
    let mut lanes = Lanes { devices, ..kind };
    // With thousands of files, stat-ing all of them first is not worth it.
    let files = if plan.operands.len() <= 64 { plan.operands.iter().map(file_len).sum::<Option<u64>>() } else { None };
    // There are at most as many busy threads as blocks.
    let blocks = files.map_or(u64::MAX, |total| total.div_ceil(lanes.longest as u64));
    lanes.after = lanes.after.max(WORTH_A_GPU * blocks.min(threads(plan).get() as u64));
    // There are at most as many busy lanes as batches. A lane pins two to three times the text of a batch.
    let batches = blocks.div_ceil(lanes.blocks as u64);
    let room = plan.memory.map_or(u64::MAX, |memory| memory / (3 * lanes.blocks * lanes.longest) as u64);
    lanes.lanes = lanes.lanes.min(usize::try_from(batches.min(room)).unwrap_or(usize::MAX)).max(1);
    match files {
        _ if plan.gpu_required => Some(Lanes { after: 0, ..lanes }),
        Some(total) if total < lanes.after => None,
        Some(_) => Some(Lanes { after: 0, ..lanes }),
        None => Some(lanes),
    }
}

/// The number of CPU stations: what was asked for, or one for each core that affinity and the container's quota allow,
/// but at most as many as fit into a quarter of the memory.
pub fn threads(plan: &Plan) -> NonZeroUsize {
    plan.threads.unwrap_or_else(|| {
        // std reads the affinity and the CPU quotas of our control group and of those above it.
        let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        if cores == NonZeroUsize::MIN {
            return cores;
        }
        // A large block takes 12 times its size; users who ask for large blocks get half of the memory.
        let large = plan.large_blocks.map_or(0, |large| u64::from(large.size()) * 6);
        let room = usize::try_from(share_of_memory() / PER_THREAD.max(large)).unwrap_or(usize::MAX);
        cores.min(NonZeroUsize::new(room).unwrap_or(NonZeroUsize::MIN))
    })
}

/// A quarter of the memory of the machine or container: the most that blocks in flight take by default.
pub fn share_of_memory() -> u64 {
    memory::total() / 4
}
