//! The results of one call, which the flow hands over in the order of the operands. Their bytes go to stdout or into
//! files, their messages are printed, and together they give the exit code.

use crate::cli::args::{Kind, Plan, Target, usual_index};
use crate::cli::files::reread::Reread;
use crate::cli::files::{
    Committer, Destination, Finished, IndexJob, Item, Job, OutputFile, Pending, Ready, Sink, SourceFile, State,
};
use crate::cli::messages::formats::no_index;
use crate::cli::messages::{self, Entry, Failure, Messages, Note, broken_pipe, errno_text, stations};
use crate::cli::modes::run::outcome_text;
use crate::cli::modes::{limits, shard};
use anyhow::Context as _;
use hybz::flow::Outputs;
use hybz::{BlockInfo, Error, Formats, Pool, StreamInfo, StreamSummary};
use hybz_files::attributes::RefusedMode;
use hybz_files::directory::{Directory, is_file};
use hybz_files::process;
use hybz_files::quote::shown;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub struct Results {
    plan: Arc<Plan>,
    messages: Arc<Messages>,
    committer: Committer,
    /// The directory of the last result: the next result usually goes to the same one.
    directory: Option<Directory>,
    pool: Pool,
    /// The number of the last block's stream, and how many blocks of its input come before that stream.
    stream: (u64, u64),
    done: usize,
    /// Whether operands were skipped because of `--fail-fast`, or because stdout can no longer be used. The side that
    /// opens operands sets it too: after a failure it opens no more, so the skipped ones may never come here.
    pub stopped: Arc<AtomicBool>,
    wrote_to_stdout: bool,
    /// Whether a remark said that a result has another mode than its source: once is enough.
    said_mode: AtomicBool,
    broken_pipe: bool,
    /// Whether accelerators have been seen at work, so that texts have huge pages.
    accelerated: bool,
    /// The damaged file to name in the advice at the end; FILE if there are several, or if the file has no name.
    damaged: Option<OsString>,
}

/// bzip2's advice after damage, but with `--recover` if this program knows that flag.
fn advice(plan: &Plan, file: &OsStr) -> Vec<u8> {
    let program = match plan.formats {
        Formats::Bzip2 => b"the `bzip2recover' program".to_vec(),
        _ => [b"`hybz --recover ", shown(file).as_bytes(), b"'"].concat(),
    };
    let end = b" to attempt to recover\ndata from undamaged sections of corrupted files.\n\n";
    [b"\nYou can use ", &program[..], end].concat()
}

impl Results {
    pub fn new(plan: Arc<Plan>, messages: Arc<Messages>, pool: &Pool) -> anyhow::Result<Results> {
        // The lines of blocks are printed as they come, so no message may wait in a queue before them.
        let syncs = plan.sync && (plan.remove_sources || plan.resume);
        let worth_a_thread = syncs && plan.has_many() && plan.verbose < 2;
        let committer = Committer::new(messages.clone(), worth_a_thread.then(|| max_batch(&plan)));
        if let Some(report) = &messages.report {
            report.speak_at_the_end().context("Can't handle signals")?;
        }
        Ok(Results {
            accelerated: false,
            plan,
            messages,
            committer,
            directory: None,
            pool: pool.clone(),
            stream: (0, 0),
            done: 0,
            stopped: Arc::default(),
            wrote_to_stdout: false,
            said_mode: AtomicBool::new(false),
            broken_pipe: false,
            damaged: None,
        })
    }

    /// Prints a message, after the messages of earlier operands.
    fn print(&self, note: Note) {
        if let Note::Failure(failure) | Note::Apart(failure) = &note {
            self.messages.raise(failure.code); // immediately, for --fail-fast
        }
        self.committer.push(Item::Note(note));
    }

    fn open(&mut self, ready: &Ready) -> Result<Sink, Failure> {
        let place = match &ready.destination {
            Destination::Nothing => return Ok(Sink::nothing()),
            Destination::Stdout => {
                self.wrote_to_stdout = true;
                return Ok(Sink::stdout());
            }
            Destination::File(place) => place,
        };
        // The result may have appeared after the operand was opened: another operand can have a result of the same
        // name.
        let is_typed = matches!(self.plan.target, Target::File(_));
        let existing = is_typed && (self.plan.force || place.is_stream());
        let mut owners: Vec<u32> = ready.source.iter().map(|source| source.found.uid()).collect();
        match place.find_link() {
            Ok(_) if !self.plan.force && !existing => return Err(Failure::exists(place.name())),
            Ok(old) if is_file(&old) => owners.push(old.st_uid),
            _ => {}
        }
        let mut create = || {
            let directory = place.directory(self.directory.as_ref())?;
            self.directory = Some(directory.clone());
            OutputFile::create(place.path(), directory, (ready.source.is_some(), existing), &owners)
        };
        let output = create().map_err(|e| Failure::output("create", place.name(), &e))?;
        let holes = self.plan.kind == Kind::Decompress && !self.plan.no_sparse;
        Ok(Sink::file(output.with_holes(holes)))
    }

    /// After a successful stream: hands over the last steps of its result.
    fn complete(
        &self,
        (name, index, pending): (&OsStr, Option<IndexJob>, Pending),
        ready: Ready,
        sink: Sink,
        stream: &StreamSummary,
    ) -> Result<(), Error> {
        let (plan, replace) = (&self.plan, self.plan.force); // without -f, a name that exists is refused
        let message = outcome_text::success(&self.messages, name, stream);
        let mut index = index.and_then(|index| self.index(name, index, &ready));
        let count = (stream.bytes_in, stream.bytes_out);
        let Some(mut output) = sink.finish().map_err(Error::Write)? else {
            self.messages.tally.done(count.0, count.1);
            self.print(Note::Line(message));
            if let Some(mut index) = index {
                let sync = plan.sync && index.replaces();
                let mut finished = Finished::new(index, replace, pending);
                finished.sync = sync;
                self.committer.push(Item::File(Box::new(finished)));
            }
            return Ok(());
        };
        if let Some(source) = &ready.source
            && let Some(RefusedMode { has, wanted, why }) = output.set_attributes(source).map_err(Error::Write)?
            && !self.said_mode.swap(true, Relaxed)
        {
            let text = format!(" has mode {has:03o}, not {wanted:03o}: {}.", errno_text(&why));
            self.print(Note::about(output.path.as_os_str(), &text));
        }
        let reread = ready.source.as_ref().filter(|_| plan.rereads);
        let reread = reread.map(|source| Reread { source: source.again(), pool: self.pool.clone() });
        let removal = ready.source.filter(|_| plan.remove_sources);
        let (source, note) = removal.map_or((None, None), |source| self.removal(source, count.0, reread.is_some()));
        let replaces = replace && (output.replaces() || index.as_mut().is_some_and(OutputFile::replaces));
        let sync = plan.sync && (source.is_some() || reread.is_some() || replaces);
        let mut finished = Finished::new(output, replace, pending);
        (finished.index, finished.source, finished.sync) = (index, source, sync);
        (finished.reread, finished.message, finished.count) = (reread, message, Some(count));
        self.committer.push(Item::File(Box::new(finished)));
        note.into_iter().for_each(|note| self.print(note));
        Ok(())
    }

    /// The source, of which `read` bytes were read, if it is to be removed, and a note about that. If it `is_compared`
    /// with its result later, that finds any change.
    fn removal(&self, source: SourceFile, read: u64, is_compared: bool) -> (Option<SourceFile>, Option<Note>) {
        let name = source.place.name();
        if !source.found.is_file() {
            return (None, None); // hybz does not remove devices and FIFOs
        }
        if self.plan.force && source.place.names_open_file() {
            return (None, Some(Note::about(name, " is the name of an open descriptor: not removed.")));
        }
        if self.plan.kind == Kind::Compress && source.found.len() != read {
            return (None, (!is_compared).then(|| Note::Failure(Failure::changed(name))));
        }
        let index = self.index_left(&source);
        (Some(source), index.map(Note::Remark))
    }

    /// The remark that the index of a removed compressed file stays, if the file has an index.
    fn index_left(&self, source: &SourceFile) -> Option<Vec<u8>> {
        if self.plan.kind != Kind::Decompress || self.plan.formats == Formats::Bzip2 {
            return None;
        }
        let index = source.place.beside(usual_index(source.place.path()));
        let found = index.find_link().ok().filter(is_file)?;
        let (index, name) = (shown(index.name()), shown(source.place.name()));
        (found.st_size > 0).then(|| [index.as_bytes(), b" is kept: it is the index of ", name.as_bytes()].concat())
    }

    fn index(&self, name: &OsStr, index: IndexJob, ready: &Ready) -> Option<OutputFile> {
        match index.write(ready.source.as_ref()) {
            Ok(Ok(output)) => return Some(output),
            Ok(Err(why)) => self.print(Note::Remark(no_index(why, name))),
            Err(failure) => self.print(Note::Failure(failure)),
        }
        None
    }

    fn as_planned(&self, stream: StreamSummary) -> Result<StreamSummary, Error> {
        match &self.plan.part {
            Some((shard, _))
                if (stream.bytes_in, stream.blocks, stream.combined_crc) != (shard.length, shard.blocks, shard.crc) =>
            {
                Err(Error::Read(shard::changed(shard)))
            }
            _ => Ok(stream),
        }
    }

    pub fn finish(self, pool: &Pool) -> anyhow::Result<u8> {
        let plan = &self.plan;
        self.messages.progress.end();
        if let Some(file) = &self.damaged {
            self.hint(&advice(plan, file));
        }
        let (all, counts_all) = (plan.operands.len(), plan.is_open_ended() || plan.resume);
        let left = if counts_all { usize::from(self.stopped.load(Relaxed)) } else { all - self.done };
        if left > 0 && !self.broken_pipe {
            let program = plan.program.display();
            let which = format!(":\n{program}:    {all} specified on command line, {left} not processed yet");
            let which = if counts_all { "" } else { &which };
            self.hint(format!("{program}: WARNING: some files have not been processed{which}.\n\n").as_bytes());
        }
        let summary = pool.summary();
        if let Some(trouble) = stations::gpu_trouble(&summary) {
            self.print(match plan.gpu_required {
                true => Note::Failure(Failure::new(1, [b"A GPU is required: ", trouble.as_bytes()].concat())),
                false => Note::Remark(trouble.into_bytes()),
            });
        } else if plan.gpu_required && stations::gpus_came_late(&summary) {
            self.print(Note::Remark(b"no GPU was used: the CPU had done all the work before one was ready".to_vec()));
        }
        stations::remarks(&summary).into_iter().for_each(|remark| self.print(Note::Remark(remark)));
        if plan.verbose >= 2 {
            self.print(Note::Line([stations::table(&summary), stations::verified(&summary)].concat()));
        }
        if self.wrote_to_stdout && !self.broken_pipe {
            Messages::stdout_failure().into_iter().for_each(|note| self.print(note));
        }
        self.committer.finish();
        if counts_all {
            self.messages.print(&Note::Remark(self.messages.tally.line(plan.kind).into_bytes()));
        }
        self.messages.close(Some(&summary), self.broken_pipe);
        if self.broken_pipe { Err(broken_pipe()) } else { Ok(self.messages.code()) }
    }

    fn write_report(&self, entry: Option<Box<Entry>>) {
        if let Some(entry) = entry {
            self.print(Note::Entry(entry));
        }
    }

    fn hint(&self, text: &[u8]) {
        if self.plan.quiet == 0 {
            self.print(Note::Line(text.to_vec()));
        }
    }
}

impl Outputs for Results {
    type Meta = Job;
    type Out = Sink;

    fn begin(&mut self, job: &mut Job) -> Option<Sink> {
        if self.plan.fail_fast && self.messages.code() > 0 {
            self.stopped.store(true, Relaxed);
            return None;
        }
        if let Some(remark) = job.remark.take() {
            self.print(Note::Remark(remark));
        }
        let opened = match &job.state {
            State::Ready(ready) => {
                let private = ready.source.is_some();
                let last = self.directory.as_ref();
                let index = job.index.as_mut().map_or(Ok(()), |index| index.create(private, last));
                index.and_then(|()| self.open(ready))
            }
            State::Failed(failure) => Err(failure.clone()),
            State::Own => return None,
            State::Complete { result, bytes } => {
                self.done += 1;
                self.messages.progress.counts.input_done(Some(*bytes));
                if let Some(entry) = &mut job.entry {
                    (entry.result, entry.complete) = (Some(result.clone()), true);
                }
                self.write_report(job.entry.take());
                return None;
            }
        };
        match opened {
            Ok(mut sink) => {
                if self.plan.verbose >= 2 {
                    self.print(Note::Line(self.messages.line_start(&job.name)));
                }
                sink.counts = Some(Arc::clone(&self.messages.progress.counts));
                Some(sink)
            }
            Err(failure) => {
                self.done += 1;
                self.messages.progress.counts.input_done(None);
                let apart = job.entry.is_none();
                self.print(if apart { Note::Apart(failure) } else { Note::Failure(failure) });
                self.write_report(job.entry.take());
                None
            }
        }
    }

    fn write(&mut self, out: &mut Sink, text: Vec<u8>) -> io::Result<()> {
        // More than one reader: accelerators have been started.
        if !self.accelerated && self.pool.readers() > 1 {
            self.accelerated = true;
            limits::huge_pages_for_texts(&self.plan);
        }
        out.give(text, &self.pool)
    }

    fn stream(&mut self, job: &mut Job, stream: &StreamInfo) {
        if let Some(index) = &mut job.index {
            index.recorder.stream(stream);
        }
        if let Some(entry) = &mut job.entry {
            entry.add(stream);
        }
    }

    fn block(&mut self, job: &mut Job, block: &BlockInfo) {
        if let Some(index) = &mut job.index {
            index.recorder.block(block);
        }
        if self.plan.verbose >= 2 {
            if block.number == 1 || block.stream != self.stream.0 {
                self.stream = (block.stream, block.number - 1);
            }
            let (number, compressed) = (block.number - self.stream.1, self.plan.kind == Kind::Compress);
            self.print(Note::Line(messages::block_line(block, number, compressed).into_bytes()));
        }
        self.messages.progress.advance(&job.name, block.bytes_in);
    }

    fn end(&mut self, mut job: Job, sink: Sink, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        self.done += 1;
        self.messages.progress.counts.input_done(outcome.as_ref().ok().map(|stream| stream.bytes_in));
        let mut entry = job.entry.take();
        let State::Ready(ready) = job.state else { return ControlFlow::Continue(()) };
        let destination = ready.destination.clone();
        if let Some(entry) = &mut entry {
            entry.result = match &destination {
                Destination::Stdout => Some("-".into()),
                Destination::File(place) => Some(place.name().to_owned()),
                Destination::Nothing => None,
            };
            entry.stream = outcome.as_ref().ok().copied();
        }
        if let Some(range) = ready.seen.beyond.get() {
            let text = format!(": the text ends before the range {range} begins.");
            self.print(Note::about(&job.name, &text));
        }
        let (mut head, has_name) = (Vec::new(), ready.source.is_some());
        let result = match outcome.and_then(|stream| self.as_planned(stream)) {
            Ok(stream) => self.complete((&job.name, job.index, job.pending), *ready, sink, &stream),
            Err(error) => {
                head = ready.head();
                Err(outcome_text::placed(&self.plan, sink.abandon(error)))
            }
        };
        let Err(error) = result else {
            self.write_report(entry);
            return ControlFlow::Continue(());
        };
        let to_stdout = matches!(destination, Destination::Stdout);
        match &error {
            Error::Write(e) if to_stdout && e.kind() == io::ErrorKind::BrokenPipe => {
                self.broken_pipe = true;
                if let Some(entry) = &mut entry {
                    let failure = Failure::output("write", OsStr::new("(stdout)"), e);
                    entry.unsaid = Some((failure.code, failure.text));
                }
            }
            _ => {
                let verdict = outcome_text::failure(&self.messages, &job.name, &destination, &error, &head);
                if verdict.damage {
                    let only = has_name && self.damaged.is_none();
                    self.damaged = Some(if only { job.name } else { OsString::from("FILE") });
                }
                verdict.notes.into_iter().for_each(|note| self.print(note));
            }
        }
        self.write_report(entry);
        // Later output on stdout would hide that text is missing, unless exactly one whole file is missing.
        let goes_on = !to_stdout || matches!(error, Error::NotBzip2 | Error::TrailingGarbage { .. });
        self.stopped.fetch_or(!goes_on, Relaxed);
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// The maximum number of files that wait for the disk together; it leaves enough descriptors for everything else. Each
/// file has two descriptors, or three with an index, and there are two batches: one waits while the other is filled.
fn max_batch(plan: &Plan) -> usize {
    let each = 2 + u64::from(plan.writes_index()) + u64::from(plan.rereads);
    (process::max_descriptors().saturating_sub(24) / (2 * each)).clamp(1, 256) as usize
}
