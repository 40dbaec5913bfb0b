//! One call of the command: a pool of stations, the operands as its inputs, their results in the order of the operands.

use crate::cli::args::{Gpus, Mode, Plan, Target};
use crate::cli::commit::{Committer, Finished, Item};
use crate::cli::files::{Destination, Job, Operands, Ready};
use crate::cli::output::{Directory, Output, Stdout};
use crate::cli::progress::Progress;
use crate::cli::report::{self, Failure, Note, Report};
use crate::cli::signals::TemporaryFiles;
use crate::cli::{inherited, limits};
use anyhow::anyhow;
use hybz::flow::{self, Outputs};
use hybz::{BlockInfo, Error, Pool, StreamSummary};
use rustix::process::{Resource, getrlimit};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::mem::ManuallyDrop;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// How a call ended.
pub enum Outcome {
    Exit(u8),
    /// Whoever read our stdout is gone.
    BrokenPipe,
}

/// Does what the plan says.
pub fn run(plan: Plan) -> anyhow::Result<Outcome> {
    let plan = Arc::new(plan);
    let report = Arc::new(Report::new(&plan, Progress::new(&plan)));
    for word in &plan.ignored_words {
        report.say(&Note::Remark(word.clone().into_bytes()));
    }
    let mut results = Results::new(plan.clone(), report);
    let mut pool = Pool::builder();
    if let Some(memory) = plan.memory {
        pool = pool.memory(memory);
    }
    let small = limits::no_threads(&plan);
    if !small {
        inherited::keep_memory();
    }
    // The process ends with this call, and the kernel takes back what a pool holds faster than we could give it.
    let pool = ManuallyDrop::new(if small {
        let pool = pool.without_cpu().build();
        flow::run_here(&pool, Operands::new(plan), &mut results);
        pool
    } else {
        if plan.gpu_required && plan.mode == Mode::Compress {
            require_gpus(&plan.gpus)?;
        }
        pool = pool.threads(limits::threads(&plan)).max_memory(limits::share_of_memory());
        if let Some(lanes) = limits::lanes(&plan) {
            pool = pool.gpus(&lanes);
        }
        let pool = pool.build();
        flow::run(&pool, Operands::new(plan), &mut results);
        pool
    });
    Ok(results.finish(&pool))
}

/// Asks for the GPUs that must be there.
fn require_gpus(gpus: &Gpus) -> anyhow::Result<()> {
    let found = hybz::gpu::devices().and_then(|devices| match gpus {
        Gpus::These(list) => hybz::gpu::select(list, &devices),
        _ => Ok(devices),
    });
    found.map(drop).map_err(|why| anyhow!("A GPU is required: {why}."))
}

/// Takes the results, in the order of the operands.
struct Results {
    plan: Arc<Plan>,
    report: Arc<Report>,
    committer: Committer,
    temporary: TemporaryFiles,
    /// Of the last result: the next one is mostly for the same.
    directory: Option<Directory>,
    /// How many operands are done, one way or the other.
    done: usize,
    wrote_to_stdout: bool,
    broken_pipe: bool,
    /// Whether to tell of bzip2recover in the end.
    damage: bool,
}

/// Where the bytes of one result go. Streams begin and end with a few bytes: they go out together with their blocks.
enum Out {
    Nothing,
    Stdout(BufWriter<Stdout>),
    File(BufWriter<Output>),
}

const BUFFER: usize = 8 << 10;
const RECOVER: &str = "
You can use the `bzip2recover' program to attempt to recover
data from undamaged sections of corrupted files.

";

impl Results {
    fn new(plan: Arc<Plan>, report: Arc<Report>) -> Results {
        // Lines for each block are said as they come, so nothing may lie on a queue before them.
        let worth_a_thread = plan.remove_sources && plan.sync && plan.operands.len() > 1 && plan.verbose < 2;
        let committer = Committer::new(report.clone(), worth_a_thread.then(batch));
        Results {
            plan,
            report,
            committer,
            temporary: TemporaryFiles::default(),
            directory: None,
            done: 0,
            wrote_to_stdout: false,
            broken_pipe: false,
            damage: false,
        }
    }

    fn say(&self, note: Note) {
        self.committer.push(Item::Note(note));
    }

    /// Opens where a result goes.
    fn open(&mut self, destination: &Destination) -> Result<Out, Failure> {
        let path = match destination {
            Destination::Nothing => return Ok(Out::Nothing),
            Destination::Stdout => {
                self.wrote_to_stdout = true;
                return Ok(Out::Stdout(BufWriter::with_capacity(BUFFER, Stdout)));
            }
            Destination::File(path) => path,
        };
        // It may have come since the operand was opened: another operand can have the same name.
        if !self.plan.force && fs::symlink_metadata(path).is_ok() {
            return Err(Failure::exists(path.as_os_str()));
        }
        let mut create = || {
            let directory = Directory::of(path, self.directory.as_ref())?;
            self.directory = Some(directory.clone());
            let existing = self.plan.force && matches!(self.plan.target, Target::File(_));
            Output::create(path, directory, existing, &self.temporary)
        };
        let output = create().map_err(|e| Failure::output("create", path.as_os_str(), &e))?;
        Ok(Out::File(BufWriter::with_capacity(BUFFER, output)))
    }

    /// A stream went well: everything to its place.
    fn complete(&self, name: &OsStr, ready: Ready, out: Out, stream: &StreamSummary) -> Result<(), Error> {
        let said = self.success(name, stream);
        match out {
            Out::Nothing => self.say(Note::Line(said)),
            Out::Stdout(mut stdout) => {
                let flushed = stdout.flush();
                let _ = stdout.into_parts(); // dropping it would write once more
                flushed.map_err(Error::Write)?;
                self.say(Note::Line(said));
            }
            Out::File(mut file) => {
                let flushed = file.flush();
                let (output, _) = file.into_parts();
                flushed.map_err(Error::Write)?;
                output.set_attributes(ready.source.as_ref().map(|source| &source.found)).map_err(Error::Write)?;
                // Devices and FIFOs are not ours to remove.
                let mut source = ready.source.filter(|source| self.plan.remove_sources && source.found.is_file());
                let whole = |found: &fs::Metadata| self.plan.mode != Mode::Compress || found.len() == stream.bytes_in;
                let changed = source.take_if(|source| !whole(&source.found));
                let sync = self.plan.sync && (source.is_some() || output.replaces());
                let replace = self.plan.force;
                self.committer.push(Item::File(Box::new(Finished { output, source, sync, replace, said })));
                if let Some(source) = changed {
                    self.say(Note::Failure(Failure::changed(source.path.as_os_str())));
                }
            }
        }
        Ok(())
    }

    /// What `-v` begins a file's line with; with `-vv` it was said before the first block.
    fn opening(&self, name: &OsStr) -> Vec<u8> {
        if self.plan.verbose == 1 { self.report.named(name) } else { Vec::new() }
    }

    /// What is said of a stream that went well.
    fn success(&self, name: &OsStr, stream: &StreamSummary) -> Vec<u8> {
        let Plan { mode, verbose, quiet, program, .. } = &*self.plan;
        let mut said = self.opening(name);
        if *verbose >= 2 && stream.trailing_garbage.is_none() {
            said.extend(report::end_line(stream, *mode == Mode::Compress).bytes());
        }
        if stream.trailing_garbage.is_some() && *quiet == 0 {
            let text = b"trailing garbage after EOF ignored\n";
            match mode {
                Mode::Test if *verbose > 0 => said.extend_from_slice(text),
                Mode::Test => said.extend([program.as_bytes(), b": ", name.as_bytes(), b": ", text].concat()),
                _ => said.extend([b"\n", program.as_bytes(), b": ", name.as_bytes(), b": ", text].concat()),
            }
        }
        if *verbose > 0 {
            let end = match mode {
                Mode::Compress => report::ratio(stream.bytes_in, stream.bytes_out),
                Mode::Decompress => "done\n".to_owned(),
                Mode::Test => "ok\n".to_owned(),
            };
            said.extend(end.bytes());
        }
        said
    }

    /// Says why a stream went wrong.
    fn failed(&mut self, name: &OsStr, destination: &Destination, error: &Error) {
        let result = match destination {
            Destination::Stdout => OsStr::new("(stdout)"),
            Destination::File(path) => path.as_os_str(),
            Destination::Nothing => OsStr::new("(none)"),
        };
        let failure = match error {
            Error::Read(e) => Failure::input("read", name, e),
            Error::Write(e) => Failure::output("write", result, e),
            Error::Internal { .. } => {
                Failure::new(3, [name.as_bytes(), format!(": {error}: a defect of hybz.").as_bytes()].concat())
            }
            _ => {
                let not_bzip2 = matches!(error, Error::NotBzip2);
                self.damage |= self.plan.mode == Mode::Test || !not_bzip2;
                if self.plan.mode == Mode::Test || not_bzip2 {
                    return self.say_of_name(name, error);
                }
                report::damage(name, result, error, self.plan.quiet)
            }
        };
        if self.plan.verbose > 0 {
            self.say(Note::Line([self.opening(name), b"\n".to_vec()].concat()));
        }
        self.say(Note::Failure(failure));
    }

    /// A failure that bzip2 says in one line, which begins with the name as `-v` writes it, or with the program's.
    fn say_of_name(&self, name: &OsStr, error: &Error) {
        let (test, verbose) = (self.plan.mode == Mode::Test, self.plan.verbose > 0);
        let between: &[u8] = if test { b": " } else { b" is " };
        let text = report::verdict(error, test);
        if verbose {
            self.report.raise(2);
            self.say(Note::Line([&self.opening(name), text.as_bytes(), b"\n"].concat()));
        } else {
            self.say(Note::Failure(Failure::new(2, [name.as_bytes(), between, text.as_bytes()].concat())));
        }
    }

    /// Waits for what is left to do, and says what comes after all files.
    fn finish(self, pool: &Pool) -> Outcome {
        self.report.progress.end();
        let operands = self.plan.operands.len();
        if self.damage {
            self.hint(RECOVER);
        }
        if self.done < operands && !self.broken_pipe {
            let (program, left) = (self.plan.program.display(), operands - self.done);
            self.hint(&format!(
                "{program}: WARNING: some files have not been processed:\n\
                 {program}:    {operands} specified on command line, {left} not processed yet.\n\n"
            ));
        }
        let summary = pool.summary();
        if let Some(trouble) = report::gpu_trouble(&summary) {
            self.say(match self.plan.gpu_required {
                true => Note::Failure(Failure::new(1, [b"A GPU is required: ", trouble.as_bytes()].concat())),
                false => Note::Remark(trouble.into_bytes()),
            });
        }
        if self.plan.verbose >= 2 {
            self.say(Note::Line(report::stations(&summary)));
        }
        if self.wrote_to_stdout
            && !self.broken_pipe
            && let Err(e) = inherited::close_stdout()
        {
            self.say(Note::Failure(Failure::output("write", OsStr::new("(stdout)"), &e)));
        }
        self.committer.finish();
        if self.broken_pipe { Outcome::BrokenPipe } else { Outcome::Exit(self.report.code()) }
    }

    fn hint(&self, text: &str) {
        if self.plan.quiet == 0 {
            self.say(Note::Line(text.as_bytes().to_vec()));
        }
    }
}

impl Outputs for Results {
    type Meta = Job;
    type Out = Out;

    fn begin(&mut self, job: &mut Job) -> Option<Out> {
        if let Some(remark) = job.remark.take() {
            self.say(Note::Remark(remark));
        }
        let opened = match &job.ready {
            Ok(ready) => self.open(&ready.destination),
            Err(failure) => Err(failure.clone()),
        };
        match opened {
            Ok(out) => {
                if self.plan.verbose >= 2 {
                    self.say(Note::Line(self.report.named(&job.name)));
                }
                Some(out)
            }
            Err(failure) => {
                self.done += 1;
                self.say(Note::Failure(failure));
                None
            }
        }
    }

    fn block(&mut self, job: &mut Job, block: &BlockInfo) {
        if self.plan.verbose >= 2 {
            self.say(Note::Line(report::block_line(block, self.plan.mode == Mode::Compress).into_bytes()));
        }
        self.report.progress.at(&self.plan, &job.name, block.bytes_in);
    }

    fn end(&mut self, job: Job, out: Out, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        self.done += 1;
        let Ok(ready) = job.ready else { return ControlFlow::Continue(()) };
        let destination = ready.destination.clone();
        let result = match outcome {
            Ok(stream) => {
                self.report.progress.input_done(stream.bytes_in);
                self.complete(&job.name, ready, out, &stream)
            }
            Err(error) => Err(out.abandon(error)),
        };
        let Err(error) = result else { return ControlFlow::Continue(()) };
        let to_stdout = matches!(destination, Destination::Stdout);
        match &error {
            Error::Write(e) if to_stdout && e.kind() == io::ErrorKind::BrokenPipe => self.broken_pipe = true,
            _ => self.failed(&job.name, &destination, &error),
        }
        // What follows on stdout would hide that something is missing, unless it is just one whole file.
        let goes_on = !to_stdout || matches!(error, Error::NotBzip2 | Error::TrailingGarbage { .. });
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

impl Out {
    /// After an error: blocks that were whole still go to stdout; a file vanishes.
    fn abandon(self, error: Error) -> Error {
        match self {
            Out::Nothing => {}
            Out::File(file) => drop(file.into_parts()),
            Out::Stdout(stdout) if matches!(error, Error::Write(_)) => drop(stdout.into_parts()),
            Out::Stdout(mut stdout) => {
                let flushed = stdout.flush();
                let _ = stdout.into_parts();
                if let Err(e) = flushed {
                    return Error::Write(e);
                }
            }
        }
        error
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Out::Nothing => Ok(bytes.len()),
            Out::Stdout(stdout) => stdout.write(bytes),
            Out::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Out::Nothing => Ok(()),
            Out::Stdout(stdout) => stdout.flush(),
            Out::File(file) => file.flush(),
        }
    }
}

/// How many files may wait for the disk together: two descriptors each are never missed elsewhere.
fn batch() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(1024) as usize;
    (descriptors.saturating_sub(24) / 4).clamp(1, 256)
}
