//! A pool: the stations of a process, and the queue that they share.
//!
//! Threads are started when the queue first outgrows those that are there, so a small file on a large machine costs one
//! thread. Accelerators, which are slow to start, are started when the work left is worth it.

use super::job::{Accepts, AnyJob, Class, Job, JobError, Question, Ticket};
use super::memory::{self, MemoryBudget, Permit};
use super::policy::Expected;
use super::queue::{CrewMakes, Make, Shared};
use super::report::Summary;
use super::state::{CrewPlan, State};
use super::station::{Station, Work};
use super::submitter::Submitter;
use once_cell::race::OnceBox;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::Duration;

/// The stations of a process and the queue they share. Clones are the same pool.
///
/// One pool serves any number of clients at once. Its threads end when the last clone is dropped.
///
/// **Forks.** A child process has none of its parent's threads. A pool that is used in a child is made anew there, with
/// as many cores and without accelerators (a device cannot be used on both sides of a fork). Clients and tickets are
/// those of one process: see [`Client::is_foreign`].
pub struct Pool<W: Work>(Arc<Inner<W>>);

struct Inner<W: Work> {
    shared: Arc<Shared<W>>,
    plan: Plan,
    /// The same pool in a process that was forked from the one that this was made in. (No lock is in the way that
    /// another thread may have held when the process was forked.)
    child: OnceBox<Inner<W>>,
}

/// What a pool is made of.
#[derive(Clone)]
struct Plan {
    cores: usize,
    core_accepts: Accepts,
    memory: Option<u64>,
    max_memory: Option<u64>,
    readers: usize,
    crews: Vec<CrewPlan>,
}

impl Plan {
    /// Makes the pool. `makes` has an entry for each crew.
    fn build<W: Work>(self, work: W, makes: Vec<CrewMakes<W::Job>>) -> Inner<W> {
        let own = work.memory_per_core() * self.cores.max(1) as u64;
        let budget = match self.memory {
            Some(memory) => MemoryBudget::fixed(memory),
            None => {
                let max = self.max_memory.unwrap_or_else(|| memory::of_machine() / 2);
                // What the cores need was settled with their number.
                MemoryBudget::growing(own, self.cores as u64 + 1, max.max(own), memory::of_one_piece())
            }
        };
        let rates = (0..W::CLASSES).map(|class| work.core_rate(Class(class as u8))).collect();
        let mut state = State::new(rates, self.cores, self.core_accepts, hardware());
        self.crews.iter().for_each(|crew| state.add_crew(*crew));
        Inner { shared: Shared::new(work, Arc::new(budget), state, makes), plan: self, child: OnceBox::new() }
    }
}

/// How many hardware threads this process may use.
fn hardware() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// How many of so many CPU stations can help: 16, or four for each core.
fn those_that_help(cores: usize) -> usize {
    if cores <= 16 { cores } else { cores.min(hardware().saturating_mul(4).max(16)) }
}

impl<W: Work> Inner<W> {
    /// The same pool, made anew in the child of a fork.
    fn after_fork(&self) -> Inner<W> {
        let cannot = || -> Make<W::Job> { Box::new(|| Err("not to be had in a process that was forked".to_owned())) };
        let makes = |crew: &CrewPlan| CrewMakes { makes: (0..crew.members).map(|_| cannot()).collect(), held_bytes: 0 };
        self.plan.clone().build(self.shared.work.after_fork(), self.plan.crews.iter().map(makes).collect())
    }
}

impl<W: Work> Drop for Inner<W> {
    fn drop(&mut self) {
        // The parent's stations do not end with the child.
        if !self.shared.is_foreign() {
            self.shared.close();
        }
    }
}

impl<W: Work> Clone for Pool<W> {
    fn clone(&self) -> Self {
        Pool(Arc::clone(&self.0))
    }
}

impl<W: Work> fmt::Debug for Pool<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("summary", &self.summary()).finish()
    }
}

impl<W: Work> Pool<W> {
    /// The pool of this process.
    fn inner(&self) -> &Inner<W> {
        let mut inner = &*self.0;
        // To the end: among its ancestors a process may have one of its own number, but the last that used the pool is
        // its parent, or itself.
        while let Some(child) = inner.child.get() {
            inner = child;
        }
        match inner.shared.is_foreign() {
            true => inner.child.get_or_init(|| Box::new(inner.after_fork())),
            false => inner,
        }
    }

    fn shared(&self) -> &Arc<Shared<W>> {
        &self.inner().shared
    }

    /// Chooses what a pool for this kind of work is made of.
    pub fn with_work(work: W) -> PoolBuilder<W> {
        PoolBuilder {
            work,
            threads: None,
            core_accepts: Accepts::Everything,
            memory: None,
            max_memory: None,
            readers: 1,
            crews: Vec::new(),
        }
    }

    /// Somebody who submits jobs.
    pub fn client(&self) -> Client<W> {
        Client {
            pool: self.clone(),
            submitter: Submitter::new(self.shared()),
            permits: Arc::default(),
            detached: false,
        }
    }

    /// What each station has done so far.
    pub fn summary(&self) -> Summary {
        let shared = self.shared();
        Summary { stations: shared.reports(), memory: shared.budget.limit() }
    }

    /// The kind of work.
    pub(crate) fn work(&self) -> &W {
        &self.shared().work
    }

    /// How many CPU stations it has, or would have once there is work.
    pub fn cores(&self) -> usize {
        self.0.plan.cores
    }

    /// Whether it has, or would have, accelerators.
    pub(crate) fn has_accelerators(&self) -> bool {
        self.0.plan.crews.iter().any(|crew| !crew.accepts.second_stage())
    }

    /// Whether there are accelerators for jobs of this class, started or not.
    pub fn has_accelerators_for(&self, class: Class) -> bool {
        self.shared().has_accelerators_for(class)
    }

    /// The budget that bounds the bytes alive.
    pub fn budget(&self) -> &MemoryBudget {
        &self.shared().budget
    }

    /// How many threads should read one long input, at the moment: one, until accelerators have been started.
    pub fn readers(&self) -> usize {
        let Inner { shared, plan, .. } = self.inner();
        if plan.readers > 1 && shared.is_accelerated() { plan.readers } else { 1 }
    }

    /// Says that an input is being read, of `bytes` bytes if that is known, until the answer is dropped. While more is
    /// to come, accelerators take batches as large as they can; and how much is to come decides whether they are
    /// started.
    pub fn reading(&self, bytes: Option<u64>) -> Reading<W> {
        self.shared().begin_reading(bytes);
        Reading { shared: Arc::clone(self.shared()), bytes }
    }
}

/// An input is being read ([`Pool::reading`]).
pub struct Reading<W: Work> {
    shared: Arc<Shared<W>>,
    bytes: Option<u64>,
}

impl<W: Work> Drop for Reading<W> {
    fn drop(&mut self) {
        if !self.shared.is_foreign() {
            self.shared.end_reading(self.bytes);
        }
    }
}

impl<W: Work> fmt::Debug for Reading<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Somebody who submits jobs to a pool: one stream, for example. What it submitted and nobody has begun is dropped with
/// it.
#[derive(Debug)]
pub struct Client<W: Work> {
    pool: Pool<W>,
    submitter: Submitter<W>,
    /// How many permits it holds, together with its siblings.
    permits: Arc<AtomicUsize>,
    /// Others see to it that its jobs are done with.
    detached: bool,
}

impl<W: Work> Client<W> {
    /// Another client that shares this one's account of permits, but is cancelled by itself.
    pub fn sibling(&self) -> Client<W> {
        let (pool, submitter) = (self.pool.clone(), self.submitter.sibling());
        Client { pool, submitter, permits: Arc::clone(&self.permits), detached: false }
    }

    /// Ends this client without cancelling what it submitted: somebody else has its [`Submitter`].
    pub fn detach(mut self) {
        self.detached = true;
    }

    /// The pool.
    pub fn pool(&self) -> &Pool<W> {
        &self.pool
    }

    /// What puts the jobs on the queue.
    pub fn submitter(&self) -> &Submitter<W> {
        &self.submitter
    }

    /// Asks `question` of the stations: [`Submitter::submit`].
    pub fn submit<Q: Question>(&self, question: Q) -> Ticket<Q::Answer>
    where
        Job<Q>: Into<W::Job>,
    {
        self.submitter.submit(question)
    }

    /// Asks `question`, and has `then` called with the answer: [`Submitter::submit_then`].
    pub fn submit_then<Q: Question>(&self, question: Q, then: impl FnOnce(Result<Q::Answer, JobError>) + Send + 'static)
    where
        Job<Q>: Into<W::Job>,
    {
        self.submitter.submit_then(question, then);
    }

    /// Whether it was made before a fork, and this is the child: nobody would do what it submits, or has submitted. A
    /// ticket's [`wait`](Ticket::wait) would never return, and even to drop tickets and permits is not safe here,
    /// because another thread of the parent may have been about to answer: forget them.
    pub fn is_foreign(&self) -> bool {
        self.submitter.shared().is_foreign()
    }

    /// Waits until `bytes` fit into the budget, or until this client holds no permit: so it always moves.
    pub fn permit(&self, bytes: u64) -> Permit {
        self.submitter.shared().budget.permit(bytes, &self.permits)
    }

    /// A permit for `bytes`, if one can be had at once.
    pub fn try_permit(&self, bytes: u64) -> Option<Permit> {
        self.submitter.shared().budget.try_permit(bytes, &self.permits)
    }
}

impl<W: Work> Drop for Client<W> {
    fn drop(&mut self) {
        if !self.detached {
            self.submitter.cancel();
        }
    }
}

/// Accelerators that are started together: the lanes of one device, for example.
pub struct Crew<J> {
    accepts: Accepts,
    expected: Expected,
    at_once: bool,
    held_bytes: u64,
    makes: Vec<Make<J>>,
}

impl<J: AnyJob> Crew<J> {
    /// A crew of nobody yet, for jobs of these classes, of which `expected` is expected.
    pub fn new(accepts: &'static [Class], expected: Expected) -> Crew<J> {
        Crew { accepts: Accepts::Only(accepts), expected, at_once: false, held_bytes: 0, makes: Vec::new() }
    }

    /// The crew is started with the first job. (Otherwise when the work left is done sooner with it.)
    pub fn at_once(mut self) -> Self {
        self.at_once = true;
        self
    }

    /// How many bytes of the memory budget each member can hold at once: the budget grows by that when one is started.
    pub fn held_bytes(mut self, bytes: u64) -> Self {
        self.held_bytes = bytes;
        self
    }

    /// Adds a member. `make` runs on the member's own thread.
    pub fn member(mut self, make: impl FnOnce() -> Result<Box<dyn Station<J>>, String> + Send + 'static) -> Self {
        self.makes.push(Box::new(make));
        self
    }
}

impl<J> fmt::Debug for Crew<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Crew { accepts, expected, at_once, held_bytes, makes } = self;
        f.debug_struct("Crew")
            .field("accepts", accepts)
            .field("expected", expected)
            .field("at_once", at_once)
            .field("held_bytes", held_bytes)
            .field("members", &makes.len())
            .finish()
    }
}

/// Chooses what a [`Pool`] is made of.
pub struct PoolBuilder<W: Work> {
    work: W,
    threads: Option<usize>,
    core_accepts: Accepts,
    memory: Option<u64>,
    max_memory: Option<u64>,
    readers: usize,
    crews: Vec<Crew<W::Job>>,
}

impl<W: Work> PoolBuilder<W> {
    /// How many CPU stations; by default one for each core that this process may use.
    ///
    /// A station waits for nothing but blocks, so more than four for each core (or 16, if that is more) cannot help,
    /// and are not made.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads.get());
        self
    }

    /// No CPU stations: only those added with [`station`](Self::station) or [`crew`](Self::crew) work. What they cannot
    /// do, the plain way of a core still does on their threads.
    pub fn without_cpu(mut self) -> Self {
        self.threads = Some(0);
        self
    }

    /// What the CPU stations accept: [`Accepts::Everything`] by default. (For measuring.)
    pub fn cores_accept(mut self, accepts: Accepts) -> Self {
        self.core_accepts = accepts;
        self
    }

    /// The most bytes that pieces on their way may take, in all streams together.
    ///
    /// Each station needs memory of its own besides. A client that has nothing on its way may always send one piece, so
    /// a small number slows down but never stops.
    ///
    /// (A block of a `.hbz` stream that needs more than all of it is refused.)
    ///
    /// Without this it is some pieces for each station, and room for what the accelerators hold, up to
    /// [`max_memory`](Self::max_memory). A single block of a `.hbz` stream may then take 7 of 8 bytes of the memory of
    /// the machine, or of the container.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The budget does not grow beyond this, whatever the pieces or the accelerators would need. By default half of the
    /// memory of the machine, or of the container.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = Some(bytes);
        self
    }

    /// How many threads read and cut one long input: one keeps up with 2 GB/s and more.
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers;
        self
    }

    /// Adds a station, which is started with the first job. `make` runs on the station's own thread.
    ///
    /// A station that accepts [`Accepts::Only`] some classes is an accelerator: cores leave blocks to it that it does
    /// sooner.
    pub fn station(
        mut self,
        accepts: Accepts,
        make: impl FnOnce() -> Result<Box<dyn Station<W::Job>>, String> + Send + 'static,
    ) -> Self {
        let expected = Expected { rate: 100e6, start: Duration::ZERO, end: Duration::ZERO };
        let crew = Crew { accepts, expected, at_once: true, held_bytes: 0, makes: Vec::new() };
        self.crews.push(crew.member(make));
        self
    }

    /// Adds accelerators.
    pub fn crew(mut self, crew: Crew<W::Job>) -> Self {
        self.crews.push(crew);
        self
    }

    /// Makes the pool. No thread is started before there is work.
    pub fn build(self) -> Pool<W> {
        let PoolBuilder { work, threads, core_accepts, memory, max_memory, readers, crews } = self;
        let cores = threads.map_or_else(hardware, those_that_help);
        let mut plan = Plan { cores, core_accepts, memory, max_memory, readers, crews: Vec::new() };
        let mut makes = Vec::with_capacity(crews.len());
        for Crew { accepts, expected, at_once, held_bytes, makes: members } in crews {
            plan.crews.push(CrewPlan { accepts, members: members.len(), expected, at_once, started: false });
            makes.push(CrewMakes { makes: members, held_bytes });
        }
        Pool(Arc::new(plan.build(work, makes)))
    }
}

impl<W: Work> fmt::Debug for PoolBuilder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolBuilder")
            .field("threads", &self.threads)
            .field("memory", &self.memory)
            .field("max_memory", &self.max_memory)
            .field("readers", &self.readers)
            .field("crews", &self.crews)
            .finish_non_exhaustive()
    }
}
