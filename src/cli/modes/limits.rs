//! The threads, memory and GPUs that one call uses by default: at most its share of the machine or container.

use crate::cli::args::{Coding, Gpus, Operand, Plan};
use anyhow::bail;
use hybz::internals::codec::find_magic;
use hybz::internals::gpu::{self, Offload, Shown};
use hybz::{Format, Lanes, Pool, PoolBuilder, Verify};
use hybz_files::file::open_unnoticed;
use hybz_files::memory;
use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::thread;

/// The maximum memory of a CPU station, with its share of the blocks in flight: 17 MB of tables and 11 MB of blocks,
/// measured.
const PER_THREAD: u64 = 29 << 20;
/// Memory for coding a large block, per byte of the block, with its text and result: 14.3 for 64 MB of random bytes, 7
/// for text, 2 for a repeated word.
const PER_LARGE_BYTE: u64 = 14;
/// Memory of the program without blocks.
const FOR_PROGRAM: u64 = 12 << 20;

/// With less memory than this, one thread does everything: its codec takes 9 MB, its code, libraries and stack 10 MB.
const FOR_THREADS: u64 = 100 << 20;

/// Whether the caller's thread does everything, because there is little to do or little memory.
pub fn no_threads(plan: &Plan) -> bool {
    is_tiny(plan) || is_one_block(plan) || (plan.small && plan.threads.is_none()) || memory_of_machine() < FOR_THREADS
}

/// Whether there is so little to do that starting threads, or asking how many there may be, would take longer than the
/// work: a file of 1 kB takes 1.2 ms, and with threads 0.9 to 1.3 more.
fn is_tiny(plan: &Plan) -> bool {
    // The size may be wrong (in /proc it is 0). Then one thread does more work than intended, still correctly.
    let max_len = plan.coding.map_or(16 << 10, |coding| coding.level.block_limit().into());
    only_operand(plan).and_then(|_| plan.total()).is_some_and(|len| (1..=max_len).contains(&len))
}

/// Whether a file to be decompressed has one block, which only one thread can decode. 100, 300 and 600 kB of text take
/// 2.2, 3.6 and 5.6 ms without threads, 2.8, 4.2 and 6.5 with; 900 kB take equally long.
fn is_one_block(plan: &Plan) -> bool {
    const MAX_CODED: u64 = 128 << 10;
    let Some(Operand::File(path)) = only_operand(plan).filter(|_| plan.coding.is_none()) else { return false };
    let Some(len @ 1..=MAX_CODED) = plan.total() else { return false };
    let mut coded = vec![0; len as usize];
    // The result gets the access time that the file had before it was read.
    open_unnoticed(path).and_then(|file| file.read_exact_at(&mut coded, 0)).is_ok() && has_one_block(&coded)
}

fn has_one_block(coded: &[u8]) -> bool {
    const FIRST: u64 = 32;
    coded.starts_with(b"BZh")
        && find_magic::find(coded, FIRST) == Some(FIRST)
        && find_magic::find(coded, FIRST + 1).is_none()
}

/// The operand, if there is only one and neither `-vv` nor `--gpu-required` needs threads.
fn only_operand(plan: &Plan) -> Option<&Operand> {
    match &plan.operands[..] {
        [operand] if plan.filelist.is_none() && plan.verbose < 2 && !plan.gpu_required => Some(operand),
        _ => None,
    }
}

/// Makes malloc keep freed memory or return it, whichever suits this call.
pub fn choose_memory(plan: &Plan, no_threads: bool) {
    if plan.small || memory::is_limited() {
        memory::be_sparing();
    } else if !no_threads {
        memory::keep_freed();
    }
}

/// Refuses blocks that do not fit into the available memory: otherwise the kernel would kill the process in the middle
/// of its work.
pub fn check_block_size(plan: &Plan) -> anyhow::Result<()> {
    let Some(large) = plan.coding.and_then(|coding| coding.large_blocks()) else { return Ok(()) };
    let block = u64::from(large.size()).min(plan.expected_bytes().unwrap_or(u64::MAX));
    let (needed, there) = (block * PER_LARGE_BYTE + FOR_PROGRAM, memory_of_machine());
    if needed > there {
        let mb = |bytes: u64| bytes.div_ceil(1 << 20);
        bail!(
            "Blocks of this size need {} MB of memory, and there may be {}: use a smaller --block-size.",
            mb(needed),
            mb(there)
        );
    }
    Ok(())
}

/// The memory of the machine or container. Asking for it takes 0.06 ms, so that is done once.
fn memory_of_machine() -> u64 {
    static MEMORY: OnceLock<u64> = OnceLock::new();
    *MEMORY.get_or_init(hybz::schedule::memory_of_machine)
}

/// The lanes of GPUs that may help, if any. The pool starts them when the remaining work is worth it; when
/// decompressing, it starts the lanes for the streams that it meets.
pub fn lanes(plan: &Plan) -> Vec<Lanes> {
    let expected = plan.expected_bytes();
    let mut lanes = lanes_for(plan, plan.coding, expected);
    let codes_on_devices = plan.gpu_pipeline == Offload::Resident && !lanes.is_empty();
    let is_bzip2 = plan.coding.is_some_and(|coding| coding.encoding.format() == Format::Bzip2);
    if plan.verified != Verify::Off && codes_on_devices && is_bzip2 {
        lanes = lanes.into_iter().map(Lanes::verified).collect();
    }
    lanes
}

/// Hides the GPUs that this call will not use: CUDA takes a quarter of a second to start each one that it sees. Works
/// only before there are other threads.
pub fn hide_gpus(plan: &Plan) {
    match &plan.gpus {
        Gpus::None => (),
        _ if is_tiny(plan) || gpu::likely() < 2 => (),
        Gpus::These(list) => gpu::show_only(Shown::These(list)),
        // Where GPUs are required, all must work.
        Gpus::Visible if plan.gpu_required => (),
        Gpus::Visible => {
            let most = worthwhile_gpus(&plan.operands, plan.expected_bytes());
            gpu::show_only(Shown::First(most));
        }
    }
}

/// The number of GPUs that an input is worth, if it may use all.
///
/// H200s compressed 2 GB in 0.97 s (one) and 1.16 (two), 6 GB in 2.19 and 1.75, 24 GB in 5.42, 3.98 and 4.64 (four),
/// 48 GB in 10.1, 6.94 and 7.25 (one round). They decompressed 1.9 GB (coded bytes: the input counts here) in
/// 1.37, 1.62 and 2.11 s, 3.8 GB in 2.20, 2.20 and 2.67, 7.5 GB in 3.60, 3.19 and 4.42.
fn worthwhile_gpus(operands: &[Operand], expected: Option<u64>) -> usize {
    const SECOND: u64 = 3_500_000_000;
    const EACH: u64 = 32_000_000_000;
    match expected {
        Some(bytes) if bytes < SECOND => 1,
        Some(bytes) => usize::try_from(bytes / EACH).unwrap_or(usize::MAX).max(2),
        // A pipe brings less than one GPU can do.
        None if operands == [Operand::Stdin] => 1,
        None => 2,
    }
}

/// Starts the driver of the GPUs on a thread of its own, if `file` is so long that they will almost certainly be
/// wanted. Starting it takes 0.1 s, and the decision must wait for the first core's rate, so lanes are ready earlier:
/// 1 GB took 0.70 s instead of 0.75 (but 2 GB of zeros, which cores compress as fast, 0.81 instead of 0.75). Returns
/// whether the driver is being started.
pub fn wake_driver(plan: &Plan, file: &File) -> bool {
    const LONG_TEXT: u64 = 512 << 20;
    const LONG_CODED: u64 = 1 << 30;
    let long = if plan.coding.is_some() { LONG_TEXT } else { LONG_CODED };
    let is_long = file.metadata().is_ok_and(|found| found.is_file() && found.len() >= long);
    if !is_long || no_threads(plan) || lanes(plan).is_empty() || gpu::likely() == 0 {
        return false;
    }
    // Without the thread, a lane starts the driver.
    thread::Builder::new().name("driver".to_owned()).spawn(|| drop(gpu::devices())).is_ok()
}

/// Gives texts huge pages, which take more memory, unless this call is to save memory.
pub fn huge_pages_for_texts(plan: &Plan) {
    if plan.memory.is_none() && !plan.small {
        memory::huge_pages_for_texts();
    }
}

/// Like [`lanes`], for a coding, or for decompressing (`None`). `expected` is the length of the input, if known.
pub fn lanes_for(plan: &Plan, coding: Option<Coding>, expected: Option<u64>) -> Vec<Lanes> {
    if plan.gpus == Gpus::None {
        return Vec::new();
    }
    let kinds = match coding.map(|coding| (coding.encoding.format().is_native(), coding.encoding.large_blocks())) {
        None => vec![Lanes::for_decoding(), Lanes::for_decoding_large()],
        Some((false, _)) => return Vec::new(),
        Some((true, Some(large))) => {
            let lanes = Lanes::for_large_blocks(&large);
            vec![match plan.gpu_pipeline {
                Offload::Bwt => lanes.offload(Offload::Suffixes),
                Offload::Hybrid => lanes.offload(Offload::HybridLarge),
                _ => lanes,
            }]
        }
        Some((true, None)) => vec![Lanes::default().offload(plan.gpu_pipeline)],
    };
    kinds.into_iter().map(|kind| of_plan(kind, plan, expected)).collect()
}

/// The lanes that this call may have: on its devices, and as many as its input and memory allow.
fn of_plan(lanes: Lanes, plan: &Plan, expected: Option<u64>) -> Lanes {
    let lanes = lanes.at_once(plan.gpu_required).limited(expected, plan.memory);
    match &plan.gpus {
        Gpus::These(devices) => lanes.devices(devices),
        _ => lanes,
    }
}

/// The number of CPU stations: as many as requested, or one per core that affinity and the container's quota allow, but
/// at most as many as fit into a quarter of the memory. If the process is limited, a request is reduced to what fits.
pub fn threads(plan: &Plan) -> NonZeroUsize {
    let fit = |room: u64, each| {
        let room = usize::try_from(room / each).unwrap_or(usize::MAX);
        NonZeroUsize::new(room).unwrap_or(NonZeroUsize::MIN)
    };
    if let Some(threads) = plan.threads {
        const STACK: u64 = 2 << 20;
        return match hybz::schedule::memory_of_process() {
            Some(limit) => threads.min(fit(limit.saturating_sub(2 * FOR_PROGRAM), PER_THREAD + STACK)),
            None => threads,
        };
    }
    // std reads the affinity and the CPU quotas of our control group and of those above it.
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    if cores == NonZeroUsize::MIN {
        return cores;
    }
    // A large block is charged 12 times its size; users who ask for large blocks get half of the memory.
    let large = plan.coding.and_then(|coding| coding.large_blocks()).map_or(0, |large| u64::from(large.size()) * 6);
    cores.min(fit(share_of_memory(), PER_THREAD.max(large)))
}

/// A pool of these threads and no GPUs, within the memory of `-m`, or else its share of the machine's memory.
pub fn pool_of(plan: &Plan, threads: NonZeroUsize) -> PoolBuilder {
    within_memory(plan, Pool::builder().threads(threads).max_memory(share_of_memory()))
}

pub fn within_memory(plan: &Plan, pool: PoolBuilder) -> PoolBuilder {
    match plan.memory {
        Some(memory) => pool.memory(memory),
        None => pool,
    }
}

pub fn pool(plan: &Plan) -> Pool {
    pool_of(plan, threads(plan)).build()
}

/// A quarter of the memory of the machine or container: by default, blocks in flight take at most this much.
fn share_of_memory() -> u64 {
    memory_of_machine() / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn files_of_one_block() {
        let coded = |text: &[u8]| {
            let mut coded = Vec::new();
            let mut coder = hybz::write::BzEncoder::new(&mut coded, hybz::Level::try_new(1).unwrap());
            coder.write_all(text).and_then(|()| coder.finish().map(drop)).unwrap();
            coded
        };
        let one = coded(b"a text");
        assert!(has_one_block(&one));
        assert!(has_one_block(&one[..20]), "truncated");
        assert!(!has_one_block(&[&one[..], &one].concat()), "two streams");
        let text: Vec<u8> = (0..120_000u32).map(|i| (i / 4 * i % 251) as u8).collect();
        assert!(!has_one_block(&coded(&text)), "two blocks");
        assert!(!has_one_block(&coded(b"")) && !has_one_block(b"BZh9") && !has_one_block(&one[1..]));
    }

    #[test]
    fn gpus_that_an_input_is_worth() {
        let files = [Operand::File("a".into()), Operand::File("b".into())];
        for (gigabytes, gpus) in [(0, 1), (3, 1), (4, 2), (60, 2), (64, 2), (96, 3), (1000, 31)] {
            assert_eq!(worthwhile_gpus(&files, Some(gigabytes * 1_000_000_000)), gpus, "{gigabytes}");
        }
        assert_eq!(worthwhile_gpus(&files, None), 2);
        assert_eq!(worthwhile_gpus(&[Operand::Stdin], None), 1);
    }
}
