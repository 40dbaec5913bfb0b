//! `--plan`, `--shard` and `--join`: one file is compressed in parts, on any machines, and the result is the file that
//! bzip2 would have written.

mod join;
mod meanwhile;
mod plan_file;

use crate::cli::args::{Operand, Plan, ShardMode, ShardsMode, ShardsTask, Target};
use crate::cli::files::commit;
use crate::cli::files::output::OutputFile;
use crate::cli::files::place::Place;
use crate::cli::files::sink::Sink;
use crate::cli::files::source::{SourceFile, same_file};
use crate::cli::messages::progress::Progress;
use crate::cli::messages::{Failure, Messages, Note, Outcome};
use crate::cli::modes::limits;
use crate::cli::modes::run::part::check_file;
use hybz::shard::{self, Shard};
use hybz::{Error, Level, ReadAt};
use hybz_files::{file, stdout};
use plan_file::PlanFile;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;

/// Plans shards, or joins parts.
pub fn shards(plan: Plan<ShardsMode>) -> anyhow::Result<Outcome> {
    limits::choose_memory(&plan.common, false);
    let messages = Messages::new(&plan.common, Progress::new(&plan.common));
    let done = match &plan.mode.task {
        ShardsTask::Plan { size, level } => cut(&plan, *size, *level),
        ShardsTask::Join(how) => join::join(&plan, how, &messages),
    };
    messages.progress.end();
    match done {
        Ok(()) => {}
        Err(Trouble::BrokenPipe) => return Ok(Outcome::BrokenPipe),
        Err(Trouble::Failure(failure)) => messages.print(&Note::Failure(failure)),
        Err(Trouble::Said) => {}
    }
    Ok(Outcome::Exit(messages.code()))
}

/// The reason why there is no result.
enum Trouble {
    Failure(Failure),
    /// The reason has been printed already.
    Said,
    /// The reader of our stdout is gone.
    BrokenPipe,
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Failure(failure)
    }
}

/// The level of a plan, the shard of it that `--shard` asks for, and the length of the file that was cut.
pub fn planned(mode: &ShardMode) -> Result<(Level, Shard, u64), Failure> {
    let ShardMode { number, plan: path, target, .. } = mode;
    if let Target::File(result) = target
        && is_result(target, path)
    {
        return Err(Failure::about(1, "Output file ", result.as_os_str(), " is an input file."));
    }
    if let Target::Stdout = target {
        refuse_stdout_as(Some(path.as_path()))?;
    }
    let PlanFile { level, len, shards, .. } = PlanFile::read(path)?;
    let count = shards.len();
    let found = usize::try_from(*number).ok().and_then(|number| shards.get(number));
    let none = || Failure::about(1, "Plan ", path.as_os_str(), &format!(" has {count} shards, but no shard {number}."));
    Ok((level, *found.ok_or_else(none)?, len))
}

/// A file, limited to the end of a shard.
pub struct UpTo {
    file: File,
    end: u64,
}

impl ReadAt for UpTo {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let most = self.end.saturating_sub(offset).min(buf.len() as u64) as usize;
        self.file.read_at(&mut buf[..most], offset)
    }

    fn len(&self) -> u64 {
        self.end
    }
}

/// The text of a shard of a file that must have this length: what has been appended since the plan was made would be
/// missing in the joined file.
pub fn text(name: &OsStr, mut file: File, shard: &Shard, file_len: u64) -> Result<UpTo, Failure> {
    check_file(name, &mut file, "--shard")?;
    let read_error = |e: &io::Error| Failure::input("read", name, e);
    if file.metadata().map_err(|e| read_error(&e))?.len() != file_len {
        return Err(read_error(&why_changed(shard)));
    }
    Ok(UpTo { file, end: shard.offset + shard.length })
}

/// The reason why a shard differs from its plan.
pub fn changed(shard: &Shard) -> Error {
    Error::Read(why_changed(shard))
}

fn why_changed(shard: &Shard) -> io::Error {
    let number = shard.number;
    io::Error::other(format!("shard {number} differs from the plan: the file has changed, or is another one"))
}

/// Whether the result would replace this file.
fn is_result(target: &Target, file: &Path) -> bool {
    let Target::File(path) = target else { return false };
    fs::metadata(path).is_ok_and(|there| is_file(file, &there))
}

/// Refuses a stdout that leads to one of these inputs.
fn refuse_stdout_as<'a>(inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let Some(stdout) = stdout::regular_file() else { return Ok(()) };
    match inputs.into_iter().find(|input| is_file(input, &stdout)) {
        Some(input) => Err(Failure::about(1, "Input file ", input.as_os_str(), " is the output file.")),
        None => Ok(()),
    }
}

/// Whether the name `file` leads to this file.
fn is_file(file: &Path, found: &Metadata) -> bool {
    fs::metadata(file).is_ok_and(|file| same_file(&file, found))
}

/// Opens the destination of a plan or a joined file. `used` is the plan that is read, `source` the file to plan.
fn create(plan: &Plan<ShardsMode>, used: Option<&Path>, source: Option<&Place>) -> Result<Sink, Failure> {
    let Target::File(path) = &plan.mode.target else {
        stdout::check().map_err(|e| Failure::output("write", OsStr::new("(stdout)"), &e))?;
        let inputs = plan.common.operands.iter().filter_map(|operand| match operand {
            Operand::File(file) => Some(file.as_path()),
            Operand::Stdin => None,
        });
        refuse_stdout_as(inputs.chain(used))?;
        return Ok(Sink::stdout(false));
    };
    let is_it = |operand: &Operand| matches!(operand, Operand::File(file) if is_result(&plan.mode.target, file));
    if plan.common.operands.iter().any(is_it) || used.is_some_and(|used| is_result(&plan.mode.target, used)) {
        return Err(Failure::about(1, "Output file ", path.as_os_str(), " is an input file."));
    }
    let failed = |e: io::Error| Failure::output("create", path.as_os_str(), &e);
    let place = Place::opened(path, source).map_err(failed)?;
    let existing = plan.common.force || place.is_stream();
    if !existing && place.find_link().is_ok() {
        return Err(Failure::exists(place.name()));
    }
    let directory = place.directory(None).map_err(failed)?;
    let file = OutputFile::create(path, directory, (false, existing), place.owner().as_slice()).map_err(failed)?;
    Ok(Sink::file(file))
}

/// Closes the destination; a file gets its name.
fn finish(out: Sink, plan: &Plan<ShardsMode>) -> Result<(), Trouble> {
    let finish = || {
        let file = out.finish()?;
        match &file {
            Some(file) if plan.common.sync => drop(file.sync()?),
            Some(_) => {}
            None => stdout::close()?,
        }
        Ok(file)
    };
    let file = finish().map_err(|e: io::Error| write_trouble(plan, &e))?;
    file.map_or(Ok(()), |file| Ok(commit::publish(file, plan.common.force)?))
}

fn write_trouble(plan: &Plan<ShardsMode>, e: &io::Error) -> Trouble {
    match &plan.mode.target {
        Target::File(path) => Failure::output("write", path.as_os_str(), e).into(),
        _ if e.kind() == io::ErrorKind::BrokenPipe => Trouble::BrokenPipe,
        _ => Failure::output("write", OsStr::new("(stdout)"), e).into(),
    }
}

/// Opens the file to plan, without waiting for the writer of a FIFO. Only a file on a disk is accepted.
fn open_text(path: &Path, flag: &str) -> Result<(Place, File), Failure> {
    let name = path.as_os_str();
    let unopened = |e: io::Error| Failure::input("open", name, &e);
    let place = Place::opened(path, None).map_err(unopened)?;
    let (file, _) = place.open_at_once(true).map_err(unopened)?;
    let mut file = file.ok_or_else(|| unopened(file::not_found()))?;
    check_file(name, &mut file, flag)?;
    Ok((place, file))
}

/// `--plan`.
fn cut(plan: &Plan<ShardsMode>, size: u64, level: Level) -> Result<(), Trouble> {
    let Some(operand @ Operand::File(path)) = plan.common.operands.first() else { return Ok(()) };
    let name = path.as_os_str();
    let read_error = |e: &io::Error| Failure::input("read", name, e);
    let (place, file) = open_text(path, "--plan")?;
    let source = SourceFile::of(operand, &file).map_err(|e| read_error(&e))?;
    let len = file.metadata().map_err(|e| read_error(&e))?.len();
    let mut out = create(plan, None, Some(&place))?;
    let mut lines = plan_file::Lines::default();
    out.write_all(&lines.head(level, len)).map_err(|e| write_trouble(plan, &e))?;
    let mut end = 0;
    let found = shard::plan(&file, level, size, |shard| {
        end = shard.offset + shard.length;
        // A program that reads the lines gets each immediately.
        out.write_all(lines.shard(&shard).as_bytes()).and_then(|()| out.flush())
    });
    let crc = found.map_err(|error| match error {
        Error::Read(e) => read_error(&e).into(),
        Error::Write(e) => write_trouble(plan, &e),
        error => Trouble::Failure(Failure::internal(name, &error)),
    })?;
    let is_still = |source: SourceFile| source.is_unchanged(&file).unwrap_or(false);
    if end != len || !source.is_none_or(is_still) {
        return Err(Failure::about(1, "Input file ", name, " changed while it was read: its plan is of no use.").into());
    }
    out.write_all(lines.end(crc).as_bytes()).map_err(|e| write_trouble(plan, &e))?;
    finish(out, plan)
}
