//! The lock around the [`State`], and the wake-ups after its release.
//!
//! The lock is held for microseconds: to change the state, and to let [`State::next`] assign the work that can start
//! now. Threads are woken and started after its release, because they would otherwise wait for it.

use super::class::Class;
use super::core::{Core, SharedValues};
use super::decide::Step;
use super::entry::{Attributes, Id};
use super::job::Job;
use super::memory::MemoryBudget;
use super::process;
use super::produced_by::ProducedBy;
use super::report::{Counters, StationReport};
use super::state::State;
use super::station::Station;
use super::worker_state::Order;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Makes a station on its own thread, or returns the reason why it is not available.
pub(super) type Make = Box<dyn FnOnce() -> Result<Box<dyn Station>, String> + Send>;

/// The makers of a group's members, and the number of bytes that each member holds.
pub(super) struct GroupMakes {
    pub makes: Vec<Make>,
    pub held_bytes: u64,
}

/// State that all threads of a pool share.
pub(crate) struct Shared {
    /// Values that the cores share.
    pub values: Arc<SharedValues>,
    pub budget: Arc<MemoryBudget>,
    inner: Mutex<Inner>,
    /// The makers of each group, until it is started.
    groups: Mutex<Vec<GroupMakes>>,
    /// The core that runs on callers' own threads if no thread could be started. One caller at a time works.
    pub(super) caller: Mutex<Option<CallerCore>>,
    began: Instant,
    /// The process that made the pool.
    process: u64,
}

/// The data that the lock guards.
pub(super) struct Inner {
    pub state: State<Job>,
    /// Indexed by worker.
    handles: Vec<WorkerHandle>,
    /// The free worker that looks again, and the time at which it does.
    watcher: Option<(Id, Duration)>,
    due: Due,
}

/// Actions due once the lock has been released.
#[derive(Default)]
struct Due {
    wake: Vec<Arc<Condvar>>,
    /// Cores that need a thread: their worker numbers and core numbers.
    cores: Vec<(Id, usize)>,
    /// Groups whose members need threads, and the number of the first member.
    groups: Vec<(usize, Id)>,
    /// Set if a task waits that no worker takes, so that this thread must do it.
    is_unserved: bool,
}

impl Due {
    fn is_empty(&self) -> bool {
        self.wake.is_empty() && self.cores.is_empty() && self.groups.is_empty() && !self.is_unserved
    }
}

struct WorkerHandle {
    condvar: Arc<Condvar>,
    counters: Arc<Counters>,
}

/// A core that works on callers' threads.
pub(super) struct CallerCore {
    pub id: Id,
    pub core: Core,
    pub counters: Arc<Counters>,
}

/// Holds the lock.
pub(super) type Guard<'a> = MutexGuard<'a, Inner>;

impl Shared {
    pub fn new(budget: Arc<MemoryBudget>, state: State<Job>, groups: Vec<GroupMakes>) -> Arc<Shared> {
        let inner = Mutex::new(Inner { state, handles: Vec::new(), watcher: None, due: Due::default() });
        let (groups, caller) = (Mutex::new(groups), Mutex::new(None));
        let (began, process) = (Instant::now(), process::number());
        Arc::new(Shared { values: Arc::default(), budget, inner, groups, caller, began, process })
    }

    /// Whether this process was forked from the one that has the stations. In that case no lock may be taken: another
    /// thread may have held it at the fork, and would never release it.
    pub fn is_foreign(&self) -> bool {
        self.process != process::number()
    }

    /// A core of this pool that has no state yet.
    pub(super) fn core(&self, number: usize) -> Core {
        Core::of_pool(number, Arc::clone(&self.values))
    }

    pub(super) fn lock(&self) -> Guard<'_> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Changes the state, and starts everything that can start now.
    pub(super) fn change<R>(self: &Arc<Self>, change: impl FnOnce(&mut State<Job>, Duration) -> R) -> R {
        let mut inner = self.lock();
        let result = change(&mut inner.state, self.now());
        self.settle(&mut inner, None);
        self.unlock(inner);
        result
    }

    /// Assigns the work that can start now. Only this function decides which workers are woken. `own` is the calling
    /// worker, which is awake.
    pub(super) fn settle(&self, inner: &mut Inner, own: Option<Id>) {
        let (now, more) = (self.now(), self.budget.is_waited_for());
        let again = loop {
            match inner.state.next(now, more) {
                Step::Assigned(id) => {
                    if inner.watcher.is_some_and(|(watcher, _)| watcher == id) {
                        inner.watcher = None;
                    }
                    if own != Some(id) {
                        inner.wake(id);
                    }
                }
                Step::StartCore(id, number) => {
                    inner.add_handle(id);
                    inner.due.cores.push((id, number));
                }
                Step::StartGroup(group, first) => {
                    let mut id = first;
                    while inner.state.has(id) {
                        inner.add_handle(id);
                        id += 1;
                    }
                    inner.due.groups.push((group, first));
                }
                Step::Rest(again) => break again,
            }
        };
        inner.due.is_unserved = inner.state.is_unserved();
        let Some((seconds, id)) = again.zip(inner.state.watcher()) else { return };
        let at = now + seconds;
        if inner.watcher.is_none_or(|(_, earlier)| earlier > at) {
            inner.watcher = Some((id, at));
            if own != Some(id) {
                inner.wake(id); // from now on it sleeps with a limit of time
            }
        }
    }

    /// Releases the lock; then wakes the workers that have orders and starts the threads that are needed.
    pub(super) fn unlock(self: &Arc<Self>, mut inner: Guard<'_>) {
        if inner.due.is_empty() {
            return;
        }
        let Due { wake, cores, groups, is_unserved } = std::mem::take(&mut inner.due);
        drop(inner);
        wake.iter().for_each(|condvar| condvar.notify_one());
        for (group, first) in groups {
            self.start_group(group, first);
        }
        for (id, number) in cores {
            let shared = Arc::clone(self);
            self.spawn(id, Box::new(move || Ok(Box::new(shared.core(number)))));
        }
        if is_unserved {
            self.work_here();
        }
    }

    fn start_group(self: &Arc<Self>, group: usize, first: Id) {
        let GroupMakes { makes, held_bytes } = {
            let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut groups[group], GroupMakes { makes: Vec::new(), held_bytes: 0 })
        };
        for (id, make) in (first..).zip(makes) {
            if self.spawn(id, make) {
                self.budget.fit_station(held_bytes);
            }
        }
    }

    /// Starts a worker's thread, if possible. If not, the other workers or the caller do its work.
    fn spawn(self: &Arc<Self>, id: Id, make: Make) -> bool {
        let counters = Arc::clone(&self.lock().handles[id].counters);
        let (shared, own) = (Arc::clone(self), Arc::clone(&counters));
        let life = move || shared.worker_life(id, make, &own);
        let started = thread::Builder::new().name("hybz station".to_owned()).spawn(life).is_ok();
        if !started {
            counters.report().retired = Some("no thread available".to_owned());
            self.change(|state, _| state.not_started(id));
        }
        started
    }

    /// Sleeps until a worker has an order. Returns the order and the lock.
    pub(super) fn wait<'a>(self: &'a Arc<Self>, mut inner: Guard<'a>, id: Id) -> (Guard<'a>, Order<Job>) {
        loop {
            let was_woken = inner.state.is_waking(id);
            if let Some(order) = inner.state.take_order(self.now(), id) {
                if was_woken {
                    self.settle(&mut inner, Some(id)); // now others may be woken
                }
                return (inner, order);
            }
            if !inner.due.is_empty() {
                self.unlock(inner);
                inner = self.lock();
                continue;
            }
            let condvar = Arc::clone(&inner.handles[id].condvar);
            let Some((_, at)) = inner.watcher.filter(|(watcher, _)| *watcher == id) else {
                inner = condvar.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = at.saturating_sub(self.now());
            if left.is_zero() {
                inner.watcher = None;
                self.settle(&mut inner, Some(id));
            } else {
                inner = condvar.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Puts a task on the queue. Waits only if there is no worker at all: the task is then done here.
    pub(super) fn submit(self: &Arc<Self>, job: Job, attributes: Attributes) {
        let more = self.budget.is_waited_for();
        self.change(|state, now| state.submit(now, job, attributes, more));
    }

    /// Counts a wrong answer for its producer, which gets no more work.
    pub(super) fn blame(self: &Arc<Self>, by: ProducedBy, reason: &str) {
        let Some(id) = by.blamed() else { return };
        let mut inner = self.lock();
        let mut report = inner.handles[id].counters.report();
        (report.wrong, report.failure) = (report.wrong + 1, Some(reason.to_owned()));
        drop(report);
        inner.state.blame(id);
        self.settle(&mut inner, None);
        self.unlock(inner);
    }

    /// Gives a core that may be wrong fresh state.
    pub(super) fn renew(&self, by: ProducedBy) {
        if let Some(id) = by.worker {
            self.lock().state.renew(id);
        }
    }

    /// The name that reports use for the worker that produced an output.
    pub(super) fn name(&self, by: ProducedBy) -> String {
        by.worker.map_or_else(|| "a station".to_owned(), |id| self.lock().handles[id].counters.report().name.clone())
    }

    /// Counts an input that is being read.
    pub fn begin_reading(&self, bytes: Option<u64>) {
        self.lock().state.begin_reading(bytes);
    }

    /// Records that an input has been read to its end.
    pub fn end_reading(&self, bytes: Option<u64>) {
        self.lock().state.end_reading(bytes);
    }

    /// Records that no more submissions come: stations end when the waiting tasks are done.
    pub fn close(self: &Arc<Self>) {
        self.change(|state, _| state.close());
    }

    /// Whether accelerators have been started, or there are none to start.
    pub fn is_accelerated(&self) -> bool {
        self.lock().state.is_accelerated()
    }

    /// Whether there are accelerators for jobs of this class, running or not.
    pub fn has_accelerators_for(&self, class: Class) -> bool {
        self.lock().state.has_accelerators_for(class)
    }

    pub fn reports(&self) -> Vec<StationReport> {
        let inner = self.lock();
        let report = |(id, handle): (Id, &WorkerHandle)| {
            // A busy or sleeping lane may not have noticed yet that it gets no more work.
            handle.counters.so_far(inner.state.is_accelerator(id) && inner.state.is_distrusted(id))
        };
        inner.handles.iter().enumerate().map(report).collect()
    }
}

impl Inner {
    /// Adds the condvar and the counters of a new worker.
    pub fn add_handle(&mut self, id: Id) -> Arc<Counters> {
        let counters = Arc::new(Counters::new(id, self.state.is_accelerator(id)));
        debug_assert_eq!(id, self.handles.len());
        self.handles.push(WorkerHandle { condvar: Arc::default(), counters: Arc::clone(&counters) });
        counters
    }

    fn wake(&mut self, id: Id) {
        self.due.wake.push(Arc::clone(&self.handles[id].condvar));
    }
}
