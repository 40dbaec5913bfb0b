//! `--json`: an account of the call for programs, one object for each file and a summary, as in docs/JSON.md.
//!
//! The objects of files come in the order of the operands, each when its file is done: when the result has its name and
//! the source is removed, or when the file has failed. They are written line by line, not kept until the end, so a
//! monitor can follow them and a crash loses none. When a signal ends the process, its handler writes a summary of the
//! work so far; a report without a summary comes from a killed process.

use crate::cli::args::Plan;
use crate::cli::messages::counts::{bytes, line};
use crate::cli::messages::json::{self, Object, SCHEMA};
use crate::cli::messages::{Tally, errno_text};
use anyhow::anyhow;
use hybz::internals::formats::Blocks;
use hybz::{Format, StationReport, StreamInfo, StreamSummary, Summary};
use hybz_files::file::wait_writable;
use hybz_files::quote::shown;
use hybz_files::{signals, stdout, temporary};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fmt::{self, Display};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const BEGINNING: &[u8] = b"{\"schema\":";
/// The maximum number of stream CRCs listed: a file may have a million streams.
const MAX_CRCS: usize = 1000;

pub struct Report {
    pub place: OsString,
    totals: Arc<Totals>,
    /// Failures since the last object.
    failures: Mutex<Vec<Trouble>>,
    /// Failures that belong to no file.
    apart: Mutex<Vec<Trouble>>,
    unwritable: AtomicBool,
}

/// The totals that a signal handler can read.
struct Totals {
    file: File,
    work: &'static str,
    operands: Option<u64>,
    tally: Arc<Tally>,
    started: Instant,
    /// The beginning of a line is written, but not yet its end.
    torn: AtomicBool,
    /// [`OPEN`], or who writes the summary; it may be written already.
    state: AtomicU8,
    numbers: [AtomicU64; NUMBERS.len()],
}

/// The numbers of a summary. All but the first three are sums over the files that went well.
const NUMBERS: [&str; 9] =
    ["files", "failed", "complete", "bytes_in", "bytes_out", "blocks", "streams", "verified", "recoded"];

const OPEN: u8 = 0;
const CLOSED: u8 = 1;
/// The process is being ended, by a signal or for lack of memory.
const ENDING: u8 = 2;

pub struct Entry {
    name: OsString,
    opened: Instant,
    /// The format of the stream at the beginning of the file.
    format: Option<Format>,
    crcs: Vec<u32>,
    /// The name of the result, or `-`.
    pub result: Option<OsString>,
    /// The summary of the whole file, if the work on it went well.
    pub stream: Option<StreamSummary>,
    /// Whether there was nothing to do: the result was there already, and right.
    pub complete: bool,
    /// A failure for which no message is printed.
    pub unsaid: Option<Trouble>,
}

/// A failure: an exit code and a text.
type Trouble = (u8, Vec<u8>);

impl Entry {
    pub fn new(plan: &Plan, name: &OsStr) -> Option<Box<Entry>> {
        plan.json.as_ref()?;
        let format = plan.coding.map(|coding| coding.encoding.format());
        let (opened, crcs, result, stream) = (Instant::now(), Vec::new(), None, None);
        let (complete, unsaid) = (false, None);
        Some(Box::new(Entry { name: name.to_owned(), opened, format, crcs, result, stream, complete, unsaid }))
    }

    pub fn add(&mut self, stream: &StreamInfo) {
        self.format.get_or_insert(stream.format);
        if self.crcs.len() < MAX_CRCS && stream.format.blocks() == Blocks::Listed {
            self.crcs.push(stream.combined_crc);
        }
    }
}

impl Report {
    pub fn open(plan: &Plan, tally: &Arc<Tally>) -> anyhow::Result<Option<Report>> {
        let Some(file) = &plan.json else { return Ok(None) };
        let (name, opened) = match file.as_bytes() {
            b"" => (OsStr::new("(stderr)"), io::stderr().as_fd().try_clone_to_owned().map(File::from)),
            b"-" => (OsStr::new("(stdout)"), stdout::duplicate()),
            _ => (&**file, open_file(Path::new(file))),
        };
        let shown = shown(name);
        let file = opened.map_err(|e| match e.kind() {
            io::ErrorKind::InvalidData => {
                anyhow!("File {} is not a report: nothing is appended to it.", shown.display())
            }
            _ => anyhow!("Can't open report {}: {}.", shown.display(), errno_text(&e)),
        })?;
        let totals = Totals {
            file,
            work: plan.kind.work(),
            operands: plan.count(),
            tally: Arc::clone(tally),
            started: Instant::now(),
            torn: AtomicBool::new(false),
            state: AtomicU8::new(OPEN),
            numbers: Default::default(),
        };
        let (totals, failures, unwritable) = (Arc::new(totals), Mutex::default(), AtomicBool::new(false));
        Ok(Some(Report { place: name.to_owned(), totals, failures, apart: Mutex::default(), unwritable }))
    }

    pub fn speak_at_the_end(&self) -> io::Result<()> {
        let totals = Arc::clone(&self.totals);
        temporary::speak_at_the_end(Box::new(move |signal| totals.last_words(signal)))
    }

    /// Records a failure of the file whose object comes next. If the summary comes next, or if the failure stands
    /// `apart`, it belongs to no file.
    pub fn failed(&self, code: u8, text: &[u8], apart: bool) {
        let mut failures = if apart { lock(&self.apart) } else { lock(&self.failures) };
        failures.push((code, text.to_owned()));
    }

    pub fn file(&self, entry: &Entry) -> io::Result<()> {
        let mut failures = std::mem::take(&mut *lock(&self.failures));
        failures.extend(entry.unsaid.clone());
        let failed = !failures.is_empty();
        let mut object = Object::of_file("file", &entry.name);
        object.put("work", self.totals.work);
        let status = if entry.complete { "complete" } else { "done" };
        object.put("status", if failed { "failed" } else { status });
        object.put("format", entry.format.map(Format::name));
        match &entry.result {
            Some(name) => object.put_name("result", name),
            None => object.put("result", Value::Null),
        }
        if let Some(stream) = &entry.stream {
            object.put("bytes_in", stream.bytes_in);
            object.put("bytes_out", stream.bytes_out);
            object.put("blocks", stream.blocks);
            object.put("streams", stream.streams);
            object.put("crcs", entry.crcs.iter().map(|crc| json::crc(*crc)).collect::<Value>());
            object.put("trailing_garbage", stream.trailing_garbage);
            object.put("verified", stream.verified_blocks);
            object.put("recoded", stream.recoded_blocks);
        }
        object.put("seconds", json::seconds(entry.opened.elapsed()));
        let (code, text) = together(&failures, 0);
        object.put_exit(code, text.as_deref());
        self.totals.wait_if_ending();
        self.totals.count(entry, failed);
        self.write(&object.line())
    }

    /// Writes the summary of a call that ends with `code`, unless it is written already; `broken` says that the reader
    /// of stdout was gone.
    pub fn summary(&self, pool: Option<&Summary>, code: u8, broken: bool) -> io::Result<()> {
        let was = self.totals.state.compare_exchange(OPEN, CLOSED, SeqCst, SeqCst);
        self.totals.wait_if_ending();
        if was.is_err() {
            return Ok(());
        }
        let stations = pool.map_or(&[][..], |pool| &pool.stations);
        let fallbacks: u64 = stations.iter().map(|station| station.fallbacks).sum();
        let stations: Value = stations.iter().map(station).collect();
        let mut failures = std::mem::take(&mut *lock(&self.apart));
        failures.append(&mut lock(&self.failures));
        let (code, error) = together(&failures, code);
        let error = error.map(|text| Value::from(&*String::from_utf8_lossy(&text)));
        let mut line = Vec::new();
        // Writing into memory does not fail.
        let _ = self.totals.summarize(
            &mut line,
            (&OrNull(Some(fallbacks)), &stations),
            (broken, broken.then_some(libc::SIGPIPE)),
            code.into(),
            error.as_ref().map(|error| error as _),
        );
        self.write(&json::line(&String::from_utf8_lossy(&line)))
    }

    /// After an error nothing more is written, because text after half a line could not be parsed.
    fn write(&self, line: &[u8]) -> io::Result<()> {
        if self.unwritable.load(Relaxed) {
            return Ok(());
        }
        self.totals.write(line).inspect_err(|_| self.unwritable.store(true, Relaxed))
    }
}

impl Totals {
    fn count(&self, entry: &Entry, failed: bool) {
        let add = |(to, number): (&AtomicU64, u64)| {
            to.fetch_add(number, Relaxed);
        };
        self.numbers.iter().zip([1, u64::from(failed), u64::from(entry.complete)]).for_each(add);
        if let Some(stream) = &entry.stream {
            let StreamSummary { bytes_in, bytes_out, blocks, streams, verified_blocks, recoded_blocks, .. } = *stream;
            let sums = [bytes_in, bytes_out, blocks, streams, verified_blocks, recoded_blocks];
            self.numbers[3..].iter().zip(sums).for_each(add);
        }
    }

    /// While the process is being ended, nothing is written after the summary. A thread that wants to write waits for
    /// the end of the process: otherwise it would go on and remove more sources without an object about them.
    fn wait_if_ending(&self) {
        while self.state.load(SeqCst) == ENDING {
            thread::sleep(Duration::from_secs(1));
        }
    }

    /// Writes a line with one system call, unless it is too long for a pipe.
    fn write(&self, mut line: &[u8]) -> io::Result<()> {
        while !line.is_empty() {
            match (&self.file).write(line) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => line = &line[written..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait_writable(&self.file)?,
                Err(e) => return Err(e),
            }
            self.torn.store(!line.is_empty(), Relaxed);
        }
        Ok(())
    }

    /// The summary of the work done until a signal came or, if the signal is 0, memory ran out. The signal handler
    /// calls this function, so it cannot list stations.
    fn last_words(&self, signal: i32) {
        if self.state.compare_exchange(OPEN, ENDING, SeqCst, SeqCst).is_err() {
            return;
        }
        let mut line = line();
        if self.torn.load(Relaxed) {
            let _ = line.write_all(b"\n");
        }
        let (signal, exit, error): (_, _, Option<&dyn Display>) = match signal {
            0 => (None, 1, Some(&r#""out of memory""#)),
            signal => (Some(signal), 128 + signal, None),
        };
        // The line's buffer is long enough for these numbers.
        let _ = self.summarize(&mut line, (&"null", &"null"), (true, signal), exit, error);
        let _ = line.write_all(b"\n");
        signals::write_at_once(self.file.as_fd(), bytes(&line));
    }

    /// Writes a summary. A signal handler calls this function, so nothing here allocates or takes a lock.
    fn summarize(
        &self,
        to: &mut impl Write,
        (fallbacks, stations): (&dyn Display, &dyn Display),
        (interrupted, signal): (bool, Option<i32>),
        exit: i32,
        error: Option<&dyn Display>,
    ) -> io::Result<()> {
        let Totals { work, operands, tally, numbers, started, .. } = self;
        write!(to, r#"{{"schema":{SCHEMA},"type":"summary","version":"{}","#, env!("CARGO_PKG_VERSION"))?;
        write!(to, r#""work":"{work}","operands":{}"#, OrNull(*operands))?;
        for (key, number) in NUMBERS.iter().zip(numbers) {
            write!(to, r#","{key}":{}"#, number.load(Relaxed))?;
        }
        let (time, skipped) = (started.elapsed(), tally.skipped());
        let (seconds, micros) = (time.as_secs(), time.subsec_micros());
        write!(to, r#","skipped":{skipped},"fallbacks":{fallbacks},"stations":{stations},"seconds":{seconds}."#)?;
        write!(to, r#"{micros:06},"interrupted":{interrupted},"signal":{},"exit":{exit}"#, OrNull(signal))?;
        error.map_or(Ok(()), |error| write!(to, r#","error":{error}"#))?;
        to.write_all(b"}")
    }
}

struct OrNull<T>(Option<T>);

impl<T: Display> Display for OrNull<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(number) => number.fmt(f),
            None => f.write_str("null"),
        }
    }
}

/// Opens a report to append to it. An existing regular file must be empty or a report.
fn open_file(path: &Path) -> io::Result<File> {
    let found = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0);
    let (mut head, mut last) = (Vec::new(), [b'\n']);
    if found {
        let mut file = File::open(path)?;
        (&mut file).take(BEGINNING.len() as u64).read_to_end(&mut head)?;
        if head != BEGINNING {
            return Err(io::ErrorKind::InvalidData.into());
        }
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let mut file = File::options().append(true).create(true).open(path)?;
    // A process that was killed may have left half a line.
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

fn station(station: &StationReport) -> Value {
    let StationReport { name, accelerator, blocks, finished, bytes_in, bytes_out, fallbacks, .. } = station;
    json!({
        "name": name, "accelerator": accelerator, "blocks": blocks, "finished": finished, "bytes_in": bytes_in,
        "bytes_out": bytes_out, "busy": json::seconds(station.busy), "waited": json::seconds(station.waited),
        "fallbacks": fallbacks, "wrong": station.wrong, "failure": station.failure, "retired": station.retired,
    })
}

fn lock(failures: &Mutex<Vec<Trouble>>) -> MutexGuard<'_, Vec<Trouble>> {
    failures.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The highest of `code` and the exit codes of these failures, and the failures' texts, if there are any.
fn together(failures: &[Trouble], code: u8) -> (u8, Option<Vec<u8>>) {
    let texts: Vec<&[u8]> = failures.iter().map(|(_, text)| &text[..]).collect();
    let code = failures.iter().map(|(code, _)| *code).fold(code, u8::max);
    (code, (!texts.is_empty()).then(|| texts.join(&b'\n')))
}
