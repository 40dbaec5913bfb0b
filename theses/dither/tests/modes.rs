//! All modes, with and without a GPU, make the pixels of the plain loop. Here a station that works row by row replaces
//! the GPU; tests/device.rs tests the kernel itself.

mod common;

use common::{picture, watched};
use dither::manager::{self, Error, Verify};
use dither::picture::Picture;
use dither::plan::{Mode, Sizes, units};
use dither::work::{self, complete, slab};
use dither::{many, plain};
use hybz::schedule::{Accepts, Job, Pool, Station, StationError};
use proptest::prelude::*;
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Does a GPU's part row by row.
struct StandIn;

impl Station for StandIn {
    fn name(&self) -> String {
        "stand-in".to_owned()
    }

    fn max_batch(&self) -> usize {
        8
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        for job in batch {
            let done = slab(job).map(|task| task.run_by_rows());
            done.into_iter().for_each(|done| complete(job, done));
        }
        Ok(())
    }
}

fn pool(threads: usize, gpu: bool) -> Pool {
    let builder = match gpu {
        true => work::pool().group(work::group(|| Ok(Box::new(StandIn)))),
        false => work::cores(),
    };
    match NonZeroUsize::new(threads) {
        Some(threads) => builder.threads(threads),
        None => builder.without_cpu(),
    }
    .build()
}

fn check(pool: &Pool, picture: &Arc<Picture>, mode: Mode, sizes: Sizes, verify: Verify) {
    let units = units(mode, picture.width(), picture.height(), sizes);
    let outcome = manager::dither(pool, picture, units, verify).expect("a core can do it");
    assert!(outcome.bitmap == plain::dither(picture), "{picture:?}, {mode}, {sizes:?}");
    assert_eq!(outcome.wrong, 0);
    if verify == Verify::All && picture.width() * picture.height() > 0 {
        assert!(outcome.checked >= picture.height().div_ceil(32));
    }
}

#[test]
fn the_device_has_its_part() {
    watched("parts".to_owned(), || {
        for (mode, some) in [(Mode::Handover, true), (Mode::Hybrid, true), (Mode::Device, true), (Mode::Cores, false)] {
            let (pool, picture) = (pool(2, true), picture(700, 500, 3));
            check(&pool, &picture, mode, Sizes { band: 64, tile: 128, ends: 200, strip: 2 }, Verify::Sample);
            let summary = pool.summary();
            let of = |device: bool| -> u64 {
                summary.stations.iter().filter(|s| s.accelerator == device).map(|s| s.blocks).sum()
            };
            assert_eq!(of(true) > 0, some, "{mode}");
            assert_eq!(of(false) > 0, mode != Mode::Device, "{mode}");
            let checked: u64 = summary.stations.iter().map(|s| s.verified).sum();
            assert_eq!(checked, of(true), "{mode}: one strip of each answer of a device");
        }
    });
}

#[test]
fn without_stations_the_caller_does_it() {
    watched("nobody".to_owned(), || {
        for (_, mode) in Mode::ALL {
            for gpu in [false, true] {
                let sizes = Sizes { band: 32, tile: 64, ends: 64, strip: 1 };
                check(&pool(0, gpu), &picture(300, 200, 0), mode, sizes, Verify::All);
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_modes(
        (width, height) in prop_oneof![
            (0usize..400, 0usize..300), (0usize..4, 0usize..1000), (0usize..3000, 0usize..4),
            Just((0, 0)), Just((1, 1))
        ],
        kind in 0u32..1000,
        (band, tile) in (1usize..150, 1usize..300),
        (ends, strip) in (1usize..500, 0usize..5),
        threads in 1usize..4,
        gpu in any::<bool>(),
        all in any::<bool>(),
    ) {
        watched(format!("{width} x {height}"), move || {
            let (pool, picture) = (pool(threads, gpu), picture(width, height, kind));
            for (_, mode) in Mode::ALL {
                let verify = if all { Verify::All } else { Verify::Sample };
                check(&pool, &picture, mode, Sizes { band, tile, ends, strip }, verify);
            }
        });
    }

    #[test]
    fn many_pictures(
        sizes in prop::collection::vec((0usize..200, 0usize..150), 0..20),
        threads in 0usize..4,
        gpu in any::<bool>(),
        memory in prop_oneof![Just(1), 1u64..100_000, Just(1 << 30)],
    ) {
        watched("many".to_owned(), move || {
            let builder = match gpu {
                true => work::pool().group(work::group(|| Ok(Box::new(StandIn)))),
                false => work::cores(),
            };
            let builder = match NonZeroUsize::new(threads) {
                Some(threads) => builder.threads(threads),
                None => builder.without_cpu(),
            };
            let pool = builder.memory(memory).build();
            let pictures = (0..).zip(&sizes).map(|(kind, &(width, height))| picture(width, height, kind));
            let pictures: Vec<_> = pictures.collect();
            let mut bitmaps = Vec::new();
            let all = pictures.iter().map(|picture| Ok::<_, Error>((**picture).clone()));
            let wrong = many::dither_all(&pool, all, Verify::Sample, |bitmap| { bitmaps.push(bitmap); Ok(()) });
            assert_eq!(wrong, Ok(0));
            assert_eq!(bitmaps.len(), pictures.len());
            assert!(bitmaps.iter().zip(&pictures).all(|(bitmap, picture)| *bitmap == plain::dither(picture)));
        });
    }
}

/// Only the memory budget bounds the number of pictures in memory.
#[test]
fn memory_bounds_the_pictures() {
    /// Waits until this number of pictures have been read.
    struct Late(Arc<AtomicUsize>, usize);
    impl Station for Late {
        fn name(&self) -> String {
            "late".to_owned()
        }

        fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
            while self.0.load(Ordering::Relaxed) < self.1 {
                std::thread::sleep(Duration::from_millis(1));
            }
            StandIn.work(batch)
        }
    }
    // Pictures of 14,000 bytes each. One more than fits has been read, and waits for memory.
    for (memory, at_once) in [(60_000, 5), (1 << 30, 20), (1, 2)] {
        watched(format!("{memory} bytes"), move || {
            let read: Arc<AtomicUsize> = Arc::default();
            let late = Late(Arc::clone(&read), at_once);
            let builder = work::cores().without_cpu().memory(memory);
            let pool = builder.station(Accepts::Everything, move || Ok(Box::new(late))).build();
            let (alive, peak) = (Cell::new(0), Cell::new(0));
            let pictures = (0..20).map(|kind| {
                alive.set(alive.get() + 1);
                peak.set(alive.get().max(peak.get()));
                read.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Error>((*picture(100, 100, kind)).clone())
            });
            let outcome = many::dither_all(&pool, pictures, Verify::Nothing, |_| {
                alive.set(alive.get() - 1);
                Ok(())
            });
            assert_eq!((outcome, alive.get(), peak.get()), (Ok(0), 0, at_once));
        });
    }
}

/// Errors of the caller are returned, and nothing hangs.
#[test]
fn an_error_on_the_way() {
    watched("errors".to_owned(), || {
        let pool = pool(2, true);
        let stop = || Error::Failed("enough".to_owned());
        let pictures = (0..9).map(|number| if number == 5 { Err(stop()) } else { Ok((*picture(99, 99, 1)).clone()) });
        assert_eq!(many::dither_all(&pool, pictures, Verify::All, |_| Ok(())), Err(stop()));
        let pictures = (0..9).map(|_| Ok((*picture(99, 99, 1)).clone()));
        let mut count = 0;
        let sink = |_| {
            count += 1;
            if count == 4 { Err(stop()) } else { Ok(()) }
        };
        assert_eq!(many::dither_all(&pool, pictures, Verify::All, sink), Err(stop()));
    });
}
