//! Whole pools with lanes that fail in every way, come late, or have no room.

use super::tests::{LARGE, OFFLOADS, accepts, fake};
use super::*;
use crate::station::gpu::fake::Fault;
use crate::{Level, Pool, Settings};
use hybz_queue::Accepts;
use hybz_testkit::shapes::SHAPES;
use std::num::NonZeroUsize;

/// Large blocks through a whole pool, with fake lanes that fail in every way, while lanes for `.bz2` run too.
#[test]
fn large_blocks_in_a_pool() {
    let mut text = Vec::new();
    for shape in SHAPES {
        text.extend((shape.make)(70_000));
    }
    let settings = Settings::new().encoding(LargeBlocks::try_new(40_000).unwrap());
    let plain = crate::compress(&text, &settings).unwrap();
    for fault in [None, Some(Fault::Memory), Some(Fault::Sticky), Some(Fault::Hang), Some(Fault::Wrong)] {
        for cores in [0, 2] {
            let mut pool = hybz_queue::Pool::builder();
            pool = match NonZeroUsize::new(cores) {
                Some(cores) => pool.threads(cores),
                None => pool.without_cpu(),
            };
            for offload in LARGE.into_iter().chain([Offload::Resident]) {
                // Only some batches of lanes that code are checked, but always the first.
                let call = usize::from(offload != Offload::CodeLarge);
                pool = pool.station(accepts(offload), move || Ok(fake(offload, 4, fault.map(|fault| (call, fault)))));
            }
            let pool = pool.build();
            let coded = crate::compress(&text, &settings.clone().pool(&pool)).unwrap();
            assert!(coded == plain, "{fault:?}, {cores} cores");
            let summary = pool.summary();
            let counted: u64 = summary.stations.iter().map(|s| s.bytes_in).sum();
            assert_eq!(counted, text.len() as u64, "{summary:?}");
            assert!(crate::decompress(&coded, &settings.clone().pool(&pool)).unwrap() == text);
        }
    }
}

/// One long block, and a lane that fails as soon as it starts: whichever comes first, some worker does the block.
#[test]
fn a_long_block_and_no_lane() {
    let text = (SHAPES[SHAPES.len() - 1].make)(40_000);
    let settings = Settings::new().encoding(LargeBlocks::try_new(40_000).unwrap());
    let plain = crate::compress(&text, &settings).unwrap();
    let (done, all_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for wait in 0..400 {
            for cores in [0, 1] {
                let mut pool = hybz_queue::Pool::builder().without_cpu();
                pool = NonZeroUsize::new(cores).map_or(pool, |cores| hybz_queue::Pool::builder().threads(cores));
                for _ in 0..2 {
                    pool = pool.station(accepts(Offload::Suffixes), move || {
                        std::thread::sleep(Duration::from_micros(wait % 100));
                        Err("there is no such device".to_owned())
                    });
                }
                assert!(crate::compress(&text, &settings.clone().pool(&pool.build())).unwrap() == plain);
            }
        }
        done.send(()).unwrap();
    });
    all_done.recv_timeout(Duration::from_secs(120)).expect("no block waits for ever");
}

#[test]
fn lanes_of_any_block_size_can_be_made() {
    for size in [1 << 10, 900_000, 9_000_000, 32 << 20, (32 << 20) + 1, 600 << 20, 1 << 30] {
        for interval in [0, 1, 1000] {
            let lanes = Lanes::for_large_blocks(&LargeBlocks::try_new(size).unwrap().perturbation(interval, 0));
            let (blocks, rows) = (lanes.blocks as u64, lanes.max_length as u64 + 1);
            assert!((1..=16).contains(&lanes.lanes) && (1..=gpu::MAX_BATCH).contains(&lanes.blocks), "{lanes:?}");
            assert!(lanes.max_length >= size as usize && lanes.max_length <= gpu::MAX_WIDE_BLOCK, "{lanes:?}");
            // The condition of `fits` in cuda/lane.cu.
            assert!(blocks * rows < 1 << 31 && blocks * rows.next_power_of_two() <= 1 << 32, "{lanes:?}");
        }
    }
}

/// Blocks that are left to lanes are done, even if the lanes start late, never start, or leave. (The tests with a
/// simulated clock show that the blocks are left to lanes.)
#[test]
fn lanes_that_come_late_or_never() {
    let text = (SHAPES[SHAPES.len() - 1].make)(400_000);
    let settings = Settings::new().encoding(LargeBlocks::try_new(40_000).unwrap());
    let plain = crate::compress(&text, &settings).unwrap();
    let slow = || std::thread::sleep(Duration::from_millis(50));
    type Make = fn() -> Result<Box<dyn Station>, String>;
    let makes: [(Make, Option<u64>); 4] = [
        (|| Ok(fake(Offload::Suffixes, 2, None)), None),
        (|| Err("there is no such device".to_owned()), Some(10)),
        (|| panic!("the station cannot be made"), Some(10)),
        (|| Ok(fake(Offload::Suffixes, 2, Some((1, Fault::Sticky)))), None),
    ];
    for (make, by_cores) in makes {
        let made = move || {
            slow();
            make()
        };
        let pool = hybz_queue::Pool::builder().threads(NonZeroUsize::MIN.saturating_add(1));
        let pool = pool.station(accepts(Offload::Suffixes), made).build();
        assert!(crate::compress(&text, &settings.clone().pool(&pool)).unwrap() == plain);
        let summary = pool.summary();
        let cores = summary.stations.iter().filter(|s| !s.accelerator);
        let (begun, finished) = cores.fold((0, 0), |sums, s| (sums.0 + s.blocks, sums.1 + s.finished));
        assert!(by_cores.is_none_or(|blocks| begun == blocks), "{summary:?}");
        assert_eq!(begun + finished, 10, "{summary:?}");
    }
}

/// A whole pool, with fake lanes that fail in every way: the bytes are the same.
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
                let mut pool = Pool::builder();
                pool = match NonZeroUsize::new(cores) {
                    Some(cores) => pool.threads(cores),
                    None => pool.without_cpu(),
                };
                if finishes_only {
                    pool = pool.cores_accept(Accepts::AllBut(&[ENCODE]));
                }
                for (lane, offload) in OFFLOADS.into_iter().enumerate() {
                    let fault = fault.map(|fault| (lane, fault));
                    pool = pool.station(accepts(offload), move || Ok(fake(offload, 16, fault)));
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
