//! Runs the scheduler against simulated machines: the real [`State`] and the real rule, with a simulated clock.
//!
//! A lane takes a fixed time for a batch plus a time for each byte; a core does one block at a time. No scenario may
//! lose a block or do it twice, and each states its maximum time.

mod scenarios;

use super::class::{Accepts, Class};
use super::decide::Step;
use super::entry::{Attributes, Entry, Id};
use super::policy::Expected;
use super::state::{GroupPlan, State};
use super::worker_state::Order;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

const CLASS: Class = Class::new("code", 30e6);
const BLOCK: f64 = 900e3;

fn attributes(bytes: f64, continuation: bool, avoid: Option<Id>) -> Attributes {
    Attributes { class: (!continuation).then_some(CLASS), bytes: bytes as u64, avoid }
}

/// A step of a block.
#[derive(Clone, Copy, Debug)]
enum Task {
    Code(usize),
    /// Verify a worker's output, which is wrong or not. This takes a quarter of the time of coding.
    Verify(usize, Id, bool),
    /// Code the block again.
    Again(usize),
}

/// The lanes of one device.
#[derive(Clone, Copy)]
struct Gpu {
    lanes: usize,
    /// The rate of all lanes together, in bytes a second.
    rate: f64,
    max_batch: usize,
    /// The seconds until the lanes run, or have failed to start.
    start: f64,
    fails_to_start: bool,
    /// `(after, time)`, in seconds: from `after` on every batch takes `time`, and then fails.
    hangs: Option<(f64, f64)>,
    /// The time in seconds from which every block is wrong.
    lies_after: f64,
}

/// Eight lanes do batches of 29 MB in 87 ms each: 2.65 GB/s.
const H200: Gpu = Gpu {
    lanes: 8,
    rate: 3e9,
    max_batch: 32,
    start: 0.6,
    fails_to_start: false,
    hangs: None,
    lies_after: f64::INFINITY,
};

#[derive(Clone)]
struct Machine {
    cores: usize,
    /// The rate of each core, in bytes a second.
    core_rate: f64,
    gpus: Vec<Gpu>,
    hardware: usize,
}

impl Machine {
    fn new(cores: usize, core_rate: f64, gpus: &[Gpu]) -> Machine {
        Machine { cores, core_rate, gpus: gpus.to_vec(), hardware: cores }
    }
}

#[derive(Clone, Copy)]
struct Input {
    blocks: usize,
    block: f64,
    /// The rate at which the input can be read, in bytes a second.
    read_rate: f64,
    announced: bool,
    /// The maximum number of blocks in flight.
    window: usize,
    /// Whether every block is verified by a worker other than its maker.
    verify: bool,
}

impl Input {
    fn of(bytes: f64) -> Input {
        let blocks = (bytes / BLOCK).ceil() as usize;
        Input { blocks, block: BLOCK, read_rate: 10e9, announced: true, window: 1200, verify: false }
    }
}

#[derive(Debug, Default)]
struct Outcome {
    /// The time in seconds at which the last block was done.
    end: f64,
    by_cores: usize,
    by_gpus: usize,
    started_gpus: usize,
    /// The time at which the first GPU was started.
    gpus_from: Option<f64>,
    /// The number of blocks that were coded again.
    again: usize,
    /// The number of workers that have left.
    gone: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrive,
    Ready(Id),
    Done(Id),
    /// The event that a free worker looks for work again.
    Look,
}

/// The rate of an H200, fixed times included.
const H200_RATE: f64 = 2.65e9;

/// One station of the simulated machine.
#[derive(Clone, Copy)]
struct Station {
    gpu: Option<Gpu>,
    rate: f64,
    gone: bool,
}

struct World {
    machine: Machine,
    input: Input,
    state: State<Task>,
    stations: Vec<Station>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    now: f64,
    arrived: usize,
    on_their_way: usize,
    done: usize,
    outcome: Outcome,
    /// The tasks that each station holds.
    held: Vec<Vec<Entry<Task>>>,
    finished: Vec<bool>,
    /// The time at which a free worker looks for work again.
    look_at: f64,
    /// The reader waits until fewer blocks are in flight.
    blocked: bool,
}

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

impl World {
    fn new(machine: &Machine, input: Input) -> World {
        let mut state = State::new(machine.cores, Accepts::Everything, machine.hardware);
        for gpu in &machine.gpus {
            let expected = Expected { rate: 1e9, start: Duration::from_millis(600), end: Duration::from_millis(300) };
            let (accepts, members) = (Accepts::Only(&[CLASS]), gpu.lanes);
            state.add_group(GroupPlan { accepts, members, expected, full_task: 0, at_once: false, started: false });
        }
        World {
            machine: machine.clone(),
            input,
            state,
            stations: Vec::new(),
            events: BinaryHeap::new(),
            number: 0,
            now: 0.0,
            arrived: 0,
            on_their_way: 0,
            done: 0,
            outcome: Outcome::default(),
            held: Vec::new(),
            finished: vec![false; input.blocks],
            look_at: f64::INFINITY,
            blocked: false,
        }
    }

    fn at(&mut self, seconds: f64, event: Event) {
        self.number += 1;
        self.events.push(Reverse((nanos(seconds), self.number, event)));
    }

    fn clock(&self) -> Duration {
        Duration::from_secs_f64(self.now)
    }

    fn more_comes(&self) -> bool {
        self.arrived < self.input.blocks && self.on_their_way >= self.input.window
    }

    fn run(mut self) -> Outcome {
        let bytes = (self.input.blocks as f64 * self.input.block) as u64;
        self.state.begin_reading(self.input.announced.then_some(bytes));
        self.at(0.0, Event::Arrive);
        while self.done < self.input.blocks {
            let Reverse((time, _, event)) = self.events.pop().expect("all stations wait, and blocks are left");
            self.now = time as f64 / 1e9;
            assert!(self.now < 10_000.0, "it does not end");
            match event {
                Event::Arrive => self.arrive(),
                Event::Ready(id) => self.ready(id),
                Event::Done(id) => self.finish(id),
                Event::Look => self.look_at = f64::INFINITY,
            }
            self.settle();
        }
        assert!(self.finished.iter().all(|&finished| finished));
        self.outcome.by_gpus = self.done - self.outcome.by_cores;
        self.outcome.gone = self.stations.iter().filter(|station| station.gone).count();
        self.outcome
    }

    fn arrive(&mut self) {
        self.blocked = self.on_their_way >= self.input.window;
        if self.blocked || self.arrived == self.input.blocks {
            return;
        }
        let job = self.arrived;
        self.arrived += 1;
        self.on_their_way += 1;
        if self.arrived == self.input.blocks {
            let bytes = (self.input.blocks as f64 * self.input.block) as u64;
            self.state.end_reading(self.input.announced.then_some(bytes));
        }
        let (clock, more) = (self.clock(), self.more_comes());
        self.state.submit(clock, Task::Code(job), attributes(self.input.block, false, None), more);
        let next = self.now + self.input.block / self.input.read_rate;
        self.at(next, Event::Arrive);
    }

    /// Repeats the decision until nothing more can start, as `queue` does.
    fn settle(&mut self) {
        loop {
            let (clock, more) = (self.clock(), self.more_comes());
            match self.state.next(clock, more) {
                Step::Assigned(id) => self.take(id),
                Step::StartCore(id, _) => {
                    self.add(id, None, self.machine.core_rate);
                    self.at(self.now, Event::Ready(id));
                }
                Step::StartGroup(group, first) => {
                    let gpu = self.machine.gpus[group];
                    self.outcome.started_gpus += 1;
                    self.outcome.gpus_from.get_or_insert(self.now);
                    for id in first..first + gpu.lanes {
                        self.add(id, Some(gpu), gpu.rate / gpu.lanes as f64);
                        self.at(self.now + gpu.start, Event::Ready(id));
                    }
                }
                Step::Rest(again) => {
                    let at = again.map_or(f64::INFINITY, |again| self.now + again.as_secs_f64());
                    if at < self.look_at && self.state.watcher().is_some() {
                        self.look_at = at;
                        self.at(at, Event::Look);
                    }
                    return;
                }
            }
        }
    }

    fn add(&mut self, id: Id, gpu: Option<Gpu>, rate: f64) {
        assert_eq!(id, self.stations.len());
        self.stations.push(Station { gpu, rate, gone: false });
        self.held.push(Vec::new());
    }

    fn ready(&mut self, id: Id) {
        let station = self.stations[id];
        if station.gpu.is_some_and(|gpu| gpu.fails_to_start) {
            return self.depart(id, true);
        }
        self.state.ready(id, station.gpu.map_or(1, |gpu| gpu.max_batch), u64::MAX);
    }

    /// The last station that can do some of the work goes on as a core.
    fn depart(&mut self, id: Id, failed: bool) {
        self.stations[id].gone = true;
        if self.state.depart(id, failed) {
            self.stations[id] = Station { gpu: None, rate: self.machine.core_rate, gone: false };
        }
    }

    fn take(&mut self, id: Id) {
        let station = self.stations[id];
        assert!(!station.gone && self.held[id].is_empty(), "{id} has something already, or is gone");
        let entries = match self.state.take_order(self.clock(), id).expect("it was assigned") {
            Order::Work { entries, .. } => entries,
            Order::Retire => return self.depart(id, true),
        };
        for Entry { job, .. } in &entries {
            assert!(!matches!(job, Task::Verify(_, maker, _) if *maker == id), "{id} verifies what it made");
        }
        let cost = |entry: &Entry<Task>| if matches!(entry.job, Task::Verify(..)) { 0.25 } else { 1.0 };
        let bytes = entries.iter().map(cost).sum::<f64>() * self.input.block;
        let time = match station.gpu {
            Some(Gpu { hangs: Some((after, time)), .. }) if self.now >= after => time,
            Some(_) => 0.01 + bytes / station.rate,
            None => bytes / station.rate,
        };
        self.held[id] = entries;
        self.at(self.now + time, Event::Done(id));
    }

    fn finish(&mut self, id: Id) {
        let (station, entries) = (self.stations[id], std::mem::take(&mut self.held[id]));
        let clock = self.clock();
        if station.gpu.is_some_and(|gpu| gpu.hangs.is_some_and(|(after, _)| self.now > after)) {
            self.state.finish(clock, id, (0, 0), entries, true);
            return self.depart(id, true);
        }
        let bytes = entries.iter().map(|entry| entry.attributes.bytes).sum();
        for Entry { job, .. } in entries {
            let wrong = station.gpu.is_some_and(|gpu| self.now > gpu.lies_after);
            match job {
                Task::Code(block) | Task::Again(block) if self.input.verify => {
                    let task = Task::Verify(block, id, wrong);
                    self.state.submit(clock, task, attributes(self.input.block, true, Some(id)), false);
                }
                Task::Verify(block, maker, true) => {
                    self.state.blame(maker);
                    self.outcome.again += 1;
                    let how = attributes(self.input.block, true, Some(maker));
                    self.state.submit(clock, Task::Again(block), how, false);
                    continue;
                }
                Task::Code(block) | Task::Again(block) | Task::Verify(block, ..) => self.complete(block),
            }
            self.outcome.by_cores += usize::from(station.gpu.is_none() && matches!(job, Task::Code(_)));
        }
        self.state.finish(clock, id, (bytes, 0), Vec::new(), false);
        if self.blocked {
            self.at(self.now, Event::Arrive);
        }
    }

    fn complete(&mut self, block: usize) {
        assert!(!std::mem::replace(&mut self.finished[block], true), "block {block} was done twice");
        self.done += 1;
        self.on_their_way -= 1;
        self.outcome.end = self.now;
    }
}

fn run(machine: &Machine, input: Input) -> Outcome {
    World::new(machine, input).run()
}

/// The seconds that the cores alone take.
fn cores_alone(machine: &Machine, input: Input) -> f64 {
    run(&Machine { gpus: Vec::new(), ..machine.clone() }, input).end
}
