//! `--measure`: how repetitive files are, as a table or as JSON.
//!
//! A file is measured by one thread. Several threads measure several files at a time, within the allowed memory. The
//! bytes of a file are measured unchanged; with `-d`, the text of a compressed file. Lines come in the order of the
//! files ([`table`]). Long files go to a GPU, if there is one ([`gpu`]).

mod gpu;
mod table;

use crate::cli::args::{Operand, Plan};
use crate::cli::files::{Reader, source_file};
use crate::cli::messages::{Failure, Messages, Note};
use crate::cli::modes::{limits, print, read_all, undecoded};
use crossbeam_channel::{Sender, bounded};
use gpu::Gpu;
use hybz::read::MultiBzDecoder;
use hybz::schedule::{Client, Permit};
use hybz::{Error, Pool, Settings};
use hybz_factor::{MAX_TEXT, Measures, Step, measure_in_steps, memory_needed};
use hybz_files::quote::{for_terminal, shown};
use hybz_files::stdout;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub struct FileMeasures {
    found: Result<Measures, Failure>,
    times: Times,
}

#[derive(Clone, Default)]
struct Times {
    /// How long each step took, for people.
    steps: String,
    by_gpu: bool,
    /// Time since the file was opened.
    all: Duration,
}

pub fn measure(plan: Plan) -> anyhow::Result<u8> {
    let plan = Arc::new(plan);
    let messages = Messages::new(&plan);
    let threads = limits::threads(&plan).get();
    limits::choose_memory(&plan, threads == 1);
    let memory = plan.memory.unwrap_or_else(|| hybz::schedule::memory_of_machine() / 2);
    let budget = Pool::builder().without_cpu().memory(memory).build().client();
    let (next, gpu, progress) = (AtomicUsize::new(0), Gpu::new(plan.gpus.clone()), Mutex::default());
    let measurer = Arc::new(Measurer { plan, messages, budget, gpu, next, progress });
    let outcome = measurer.all(threads);
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
    /// The number of bytes done in all files, now and at the time when a file last ended.
    progress: Mutex<(u64, u64)>,
}

impl Measurer {
    /// Measures all operands with up to `threads` threads, and prints the results. If stdout can take no more, the
    /// process ends without waiting for the threads.
    fn all(self: &Arc<Self>, threads: usize) -> anyhow::Result<u8> {
        let (operands, is_table) = (&self.plan.operands, self.plan.json.is_none());
        print(&self.messages, &if is_table { table::head() } else { Vec::new() })?;
        let (senders, ends): (Vec<_>, Vec<_>) = operands.iter().map(|_| bounded(1)).unzip();
        let (senders, workers) = (Arc::new(senders), threads.min(operands.len()));
        let spawn = |_: &usize| {
            let (this, senders) = (Arc::clone(self), Arc::clone(&senders));
            thread::Builder::new().spawn(move || this.work(&senders)).is_ok()
        };
        let workers = if workers > 1 { (0..workers).filter(spawn).count() } else { 0 };
        let (mut files, mut sum) = (0, Measures::default());
        for (number, end) in ends.iter().enumerate() {
            let found = if workers > 0 { end.recv()? } else { self.one(number) };
            if let Ok(measures) = &found.found {
                files += 1;
                table::add(&mut sum, measures);
            }
            self.show(operands[number].name(), found)?;
        }
        let name = format!("({files} files)");
        let sums = if is_table && files > 1 { table::line(&sum, true, OsStr::new(&name)) } else { Vec::new() };
        print(&self.messages, &sums)?;
        Ok(self.messages.code())
    }

    fn work(&self, ends: &[Sender<FileMeasures>]) {
        while let number = self.next.fetch_add(1, Relaxed)
            && let Some(end) = ends.get(number)
        {
            let _ = end.send(self.one(number)); // the receiver waits
        }
    }

    /// Measures an operand. A panic is a defect of hybz; it has already printed where it happened.
    fn one(&self, number: usize) -> FileMeasures {
        let started = Instant::now();
        let mut times = Times::default();
        let found = panic::catch_unwind(AssertUnwindSafe(|| self.measured(number, &mut times)));
        times.all = started.elapsed();
        let mut progress = lock(&self.progress);
        self.messages.progress.counts.input_done(Some(progress.0 - progress.1));
        progress.1 = progress.0;
        let defect = || Failure::about(3, "", self.plan.operands[number].name(), ": a defect of hybz.");
        FileMeasures { found: found.unwrap_or_else(|_| Err(defect())), times }
    }

    fn show(&self, name: &OsStr, FileMeasures { found, times }: FileMeasures) -> anyhow::Result<()> {
        let text = match (&self.plan.json, &found) {
            (Some(_), _) => table::object(self.plan.decompress, name, &found, &times),
            (None, Ok(measures)) => table::line(measures, false, &for_terminal(name, stdout::is_terminal())),
            (None, Err(_)) => Vec::new(),
        };
        match found {
            Ok(measures) if self.plan.verbose > 0 => {
                let line = [self.messages.line_start(name), table::times(&measures, &times)].concat();
                self.messages.print(&Note::Line(line));
            }
            Ok(_) => {}
            Err(failure) => self.messages.print(&Note::Failure(failure)),
        }
        print(&self.messages, &text)
    }

    fn measured(&self, number: usize, times: &mut Times) -> Result<Measures, Failure> {
        let name = self.plan.operands[number].name();
        let started = Instant::now();
        let (file, len) = open(&self.plan, &self.plan.operands[number])?;
        let (text, permit) = self.text(name, file, len)?;
        let mut last = Instant::now();
        times.steps = format!("read in {:.2} s", (last - started).as_secs_f64());
        let mut lap = || std::mem::replace(&mut last, Instant::now()).elapsed().as_secs_f64();
        // A file counts with its own length, not with the length of its decompressed text.
        let (bytes, counts) = (text.len() as u64, len.unwrap_or(text.len() as u64));
        match self.gpu.measure(&text) {
            Ok(Some((measures, steps))) => {
                times.by_gpu = true;
                times.steps += &format!(", by a GPU in {:.2} ({steps})", lap());
                self.advance(name, counts);
                return Ok(measures);
            }
            Ok(None) => {}
            Err(why) => {
                let remark = format!(": a GPU failed ({why}); a core measures it");
                self.messages.print(&Note::Remark([shown(name).as_bytes(), remark.as_bytes()].concat()));
            }
        }
        let (mut told, mut parsing) = (0, 0.0);
        let found = measure_in_steps(&text, &mut |step| {
            match step {
                Step::Sorted => times.steps += &format!(", sorted in {:.2}", lap()),
                Step::Neighbours => times.steps += &format!(", neighbours in {:.2}", lap()),
                Step::Parsed(_) => parsing += lap(),
            }
            let done = (share(step, bytes) * counts as f64) as u64;
            self.advance(name, done - told);
            told = done;
        });
        times.steps += &format!(", factors in {parsing:.2}");
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
            return Ok((plain(name, file, len)?, permit));
        }
        // Text from a pipe or a decoder may have any length: it gets all of the memory, while other files wait.
        let mut permit = self.budget.permit(limit);
        let each = with_text(1) - with_text(0);
        let max = (limit.saturating_sub(with_text(0)) / each).min(MAX_TEXT as u64);
        let text = match self.plan.decompress {
            true => {
                let settings = Settings::new().pool(&limits::pool(&self.plan));
                let settings = settings.trailing_garbage(self.plan.trailing_garbage);
                let decoder = MultiBzDecoder::with_settings(Reader::new(file), &settings);
                let failed = |error: Error| undecoded(&self.plan, name, &error);
                read_all(decoder, max).map_err(|e| failed(e.downcast().unwrap_or_else(Error::Read)))?
            }
            false => read_all(Reader::new(file), max).map_err(|e| Failure::input("read", name, &e))?,
        };
        let Some(text) = text else {
            return Err(if max == MAX_TEXT as u64 { too_long(name) } else { self.no_room(name, None) });
        };
        permit.shrink(with_text(text.len() as u64));
        Ok((text, permit))
    }

    fn advance(&self, name: &OsStr, bytes: u64) {
        let mut progress = lock(&self.progress);
        progress.0 += bytes;
        self.messages.progress.advance(name, progress.0 - progress.1);
    }

    /// The failure of a file (of this length, if known) that needs more memory than is allowed.
    fn no_room(&self, name: &OsStr, len: Option<u64>) -> Failure {
        let allowed = self.budget.pool().budget().limit() >> 20;
        let limit = if self.plan.memory.is_some() { "-m allows" } else { "there may be" };
        // The numbers are rounded so that passing the first one to `-m` is enough.
        let needs = len.map_or("more".to_owned(), |len| format!("{} MB of", with_text(len).div_ceil(1 << 20)));
        let text = format!(": measuring it needs {needs} memory, and {limit} {allowed} MB.");
        Failure::about(1, "", name, &text)
    }
}

/// Opens an operand as `-l` does: without waiting for the writer of a FIFO, and only files, unless forced. The second
/// value is its length, if it is known.
fn open(plan: &Plan, operand: &Operand) -> Result<(File, Option<u64>), Failure> {
    let name = operand.name();
    let (_, file) = source_file::open(plan, operand, "read data from", plan.force)?;
    let found = file.metadata().map_err(|e| Failure::input("read", name, &e))?;
    if found.is_dir() {
        return Err(Failure::about(1, "Input file ", name, " is a directory."));
    }
    // Stdin may be in the middle of a file, and files of /proc say that they are empty.
    let whole = matches!(operand, Operand::File(_)) && found.is_file() && found.len() > 0;
    Ok((file, whole.then_some(found.len())))
}

/// Reads a file that had `len` bytes when it was opened, and no more than that if it grows.
fn plain(name: &OsStr, file: File, len: u64) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let room = text.try_reserve_exact(len as usize).map_err(|_| io::ErrorKind::OutOfMemory.into());
    let read = room.and_then(|()| Reader::new(file).take(len).read_to_end(&mut text));
    read.map(|_| text).map_err(|e| Failure::input("read", name, &e))
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

fn with_text(len: u64) -> u64 {
    memory_needed(len).saturating_add(len)
}

fn too_long(name: &OsStr) -> Failure {
    Failure::about(1, "", name, &format!(" is too long: at most {MAX_TEXT} bytes can be measured."))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
