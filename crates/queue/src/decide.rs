//! The scheduler's one decision: [`State::next`] pairs a free worker with waiting work.
//!
//! Workers do not fetch work: the scheduler assigns it to them, and an assignment wakes its worker. Choosing a worker
//! and waking it are therefore one decision, and no wake-up can be lost: a worker sleeps only while it has no order,
//! and releases the lock in the same step. (lbzip2's `select_task` and `sched_unlock` in `process.c` join the two as
//! well.)

use super::entry::{Entry, Id};
use super::policy::{self, Snapshot, Verdict};
use super::state::State;
use super::worker_state::{Holding, Life, Order, WorkerState};
use std::time::Duration;

/// What to do after a change of state, repeated until it is [`Step::Rest`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// This worker has an order: wake it.
    Assigned(Id),
    /// This worker, which is the core with this number, needs a thread.
    StartCore(Id, usize),
    /// The members of this group need threads. The first of them has this worker number.
    StartGroup(usize, Id),
    /// Nothing more can start now. If nothing happens for this time, [`State::watcher`] must ask again.
    Rest(Option<Duration>),
}

/// The reason why no task of a class starts now: it waits for an event (`None`), or for at most this many seconds.
type Later = Option<f64>;

fn sooner(a: Later, b: Later) -> Later {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl<J> State<J> {
    /// The next step. Call this function after every change, until it returns [`Step::Rest`]. `more` says that more
    /// work is certain to come.
    pub fn next(&mut self, now: Duration, more: bool) -> Step {
        if let Some(group) = self.due_groups.pop_front() {
            return Step::StartGroup(group, self.add_members(now, group));
        }
        if self.look_for_leavers
            && let Some(id) = self.leaver()
        {
            self.workers[id].order = Some(Order::Retire);
            return Step::Assigned(id);
        }
        if self.waiting == 0 || self.free.is_empty() && self.unstarted_cores == 0 {
            return Step::Rest(None);
        }
        if let Some(step) = self.next_continuation(now) {
            return step;
        }
        let (mut later, mut after) = (None, None);
        while let Some((number, class)) = self.oldest_class(after) {
            after = Some(number);
            match self.next_of_class(now, class, more) {
                Ok(step) => return step,
                Err(seconds) => later = sooner(later, seconds),
            }
        }
        // A free worker looks again when the time is up. If no core is running or starting, one is started to do so.
        let no_core = || !self.workers.iter().any(|worker| !worker.accelerator && worker.is_there());
        if later.is_some() && self.free.is_empty() && no_core() {
            return self.start_core(now).unwrap_or(Step::Rest(None));
        }
        Step::Rest(later.map(Duration::from_secs_f64))
    }

    /// The free worker that looks again when the time is up.
    pub fn watcher(&self) -> Option<Id> {
        self.free.last().copied()
    }

    /// A free worker that must leave: every worker when the queue is closed and empty; a distrusted accelerator; a
    /// distrusted core if two others remain, so that one can still verify the other's outputs.
    fn leaver(&mut self) -> Option<Id> {
        let over = self.closed && self.waiting == 0;
        let leaves = |id: &Id| {
            let worker = &self.workers[*id];
            over || worker.distrusted && (worker.accelerator || self.other_finishers(*id) >= 2)
        };
        let Some(id) = self.free.iter().copied().find(leaves) else {
            self.look_for_leavers = false;
            return None;
        };
        // The worker is marked as gone immediately, so that only one of three cores that are distrusted together
        // leaves.
        let is_core = !self.workers[id].accelerator && !over;
        self.set_life(id, if is_core { Life::Gone } else { Life::Leaving });
        Some(id)
    }

    fn next_continuation(&mut self, now: Duration) -> Option<Step> {
        let is_core = |id: &Id| self.workers[*id].accepts.continuations();
        if self.continuations.is_empty() {
            return None;
        }
        if self.free.iter().any(is_core) {
            let may_take = |id: &Id, entry: &Entry<J>| {
                let avoided = entry.attributes.avoid == Some(*id) && !self.closed && self.other_finishers(*id) > 0;
                is_core(id) && !avoided
            };
            let taker = |entry: &Entry<J>| self.free.iter().rev().copied().find(|id| may_take(id, entry));
            let found = self.continuations.iter().enumerate().find_map(|(at, entry)| Some((at, taker(entry)?)));
            if let Some((at, id)) = found {
                if !self.may_wake(id) {
                    return None;
                }
                let entry = self.continuations.remove(at)?;
                return Some(self.assign(now, id, vec![entry]));
            }
        }
        if self.core_accepts.continuations() { self.start_core(now) } else { None }
    }

    /// The class with the oldest waiting task, among classes whose oldest task has a number above `after`.
    fn oldest_class(&self, after: Option<u64>) -> Option<(u64, usize)> {
        let oldest = self.classes.iter().enumerate().filter_map(|(class, queue)| {
            let number = queue.entries.front()?.number;
            after.is_none_or(|after| number > after).then_some((number, class))
        });
        oldest.min()
    }

    /// The next step for the oldest task of a class.
    fn next_of_class(&mut self, now: Duration, class: usize, more: bool) -> Result<Step, Later> {
        if self.closed {
            // No more input comes, and the rest need not be shared evenly.
            let step = self.free_for(class, |_| true).map(|id| self.assign_first(now, id, class, 1));
            return step.or_else(|| self.start_core_for(now, class)).ok_or(None);
        }
        let snapshot = self.snapshot(now, class, more);
        let later = match self.ask_accelerators(now, class, &snapshot) {
            Ok((id, count)) => return Ok(self.assign_first(now, id, class, count)),
            Err(later) => later,
        };
        if snapshot.cores == 0 {
            return Err(later);
        }
        if let Verdict::Wait(seconds) = policy::core_may_start(&snapshot) {
            return Err(sooner(later, Some(seconds)));
        }
        let Some(id) = self.free_for(class, |worker| !worker.accelerator) else {
            return self.start_core_for(now, class).ok_or(later);
        };
        if !self.may_wake(id) {
            return Err(later);
        }
        // A station that counts as a core may still take batches: it gets an even part of the waiting tasks.
        let stations = || self.workers.iter().filter(|worker| worker.is_there()).count();
        let count = match self.workers[id].max_batch {
            1 => 1,
            max => snapshot.blocks.div_ceil(stations()).clamp(1, max),
        };
        Ok(self.assign_first(now, id, class, count))
    }

    /// A free accelerator that may start, and the amount that it takes. The rule is applied to every free accelerator,
    /// because their rates differ: it guarantees only that the fastest one and the cores never both wait.
    fn ask_accelerators(&self, now: Duration, class: usize, snapshot: &Snapshot) -> Result<(Id, usize), Later> {
        let mut later = None;
        for &id in self.free.iter().rev() {
            let worker = &self.workers[id];
            if !worker.accelerator || !worker.accepts.class(self.classes[class].class) {
                continue;
            }
            let rate = self.rate(now, worker, class).0;
            match policy::accelerator_may_start(snapshot, rate) {
                Verdict::Start => return Ok((id, policy::share(snapshot, rate, worker.max_batch))),
                Verdict::Wait(seconds) => later = sooner(later, Some(seconds)),
            }
        }
        Err(later)
    }

    /// The free worker for tasks of a class that was busy most recently.
    fn free_for(&self, class: usize, wanted: impl Fn(&WorkerState<J>) -> bool) -> Option<Id> {
        let takes = |id: &Id| self.workers[*id].accepts.class(self.classes[class].class) && wanted(&self.workers[*id]);
        self.free.iter().rev().copied().find(takes)
    }

    fn start_core_for(&mut self, now: Duration, class: usize) -> Option<Step> {
        if self.core_accepts.class(self.classes[class].class) { self.start_core(now) } else { None }
    }

    /// Starts one more core, unless as many are being started as tasks wait.
    fn start_core(&mut self, now: Duration) -> Option<Step> {
        let is_starting = |worker: &&WorkerState<J>| {
            !worker.accelerator && worker.group.is_none() && matches!(worker.life, Life::Starting(_))
        };
        if self.unstarted_cores == 0 || self.workers.iter().filter(is_starting).count() >= self.waiting {
            return None;
        }
        self.unstarted_cores -= 1;
        let (id, number) = self.add_core(now);
        Some(Step::StartCore(id, number))
    }

    /// Whether a worker is awake or may be woken.
    fn may_wake(&self, id: Id) -> bool {
        self.workers[id].awake || self.workers[id].accelerator || self.waking < self.hardware.max(1)
    }

    /// Gives a worker the oldest tasks of a class: at least one, and more if they fit.
    fn assign_first(&mut self, now: Duration, id: Id, class: usize, count: usize) -> Step {
        let max_bytes = self.workers[id].max_bytes;
        let queue = &mut self.classes[class];
        let mut bytes = 0u64;
        let fit = queue.entries.iter().take(count).take_while(|entry| {
            bytes = bytes.saturating_add(entry.attributes.bytes);
            bytes <= max_bytes
        });
        let count = fit.count().max(1).min(queue.entries.len());
        let entries: Vec<Entry<J>> = queue.entries.drain(..count).collect();
        queue.bytes -= entries.iter().map(|entry| entry.attributes.bytes).sum::<u64>();
        self.assign(now, id, entries)
    }

    fn assign(&mut self, now: Duration, id: Id, entries: Vec<Entry<J>>) -> Step {
        let bytes = entries.iter().map(|entry| entry.attributes.bytes as f64).sum();
        if let Some(first) = entries.first() {
            let class = first.attributes.class.map(|class| self.index_of(class));
            self.set_life(id, Life::Busy(Holding { class, bytes, since: now }));
        }
        self.waiting -= entries.len();
        let worker = &mut self.workers[id];
        if !worker.accelerator && worker.distrusted {
            // The worker could not leave, so it goes on with fresh state.
            (worker.distrusted, worker.fresh) = (false, true);
        }
        worker.order = Some(Order::Work { entries, fresh: std::mem::take(&mut worker.fresh) });
        worker.waking = !worker.awake && !worker.accelerator;
        self.waking += usize::from(worker.waking);
        Step::Assigned(id)
    }
}
