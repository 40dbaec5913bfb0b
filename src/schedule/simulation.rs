//! The scheduler against machines that are not there: the real [`State`] and the real rule, with a simulated clock.
//!
//! A lane does a batch in a fixed time and a time for each byte; a core does one block. Nothing is lost or done twice
//! in any of these, and each scenario says how long it may take.

use super::job::{Accepts, Class};
use super::policy::Expected;
use super::state::{Actions, CrewPlan, Id, State, Taken, Wish};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

const CLASS: Class = Class(0);
const BLOCK: f64 = 900e3;

fn wish(bytes: f64, second_stage: bool) -> Wish {
    Wish { class: CLASS, bytes: bytes as u64, second_stage, avoid: None }
}

/// Lanes of one device.
#[derive(Clone, Copy)]
struct Gpu {
    lanes: usize,
    /// Bytes a second, all lanes together.
    rate: f64,
    max_batch: usize,
    /// Seconds until the lanes are there, or have failed to be.
    start: f64,
    fails_to_start: bool,
    /// Seconds after which every batch takes this long and then fails, for good.
    hangs: Option<(f64, f64)>,
}

/// Batches of 29 MB by eight lanes in 87 ms each: 2.65 GB/s.
const H200: Gpu = Gpu { lanes: 8, rate: 3e9, max_batch: 32, start: 0.6, fails_to_start: false, hangs: None };

#[derive(Clone)]
struct Machine {
    cores: usize,
    /// Bytes a second of each core.
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
    /// Bytes a second at which it can be read.
    read_rate: f64,
    announced: bool,
    /// Blocks that may be on their way.
    window: usize,
}

impl Input {
    fn of(bytes: f64) -> Input {
        let blocks = (bytes / BLOCK).ceil() as usize;
        Input { blocks, block: BLOCK, read_rate: 10e9, announced: true, window: 1200 }
    }
}

#[derive(Debug)]
struct Outcome {
    /// Seconds until the last block was done.
    end: f64,
    by_cores: usize,
    by_gpus: usize,
    started_gpus: usize,
    /// When the first of them was started.
    gpus_from: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrive,
    Ready(Id),
    Done(Id),
    Ask(Id),
}

/// What an H200 does, fixed times included.
const H200_RATE: f64 = 2.65e9;

/// One station of the simulated machine.
#[derive(Clone, Copy)]
struct Station {
    gpu: Option<Gpu>,
    rate: f64,
    ready: bool,
    gone: bool,
    holding: (usize, f64),
}

struct World {
    machine: Machine,
    input: Input,
    state: State<usize>,
    stations: Vec<Station>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    now: f64,
    arrived: usize,
    on_their_way: usize,
    done: usize,
    by_cores: usize,
    started_gpus: usize,
    gpus_from: f64,
    /// The jobs that each station holds, for those that fail.
    held: Vec<Vec<usize>>,
    finished: Vec<bool>,
    last_done: f64,
    /// The reader waits for room.
    blocked: bool,
}

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

impl World {
    fn new(machine: &Machine, input: Input) -> World {
        let mut state = State::new(vec![30e6], machine.cores, Accepts::Everything, machine.hardware);
        for gpu in &machine.gpus {
            let expected = Expected { rate: 1e9, start: Duration::from_millis(600), end: Duration::from_millis(300) };
            let accepts = Accepts::Only(&[CLASS]);
            state.add_crew(CrewPlan { accepts, members: gpu.lanes, expected, at_once: false, started: false });
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
            by_cores: 0,
            started_gpus: 0,
            gpus_from: f64::INFINITY,
            held: Vec::new(),
            finished: vec![false; input.blocks],
            last_done: 0.0,
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
                Event::Ask(id) => self.ask(id),
            }
        }
        assert!(self.finished.iter().all(|&finished| finished));
        let by_gpus = self.done - self.by_cores;
        let World { last_done: end, by_cores, started_gpus, gpus_from, .. } = self;
        Outcome { end, by_cores, by_gpus, started_gpus, gpus_from }
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
        let actions = self.state.submit(clock, job, wish(self.input.block, false), more);
        self.act(actions);
        let next = self.now + self.input.block / self.input.read_rate;
        self.at(next, Event::Arrive);
    }

    fn act(&mut self, actions: Actions) {
        if let Some(id) = actions.wake {
            self.at(self.now, Event::Ask(id));
        }
        for crew in actions.start_crews {
            let gpu = self.machine.gpus[crew];
            self.started_gpus += 1;
            self.gpus_from = self.gpus_from.min(self.now);
            for _ in 0..gpu.lanes {
                let (id, accelerator) = self.state.add_member(self.clock(), crew);
                assert!(accelerator);
                self.add(id, Some(gpu), gpu.rate / gpu.lanes as f64);
                self.at(self.now + gpu.start, Event::Ready(id));
            }
        }
        if actions.start_core {
            let (id, _) = self.state.add_core(self.clock());
            self.add(id, None, self.machine.core_rate);
            self.at(self.now, Event::Ready(id));
        }
    }

    fn add(&mut self, id: Id, gpu: Option<Gpu>, rate: f64) {
        assert_eq!(id, self.stations.len());
        self.stations.push(Station { gpu, rate, ready: false, gone: false, holding: (0, 0.0) });
        self.held.push(Vec::new());
    }

    fn ready(&mut self, id: Id) {
        let station = &mut self.stations[id];
        if station.gpu.is_some_and(|gpu| gpu.fails_to_start) {
            return self.depart(id);
        }
        station.ready = true;
        let max_batch = station.gpu.map_or(1, |gpu| gpu.max_batch);
        self.state.ready(id, max_batch, u64::MAX);
        self.ask(id);
    }

    /// As `queue` does it: all others look again, and the last station for something goes on as a core.
    fn depart(&mut self, id: Id) {
        self.stations[id].gone = true;
        self.state.depart(id);
        if self.state.is_short() {
            self.state.go_on_as_core(id);
            let rate = self.machine.core_rate;
            self.stations[id] = Station { gpu: None, rate, ready: true, gone: false, ..self.stations[id] };
        }
        for id in 0..self.stations.len() {
            self.at(self.now, Event::Ask(id));
        }
    }

    fn ask(&mut self, id: Id) {
        let station = self.stations[id];
        if !station.ready || station.gone || !self.held[id].is_empty() {
            return;
        }
        let (clock, more) = (self.clock(), self.more_comes());
        match self.state.take(clock, id, more) {
            Taken::Jobs(jobs) => {
                let bytes = jobs.len() as f64 * self.input.block;
                let time = match station.gpu {
                    Some(Gpu { hangs: Some((after, time)), .. }) if self.now >= after => time,
                    Some(_) => 0.01 + bytes / station.rate,
                    None => bytes / station.rate,
                };
                self.stations[id].holding = (jobs.len(), bytes);
                self.held[id] = jobs.into_iter().map(|entry| entry.job).collect();
                self.at(self.now + time, Event::Done(id));
            }
            Taken::LeftToOthers(time, other) => {
                self.at(self.now + time.as_secs_f64(), Event::Ask(id));
                if let Some(other) = other {
                    self.at(self.now, Event::Ask(other));
                }
            }
            Taken::Nothing => {}
            Taken::Closed => panic!("nobody has closed it"),
        }
    }

    fn finish(&mut self, id: Id) {
        let (station, jobs) = (self.stations[id], std::mem::take(&mut self.held[id]));
        if station.gpu.is_some_and(|gpu| gpu.hangs.is_some_and(|(after, _)| self.now > after)) {
            let clock = self.clock();
            self.state.done(clock, id, 0, 0);
            for job in jobs {
                let actions = self.state.submit(clock, job, wish(self.input.block, true), false);
                self.act(actions);
            }
            return self.depart(id);
        }
        self.state.done(self.clock(), id, station.holding.1 as u64, 0);
        for job in &jobs {
            assert!(!std::mem::replace(&mut self.finished[*job], true), "block {job} was done twice");
        }
        self.done += jobs.len();
        self.on_their_way -= jobs.len();
        self.last_done = self.now;
        if station.gpu.is_none() {
            self.by_cores += jobs.len();
        }
        if self.blocked {
            self.at(self.now, Event::Arrive);
        }
        self.ask(id);
    }
}

fn run(machine: &Machine, input: Input) -> Outcome {
    World::new(machine, input).run()
}

/// Seconds that the cores alone take.
fn cores_alone(machine: &Machine, input: Input) -> f64 {
    run(&Machine { gpus: Vec::new(), ..machine.clone() }, input).end
}

#[test]
fn cores_alone_share_evenly() {
    let machine = Machine::new(16, 45e6, &[]);
    let outcome = run(&machine, Input::of(1e9));
    let ideal = 1e9 / (16.0 * 45e6);
    assert!(outcome.end < ideal * 1.03 && outcome.by_cores == 1112, "{outcome:?}, ideal {ideal}");
}

/// Whatever the length, the cores never hold the end up; and a GPU is started where that pays.
#[test]
fn a_gpu_that_is_five_times_all_cores() {
    let machine = Machine::new(16, 40e6, &[H200]);
    for (gigabytes, starts) in [(0.1, false), (0.4, false), (1.0, true), (2.0, true), (8.0, true), (24.0, true)] {
        let input = Input::of(gigabytes * 1e9);
        let outcome = run(&machine, input);
        assert_eq!(outcome.started_gpus > 0, starts, "{gigabytes} GB: {outcome:?}");
        let alone = cores_alone(&machine, input);
        // Until the GPU has started the cores work; then it does, at least, at its own rate.
        let with_gpu = 0.65 + (input.blocks as f64 * BLOCK - 0.6 * 16.0 * 40e6) / H200_RATE;
        let most = if starts { with_gpu + 0.12 } else { alone };
        assert!(outcome.end <= most * 1.01, "{gigabytes} GB: {outcome:?}, at most {most}");
    }
}

#[test]
fn a_gpu_that_is_half_a_core() {
    let weak = Gpu { rate: 20e6, max_batch: 4, lanes: 2, ..H200 };
    let machine = Machine::new(8, 40e6, &[weak]);
    for gigabytes in [1.0, 4.0] {
        let input = Input::of(gigabytes * 1e9);
        let outcome = run(&machine, input);
        // Half of the cores rest for the 0.6 s in which it starts, because nobody knows yet how slow it is; and one
        // batch of such a lane, 0.4 s, may be the last. No more than that is lost.
        let alone = cores_alone(&machine, input);
        assert!(outcome.end < alone * 1.01 + 0.3 + 0.4, "{outcome:?}, cores alone {alone}");
        assert!(outcome.by_cores > input.blocks * 9 / 10, "{outcome:?}");
    }
}

#[test]
fn one_core_beside_a_gpu() {
    for core_rate in [2e6, 40e6] {
        let machine = Machine { hardware: 16, ..Machine::new(1, core_rate, &[H200]) };
        let input = Input::of(8e9);
        let outcome = run(&machine, input);
        // A slow core takes half a second for a block: never the last one.
        assert!(outcome.end < 0.7 + 8e9 / H200_RATE + 0.15, "{outcome:?}");
        assert!(outcome.by_gpus > input.blocks * 9 / 10, "{outcome:?}");
    }
}

#[test]
fn four_gpus_and_64_cores() {
    let machine = Machine::new(64, 30e6, &[H200; 4]);
    let input = Input { window: 5000, read_rate: 14e9, ..Input::of(24e9) };
    let outcome = run(&machine, input);
    assert_eq!(outcome.started_gpus, 4);
    assert!(outcome.end < 0.65 + (24e9 - 0.6 * 64.0 * 30e6) / (4.0 * H200_RATE) + 0.2, "{outcome:?}");
    // What the cores began, they began mostly before the GPUs were there.
    assert!(outcome.by_cores < input.blocks / 4, "{outcome:?}");
}

/// Cores do zeros as fast as they can be read: then a GPU would only cost its start.
#[test]
fn cheap_work_needs_no_gpu() {
    let machine = Machine::new(16, 2e9, &[H200]);
    let outcome = run(&machine, Input { read_rate: 2.5e9, ..Input::of(2e9) });
    assert_eq!(outcome.started_gpus, 0, "{outcome:?}");
}

/// The source is the bottleneck, not the cores.
#[test]
fn a_slow_pipe_needs_no_gpu() {
    let machine = Machine::new(16, 45e6, &[H200]);
    let outcome = run(&machine, Input { read_rate: 200e6, announced: false, ..Input::of(4e9) });
    assert_eq!(outcome.started_gpus, 0, "{outcome:?}");
}

/// Of a pipe nobody knows how long it is: as much is expected as has come.
#[test]
fn a_fast_pipe_gets_its_gpu() {
    let machine = Machine::new(16, 45e6, &[H200]);
    let input = Input { announced: false, window: 200, ..Input::of(8e9) };
    let outcome = run(&machine, input);
    assert!(outcome.started_gpus == 1 && outcome.end < 0.6 * cores_alone(&machine, input), "{outcome:?}");
}

/// Of blocks of 9 MB neither the first to be done, nor the last core to be given one, is waited for.
#[test]
fn long_blocks_get_their_gpu_at_once() {
    let machine = Machine::new(32, 30e6, &[H200]);
    let input = Input { blocks: 900, block: 9e6, read_rate: 1.2e9, announced: true, window: 64 };
    let outcome = run(&machine, input);
    assert!(outcome.gpus_from < 0.05, "{outcome:?}");
    // But where they come slowly the cores keep up.
    let slow = run(&machine, Input { read_rate: 300e6, ..input });
    assert_eq!(slow.started_gpus, 0, "{slow:?}");
}

/// A core would take 10 s for it: the block waits for the GPU, which is started at once; if that fails, a core does it.
#[test]
fn one_long_block() {
    for fails_to_start in [false, true] {
        let gpu = Gpu { max_batch: 1, rate: 8e9, fails_to_start, ..H200 };
        let input = Input { blocks: 1, block: 400e6, ..Input::of(1.0) };
        let outcome = run(&Machine::new(16, 40e6, &[gpu]), input);
        let expected = if fails_to_start { 10.6 } else { 1.02 };
        assert!(outcome.end < expected * 1.02 && outcome.by_cores == usize::from(fails_to_start), "{outcome:?}");
    }
}

#[test]
fn gpus_that_fail_or_hang() {
    for (fails_to_start, hangs) in [(true, None), (false, Some((1.0, 0.5))), (false, Some((0.0, 5.0)))] {
        for cores in [0, 16] {
            let gpu = Gpu { fails_to_start, hangs, ..H200 };
            let machine = Machine::new(cores, 45e6, &[gpu]);
            let input = Input::of(3e9);
            let outcome = run(&machine, input);
            let alone = if cores > 0 { cores_alone(&machine, input) } else { 3e9 / 45e6 };
            // Cores do what a hanging device holds when its time is up, and the rest in the meantime.
            assert!(outcome.end < alone * 1.05 + 6.0, "{fails_to_start} {hangs:?} {cores} cores: {outcome:?}, {alone}");
        }
    }
}

/// A second device is for much work only, also when both could be started at once.
#[test]
fn a_second_gpu_is_worth_its_start() {
    let machine = Machine::new(16, 45e6, &[H200; 2]);
    for (gigabytes, count) in [(2.0, 1), (24.0, 2)] {
        assert_eq!(run(&machine, Input::of(gigabytes * 1e9)).started_gpus, count, "{gigabytes} GB");
    }
}
