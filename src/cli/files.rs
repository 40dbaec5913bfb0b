//! Operands become inputs: opened so that nothing hangs, checked in bzip2's order, their results named.
//!
//! A file is opened first (without waiting for the other end of a FIFO, and without following a link where bzip2 would
//! not follow it). All checks are then made on the open file, so that what was checked is what is read.

use crate::cli::account::Entry;
use crate::cli::args::{Mode, Operand, Part, Plan, ReportPlace, Target};
use crate::cli::index::IndexJob;
use crate::cli::journal::Completion;
use crate::cli::limits;
use crate::cli::names::{appended, ending, original_name};
use crate::cli::os::directory::{is_directory, is_file, is_link};
use crate::cli::os::{file, process, tree};
use crate::cli::part;
use crate::cli::place::Place;
use crate::cli::quote::shown;
use crate::cli::ranges::Parts;
use crate::cli::reader::Reader;
use crate::cli::report::{Failure, Report};
use crate::cli::resume;
use crate::cli::shards;
use crate::cli::source::{SourceFile, id, list_of, same_file};
use crate::cli::supply::{Found, Supply};
use crate::cli::tally::Skipped;
use crate::cli::underway::{Touched, Underway};
use hybz::flow::{Input, Inputs, Source, Task};
use hybz::{Pool, Verify};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// What is known about one operand before the work.
pub struct Job {
    /// Its name in messages.
    pub name: OsString,
    /// A remark that bzip2 prints before the work.
    pub remark: Option<Vec<u8>>,
    /// Where its data come from and go to, or which check it failed.
    pub ready: Result<Ready, Failure>,
    /// The index that is made of it.
    pub index: Option<IndexJob>,
    /// What the report says of it.
    pub entry: Option<Box<Entry>>,
    /// Dropped when its result has its name, and its source is removed.
    pub underway: Underway,
}

/// An operand that passed all checks.
pub struct Ready {
    /// The file; `None` is stdin.
    pub source: Option<SourceFile>,
    pub destination: Destination,
    /// Where it is noted that its result is complete.
    pub entry: Option<Completion>,
}

/// Where the result of one operand goes.
#[derive(Clone, Debug)]
pub enum Destination {
    Stdout,
    File(Place),
    /// The operand is only tested.
    Nothing,
}

/// The operands, as the flow wants them: opened one after the other.
pub struct Operands {
    plan: Arc<Plan>,
    report: Arc<Report>,
    pool: Pool,
    supply: Supply,
    /// The file that stdout is, if it is one: it must not be read.
    stdout: Option<Metadata>,
    /// The report, if it is a file: it must not be read either, and not be removed.
    report_file: Option<Metadata>,
    touched: Touched,
}

impl Operands {
    pub fn new(plan: Arc<Plan>, report: Arc<Report>, supply: Supply, pool: &Pool) -> Self {
        let stdout = io::stdout().as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata()).ok();
        let report_file = match &plan.report {
            Some(ReportPlace::File(path)) => fs::metadata(path).ok(),
            _ => None,
        };
        Operands {
            plan,
            report,
            pool: pool.clone(),
            supply,
            stdout: stdout.filter(Metadata::is_file),
            report_file: report_file.filter(Metadata::is_file),
            touched: Touched::default(),
        }
    }

    /// The input that a file is, or none if nothing is left to do with it.
    fn input(&mut self, found: &Found) -> Option<Input<Job>> {
        let operand = &found.operand;
        let name = operand.name().to_owned();
        let entry = Entry::new(&self.plan, &name);
        let mut underway = self.touched.begin();
        let mut remark = None;
        let opened = self.open(found, &name, &mut remark, &mut underway).and_then(|opened| {
            let Some((ready, file)) = opened else { return Ok(None) };
            let index = self.index(&ready, &mut underway)?;
            let (task, source) = match &self.plan.part {
                Some(part) => self.part(part, operand, &name, file, &mut remark)?,
                None => match self.plan.shard {
                    Some(shard) => {
                        let text = shards::text(&name, file, &shard)?;
                        (Task::Compress(self.plan.level), Source::File(Arc::new(text), shard.offset))
                    }
                    None => self.task(&ready, file),
                },
            };
            Ok(Some((ready, index, task, source)))
        });
        match opened {
            Ok(None) => None,
            Ok(Some((ready, index, task, source))) => {
                let count_lines = index.is_some();
                let meta = Job { name, remark, ready: Ok(ready), index, entry, underway };
                Some(Input { meta, task, count_lines, verify: self.plan.verify.blocks, source })
            }
            Err(failure) => Some(self.failed(name, remark, failure, entry, underway)),
        }
    }

    /// The input that stands for a failure, for its place in the order.
    fn failed(
        &self,
        name: OsString,
        remark: Option<Vec<u8>>,
        failure: Failure,
        entry: Option<Box<Entry>>,
        underway: Underway,
    ) -> Input<Job> {
        let meta = Job { name, remark, ready: Err(failure), index: None, entry, underway };
        let source = Source::Stream(Box::new(io::empty()));
        Input { meta, task: Task::Skip, count_lines: false, verify: Verify::Off, source }
    }

    /// What to do with the bytes of an operand, and how to read them.
    fn task(&self, ready: &Ready, file: File) -> (Task, Source) {
        let Ready { source, destination, .. } = ready;
        let mut reader = match source {
            Some(source) => Reader::of(file, &source.found),
            None => Reader::new(file),
        };
        match self.plan.mode {
            Mode::Compress => (self.plan.compression(), reader.into_source()),
            Mode::Decompress if self.plan.force && matches!(destination, Destination::Stdout) => {
                let head = reader.head(HEADER.len());
                let task = if may_be_bzip2(&head) { self.decompress() } else { Task::Copy };
                (task, Source::Stream(Box::new(io::Cursor::new(head).chain(reader))))
            }
            Mode::Decompress | Mode::Test => (self.decompress(), reader.into_source()),
        }
    }

    fn decompress(&self) -> Task {
        Task::Decompress { trailing_garbage: self.plan.trailing_garbage }
    }

    /// How a part of a file is read.
    fn part(
        &self,
        part: &Part,
        operand: &Operand,
        name: &OsStr,
        file: File,
        remark: &mut Option<Vec<u8>>,
    ) -> Result<(Task, Source), Failure> {
        match part {
            Part::Ranges { ranges, lines } => {
                let parts = part::ranges(&self.plan, &self.pool, operand, file, remark)?;
                let parts = Parts::new(parts, ranges.clone(), *lines);
                Ok((Task::Copy, Source::Stream(Box::new(parts))))
            }
            Part::Streams { at, count } => {
                let file = if *at > 0 { part::at(name, file, *at)? } else { file };
                let task = count.map_or_else(|| self.decompress(), Task::DecompressStreams);
                Ok((task, Source::Stream(Box::new(Reader::new(file)))))
            }
        }
    }

    /// The index that is made of an operand, if its name is free.
    fn index(&self, ready: &Ready, underway: &mut Underway) -> Result<Option<IndexJob>, Failure> {
        let Some(index) = self.plan.index.as_ref().filter(|_| self.plan.part.is_none()) else { return Ok(None) };
        let unnamed = Place::typed("");
        let compressed = match (self.plan.mode, &ready.destination, &ready.source) {
            (Mode::Compress, Destination::File(result), _) => result,
            (Mode::Compress, ..) | (_, _, None) => &unnamed, // its name was typed
            (_, _, Some(source)) => &source.place,
        };
        let place = match index.path {
            Some(_) => Place::typed(index.path(compressed.path())),
            None => compressed.beside(index.path(compressed.path())),
        };
        let job = IndexJob::new(place);
        let source = ready.source.as_ref().map(|source| &source.found);
        let replaced = job.check(compressed.path(), source, self.plan.force)?;
        if replaced.zip(self.report_file.as_ref()).is_some_and(|(found, report)| tree::id(&found) == id(report)) {
            return Err(Failure::about(1, "Output file ", job.place.name(), " is the report."));
        }
        underway.touch(job.place.path(), replaced.iter().map(tree::id));
        Ok(Some(job))
    }

    /// Opens an operand and makes bzip2's checks in bzip2's order. Nothing if `--resume` finds it complete.
    fn open(
        &mut self,
        found: &Found,
        name: &OsStr,
        remark: &mut Option<Vec<u8>>,
        underway: &mut Underway,
    ) -> Result<Option<(Ready, File)>, Failure> {
        if found.operand == Operand::Stdin {
            return self.open_stdin(name, underway).map(Some);
        }
        let (place, journal) = (&found.place, &found.journal);
        let opened = self.open_untouched(place, underway);
        let plan = Arc::clone(&self.plan);
        let beside = plan.mode != Mode::Test && plan.target != Target::Stdout;
        let about = |code, parts: &[&[u8]]| {
            Failure::new(code, [b"Input file ", shown(name).as_bytes(), &parts.concat()].concat())
        };

        let (file, found) = opened.map_err(|e| Failure::unopened(plan.mode, name, &e))?;
        // As in bzip2 also with -f: a job that does `-f *` every night must not wrap its own results.
        if plan.mode == Mode::Compress
            && let Some((suffix, _)) = ending(place.path(), plan.suffix.as_deref())
        {
            return Err(about(1, &[b" already has ", suffix, b" suffix."]).remark());
        }
        if found.is_dir() {
            let walked = plan.batch.recursive; // all others are
            let link: &[u8] = b" is a symbolic link to a directory: not followed without -f.";
            return Err(about(1, &[if walked { link } else { b" is a directory." }]));
        }
        if self.report_file.as_ref().is_some_and(|report| same_file(report, &found)) {
            if !place.is_typed() {
                return Ok(None); // in a tree: as the journal
            }
            return Err(about(1, &[b" is the report."]));
        }
        let file = match file {
            Some(file) if found.is_file() || !beside || plan.force => file,
            _ => return Err(about(1, &[b" is not a normal file."]).remark()),
        };
        if plan.verify.file && !found.is_file() {
            return Err(about(1, &[b" is not a normal file: --verify=file cannot read it again."]));
        }
        let destination = self.destination(place, remark)?;
        let makes_file = plan.index.is_some() || matches!(destination, Destination::File(_));
        let resumes = plan.batch.resume && found.is_file();
        match &destination {
            Destination::File(_) if resumes => {} // when its result is known not to be right
            Destination::File(result) => self.check_result(result, &found, underway)?,
            Destination::Stdout => self.check_stdout(name, &found)?,
            Destination::Nothing => {}
        }
        let others = found.nlink().saturating_sub(1);
        if plan.remove_sources && !plan.force && others > 0 {
            let text = format!(" has {others} other link{}.", if others == 1 { "" } else { "s" });
            return Err(about(1, &[text.as_bytes()]));
        }
        let acl = if makes_file { list_of(&file) } else { None };
        let source = SourceFile { place: place.clone(), found, acl };
        let mut entry = None;
        if let Destination::File(result) = &destination {
            if resumes {
                // An operand before may be about to make it, or to replace it.
                if self.touched.has_name(result.path()) {
                    self.touched.wait(underway);
                }
                match resume::look(&plan, &self.pool, journal.as_ref(), (&source, &file), result)? {
                    resume::Found::Complete => {
                        self.report.tally.skip(Skipped::Complete);
                        return Ok(None);
                    }
                    resume::Found::Missing(for_later) => entry = for_later,
                }
                self.check_result(result, &source.found, underway)?;
            }
            if plan.has_many() {
                let replaced = if plan.force { result.find().ok() } else { None };
                let removed = plan.remove_sources.then_some(id(&source.found));
                underway.touch(result.path(), removed.into_iter().chain(replaced.as_ref().map(tree::id)));
            }
        }
        Ok(Some((Ready { source: Some(source), destination, entry }, file)))
    }

    /// Opens a file, when no operand before it will make, replace or remove it any more.
    fn open_untouched(&self, place: &Place, underway: &Underway) -> io::Result<(Option<File>, Metadata)> {
        let beside = self.plan.mode != Mode::Test && self.plan.target != Target::Stdout;
        let open = || place.open_at_once(!beside || self.plan.force);
        let opened = open();
        let touched = match &opened {
            Ok((_, found)) => self.touched.has_file(id(found)),
            // A link may lead to a result that is not there yet.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                self.touched.has_name(place.path()) || place.find_link().is_ok_and(|found| is_link(&found))
            }
            Err(_) => false,
        };
        if !touched {
            return opened;
        }
        drop(opened);
        self.touched.wait(underway);
        open()
    }

    fn open_stdin(&self, name: &OsStr, underway: &Underway) -> Result<(Ready, File), Failure> {
        let read_error = |e| Failure::input("read", name, &e);
        process::check_stdin().map_err(read_error)?;
        let stdin = io::stdin();
        if self.plan.mode != Mode::Compress && stdin.is_terminal() {
            return Err(Failure::terminal(&self.plan.program, "read compressed data from"));
        }
        let file = File::from(stdin.as_fd().try_clone_to_owned().map_err(read_error)?);
        let found = file.metadata().map_err(read_error)?;
        let destination = match (&self.plan.target, self.plan.mode) {
            (_, Mode::Test) => Destination::Nothing,
            (Target::File(result), _) => {
                let result = Place::typed(result);
                self.check_result(&result, &found, underway)?;
                Destination::File(result)
            }
            _ => {
                self.check_stdout(name, &found)?;
                Destination::Stdout
            }
        };
        Ok((Ready { source: None, destination, entry: None }, file))
    }

    /// Where the result of a file goes.
    fn destination(&mut self, source: &Place, remark: &mut Option<Vec<u8>>) -> Result<Destination, Failure> {
        let path = source.path();
        let result = match (&self.plan.target, self.plan.mode) {
            (_, Mode::Test) => return Ok(Destination::Nothing),
            (Target::Stdout, _) => return Ok(Destination::Stdout),
            (Target::File(result), _) => return Ok(Destination::File(Place::typed(result))),
            (Target::Beside | Target::Below(_), Mode::Compress) => {
                let usual = OsStr::new(if self.plan.large_blocks.is_some() { ".hbz" } else { ".bz2" });
                appended(path, self.plan.suffix.as_deref().unwrap_or(usual))
            }
            (Target::Beside | Target::Below(_), Mode::Decompress) => original_name(path, self.plan.suffix.as_deref())
                .unwrap_or_else(|| {
                    let guess = appended(path, OsStr::new(".out"));
                    let (name, shown_guess) = (shown(path.as_os_str()), shown(guess.as_os_str()));
                    let text: [&[u8]; 4] =
                        [b"Can't guess original name for ", name.as_bytes(), b" -- using ", shown_guess.as_bytes()];
                    *remark = Some(text.concat());
                    guess
                }),
        };
        self.supply.result(source, source.beside(result)).map(Destination::File)
    }

    /// Refuses a result that exists (which is checked again when the result gets its name), or that is the source.
    fn check_result(&self, result: &Place, source: &Metadata, underway: &Underway) -> Result<(), Failure> {
        let name = result.name().as_bytes();
        let mut there = result.find_link();
        // An operand before may be about to remove it.
        if self.plan.remove_sources && there.as_ref().is_ok_and(|there| self.touched.has_file(tree::id(there))) {
            self.touched.wait(underway);
            there = result.find_link();
        }
        let is_free = there.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        let found = if is_free { None } else { result.find().ok() };
        let is = |what: &[u8]| Failure::new(1, [b"Output file ", shown(result.name()).as_bytes(), what].concat());
        // A name that was typed, not made from that of a source, may lead to a directory through a link.
        if matches!(self.plan.target, Target::File(_)) && found.as_ref().is_some_and(is_directory) {
            return Err(is(b" is a directory."));
        }
        if name.is_empty() || name.ends_with(b"/") {
            return Err(Failure::output("create", result.name(), &file::not_found()));
        }
        if found.as_ref().is_some_and(|found| tree::id(found) == id(source)) {
            return Err(is(b" is the input file."));
        }
        if self.plan.verify.file && found.as_ref().is_some_and(|found| !is_file(found)) {
            return Err(is(b" is not a normal file: --verify=file cannot read it again."));
        }
        if found.zip(self.report_file.as_ref()).is_some_and(|(found, report)| tree::id(&found) == id(report)) {
            return Err(is(b" is the report."));
        }
        match there {
            Ok(_) if !self.plan.force => Err(Failure::exists(result.name())),
            Ok(there) if is_directory(&there) => Err(Failure::output("create", result.name(), &file::is_a_directory())),
            _ => Ok(()),
        }
    }

    fn check_stdout(&self, name: &OsStr, source: &Metadata) -> Result<(), Failure> {
        if self.plan.mode == Mode::Compress && io::stdout().is_terminal() {
            return Err(Failure::terminal(&self.plan.program, "write compressed data to"));
        }
        process::check_stdout().map_err(|e| Failure::output("write", OsStr::new("(stdout)"), &e))?;
        if self.stdout.as_ref().is_some_and(|stdout| same_file(stdout, source)) {
            let name = shown(name);
            return Err(Failure::new(1, [b"Input file ", name.as_bytes(), b" is the output file."].concat()));
        }
        Ok(())
    }
}

impl Inputs for Operands {
    type Meta = Job;

    fn next_input(&mut self) -> Option<Input<Job>> {
        loop {
            if self.plan.batch.fail_fast && self.report.code() > 0 {
                return None;
            }
            match self.supply.next()? {
                Ok(found) => {
                    if let Some(input) = self.input(&found) {
                        return Some(input);
                    }
                }
                Err(failure) => return Some(self.failed(OsString::new(), None, failure, None, self.touched.begin())),
            }
        }
    }

    fn expected_bytes(&self) -> Option<u64> {
        limits::expected_bytes(&self.plan)
    }
}

/// The header of a `.bz2` stream; the digit may be any from 1 to 9.
const HEADER: &[u8] = b"BZh9";

/// Whether data that begin with `head`, which may be cut short, can be a `.bz2` or `.hbz` stream. What cannot is copied
/// by `-dcf`, by bzip2's rule.
fn may_be_bzip2(head: &[u8]) -> bool {
    if head.first() == hybz::hbz::MAGIC.first() {
        return head.iter().zip(&hybz::hbz::MAGIC).all(|(a, b)| a == b);
    }
    let magic = head.iter().zip(&HEADER[..3]).all(|(a, b)| a == b);
    magic && head.get(3).is_none_or(|digit| (b'1'..=b'9').contains(digit))
}
