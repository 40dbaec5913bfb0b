//! A pool: the stations of a process, and the queue that they share.
//!
//! A thread is started when the queue first outgrows the existing threads, so a small file on a large machine costs one
//! thread. Accelerators, which are slow to start, are started when the remaining work is worth it.

use super::class::{Accepts, Class};
use super::memory::{MemoryBudget, Permit};
use super::policy::Expected;
use super::queue::{GroupMakes, Make, Shared};
use super::report::Summary;
use super::state::{GroupPlan, State};
use super::station::Station;
use super::submitter::{Submission, Submitter};
use super::task::Task;
use once_cell::race::OnceBox;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use std::{fmt, thread};

/// The stations of a process and the queue they share. Clones are the same pool.
///
/// One pool serves any number of clients at the same time. Its threads end when the last clone is dropped.
///
/// **Forks.** A child process has none of its parent's threads. A pool that is used in a child is made anew there, with
/// as many cores and without accelerators (a device cannot be used on both sides of a fork). Clients and tickets belong
/// to one process: see [`Client::is_foreign`].
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    plan: Plan,
    /// The same pool in a child of the process in which this pool was made. (It involves no lock that another thread
    /// may have held at the fork.)
    child: OnceBox<Inner>,
}

/// The description from which a pool is made.
#[derive(Clone, Debug)]
struct Plan {
    cores: usize,
    core_accepts: Accepts,
    memory: Option<u64>,
    max_memory: Option<u64>,
    memory_per_core: u64,
    readers: usize,
    groups: Vec<GroupPlan>,
}

impl Plan {
    /// Makes the pool. `makes` has the makers of each group's members.
    fn build(self, makes: Vec<GroupMakes>) -> Inner {
        let own = self.memory_per_core * self.cores.max(1) as u64;
        let budget = match self.memory {
            Some(memory) => MemoryBudget::fixed(memory),
            // The budget begins with the cores' part; accelerators add their parts when they start.
            None => MemoryBudget::growing(own, self.cores as u64 + 1, self.max_memory),
        };
        // Without workers to share the hardware threads, the number of these does not matter.
        let hardware = if self.cores == 0 && self.groups.is_empty() { 1 } else { hardware() };
        let mut state = State::new(self.cores, self.core_accepts, hardware);
        state.more_readers = self.readers.saturating_sub(1);
        self.groups.iter().for_each(|group| state.add_group(*group));
        Inner { shared: Shared::new(Arc::new(budget), state, makes), plan: self, child: OnceBox::new() }
    }
}

/// The number of hardware threads that this process may use.
fn hardware() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// The number of `cores` CPU stations that can help: at most 16, or four for each hardware thread if that is more.
fn those_that_help(cores: usize) -> usize {
    if cores <= 16 { cores } else { cores.min(hardware().saturating_mul(4).max(16)) }
}

impl Inner {
    /// The same pool, rebuilt in the child of a fork.
    fn after_fork(&self) -> Inner {
        let cannot = || -> Make { Box::new(|| Err("not available in a forked process".to_owned())) };
        let makes =
            |group: &GroupPlan| GroupMakes { makes: (0..group.members).map(|_| cannot()).collect(), held_bytes: 0 };
        self.plan.clone().build(self.plan.groups.iter().map(makes).collect())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The parent's stations do not end with the child.
        if !self.shared.is_foreign() {
            self.shared.close();
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("summary", &self.summary()).finish()
    }
}

impl Pool {
    /// The pool of this process.
    fn inner(&self) -> &Inner {
        let mut inner = &*self.0;
        // Follow the chain to its end: one of this process's ancestors may have had the same number, but the last
        // process that used the pool is its parent or itself.
        while let Some(child) = inner.child.get() {
            inner = child;
        }
        match inner.shared.is_foreign() {
            true => inner.child.get_or_init(|| Box::new(inner.after_fork())),
            false => inner,
        }
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.inner().shared
    }

    /// The pool for callers that have none of their own: one CPU station for each core that the process may use. A
    /// child of a fork gets its own.
    pub fn global() -> &'static Pool {
        // Not a `OnceLock`: its own lock could be held when the process is forked.
        static GLOBAL: OnceBox<Pool> = OnceBox::new();
        GLOBAL.get_or_init(|| Box::new(Pool::builder().build()))
    }

    /// Starts the description of a pool.
    pub fn builder() -> PoolBuilder {
        let plan = Plan {
            cores: 0,
            core_accepts: Accepts::Everything,
            memory: None,
            max_memory: None,
            memory_per_core: MEMORY_PER_CORE,
            readers: 1,
            groups: Vec::new(),
        };
        PoolBuilder { threads: None, plan, makes: Vec::new() }
    }

    /// A new client, which submits jobs.
    pub fn client(&self) -> Client {
        Client {
            pool: self.clone(),
            submitter: Submitter::new(self.shared()),
            permits: Arc::default(),
            detached: false,
        }
    }

    /// The work that each station has done so far.
    pub fn summary(&self) -> Summary {
        let shared = self.shared();
        Summary { stations: shared.reports(), memory: shared.budget.limit() }
    }

    /// The one `S` that the cores of this pool share, made at the first request. It is not kept across a fork, because
    /// another thread of the parent may have held a lock in it.
    pub fn shared_value<S: Default + Send + Sync + 'static>(&self) -> Arc<S> {
        self.shared().values.get()
    }

    /// The number of CPU stations that the pool has, or will have once there is work.
    pub fn cores(&self) -> usize {
        self.0.plan.cores
    }

    /// Whether the pool has accelerators, or will have them once there is work.
    pub fn has_accelerators(&self) -> bool {
        self.0.plan.groups.iter().any(|group| !group.accepts.continuations())
    }

    /// Whether there are accelerators for tasks of this class, started or not.
    pub fn has_accelerators_for(&self, class: Class) -> bool {
        self.shared().has_accelerators_for(class)
    }

    /// The budget that bounds the bytes in memory.
    pub fn budget(&self) -> &MemoryBudget {
        &self.shared().budget
    }

    /// The number of threads that should read one long input now: one, until accelerators have been started.
    pub fn readers(&self) -> usize {
        let Inner { shared, plan, .. } = self.inner();
        if plan.readers > 1 && shared.is_accelerated() { plan.readers } else { 1 }
    }

    /// Announces that an input is being read, until the returned guard is dropped; `bytes` is its length if that is
    /// known. While more input is to come, accelerators take batches as large as they can; and the amount still to come
    /// decides whether they are started.
    pub fn reading(&self, bytes: Option<u64>) -> Reading {
        self.shared().begin_reading(bytes);
        Reading { shared: Arc::clone(self.shared()), bytes }
    }
}

/// An input is being read ([`Pool::reading`]).
pub struct Reading {
    shared: Arc<Shared>,
    bytes: Option<u64>,
}

impl Drop for Reading {
    fn drop(&mut self) {
        if !self.shared.is_foreign() {
            self.shared.end_reading(self.bytes);
        }
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// A submitter of jobs to a pool: one stream, for example. When it is dropped, those of its jobs that no station has
/// begun are dropped too.
#[derive(Debug)]
pub struct Client {
    pool: Pool,
    submitter: Submitter,
    /// The number of permits that the client and its siblings hold.
    permits: Arc<AtomicUsize>,
    /// Set if another owner makes sure that the client's jobs are done.
    detached: bool,
}

impl Client {
    /// Another client that shares this one's account of permits but is cancelled separately.
    pub fn sibling(&self) -> Client {
        let (pool, submitter) = (self.pool.clone(), self.submitter.sibling());
        Client { pool, submitter, permits: Arc::clone(&self.permits), detached: false }
    }

    /// Ends this client without cancelling its jobs, because another owner has its [`Submitter`].
    pub fn detach(mut self) {
        self.detached = true;
    }

    /// The pool.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The handle that puts its jobs on the queue.
    pub fn submitter(&self) -> &Submitter {
        &self.submitter
    }

    /// Prepares a task for submission: [`Submitter::task`].
    pub fn task<T: Task>(&self, task: T) -> Submission<'_, T> {
        self.submitter.task(task)
    }

    /// Whether the client was made before a fork and this is the child, where no worker does its tasks. A ticket's
    /// [`wait`](super::task::Ticket::wait) would never return, and even dropping tickets and permits is not safe here,
    /// because a worker of the parent may have been about to answer: forget them.
    pub fn is_foreign(&self) -> bool {
        self.submitter.shared().is_foreign()
    }

    /// Waits until `bytes` fit into the budget, or until this client holds no permit, so it always makes progress.
    pub fn permit(&self, bytes: u64) -> Permit {
        self.submitter.shared().budget.permit(bytes, &self.permits)
    }

    /// A permit for `bytes`, if one is available immediately.
    pub fn try_permit(&self, bytes: u64) -> Option<Permit> {
        self.submitter.shared().budget.try_permit(bytes, &self.permits)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if !self.detached {
            self.submitter.cancel();
        }
    }
}

/// Accelerators that are started together: the lanes of one device, for example.
pub struct WorkerGroup {
    plan: GroupPlan,
    members: GroupMakes,
}

impl WorkerGroup {
    /// A group without members for tasks of these classes, with `expected` performance.
    pub fn new(accepts: &'static [Class], expected: Expected) -> WorkerGroup {
        WorkerGroup::of(Accepts::Only(accepts), expected)
    }

    fn of(accepts: Accepts, expected: Expected) -> WorkerGroup {
        let plan = GroupPlan { accepts, members: 0, expected, full_task: 0, at_once: false, started: false };
        WorkerGroup { plan, members: GroupMakes { makes: Vec::new(), held_bytes: 0 } }
    }

    /// The number of bytes of the tasks with which the group reaches its expected rate: with tasks of half that
    /// length, it is expected to reach half of it. By default the length of tasks does not matter.
    pub fn full_task(mut self, bytes: u64) -> Self {
        self.plan.full_task = bytes;
        self
    }

    /// Starts the group with the first job. (By default it is started when the remaining work is done sooner with it.)
    pub fn at_once(mut self) -> Self {
        self.plan.at_once = true;
        self
    }

    /// The number of bytes of the memory budget that each member can hold at one time: the budget grows by that number
    /// when a member is started.
    pub fn held_bytes(mut self, bytes: u64) -> Self {
        self.members.held_bytes = bytes;
        self
    }

    /// Adds a member. `make` runs on the member's own thread.
    pub fn member(mut self, make: impl FnOnce() -> Result<Box<dyn Station>, String> + Send + 'static) -> Self {
        self.plan.members += 1;
        self.members.makes.push(Box::new(make));
        self
    }
}

impl fmt::Debug for WorkerGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerGroup").field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// Accelerators that can be added to a pool, such as the lanes of all GPUs.
pub trait Accelerators {
    /// Adds them.
    fn add_to(&self, builder: PoolBuilder) -> PoolBuilder;
}

/// The memory budget for each core: five blocks of 900 kB in flight and their results. A larger budget only fills
/// memory; with a smaller one, a slow block holds the others up.
const MEMORY_PER_CORE: u64 = 11 << 20;

/// The description of a [`Pool`] to be built.
pub struct PoolBuilder {
    threads: Option<usize>,
    plan: Plan,
    /// The makers of each group's members.
    makes: Vec<GroupMakes>,
}

impl PoolBuilder {
    /// The number of CPU stations; by default one for each core that this process may use.
    ///
    /// A station waits for nothing but blocks, so more than four for each core (or 16, if that is more) would not help,
    /// and are not made.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads.get());
        self
    }

    /// Without CPU stations, only those added with [`station`](Self::station) or [`group`](Self::group) work. A task
    /// that they cannot do is still done as a core does it, on their threads.
    pub fn without_cpu(mut self) -> Self {
        self.threads = Some(0);
        self
    }

    /// The tasks that the CPU stations accept: [`Accepts::Everything`] by default. (This is for measurements.)
    pub fn cores_accept(mut self, accepts: Accepts) -> Self {
        self.plan.core_accepts = accepts;
        self
    }

    /// The maximum number of bytes that pieces in flight may take, in all streams together.
    ///
    /// In addition, each station needs its own memory. A client with no piece in flight may always send one, so a small
    /// number slows the work down but never stops it.
    ///
    /// (A long block that needs more than the whole budget is refused.)
    ///
    /// By default the budget is enough for some pieces for each station and for the accelerators' batches, up to
    /// [`max_memory`](Self::max_memory). A single block may then take 7/8 of the memory of the machine, or of the
    /// container.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.plan.memory = Some(bytes);
        self
    }

    /// The budget does not grow beyond this, whatever the pieces or the accelerators need. The default is half of the
    /// memory of the machine or container.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.plan.max_memory = Some(bytes);
        self
    }

    /// The number of bytes that the budget has for each core, unless it is [set](Self::memory).
    pub fn memory_per_core(mut self, bytes: u64) -> Self {
        self.plan.memory_per_core = bytes;
        self
    }

    /// The number of threads that read and cut one long input. One thread keeps up with 2 GB/s and more. While
    /// accelerators run, fewer cores begin tasks: these threads need processors, too.
    pub fn readers(mut self, readers: usize) -> Self {
        self.plan.readers = readers;
        self
    }

    /// Adds a station, which is started with the first job. `make` runs on the station's own thread.
    ///
    /// A station that accepts [`Accepts::Only`] some classes is an accelerator: cores leave to it the blocks that it
    /// does sooner.
    pub fn station(
        self,
        accepts: Accepts,
        make: impl FnOnce() -> Result<Box<dyn Station>, String> + Send + 'static,
    ) -> Self {
        let expected = Expected { rate: 100e6, start: Duration::ZERO, end: Duration::ZERO };
        self.group(WorkerGroup::of(accepts, expected).at_once().member(make))
    }

    /// Adds all of these `accelerators`.
    pub fn accelerators(self, accelerators: &impl Accelerators) -> Self {
        accelerators.add_to(self)
    }

    /// Adds accelerators that are started together.
    pub fn group(mut self, group: WorkerGroup) -> Self {
        self.plan.groups.push(group.plan);
        self.makes.push(group.members);
        self
    }

    /// Makes the pool. No thread is started before there is work.
    pub fn build(mut self) -> Pool {
        self.plan.cores = self.threads.map_or_else(hardware, those_that_help);
        Pool(Arc::new(self.plan.build(self.makes)))
    }
}

impl fmt::Debug for PoolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolBuilder").field("threads", &self.threads).field("plan", &self.plan).finish_non_exhaustive()
    }
}
