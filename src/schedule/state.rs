//! What the scheduler knows: what waits, who is there, what each station holds and how fast it is. Everything that is
//! decided is decided here, by the rule in [`policy`](super::policy), under one lock (`queue`) and without a clock of
//! its own: a test can run hours of work in a moment.

use super::inputs::Inputs;
use super::job::{Accepts, Class};
use super::policy::{self, Expected, Snapshot, Verdict};
use super::seat::{Holding, Phase, Rate, Seat, Waits};
use std::collections::VecDeque;
use std::time::Duration;

/// A station's number, in the order of their start.
pub(super) type Id = usize;

/// What is asked for when a job is put on the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub class: Class,
    pub bytes: u64,
    /// Somebody else has begun or declined it: it is for a core.
    pub second_stage: bool,
    /// A core that should not do it, as long as there is another.
    pub avoid: Option<Id>,
}

/// A job that waits.
pub(super) struct Entry<J> {
    pub job: J,
    pub class: Class,
    pub bytes: u64,
    pub second_stage: bool,
    avoid: Option<Id>,
    /// Counted over all jobs: the oldest of several queues goes first.
    number: u64,
}

/// Accelerators that are started together: the lanes of one device.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrewPlan {
    pub accepts: Accepts,
    pub members: usize,
    pub expected: Expected,
    /// With the first job, however little work there is.
    pub at_once: bool,
    pub started: bool,
}

/// What there is to do besides, after a job was submitted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Actions {
    /// This one waits and should look.
    pub wake: Option<Id>,
    /// One more core is needed.
    pub start_core: bool,
    /// These crews are worth their start.
    pub start_crews: Vec<usize>,
    /// Nobody is there for the job, nor can be started.
    pub unserved: bool,
}

/// What a station that asks for work is told.
pub(super) enum Taken<J> {
    Jobs(Vec<Entry<J>>),
    /// Nothing for it now; it should ask again when it is woken.
    Nothing,
    /// What waits is better done by others: it should ask again when it is woken, or after this time. One of the
    /// others, if it was asleep, should look.
    LeftToOthers(Duration, Option<Id>),
    /// There will never be anything.
    Closed,
}

pub(super) struct State<J> {
    /// By class: what nobody has begun.
    first: Vec<VecDeque<Entry<J>>>,
    second: VecDeque<Entry<J>>,
    seats: Vec<Seat>,
    crews: Vec<CrewPlan>,
    /// Cores that can still be started, and what cores accept.
    unstarted_cores: usize,
    started_cores: usize,
    core_accepts: Accepts,
    /// Bytes a second that a core is expected to do, by class.
    core_rates: Vec<f64>,
    hardware: usize,
    inputs: Inputs,
    next_number: u64,
    closed: bool,
}

impl<J> State<J> {
    pub fn new(core_rates: Vec<f64>, cores: usize, core_accepts: Accepts, hardware: usize) -> Self {
        State {
            first: core_rates.iter().map(|_| VecDeque::new()).collect(),
            second: VecDeque::new(),
            seats: Vec::new(),
            crews: Vec::new(),
            unstarted_cores: cores,
            started_cores: 0,
            core_accepts,
            core_rates,
            hardware,
            inputs: Inputs::default(),
            next_number: 0,
            closed: false,
        }
    }

    pub fn add_crew(&mut self, crew: CrewPlan) {
        self.crews.push(crew);
    }

    /// Whether accelerators have been started, or there are none to start.
    pub fn is_accelerated(&self) -> bool {
        self.crews.is_empty() || self.crews.iter().any(|crew| crew.started)
    }

    /// Whether there are accelerators for a class, started or not.
    pub fn has_accelerators_for(&self, class: Class) -> bool {
        let takes = |accepts: Accepts| !accepts.second_stage() && accepts.first_stage(class);
        self.crews.iter().any(|crew| !crew.started && takes(crew.accepts))
            || self.seats.iter().any(|seat| seat.phase != Phase::Gone && takes(seat.accepts))
    }

    /// An input is being read, of so many bytes if that is known.
    pub fn begin_reading(&mut self, bytes: Option<u64>) {
        self.forget_if_idle();
        self.inputs.begin(bytes);
    }

    pub fn end_reading(&mut self, bytes: Option<u64>) {
        self.inputs.end(bytes);
    }

    /// If nothing waits and nobody has anything, what was read is done with.
    fn forget_if_idle(&mut self) {
        let nothing_waits = self.second.is_empty() && self.first.iter().all(VecDeque::is_empty);
        if nothing_waits && self.seats.iter().all(|seat| seat.holds.is_none()) {
            self.inputs.forget();
        }
    }

    /// Puts a job on its queue and says who should know.
    pub fn submit(&mut self, now: Duration, job: J, wish: Wish, more: bool) -> Actions {
        let Wish { class, bytes, second_stage, avoid } = wish;
        self.forget_if_idle();
        let second_stage = second_stage || self.is_left_to_cores(class);
        let number = self.next_number;
        self.next_number += 1;
        let entry = Entry { job, class, bytes, second_stage, avoid, number };
        if second_stage {
            self.second.push_back(entry);
            let unserved = !self.has_finisher();
            let mut call = self.call_core(true, |id, seat| seat.accepts.second_stage() && avoid != Some(id));
            if let Some(only) = avoid.filter(|_| call.wake.is_none() && !call.start_core)
                && self.other_cores(only) == 0
            {
                call = self.call_core(false, |id, _| id == only);
            }
            return Actions { unserved, ..call };
        }
        self.inputs.add(now, bytes);
        self.first[class.index()].push_back(entry);
        let start_crews = self.crews_to_start(now, class, more);
        let mut actions = Actions { start_crews, unserved: !self.is_served(class), ..Actions::default() };
        let snapshot = self.snapshot(now, class, more);
        let may_start = |seat: &Seat| {
            seat.accelerator
                && seat.waits != Waits::No
                && seat.accepts.first_stage(class)
                && policy::accelerator_may_start(&snapshot, self.rate(now, seat, class).0) == Verdict::Start
        };
        if let Some(id) = self.seats.iter().position(may_start) {
            self.seats[id].waits = Waits::No;
            actions.wake = Some(id);
            return actions;
        }
        let verdict = policy::core_may_start(&snapshot);
        let watched = self.seats.iter().any(|seat| seat.waits == Waits::ForTime && seat.accepts.first_stage(class));
        let core_there = self.seats.iter().any(|seat| !seat.accelerator && seat.phase != Phase::Gone);
        // Somebody must look again when the accelerators should have come for it.
        if verdict == Verdict::Start || !watched {
            let may_start = verdict == Verdict::Start || !core_there;
            let start = may_start && self.core_accepts.first_stage(class);
            let call = self.call_core(start, |_, seat| seat.accepts.first_stage(class));
            (actions.wake, actions.start_core) = (call.wake, call.start_core);
        }
        actions
    }

    /// The core with the highest number that is idle is woken, or, if it may be, one more `start`ed.
    fn call_core(&mut self, start: bool, accepts: impl Fn(Id, &Seat) -> bool) -> Actions {
        let idle = |(id, seat): (Id, &Seat)| !seat.accelerator && seat.waits != Waits::No && accepts(id, seat);
        let wake = (0..self.seats.len()).rev().find(|&id| idle((id, &self.seats[id])));
        if let Some(id) = wake {
            self.seats[id].waits = Waits::No;
        }
        let start_core = start && wake.is_none() && self.unstarted_cores > 0;
        self.unstarted_cores -= usize::from(start_core);
        Actions { wake, start_core, ..Actions::default() }
    }

    /// Which crews are worth starting for what is left to do.
    fn crews_to_start(&mut self, now: Duration, class: Class, more: bool) -> Vec<usize> {
        let mut start = Vec::new();
        // Of those that were chosen just now: they have no seats yet.
        let mut chosen_rate = 0.0;
        for number in 0..self.crews.len() {
            let crew = self.crews[number];
            if crew.started || !crew.accepts.first_stage(class) {
                continue;
            }
            let nobody = start.is_empty() && !self.is_served(class);
            // While cores are idle, they keep up with the input: its source is the bottleneck. (Unless it is only that
            // it takes a while to give a long block to each.)
            let some_idle = self.unstarted_cores > 0 && self.first[class.index()].len() <= self.unstarted_cores
                || self.seats.iter().any(|seat| !seat.accelerator && seat.waits != Waits::No);
            let worth = || {
                let mut s = self.snapshot(now, class, more);
                s.accelerator_rate += chosen_rate;
                let long = s.oldest / s.core_rate >= crew.expected.start.as_secs_f64();
                let keeps_up = some_idle && self.inputs.rate(now) <= s.core_rate * s.cores as f64;
                (long || !keeps_up) && policy::worth_starting(&s, s.waiting + self.inputs.to_come(), &crew.expected)
            };
            if crew.at_once || nobody || worth() {
                self.crews[number].started = true;
                chosen_rate += crew.expected.rate;
                start.push(number);
            }
        }
        start
    }

    /// One more core is being started ([`Actions::start_core`]). Returns its number among the stations and among the
    /// cores.
    pub fn add_core(&mut self, now: Duration) -> (Id, usize) {
        let number = self.started_cores;
        self.started_cores += 1;
        (self.add_seat(now, false, self.core_accepts, None), number)
    }

    /// A core of the caller's own thread, when there is no station at all.
    pub fn add_inline_core(&mut self, now: Duration) -> Id {
        let id = self.add_seat(now, false, Accepts::Everything, None);
        // It is there for as long as the caller is, so nobody may count on it.
        self.seats[id].phase = Phase::Gone;
        id
    }

    /// A member of a crew is being started. Returns its number, and whether it is an accelerator.
    pub fn add_member(&mut self, now: Duration, crew: usize) -> (Id, bool) {
        let accepts = self.crews[crew].accepts;
        // A station that takes second stages is a core to the rule, whoever made it.
        let accelerator = !accepts.second_stage();
        (self.add_seat(now, accelerator, accepts, Some(crew)), accelerator)
    }

    fn add_seat(&mut self, now: Duration, accelerator: bool, accepts: Accepts, crew: Option<usize>) -> Id {
        let rates = vec![Rate::default(); self.first.len()];
        self.seats.push(Seat {
            accelerator,
            accepts,
            crew,
            phase: Phase::Starting(now),
            max_batch: 1,
            max_bytes: u64::MAX,
            rates,
            holds: None,
            waits: Waits::No,
        });
        self.seats.len() - 1
    }

    /// A station can take work now, so many jobs at once, and so many bytes if that is more than one job.
    pub fn ready(&mut self, id: Id, max_batch: usize, max_bytes: u64) {
        let seat = &mut self.seats[id];
        (seat.phase, seat.max_batch, seat.max_bytes) = (Phase::Ready, max_batch.max(1), max_bytes);
    }

    /// A station takes no more work. Everybody who waits must look again: what was left to it is theirs. Returns how
    /// many jobs became the cores'.
    pub fn depart(&mut self, id: Id) -> usize {
        let before = self.second.len();
        self.seats[id].phase = Phase::Gone;
        self.seats[id].holds = None;
        self.seats.iter_mut().for_each(|seat| seat.waits = Waits::No);
        for class in 0..self.first.len() {
            if self.is_left_to_cores(Class(class as u8)) {
                let left = self.first[class].drain(..).map(|entry| Entry { second_stage: true, ..entry });
                self.second.extend(left);
            }
        }
        self.second.len() - before
    }

    /// How many cores are to be started for so many jobs.
    pub fn cores_for(&mut self, jobs: usize) -> usize {
        let count = if self.core_accepts.second_stage() { jobs.min(self.unstarted_cores) } else { 0 };
        self.unstarted_cores -= count;
        count
    }

    /// Whether cores leave a class to accelerators of which there are none any more. Then it is as if one had declined:
    /// all cores do what the accelerators should have done, and not one station alone.
    fn is_left_to_cores(&self, class: Class) -> bool {
        let by_cores = !self.core_accepts.first_stage(class) && self.has_finisher();
        by_cores && !self.may_come(class) && !self.is_served(class)
    }

    /// Whether the next job of a class can start accelerators for it. Where jobs wait, it may never come.
    fn may_come(&self, class: Class) -> bool {
        let is_for = |crew: &CrewPlan| !crew.started && crew.accepts.first_stage(class);
        self.first[class.index()].is_empty() && self.crews.iter().any(is_for)
    }

    /// Whether somebody takes first stages of this class, or could be started to.
    pub fn is_served(&self, class: Class) -> bool {
        let by_seat = |seat: &Seat| seat.phase != Phase::Gone && seat.accepts.first_stage(class);
        self.unstarted_cores > 0 && self.core_accepts.first_stage(class) || self.seats.iter().any(by_seat)
    }

    /// Whether somebody takes second stages, or could be started to.
    pub fn has_finisher(&self) -> bool {
        let by_seat = |seat: &Seat| seat.phase != Phase::Gone && seat.accepts.second_stage();
        self.unstarted_cores > 0 && self.core_accepts.second_stage() || self.seats.iter().any(by_seat)
    }

    /// How many others than this station take second stages.
    fn other_cores(&self, id: Id) -> usize {
        let takes =
            |(other, seat): &(Id, &Seat)| *other != id && seat.phase != Phase::Gone && seat.accepts.second_stage();
        self.seats.iter().enumerate().filter(takes).count()
    }

    /// Whether two others than this station take second stages, so that one can still verify what the other makes.
    pub fn two_other_cores(&self, id: Id) -> bool {
        let unstarted = if self.core_accepts.second_stage() { self.unstarted_cores } else { 0 };
        self.other_cores(id) + unstarted >= 2
    }

    /// Whether a core may take this second stage. A job that avoids the core is left to another: one is there, and
    /// looks at it when it is done with what it has, or when it was woken for it. When it leaves, everybody looks
    /// again.
    fn may_finish(&self, id: Id, entry: &Entry<J>) -> bool {
        entry.avoid != Some(id) || self.closed || self.other_cores(id) == 0
    }

    /// After a departure: whether work has lost its last station, so that this thread must go on as a core.
    pub fn is_short(&self) -> bool {
        let unserved = |class: Class| !self.is_served(class) && !self.is_left_to_cores(class) && !self.may_come(class);
        // A core that has not been started yet is started by the next job, which may never come.
        let there = |seat: &Seat| seat.phase != Phase::Gone && seat.accepts.second_stage();
        let mut classes = (0..self.first.len()).map(|class| Class(class as u8));
        !self.second.is_empty() && !self.seats.iter().any(there) || classes.any(unserved)
    }

    /// The station that retired goes on as a core: as one of many, if more can be started.
    pub fn go_on_as_core(&mut self, id: Id) {
        let many = self.unstarted_cores > 0 && self.core_accepts.second_stage();
        let accepts = if many { self.core_accepts } else { Accepts::Everything };
        let seat = &mut self.seats[id];
        (seat.accelerator, seat.accepts, seat.phase, seat.max_batch) = (false, accepts, Phase::Ready, 1);
        seat.max_bytes = u64::MAX;
        seat.crew = None;
        seat.rates.fill(Rate::default());
    }

    /// No thread could be had for one more core.
    pub fn no_more_cores(&mut self) {
        self.unstarted_cores = 0;
    }

    pub fn close(&mut self) {
        self.closed = true;
        self.seats.iter_mut().for_each(|seat| seat.waits = Waits::No);
    }

    /// What a station may take now.
    pub fn take(&mut self, now: Duration, id: Id, more: bool) -> Taken<J> {
        self.seats[id].waits = Waits::No;
        let accepts = self.seats[id].accepts;
        let gone = self.seats[id].phase == Phase::Gone;
        // What was passed on comes first: it is older than what nobody has begun, and what follows it waits for it.
        if accepts.second_stage()
            && let Some(at) = self.second.iter().position(|entry| self.may_finish(id, entry))
            && let Some(entry) = self.second.remove(at)
        {
            return self.hold(now, id, vec![entry]);
        }
        let mut ask_again = None;
        for class in self.oldest_first(accepts) {
            let snapshot = self.snapshot(now, class, more);
            let seat = &self.seats[id];
            let count = if self.closed || gone {
                1
            } else if seat.accelerator {
                let rate = self.rate(now, seat, class).0;
                match policy::accelerator_may_start(&snapshot, rate) {
                    Verdict::Start => policy::share(&snapshot, rate, seat.max_batch),
                    Verdict::Wait(seconds) => {
                        ask_again = Some(ask_again.map_or(seconds, |other: f64| other.min(seconds)));
                        continue;
                    }
                }
            } else {
                match policy::core_may_start(&snapshot) {
                    // A station that is no accelerator may still like batches: of what there is, an even part.
                    Verdict::Start if seat.max_batch > 1 => {
                        let stations = self.seats.iter().filter(|seat| seat.phase != Phase::Gone).count();
                        snapshot.blocks.div_ceil(stations).clamp(1, seat.max_batch)
                    }
                    Verdict::Start => 1,
                    Verdict::Wait(seconds) => {
                        ask_again = Some(ask_again.map_or(seconds, |other: f64| other.min(seconds)));
                        continue;
                    }
                }
            };
            let max_bytes = self.seats[id].max_bytes;
            let queue = &mut self.first[class.index()];
            let mut bytes = 0u64;
            let fit = queue.iter().take(count).take_while(|entry| {
                bytes = bytes.saturating_add(entry.bytes);
                bytes <= max_bytes
            });
            let count = fit.count().max(1);
            let jobs = queue.drain(..count.min(queue.len())).collect();
            return self.hold(now, id, jobs);
        }
        if self.closed {
            return Taken::Closed;
        }
        if gone {
            return Taken::Nothing; // the caller's own thread, which does not wait
        }
        let Some(seconds) = ask_again else {
            self.seats[id].waits = Waits::ForWake;
            return Taken::Nothing;
        };
        self.seats[id].waits = Waits::ForTime;
        Taken::LeftToOthers(Duration::from_secs_f64(seconds), self.wake_other_kind(id))
    }

    /// A core that leaves a block to the accelerators, or an accelerator to the cores, sees to it that one of them is
    /// awake: rates change, and by the rule never do both wait.
    fn wake_other_kind(&mut self, id: Id) -> Option<Id> {
        let accelerator = self.seats[id].accelerator;
        let waiting = |class: usize| !self.first[class].is_empty();
        let accepts = |seat: &Seat| {
            (0..self.first.len()).any(|class| waiting(class) && seat.accepts.first_stage(Class(class as u8)))
        };
        let asleep = |seat: &Seat| seat.accelerator != accelerator && seat.waits == Waits::ForWake && accepts(seat);
        let other = self.seats.iter().position(asleep)?;
        self.seats[other].waits = Waits::No;
        Some(other)
    }

    /// The classes of which anything waits that such a station accepts, the one with the oldest job first.
    fn oldest_first(&self, accepts: Accepts) -> Vec<Class> {
        let classes = (0..self.first.len()).map(|class| Class(class as u8));
        let front = |class: &Class| self.first[class.index()].front().map(|entry| entry.number);
        let mut waiting: Vec<Class> =
            classes.filter(|class| front(class).is_some() && accepts.first_stage(*class)).collect();
        waiting.sort_by_key(front);
        waiting
    }

    fn hold(&mut self, now: Duration, id: Id, jobs: Vec<Entry<J>>) -> Taken<J> {
        let first = jobs.first().map(|entry| (entry.class, entry.second_stage));
        let bytes = jobs.iter().map(|entry| entry.bytes as f64).sum();
        self.seats[id].holds = first.map(|(class, second_stage)| Holding { class, second_stage, bytes, since: now });
        Taken::Jobs(jobs)
    }

    /// A station is done with what it held, of which it did so many bytes itself, or `deferred` some of them: others do
    /// those, so the time that it took says nothing.
    pub fn done(&mut self, now: Duration, id: Id, bytes: u64, deferred: u64) {
        let seat = &mut self.seats[id];
        if let Some(Holding { class, second_stage: false, since, .. }) = seat.holds.take()
            && bytes > 0
        {
            let seconds = match deferred {
                0 => now.saturating_sub(since).as_secs_f64().max(1e-9),
                _ => bytes as f64 / self.core_rates[class.index()],
            };
            seat.rates[class.index()].add(bytes as f64, seconds);
        }
    }

    /// Bytes a second of a station, and whether it was measured.
    ///
    /// One that holds a batch for much longer than its rate allows is as slow as it shows itself: other stations stop
    /// counting on an accelerator that hangs.
    fn rate(&self, now: Duration, seat: &Seat, class: Class) -> (f64, bool) {
        let measured = seat.rates[class.index()].get();
        let expected = || match seat.crew {
            Some(crew) if seat.accelerator => self.crews[crew].expected.rate / self.crews[crew].members.max(1) as f64,
            _ => self.core_rates[class.index()],
        };
        let rate = measured.unwrap_or_else(expected);
        match seat.holds {
            Some(held) if held.class == class && !held.second_stage => {
                let elapsed = now.saturating_sub(held.since).as_secs_f64();
                let overdue = held.bytes > 0.0 && elapsed * rate > 2.0 * held.bytes;
                (if overdue { held.bytes / elapsed } else { rate }, measured.is_some() || overdue)
            }
            _ => (rate, measured.is_some()),
        }
    }

    /// The figures that the rule is about, for one class.
    pub fn snapshot(&self, now: Duration, class: Class, more: bool) -> Snapshot {
        let queue = &self.first[class.index()];
        let mut s = Snapshot {
            blocks: queue.len(),
            // A queue has a few hundred jobs at most, but this is asked often: of many, the oldest stand for all.
            waiting: match queue.len() {
                0..=64 => queue.iter().map(|entry| entry.bytes as f64).sum(),
                many => queue.iter().take(64).map(|entry| entry.bytes as f64).sum::<f64>() / 64.0 * many as f64,
            },
            oldest: queue.front().map_or(0.0, |entry| entry.bytes as f64),
            more_comes: self.inputs.more_comes() || more,
            ready_in: f64::INFINITY,
            hardware: self.hardware,
            ..Snapshot::default()
        };
        let (mut core_rates, mut measured_cores) = (0.0, 0);
        for seat in self.seats.iter().filter(|seat| seat.phase != Phase::Gone) {
            if !seat.accepts.first_stage(class) {
                continue;
            }
            let (rate, measured) = self.rate(now, seat, class);
            let held = seat.holds.filter(|held| held.class == class && !held.second_stage);
            if seat.accelerator {
                s.accelerators += 1;
                s.accelerator_rate += rate;
                s.ready_in = s.ready_in.min(self.ready_in(now, seat));
                s.held += held
                    .map_or(0.0, |held| (held.bytes - rate * now.saturating_sub(held.since).as_secs_f64()).max(0.0));
            } else {
                s.cores += 1;
                s.beginning += usize::from(held.is_some());
                if measured {
                    core_rates += rate;
                    measured_cores += 1;
                }
            }
        }
        if self.core_accepts.first_stage(class) {
            s.cores += self.unstarted_cores;
        }
        s.core_measured = measured_cores > 0;
        s.core_rate =
            if measured_cores > 0 { core_rates / measured_cores as f64 } else { self.core_rates[class.index()] };
        if s.accelerators == 0 {
            s.ready_in = 0.0;
        }
        s
    }

    /// Seconds until a station can take work. One that takes longer than expected may take as long again.
    fn ready_in(&self, now: Duration, seat: &Seat) -> f64 {
        let Phase::Starting(since) = seat.phase else { return 0.0 };
        let expected = seat.crew.map_or(0.0, |crew| self.crews[crew].expected.start.as_secs_f64());
        let elapsed = now.saturating_sub(since).as_secs_f64();
        if elapsed < expected { expected - elapsed } else { elapsed }
    }
}
