//! One speed: a program, a direction, a number of threads, with or without GPUs.

use super::input::{Input, Shared};
use super::peer::Peer;
use crate::cli::args::{Mode, Plan};
use crate::cli::limits;
use hybz::flow::{self, Inputs, LONG_FILE, Outputs, Source, Task};
use hybz::{Error, Pool, StreamSummary, Summary};
use std::io::{self, Cursor, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rounds after which a cell is done in any case: of a small input a round takes microseconds.
const MAX_ROUNDS: usize = 1000;
/// Rounds that are run even if the time for them may be exceeded a little.
const GOOD_ROUNDS: usize = 3;

/// One speed, and what is known of it so far.
pub struct Cell {
    pub who: Who,
    pub direction: Mode,
    /// How long each round took.
    pub times: Vec<Duration>,
    /// What the stations did in the last round; of another program nothing is known.
    pub stations: Option<Summary>,
    /// The length of the compressed bytes.
    pub coded_len: usize,
    /// What another program compressed the text to in its first round, which was verified.
    first: Option<Vec<u8>>,
    pub failure: Option<String>,
}

/// Who does the work.
pub enum Who {
    Hybz { threads: usize, gpus: bool },
    Peer { peer: Arc<Peer>, threads: usize },
}

impl Cell {
    pub fn new(who: Who, direction: Mode) -> Cell {
        let (times, stations, coded_len, first, failure) = Default::default();
        Cell { who, direction, times, stations, coded_len, first, failure }
    }

    /// The program.
    pub fn program(&self) -> &str {
        match &self.who {
            Who::Hybz { .. } => "hybz",
            Who::Peer { peer, .. } => &peer.name,
        }
    }

    pub fn threads(&self) -> usize {
        match self.who {
            Who::Hybz { threads, .. } | Who::Peer { threads, .. } => threads,
        }
    }

    pub fn gpus(&self) -> bool {
        matches!(self.who, Who::Hybz { gpus: true, .. })
    }

    pub fn is_ours(&self) -> bool {
        matches!(self.who, Who::Hybz { .. })
    }

    /// The direction as a word.
    pub fn work(&self) -> &'static str {
        if self.direction == Mode::Compress { "compress" } else { "decompress" }
    }

    /// What it is called in messages.
    pub fn title(&self) -> String {
        let gpus = if self.gpus() { " and GPUs" } else { "" };
        format!("{} with {}{gpus}, {}", self.program(), in_words(self.threads()), self.work())
    }

    /// Whether it is to run once more, if each cell has so much time.
    pub fn goes_on(&self, time: Duration) -> bool {
        let (rounds, spent) = (self.times.len(), self.times.iter().sum::<Duration>());
        let next = spent.checked_div(rounds as u32).unwrap_or_default();
        let in_time = spent + next <= time || (rounds < GOOD_ROUNDS && spent < time);
        self.failure.is_none() && rounds < MAX_ROUNDS && (rounds == 0 || in_time)
    }

    /// Runs it once, and verifies what comes out. Returns how many bytes it read.
    pub fn run(&mut self, plan: &Plan, input: &Input) -> u64 {
        let (from, to) = match self.direction {
            Mode::Compress => (&input.text, &input.coded),
            _ => (&input.coded, &input.text),
        };
        let done = match &self.who {
            Who::Hybz { threads, gpus } => {
                hybz(plan, self.direction, *threads, *gpus, from, &to.0).map(|(time, summary)| {
                    self.stations = Some(summary);
                    self.coded_len = input.coded.0.len();
                    time
                })
            }
            Who::Peer { peer, threads } => {
                let run = peer.run(plan.level, self.direction, *threads, &from.0);
                run.and_then(|(time, result)| {
                    if self.direction == Mode::Compress {
                        self.coded_len = result.len();
                        self.verify_coded(plan, input, result)?;
                    } else if result != *to.0 {
                        return Err("its output is not the text".to_owned());
                    } else {
                        self.coded_len = from.0.len();
                    }
                    Ok(time)
                })
            }
        };
        match done {
            Ok(time) => self.times.push(time),
            Err(failure) => self.failure = Some(failure),
        }
        from.0.len() as u64
    }

    /// What another program wrote must become the text again. Its later results are mostly its first.
    fn verify_coded(&mut self, plan: &Plan, input: &Input, result: Vec<u8>) -> Result<(), String> {
        if self.first.as_ref() == Some(&result) {
            return Ok(());
        }
        let result = Shared(Arc::new(result));
        match decompressed(plan, &result, false) {
            Ok(text) if text == *input.text.0 => {
                self.first = Arc::try_unwrap(result.0).ok();
                Ok(())
            }
            Ok(_) => Err("its output is not that of the text".to_owned()),
            Err(error) => Err(format!("its output cannot be decompressed: {error}")),
        }
    }

    /// The median, the shortest and the longest time; nothing if it failed.
    pub fn figures(&self) -> Option<[Duration; 3]> {
        if self.failure.is_some() || self.times.is_empty() {
            return None;
        }
        let mut times = self.times.clone();
        times.sort_unstable();
        let middle = times.len() / 2;
        let median = if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2 };
        Some([median, times[0], times[times.len() - 1]])
    }
}

/// A number of threads.
pub fn in_words(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// The text as hybz compresses it, on all cores.
pub fn compressed(plan: &Plan, text: &Shared) -> Result<Vec<u8>, Error> {
    once(plan, task(plan, Mode::Compress), text)
}

/// The opposite.
pub fn decompressed(plan: &Plan, coded: &Shared, trailing_garbage: bool) -> Result<Vec<u8>, Error> {
    once(plan, Task::Decompress { trailing_garbage }, coded)
}

fn task(plan: &Plan, direction: Mode) -> Task {
    match direction {
        Mode::Compress => plan.large_blocks.map_or(Task::Compress(plan.level), Task::CompressLarge),
        _ => Task::Decompress { trailing_garbage: plan.trailing_garbage },
    }
}

fn once(plan: &Plan, task: Task, input: &Shared) -> Result<Vec<u8>, Error> {
    let pool = pool(plan, limits::threads(plan)).build();
    let mut collected = Collected { bytes: Vec::new(), outcome: Err(Error::NotBzip2) };
    flow::run(&pool, One::new(task, input), &mut collected);
    collected.outcome.map(|_| collected.bytes)
}

fn pool(plan: &Plan, threads: NonZeroUsize) -> hybz::PoolBuilder {
    let pool = Pool::builder().threads(threads).max_memory(limits::share_of_memory());
    match plan.memory {
        Some(memory) => pool.memory(memory),
        None => pool,
    }
}

/// hybz as the command does it: the start of the pool is timed, its end is not.
fn hybz(
    plan: &Plan,
    direction: Mode,
    threads: usize,
    gpus: bool,
    from: &Shared,
    to: &[u8],
) -> Result<(Duration, Summary), String> {
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let lanes = if gpus { limits::lanes_for(plan, direction, Some(from.0.len() as u64)) } else { Vec::new() };
    let input = One::new(task(plan, direction), from);
    let mut compared = Compared { expected: to, outcome: Err(Error::NotBzip2) };
    let started = Instant::now();
    let pool = lanes.iter().fold(pool(plan, threads), |pool, lanes| pool.gpus(lanes)).build();
    flow::run(&pool, input, &mut compared);
    let time = started.elapsed();
    match compared.outcome {
        Ok(_) => Ok((time, pool.summary())),
        Err(Error::Write(e)) => Err(e.to_string()),
        Err(error) => Err(format!("{error}")),
    }
}

/// A single input in memory. A long one is read as the command reads long files: by several threads if that helps.
struct One(Option<flow::Input<()>>, u64);

impl One {
    fn new(task: Task, bytes: &Shared) -> One {
        let len = bytes.0.len() as u64;
        let source = match task {
            Task::Compress(_) | Task::CompressLarge(_) if len >= LONG_FILE => Source::File(Arc::new(bytes.clone()), 0),
            _ => Source::Stream(Box::new(Cursor::new(bytes.clone()))),
        };
        One(Some(flow::Input { meta: (), task, count_lines: false, source }), len)
    }
}

impl Inputs for One {
    type Meta = ();

    fn next_input(&mut self) -> Option<flow::Input<()>> {
        self.0.take()
    }

    fn expected_bytes(&self) -> Option<u64> {
        Some(self.1)
    }
}

/// Keeps what comes out.
struct Collected {
    bytes: Vec<u8>,
    outcome: Result<StreamSummary, Error>,
}

impl Outputs for Collected {
    type Meta = ();
    type Out = Vec<u8>;

    fn begin(&mut self, (): &mut ()) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn end(&mut self, (): (), bytes: Vec<u8>, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        (self.bytes, self.outcome) = (bytes, outcome);
        ControlFlow::Continue(())
    }
}

/// Compares what comes out. This takes about as long as the system takes to copy what is written to a pipe.
struct Compared<'a> {
    expected: &'a [u8],
    outcome: Result<StreamSummary, Error>,
}

/// What is still expected.
struct Rest<'a>(&'a [u8]);

impl Write for Rest<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.split_at_checked(bytes.len()) {
            Some((expected, rest)) if expected == bytes => {
                self.0 = rest;
                Ok(bytes.len())
            }
            _ => Err(io::Error::other("its output is wrong: a defect of hybz")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> Outputs for Compared<'a> {
    type Meta = ();
    type Out = Rest<'a>;

    fn begin(&mut self, (): &mut ()) -> Option<Rest<'a>> {
        Some(Rest(self.expected))
    }

    fn end(&mut self, (): (), rest: Rest<'a>, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        self.outcome = match outcome {
            Ok(_) if !rest.0.is_empty() => Err(Error::Write(io::Error::other("its output is cut: a defect of hybz"))),
            outcome => outcome,
        };
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(millis: &[u64]) -> Cell {
        let times = millis.iter().map(|&millis| Duration::from_millis(millis)).collect();
        Cell { times, ..Cell::new(Who::Hybz { threads: 1, gpus: false }, Mode::Compress) }
    }

    #[test]
    fn medians() {
        let millis = |cell: Cell| cell.figures().map(|figures| figures.map(|time| time.as_millis()));
        assert_eq!(millis(cell(&[3, 1, 2])), Some([2, 1, 3]));
        assert_eq!(millis(cell(&[4, 1, 2, 10])), Some([3, 1, 10]));
        assert_eq!(millis(cell(&[])), None);
        assert_eq!(millis(Cell { failure: Some("no".to_owned()), ..cell(&[1]) }), None);
    }

    #[test]
    fn rounds() {
        let second = Duration::from_secs(1);
        assert!(cell(&[]).goes_on(Duration::ZERO) && !cell(&[5]).goes_on(Duration::ZERO));
        assert!(cell(&[600]).goes_on(second) && !cell(&[600, 600]).goes_on(second));
        assert!(cell(&[100; 9]).goes_on(second) && !cell(&[100; 10]).goes_on(second));
        assert!(!cell(&[1200]).goes_on(second) && !cell(&[0; 1000]).goes_on(second));
        assert!(!Cell { failure: Some("no".to_owned()), ..cell(&[1]) }.goes_on(second));
    }

    #[test]
    fn wrong_bytes_are_found() {
        let mut rest = Rest(b"abc");
        assert!(rest.write(b"ab").is_ok() && rest.write(b"d").is_err() && rest.write(b"cd").is_err());
    }
}
