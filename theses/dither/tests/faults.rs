//! Stations that fail, panic, leave jobs open, retire, answer twice or answer wrongly: the picture stays the same,
//! there is no deadlock, and the work that others had to take over is counted.

mod common;

use common::{picture, quiet, watched};
use dither::manager::{self, Error, Verify};
use dither::plan::{Mode, Sizes, units};
use dither::slab::Done;
use dither::work::{self, FOR_DEVICES, complete, slab};
use dither::{many, plain};
use hybz::schedule::{Accepts, Job, Pool, Station, StationError};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The fault of a fake station. Jobs are counted from 0 over all fakes of a pool.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Every job takes a while longer.
    Slow,
    Fail(usize),
    FailAlways,
    Panic(usize),
    PanicAlways,
    PanicAfterReply,
    /// Reports success and answers nothing.
    Silent,
    /// Answers every second job.
    Half,
    /// Does the last job of a batch first.
    Shuffle,
    /// Answers twice, the second time with another answer.
    Twice,
    Declines,
    Retire(usize),
    /// Exchanges its jobs for others, and answers those.
    Swaps,
    NamePanics,
    DropPanics,
    /// Answers wrongly: all bits white; one wrong bit in each row; a good picture with wrong errors; the answer of
    /// another job; answers of another form.
    White,
    SlowAndWhite,
    Speckled,
    WrongErrors,
    OfAnother,
    NoForm,
}

const HARMLESS: [Fault; 12] = [
    Fault::None,
    Fault::Slow,
    Fault::FailAlways,
    Fault::PanicAlways,
    Fault::PanicAfterReply,
    Fault::Silent,
    Fault::Half,
    Fault::Shuffle,
    Fault::Twice,
    Fault::Declines,
    Fault::NamePanics,
    Fault::DropPanics,
];
const WRONG: [Fault; 5] = [Fault::White, Fault::Speckled, Fault::WrongErrors, Fault::OfAnother, Fault::NoForm];

struct Fake {
    fault: Fault,
    jobs: Arc<AtomicUsize>,
    last: Option<Done>,
}

impl Fake {
    fn answer(&mut self, job: &mut Job) {
        let Some(task) = slab(job).cloned() else { return job.decline() };
        let mut done = task.run_by_rows();
        let right = done.clone();
        match self.fault {
            Fault::White | Fault::SlowAndWhite => done.bits.fill(0),
            Fault::Speckled => {
                let stride = done.bits.len() / done.right.len();
                done.bits.chunks_mut(stride.max(1)).for_each(|row| row[row.len() / 2] ^= 1);
            }
            Fault::WrongErrors => done.lines.iter_mut().for_each(|error| *error = error.wrapping_add(1)),
            Fault::OfAnother => done = self.last.replace(right).unwrap_or_else(|| Done::empty(&task.slab, 1)),
            Fault::NoForm => done.right.push([0; 3]),
            _ => {}
        }
        complete(job, done);
        if self.fault == Fault::Twice {
            complete(job, Done::empty(&task.slab, task.picture.width()));
        }
    }
}

impl Station for Fake {
    fn name(&self) -> String {
        assert!(self.fault != Fault::NamePanics, "the name panics");
        format!("fake, {:?}", self.fault)
    }

    fn max_batch(&self) -> usize {
        4
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        let failure = |retire| Err(StationError { reason: "it is told to".into(), retire });
        let mut order: Vec<usize> = (0..batch.len()).collect();
        if self.fault == Fault::Shuffle {
            order.reverse();
        }
        for index in order {
            let number = self.jobs.fetch_add(1, Ordering::Relaxed);
            match self.fault {
                Fault::Slow => std::thread::sleep(Duration::from_millis(5)),
                Fault::SlowAndWhite => std::thread::sleep(Duration::from_millis(40)),
                Fault::Fail(at) if at == number => return failure(false),
                Fault::FailAlways => return failure(false),
                Fault::Panic(at) if at == number => panic!("it is told to"),
                Fault::PanicAlways => panic!("it is told to"),
                Fault::Retire(at) if at <= number => return failure(true),
                Fault::DropPanics => return failure(true),
                Fault::Silent => continue,
                Fault::Half if number.is_multiple_of(2) => continue,
                Fault::Declines => {
                    batch[index].decline();
                    continue;
                }
                Fault::Swaps => {
                    if let Some(task) = slab(&batch[index]).cloned() {
                        batch[index] = Job::detached(work::Ask(task)).0;
                    }
                }
                _ => {}
            }
            self.answer(&mut batch[index]);
            assert!(self.fault != Fault::PanicAfterReply, "it is told to");
        }
        Ok(())
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        assert!(self.fault != Fault::DropPanics, "the drop panics");
    }
}

/// A pool with `fakes` fake accelerators and `threads` cores.
fn pool(fault: Fault, fakes: usize, threads: usize) -> Pool {
    let builder = match NonZeroUsize::new(threads) {
        Some(threads) => work::pool().threads(threads),
        None => work::pool().without_cpu(),
    };
    let jobs: Arc<AtomicUsize> = Arc::default();
    let fakes = (0..fakes).map(|_| {
        let jobs = Arc::clone(&jobs);
        move || -> Result<Box<dyn Station>, String> { Ok(Box::new(Fake { fault, jobs, last: None })) }
    });
    fakes.fold(builder, |builder, make| builder.station(Accepts::Only(FOR_DEVICES), make)).build()
}

const SIZES: Sizes = Sizes { band: 32, tile: 96, ends: 120, strip: 1 };

/// All modes and many pictures, twice with the same pool. Returns the number of answers found wrong.
fn survives(fault: Fault, fakes: usize, threads: usize, verify: Verify) -> usize {
    let (done, result) = std::sync::mpsc::channel();
    watched(format!("{fault:?}, {fakes} of them, {threads} cores, {verify:?}"), move || {
        let picture = picture(400, 200, 3);
        let expected = plain::dither(&picture);
        let mut wrong = 0;
        for (_, mode) in Mode::ALL {
            let pool = pool(fault, fakes, threads);
            for turn in ["first", "second"] {
                let outcome = manager::dither(&pool, &picture, units(mode, 400, 200, SIZES), verify).expect("cores");
                assert!(outcome.bitmap == expected, "{mode}, {turn}");
                wrong += outcome.wrong;
            }
        }
        let pool = pool(fault, fakes, threads);
        let mut count = 0;
        let pictures = (0..6).map(|_| Ok::<_, Error>((*picture).clone()));
        wrong += many::dither_all(&pool, pictures, verify, |bitmap| {
            count += 1;
            assert!(bitmap == expected, "picture {count}");
            Ok(())
        })
        .expect("cores");
        assert_eq!(count, 6);
        done.send(wrong).expect("somebody waits");
    });
    result.recv().expect("a number")
}

#[test]
fn every_fault_in_every_company() {
    quiet();
    for fault in HARMLESS {
        for (fakes, threads) in [(1, 0), (3, 0), (1, 2)] {
            assert_eq!(survives(fault, fakes, threads, Verify::Sample), 0);
        }
    }
}

#[test]
fn a_failure_a_panic_or_a_retirement_at_every_job() {
    quiet();
    for job in 0..8 {
        for fault in [Fault::Fail(job), Fault::Panic(job), Fault::Retire(job)] {
            assert_eq!(survives(fault, 1 + job % 2, job % 3, Verify::Sample), 0);
        }
    }
}

/// One strip of each answer is enough to find answers that are wrong in all strips.
#[test]
fn wrong_answers_are_found() {
    quiet();
    for fault in WRONG {
        for (fakes, threads) in [(1, 0), (2, 2)] {
            for verify in [Verify::Sample, Verify::All] {
                let found = survives(fault, fakes, threads, verify);
                assert!(found > 0, "{fault:?}: nothing was found wrong");
            }
        }
    }
}

/// After a device was wrong, the cores do everything.
#[test]
fn who_was_wrong_is_asked_no_more() {
    quiet();
    watched("distrust".to_owned(), || {
        let pool = pool(Fault::White, 1, 1);
        let picture = picture(400, 2000, 3);
        let units = units(Mode::Hybrid, 400, 2000, SIZES);
        let of_device = units.iter().filter(|unit| unit.class == work::DEVICE).count();
        let outcome = manager::dither(&pool, &picture, units, Verify::Sample).expect("cores");
        assert!(outcome.bitmap == plain::dither(&picture));
        assert!(outcome.wrong > 0 && outcome.wrong < of_device / 4, "{} of {of_device}", outcome.wrong);
    });
}

/// A device's answers that come after it was found wrong are checked, too.
#[test]
fn who_was_wrong_is_not_believed() {
    watched("in flight".to_owned(), || {
        let picture = picture(400, 200, 3);
        let mut units = units(Mode::Cores, 400, 200, SIZES);
        // Two tiles that can be done at the same time: the third one of the first band, the first one of the second.
        let second = units.iter().position(|unit| unit.slab.rows.start > 0).expect("a second band");
        (units[2].class, units[second].class) = (work::DEVICE, work::DEVICE);
        let outcome = manager::dither(&pool(Fault::SlowAndWhite, 1, 2), &picture, units, Verify::Sample);
        let outcome = outcome.expect("cores");
        assert!(outcome.bitmap == plain::dither(&picture));
        assert_eq!(outcome.wrong, 2);
    });
    // As independent pictures, several of which the device has at a time.
    watched("many in flight".to_owned(), || {
        let pool = pool(Fault::SlowAndWhite, 1, 0);
        let picture = picture(300, 400, 3);
        let expected = plain::dither(&picture);
        let pictures = (0..8).map(|_| Ok::<_, Error>((*picture).clone()));
        let outcome = many::dither_all(&pool, pictures, Verify::Sample, |bitmap| {
            assert!(bitmap == expected);
            Ok(())
        });
        assert!(outcome.expect("cores") > 0);
    });
}

/// One wrong bit in a large picture: a sample may miss it, a full check does not.
#[test]
fn one_wrong_bit() {
    struct OneBit;
    impl Station for OneBit {
        fn name(&self) -> String {
            "one bit".to_owned()
        }

        fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
            for job in batch {
                let done = slab(job).map(|task| task.run());
                if let Some(mut done) = done {
                    let middle = done.bits.len() / 2;
                    done.bits[middle] ^= 0x10;
                    complete(job, done);
                }
            }
            Ok(())
        }
    }
    watched("one bit".to_owned(), || {
        let pool = work::pool().group(work::group(|| Ok(Box::new(OneBit)))).build();
        let picture = picture(300, 1000, 0);
        let whole = || units(Mode::Device, 300, 1000, SIZES);
        let outcome = manager::dither(&pool, &picture, whole(), Verify::All).expect("cores");
        assert_eq!((outcome.wrong, outcome.bitmap == plain::dither(&picture)), (1, true));
    });
}

/// If a core is wrong too, the result is an error, and the core's answer is not accepted.
#[test]
fn nobody_is_right() {
    quiet();
    watched("nobody".to_owned(), || {
        let everything = Accepts::Everything;
        let make = || -> Result<Box<dyn Station>, String> {
            Ok(Box::new(Fake { fault: Fault::NoForm, jobs: Arc::default(), last: None }))
        };
        let pool = work::cores().without_cpu().station(everything, make).build();
        let outcome = manager::dither(&pool, &picture(50, 50, 0), units(Mode::Cores, 50, 50, SIZES), Verify::Sample);
        assert_eq!(outcome, Err(Error::Wrong));
    });
}

/// A station drops its jobs: that is an error, and nothing hangs.
#[test]
fn jobs_that_are_dropped() {
    watched("swapped".to_owned(), || {
        let pool = pool(Fault::Swaps, 1, 1);
        let outcome = manager::dither(&pool, &picture(50, 50, 0), units(Mode::Device, 50, 50, SIZES), Verify::Sample);
        assert_eq!(outcome, Err(Error::Failed("a station dropped the job".to_owned())));
    });
}

#[test]
fn a_station_that_cannot_be_had() {
    quiet();
    for threads in [0, 1] {
        watched("refused".to_owned(), move || {
            let builder = match NonZeroUsize::new(threads) {
                Some(threads) => work::pool().threads(threads),
                None => work::pool().without_cpu(),
            };
            let pool = builder.group(work::group(|| Err("no such device".to_owned()))).build();
            let picture = picture(200, 200, 0);
            let outcome = manager::dither(&pool, &picture, units(Mode::Handover, 200, 200, SIZES), Verify::Sample);
            assert!(outcome.expect("cores").bitmap == plain::dither(&picture));
        });
    }
}

#[test]
fn fallbacks_are_counted() {
    quiet();
    for (fault, expected) in [(Fault::None, 0), (Fault::Silent, 1), (Fault::PanicAlways, 1), (Fault::Declines, 0)] {
        watched(format!("{fault:?}"), move || {
            let pool = pool(fault, 1, 1);
            let picture = picture(100, 100, 0);
            manager::dither(&pool, &picture, units(Mode::Device, 100, 100, SIZES), Verify::Sample).expect("cores");
            let fallbacks: u64 = pool.summary().stations.iter().map(|station| station.fallbacks).sum();
            assert_eq!(fallbacks, expected);
        });
    }
}
