//! Operands become inputs: opened so that nothing hangs, checked in bzip2's order, their results named.
//!
//! A file is opened first (without waiting for the other end of a FIFO, and without following a link where bzip2 would
//! not follow it). All checks are then made on the open file, so that what was checked is what is read.

use crate::cli::args::{Mode, Operand, Part, Plan, Target};
use crate::cli::index::IndexJob;
use crate::cli::limits;
use crate::cli::os::{file, process};
use crate::cli::part;
use crate::cli::quote::shown;
use crate::cli::ranges::Parts;
use crate::cli::reader::Reader;
use crate::cli::report::Failure;
use crate::cli::source::{SourceFile, list_of, same_file};
use crate::cli::underway::{Touched, Underway};
use hybz::flow::{Input, Inputs, Source, Task};
use hybz::{Pool, Verify};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Suffixes of compressed files, and what replaces them when they are decompressed.
const SUFFIXES: [(&str, &str); 6] =
    [(".bz2", ""), (".hbz", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar"), (".tz2", ".tar")];

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
    /// Dropped when its result has its name, and its source is removed.
    pub underway: Underway,
}

/// An operand that passed all checks.
pub struct Ready {
    /// The file; `None` is stdin.
    pub source: Option<SourceFile>,
    pub destination: Destination,
}

/// Where the result of one operand goes.
#[derive(Clone, Debug)]
pub enum Destination {
    Stdout,
    File(PathBuf),
    /// The operand is only tested.
    Nothing,
}

/// The operands, as the flow wants them: opened one after the other.
pub struct Operands {
    plan: Arc<Plan>,
    pool: Pool,
    next: usize,
    /// The file that stdout is, if it is one: it must not be read.
    stdout: Option<Metadata>,
    touched: Touched,
}

impl Operands {
    pub fn new(plan: Arc<Plan>, pool: &Pool) -> Self {
        let stdout = io::stdout().as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata()).ok();
        Operands {
            plan,
            pool: pool.clone(),
            next: 0,
            stdout: stdout.filter(Metadata::is_file),
            touched: Touched::default(),
        }
    }

    fn input(&mut self, operand: &Operand) -> Input<Job> {
        let name = operand.name().to_owned();
        let underway = self.touched.begin();
        let mut remark = None;
        let opened = self.open(operand, &name, &mut remark, &underway).and_then(|(ready, file)| {
            let index = self.index(operand, &ready)?;
            let (task, source) = match &self.plan.part {
                Some(part) => self.part(part, operand, &name, file, &mut remark)?,
                None => self.task(&ready.destination, Reader::new(file)),
            };
            Ok((ready, index, task, source))
        });
        match opened {
            Ok((ready, index, task, source)) => {
                let count_lines = index.is_some();
                let meta = Job { name, remark, ready: Ok(ready), index, underway };
                Input { meta, task, count_lines, verify: self.plan.verify.blocks, source }
            }
            Err(failure) => {
                let meta = Job { name, remark, ready: Err(failure), index: None, underway };
                let source = Source::Stream(Box::new(io::empty()));
                Input { meta, task: Task::Skip, count_lines: false, verify: Verify::Off, source }
            }
        }
    }

    /// What to do with the bytes of an operand, and how to read them.
    fn task(&self, destination: &Destination, mut reader: Reader) -> (Task, Source) {
        match self.plan.mode {
            Mode::Compress => {
                let task = self.plan.large_blocks.map_or(Task::Compress(self.plan.level), Task::CompressLarge);
                (task, reader.into_source())
            }
            Mode::Decompress if self.plan.force && matches!(destination, Destination::Stdout) => {
                let head = reader.head(HEADER.len());
                let task = if may_be_bzip2(&head) { self.decompress() } else { Task::Copy };
                (task, Source::Stream(Box::new(io::Cursor::new(head).chain(reader))))
            }
            Mode::Decompress | Mode::Test => (self.decompress(), Source::Stream(Box::new(reader))),
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
    fn index(&mut self, operand: &Operand, ready: &Ready) -> Result<Option<IndexJob>, Failure> {
        let plan = Arc::clone(&self.plan);
        let Some(index) = plan.index.as_ref().filter(|_| plan.part.is_none()) else { return Ok(None) };
        let compressed = match (plan.mode, &ready.destination, operand) {
            (Mode::Compress, Destination::File(result), _) => result.as_path(),
            (Mode::Compress, ..) | (_, _, Operand::Stdin) => Path::new(""), // its name was typed
            (_, _, Operand::File(path)) => path,
        };
        let job = IndexJob::new(index.path(compressed));
        let replaced = job.check(compressed, ready.source.as_ref().map(|source| &source.found), plan.force)?;
        self.touched.insert(&job.path, replaced.iter());
        Ok(Some(job))
    }

    /// Opens an operand and makes bzip2's checks in bzip2's order.
    fn open(
        &mut self,
        operand: &Operand,
        name: &OsStr,
        remark: &mut Option<Vec<u8>>,
        underway: &Underway,
    ) -> Result<(Ready, File), Failure> {
        let Operand::File(path) = operand else { return self.open_stdin(name) };
        let opened = self.open_untouched(path, underway);
        let plan = Arc::clone(&self.plan);
        let beside = plan.mode != Mode::Test && plan.target != Target::Stdout;
        let about = |code, parts: &[&[u8]]| {
            Failure::new(code, [b"Input file ", shown(name).as_bytes(), &parts.concat()].concat())
        };

        let (file, found) = opened.map_err(|e| Failure::unopened(plan.mode, name, &e))?;
        // As in bzip2 also with -f: a job that does `-f *` every night must not wrap its own results.
        if plan.mode == Mode::Compress
            && let Some((suffix, _)) = ending(path, plan.suffix.as_deref())
        {
            return Err(about(1, &[b" already has ", suffix, b" suffix."]).remark());
        }
        if found.is_dir() {
            return Err(about(1, &[b" is a directory."]));
        }
        let file = match file {
            Some(file) if found.is_file() || !beside || plan.force => file,
            _ => return Err(about(1, &[b" is not a normal file."]).remark()),
        };
        if plan.verify.file && !found.is_file() {
            return Err(about(1, &[b" is not a normal file: --verify=file cannot read it again."]));
        }
        let destination = self.destination(path, remark);
        match &destination {
            Destination::File(result) => self.check_result(result, &found)?,
            Destination::Stdout => self.check_stdout(name, &found)?,
            Destination::Nothing => {}
        }
        let others = found.nlink().saturating_sub(1);
        if plan.remove_sources && !plan.force && others > 0 {
            let text = format!(" has {others} other link{}.", if others == 1 { "" } else { "s" });
            return Err(about(1, &[text.as_bytes()]));
        }
        if let Destination::File(result) = &destination
            && plan.operands.len() > 1
        {
            let replaced = if plan.force { fs::metadata(result).ok() } else { None };
            let removed = plan.remove_sources.then_some(&found);
            self.touched.insert(result, removed.into_iter().chain(&replaced));
        }
        let makes_file = plan.index.is_some() || matches!(destination, Destination::File(_));
        let acl = if makes_file { list_of(&file) } else { None };
        let source = Some(SourceFile { path: path.clone(), found, acl });
        Ok((Ready { source, destination }, file))
    }

    /// Opens a file, when no operand before it will make, replace or remove it any more.
    fn open_untouched(&mut self, path: &Path, underway: &Underway) -> io::Result<(Option<File>, Metadata)> {
        let beside = self.plan.mode != Mode::Test && self.plan.target != Target::Stdout;
        let open = || file::open_at_once(path, !beside || self.plan.force);
        let opened = open();
        let touched = match &opened {
            Ok((_, found)) => self.touched.has_file(found),
            // A link may lead to a result that is not there yet.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                self.touched.has_name(path) || fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
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

    fn open_stdin(&self, name: &OsStr) -> Result<(Ready, File), Failure> {
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
                self.check_result(result, &found)?;
                Destination::File(result.clone())
            }
            _ => {
                self.check_stdout(name, &found)?;
                Destination::Stdout
            }
        };
        Ok((Ready { source: None, destination }, file))
    }

    /// Where the result of the file `path` goes.
    fn destination(&self, path: &Path, remark: &mut Option<Vec<u8>>) -> Destination {
        match (&self.plan.target, self.plan.mode) {
            (_, Mode::Test) => Destination::Nothing,
            (Target::Stdout, _) => Destination::Stdout,
            (Target::File(result), _) => Destination::File(result.clone()),
            (Target::Beside, Mode::Compress) => {
                let usual = OsStr::new(if self.plan.large_blocks.is_some() { ".hbz" } else { ".bz2" });
                Destination::File(appended(path, self.plan.suffix.as_deref().unwrap_or(usual)))
            }
            (Target::Beside, Mode::Decompress) => {
                let original = original_name(path, self.plan.suffix.as_deref());
                Destination::File(original.unwrap_or_else(|| {
                    let guess = appended(path, OsStr::new(".out"));
                    let (name, shown_guess) = (shown(path.as_os_str()), shown(guess.as_os_str()));
                    let text: [&[u8]; 4] =
                        [b"Can't guess original name for ", name.as_bytes(), b" -- using ", shown_guess.as_bytes()];
                    *remark = Some(text.concat());
                    guess
                }))
            }
        }
    }

    /// Refuses a result that exists (which is checked again when the result gets its name), or that is the source.
    fn check_result(&self, result: &Path, source: &Metadata) -> Result<(), Failure> {
        let (name, found) = (result.as_os_str().as_bytes(), fs::metadata(result).ok());
        let is = |what: &[u8]| Failure::new(1, [b"Output file ", shown(result.as_os_str()).as_bytes(), what].concat());
        // A name that was typed, not made from that of a source, may lead to a directory through a link.
        if matches!(self.plan.target, Target::File(_)) && found.as_ref().is_some_and(Metadata::is_dir) {
            return Err(is(b" is a directory."));
        }
        if name.is_empty() || name.ends_with(b"/") {
            return Err(Failure::output("create", result.as_os_str(), &file::not_found()));
        }
        if found.as_ref().is_some_and(|found| same_file(found, source)) {
            return Err(is(b" is the input file."));
        }
        if self.plan.verify.file && found.is_some_and(|found| !found.is_file()) {
            return Err(is(b" is not a normal file: --verify=file cannot read it again."));
        }
        match fs::symlink_metadata(result) {
            Ok(_) if !self.plan.force => Err(Failure::exists(result.as_os_str())),
            Ok(found) if found.is_dir() => Err(Failure::output("create", result.as_os_str(), &file::is_a_directory())),
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
        let plan = Arc::clone(&self.plan);
        let operand = plan.operands.get(self.next)?;
        self.next += 1;
        Some(self.input(operand))
    }

    fn expected_bytes(&self) -> Option<u64> {
        limits::expected_bytes(&self.plan)
    }
}

pub fn appended(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The suffix of a compressed file that `path` ends in, if any, and what replaces it. Of several the longest counts:
/// with `-S 2`, `a.bz2` still is the result of `a`.
fn ending<'a>(path: &Path, own: Option<&'a OsStr>) -> Option<(&'a [u8], &'static str)> {
    let own = own.map(|own| (own.as_bytes(), ""));
    let known = SUFFIXES.iter().map(|&(suffix, original)| (suffix.as_bytes(), original));
    let name = path.as_os_str().as_bytes();
    known.chain(own).filter(|(suffix, _)| name.ends_with(suffix)).max_by_key(|(suffix, _)| suffix.len())
}

/// The name of the file that `path` was made from, if its suffix says.
pub fn original_name(path: &Path, own: Option<&OsStr>) -> Option<PathBuf> {
    let (suffix, original) = ending(path, own)?;
    let name = path.as_os_str().as_bytes();
    Some(OsString::from_vec([&name[..name.len() - suffix.len()], original.as_bytes()].concat()).into())
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
