//! Operands become inputs: opened so that nothing hangs, checked in bzip2's order, their results named.
//!
//! A file is opened first (without waiting for the other end of a FIFO, and without following a link where bzip2 would not)
//! and everything is then asked of the open file, so that what was checked is what is read.

use crate::cli::args::{Mode, Operand, Plan, Target};
use crate::cli::report::Failure;
use crate::cli::{inherited, limits};
use hybz::flow::{self, Input, Inputs, ReadAt, Source as Bytes, Task};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::io::retry_on_intr;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Suffixes that compressed files bear, and what stands in their place when they are decompressed.
const SUFFIXES: [(&str, &str); 6] =
    [(".bz2", ""), (".hbz", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar"), (".tz2", ".tar")];

/// What there is to say about one operand.
pub struct Job {
    /// Its name in messages.
    pub name: OsString,
    /// A remark that bzip2 makes before the work.
    pub remark: Option<Vec<u8>>,
    /// Where its data come from and go to, or why not.
    pub ready: Result<Ready, Failure>,
}

/// An operand that passed all checks.
pub struct Ready {
    /// The file; `None` is stdin.
    pub source: Option<Source>,
    pub destination: Destination,
}

/// A source file as it was when it was opened.
pub struct Source {
    pub path: PathBuf,
    pub found: Metadata,
}

/// Where the result of one operand goes.
#[derive(Clone, Debug)]
pub enum Destination {
    Stdout,
    File(PathBuf),
    /// It is only tested.
    Nothing,
}

impl Source {
    /// Whether the name still stands for the file that was opened, and that file is as it was.
    pub fn is_unchanged(&self) -> io::Result<bool> {
        let (now, then) = (fs::metadata(&self.path)?, &self.found);
        Ok(same_file(&now, then)
            && now.len() == then.len()
            && (now.mtime(), now.mtime_nsec()) == (then.mtime(), then.mtime_nsec()))
    }
}

fn same_file(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// The operands as the flow wants them: one after the other, opened on its manager's thread.
pub struct Operands {
    plan: Arc<Plan>,
    next: usize,
    /// What stdout is, if it is a file on a disk: it must not be read.
    stdout: Option<Metadata>,
}

impl Operands {
    pub fn new(plan: Arc<Plan>) -> Self {
        let stdout = io::stdout().as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata()).ok();
        Operands { plan, next: 0, stdout: stdout.filter(Metadata::is_file) }
    }

    fn job(&self, operand: &Operand) -> Input<Job> {
        let name = operand.name().to_owned();
        let mut remark = None;
        match self.open(operand, &name, &mut remark) {
            Ok((ready, file)) => {
                let mut reader = Reader::new(file);
                let (task, source) = match self.plan.mode {
                    Mode::Compress => {
                        let task = self.plan.large_blocks.map_or(Task::Compress(self.plan.level), Task::CompressLarge);
                        (task, reader.into_bytes())
                    }
                    Mode::Decompress if self.plan.force && matches!(ready.destination, Destination::Stdout) => {
                        let head = reader.head(HEADER.len());
                        let task = if may_be_bzip2(&head) { self.decompress() } else { Task::Copy };
                        (task, Bytes::Stream(Box::new(io::Cursor::new(head).chain(reader))))
                    }
                    Mode::Decompress | Mode::Test => (self.decompress(), Bytes::Stream(Box::new(reader))),
                };
                Input { meta: Job { name, remark, ready: Ok(ready) }, task, source }
            }
            Err(failure) => {
                let meta = Job { name, remark, ready: Err(failure) };
                Input { meta, task: Task::Skip, source: Bytes::Stream(Box::new(io::empty())) }
            }
        }
    }

    fn decompress(&self) -> Task {
        Task::Decompress { trailing_garbage: self.plan.trailing_garbage }
    }

    /// Opens an operand and does all of bzip2's checks in bzip2's order.
    fn open(&self, operand: &Operand, name: &OsStr, remark: &mut Option<Vec<u8>>) -> Result<(Ready, File), Failure> {
        let plan = &*self.plan;
        let Operand::File(path) = operand else { return self.open_stdin(name) };
        let beside = plan.mode != Mode::Test && plan.target != Target::Stdout;
        let about =
            |code, parts: &[&[u8]]| Failure::new(code, [b"Input file ", name.as_bytes(), &parts.concat()].concat());

        let (file, found) =
            open_at_once(path, !beside || plan.force).map_err(|e| Failure::unopened(plan.mode, name, &e))?;
        if plan.mode == Mode::Compress && !plan.force {
            let ends = |(suffix, _): &&(&str, &str)| name.as_bytes().ends_with(suffix.as_bytes());
            if let Some((suffix, _)) = SUFFIXES.iter().find(ends) {
                return Err(about(1, &[b" already has ", suffix.as_bytes(), b" suffix."]).remark());
            }
        }
        if found.is_dir() {
            return Err(about(1, &[b" is a directory."]));
        }
        let file = match file {
            Some(file) if found.is_file() || !beside || plan.force => file,
            _ => return Err(about(1, &[b" is not a normal file."]).remark()),
        };
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
        let source = Some(Source { path: path.clone(), found });
        Ok((Ready { source, destination }, file))
    }

    fn open_stdin(&self, name: &OsStr) -> Result<(Ready, File), Failure> {
        if inherited::stdin_closed() {
            return Err(Failure::input("read", name, &rustix::io::Errno::BADF.into()));
        }
        let stdin = io::stdin();
        if self.plan.mode != Mode::Compress && stdin.is_terminal() {
            return Err(self.terminal("read compressed data from"));
        }
        let read_error = |e| Failure::input("read", name, &e);
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
                Destination::File(appended(path, if self.plan.large_blocks.is_some() { ".hbz" } else { ".bz2" }))
            }
            (Target::Beside, Mode::Decompress) => Destination::File(original_name(path).unwrap_or_else(|| {
                let (name, guess) = (path.as_os_str().as_bytes(), appended(path, ".out"));
                let text: [&[u8]; 4] =
                    [b"Can't guess original name for ", name, b" -- using ", guess.as_os_str().as_bytes()];
                *remark = Some(text.concat());
                guess
            })),
        }
    }

    /// Refuses a result that is there already (it is tested again when the result gets its name), or that is the source.
    fn check_result(&self, result: &Path, source: &Metadata) -> Result<(), Failure> {
        let name = result.as_os_str().as_bytes();
        if name.is_empty() || name.ends_with(b"/") {
            return Err(Failure::output("create", result.as_os_str(), &rustix::io::Errno::NOENT.into()));
        }
        if fs::metadata(result).is_ok_and(|there| same_file(&there, source)) {
            return Err(Failure::new(1, [b"Output file ", name, b" is the input file."].concat()));
        }
        match fs::symlink_metadata(result) {
            Ok(_) if !self.plan.force => Err(Failure::exists(result.as_os_str())),
            Ok(there) if there.is_dir() => {
                Err(Failure::output("create", result.as_os_str(), &rustix::io::Errno::ISDIR.into()))
            }
            _ => Ok(()),
        }
    }

    fn check_stdout(&self, name: &OsStr, source: &Metadata) -> Result<(), Failure> {
        if self.plan.mode == Mode::Compress && io::stdout().is_terminal() {
            return Err(self.terminal("write compressed data to"));
        }
        if inherited::stdout_closed() {
            return Err(Failure::output("write", OsStr::new("(stdout)"), &rustix::io::Errno::BADF.into()));
        }
        if self.stdout.as_ref().is_some_and(|stdout| same_file(stdout, source)) {
            return Err(Failure::new(1, [b"Input file ", name.as_bytes(), b" is the output file."].concat()));
        }
        Ok(())
    }

    fn terminal(&self, what: &str) -> Failure {
        let program = self.plan.program.display();
        Failure::new(1, format!("I won't {what} a terminal.\n{program}: For help, type: `{program} --help'.").into())
    }
}

impl Inputs for Operands {
    type Meta = Job;

    fn next_input(&mut self) -> Option<Input<Job>> {
        let operand = self.plan.operands.get(self.next)?;
        self.next += 1;
        Some(self.job(operand))
    }

    fn expected_bytes(&self) -> Option<u64> {
        limits::expected_bytes(&self.plan)
    }
}

fn appended(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The name of the file that `path` was made from, if its suffix tells.
fn original_name(path: &Path) -> Option<PathBuf> {
    let name = path.as_os_str().as_bytes();
    SUFFIXES.iter().find_map(|(suffix, original)| {
        let stem = name.strip_suffix(suffix.as_bytes())?;
        Some(OsString::from_vec([stem, original.as_bytes()].concat()).into())
    })
}

const HEADER: &[u8] = b"BZh9";

/// Whether data that begin with `head` can be a stream, ours or bzip2's: bzip2's rule for what `-dcf` copies. A cut header counts as one.
fn may_be_bzip2(head: &[u8]) -> bool {
    if head.first() == hybz::hbz::MAGIC.first() {
        return head.iter().zip(&hybz::hbz::MAGIC).all(|(a, b)| a == b);
    }
    let magic = head.iter().zip(&HEADER[..3]).all(|(a, b)| a == b);
    magic && head.get(3).is_none_or(|digit| (b'1'..=b'9').contains(digit))
}

/// Opens a file for reading and never waits: not for the writer of a FIFO, not for a modem. Of a symbolic link that is not to
/// be followed it only tells what is behind.
fn open_at_once(path: &Path, follow: bool) -> io::Result<(Option<File>, Metadata)> {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, !follow);
    match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) {
        Ok(file) => {
            let found = file.metadata()?;
            Ok((Some(file), found))
        }
        Err(_) if !follow && fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) => {
            Ok((None, fs::metadata(path)?))
        }
        Err(e) => Err(e),
    }
}

/// Reads whatever was opened without waiting, as if it had been opened with waiting.
struct Reader {
    file: File,
    /// A FIFO that nobody has opened for writing yet reads as empty: wait for its writer first.
    wait_first: bool,
    /// A file on a disk, so long that several threads may be worth starting to read it.
    is_long: bool,
}

impl Reader {
    fn new(file: File) -> Self {
        let found = file.metadata().ok();
        let wait_first = found.as_ref().is_some_and(|found| found.file_type().is_fifo());
        let is_long = found.is_some_and(|found| found.is_file() && found.len() >= flow::LONG_FILE);
        Reader { file, wait_first, is_long }
    }

    /// The first `most` bytes, or fewer at the end. An error is left for the next read to meet again.
    fn head(&mut self, most: usize) -> Vec<u8> {
        let mut head = Vec::with_capacity(most);
        let _ = self.by_ref().take(most as u64).read_to_end(&mut head);
        head
    }

    /// A long file can be read by several threads, from where its reading stands. (Of stdin others may hold the same descriptor:
    /// for them it is read to its end, as bzip2 leaves it.)
    fn into_bytes(mut self) -> Bytes {
        if !self.is_long {
            return Bytes::Stream(Box::new(self));
        }
        match self.file.stream_position().and_then(|at| self.file.seek(SeekFrom::End(0)).map(|_| at)) {
            Ok(at) => Bytes::File(Arc::new(Anywhere(self.file)), at),
            Err(_) => Bytes::Stream(Box::new(self)),
        }
    }

    fn wait(&self) -> io::Result<()> {
        retry_on_intr(|| poll(&mut [PollFd::new(&self.file, PollFlags::IN)], None))?;
        Ok(())
    }
}

/// A file on a disk.
pub struct Anywhere(pub File);

impl ReadAt for Anywhere {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buf, offset)
    }

    fn len(&self) -> u64 {
        self.0.metadata().map_or(0, |found| found.len())
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.wait_first {
            self.wait()?;
            self.wait_first = false;
        }
        loop {
            match self.file.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.wait()?,
                done => return done,
            }
        }
    }
}
