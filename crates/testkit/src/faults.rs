//! Stations with faults, for any tasks.

use hybz_queue::{Accepts, Job, PoolBuilder, Station, StationError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

/// The fault of a fake station. Jobs are counted from 0 over all fakes of a pool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Nothing.
    None,
    /// Every job takes a while longer.
    Slow,
    /// Fails at job k, with the jobs of its batch before k replied to.
    Fail(usize),
    FailAlways,
    /// Panics at job k.
    Panic(usize),
    PanicAlways,
    /// Replies first, then panics.
    PanicAfterReply,
    /// Reports success and replies to nothing.
    Silent,
    /// Replies to every second job.
    Half,
    /// Replies to the last job of a batch first.
    Shuffle,
    /// Replies to every job twice.
    Babble,
    /// Fails at job k, and wants no more jobs.
    Retire(usize),
    /// Reports good blocks as damaged, or as cut short.
    SaysDamaged,
    SaysCut,
    /// Returns a wrong result.
    Wrong(Wrong),
    /// Panics when it is asked for its name or for how many jobs it wants, and when it is dropped after retiring.
    NamePanics,
    MostPanics,
    DropPanics,
}

/// The faults with which stations for any work are tested. A wrong answer is not among them.
pub const USUAL: [Fault; 10] = [
    Fault::None,
    Fault::Slow,
    Fault::FailAlways,
    Fault::PanicAlways,
    Fault::PanicAfterReply,
    Fault::Silent,
    Fault::Half,
    Fault::Shuffle,
    Fault::Babble,
    Fault::Retire(0),
];

/// The way in which a result is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wrong {
    /// The result is empty.
    Empty,
    /// The result is not in order.
    Order,
    /// A part is missing.
    Lost,
    /// One part occurs twice, another one not at all.
    Twice,
    /// One bit is flipped.
    Bit,
}

/// The function that does a job for a fake, with the fault it should show.
pub type One = Box<dyn FnMut(&mut Job, Fault) + Send>;

pub struct Fake {
    pub fault: Fault,
    pub most: usize,
    pub jobs: Arc<AtomicUsize>,
    pub one: One,
}

impl Station for Fake {
    fn name(&self) -> String {
        assert!(self.fault != Fault::NamePanics, "the name panics");
        format!("fake, {:?}", self.fault)
    }

    fn max_batch(&self) -> usize {
        assert!(self.fault != Fault::MostPanics, "the number panics");
        self.most
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        let failure = |retire| Err(StationError { reason: "it is told to".into(), retire });
        let mut order: Vec<usize> = (0..batch.len()).collect();
        if self.fault == Fault::Shuffle {
            order.reverse();
        }
        for index in order {
            let job = self.jobs.fetch_add(1, Ordering::Relaxed);
            match self.fault {
                Fault::Slow => std::thread::sleep(Duration::from_millis(30)),
                Fault::Fail(at) if at == job => return failure(false),
                Fault::FailAlways => return failure(false),
                Fault::Panic(at) if at == job => panic!("it is told to"),
                Fault::PanicAlways => panic!("it is told to"),
                Fault::Retire(at) if at <= job => return failure(true),
                Fault::DropPanics => return failure(true),
                Fault::Silent => continue,
                Fault::Half if job.is_multiple_of(2) => continue,
                _ => {}
            }
            (self.one)(&mut batch[index], self.fault);
            if self.fault == Fault::Babble {
                (self.one)(&mut batch[index], self.fault);
            }
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

/// Adds a fake to a pool.
pub fn with_fake(
    builder: PoolBuilder,
    accepts: Accepts,
    (fault, most): (Fault, usize),
    jobs: &Arc<AtomicUsize>,
    one: fn() -> One,
) -> PoolBuilder {
    let jobs = Arc::clone(jobs);
    builder.station(accepts, move || Ok(Box::new(Fake { fault, most, jobs, one: one() })))
}

/// The other stations in a fake's pool.
#[derive(Clone, Copy, Debug)]
pub enum Company {
    Alone,
    /// Three fakes of its kind.
    Twins,
    /// A pool of two CPU stations.
    Cpu,
}

/// Runs `body` on a thread and fails if it takes longer than any machine needs.
pub fn watched(what: String, body: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        body();
        let _ = done.send(());
    });
    match wait.recv_timeout(Duration::from_secs(60)) {
        Ok(()) => {}
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().expect_err("it did not reach its end");
            let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            panic!("{what}: {text}");
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: locked up"),
    }
}

/// Panics of fakes are expected, so they are kept out of the tests' output.
pub fn quiet() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().name() != Some("hybz station") {
                usual(info);
            }
        }));
    });
}
