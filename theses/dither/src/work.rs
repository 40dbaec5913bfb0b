//! Dithering as tasks for hybz's pool.
//!
//! | task | class | who takes it |
//! |---|---|---|
//! | [`Ask`] | [`CORE`] | cores |
//! | [`Ask`] | [`DEVICE`] | GPUs; cores, if a GPU failed or declined |
//! | [`Ask`] | [`EITHER`] | the station that finishes it sooner, by the rule of the pool |
//! | [`Check`] | none | cores |

use crate::slab::{Done, Task};
use hybz::schedule::{self, Accepts, Class, Core, Expected, Job, Pool, PoolBuilder, Station, WorkerGroup};
use std::sync::Arc;
use std::time::Duration;

/// Slabs that cores do.
pub const CORE: Class = Class::new("core", 1e9);
/// Slabs that GPUs do.
pub const DEVICE: Class = Class::new("device", 1e9);
/// Slabs that any station may do.
pub const EITHER: Class = Class::new("either", 1e9);

/// The classes that an accelerator takes.
pub const FOR_DEVICES: &[Class] = &[DEVICE, EITHER];

/// Dither this slab. The class says which stations should.
#[derive(Clone, Debug)]
pub struct Ask(pub Arc<Task>);

impl schedule::Task for Ask {
    type Output = Done;

    fn run(&self, _: &mut Core) -> Done {
        self.0.run()
    }

    fn bytes_out(done: &Done) -> u64 {
        done.bits.len() as u64
    }
}

/// Check whether this output is right in these strips.
#[derive(Clone, Debug)]
pub struct Check {
    /// The task.
    pub task: Arc<Task>,
    /// Its output.
    pub done: Arc<Done>,
    /// The strips to repeat.
    pub strips: Vec<usize>,
}

impl schedule::Task for Check {
    type Output = bool;

    fn run(&self, _: &mut Core) -> bool {
        self.strips.iter().all(|&strip| self.task.is_right_in(strip, &self.done))
    }
}

/// The slab of a job, unless it is a check.
pub fn slab(job: &Job) -> Option<&Arc<Task>> {
    job.task().map(|Ask(task)| task)
}

/// Gives a slab's output. (A check has another output, so it stays open.)
pub fn complete(job: &mut Job, done: Done) {
    if let Some(job) = job.of::<Ask>() {
        job.complete(done);
    }
}

/// A pool with memory for pictures.
pub fn cores() -> PoolBuilder {
    Pool::builder().memory_per_core(64 << 20)
}

/// A pool whose cores leave the GPUs' classes to GPUs, as handover and hybrid require.
pub fn pool() -> PoolBuilder {
    cores().cores_accept(Accepts::AllBut(&[DEVICE]))
}

/// A group of one accelerator, which starts with the first job.
pub fn group(make: impl FnOnce() -> Result<Box<dyn Station>, String> + Send + 'static) -> WorkerGroup {
    let expected = Expected { rate: 10e9, start: Duration::from_millis(300), end: Duration::from_millis(100) };
    WorkerGroup::new(FOR_DEVICES, expected).at_once().member(make)
}
