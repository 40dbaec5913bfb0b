//! Dithering as a kind of work for hybz's pool: questions, answers, and how a core does them.
//!
//! | question | class | who takes it |
//! |---|---|---|
//! | `Ask<CORE>` | 0 | cores |
//! | `Ask<DEVICE>` | 1 | GPUs; cores, where a GPU failed or declined |
//! | `Ask<EITHER>` | 2 | whoever is done with it sooner, by the rule of the pool |
//! | [`Check`] | | cores: it is a second stage |

use crate::slab::{Done, Task};
use hybz::schedule::{
    Accepts, AnyJob, Class, Crew, ErasedJob, Expected, Job, Pool, PoolBuilder, Question, Station, StationError, Work,
};
use std::sync::Arc;
use std::time::Duration;

/// The class of slabs that cores do.
pub const CORE: u8 = 0;
/// The class of slabs that GPUs do.
pub const DEVICE: u8 = 1;
/// The class of slabs that do not depend on who does them.
pub const EITHER: u8 = 2;

/// What an accelerator takes.
pub const FOR_DEVICES: &[Class] = &[Class(DEVICE), Class(EITHER)];

/// Dither this slab. The number says who should.
#[derive(Clone, Debug)]
pub struct Ask<const CLASS: u8>(pub Arc<Task>);

impl<const CLASS: u8> Question for Ask<CLASS> {
    type Answer = Done;
    const CLASS: Class = Class(CLASS);

    fn bytes(&self) -> u64 {
        self.0.slab.area()
    }

    fn bytes_out(done: &Done) -> u64 {
        done.bits.len() as u64
    }
}

/// Is this answer right in these strips?
#[derive(Clone, Debug)]
pub struct Check {
    /// What was asked.
    pub task: Arc<Task>,
    /// What was answered.
    pub done: Arc<Done>,
    /// The strips to repeat.
    pub strips: Vec<usize>,
}

impl Question for Check {
    type Answer = bool;

    fn bytes(&self) -> u64 {
        self.task.slab.area() / self.task.slab.strips().max(1) as u64 * self.strips.len() as u64
    }

    fn is_second_stage(&self) -> bool {
        true
    }

    fn is_verification(&self) -> bool {
        true
    }
}

/// What lies on the queue.
#[derive(Debug)]
pub enum DitherJob {
    /// For a core.
    Core(Job<Ask<CORE>>),
    /// For a GPU.
    Device(Job<Ask<DEVICE>>),
    /// For anybody.
    Either(Job<Ask<EITHER>>),
    /// To be checked.
    Check(Job<Check>),
}

impl DitherJob {
    /// The slab, unless it is a check.
    pub fn task(&self) -> Option<&Arc<Task>> {
        match self {
            DitherJob::Core(job) => Some(&job.question().0),
            DitherJob::Device(job) => Some(&job.question().0),
            DitherJob::Either(job) => Some(&job.question().0),
            DitherJob::Check(_) => None,
        }
    }

    /// Answers with a slab. (A check has another answer: it stays open.)
    pub fn answer(&mut self, done: Done) {
        match self {
            DitherJob::Core(job) => job.answer(done),
            DitherJob::Device(job) => job.answer(done),
            DitherJob::Either(job) => job.answer(done),
            DitherJob::Check(_) => {}
        }
    }

    /// Leaves it to a core.
    pub fn decline(&mut self) {
        match self {
            DitherJob::Core(job) => job.decline(),
            DitherJob::Device(job) => job.decline(),
            DitherJob::Either(job) => job.decline(),
            DitherJob::Check(job) => job.decline(),
        }
    }
}

impl AnyJob for DitherJob {
    fn erased(&mut self) -> &mut dyn ErasedJob {
        match self {
            DitherJob::Core(job) => job,
            DitherJob::Device(job) => job,
            DitherJob::Either(job) => job,
            DitherJob::Check(job) => job,
        }
    }
}

impl From<Job<Ask<CORE>>> for DitherJob {
    fn from(job: Job<Ask<CORE>>) -> Self {
        DitherJob::Core(job)
    }
}

impl From<Job<Ask<DEVICE>>> for DitherJob {
    fn from(job: Job<Ask<DEVICE>>) -> Self {
        DitherJob::Device(job)
    }
}

impl From<Job<Ask<EITHER>>> for DitherJob {
    fn from(job: Job<Ask<EITHER>>) -> Self {
        DitherJob::Either(job)
    }
}

impl From<Job<Check>> for DitherJob {
    fn from(job: Job<Check>) -> Self {
        DitherJob::Check(job)
    }
}

/// The kind of work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dither;

impl Work for Dither {
    type Job = DitherJob;
    const CLASSES: usize = 3;

    fn core(&self, number: usize) -> Box<dyn Station<DitherJob>> {
        Box::new(Core(number))
    }

    fn after_fork(&self) -> Self {
        Dither
    }

    fn core_rate(&self, _: Class) -> f64 {
        1e9
    }

    fn memory_per_core(&self) -> u64 {
        64 << 20
    }
}

/// A core.
struct Core(usize);

impl Station<DitherJob> for Core {
    fn name(&self) -> String {
        format!("cpu {}", self.0)
    }

    fn work(&mut self, batch: &mut [DitherJob]) -> Result<(), StationError> {
        for job in batch {
            if let DitherJob::Check(job) = job {
                let Check { task, done, strips } = job.question();
                let right = strips.iter().all(|&strip| task.is_right_in(strip, done));
                job.answer(right);
            } else if let Some(task) = job.task() {
                let done = task.run();
                job.answer(done);
            }
        }
        Ok(())
    }
}

/// A pool whose cores leave to GPUs what is for GPUs: what handover and hybrid want.
pub fn pool() -> PoolBuilder<Dither> {
    Pool::with_work(Dither).cores_accept(Accepts::AllBut(&[Class(DEVICE)]))
}

/// A crew of one accelerator, which is there from the first job.
pub fn crew(make: impl FnOnce() -> Result<Box<dyn Station<DitherJob>>, String> + Send + 'static) -> Crew<DitherJob> {
    let expected = Expected { rate: 10e9, start: Duration::from_millis(300), end: Duration::from_millis(100) };
    Crew::new(FOR_DEVICES, expected).at_once().member(make)
}
