//! `--plan`, `--shard` and `--join`: one file is compressed in parts, on any machines, and the result is the file that
//! bzip2 would have written.

mod join;
mod meanwhile;
mod plan_file;

use crate::cli::args::{Kind, Operand, Plan, ShardMode, Target, level};
use crate::cli::files::place::Place;
use crate::cli::files::sink::Sink;
use crate::cli::files::source::{self, SourceFile};
use crate::cli::messages::progress::Progress;
use crate::cli::messages::{Failure, Messages, Note, Outcome};
use crate::cli::modes::run::part::check_file;
use crate::cli::modes::single::{self, Trouble};
use crate::cli::modes::{limits, undecoded};
use hybz::shard::{self, Shard};
use hybz::{Error, Level, ReadAt};
use plan_file::PlanFile;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;

/// Plans shards, or joins parts.
pub fn shards(plan: Plan<Target>) -> anyhow::Result<Outcome> {
    limits::choose_memory(&plan.common, false);
    let messages = Messages::new(&plan.common, Progress::new(&plan.common));
    let done = if plan.common.kind == Kind::Join { join::join(&plan, &messages) } else { cut(&plan) };
    messages.progress.end();
    match done {
        Ok(()) => return Ok(single::end(&plan.mode, &messages)),
        Err(Trouble::BrokenPipe) => return Ok(Outcome::BrokenPipe),
        Err(Trouble::Failure(failure)) => messages.print(&Note::Failure(failure)),
        Err(Trouble::Said) => {}
    }
    Ok(Outcome::Exit(messages.code()))
}

/// The level of a plan, the shard of it that `--shard` asks for, and the length of the file that was cut.
pub fn planned(mode: &ShardMode) -> Result<(Level, Shard, u64), Failure> {
    let ShardMode { number, plan: path, target, .. } = mode;
    // What is to be compressed is not yet open, and compared later.
    let place = place_of(target, None)?;
    single::check(place.as_ref(), inputs([path.as_path()]), true)?;
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

/// The place that a target names, near the `source`.
fn place_of(target: &Target, source: Option<&Place>) -> Result<Option<Place>, Failure> {
    let Target::File(path) = target else { return Ok(None) };
    Place::opened(path, source).map(Some).map_err(|e| Failure::output("create", path.as_os_str(), &e))
}

/// The attributes of files that are read.
fn inputs<'a>(paths: impl IntoIterator<Item = &'a Path>) -> impl Iterator<Item = (&'a OsStr, Metadata)> {
    paths.into_iter().filter_map(|path| Some((path.as_os_str(), fs::metadata(path).ok()?)))
}

/// Opens the destination of a plan or a joined file. `used` is the plan that is read, `source` the file to plan.
fn create(plan: &Plan<Target>, used: Option<&Path>, source: Option<&Place>) -> Result<Sink, Failure> {
    let operands = plan.common.operands.iter().filter_map(|operand| match operand {
        Operand::File(file) => Some(file.as_path()),
        Operand::Stdin => None,
    });
    let place = place_of(&plan.mode, source)?;
    single::check(place.as_ref(), inputs(operands.chain(used)), plan.common.force)?;
    single::create(place.as_ref(), false, plan.common.force, false)
}

/// An error of writing a plan or a joined file.
fn write_trouble(plan: &Plan<Target>, e: &io::Error) -> Trouble {
    let name = if let Target::File(path) = &plan.mode { path.as_os_str() } else { OsStr::new("(stdout)") };
    single::write_trouble(name, e)
}

/// `--plan`.
fn cut(plan: &Plan<Target>) -> Result<(), Trouble> {
    let (size, level) = (plan.common.plan.unwrap_or_default(), level(&plan.common));
    let Some(operand) = plan.common.operands.first() else { return Ok(()) };
    let name = operand.name();
    let read_error = |e: &io::Error| Failure::input("read", name, e);
    let (place, mut file) = source::open(&plan.common, operand, "read data from", true)?;
    check_file(name, &mut file, "--plan")?;
    let source = SourceFile::of(operand, &file).map_err(|e| read_error(&e))?;
    let len = file.metadata().map_err(|e| read_error(&e))?.len();
    let mut out = create(plan, None, place.as_ref())?;
    let mut lines = plan_file::Lines::default();
    out.write_all(&lines.head(level, len)).map_err(|e| write_trouble(plan, &e))?;
    let mut end = 0;
    let found = shard::plan(&file, level, size, |shard| {
        end = shard.offset + shard.length;
        // A program that reads the lines gets each immediately.
        out.write_all(lines.shard(&shard).as_bytes()).and_then(|()| out.flush())
    });
    let crc = found.map_err(|error| match error {
        Error::Write(e) => write_trouble(plan, &e),
        error => undecoded(&plan.common, name, &error).into(),
    })?;
    let is_still = |source: SourceFile| source.is_unchanged(&file).unwrap_or(false);
    if end != len || !source.is_none_or(is_still) {
        return Err(Failure::about(1, "Input file ", name, " changed while it was read: its plan is of no use.").into());
    }
    out.write_all(lines.end(crc).as_bytes()).map_err(|e| write_trouble(plan, &e))?;
    single::finish(out, None, &plan.common)
}
