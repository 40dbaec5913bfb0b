//! A pool: the stations of a process, and the queue that they share.
//!
//! Threads are started when the queue first outgrows those that are there, so a small file on a large machine costs one
//! thread. Accelerators, which are slow to start, are started when the work left is worth it.

use super::job::{Accepts, AnyJob, Class, Job, JobError, Question, Ticket};
use super::memory::{self, MemoryBudget, Permit};
use super::policy::Expected;
use super::queue::{CrewMakes, Make, Shared, Submitter};
use super::report::Summary;
use super::state::{CrewPlan, State};
use super::station::{Station, Work};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::Duration;

/// The stations of a process and the queue they share. Clones are the same pool.
///
/// One pool serves any number of clients at once. Its threads end when the last clone is dropped.
pub struct Pool<W: Work>(Arc<Inner<W>>);

struct Inner<W: Work> {
    shared: Arc<Shared<W>>,
    readers: usize,
}

impl<W: Work> Drop for Inner<W> {
    fn drop(&mut self) {
        self.shared.close();
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
            submitter: Submitter::new(&self.0.shared),
            permits: Arc::default(),
            detached: false,
        }
    }

    /// What each station has done so far.
    pub fn summary(&self) -> Summary {
        Summary { stations: self.0.shared.reports(), memory: self.0.shared.budget.limit() }
    }

    /// The budget that bounds the bytes alive.
    pub fn budget(&self) -> &MemoryBudget {
        &self.0.shared.budget
    }

    /// How many threads should read one long input, at the moment: one, until accelerators have been started.
    pub fn readers(&self) -> usize {
        if self.0.readers > 1 && self.0.shared.is_accelerated() { self.0.readers } else { 1 }
    }

    /// Says that an input is being read, of `bytes` bytes if that is known, until the answer is dropped. While more is
    /// to come, accelerators take batches as large as they can; and how much is to come decides whether they are
    /// started.
    pub fn reading(&self, bytes: Option<u64>) -> Reading<W> {
        self.0.shared.begin_reading(bytes);
        Reading { shared: Arc::clone(&self.0.shared), bytes }
    }
}

/// An input is being read ([`Pool::reading`]).
pub struct Reading<W: Work> {
    shared: Arc<Shared<W>>,
    bytes: Option<u64>,
}

impl<W: Work> Drop for Reading<W> {
    fn drop(&mut self) {
        self.shared.end_reading(self.bytes);
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
        let (pool, submitter) = (self.pool.clone(), Submitter::new(&self.pool.0.shared));
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

    /// Waits until `bytes` fit into the budget, or until this client holds no permit: so it always moves.
    pub fn permit(&self, bytes: u64) -> Permit {
        self.pool.0.shared.budget.permit(bytes, &self.permits)
    }

    /// A permit for `bytes`, if one can be had at once.
    pub fn try_permit(&self, bytes: u64) -> Option<Permit> {
        self.pool.0.shared.budget.try_permit(bytes, &self.permits)
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
    /// Without this it is some pieces for each station, and room for what the accelerators hold, up to
    /// [`max_memory`](Self::max_memory).
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
        let hardware = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let cores = threads.unwrap_or(hardware);
        let own = work.memory_per_core() * cores.max(1) as u64;
        let budget = match memory {
            Some(memory) => MemoryBudget::fixed(memory),
            None => {
                let max = max_memory.unwrap_or_else(|| memory::of_machine() / 2);
                // What the cores need was settled with their number.
                MemoryBudget::growing(own, cores as u64 + 1, max.max(own))
            }
        };
        let rates = (0..W::CLASSES).map(|class| work.core_rate(Class(class as u8))).collect();
        let mut state = State::new(rates, cores, core_accepts, hardware);
        let mut makes = Vec::with_capacity(crews.len());
        for Crew { accepts, expected, at_once, held_bytes, makes: members } in crews {
            state.add_crew(CrewPlan { accepts, members: members.len(), expected, at_once, started: false });
            makes.push(CrewMakes { makes: members, held_bytes });
        }
        Pool(Arc::new(Inner { shared: Shared::new(work, Arc::new(budget), state, makes), readers }))
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
