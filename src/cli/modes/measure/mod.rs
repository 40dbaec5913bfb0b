//! `--measure`: how repetitive files are, as a table or as JSON.
//!
//! A file is measured by one thread. Several threads measure several files at a time, within the allowed memory. The
//! bytes of a file are measured unchanged; with `-d`, the text of a compressed file ([`input`]). Lines come in the
//! order of the files ([`table`]). Long files go to a GPU, if there is one ([`gpu`]).

mod gpu;
mod input;
mod table;

use crate::cli::args::Plan;
use crate::cli::messages::{Failure, Messages, Note, Outcome};
use crate::cli::modes::{limits, print};
use gpu::Gpu;
use hybz::Pool;
use hybz::schedule::{Client, Permit};
use hybz_factor::{MAX_TEXT, Measures, Step, measure_in_steps, memory_needed};
use hybz_files::quote::shown;
use hybz_files::stdout;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The measurements of a file.
pub struct FileMeasures {
    found: Result<Measures, Failure>,
    times: Times,
}

/// The times that the measurement took.
#[derive(Clone, Default)]
struct Times {
    /// Time to read it, and to decode it if requested.
    read: Duration,
    sort: Duration,
    neighbours: Duration,
    parse: Duration,
    /// If a GPU measured the file: how long it took, and in which steps.
    gpu: Option<(Duration, String)>,
    /// Time since the file was opened.
    all: Duration,
}

/// Measures the plan's files.
pub fn measure(plan: Plan) -> anyhow::Result<Outcome> {
    let plan = Arc::new(plan);
    let messages = Messages::new(&plan);
    let threads = limits::threads(&plan, None).get();
    limits::choose_memory(&plan, threads == 1);
    let memory = plan.memory.unwrap_or_else(|| hybz::schedule::memory_of_machine() / 2);
    let budget = Pool::builder().without_cpu().memory(memory).build().client();
    let workers = threads.min(plan.operands.len());
    let next = AtomicUsize::new(0);
    let gpu = Gpu::new(&plan);
    let shown = Mutex::default();
    let measurer = Arc::new(Measurer { plan, messages, budget, gpu, next, shown, progress: Mutex::default() });
    let outcome = measurer.all(workers);
    measurer.messages.progress.end();
    outcome
}

struct Measurer {
    plan: Arc<Plan>,
    messages: Messages,
    /// The client of a pool that has only a memory budget.
    budget: Client,
    gpu: Gpu,
    /// The first operand that no thread has taken.
    next: AtomicUsize,
    shown: Mutex<Shown>,
    /// The number of bytes done in all files, and the part of it in files that were complete when the last file ended.
    progress: Mutex<(u64, u64)>,
}

/// What has been printed.
#[derive(Default)]
struct Shown {
    /// The first operand whose measurements have not been printed.
    next: usize,
    /// Measurements of operands after that one.
    early: BTreeMap<usize, FileMeasures>,
    total: table::Total,
}

impl Measurer {
    /// Measures all operands with `workers` threads, which print what they find.
    fn all(self: &Arc<Self>, workers: usize) -> anyhow::Result<Outcome> {
        let is_table = self.plan.json.is_none();
        if let Some(end) = print(&self.messages, &if is_table { table::head() } else { Vec::new() })? {
            return Ok(end);
        }
        let (sender, ends) = channel();
        let mut threads = Vec::new();
        for _ in 0..if workers > 1 { workers } else { 0 } {
            let (this, sender) = (Arc::clone(self), sender.clone());
            threads.extend(thread::Builder::new().spawn(move || this.work(&sender)));
        }
        // If no thread can be started, this one does all the work.
        if threads.is_empty() {
            self.work(&sender);
        }
        drop(sender);
        if let Ok(end) = ends.recv() {
            return end; // the process ends without the threads
        }
        // The threads have finished, but hold references to the progress.
        threads.into_iter().for_each(|thread| drop(thread.join()));
        let sums = if is_table { lock(&self.shown).total.line() } else { Vec::new() };
        Ok(print(&self.messages, &sums)?.unwrap_or_else(|| Outcome::Exit(self.messages.code())))
    }

    /// Takes operands until there is none, or stdout can take no more: `sender` then gets the end of the call.
    fn work(&self, sender: &Sender<anyhow::Result<Outcome>>) {
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            if number >= self.plan.operands.len() {
                return;
            }
            if let Some(end) = self.show(number, self.one(number)).transpose() {
                return drop(sender.send(end));
            }
        }
    }

    /// Measures an operand. A panic is a defect of hybz; it has already printed where it happened.
    fn one(&self, number: usize) -> FileMeasures {
        let started = Instant::now();
        let mut times = Times::default();
        let found = panic::catch_unwind(AssertUnwindSafe(|| self.measured(number, &mut times)));
        times.all = started.elapsed();
        self.operand_done();
        let defect = || Failure::about(3, "", self.plan.operands[number].name(), ": a defect of hybz.");
        FileMeasures { found: found.unwrap_or_else(|_| Err(defect())), times }
    }

    /// Prints the measurements of an operand, after those of the operands before: the table or objects on stdout, the
    /// rest to stderr.
    fn show(&self, number: usize, found: FileMeasures) -> anyhow::Result<Option<Outcome>> {
        let mut shown = lock(&self.shown);
        shown.early.insert(number, found);
        loop {
            let next = shown.next;
            let Some(FileMeasures { found, times }) = shown.early.remove(&next) else { return Ok(None) };
            shown.next += 1;
            let name = self.plan.operands[next].name();
            let mut text = Vec::new();
            if self.plan.json.is_some() {
                text = table::object(self.plan.decompress, name, &found, &times);
            }
            match found {
                Ok(measures) => {
                    shown.total.add(&measures);
                    if self.plan.json.is_none() {
                        text = table::line(&measures, name, stdout::is_terminal());
                    }
                    if self.plan.verbose > 0 {
                        let line = [self.messages.line_start(name), table::times(&measures, &times)].concat();
                        self.messages.print(&Note::Line(line));
                    }
                }
                Err(failure) => self.messages.print(&Note::Failure(failure)),
            }
            if let Some(end) = print(&self.messages, &text)? {
                return Ok(Some(end));
            }
        }
    }

    fn measured(&self, number: usize, times: &mut Times) -> Result<Measures, Failure> {
        let name = self.plan.operands[number].name();
        let started = Instant::now();
        let (file, len) = input::open(&self.plan, &self.plan.operands[number])?;
        let (text, permit) = self.text(name, file, len)?;
        times.read = started.elapsed();
        let mut last = Instant::now();
        let mut lap = || std::mem::replace(&mut last, Instant::now()).elapsed();
        // A file counts with its own length, not with the length of its decompressed text.
        let (bytes, counts) = (text.len() as u64, len.unwrap_or(text.len() as u64));
        match self.gpu.measure(&text) {
            Ok(Some((measures, steps))) => {
                times.gpu = Some((lap(), steps));
                self.advance(name, counts);
                return Ok(measures);
            }
            Ok(None) => {}
            Err(why) => {
                let remark = format!(": a GPU failed ({why}); a core measures it");
                self.messages.print(&Note::Remark([shown(name).as_bytes(), remark.as_bytes()].concat()));
            }
        }
        let mut told = 0;
        let found = measure_in_steps(&text, &mut |step| {
            match step {
                Step::Sorted => times.sort = lap(),
                Step::Neighbours => times.neighbours = lap(),
                Step::Parsed(_) => times.parse += lap(),
            }
            let done = (share(step, bytes) * counts as f64) as u64;
            self.advance(name, done - told);
            told = done;
        });
        drop(permit);
        found.map_err(|error| Failure::about(1, "", name, &format!(": {error}.")))
    }

    /// Reads the text to measure from an open file, whose length is `len` if known. Also returns the permit for the
    /// text and its measurement.
    fn text(&self, name: &OsStr, file: File, len: Option<u64>) -> Result<(Vec<u8>, Permit), Failure> {
        let limit = self.budget.pool().budget().limit();
        if let Some(len) = len.filter(|_| !self.plan.decompress) {
            if len > MAX_TEXT as u64 {
                return Err(too_long(name));
            }
            if with_text(len) > limit {
                return Err(self.no_room(name, Some(len)));
            }
            let permit = self.budget.permit(with_text(len));
            return Ok((input::plain(name, file, len)?, permit));
        }
        // Text from a pipe or a decoder may have any length: it gets all of the memory, while other files wait.
        let mut permit = self.budget.permit(limit);
        let each = with_text(1) - with_text(0);
        let max = (limit.saturating_sub(with_text(0)) / each).min(MAX_TEXT as u64);
        let text = match self.plan.decompress {
            true => input::decoded(&self.plan, name, file, &limits::pool(&self.plan), max)?,
            false => input::to_the_end(name, file, max)?,
        };
        let Some(text) = text else {
            return Err(if max == MAX_TEXT as u64 { too_long(name) } else { self.no_room(name, None) });
        };
        permit.shrink(with_text(text.len() as u64));
        Ok((text, permit))
    }

    /// Records that `bytes` more are done.
    fn advance(&self, name: &OsStr, bytes: u64) {
        let mut progress = lock(&self.progress);
        progress.0 += bytes;
        self.messages.progress.advance(name, progress.0 - progress.1);
    }

    fn operand_done(&self) {
        let mut progress = lock(&self.progress);
        self.messages.progress.input_done(Some(progress.0 - progress.1));
        progress.1 = progress.0;
    }

    /// A file (of this length, if it is known) needs more memory than is allowed.
    fn no_room(&self, name: &OsStr, len: Option<u64>) -> Failure {
        let allowed = self.budget.pool().budget().limit() >> 20;
        let limit = if self.plan.memory.is_some() { "-m allows" } else { "there may be" };
        // The numbers are rounded so that `-m` with the first of them is enough.
        let needs = len.map_or("more".to_owned(), |len| format!("{} MB of", with_text(len).div_ceil(1 << 20)));
        let text = format!(": measuring it needs {needs} memory, and {limit} {allowed} MB.");
        Failure::about(1, "", name, &text)
    }
}

/// The share of the work on `bytes` that is done after this step, for a typical file of text.
fn share(step: Step, bytes: u64) -> f64 {
    match step {
        Step::Sorted => 0.5,
        Step::Neighbours => 0.8,
        Step::Parsed(at) if at == bytes => 1.0,
        Step::Parsed(at) => 0.8 + 0.2 * at as f64 / bytes as f64,
    }
}

/// The memory for a text of this length and for measuring it.
fn with_text(len: u64) -> u64 {
    memory_needed(len).saturating_add(len)
}

fn too_long(name: &OsStr) -> Failure {
    Failure::about(1, "", name, &format!(" is too long: at most {MAX_TEXT} bytes can be measured."))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
