//! `--plan`, `--shard` and `--join`: one file is compressed in parts, on any machines, and the result is the file that
//! bzip2 would have written.

mod join;
mod meanwhile;

use crate::cli::args::{Kind, Operand, Plan, Target};
use crate::cli::files::source_file;
use crate::cli::files::{Place, Sink, SourceFile, check_file};
use crate::cli::messages::{Failure, Messages, Note, broken_pipe};
use crate::cli::modes::plan_file::Lines;
use crate::cli::modes::shard::{inputs, place_of};
use crate::cli::modes::single::{self, Trouble};
use crate::cli::modes::{limits, undecoded};
use hybz::{Error, shard};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

pub fn shards(plan: Plan) -> anyhow::Result<u8> {
    limits::choose_memory(&plan, false);
    let plan = Arc::new(plan);
    let messages = Messages::new(&plan);
    let done = if plan.kind == Kind::Join { join::join(&plan, &messages) } else { cut(&plan) };
    messages.progress.end();
    match done {
        Ok(()) => return Ok(single::end(&plan.target, &messages)),
        Err(Trouble::BrokenPipe) => return Err(broken_pipe()),
        Err(Trouble::Failure(failure)) => messages.print(&Note::Failure(failure)),
        Err(Trouble::Said) => {}
    }
    Ok(messages.code())
}

/// Opens the destination of a plan or a joined file. `used` is the plan that is read, `source` the file to plan.
fn create(plan: &Plan, used: Option<&Path>, source: Option<&Place>) -> Result<Sink, Failure> {
    let operands = plan.operands.iter().filter_map(Operand::path);
    let place = place_of(&plan.target, source)?;
    single::check(place.as_ref(), inputs(operands.chain(used)), plan.force)?;
    single::create(place.as_ref(), false, plan.force, false)
}

fn write_trouble(plan: &Plan, e: &io::Error) -> Trouble {
    let name = if let Target::File(path) = &plan.target { path.as_os_str() } else { OsStr::new("(stdout)") };
    single::write_trouble(name, e)
}

fn cut(plan: &Plan) -> Result<(), Trouble> {
    let (size, level) = (plan.plan.unwrap_or_default(), plan.coding.map(|coding| coding.level).unwrap_or_default());
    let Some(operand) = plan.operands.first() else { return Ok(()) };
    let name = operand.name();
    let read_error = |e: &io::Error| Failure::input("read", name, e);
    let (source, mut file) = source_file::open(plan, operand, "read data from", true)?;
    check_file(name, &mut file, "--plan")?;
    let len = file.metadata().map_err(|e| read_error(&e))?.len();
    let mut out = create(plan, None, source.as_ref().map(|source| &source.place))?;
    let mut lines = Lines::default();
    out.write_all(&lines.head(level, len)).map_err(|e| write_trouble(plan, &e))?;
    let mut end = 0;
    let found = shard::plan(&file, level, size, |shard| {
        end = shard.offset + shard.length;
        // A program that reads the lines gets each immediately.
        out.write_all(lines.shard(&shard).as_bytes()).and_then(|()| out.flush())
    });
    let crc = found.map_err(|error| match error {
        Error::Write(e) => write_trouble(plan, &e),
        error => undecoded(plan, name, &error).into(),
    })?;
    let is_still = |source: SourceFile| source.is_unchanged(&file).unwrap_or(false);
    if end != len || !source.is_none_or(is_still) {
        return Err(Failure::about(1, "Input file ", name, " changed while it was read: its plan is of no use.").into());
    }
    out.write_all(lines.end(crc).as_bytes()).map_err(|e| write_trouble(plan, &e))?;
    single::finish(out, None, plan)
}
