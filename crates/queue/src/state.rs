//! The scheduler's state: the waiting tasks, the workers, the tasks that each worker holds, and its rate.
//!
//! [`State::next`] (`decide`) makes every decision, by the rule in [`policy`](super::policy). The state has no lock,
//! clock or thread, so a test can run hours of work in a moment, and all orders of events of a small machine.

use super::class::{Accepts, Class};
use super::entry::{Attributes, Entry, Id};
use super::inputs::Inputs;
use super::policy::{Expected, Snapshot};
use super::worker_state::{Holding, Life, Order, Rate, WorkerState};
use std::collections::VecDeque;
use std::time::Duration;

/// The tasks of one class that no worker has begun.
pub(super) struct ClassQueue<J> {
    pub class: Class,
    pub entries: VecDeque<Entry<J>>,
    pub bytes: u64,
}

/// Accelerators that are started together: the lanes of one device.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupPlan {
    pub accepts: Accepts,
    pub members: usize,
    pub expected: Expected,
    /// The number of bytes of the tasks with which the group reaches the expected rate.
    pub full_task: u64,
    /// Whether the group starts with the first task, however little work there is.
    pub at_once: bool,
    pub started: bool,
}

impl GroupPlan {
    /// The expected performance with tasks like those that wait.
    pub fn expected_for(&self, s: &Snapshot) -> Expected {
        let waiting = s.blocks as f64 * self.full_task as f64;
        let part = if s.waiting < waiting { s.waiting / waiting } else { 1.0 };
        Expected { rate: self.expected.rate * part, ..self.expected }
    }
}

pub(super) struct State<J> {
    pub(super) classes: Vec<ClassQueue<J>>,
    pub(super) continuations: VecDeque<Entry<J>>,
    /// The number of waiting tasks.
    pub(super) waiting: usize,
    pub(super) workers: Vec<WorkerState<J>>,
    /// The free workers. The last one was busy most recently, so its caches are warm.
    pub(super) free: Vec<Id>,
    pub(super) groups: Vec<GroupPlan>,
    /// Groups due to be started, in order.
    pub(super) due_groups: VecDeque<usize>,
    /// The number of cores that can still be started, and the tasks that cores accept.
    pub(super) unstarted_cores: usize,
    pub(super) started_cores: usize,
    pub(super) core_accepts: Accepts,
    pub(super) hardware: usize,
    /// The number of readers of a long input but the first, which replaces the thread that reads any input.
    pub(super) more_readers: usize,
    pub(super) inputs: Inputs,
    next_number: u64,
    pub(super) closed: bool,
    /// Set if a free worker may have to leave.
    pub(super) look_for_leavers: bool,
    /// Sleeping cores that are being woken. They are at most as many as hardware threads: each looks for the next task
    /// when it wakes, and the cores that are awake take waiting tasks meanwhile.
    pub(super) waking: usize,
}

impl<J> State<J> {
    pub fn new(cores: usize, core_accepts: Accepts, hardware: usize) -> Self {
        State {
            classes: Vec::new(),
            continuations: VecDeque::new(),
            waiting: 0,
            workers: Vec::new(),
            free: Vec::new(),
            groups: Vec::new(),
            due_groups: VecDeque::new(),
            unstarted_cores: cores,
            started_cores: 0,
            core_accepts,
            hardware,
            more_readers: 0,
            inputs: Inputs::default(),
            next_number: 0,
            closed: false,
            look_for_leavers: false,
            waking: 0,
        }
    }

    pub fn add_group(&mut self, group: GroupPlan) {
        self.groups.push(group);
    }

    /// Records that an input is being read; `bytes` is its length if that is known.
    pub fn begin_reading(&mut self, bytes: Option<u64>) {
        self.forget_if_idle();
        self.inputs.begin(bytes);
    }

    pub fn end_reading(&mut self, bytes: Option<u64>) {
        self.inputs.end(bytes);
    }

    /// If no task waits and no worker is busy, the inputs so far tell nothing about later ones.
    fn forget_if_idle(&mut self) {
        if self.waiting == 0 && !self.workers.iter().any(|worker| matches!(worker.life, Life::Busy(_))) {
            self.inputs.forget();
        }
    }

    /// Puts a task on its queue. `more` says that more tasks are certain to come.
    pub fn submit(&mut self, now: Duration, job: J, attributes: Attributes, more: bool) {
        self.forget_if_idle();
        self.waiting += 1;
        let number = self.next_number;
        self.next_number += 1;
        let class = attributes.class.map(|class| self.index_of(class));
        let Some(class) = class.filter(|class| !self.is_left_to_cores(*class)) else {
            let attributes = Attributes { class: None, ..attributes };
            self.continuations.push_back(Entry { job, attributes, number });
            return;
        };
        self.inputs.add(now, attributes.bytes);
        let queue = &mut self.classes[class];
        queue.entries.push_back(Entry { job, attributes, number });
        queue.bytes += attributes.bytes;
        self.choose_groups(now, class, more);
    }

    /// The number of a class in this pool, assigned with its first task.
    pub(super) fn index_of(&mut self, class: Class) -> usize {
        let found = self.classes.iter().position(|queue| queue.class == class);
        found.unwrap_or_else(|| {
            self.classes.push(ClassQueue { class, entries: VecDeque::new(), bytes: 0 });
            self.workers.iter_mut().for_each(|worker| worker.rates.push(Rate::default()));
            self.classes.len() - 1
        })
    }

    /// Adds a core that is being started. Returns its number among the workers and among the cores.
    pub(super) fn add_core(&mut self, now: Duration) -> (Id, usize) {
        let number = self.started_cores;
        self.started_cores += 1;
        (self.add_worker(now, false, self.core_accepts, None), number)
    }

    /// Adds the members of a group, which are being started. Returns the number of the first.
    pub(super) fn add_members(&mut self, now: Duration, group: usize) -> Id {
        let GroupPlan { accepts, members, .. } = self.groups[group];
        let first = self.workers.len();
        for _ in 0..members {
            // The rule treats a station that takes continuations as a core.
            self.add_worker(now, !accepts.continuations(), accepts, Some(group));
        }
        first
    }

    /// Adds a core for the callers' own threads. It counts as gone until one of them [works](Self::join).
    pub fn add_caller(&mut self, now: Duration) -> Id {
        let id = self.add_worker(now, false, Accepts::Everything, None);
        self.workers[id].life = Life::Gone;
        id
    }

    fn add_worker(&mut self, now: Duration, accelerator: bool, accepts: Accepts, group: Option<usize>) -> Id {
        self.workers.push(WorkerState {
            accelerator,
            accepts,
            group,
            life: Life::Starting(now),
            max_batch: 1,
            max_bytes: u64::MAX,
            rates: vec![Rate::default(); self.classes.len()],
            order: None,
            distrusted: false,
            fresh: false,
            awake: true,
            waking: false,
        });
        self.workers.len() - 1
    }

    /// Records that a worker has started. It takes up to `max_batch` tasks in one batch, and several only if they have
    /// at most `max_bytes` bytes.
    pub fn ready(&mut self, id: Id, max_batch: usize, max_bytes: u64) {
        let worker = &mut self.workers[id];
        (worker.max_batch, worker.max_bytes) = (max_batch.max(1), max_bytes);
        self.set_free(id);
    }

    /// Records that a caller works on its own thread, as a core, until it [leaves](Self::leave).
    pub fn join(&mut self, id: Id) {
        self.workers[id].awake = true;
        self.set_free(id);
    }

    /// Records that a caller's thread has stopped working.
    pub fn leave(&mut self, id: Id) {
        self.set_life(id, Life::Gone);
    }

    fn set_free(&mut self, id: Id) {
        self.set_life(id, Life::Free);
        self.look_for_leavers |= self.workers[id].distrusted || self.closed;
        self.free.push(id);
    }

    pub(super) fn set_life(&mut self, id: Id, life: Life) {
        if matches!(self.workers[id].life, Life::Free)
            && let Some(at) = self.free.iter().rposition(|free| *free == id)
        {
            self.free.remove(at);
        }
        self.workers[id].life = life;
    }

    /// Takes a worker's order; a worker without one may sleep. If it was woken for this order, others may be woken
    /// now: ask [`next`](Self::next) again.
    pub fn take_order(&mut self, now: Duration, id: Id) -> Option<Order<J>> {
        let worker = &mut self.workers[id];
        self.waking -= usize::from(std::mem::take(&mut worker.waking));
        worker.awake = worker.order.is_some();
        if let Life::Busy(held) = &mut worker.life {
            held.since = now;
        }
        worker.order.take()
    }

    /// Records that a worker has finished its order. `did` is the number of bytes that it did itself, and `deferred`
    /// the number of these that others continue; if there are any, its time tells nothing about its rate. `handed` has
    /// the tasks that it could not do, which cores take over. A worker that `leaves` is given no more work.
    pub fn finish(&mut self, now: Duration, id: Id, did: (u64, u64), handed: Vec<Entry<J>>, leaves: bool) {
        let (bytes, deferred) = did;
        let worker = &mut self.workers[id];
        if let Life::Busy(Holding { class: Some(class), since, .. }) = worker.life
            && bytes > 0
        {
            let seconds = match deferred {
                0 => now.saturating_sub(since).as_secs_f64().max(1e-9),
                _ => bytes as f64 / self.classes[class].class.core_rate(),
            };
            worker.rates[class].add(bytes as f64, seconds);
        }
        for Entry { job, attributes, .. } in handed {
            self.submit(now, job, Attributes { class: None, avoid: None, ..attributes }, false);
        }
        if leaves { self.set_life(id, Life::Leaving) } else { self.set_free(id) }
    }

    /// Records that a worker's thread ends because it `failed` or was ordered to leave. Returns whether it must go on
    /// as a core, because some work has no other worker. Tasks that were left to it become the cores' work.
    pub fn depart(&mut self, id: Id, failed: bool) -> bool {
        self.set_life(id, Life::Gone);
        for class in 0..self.classes.len() {
            if self.is_left_to_cores(class) {
                let queue = &mut self.classes[class];
                queue.bytes = 0;
                let left = queue.entries.drain(..).map(|mut entry| {
                    entry.attributes.class = None;
                    entry
                });
                self.continuations.extend(left);
            }
        }
        let goes_on = failed && self.is_short();
        if goes_on {
            self.go_on_as_core(id);
        }
        goes_on
    }

    /// Records that no thread could be started for a worker. If it was a core, no other core is started either.
    pub fn not_started(&mut self, id: Id) {
        if self.workers[id].group.is_none() {
            self.unstarted_cores = 0;
        }
        self.depart(id, false);
    }

    /// A failed worker goes on as a core: as one of many, if more can be started.
    fn go_on_as_core(&mut self, id: Id) {
        let many = self.unstarted_cores > 0 && self.core_accepts.continuations();
        let accepts = if many { self.core_accepts } else { Accepts::Everything };
        let worker = &mut self.workers[id];
        (worker.accelerator, worker.accepts, worker.group) = (false, accepts, None);
        (worker.max_batch, worker.max_bytes) = (1, u64::MAX);
        (worker.distrusted, worker.fresh, worker.awake) = (false, false, true);
        worker.rates.fill(Rate::default());
        self.set_free(id);
    }

    /// Records that a worker gave a wrong answer: it and the others of its device get no more work. If fewer than two
    /// cores would remain, a core starts with fresh state instead.
    pub fn blame(&mut self, id: Id) {
        match self.workers[id].group {
            Some(group) => self.distrust_group(group),
            None => self.workers[id].distrusted = true,
        }
        self.look_for_leavers = true;
    }

    /// Makes this core do its next order with fresh state, because its old state may be wrong.
    pub fn renew(&mut self, id: Id) {
        self.workers[id].fresh = true;
    }

    fn distrust_group(&mut self, group: usize) {
        let members = self.workers.iter_mut().filter(|worker| worker.group == Some(group));
        members.for_each(|worker| worker.distrusted = true);
    }

    /// Whether there is a worker with this number.
    pub fn has(&self, id: Id) -> bool {
        id < self.workers.len()
    }

    /// Whether the worker sleeps and is being woken for an order.
    pub fn is_waking(&self, id: Id) -> bool {
        self.workers[id].waking
    }

    pub fn is_distrusted(&self, id: Id) -> bool {
        self.workers[id].distrusted
    }

    pub fn is_accelerator(&self, id: Id) -> bool {
        self.workers[id].accelerator
    }

    /// Records that no more submissions come.
    pub fn close(&mut self) {
        self.closed = true;
        self.look_for_leavers = true;
    }

    /// Whether accelerators have been started, or there are none to start.
    pub fn is_accelerated(&self) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|group| group.started)
    }

    /// Whether there are accelerators for a class, running or not.
    pub fn has_accelerators_for(&self, class: Class) -> bool {
        let takes = |accepts: Accepts| !accepts.continuations() && accepts.class(class);
        self.groups.iter().any(|group| !group.started && takes(group.accepts))
            || self.workers.iter().any(|worker| !worker.is_gone() && takes(worker.accepts))
    }

    /// Whether cores leave a class to accelerators that no longer exist. Its tasks are then continuations, as if an
    /// accelerator had declined them, so that all cores do them and not just one.
    fn is_left_to_cores(&self, class: usize) -> bool {
        let by_cores = !self.core_accepts.class(self.classes[class].class) && self.has_finisher();
        by_cores && !self.may_come(class) && !self.is_served(class)
    }

    /// Whether the next task of a class can start accelerators for it. Only an arriving task can; waiting ones cannot.
    fn may_come(&self, class: usize) -> bool {
        let is_for = |group: &GroupPlan| !group.started && group.accepts.class(self.classes[class].class);
        self.classes[class].entries.is_empty() && self.groups.iter().any(is_for)
    }

    /// Whether a worker that runs or can be started takes unbegun tasks of this class.
    pub(super) fn is_served(&self, class: usize) -> bool {
        let class = self.classes[class].class;
        let takes = |worker: &WorkerState<J>| !worker.is_gone() && worker.accepts.class(class);
        self.unstarted_cores > 0 && self.core_accepts.class(class) || self.workers.iter().any(takes)
    }

    /// Whether a worker that runs or can be started takes continuations.
    pub fn has_finisher(&self) -> bool {
        self.unstarted_finishers() > 0 || self.workers.iter().any(Self::is_finisher)
    }

    fn is_finisher(worker: &WorkerState<J>) -> bool {
        !worker.is_gone() && worker.accepts.continuations()
    }

    fn unstarted_finishers(&self) -> usize {
        if self.core_accepts.continuations() { self.unstarted_cores } else { 0 }
    }

    /// The number of workers other than this one that take continuations, including those that can be started.
    pub(super) fn other_finishers(&self, id: Id) -> usize {
        let is_other = |(other, worker): &(Id, &WorkerState<J>)| *other != id && Self::is_finisher(worker);
        self.workers.iter().enumerate().filter(is_other).count() + self.unstarted_finishers()
    }

    /// Whether a task waits that no worker takes, and for which none can be started: the caller's own thread must do
    /// it.
    pub fn is_unserved(&self) -> bool {
        let class = |(class, queue): (usize, &ClassQueue<J>)| !queue.entries.is_empty() && !self.is_served(class);
        self.waiting > 0
            && (!self.continuations.is_empty() && !self.has_finisher() || self.classes.iter().enumerate().any(class))
    }

    /// After a departure: whether some work has lost its last worker, so that this thread must go on as a core.
    fn is_short(&self) -> bool {
        let unserved = |class: usize| !self.is_served(class) && !self.is_left_to_cores(class) && !self.may_come(class);
        // For a core that has not been started yet there may be no thread.
        let finished = self.workers.iter().any(Self::is_finisher);
        !self.continuations.is_empty() && !finished || (0..self.classes.len()).any(unserved)
    }
}
