//! What the scheduler knows: the tasks that wait, the workers, what each of them has in hand and how fast it is.
//!
//! [`State::next`] (`decide`) makes every decision, by the rule in [`policy`](super::policy). Nothing here has a lock,
//! a clock or a thread: a test can run hours of work in a moment, and all orders of events of a small machine.

use super::class::{Accepts, Class};
use super::entry::{Attributes, Entry, Id};
use super::inputs::Inputs;
use super::policy::Expected;
use super::worker::{Holding, Life, Order, Rate, WorkerState};
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
    /// With the first task, however little work there is.
    pub at_once: bool,
    pub started: bool,
}

pub(super) struct State<J> {
    pub(super) classes: Vec<ClassQueue<J>>,
    pub(super) continuations: VecDeque<Entry<J>>,
    /// How many tasks wait.
    pub(super) waiting: usize,
    pub(super) workers: Vec<WorkerState<J>>,
    /// The workers that are free; at the end the one that was busy last, whose caches are warm.
    pub(super) free: Vec<Id>,
    pub(super) groups: Vec<GroupPlan>,
    /// Groups that are to be started, in their order.
    pub(super) due_groups: VecDeque<usize>,
    /// Cores that can still be started, and what cores accept.
    pub(super) unstarted_cores: usize,
    pub(super) started_cores: usize,
    pub(super) core_accepts: Accepts,
    pub(super) hardware: usize,
    pub(super) inputs: Inputs,
    next_number: u64,
    pub(super) closed: bool,
    /// A free worker may have to leave.
    pub(super) look_for_leavers: bool,
    /// Cores that sleep and are being woken. Not more than there are hardware threads: each of them looks for the next
    /// when it comes, and those that are awake take what waits meanwhile.
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

    /// An input is being read, of so many bytes if that is known.
    pub fn begin_reading(&mut self, bytes: Option<u64>) {
        self.forget_if_idle();
        self.inputs.begin(bytes);
    }

    pub fn end_reading(&mut self, bytes: Option<u64>) {
        self.inputs.end(bytes);
    }

    /// If nothing waits and nobody is busy, the inputs so far say nothing of those to come.
    fn forget_if_idle(&mut self) {
        if self.waiting == 0 && !self.workers.iter().any(|worker| matches!(worker.life, Life::Busy(_))) {
            self.inputs.forget();
        }
    }

    /// Puts a task on its queue. `more` says that more is certain to come.
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

    /// The number of a class in this pool. It gets one with its first task.
    pub(super) fn index_of(&mut self, class: Class) -> usize {
        let found = self.classes.iter().position(|queue| queue.class == class);
        found.unwrap_or_else(|| {
            self.classes.push(ClassQueue { class, entries: VecDeque::new(), bytes: 0 });
            self.workers.iter_mut().for_each(|worker| worker.rates.push(Rate::default()));
            self.classes.len() - 1
        })
    }

    /// A core is added that is being started. Returns its number among the workers and among the cores.
    pub(super) fn add_core(&mut self, now: Duration) -> (Id, usize) {
        let number = self.started_cores;
        self.started_cores += 1;
        (self.add_worker(now, false, self.core_accepts, None), number)
    }

    /// The members of a group are added, which are being started. Returns the number of the first.
    pub(super) fn add_members(&mut self, now: Duration, group: usize) -> Id {
        let GroupPlan { accepts, members, .. } = self.groups[group];
        let first = self.workers.len();
        for _ in 0..members {
            // A station that takes continuations is a core to the rule.
            self.add_worker(now, !accepts.continuations(), accepts, Some(group));
        }
        first
    }

    /// A core is added for the callers' own threads. It is gone until one of them [works](Self::join).
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

    /// A worker has started. It takes so many tasks at once, and so many bytes if that is more than one task.
    pub fn ready(&mut self, id: Id, max_batch: usize, max_bytes: u64) {
        let worker = &mut self.workers[id];
        (worker.max_batch, worker.max_bytes) = (max_batch.max(1), max_bytes);
        self.set_free(id);
    }

    /// A caller works on its own thread, as a core, until it [leaves](Self::leave).
    pub fn join(&mut self, id: Id) {
        self.workers[id].awake = true;
        self.set_free(id);
    }

    /// A caller's thread works no more.
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

    /// A worker comes for its order. Without one it may sleep. With one that it was woken for, others may be woken now:
    /// ask [`next`](Self::next) again.
    pub fn take_order(&mut self, now: Duration, id: Id) -> Option<Order<J>> {
        let worker = &mut self.workers[id];
        self.waking -= usize::from(std::mem::take(&mut worker.waking));
        worker.awake = worker.order.is_some();
        if let Life::Busy(held) = &mut worker.life {
            held.since = now;
        }
        worker.order.take()
    }

    /// A worker is done with its order. It did so many bytes of it itself, or `deferred` some of them to others: then
    /// the time it took says nothing. What it could not do is `handed` to the cores. A worker that `leaves` is given no
    /// more work.
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

    /// A worker's thread ends: it `failed`, or was told to leave. Returns whether it must go on as a core, because
    /// there is work that nobody else takes. What was left to it becomes the cores' work.
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

    /// There was no thread for a worker. If it was a core, there is none for others.
    pub fn not_started(&mut self, id: Id) {
        if self.workers[id].group.is_none() {
            self.unstarted_cores = 0;
        }
        self.depart(id, false);
    }

    /// The worker that failed goes on as a core: as one of many, if more can be started.
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

    /// A worker gave a wrong answer: no more work for it, nor for others of its device. A core without which there
    /// would be less than two begins anew instead.
    pub fn blame(&mut self, id: Id) {
        match self.workers[id].group {
            Some(group) => self.distrust_group(group),
            None => self.workers[id].distrusted = true,
        }
        self.look_for_leavers = true;
    }

    /// A new core does what this one is told next: what it keeps may be wrong, and it is not known yet whether it is.
    pub fn renew(&mut self, id: Id) {
        self.workers[id].fresh = true;
    }

    fn distrust_group(&mut self, group: usize) {
        let members = self.workers.iter_mut().filter(|worker| worker.group == Some(group));
        members.for_each(|worker| worker.distrusted = true);
    }

    /// Whether there is a worker of this number.
    pub fn has(&self, id: Id) -> bool {
        id < self.workers.len()
    }

    /// Whether it sleeps and has been called for an order.
    pub fn is_waking(&self, id: Id) -> bool {
        self.workers[id].waking
    }

    pub fn is_distrusted(&self, id: Id) -> bool {
        self.workers[id].distrusted
    }

    pub fn is_accelerator(&self, id: Id) -> bool {
        self.workers[id].accelerator
    }

    /// Nobody submits any more.
    pub fn close(&mut self) {
        self.closed = true;
        self.look_for_leavers = true;
    }

    /// Whether accelerators have been started, or there are none to start.
    pub fn is_accelerated(&self) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|group| group.started)
    }

    /// Whether there are accelerators for a class, started or not.
    pub fn has_accelerators_for(&self, class: Class) -> bool {
        let takes = |accepts: Accepts| !accepts.continuations() && accepts.class(class);
        self.groups.iter().any(|group| !group.started && takes(group.accepts))
            || self.workers.iter().any(|worker| !worker.is_gone() && takes(worker.accepts))
    }

    /// Whether cores leave a class to accelerators of which there are none any more. Then its tasks are continuations,
    /// as if an accelerator had declined them: all cores do them, and not one alone.
    fn is_left_to_cores(&self, class: usize) -> bool {
        let by_cores = !self.core_accepts.class(self.classes[class].class) && self.has_finisher();
        by_cores && !self.may_come(class) && !self.is_served(class)
    }

    /// Whether the next task of a class can start accelerators for it. Tasks that wait cannot.
    fn may_come(&self, class: usize) -> bool {
        let is_for = |group: &GroupPlan| !group.started && group.accepts.class(self.classes[class].class);
        self.classes[class].entries.is_empty() && self.groups.iter().any(is_for)
    }

    /// Whether somebody takes tasks of this class that nobody has begun, or can be started to.
    pub(super) fn is_served(&self, class: usize) -> bool {
        let class = self.classes[class].class;
        let takes = |worker: &WorkerState<J>| !worker.is_gone() && worker.accepts.class(class);
        self.unstarted_cores > 0 && self.core_accepts.class(class) || self.workers.iter().any(takes)
    }

    /// Whether somebody takes continuations, or can be started to.
    pub fn has_finisher(&self) -> bool {
        self.unstarted_finishers() > 0 || self.workers.iter().any(Self::is_finisher)
    }

    fn is_finisher(worker: &WorkerState<J>) -> bool {
        !worker.is_gone() && worker.accepts.continuations()
    }

    fn unstarted_finishers(&self) -> usize {
        if self.core_accepts.continuations() { self.unstarted_cores } else { 0 }
    }

    /// How many others than this worker take continuations, or can be started to.
    pub(super) fn other_finishers(&self, id: Id) -> usize {
        let is_other = |(other, worker): &(Id, &WorkerState<J>)| *other != id && Self::is_finisher(worker);
        self.workers.iter().enumerate().filter(is_other).count() + self.unstarted_finishers()
    }

    /// Whether something waits that nobody takes, nor can be started to: the caller's own thread must do it.
    pub fn is_unserved(&self) -> bool {
        let class = |(class, queue): (usize, &ClassQueue<J>)| !queue.entries.is_empty() && !self.is_served(class);
        self.waiting > 0
            && (!self.continuations.is_empty() && !self.has_finisher() || self.classes.iter().enumerate().any(class))
    }

    /// After a departure: whether work has lost its last worker, so that this thread must go on as a core.
    fn is_short(&self) -> bool {
        let unserved = |class: usize| !self.is_served(class) && !self.is_left_to_cores(class) && !self.may_come(class);
        // A core that has not been started yet may have no thread.
        let finished = self.workers.iter().any(Self::is_finisher);
        !self.continuations.is_empty() && !finished || (0..self.classes.len()).any(unserved)
    }
}
