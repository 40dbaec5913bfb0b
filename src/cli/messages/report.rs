//! `--json`: an account of the call for programs, one object for each file and a summary, as docs/JSON.md has them.
//!
//! The objects of files come in the order of the operands, each when its file is done: when the result has its name and
//! the source is removed, or when the file has failed. They are written line by line, not kept until the end, so a
//! monitor can follow them and a crash loses none. When a signal ends the process, its handler writes a summary of the
//! work so far; a report without a summary comes from a killed process.

use crate::cli::args::{Action, FilesMode, ReportPlace};
use crate::cli::messages::counts::Line;
use crate::cli::messages::json::{self, Object, SCHEMA};
use crate::cli::messages::tally::Tally;
use hybz::internals::formats::Blocks;
use hybz::{Format, StationReport, StreamInfo, StreamSummary, Summary};
use hybz_files::file::wait_writable;
use hybz_files::signals;
use hybz_files::stdout;
use hybz_files::temporary;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The beginning of every report.
const BEGINNING: &[u8] = b"{\"schema\":";
/// The maximum number of stream CRCs listed: a file may have a million streams.
const MAX_CRCS: usize = 1000;

/// The report of one call.
pub struct Report {
    place: OsString,
    totals: Arc<Totals>,
    /// Failures since the last object.
    failures: Mutex<Vec<Trouble>>,
    /// Failures that belong to no file.
    apart: Mutex<Vec<Trouble>>,
    /// Whether the report could not be written.
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
    /// [`OPEN`], or the writer of the summary, which may have written it already.
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

/// The report's data about a file.
pub struct Entry {
    name: OsString,
    opened: Instant,
    /// The format of the stream at its beginning.
    format: Option<Format>,
    crcs: Vec<u32>,
    /// The name of the result, or `-`.
    result: Option<OsString>,
    /// The whole file's, if the work on it went well.
    stream: Option<StreamSummary>,
    /// Whether there was nothing to do.
    complete: bool,
    /// A failure for which no message is printed.
    unsaid: Option<Trouble>,
}

/// A failure: an exit code and a text.
type Trouble = (u8, Vec<u8>);

impl Entry {
    /// Begins one, if there is to be a report.
    pub fn new(mode: &FilesMode, name: &OsStr) -> Option<Box<Entry>> {
        mode.report.as_ref()?;
        let format = mode.coding.map(|coding| coding.encoding.format());
        let (opened, crcs, result, stream) = (Instant::now(), Vec::new(), None, None);
        let (complete, unsaid) = (false, None);
        Some(Box::new(Entry { name: name.to_owned(), opened, format, crcs, result, stream, complete, unsaid }))
    }

    /// A stream of the file has ended.
    pub fn stream(&mut self, stream: &StreamInfo) {
        self.format.get_or_insert(stream.format);
        if self.crcs.len() < MAX_CRCS && stream.format.blocks() == Blocks::Listed {
            self.crcs.push(stream.combined_crc);
        }
    }

    /// The stream ended, with or without an error; the last steps of the result are still to come.
    pub fn ended(&mut self, result: Option<&OsStr>, stream: Option<&StreamSummary>) {
        (self.result, self.stream) = (result.map(OsStr::to_owned), stream.copied());
    }

    /// The file's `result` was there already, and right.
    pub fn complete(&mut self, result: &OsStr) {
        (self.result, self.complete) = (Some(result.to_owned()), true);
    }

    /// The file failed, and no message says so.
    pub fn failed_in_silence(&mut self, code: u8, text: &[u8]) {
        self.unsaid = Some((code, text.to_owned()));
    }
}

impl Report {
    /// Opens the report of `work` at its place. `operands` is the number of operands, if known. An existing file that
    /// is not a report gives the error "invalid data".
    pub fn open(
        place: &ReportPlace,
        work: &'static str,
        operands: Option<u64>,
        tally: &Arc<Tally>,
    ) -> io::Result<Report> {
        let file = match place {
            ReportPlace::Stderr => io::stderr().as_fd().try_clone_to_owned()?.into(),
            ReportPlace::Stdout => stdout::duplicate()?,
            ReportPlace::File(path) => open_file(path)?,
        };
        let totals = Totals {
            file,
            work,
            operands,
            tally: Arc::clone(tally),
            started: Instant::now(),
            torn: AtomicBool::new(false),
            state: AtomicU8::new(OPEN),
            numbers: Default::default(),
        };
        let (totals, failures, unwritable) = (Arc::new(totals), Mutex::default(), AtomicBool::new(false));
        Ok(Report { place: place.name().to_owned(), totals, failures, apart: Mutex::default(), unwritable })
    }

    /// The report's name in error messages.
    pub fn place(&self) -> &OsStr {
        &self.place
    }

    /// Has the summary written if a signal ends the process.
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

    /// Writes the object of a file.
    pub fn file(&self, entry: &Entry) -> io::Result<()> {
        let mut failures = std::mem::take(&mut *lock(&self.failures));
        failures.extend(entry.unsaid.clone());
        let mut object = Object::of_file("file", &entry.name);
        object.put("work", self.totals.work);
        object.put("status", status(entry, !failures.is_empty()));
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
        put_failures(&mut object, &failures, 0);
        self.totals.wait_if_ending();
        self.totals.count(entry, !failures.is_empty());
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
        let Totals { work, operands, started, tally, numbers, .. } = &*self.totals;
        let mut object = Object::new("summary");
        object.put("version", env!("CARGO_PKG_VERSION"));
        object.put("work", *work);
        object.put("operands", *operands);
        for (key, number) in NUMBERS.iter().zip(numbers) {
            object.put(key, number.load(Relaxed));
        }
        object.put("skipped", tally.skipped());
        let stations = pool.map_or(&[][..], |pool| &pool.stations);
        object.put("fallbacks", stations.iter().map(|station| station.fallbacks).sum::<u64>());
        object.put("stations", stations.iter().map(station).collect::<Value>());
        object.put("seconds", json::seconds(started.elapsed()));
        object.put("interrupted", broken);
        object.put("signal", broken.then_some(libc::SIGPIPE));
        let mut failures = std::mem::take(&mut *lock(&self.apart));
        failures.append(&mut lock(&self.failures));
        put_failures(&mut object, &failures, code);
        self.write(&object.line())
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
    /// Counts a file.
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
        let mut line = Line::default();
        if self.torn.load(Relaxed) {
            line.push(b"\n");
        }
        let work = self.work;
        // A line has room for more numbers than these.
        let _ = write!(line, r#"{{"schema":{SCHEMA},"type":"summary","version":"{}","#, env!("CARGO_PKG_VERSION"));
        let _ = write!(line, r#""work":"{work}","operands":"#);
        let _ = match self.operands {
            Some(operands) => write!(line, "{operands}"),
            None => line.write_str("null"),
        };
        for (key, number) in NUMBERS.iter().zip(&self.numbers) {
            let _ = write!(line, r#","{key}":{}"#, number.load(Relaxed));
            if *key == "files" {
                let _ = write!(line, r#","skipped":{}"#, self.tally.skipped());
            }
        }
        let time = self.started.elapsed();
        let (seconds, micros) = (time.as_secs(), time.subsec_micros());
        let _ =
            write!(line, r#","fallbacks":null,"stations":null,"seconds":{seconds}.{micros:06},"interrupted":true,"#);
        let _ = match signal {
            0 => writeln!(line, r#""signal":null,"exit":1,"error":"out of memory"}}"#),
            signal => writeln!(line, r#""signal":{signal},"exit":{}}}"#, 128 + signal),
        };
        signals::write_at_once(self.file.as_fd(), line.bytes());
    }
}

/// Opens a report to append to it. An existing regular file must be empty or a report.
fn open_file(path: &Path) -> io::Result<File> {
    let found = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0);
    if found {
        let mut head = Vec::new();
        File::open(path)?.take(BEGINNING.len() as u64).read_to_end(&mut head)?;
        if head != BEGINNING {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    let mut file = File::options().append(true).create(true).open(path)?;
    // A process that was killed may have left half a line.
    if found && !ends_with_line(path)? {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

fn ends_with_line(path: &Path) -> io::Result<bool> {
    let mut last = [0];
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// The outcome of a file in one word.
fn status(entry: &Entry, failed: bool) -> &'static str {
    match failed {
        true => "failed",
        false if entry.complete => "complete",
        false => "done",
    }
}

/// The action in one word.
pub fn work_name(action: Action) -> &'static str {
    match action {
        Action::Compress => "compress",
        Action::Decompress => "decompress",
        Action::Test => "test",
    }
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

fn put_failures(object: &mut Object, failures: &[Trouble], code: u8) {
    let code = failures.iter().map(|(code, _)| *code).fold(code, u8::max);
    let texts: Vec<&[u8]> = failures.iter().map(|(_, text)| &text[..]).collect();
    object.put_exit(code, (!texts.is_empty()).then(|| texts.join(&b'\n')).as_deref());
}
