//! Operands become inputs: opened so that nothing hangs, checked in bzip2's order, their results named.
//!
//! A file is opened first (without waiting for the other end of a FIFO, and without following a link that bzip2 would
//! not follow). All checks are then made on the open file, so the file that is read is the one that was checked.

use crate::cli::args::{Kind, Operand, Plan, Target};
use crate::cli::files::{
    Destination, Found, IndexJob, Job, OperandIter, Pending, Place, Preconditions, Reader, Ready, SourceFile, State,
    appended, ending, id, list_of, original_name, stdin,
};
use crate::cli::messages::formats::COPY_HEAD_LEN;
use crate::cli::messages::{Entry, Failure, Messages, Skipped};
use crate::cli::modes::run::ranges::Parts;
use crate::cli::modes::run::{part, resume};
use crate::cli::modes::{decompress, limits, shard};
use hybz::flow::{Input, Inputs, Source, Task};
use hybz::internals::formats::IndexKind;
use hybz::{Formats, Pool};
use hybz_files::quote::shown;
use hybz_files::{file, tree};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Read};
use std::os::unix::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The minimum length of files whose frames state their length.
const LONG: u64 = 1 << 20;

pub struct Operands {
    plan: Arc<Plan>,
    messages: Arc<Messages>,
    pool: Pool,
    iter: OperandIter,
    preconditions: Preconditions,
    woken: bool,
    /// Set if operands are left when `--fail-fast` ends the work.
    stopped: Arc<AtomicBool>,
}

/// What to do with an operand, and its bytes.
type Work = (Task, Source);

/// No work: the operand only keeps its place in the order.
fn nothing() -> Work {
    (Task::Skip, Source::Stream(Box::new(io::empty())))
}

impl Operands {
    pub fn new(
        plan: Arc<Plan>,
        messages: Arc<Messages>,
        iter: OperandIter,
        pool: &Pool,
        stopped: Arc<AtomicBool>,
    ) -> Self {
        let (preconditions, pool) = (Preconditions::new(&plan), pool.clone());
        Operands { plan, messages, pool, iter, preconditions, woken: false, stopped }
    }

    fn job(&self, name: OsString, entry: Option<Box<Entry>>) -> Job {
        Job { name, remark: None, state: State::Own, index: None, entry, pending: self.preconditions.locks.begin() }
    }

    fn input(&self, job: Job, (task, source): Work) -> Input<Job> {
        Input { count_lines: job.index.is_some(), meta: job, task, verify: self.plan.verified, source }
    }

    /// The input for a file, or `None` if the file is one of hybz's own.
    fn prepared(&mut self, found: &Found) -> Option<Input<Job>> {
        let name = found.operand.name().to_owned();
        let entry = Entry::new(&self.plan, &name);
        let mut job = self.job(name, entry);
        let work = match self.open(found, &mut job) {
            Ok(Some(file)) => self.work(&found.operand, file, &mut job),
            Ok(None) if matches!(job.state, State::Own) => {
                self.messages.tally.skip(Skipped::Own);
                return None;
            }
            Ok(None) => {
                self.messages.tally.skip(Skipped::Complete);
                Ok(nothing())
            }
            Err(failure) => {
                job.remark.take_if(|_| self.plan.formats == Formats::All); // of a name that is not used
                Err(failure)
            }
        };
        let work = work.unwrap_or_else(|failure| {
            job.state = State::Failed(failure);
            nothing()
        });
        Some(self.input(job, work))
    }

    fn work(&mut self, operand: &Operand, file: File, job: &mut Job) -> Result<Work, Failure> {
        let plan = &self.plan;
        let Job { state: State::Ready(ready), remark, pending, .. } = job else { return Ok(nothing()) };
        if !self.woken && limits::wake_driver(plan, &file) {
            self.woken = true;
            limits::huge_pages_for_texts(plan);
        }
        job.index = self.index(ready, pending)?;
        let (plan, name) = (&self.plan, operand.name());
        let copied = |reader: Box<dyn io::Read + Send>| Ok((Task::Copy, Source::Stream(reader)));
        match (plan.part.zip(plan.coding), &plan.ranges, plan.split) {
            (Some(((shard, file_len), coding)), ..) => {
                let text = shard::text(name, file, &shard, file_len)?;
                Ok((Task::Compress(coding.encoding), Source::File(Arc::new(text), shard.offset)))
            }
            (_, Some(ranges), _) => {
                let cursor = part::ranges(plan, &ranges.0, &self.pool, (operand, ready), file, remark)?;
                copied(Box::new(Parts::new(cursor, ranges.0.clone(), plan.lines, &ready.seen)))
            }
            (.., Some(split)) => copied(Box::new(part::split(plan, split, &self.pool, name, file)?)),
            _ => Ok(self.whole(ready, file)),
        }
    }

    fn whole(&self, ready: &Ready, file: File) -> Work {
        let Ready { source, destination, .. } = ready;
        let found = source.as_ref().map(|source| &source.found);
        let file_len = found.filter(|found| found.is_file()).map(Metadata::len);
        let mut reader = match found {
            Some(found) => Reader::of(file, found),
            None => Reader::new(file),
        };
        let plan = &self.plan;
        if let Some(coding) = plan.coding {
            // A frame states the length of a long file. (A short file's length is known once the file is read, and some
            // files that the kernel makes up have another length than they state.)
            let long = file_len.filter(|&len| len >= LONG);
            let encoding = long.map_or(coding.encoding, |len| coding.encoding.text_len(len));
            return (Task::Compress(encoding), reader.into_source());
        }
        if file_len.is_none() {
            reader = reader.noting(&ready.seen); // it cannot be read again
        }
        if plan.kind == Kind::Decompress && plan.force && matches!(destination, Destination::Stdout) {
            let head = reader.head(COPY_HEAD_LEN);
            let task = if plan.formats.may_begin_with(&head) { decompress(plan) } else { Task::Copy };
            return (task, Source::Stream(Box::new(io::Cursor::new(head).chain(reader))));
        }
        (decompress(plan), reader.into_source())
    }

    /// The index to make for an operand, if the index's name is free.
    fn index(&self, ready: &Ready, pending: &mut Pending) -> Result<Option<IndexJob>, Failure> {
        if !self.plan.writes_index() {
            return Ok(None);
        }
        let unnamed = Place::typed("");
        let compressed = match (self.plan.kind, &ready.destination, &ready.source) {
            (Kind::Compress, Destination::File(result), _) => result,
            (Kind::Compress, ..) | (_, _, None) => &unnamed, // its name was typed
            (_, _, Some(source)) => &source.place,
        };
        let path = self.plan.index_of(compressed.path());
        let place = match self.plan.names_index() {
            true => Place::near(path, ready.source.as_ref().map(|source| &source.place)),
            false => compressed.beside(path),
        };
        let job = IndexJob::new(place);
        let source = ready.source.as_ref().map(|source| &source.found);
        let replaced = job.check(compressed.path(), source, self.plan.force)?;
        if replaced.is_some_and(|found| self.preconditions.is_report(tree::id(&found))) {
            return Err(Failure::about(1, "Output file ", job.place.name(), " is the report."));
        }
        pending.touch(job.place.path(), replaced.iter().map(tree::id));
        Ok(Some(job))
    }

    /// Opens an operand, makes bzip2's checks in bzip2's order, and sets the state of its job. Returns the file if
    /// there is something to do with it.
    fn open(&mut self, found: &Found, job: &mut Job) -> Result<Option<File>, Failure> {
        let name = found.operand.name();
        let Job { remark, pending, state, .. } = job;
        if found.operand == Operand::Stdin {
            let (ready, file) = self.open_stdin(name, pending)?;
            *state = State::Ready(Box::new(ready));
            return Ok(Some(file));
        }
        let (mut place, typed) = (found.place.clone(), found.typed);
        let plan = Arc::clone(&self.plan);
        // Where nothing is made or removed and no index is used, the name is used only once.
        let goes_on = plan.target.makes_files() || plan.remove_sources || plan.ranges.is_some() || plan.index.is_some();
        let open_directory = |place: &mut Place| if goes_on { self.iter.open_directory(place) } else { Ok(()) };
        let opened = self.preconditions.open(&mut place, open_directory, pending);
        let place = &place;
        let opened = opened.map_err(|e| Failure::unopened(plan.kind, name, &e))?;
        let Some((file, found)) = self.check_source(place, name, typed, opened)? else { return Ok(None) };
        let destination = self.destination(place, remark)?;
        let guesses = remark.is_some() && plan.formats == Formats::All;
        if guesses && found.is_file() && !may_be_compressed(&file) {
            *remark = None; // the file will be refused, and needs no name
        }
        let makes_file = plan.writes_index() || matches!(destination, Destination::File(_));
        let resumes = plan.resume && found.is_file();
        match &destination {
            Destination::File(_) if resumes => {} // once its result is known not to be right
            Destination::File(result) => self.preconditions.result(result, &found, pending)?,
            Destination::Stdout => self.preconditions.stdout(name, &found)?,
            Destination::Nothing => {}
        }
        let refuses_links = plan.remove_sources && !plan.force && found.nlink() > 1;
        let others = if refuses_links { file::links(&file).unwrap_or(found.nlink()).saturating_sub(1) } else { 0 };
        if others > 0 {
            let text = format!(" has {others} other link{}.", if others == 1 { "" } else { "s" });
            return Err(Failure::about(1, "Input file ", name, &text));
        }
        let acl = if makes_file { list_of(&file) } else { None };
        let source = SourceFile { place: place.clone(), found, acl };
        if let Destination::File(result) = &destination {
            if resumes {
                if self.is_complete((&source, &file), result, pending)? {
                    *state = State::Complete { result: result.name().to_owned(), bytes: source.found.len() };
                    return Ok(None);
                }
                self.preconditions.result(result, &source.found, pending)?;
            }
            if plan.has_many() {
                let replaced = if plan.force { result.find().ok() } else { None };
                let removed = plan.remove_sources.then_some(id(&source.found));
                pending.touch(result.path(), removed.into_iter().chain(replaced.as_ref().map(tree::id)));
            }
        }
        *state = State::Ready(Box::new(Ready { source: Some(source), destination, seen: Arc::default() }));
        Ok(Some(file))
    }

    fn is_complete(&self, source: (&SourceFile, &File), result: &Place, pending: &Pending) -> Result<bool, Failure> {
        // An earlier operand may be about to make or replace it.
        if self.preconditions.locks.has_name(result.path()) {
            self.preconditions.locks.wait(pending);
        }
        resume::is_complete(&self.plan, &self.pool, source, result)
    }

    /// Refuses sources that are not files, or that are compressed already. Returns `None` for the report, unless it was
    /// typed.
    fn check_source(
        &self,
        place: &Place,
        name: &OsStr,
        typed: bool,
        (file, found): (Option<File>, Metadata),
    ) -> Result<Option<(File, Metadata)>, Failure> {
        let plan = &self.plan;
        let about =
            |parts: &[&[u8]]| Failure::new(1, [b"Input file ", shown(name).as_bytes(), &parts.concat()].concat());
        // Refused with -f too, as in bzip2: a nightly job with `-f *` must not wrap its own results.
        if plan.coding.is_some()
            && let Some((suffix, _, format)) = ending(place.path(), plan)
        {
            let beside = format.is_none_or(|format| format.index() == IndexKind::Beside);
            let hint: &[u8] = if plan.writes_index() && beside { b" Its index: -t --index." } else { b"" };
            return Err(about(&[b" already has ", suffix, b" suffix.", hint]).remark());
        }
        if found.is_dir() {
            let walked = plan.recursive; // all others are
            let link: &[u8] = b" is a symbolic link to a directory: not followed without -f.";
            return Err(about(&[if walked { link } else { b" is a directory." }]));
        }
        if self.preconditions.is_report(id(&found)) {
            return if typed { Err(about(&[b" is the report."])) } else { Ok(None) };
        }
        let file = match file {
            Some(file) if found.is_file() || !plan.target.makes_files() || plan.force => file,
            _ => return Err(about(&[b" is not a normal file."]).remark()),
        };
        if plan.rereads && !found.is_file() {
            return Err(about(&[b" is not a normal file: --verify=file cannot read it again."]));
        }
        Ok(Some((file, found)))
    }

    fn open_stdin(&mut self, name: &OsStr, pending: &Pending) -> Result<(Ready, File), Failure> {
        let read_error = |e| Failure::input("read", name, &e);
        let file = stdin().map_err(read_error)?;
        if self.plan.kind != Kind::Compress && file.is_terminal() {
            return Err(Failure::terminal(&self.plan.program, "read compressed data from"));
        }
        let found = file.metadata().map_err(read_error)?;
        let plan = Arc::clone(&self.plan);
        let destination = match &plan.target {
            Target::Nowhere => Destination::Nothing,
            Target::File(result) => {
                let result = self.typed_result(result, None)?;
                self.preconditions.result(&result, &found, pending)?;
                Destination::File(result)
            }
            _ => {
                self.preconditions.stdout(name, &found)?;
                Destination::Stdout
            }
        };
        Ok((Ready { source: None, destination, seen: Arc::default() }, file))
    }

    fn typed_result(&mut self, path: &Path, source: Option<&Place>) -> Result<Place, Failure> {
        let mut place = Place::near(path, source);
        let opened = self.iter.open_directory(&mut place);
        opened.map_err(|e| Failure::output("create", place.name(), &e))?;
        Ok(place)
    }

    fn destination(&mut self, source: &Place, remark: &mut Option<Vec<u8>>) -> Result<Destination, Failure> {
        let (path, plan) = (source.path(), Arc::clone(&self.plan));
        let result = match (&plan.target, plan.coding) {
            (Target::Nowhere, _) => return Ok(Destination::Nothing),
            (Target::Stdout, _) => return Ok(Destination::Stdout),
            (Target::File(result), _) => return self.typed_result(result, Some(source)).map(Destination::File),
            (Target::Beside | Target::Below(_), Some(coding)) => {
                let usual = coding.encoding.format().suffixes().first().map(|(suffix, _)| OsStr::new(suffix));
                appended(path, self.plan.suffix.as_deref().or(usual).unwrap_or_default())
            }
            (Target::Beside | Target::Below(_), None) => original_name(path, &self.plan).unwrap_or_else(|| {
                let guess = appended(path, OsStr::new(".out"));
                let (name, shown_guess) = (shown(path.as_os_str()), shown(guess.as_os_str()));
                let text: [&[u8]; 4] =
                    [b"Can't guess original name for ", name.as_bytes(), b" -- using ", shown_guess.as_bytes()];
                *remark = Some(text.concat());
                guess
            }),
        };
        self.iter.result(source, source.beside(result)).map(Destination::File)
    }
}

fn may_be_compressed(file: &File) -> bool {
    let mut head = [0; COPY_HEAD_LEN];
    file.read_at(&mut head, 0).is_ok_and(|len| len > 0 && Formats::All.may_begin_with(&head[..len]))
}

impl Inputs for Operands {
    type Meta = Job;

    fn next_input(&mut self) -> Option<Input<Job>> {
        loop {
            if self.plan.fail_fast && self.messages.code() > 0 {
                // Perhaps no operand after the failure was sent, so `Results` cannot tell that some are left.
                self.stopped.fetch_or(!self.iter.is_at_end(), Relaxed);
                return None;
            }
            match self.iter.next()? {
                Ok(found) => {
                    if let Some(input) = self.prepared(&found) {
                        return Some(input);
                    }
                }
                Err(failure) => {
                    let job = Job { state: State::Failed(failure), ..self.job(OsString::new(), None) };
                    return Some(self.input(job, nothing()));
                }
            }
        }
    }

    fn expected_bytes(&self) -> Option<u64> {
        self.plan.expected_bytes()
    }
}
