//! How many threads, how much memory and which GPUs one call uses by itself: no more than its share of the machine or
//! container.

use crate::cli::args::{Gpus, Mode, Operand, Plan};
use hybz::station::gpu::Lanes;
use std::fs::{self, File};
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;

/// What a station needs at most, with its part of the blocks on their way: 12 MB of tables and 11 MB, measured.
const PER_THREAD: u64 = 24 << 20;

/// GPUs are worth starting for this much input for each thread: half a second's work.
const WORTH_A_GPU: u64 = 24 << 20;

/// Whether there is so little to do that starting threads, or asking how many there may be, would take longer than the work.
/// A 1 kB file takes 0.3 ms less this way, of 1.4.
pub fn no_threads(plan: &Plan) -> bool {
    let [operand] = &plan.operands[..] else { return false };
    // The size may be a lie (0 is, in /proc): then one thread will do more than it should, and rightly.
    let most = match plan.mode {
        Mode::Compress => plan.level.block_limit().into(),
        Mode::Decompress | Mode::Test => 16 << 10,
    };
    plan.verbose < 2 && !plan.gpu_required && file_len(operand).is_some_and(|len| (1..=most).contains(&len))
}

/// How long an operand is, if it is a file.
fn file_len(operand: &Operand) -> Option<u64> {
    let found = match operand {
        Operand::Stdin => io::stdin().as_fd().try_clone_to_owned().and_then(|stdin| File::from(stdin).metadata()),
        Operand::File(path) => fs::metadata(path),
    };
    found.ok().filter(fs::Metadata::is_file).map(|found| found.len())
}

/// The lanes of GPUs that are to help, if any.
///
/// Where all operands are files, their sizes say beforehand whether it is worth it; of pipes it is known when that much has
/// come. Below that nothing of CUDA is called: to start it takes as long as the cores take for such an input, and takes from
/// them. (16 cores: 100 MB in 0.15 s without and 0.22 with a GPU, 203 MB in 0.30 and 0.42, 1 GB in 1.46 and 1.0.)
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
    // Of thousands of files it is not worth to ask for all sizes beforehand.
    let files = if plan.operands.len() <= 64 { plan.operands.iter().map(file_len).sum::<Option<u64>>() } else { None };
    // No more threads than there are blocks have anything to do.
    let blocks = files.map_or(u64::MAX, |total| total.div_ceil(lanes.longest as u64));
    lanes.after = lanes.after.max(WORTH_A_GPU * blocks.min(threads(plan).get() as u64));
    // Nor more lanes than there are batches, or room for: a lane pins two to three times the text of a batch.
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

/// The number of CPU stations: what was asked for, or one for each core that affinity and the container's quota allow, but
/// no more than a quarter of the memory has room for.
pub fn threads(plan: &Plan) -> NonZeroUsize {
    plan.threads.unwrap_or_else(|| {
        // std reads sched_getaffinity, and the CPU quota of every control group up the path.
        let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        if cores == NonZeroUsize::MIN {
            return cores;
        }
        // A large block takes 12 times its size; those who ask for large ones may have half of the memory.
        let large = plan.large_blocks.map_or(0, |large| u64::from(large.size()) * 6);
        let room = usize::try_from(share_of_memory() / PER_THREAD.max(large)).unwrap_or(usize::MAX);
        cores.min(NonZeroUsize::new(room).unwrap_or(NonZeroUsize::MIN))
    })
}

/// A quarter of what the machine or container has: the most that blocks on their way take by default.
pub fn share_of_memory() -> u64 {
    total_memory().min(container_memory().unwrap_or(u64::MAX)) / 4
}

#[allow(clippy::useless_conversion)] // it has 32 bits on smaller machines
fn total_memory() -> u64 {
    let info = rustix::system::sysinfo();
    u64::from(info.totalram).saturating_mul(info.mem_unit.into())
}

/// The smallest memory limit on the way from our control group up to the root, of version 2 or 1.
fn container_memory() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let limit_of = |line: &str| {
        let (_, controllers_and_path) = line.split_once(':')?;
        let (root, path, file) = match controllers_and_path.split_once(':')? {
            ("", path) => ("/sys/fs/cgroup", path, "memory.max"),
            ("memory", path) => ("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"),
            _ => return None,
        };
        let ours = Path::new(root).join(path.trim_start_matches('/'));
        let limit = |group: &Path| fs::read_to_string(group.join(file)).ok()?.trim().parse().ok();
        ours.ancestors().take_while(|group| group.starts_with(root)).filter_map(limit).min()
    };
    groups.lines().filter_map(limit_of).min()
}
