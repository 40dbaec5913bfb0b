//! Sorting with stations that are slow, fail, panic, shuffle, leave jobs open, retire or answer wrongly: the bytes stay
//! the same, there is no deadlock, the work that others had to take over is counted, and nothing wrong is written.

use crate::cpu::LineSorter;
use crate::parts::Sorted;
use crate::tasks::{PARTITION, PartitionChunk, SORT, SortRange};
use crate::{self as sort, Error, Limits, Order, Pool, PoolBuilder, Sorter, faults, shapes};
use faults::{Company, Fault, One, USUAL, Wrong, quiet, watched};
use hybz_queue::{Accepts, Class};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

/// Makes an answer wrong.
fn spoil(text: &mut Vec<u8>, wrong: Wrong) {
    let line = text.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    match wrong {
        Wrong::Empty => text.clear(),
        Wrong::Order => text.rotate_left(line),
        Wrong::Lost => drop(text.drain(..line)),
        Wrong::Twice => {
            let next = text[line..].iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let first = text[..line].to_vec();
            text.splice(line..line + next, first);
        }
        Wrong::Bit => {
            let middle = text.len() / 2;
            text[middle] ^= 0x40;
        }
    }
}

/// Does jobs as a core does, and then applies its fault to the answers. Checks are left to cores.
fn one() -> One {
    let mut sorter = LineSorter::default();
    Box::new(move |job, fault| {
        if let Some(job) = job.of::<PartitionChunk>() {
            let mut parted = job.task().partition(&mut sorter);
            match fault {
                Fault::Wrong(Wrong::Empty) => parted.buckets.clear(),
                Fault::Wrong(Wrong::Bit) => parted.buckets[0].sum ^= 1,
                Fault::Wrong(wrong) => spoil(&mut parted.text, wrong),
                _ => {}
            }
            job.complete(parted);
        } else if let Some(job) = job.of::<SortRange>() {
            let mut sorted = sorter.sort(&job.task().range, 0);
            if let Fault::Wrong(wrong) = fault {
                spoil(&mut sorted, wrong);
            }
            job.complete(Sorted::from(sorted));
        } else {
            // Only cores make the codes of keys. Text that devices keep is tested in gpu_tests.rs.
            job.decline();
        }
    })
}

fn with_fake(builder: PoolBuilder, fault: Fault, most: usize, jobs: &Arc<AtomicUsize>) -> PoolBuilder {
    faults::with_fake(builder, Accepts::Everything, (fault, most), jobs, one)
}

fn two_cores() -> PoolBuilder {
    sort::pool().threads(NonZeroUsize::new(2).expect("two"))
}

fn pool_of(fault: Fault, most: usize, company: Company) -> Pool {
    let jobs = Arc::default();
    let builder = if matches!(company, Company::Cpu) { two_cores() } else { sort::pool().without_cpu() };
    let fakes = if matches!(company, Company::Twins) { 3 } else { 1 };
    (0..fakes).fold(builder, |builder, _| with_fake(builder, fault, most, &jobs)).build()
}

/// A text of some ranges, and its lines sorted and numbered by the plain twin.
fn sample() -> &'static (Vec<u8>, Vec<u8>, Vec<u64>) {
    static SAMPLE: OnceLock<(Vec<u8>, Vec<u8>, Vec<u64>)> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let mut rng = shapes::Rng(7);
        let mut text = Vec::new();
        while text.len() < 3_000_000 {
            text.extend(format!("{}\n", rng.below(1_000_000_000)).into_bytes());
        }
        text.extend(b"often\n".repeat(50_000));
        let lines: Vec<&[u8]> = text.strip_suffix(b"\n").unwrap_or(&text).split(|&byte| byte == b'\n').collect();
        let mut numbers: Vec<u64> = (0..lines.len() as u64).collect();
        numbers.sort_by_key(|&number| lines[number as usize]);
        let sorted = numbers.iter().flat_map(|&number| [lines[number as usize], b"\n"].concat()).collect();
        (text, sorted, numbers)
    })
}

fn through_files(text: &[u8], pool: &Pool) -> Vec<u8> {
    let limits = Limits::new().memory(1 << 20).temporary(tempfile::tempfile);
    let mut sorter = Sorter::new(&Order::new(), limits, pool);
    sorter.push(text).expect("there is room");
    let mut out = Vec::new();
    assert!(sorter.write_to(&mut out).expect("it is sorted").spilled > 0);
    out
}

/// All interfaces give the right bytes with such a pool.
fn survives(fault: Fault, most: usize, company: Company) {
    watched(format!("{fault:?}, batches of {most}, {company:?}"), move || {
        let (text, sorted, numbers) = sample();
        let pool = pool_of(fault, most, company);
        assert!(sort::sorted(text, &Order::new(), &pool).expect("it is sorted") == *sorted, "in memory");
        let pool = pool_of(fault, most, company);
        assert!(through_files(text, &pool) == *sorted, "through files");
        // The same pool is used again: a station's past must not matter.
        assert!(sort::lines(text, &Order::new(), &pool).expect("they are numbered") == *numbers, "numbers");
        assert!(sort::sorted(text, &Order::new(), &pool).expect("it is sorted") == *sorted, "again");
    });
}

#[test]
fn every_fault_in_every_company() {
    quiet();
    for fault in USUAL.into_iter().chain([Fault::NamePanics, Fault::MostPanics, Fault::DropPanics]) {
        for (most, company) in [(1, Company::Alone), (100, Company::Twins), (3, Company::Cpu)] {
            if fault != Fault::Slow || !matches!(company, Company::Alone) {
                survives(fault, most, company);
            }
        }
    }
}

#[test]
fn a_fault_at_every_job() {
    quiet();
    for job in 0..8 {
        let company = if job % 2 == 0 { Company::Alone } else { Company::Twins };
        survives(Fault::Fail(job), 1 + job % 3, company);
        survives(Fault::Panic(job), 1 + job % 3, company);
        survives(Fault::Retire(job), 1 + job % 3, company);
    }
}

const WRONGS: [Wrong; 5] = [Wrong::Empty, Wrong::Order, Wrong::Lost, Wrong::Twice, Wrong::Bit];

/// A wrong answer is found and counted, a core does the job again, and the station gets no more work.
#[test]
fn wrong_answers_are_found() {
    quiet();
    const PARTITIONS: &[Class] = &[PARTITION];
    const SORTS: &[Class] = &[SORT];
    for wrong in WRONGS {
        survives(Fault::Wrong(wrong), 2, Company::Alone);
        for (classes, number_them) in [(PARTITIONS, false), (PARTITIONS, true), (SORTS, false), (SORTS, true)] {
            watched(format!("{wrong:?}, {classes:?}, {number_them}"), move || {
                let (text, sorted, numbers) = sample();
                let accepts = Accepts::Only(classes);
                // No core takes the fake's work before the fake is retired.
                let builder = two_cores().cores_accept(Accepts::AllBut(classes));
                let builder = faults::with_fake(builder, accepts, (Fault::Wrong(wrong), 1), &Arc::default(), one);
                let pool = builder.build();
                if number_them {
                    assert!(sort::lines(text, &Order::new(), &pool).unwrap() == *numbers, "numbers");
                } else {
                    assert!(sort::sorted(text, &Order::new(), &pool).unwrap() == *sorted, "sorted");
                }
                let summary = pool.summary();
                let fake = summary.stations.iter().find(|station| station.name.starts_with("fake")).expect("it came");
                assert!(fake.wrong > 0, "{summary:?}");
                assert!(fake.retired.as_ref().is_some_and(|why| why.contains("was wrong")), "{fake:?}");
                assert_eq!(summary.stations.iter().map(|station| station.wrong).sum::<u64>(), fake.wrong);
            });
        }
    }
}

/// If all stations are wrong, that is an error, and nothing wrong is written.
#[test]
fn nothing_wrong_is_written() {
    quiet();
    for wrong in WRONGS {
        watched(format!("{wrong:?}"), move || {
            let (text, sorted, _) = sample();
            let pool = pool_of(Fault::Wrong(wrong), 1, Company::Twins);
            let mut sorter = Sorter::new(&Order::new(), Limits::new(), &pool);
            sorter.push(text).expect("it takes all");
            let mut out = Vec::new();
            match sorter.write_to(&mut out) {
                Ok(_) => assert!(out == *sorted),
                Err(Error::Missorted { .. }) => assert!(sorted.starts_with(&out)),
                Err(other) => panic!("{other}"),
            }
        });
    }
}

/// A core does the jobs that a station leaves, and they are counted for that station.
#[test]
fn fallbacks_are_counted() {
    quiet();
    for (fault, some) in [(Fault::None, false), (Fault::Shuffle, false), (Fault::Silent, true), (Fault::Panic(3), true)]
    {
        watched(format!("{fault:?}"), move || {
            let (text, sorted, _) = sample();
            let pool = pool_of(fault, 1, Company::Alone);
            assert!(sort::sorted(text, &Order::new(), &pool).unwrap() == *sorted);
            let summary = pool.summary();
            assert_eq!(summary.stations.len(), 1);
            assert_eq!(summary.stations[0].fallbacks > 0, some, "{summary:?}");
            assert_eq!(summary.stations[0].wrong, 0);
        });
    }
}

/// Sorters are dropped half-way while stations work: nothing hangs, and the pool stays usable.
#[test]
fn sorters_dropped_half_way() {
    quiet();
    watched("dropped".into(), || {
        let (text, sorted, _) = sample();
        let pool = pool_of(Fault::Slow, 2, Company::Twins);
        for _ in 0..3 {
            let limits = Limits::new().memory(1 << 20).temporary(tempfile::tempfile);
            let mut sorter = Sorter::new(&Order::new(), limits, &pool);
            sorter.push(text).expect("there is room");
            drop(sorter);
            let mut sorter = Sorter::new(&Order::new(), Limits::new(), &pool);
            sorter.push(text).expect("there is room");
            let error = sorter.write_to(&mut &mut [0u8; 0][..]).expect_err("it is full");
            assert!(matches!(error, Error::Write(_)), "{error:?}");
        }
        assert!(sort::sorted(text, &Order::new(), &pool).unwrap() == *sorted);
    });
}
