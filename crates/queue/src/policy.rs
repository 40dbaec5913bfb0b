//! The scheduling rule, as pure functions of a [`Snapshot`].
//!
//! > A core starts a block only if it will finish it before the accelerators could finish all blocks.
//!
//! Cores and accelerators take blocks from one queue. An accelerator is many times as fast as a core but takes many
//! blocks at once, so near the end of the input a core that starts one more block would be the last to finish: the
//! accelerators would have done that block and all others sooner. The rule compares two times: the time that the core
//! needs for the block, and the time that the accelerators need for all unfinished blocks, held by them or waiting in
//! the queue. While the queue is long the cores help; later they stop. A block of 1 GB is left to an accelerator that
//! has not even started, because starting takes less time than the block. A small block never waits for a start.
//!
//! Three more decisions follow from the same figures:
//! - **An accelerator is started** ([`worth_starting`]) if the remaining work is done sooner with it, including its
//!   start and its tear-down. 2 GB of zeros are not worth it: cores compress them as fast as they are read.
//! - **If the accelerators are faster than all cores together**, at least half of the cores leave their hardware
//!   threads to the threads that feed the accelerators (lanes, readers, the joiner): [`Snapshot::spare_cores`].
//! - **An accelerator takes** ([`share`]) as much as it can hold while more input is to come and, at the end, its share
//!   by rate (guided self-scheduling, Polychronopoulos and Kuck 1987).
//!
//! Rates are measured in bytes of input a second. A worker that has not been measured yet counts with its expected
//! rate.

use std::time::Duration;

/// The expected performance of an accelerator, until it has been measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The rate of all members of the group together, in bytes a second.
    pub rate: f64,
    /// The time from the decision to start it until it can take work.
    pub start: Duration,
    /// The time that it adds to the end of the process, because a process that has used a GPU ends later.
    pub end: Duration,
}

/// The state of the scheduler when a station asks for work of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Waiting blocks that no station has begun.
    pub blocks: usize,
    /// The number of bytes of these blocks.
    pub waiting: f64,
    /// The number of bytes of the oldest of them.
    pub oldest: f64,
    /// Whether more work is certain to come: an input is being read, or a client waits for memory.
    pub more_comes: bool,
    /// Accelerators that accept the class, running or being started.
    pub accelerators: usize,
    /// The rate of all accelerators together, in bytes a second.
    pub accelerator_rate: f64,
    /// The number of bytes that the accelerators hold and have not done yet, estimated by their rates.
    pub held: f64,
    /// The seconds until the first accelerator can take work; 0 if one can take work now.
    pub ready_in: f64,
    /// Cores that accept the class, running or not.
    pub cores: usize,
    /// The rate of one core, in bytes a second; the expected rate if none has been measured.
    pub core_rate: f64,
    /// Whether `core_rate` has been measured.
    pub core_measured: bool,
    /// Cores running a first-stage task, of any class.
    pub beginning: usize,
    /// The threads that feed devices: all accelerators, of whatever class, running or being started, and the readers
    /// of a long input except the first, which takes the place of the thread that reads any input. The readers are
    /// counted even if no input is long.
    pub feeders: usize,
    /// Whether the accelerators of another class are faster than all cores together.
    pub others_are_fast: bool,
    /// Hardware threads that this process may use.
    pub hardware: usize,
}

impl Snapshot {
    /// The number of cores that may begin blocks while accelerators run.
    ///
    /// All cores, unless the accelerators are faster than all cores together: then as many as there are hardware
    /// threads that feed no accelerator, but at most half of all cores, and at least a quarter or four. More cores
    /// would make a feeder (a lane, a reader, the joiner) wait for a hardware thread, and take memory bandwidth from
    /// it, which costs more than those cores gain. Medians of three rounds, of `.bz2` unless stated otherwise:
    ///
    /// | cores that may begin | none | 1/16 | 1/8 | 1/4 | 1/2 | 3/4 | all |
    /// |---|---|---|---|---|---|---|---|
    /// | 8 GB, 16 cores, 8 lanes of one H200 | 3.03 s | 3.04 | 2.98 | 2.97 | 2.88 | | 3.75 |
    /// | 24 GB, 32 cores, 16 lanes of two H200s | | | | 4.83 s | 4.78 | 5.16 | 5.57 |
    /// | the same, 20 lanes, seven readers, two hosts, four rounds | | | | 3.91, 3.56 s | 4.31, 3.66 (3/8) | | |
    /// | 97 GB, 32 cores, the same lanes, nine readers | | | 9.83 s | 10.58 | | | |
    /// | the first, with 8 lanes that verify | | 4.11 s | 4.08 | 4.02 | 3.96 | 4.38 | 4.72 |
    /// | 8 GB in long blocks, 16 cores, 16 lanes | | | | 4.91 s | 5.42 | | |
    /// | 8 GB, 16 cores, 16 lanes, decompressing `.bz2` | | 1.52 s | | 1.42 | 1.58 | | |
    /// | 4 GB, 4 cores, 16 lanes of an H100, decompressing | | | | 1.72 s | 2.02 | | |
    pub fn spare_cores(&self) -> usize {
        if !self.others_are_fast && self.accelerator_rate <= self.core_rate * self.cores as f64 {
            return self.cores;
        }
        let (least, most) = (self.hardware.div_ceil(4).min(4), self.hardware.div_ceil(2));
        self.hardware.saturating_sub(self.feeders).clamp(least, most).min(self.cores)
    }

    /// The seconds until the accelerators have done all waiting blocks: at least the time that an accelerator of
    /// average rate needs for the oldest block.
    fn accelerators_done_in(&self) -> f64 {
        let each = self.accelerator_rate / self.accelerators as f64;
        self.ready_in + ((self.held + self.waiting) / self.accelerator_rate).max(self.oldest / each)
    }
}

/// Whether a core may start the oldest block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It may.
    Start,
    /// The core may not start; if nothing else happens, it should ask again after this many seconds.
    Wait(f64),
}

/// The rule: may a core start the oldest block?
pub fn core_may_start(s: &Snapshot) -> Verdict {
    if s.accelerators == 0 {
        return Verdict::Start;
    }
    let theirs = s.accelerators_done_in();
    let done_first = s.oldest / s.core_rate < theirs;
    if done_first && s.beginning < s.spare_cores() { Verdict::Start } else { Verdict::Wait(theirs.clamp(1e-3, 1.0)) }
}

/// The rule for an accelerator that does `own_rate` bytes a second: an accelerator that is slower than a core leaves
/// the last blocks to the cores.
pub fn accelerator_may_start(s: &Snapshot, own_rate: f64) -> Verdict {
    let cores = s.core_rate * s.cores as f64;
    let theirs = s.oldest / s.core_rate + s.waiting / cores;
    if s.cores == 0 || s.oldest / own_rate <= theirs { Verdict::Start } else { Verdict::Wait(theirs.clamp(1e-3, 1.0)) }
}

/// The number of blocks that an accelerator takes if it can hold `max_batch` and does `own_rate` bytes a second.
///
/// While more comes there is no end in sight, and a large batch is worth more than an even one: with even batches two
/// H200s sorted 8 blocks at a time instead of 28, and took 7 % longer.
pub fn share(s: &Snapshot, own_rate: f64, max_batch: usize) -> usize {
    if s.more_comes {
        return max_batch;
    }
    let cores = s.core_rate * s.spare_cores() as f64;
    let part = own_rate / (s.accelerator_rate.max(own_rate) + cores);
    ((s.blocks as f64 * part).ceil() as usize).clamp(1, max_batch)
}

/// How long, as a share of the start-up time, to wait for the first measured core rate.
const SOON: f64 = 1.0 / 8.0;

/// Whether `left` bytes are done sooner with one more group of accelerators.
pub fn worth_starting(s: &Snapshot, left: f64, expected: &Expected) -> bool {
    let (start, end) = (expected.start.as_secs_f64(), expected.end.as_secs_f64());
    // The core rate will soon be known. (Waiting for a block of 9 MB cost 0.6 s of the 4.3 s that 8 GB of them took;
    // waiting for one of 900 kB takes 0.02 s.)
    if s.cores > 0 && !s.core_measured && s.oldest / s.core_rate < SOON * start {
        return false;
    }
    let rate = s.core_rate * s.cores as f64 + s.accelerator_rate;
    let without = left / rate;
    let with = start + end + (left - start * rate).max(0.0) / (rate + expected.rate);
    with < without
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 cores of 45 MB/s, and accelerators of 3 GB/s that hold nothing.
    fn usual() -> Snapshot {
        Snapshot {
            blocks: 1000,
            waiting: 900e6,
            oldest: 900e3,
            more_comes: true,
            accelerators: 8,
            feeders: 8,
            accelerator_rate: 3e9,
            cores: 16,
            core_rate: 45e6,
            core_measured: true,
            hardware: 16,
            ..Snapshot::default()
        }
    }

    #[test]
    fn without_accelerators_cores_always_start() {
        let s = Snapshot { accelerators: 0, accelerator_rate: 0.0, beginning: 16, ..usual() };
        assert_eq!(core_may_start(&s), Verdict::Start);
    }

    #[test]
    fn at_the_end_cores_stop() {
        // A core takes 20 ms for a block; the accelerators do 67 in that time.
        for (blocks, held, starts) in
            [(1000, 0.0, true), (70, 0.0, true), (60, 0.0, false), (10, 60e6, true), (1, 0.0, false)]
        {
            let s = Snapshot { blocks, waiting: blocks as f64 * 900e3, held, ..usual() };
            assert_eq!(core_may_start(&s) == Verdict::Start, starts, "{blocks} blocks, {held} held");
        }
    }

    #[test]
    fn a_small_block_does_not_wait_for_a_start_and_a_long_one_does() {
        let starting = Snapshot { ready_in: 0.6, blocks: 1, ..usual() };
        for (bytes, starts) in [(900e3, true), (9e6, true), (64e6, false), (1e9, false)] {
            let s = Snapshot { waiting: bytes, oldest: bytes, ..starting };
            assert_eq!(core_may_start(&s) == Verdict::Start, starts, "{bytes}");
        }
    }

    #[test]
    fn at_most_half_of_the_cores_begin_beside_fast_accelerators() {
        assert_eq!(usual().spare_cores(), 8);
        // The threads of sixteen lanes keep hardware threads busy themselves.
        assert_eq!(Snapshot { feeders: 16, ..usual() }.spare_cores(), 4);
        assert_eq!(Snapshot { feeders: 16, hardware: 4, cores: 4, ..usual() }.spare_cores(), 1);
        // Twenty lanes and the readers of two devices.
        let two = Snapshot { hardware: 32, cores: 32, accelerator_rate: 8e9, ..usual() };
        assert_eq!([20, 26].map(|feeders| Snapshot { feeders, ..two }.spare_cores()), [12, 6]);
        assert_eq!(Snapshot { feeders: 29, ..two }.spare_cores(), 4);
        assert_eq!(Snapshot { hardware: 64, cores: 64, accelerator_rate: 8e9, ..usual() }.spare_cores(), 32);
        assert_eq!(Snapshot { hardware: 64, cores: 8, ..usual() }.spare_cores(), 8);
        // For a GPU that is no faster than the cores, no core rests.
        let slow = Snapshot { accelerator_rate: 0.5e9, ..usual() };
        assert_eq!(slow.spare_cores(), 16);
        // Unless that GPU has faster lanes of another class: those that code, when blocks are verified.
        assert_eq!(Snapshot { others_are_fast: true, ..slow }.spare_cores(), 8);
    }

    #[test]
    fn a_slow_accelerator_leaves_the_last_blocks_to_the_cores() {
        let s = Snapshot { accelerators: 2, accelerator_rate: 20e6, waiting: 900e3, blocks: 1, ..usual() };
        assert!(matches!(accelerator_may_start(&s, 10e6), Verdict::Wait(_)));
        assert_eq!(core_may_start(&s), Verdict::Start);
        let many = Snapshot { waiting: 900e6, blocks: 1000, ..s };
        assert_eq!(accelerator_may_start(&many, 10e6), Verdict::Start);
        assert_eq!(accelerator_may_start(&Snapshot { cores: 0, ..s }, 10e6), Verdict::Start);
    }

    /// Whatever the rates, some worker starts. Of lanes of unequal rates, all free, the fastest may start, a slower one
    /// need not, so the scheduler must ask every free lane and not just one of them.
    #[test]
    fn never_do_all_wait() {
        let mut slow_ones_wait = false;
        for core_rate in [1e6, 40e6, 1e9] {
            let equal = [1e6, 30e6, 50e6, 400e6].into_iter().flat_map(|rate| [1, 8, 32].map(|lanes| vec![rate; lanes]));
            let unequal: [&[f64]; 5] =
                [&[1e6, 400e6], &[20e6, 50e6], &[400e6, 30e6, 1e6], &[1e6, 1e6, 1e6, 45e6], &[3e9, 10e6]];
            for rates in unequal.map(<[f64]>::to_vec).into_iter().chain(equal) {
                for (blocks, cores) in [(1, 0), (1, 1), (1, 16), (5, 2), (5, 16), (100, 16)] {
                    let s = Snapshot {
                        accelerators: rates.len(),
                        accelerator_rate: rates.iter().sum(),
                        core_rate,
                        cores,
                        waiting: blocks as f64 * 900e3,
                        blocks,
                        ..usual()
                    };
                    let core = cores > 0 && core_may_start(&s) == Verdict::Start;
                    let lanes: Vec<bool> =
                        rates.iter().map(|&rate| accelerator_may_start(&s, rate) == Verdict::Start).collect();
                    assert!(core || lanes.contains(&true), "{rates:?} {s:?}");
                    slow_ones_wait |= !core && lanes.contains(&false);
                }
            }
        }
        assert!(slow_ones_wait, "no case here shows why each lane must be asked");
    }

    #[test]
    fn shares() {
        let s = usual();
        assert_eq!(share(&s, 0.4e9, 32), 32);
        let end = Snapshot { more_comes: false, ..s };
        assert_eq!(share(&end, 0.3e9, 200), 90);
        assert_eq!(share(&end, 0.3e9, 32), 32);
        assert_eq!(share(&Snapshot { blocks: 3, ..end }, 0.3e9, 32), 1);
    }

    #[test]
    fn what_is_worth_a_start() {
        let group = Expected { rate: 1e9, start: Duration::from_millis(600), end: Duration::from_millis(300) };
        let cores = Snapshot { accelerators: 0, accelerator_rate: 0.0, ..usual() };
        for (left, worth) in [(100e6, false), (400e6, false), (1e9, true), (8e9, true)] {
            assert_eq!(worth_starting(&cores, left, &group), worth, "{left}");
        }
        // Each core does 2 GB/s of zeros.
        assert!(!worth_starting(&Snapshot { core_rate: 2e9, ..cores }, 2e9, &group));
        // The cores' rate is unknown: it is worth waiting for a block of 20 ms, not for one of 200 ms.
        let unmeasured = Snapshot { core_measured: false, ..cores };
        assert!(!worth_starting(&unmeasured, 8e9, &group));
        assert!(worth_starting(&Snapshot { oldest: 9e6, ..unmeasured }, 8e9, &group));
        assert!(worth_starting(&Snapshot { oldest: 1e9, ..unmeasured }, 1e9, &group));
        // There is no other worker.
        assert!(worth_starting(&Snapshot { cores: 0, ..unmeasured }, 1.0, &group));
        // A second device is worth starting for much work, not for little.
        let beside = Snapshot { accelerator_rate: 3e9, ..cores };
        assert!(worth_starting(&beside, 24e9, &group) && !worth_starting(&beside, 2e9, &group));
    }
}
