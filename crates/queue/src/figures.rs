//! The figures on which decisions are based: rates, the remaining work, and which groups of accelerators are worth
//! starting.

use super::policy::{self, Snapshot};
use super::state::State;
use super::worker_state::{Life, WorkerState};
use std::time::Duration;

impl<J> State<J> {
    /// Chooses the groups that are worth starting for the work left.
    pub(super) fn choose_groups(&mut self, now: Duration, class: usize, more: bool) {
        // Groups chosen in this call have no members yet.
        let mut chosen_rate = 0.0;
        for number in 0..self.groups.len() {
            let group = self.groups[number];
            if group.started || !group.accepts.class(self.classes[class].class) {
                continue;
            }
            let nobody = self.due_groups.is_empty() && !self.is_served(class);
            // Idle cores mean that the cores keep up with the input, so its source is the bottleneck. (The exception:
            // handing each core a long block takes a while.)
            let is_idle = |id: &usize| !self.workers[*id].accelerator;
            let some_idle = self.unstarted_cores > 0 && self.classes[class].entries.len() <= self.unstarted_cores
                || self.free.iter().any(is_idle);
            let worth = || {
                let mut s = self.snapshot(now, class, more);
                s.accelerator_rate += chosen_rate;
                let long = s.oldest / s.core_rate >= group.expected.start.as_secs_f64();
                let keeps_up = some_idle && self.inputs.rate(now) <= s.core_rate * s.cores as f64;
                (long || !keeps_up)
                    && policy::worth_starting(&s, s.waiting + self.inputs.to_come(), &group.expected_for(&s))
            };
            if group.at_once || nobody || worth() {
                self.groups[number].started = true;
                chosen_rate += group.expected.rate;
                self.due_groups.push_back(number);
            }
        }
    }

    /// A worker's rate in bytes a second, and whether it was measured.
    ///
    /// A worker that holds a batch for much longer than its rate predicts counts as correspondingly slow, so the others
    /// stop counting on an accelerator that hangs.
    pub(super) fn rate(&self, now: Duration, worker: &WorkerState<J>, class: usize) -> (f64, bool) {
        let measured = worker.rates[class].get();
        let expected = || match worker.group {
            Some(group) if worker.accelerator => {
                self.groups[group].expected.rate / self.groups[group].members.max(1) as f64
            }
            _ => self.classes[class].class.core_rate(),
        };
        let rate = measured.unwrap_or_else(expected);
        let Some(held) = worker.holds_of(class) else { return (rate, measured.is_some()) };
        let elapsed = now.saturating_sub(held.since).as_secs_f64();
        let overdue = held.bytes > 0.0 && elapsed * rate > 2.0 * held.bytes;
        (if overdue { held.bytes / elapsed } else { rate }, measured.is_some() || overdue)
    }

    /// The figures that the rule needs, for one class.
    pub fn snapshot(&self, now: Duration, class: usize, more: bool) -> Snapshot {
        let queue = &self.classes[class];
        let mut s = Snapshot {
            blocks: queue.entries.len(),
            waiting: queue.bytes as f64,
            oldest: queue.entries.front().map_or(0.0, |entry| entry.attributes.bytes as f64),
            more_comes: self.inputs.more_comes() || more,
            ready_in: f64::INFINITY,
            hardware: self.hardware,
            ..Snapshot::default()
        };
        let (mut core_rates, mut measured_cores) = (0.0, 0);
        for worker in self.workers.iter().filter(|worker| worker.is_there() && worker.accepts.class(queue.class)) {
            let (rate, measured) = self.rate(now, worker, class);
            let held = worker.holds_of(class);
            if worker.accelerator {
                s.accelerators += 1;
                s.accelerator_rate += rate;
                s.ready_in = s.ready_in.min(self.ready_in(now, worker));
                s.held += held
                    .map_or(0.0, |held| (held.bytes - rate * now.saturating_sub(held.since).as_secs_f64()).max(0.0));
            } else {
                s.cores += 1;
                s.beginning += usize::from(worker.holds_a_class());
                if measured {
                    core_rates += rate;
                    measured_cores += 1;
                }
            }
        }
        if self.core_accepts.class(queue.class) {
            s.cores += self.unstarted_cores;
        }
        s.core_measured = measured_cores > 0;
        s.core_rate = if measured_cores > 0 { core_rates / measured_cores as f64 } else { queue.class.core_rate() };
        let accelerators = self.workers.iter().filter(|worker| worker.accelerator && worker.is_there()).count();
        s.feeders = accelerators + self.more_readers;
        if s.accelerators == 0 {
            s.ready_in = 0.0;
        } else if accelerators > s.accelerators {
            s.others_are_fast = (0..self.classes.len()).any(|other| other != class && self.is_outrun(now, other));
        }
        s
    }

    /// Whether accelerators do the tasks of a class faster than all cores together.
    fn is_outrun(&self, now: Duration, class: usize) -> bool {
        let queue = &self.classes[class];
        let (mut accelerators, mut cores) = (0.0, 0.0);
        for worker in self.workers.iter().filter(|worker| worker.is_there() && worker.accepts.class(queue.class)) {
            let sum = if worker.accelerator { &mut accelerators } else { &mut cores };
            *sum += self.rate(now, worker, class).0;
        }
        accelerators > cores
    }

    /// The seconds until a worker can take work. If that is already overdue, it may take as long again.
    fn ready_in(&self, now: Duration, worker: &WorkerState<J>) -> f64 {
        let Life::Starting(since) = worker.life else { return 0.0 };
        let expected = worker.group.map_or(0.0, |group| self.groups[group].expected.start.as_secs_f64());
        let elapsed = now.saturating_sub(since).as_secs_f64();
        if elapsed < expected { expected - elapsed } else { elapsed }
    }
}
