//! One call of the command: a pool of stations takes the operands as inputs and gives results in the order of the
//! operands.

mod input;
pub mod operands;
mod outcome_text;
pub mod part;
mod ranges;
mod results;
mod resume;

use crate::cli::args::{Action, FilesMode, Gpus, Plan, ReportPlace, ShardMode};
use crate::cli::files::operand_iter::OperandIter;
use crate::cli::messages::progress::Progress;
use crate::cli::messages::report::{Report, work_name};
use crate::cli::messages::tally::Tally;
use crate::cli::messages::{Messages, Note, Outcome, errno_text};
use crate::cli::modes::limits;
use crate::cli::modes::run::operands::Operands;
use crate::cli::modes::run::results::Results;
use crate::cli::modes::shard;
use anyhow::{anyhow, bail};
use hybz::Pool;
use hybz::flow;
use hybz_files::quote::shown;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread;

/// Compresses, decompresses or tests files.
pub fn run(plan: Plan<FilesMode>) -> anyhow::Result<Outcome> {
    limits::hide_gpus(&plan);
    let plan = Arc::new(plan);
    let tally = Arc::default();
    let report = open_report(plan.mode.report.as_ref(), work_name(plan.mode.action), plan.common.count(), &tally)?;
    let progress = Progress::new(&plan.common);
    let progress = progress.of_compressed(plan.mode.action != Action::Compress);
    let messages = Arc::new(Messages::new(&plan.common, progress).with_report(report, tally));
    let closing = Closing(Arc::clone(&messages));
    let outcome = work(plan, messages);
    if let Err(error) = &outcome
        && let Some(report) = &closing.0.report
    {
        report.failed(1, format!("{error:#}").as_bytes(), true);
    }
    outcome
}

/// Compresses a shard.
pub fn run_shard(plan: Plan<ShardMode>) -> anyhow::Result<Outcome> {
    let Plan { common, mode } = plan;
    match shard::planned(&mode) {
        Ok((level, shard, len)) => run(Plan { common, mode: mode.files(level, shard, len) }),
        Err(failure) => {
            let tally = Arc::default();
            let report = open_report(mode.report.as_ref(), work_name(Action::Compress), Some(1), &tally)?;
            let messages = Messages::new(&common, Progress::new(&common)).with_report(report, tally);
            let closing = Closing(Arc::new(messages));
            closing.0.print(&Note::Failure(failure));
            Ok(Outcome::Exit(closing.0.code()))
        }
    }
}

/// Opens the report of `work`, if there is a `place` for one. `operands` is the number of operands, if known.
fn open_report(
    place: Option<&ReportPlace>,
    work: &'static str,
    operands: Option<u64>,
    tally: &Arc<Tally>,
) -> anyhow::Result<Option<Report>> {
    let Some(place) = place else { return Ok(None) };
    let name = shown(place.name());
    match Report::open(place, work, operands, tally) {
        Ok(report) => Ok(Some(report)),
        Err(e) if e.kind() == io::ErrorKind::InvalidData => {
            bail!("File {} is not a report: nothing is appended to it.", name.display())
        }
        Err(e) => bail!("Can't open report {}: {}.", name.display(), errno_text(&e)),
    }
}

/// Ends the report, however the work ends.
struct Closing(Arc<Messages>);

impl Drop for Closing {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.raise(3);
        }
        self.0.close(None, false);
    }
}

fn work(plan: Arc<Plan<FilesMode>>, messages: Arc<Messages>) -> anyhow::Result<Outcome> {
    if let Some(remark) = plan.mode.coding.and_then(|coding| coding.remark()) {
        messages.print(&Note::Remark(remark.into_bytes()));
    }
    let mut pool = Pool::builder();
    if let Some(memory) = plan.common.memory {
        pool = pool.memory(memory);
    }
    if let Some(coding) = plan.mode.coding {
        limits::check_block_size(&coding, limits::expected_bytes(&plan))?;
    }
    let no_threads = limits::no_threads(&plan);
    limits::choose_memory(&plan.common, no_threads);
    // The process ends after this call, and the kernel takes back a pool's memory faster than we could free it.
    let pool = ManuallyDrop::new(if no_threads {
        pool.without_cpu().build()
    } else {
        if plan.common.gpu_required {
            require_gpus(&plan.common.gpus)?;
        }
        pool = pool.threads(limits::threads(&plan.common, plan.mode.coding)).max_memory(limits::share_of_memory());
        for lanes in limits::lanes(&plan) {
            pool = pool.accelerators(&lanes);
        }
        pool.build()
    });
    run_with(plan, messages, &pool, no_threads)
}

/// Does the work on the pool.
fn run_with(
    plan: Arc<Plan<FilesMode>>,
    messages: Arc<Messages>,
    pool: &Pool,
    no_threads: bool,
) -> anyhow::Result<Outcome> {
    let iter = match OperandIter::new(&plan, &messages) {
        Ok(iter) => iter,
        Err(failure) => {
            messages.print(&Note::Failure(failure));
            return Ok(Outcome::Exit(messages.code()));
        }
    };
    let mut results = Results::new(plan.clone(), messages.clone(), pool)?;
    let operands = Operands::new(plan, messages, iter, pool, results.stopped());
    match no_threads {
        true => hybz::internals::flow::run_here(pool, operands, &mut results),
        false => flow::run(pool, operands, &mut results),
    }
    Ok(results.finish(pool))
}

/// Returns an error if a GPU that is required cannot be used.
fn require_gpus(gpus: &Gpus) -> anyhow::Result<()> {
    let found = hybz::internals::gpu::devices().and_then(|devices| match gpus {
        Gpus::These(list) => hybz::internals::gpu::select(list, &devices),
        _ => Ok(devices),
    });
    found.map(drop).map_err(|why| anyhow!("A GPU is required: {why}."))
}

#[cfg(test)]
#[path = "../../../../tests/flipper/mod.rs"]
mod flipper;

#[cfg(test)]
mod tests {
    use super::flipper::{Flips, with_flipper};
    use super::*;
    use crate::cli::args::{self, Mode, Request};
    use hybz::schedule::Accepts;
    use std::ffi::{OsStr, OsString};
    use std::fs;
    use std::path::Path;

    /// The exit code of a call with two stations that code the third block wrong, perhaps also the second time.
    fn code(flags: &[&str], file: &Path, again: bool) -> u8 {
        let words = flags.iter().map(OsString::from).chain([file.into()]);
        let Ok(Request::Run(plan)) = args::parse(OsStr::new("hybz"), words, |_| None) else { panic!("{flags:?}") };
        let Plan { common, mode: Mode::Files(mode) } = *plan else { panic!("{flags:?}") };
        let plan = Arc::new(Plan { common, mode });
        let progress = Progress::new(&plan.common);
        let messages = Arc::new(Messages::new(&plan.common, progress));
        let (team, flips) = (Arc::default(), Some(Flips { block: 2, bit: 999, again }));
        let add = |builder| with_flipper(builder, Accepts::Everything, flips, &team);
        let pool = add(add(Pool::builder().without_cpu())).build();
        match run_with(plan, messages, &pool, false).unwrap() {
            Outcome::Exit(code) => code,
            Outcome::BrokenPipe => panic!("no pipe"),
        }
    }

    #[test]
    fn stations_that_code_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let (file, result) = (dir.path().join("a"), dir.path().join("a.bz2"));
        let text: Vec<u8> = (0..200_000u32).flat_map(|i| (i / 3).to_le_bytes()).collect();
        for (flags, again, expected) in [
            (&["-1qq", "--verify"][..], false, 0),
            (&["-1qq", "--verify=file"], false, 0),
            (&["-1qq", "--verify"], true, 3),
            (&["-1qq", "--verify=file"], true, 3),
        ] {
            let _ = fs::remove_file(&result);
            fs::write(&file, &text).unwrap();
            assert_eq!(code(flags, &file, again), expected, "{flags:?}");
            if expected == 0 {
                assert_eq!(hybz::decompress(&fs::read(&result).unwrap(), &Default::default()).unwrap(), text);
                assert!(!file.exists());
            } else {
                assert_eq!(fs::read(&file).unwrap(), text);
                assert!(!result.exists());
                assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
            }
        }
    }
}
