//! Verification: a block that a station coded wrong is always found, whichever bit is wrong, and no station verifies
//! its own blocks if there is another one.

use crate::{flipper, reference, shapes, through};
use flipper::{Flips, Team, flipper, slanderer, with_flipper};
use hybz::flow::Task;
use hybz::internals::tasks::{ENCODE, ENCODE_LARGE, EncodeBlock};
use hybz::schedule::{Accepts, Expected, Job, Station, StationError, WorkerGroup};
use hybz::{Error, LargeBlocks, Level, Pool, Settings, StreamSummary, Verify};
use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The stations of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Company {
    /// One station, which then also verifies.
    Alone,
    Two,
    /// An accelerator, with cores.
    Device,
}

const LARGE: LargeBlocks = LargeBlocks::try_new(2000).expect("more than 1 KiB");

fn pool(company: Company, flips: Option<Flips>, team: &Arc<Team>) -> Pool {
    let everything = Accepts::Everything;
    let nobody = || Pool::builder().without_cpu();
    let cores = || Pool::builder().threads(NonZeroUsize::new(2).expect("two"));
    let pool = match company {
        Company::Alone => with_flipper(nobody(), everything, flips, team),
        Company::Two => with_flipper(with_flipper(nobody(), everything, flips, team), everything, flips, team),
        Company::Device => with_flipper(cores(), Accepts::Only(&[ENCODE, ENCODE_LARGE]), flips, team),
    }
    .build();
    // The first job starts all stations of the pool, so no station is ever alone.
    let coded = hybz::compress(b"x", &Settings::new()).expect("a block");
    assert_eq!(hybz::decompress(&coded, &Settings::new().pool(&pool)).expect("a right file"), b"x");
    pool
}

/// Texts without runs, so that blocks of level 1 have 99,981 bytes.
fn text(len: usize) -> Vec<u8> {
    let mut text = shapes::words(len + len / 8);
    text.dedup();
    text.truncate(len);
    text
}

/// Compresses at level 1.
fn fastest(pool: &Pool, verify: Verify, bytes: &[u8]) -> (Vec<u8>, Result<StreamSummary, Error>) {
    through::one(pool, Task::Compress(Level::FASTEST.into()), verify, through::stream(bytes))
}

/// One of many blocks is wrong: verification finds it, and the file is right.
#[test]
fn one_of_many_blocks() {
    let (bytes, blocks) = (text(99_981 * 24 + 5000), 25);
    let right = reference::compress(1, &bytes);
    let large = hybz::compress(&bytes[..200_000], &Settings::new().encoding(LARGE)).expect("a block");
    for (n, company) in [Company::Alone, Company::Two, Company::Device, Company::Two].into_iter().enumerate() {
        let flips = Some(Flips { block: [3, 0, 7, 24][n], bit: [1000, -1, 130, 0][n], again: false });
        for (text, task, right, blocks) in [
            (&bytes[..], Task::Compress(Level::FASTEST.into()), &right, blocks),
            (&bytes[..200_000], Task::Compress(LARGE.into()), &large, 100),
        ] {
            let team = Arc::default();
            let pool = pool(company, flips, &team);
            let (out, summary) = through::one(&pool, task, Verify::All, through::stream(text));
            let summary = summary.expect("it goes well");
            assert!(out == *right, "{company:?}, {task:?}");
            // The device may have coded too few blocks to reach the wrong one.
            let wrong: u64 = pool.summary().stations.iter().map(|station| station.wrong).sum();
            assert!(wrong == 1 || company == Company::Device && wrong == 0, "{company:?}, {task:?}: {wrong}");
            assert_eq!((summary.verified_blocks, summary.recoded_blocks), (blocks, wrong), "{company:?}, {task:?}");
            let verified: u64 = pool.summary().stations.iter().map(|station| station.verified).sum();
            assert_eq!(verified, blocks + wrong, "{company:?}, {task:?}");
            let own = team.by_their_makers.load(Relaxed);
            match company {
                // The faulty station was replaced by a fresh core, which is not in the team.
                Company::Alone => assert_eq!(own, team.verified.load(Relaxed)),
                Company::Two => assert_eq!(own, 0),
                Company::Device => assert_eq!(team.verified.load(Relaxed), 0, "devices verify nothing"),
            }
        }
    }
}

/// A thousand small blocks, each ended by a flush; each time a different bit of a different block is wrong.
#[test]
fn any_bit_of_one_of_a_thousand() {
    let bytes = text(300_000);
    let write = |settings: &Settings| {
        let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), settings);
        for part in bytes.chunks(300) {
            encoder.write_all(part).expect("a vector");
            encoder.flush().expect("a vector");
        }
        encoder.finish().expect("a vector")
    };
    let settings = Settings::new().level(Level::FASTEST).verify(Verify::All);
    let right = write(&Settings::new().level(Level::FASTEST));
    assert_eq!(hybz::decompress(&right, &Settings::new()).expect("a right file"), bytes);
    // These bits lie in magic, CRC, mark, origin, symbols, selectors, tables, codes and end.
    for (n, bit) in [0, 47, 48, 79, 80, 81, 104, 105, 121, 200, 240, 300, 500, 700, -30, -2, -1].into_iter().enumerate()
    {
        let team = Arc::default();
        let flips = Some(Flips { block: n * 58 + 41, bit, again: false });
        let pool = pool(Company::Two, flips, &team);
        assert!(write(&settings.clone().pool(&pool)) == right, "bit {bit}");
        let wrong: Vec<u64> = pool.summary().stations.iter().map(|station| station.wrong).collect();
        assert_eq!(wrong.iter().sum::<u64>(), 1, "bit {bit}: {wrong:?}");
        assert_eq!(team.by_their_makers.load(Relaxed), 0);
    }
}

/// Only blocks made by a device are verified, and only by cores.
#[test]
fn what_a_device_made() {
    let bytes = text(99_981 * 40);
    let right = reference::compress(1, &bytes);
    let team = Arc::default();
    let flips = Some(Flips { block: 0, bit: -100, again: true });
    let pool = pool(Company::Device, flips, &team);
    let (out, summary) = fastest(&pool, Verify::Devices, &bytes);
    let summary = summary.expect("a core codes it right");
    assert!(out == right);
    let stations = pool.summary().stations;
    let device = stations.iter().find(|station| station.accelerator).expect("a device");
    assert!(device.blocks > 0, "{stations:?}");
    assert_eq!((device.wrong, device.verified), (1, 0));
    assert_eq!((summary.verified_blocks, summary.recoded_blocks), (device.blocks, 1));
    assert!(device.failure.as_deref().is_some_and(|why| why.contains("wrong")), "{device:?}");
}

/// A lane that coded one block wrong gets no more work, nor do the other lanes of its device.
#[test]
fn wrong_once_and_no_more() {
    let (bytes, blocks) = (text(99_981 * 60), 60);
    let right = reference::compress(1, &bytes);
    for lanes in [1, 3] {
        let team = Arc::default();
        let flips = Some(Flips { block: 0, bit: 1000, again: false });
        let expected = Expected { rate: 1e9, start: Duration::ZERO, end: Duration::ZERO };
        let group = (0..lanes)
            .fold(WorkerGroup::new(&[ENCODE], expected).at_once(), |group, _| group.member(flipper(flips, &team)));
        // The cores leave all coding to the device while it works, and few blocks are in flight at the same time.
        let cores =
            Pool::builder().threads(NonZeroUsize::new(2).expect("two")).cores_accept(Accepts::AllBut(&[ENCODE]));
        let pool = cores.group(group).memory(1 << 20).build();
        let (out, summary) = fastest(&pool, Verify::Devices, &bytes);
        assert!(out == right && summary.is_ok_and(|summary| (summary.blocks, summary.recoded_blocks) == (blocks, 1)));
        let coded = team.coded.load(Relaxed) as u64;
        assert!(coded < blocks / 2, "{lanes} lanes have coded {coded} blocks");
        let stations = pool.summary().stations;
        let retired: Vec<&str> = stations.iter().filter_map(|station| station.retired.as_deref()).collect();
        assert_eq!(retired.len(), lanes, "{stations:?}");
        assert_eq!(retired.iter().filter(|why| why.starts_with("a block that it coded was wrong: ")).count(), 1);
        assert_eq!(retired.iter().filter(|why| **why == "its device computed wrong results").count(), lanes - 1);
    }
}

/// With four cores, a core that coded a block wrong gets no more work. With two, it restarts with a fresh codec,
/// because verification needs a second core.
#[test]
fn a_core_that_was_wrong() {
    let bytes = text(99_981 * 60);
    for (others, retires) in [(1, 0), (3, 1)] {
        let (team, right) = (Arc::default(), Arc::default());
        let liar = with_flipper(
            Pool::builder().without_cpu(),
            Accepts::Everything,
            Some(Flips { block: 0, bit: 1000, again: false }),
            &team,
        );
        let pool = (0..others).fold(liar, |pool, _| with_flipper(pool, Accepts::Everything, None, &right));
        let pool = pool.memory(1 << 20).build();
        let (out, summary) = fastest(&pool, Verify::All, &bytes);
        assert!(out == reference::compress(1, &bytes));
        let coded = team.coded.load(Relaxed);
        // If the core was slow, it may have coded no block.
        if summary.expect("all is right").recoded_blocks == 1 {
            let retired = pool.summary().stations.iter().filter(|station| station.retired.is_some()).count();
            assert!(coded < 30 && retired == retires, "{coded} blocks, {retired} retired of 1 and {others}");
        }
    }
}

/// A core with a faulty decoder reports right blocks as wrong: that core is blamed, and not the cores that coded them.
#[test]
fn a_core_that_calls_right_blocks_wrong() {
    let bytes = text(99_981 * 40);
    for task in [Task::Compress(Level::FASTEST.into()), Task::Compress(LARGE.into())] {
        let want = through::one(&Pool::builder().build(), task, Verify::Off, through::stream(&bytes)).0;
        let blamed = (0..20).any(|_| {
            let right = Arc::default();
            let sick = Pool::builder().without_cpu().station(Accepts::Everything, slanderer(&Arc::default()));
            let pool = (0..3).fold(sick, |pool, _| with_flipper(pool, Accepts::Everything, None, &right));
            let pool = pool.memory(1 << 20).build();
            let (out, summary) = through::one(&pool, task, Verify::All, through::stream(&bytes));
            assert!(out == want && summary.is_ok());
            let stations = pool.summary().stations;
            let wrong: Vec<_> = stations.iter().filter(|station| station.wrong > 0).collect();
            assert!(wrong.len() < 2, "{wrong:#?}");
            wrong.iter().for_each(|station| {
                let reason = station.failure.as_deref().unwrap_or_default();
                assert!(reason.starts_with("a block that it called wrong was right: "), "{reason}");
            });
            // If the core was slow, it may have verified nothing.
            wrong.len() == 1
        });
        assert!(blamed, "{task:?}: it never verified a block");
    }
}

/// An accelerator that does its part of a block and passes the rest on.
struct Passer;

impl Station for Passer {
    fn name(&self) -> String {
        "passer".to_owned()
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        for job in batch {
            if let Some(job) = job.of::<EncodeBlock>() {
                let rest = job.task().clone();
                job.forward(rest);
            }
        }
        Ok(())
    }
}

/// The only core reports a right block as wrong that it has coded, completely or after an accelerator's part. It alone
/// is blamed, and once. It starts with fresh state before the block is coded again, so the block is not lost.
#[test]
fn a_core_that_calls_its_own_blocks_wrong() {
    let bytes = text(99_981 * 4);
    let right = reference::compress(1, &bytes);
    for accelerated in [false, true] {
        let mut pool = Pool::builder().without_cpu().station(Accepts::Everything, slanderer(&Arc::default()));
        if accelerated {
            // All blocks go to the accelerator first.
            pool = Pool::builder().without_cpu();
            pool = pool.station(Accepts::AllBut(&[ENCODE]), slanderer(&Arc::default()));
            pool = pool.station(Accepts::Only(&[ENCODE]), || Ok(Box::new(Passer)));
        }
        let pool = pool.build();
        // The first task of a class that the core takes starts the core.
        let coded = hybz::compress(b"x", &Settings::new()).expect("a block");
        assert_eq!(hybz::decompress(&coded, &Settings::new().pool(&pool)).expect("a right file"), b"x");
        let (out, summary) = fastest(&pool, Verify::All, &bytes);
        let summary = summary.unwrap_or_else(|error| panic!("accelerated: {accelerated}: {error}"));
        assert!(out == right && summary.recoded_blocks == 1, "accelerated: {accelerated}, {summary:?}");
        let stations = pool.summary().stations;
        let wrong = |name: &str| stations.iter().filter(|s| s.name.starts_with(name)).map(|s| s.wrong).sum::<u64>();
        assert_eq!((wrong("flipper"), wrong("passer")), (1, 0), "accelerated: {accelerated}, {stations:#?}");
    }
}

/// The station that codes a block and the one that codes it again are both wrong.
#[test]
fn wrong_twice() {
    let bytes = text(99_981 * 5);
    for task in [Task::Compress(Level::FASTEST.into()), Task::Compress(LARGE.into())] {
        let pool = pool(Company::Two, Some(Flips { block: 2, bit: 700, again: true }), &Arc::default());
        match through::one(&pool, task, Verify::All, through::stream(&bytes)).1 {
            Err(Error::Miscoded { block, station, .. }) => {
                assert!(station.starts_with("flipper"), "{station}");
                assert!((1..=4).contains(&block), "{block}");
            }
            other => panic!("{task:?}: {other:?}"),
        }
    }
    // A core that is alone starts with fresh state before it codes the block again.
    let alone = pool(Company::Alone, Some(Flips { block: 2, bit: 700, again: true }), &Arc::default());
    let (out, summary) = fastest(&alone, Verify::All, &bytes);
    assert!(out == reference::compress(1, &bytes) && summary.is_ok_and(|summary| summary.recoded_blocks == 1));
    let settings = Settings::new().level(Level::FASTEST).verify(Verify::All);
    let pool = pool(Company::Two, Some(Flips { block: 0, bit: 700, again: true }), &Arc::default());
    let error = hybz::compress(&bytes, &settings.pool(&pool)).expect_err("wrong twice");
    assert!(error.to_string().contains("was coded wrong twice, the second time by flipper"), "{error}");
}
