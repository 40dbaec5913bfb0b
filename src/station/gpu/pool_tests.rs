//! Whole pools with lanes that fail in every way, come late, or have no room.

use super::trial_tests::{LARGE, OFFLOADS, accepts, fake};
use super::*;
use crate::station::gpu::fake::Fault;
use crate::{Level, Pool, Settings};
use hybz_queue::Accepts;
use hybz_testkit::shapes::SHAPES;
use std::num::NonZeroUsize;
use std::sync::mpsc::channel;

/// A builder with this many cores, of which none may do what lanes do, if they only `finish`.
fn cores(cores: usize, finish: bool) -> PoolBuilder {
    let builder = Pool::builder();
    let builder = match NonZeroUsize::new(cores) {
        Some(cores) => builder.threads(cores),
        None => builder.without_cpu(),
    };
    if finish { builder.cores_accept(Accepts::AllBut(&[ENCODE])) } else { builder }
}

/// Does `work` in pools with these lanes, which fail in every way: each at another call.
fn in_pools(lanes: &[Offload], blocks: usize, work: impl Fn(&Pool, &str)) {
    for fault in [None, Some(Fault::Memory), Some(Fault::Sticky), Some(Fault::Hang), Some(Fault::Wrong)] {
        for (number, finish) in [(0, false), (2, false), (2, true)] {
            let mut builder = cores(number, finish);
            for (call, &offload) in lanes.iter().enumerate() {
                let make = move || Ok(fake(offload, blocks, fault.map(|fault| (call, fault))));
                builder = builder.station(accepts(offload), make);
            }
            work(&builder.build(), &format!("{fault:?}, {number} cores, {finish}"));
        }
    }
}

/// Both directions: the bytes are the same, and every byte has been counted once.
#[test]
fn in_a_pool() {
    let text: Vec<u8> = SHAPES.iter().flat_map(|shape| (shape.make)(150_000)).collect();
    let large = |size| Settings::new().encoding(LargeBlocks::try_new(size).unwrap());
    // Of lanes that code large blocks only some batches are checked, but always the first. Lanes for `.bz2` run too.
    let coding = [LARGE[0], LARGE[1], LARGE[2], Offload::Resident];
    for (settings, coders, blocks, decoder) in [
        (Settings::new().level(Level::FASTEST), &OFFLOADS[..], 16, Offload::Decode),
        (large(40_000), &coding, 4, Offload::DecodeLarge),
        // All stations decode its one block in stages.
        (large(1 << 30), &[], 0, Offload::DecodeLarge),
    ] {
        let coded = crate::compress(&text, &settings).unwrap();
        in_pools(coders, blocks, |pool, what| {
            assert!(crate::compress(&text, &settings.clone().pool(pool)).unwrap() == coded, "{what}");
            let counted: u64 = pool.summary().stations.iter().map(|station| station.bytes_in).sum();
            assert_eq!(counted, text.len() as u64, "{what}");
        });
        let mut wrong = coded.clone();
        let middle = wrong.len() / 2;
        wrong[middle] ^= 1;
        let damaged = [&coded[..middle], &wrong];
        let errors = damaged.map(|bad| crate::decompress(bad, &settings).unwrap_err().to_string());
        in_pools(&[decoder; 3], 8, |pool, what| {
            let settings = Settings::new().pool(pool);
            assert!(crate::decompress(&coded, &settings).unwrap() == text, "{what}");
            assert_eq!(damaged.map(|bad| crate::decompress(bad, &settings).unwrap_err().to_string()), errors, "{what}");
        });
    }
}

/// One long block, and a lane that fails as soon as it starts: whichever comes first, some worker does the block.
#[test]
fn a_long_block_and_no_lane() {
    let text = (SHAPES[SHAPES.len() - 1].make)(40_000);
    let settings = Settings::new().encoding(LargeBlocks::try_new(40_000).unwrap());
    let plain = crate::compress(&text, &settings).unwrap();
    let (done, all_done) = channel();
    std::thread::spawn(move || {
        for wait in 0..400 {
            for number in [0, 1] {
                let mut pool = cores(number, false);
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
            // The condition of `fits` in cuda/lane_memory.cu.
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
        let pool = cores(2, false).station(accepts(Offload::Suffixes), made).build();
        assert!(crate::compress(&text, &settings.clone().pool(&pool)).unwrap() == plain);
        let summary = pool.summary();
        let cores = summary.stations.iter().filter(|s| !s.accelerator);
        let (begun, finished) = cores.fold((0, 0), |sums, s| (sums.0 + s.blocks, sums.1 + s.finished));
        assert!(by_cores.is_none_or(|blocks| begun == blocks), "{summary:?}");
        assert_eq!(begun + finished, 10, "{summary:?}");
    }
}
