//! Tests every order of events of a small machine: two cores and a lane, tasks of one class, each followed by a
//! continuation that its maker must not do. Threads start, cannot be started, finish, fail while they hold a batch,
//! fetch their orders late, leave; time passes. In every order each task is done exactly once, and nothing waits for
//! ever.

use super::class::{Accepts, Class};
use super::decide::Step;
use super::entry::{Attributes, Entry, Id};
use super::policy::Expected;
use super::state::{GroupPlan, State};
use super::worker_state::{Life, Order};
use std::collections::HashSet;
use std::time::Duration;

const CLASS: Class = Class::new("code", 45e6);
const SLOW: Class = Class::new("slow", 1e6);
const TASKS: u8 = 2;
/// The number of a task's continuation is the task's number plus this.
const CHECK: u8 = 10;

/// The machine and what has happened to it.
struct World {
    state: State<u8>,
    /// Threads of cores and of the lane that are being started.
    starting: Vec<Id>,
    /// Workers that have been woken for an order.
    woken: Vec<Id>,
    holds: Vec<(Id, Vec<Entry<u8>>)>,
    /// Workers that have been ordered to leave.
    leaving: Vec<Id>,
    to_submit: u8,
    answered: u32,
    /// The number of times that the lane may still fail, a thread may still be refused, or an answer may still be
    /// wrong.
    misfortunes: u8,
    alarm: bool,
    caller: Option<Id>,
    now: u64,
}

/// An event that may happen next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Submit,
    Start(usize),
    FailToStart(usize),
    Come(usize),
    Finish(usize),
    /// A worker finishes, and its output is found wrong.
    Blamed(usize),
    Die(usize),
    Leave(usize),
    Alarm,
}

impl World {
    fn new(hardware: usize, closes: bool) -> World {
        let mut state = State::new(2, Accepts::Everything, hardware);
        let expected = Expected { rate: 60e6, start: Duration::from_millis(1), end: Duration::ZERO };
        let accepts = Accepts::Only(&[CLASS]);
        state.add_group(GroupPlan { accepts, members: 1, expected, full_task: 0, at_once: true, started: false });
        let (starting, woken, holds, leaving) = Default::default();
        let misfortunes = u8::from(!closes);
        World {
            state,
            starting,
            woken,
            holds,
            leaving,
            to_submit: TASKS,
            answered: 0,
            misfortunes,
            alarm: false,
            caller: None,
            now: 0,
        }
    }

    /// Replays these events from the start.
    fn after(events: &[Event], hardware: usize, closes: bool) -> World {
        let mut world = World::new(hardware, closes);
        for &event in events {
            world.happen(event, closes);
        }
        world
    }

    fn clock(&self) -> Duration {
        Duration::from_millis(self.now)
    }

    fn is_lane(&self, id: Id) -> bool {
        self.state.is_accelerator(id)
    }

    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        if self.to_submit > 0 {
            events.push(Event::Submit);
        }
        for at in 0..self.starting.len() {
            events.push(Event::Start(at));
            if self.misfortunes > 0 {
                events.push(Event::FailToStart(at));
            }
        }
        events.extend((0..self.woken.len()).map(Event::Come));
        for at in 0..self.holds.len() {
            events.push(Event::Finish(at));
            if self.misfortunes > 0 {
                events.push(Event::Blamed(at));
                if self.is_lane(self.holds[at].0) {
                    events.push(Event::Die(at));
                }
            }
        }
        events.extend((0..self.leaving.len()).map(Event::Leave));
        // If nothing else can happen, a free worker looks again when its time is up.
        if events.is_empty() && self.alarm {
            events.push(Event::Alarm);
        }
        events
    }

    fn happen(&mut self, event: Event, closes: bool) {
        self.now += if event == Event::Alarm { 1000 } else { 1 };
        self.misfortunes -= u8::from(matches!(event, Event::FailToStart(_) | Event::Blamed(_) | Event::Die(_)));
        let now = self.clock();
        match event {
            Event::Submit => {
                self.to_submit -= 1;
                let attributes = Attributes { class: Some(CLASS), bytes: 50_000, avoid: None };
                self.state.submit(now, self.to_submit, attributes, false);
                if closes && self.to_submit == 0 {
                    self.state.close();
                }
            }
            Event::Start(at) => {
                let id = self.starting.remove(at);
                self.state.ready(id, 2, u64::MAX);
            }
            Event::FailToStart(at) => {
                let id = self.starting.remove(at);
                self.state.not_started(id);
            }
            Event::Come(at) => {
                let id = self.woken.remove(at);
                self.come(id);
            }
            Event::Finish(at) | Event::Blamed(at) => {
                let (id, entries) = self.holds.remove(at);
                let bytes = entries.iter().map(|entry| entry.attributes.bytes).sum();
                entries.into_iter().for_each(|entry| self.answer(id, entry.job));
                if matches!(event, Event::Blamed(_)) {
                    self.state.blame(id);
                }
                self.state.finish(now, id, (bytes, 0), Vec::new(), false);
            }
            Event::Die(at) => {
                let (id, entries) = self.holds.remove(at);
                self.state.finish(now, id, (0, 0), entries, true);
                self.leaving.push(id);
            }
            Event::Leave(at) => {
                let id = self.leaving.remove(at);
                self.state.depart(id, !closes);
            }
            Event::Alarm => {}
        }
        self.settle();
    }

    fn answer(&mut self, id: Id, job: u8) {
        if job < CHECK {
            let attributes = Attributes { class: None, bytes: 10, avoid: Some(id) };
            self.state.submit(self.clock(), job + CHECK, attributes, false);
        } else {
            assert_eq!(self.answered >> (job - CHECK) & 1, 0, "{job} was done twice");
            self.answered |= 1 << (job - CHECK);
        }
    }

    fn come(&mut self, id: Id) {
        match self.state.take_order(self.clock(), id).expect("it was woken for an order") {
            Order::Work { entries, .. } => self.holds.push((id, entries)),
            Order::Retire => self.leaving.push(id),
        }
        assert!(self.state.take_order(self.clock(), id).is_none(), "a worker has one order at a time");
    }

    fn settle(&mut self) {
        loop {
            match self.state.next(self.clock(), false) {
                Step::Assigned(id) => self.woken.push(id),
                Step::StartCore(id, _) => self.starting.push(id),
                Step::StartGroup(_, first) => self.starting.push(first),
                Step::Rest(again) => {
                    assert!(again.is_none() || self.state.watcher().is_some() || !self.events().is_empty());
                    self.alarm = again.is_some();
                    break;
                }
            }
        }
        if self.state.is_unserved() {
            let id = match self.caller {
                Some(id) => id,
                None => self.state.add_caller(self.clock()),
            };
            self.caller = Some(id);
            self.state.join(id);
            self.settle();
        }
    }

    /// Two worlds with equal fingerprints have the same future.
    fn figure(&self) -> String {
        let State { workers, free, continuations, classes, unstarted_cores, waking, .. } = &self.state;
        let tasks = |entry: &Entry<u8>| (entry.job, entry.attributes.class.is_none(), entry.attributes.avoid);
        let life = |life: &Life| match life {
            Life::Starting(_) => 0,
            Life::Free => 1,
            Life::Busy(held) => 2 + u8::from(held.class.is_none()),
            Life::Leaving => 4,
            Life::Gone => 5,
        };
        let workers: Vec<_> = workers
            .iter()
            .map(|w| {
                let order = match &w.order {
                    None => vec![],
                    Some(Order::Retire) => vec![255],
                    Some(Order::Work { entries, .. }) => entries.iter().map(|entry| entry.job).collect(),
                };
                let measured: Vec<bool> = w.rates.iter().map(|rate| rate.get().is_some()).collect();
                (life(&w.life), w.accelerator, w.distrusted, w.awake, w.waking, order, measured)
            })
            .collect();
        let holds: Vec<_> =
            self.holds.iter().map(|(id, entries)| (id, entries.iter().map(tasks).collect::<Vec<_>>())).collect();
        let waiting: Vec<_> =
            continuations.iter().chain(classes.iter().flat_map(|queue| &queue.entries)).map(tasks).collect();
        format!(
            "{workers:?}{free:?}{unstarted_cores}{waking}{waiting:?}{holds:?}{:?}{:?}{:?}{}{}{}",
            self.starting, self.woken, self.leaving, self.to_submit, self.answered, self.misfortunes
        )
    }
}

/// Explores all orders of events; worlds with equal fingerprints are continued once. (Their measured rates may differ,
/// but these decide only which worker does what.)
fn all_orders(hardware: usize, closes: bool) -> (usize, usize) {
    let (mut stack, mut seen, mut ends) = (vec![Vec::new()], HashSet::new(), 0);
    while let Some(events) = stack.pop() {
        let world = World::after(&events, hardware, closes);
        if !seen.insert(world.figure()) {
            continue;
        }
        let next = world.events();
        if next.is_empty() {
            ends += 1;
            let all = (1 << TASKS) - 1;
            assert_eq!(world.answered, all, "something waits for ever after {events:?}: {}", world.figure());
            assert_eq!(world.state.waiting, 0);
            let alive = world.state.workers.iter().any(|worker| !worker.is_gone());
            assert!(!closes || !alive, "somebody stays after {events:?}: {}", world.figure());
        }
        stack.extend(next.into_iter().map(|event| [&events[..], &[event]].concat()));
    }
    (seen.len(), ends)
}

#[test]
fn every_order_of_events_of_a_small_machine_ends_well() {
    for hardware in [1, 2] {
        for closes in [false, true] {
            let (worlds, ends) = all_orders(hardware, closes);
            println!("{hardware} hardware threads, closes {closes}: {worlds} worlds, {ends} ends");
            assert!(worlds > 500 && ends > 0, "{worlds} worlds, {ends} ends: too few to mean anything");
        }
    }
}

/// Whatever rates were measured for unequal lanes: if all workers are free and a task waits, one of them starts.
#[test]
fn never_do_all_stand_free() {
    let mut seed = 1u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..5000 {
        let mut state: State<()> = State::new(random(4) as usize, Accepts::Everything, 4);
        let expected = Expected { rate: 1e6, start: Duration::ZERO, end: Duration::ZERO };
        let (accepts, members) = (Accepts::Only(&[SLOW]), 1 + random(3) as usize);
        state.add_group(GroupPlan { accepts, members, expected, full_task: 0, at_once: true, started: false });
        let (mut now, mut held) = (Duration::ZERO, Vec::new());
        for _ in 0..12 {
            for _ in 0..1 + random(4) {
                let bytes = 1 + random(2000);
                let attributes = Attributes { class: Some(SLOW), bytes, avoid: None };
                state.submit(now, (), attributes, false);
            }
            while state.waiting > 0 || !held.is_empty() {
                loop {
                    match state.next(now, false) {
                        Step::Assigned(id) => held.push((id, state.take_order(now, id).expect("it was assigned"))),
                        Step::StartCore(id, _) => state.ready(id, 1, u64::MAX),
                        Step::StartGroup(_, first) => {
                            (first..first + members).for_each(|id| state.ready(id, 4, u64::MAX))
                        }
                        Step::Rest(_) => break,
                    }
                }
                assert!(!held.is_empty(), "all are free, and {} wait", state.waiting);
                for (id, order) in held.drain(..) {
                    let Order::Work { entries, .. } = order else { panic!("nobody is to leave") };
                    now += Duration::from_nanos(1 << random(24));
                    let bytes = entries.iter().map(|entry| entry.attributes.bytes).sum();
                    state.finish(now, id, (bytes, 0), Vec::new(), false);
                }
            }
        }
    }
}
