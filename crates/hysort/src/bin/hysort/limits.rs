//! The threads and memory that one call uses by default: at most its share of the machine or container.

use crate::args::Plan;
use crate::pieces::Reading;
use std::num::NonZeroUsize;
use std::thread;

/// The number of threads that sort.
pub fn threads(plan: &Plan) -> NonZeroUsize {
    // std reads the affinity and the CPU quotas of our control group and of those above it.
    plan.threads.unwrap_or_else(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

/// The memory for sorting, in bytes: at most half of the allowed memory and three quarters of the free memory, but at
/// least an eighth of all.
pub fn memory(plan: &Plan) -> u64 {
    plan.memory.unwrap_or_else(|| share(hybz_queue::memory_of_machine(), hybz_files::memory::available()))
}

fn share(all: u64, available: Option<u64>) -> u64 {
    (all / 2).min(available.map_or(u64::MAX, |bytes| (bytes / 4 * 3).max(all / 8)))
}

/// How to read files with this number of threads and this much memory: all pieces together take an eighth of it.
pub fn reading(threads: NonZeroUsize, memory: u64) -> Reading {
    // One thread copies 3 GB/s and more out of the page cache, and with two cores there is none to spare for reading.
    let readers = (threads.get() / 4).min(4);
    let piece = (memory / (8 * (2 * readers as u64 + 1))).clamp(64 << 10, 8 << 20);
    Reading { piece: piece as usize, readers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        const GB: u64 = 1 << 30;
        assert_eq!(share(16 * GB, None), 8 * GB);
        assert_eq!(share(16 * GB, Some(15 * GB)), 8 * GB);
        assert_eq!(share(16 * GB, Some(8 * GB)), 6 * GB);
        assert_eq!(share(16 * GB, Some(0)), 2 * GB);
    }

    #[test]
    fn pieces_fit() {
        for memory in [1 << 20, 100 << 20, 64 << 30] {
            for threads in [1, 4, 16, 64] {
                let taken = reading(NonZeroUsize::new(threads).unwrap(), memory).memory();
                assert!(taken <= (memory / 8).max(9 * (64 << 10)), "{memory} {threads} {taken}");
            }
        }
    }
}
