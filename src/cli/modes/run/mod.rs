//! One call of the command: a pool of stations takes the operands as inputs and gives results in the order of the
//! operands.

pub mod operands;
mod outcome_text;
pub mod part;
mod ranges;
mod results;
mod resume;

use crate::cli::args::{Gpus, Kind, Plan};
use crate::cli::files::OperandIter;
use crate::cli::messages::{Messages, Note};
use crate::cli::modes::run::operands::Operands;
use crate::cli::modes::run::results::Results;
use crate::cli::modes::{limits, shard};
use anyhow::anyhow;
use hybz::{Pool, flow};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread;

pub fn run(plan: Plan) -> anyhow::Result<u8> {
    limits::hide_gpus(&plan);
    let plan = Arc::new(plan);
    let messages = Arc::new(Messages::with_report(&plan)?);
    let closing = Closing(Arc::clone(&messages));
    let outcome = work(plan, messages);
    if let (Err(error), Some(report)) = (&outcome, &closing.0.report) {
        report.failed(1, format!("{error:#}").as_bytes(), true);
    }
    outcome
}

pub fn run_shard(mut plan: Plan) -> anyhow::Result<u8> {
    plan.kind = Kind::Compress;
    let Err(failure) = shard::read_plan(&mut plan) else { return run(plan) };
    let closing = Closing(Arc::new(Messages::with_report(&Arc::new(plan))?));
    closing.0.print(&Note::Failure(failure));
    Ok(closing.0.code())
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

fn work(plan: Arc<Plan>, messages: Arc<Messages>) -> anyhow::Result<u8> {
    if let Some(remark) = plan.coding.and_then(|coding| coding.remark()) {
        messages.print(&Note::Remark(remark.into_bytes()));
    }
    limits::check_block_size(&plan)?;
    let no_threads = limits::no_threads(&plan);
    limits::choose_memory(&plan, no_threads);
    // The process ends after this call, and the kernel takes back a pool's memory faster than we could free it.
    let pool = ManuallyDrop::new(if no_threads {
        limits::within_memory(&plan, Pool::builder().without_cpu()).build()
    } else {
        if plan.gpu_required {
            require_gpus(&plan.gpus)?;
        }
        let pool = limits::pool_of(&plan, limits::threads(&plan));
        limits::lanes(&plan).iter().fold(pool, |pool, lanes| pool.accelerators(lanes)).build()
    });
    run_with(plan, messages, &pool, no_threads)
}

fn run_with(plan: Arc<Plan>, messages: Arc<Messages>, pool: &Pool, no_threads: bool) -> anyhow::Result<u8> {
    let iter = match OperandIter::new(&plan, &messages) {
        Ok(iter) => iter,
        Err(failure) => {
            messages.print(&Note::Failure(failure));
            return Ok(messages.code());
        }
    };
    let mut results = Results::new(plan.clone(), messages.clone(), pool)?;
    let operands = Operands::new(plan, messages, iter, pool, Arc::clone(&results.stopped));
    match no_threads {
        true => hybz::internals::flow::run_here(pool, operands, &mut results),
        false => flow::run(pool, operands, &mut results),
    }
    results.finish(pool)
}

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
    use crate::cli::args::{self, Request};
    use hybz::schedule::Accepts;
    use std::ffi::{OsStr, OsString};
    use std::fs;
    use std::path::Path;

    /// The exit code of a call with two stations that code the third block wrong, perhaps also the second time.
    fn code(flags: &[&str], file: &Path, again: bool) -> u8 {
        let words = flags.iter().map(OsString::from).chain([file.into()]);
        let Ok(Request::Run(plan)) = args::parse(OsStr::new("hybz"), words, |_| None) else { panic!("{flags:?}") };
        let plan = Arc::from(plan);
        let messages = Arc::new(Messages::new(&plan));
        let (team, flips) = (Arc::default(), Some(Flips { block: 2, bit: 999, again }));
        let add = |builder| with_flipper(builder, Accepts::Everything, flips, &team);
        let pool = add(add(Pool::builder().without_cpu())).build();
        run_with(plan, messages, &pool, false).unwrap()
    }

    #[test]
    fn stations_that_code_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let (file, result) = (dir.path().join("a"), dir.path().join("a.bz2"));
        let text: Vec<u8> = (0..200_000u32).flat_map(|i| (i / 3).to_le_bytes()).collect();
        for (flag, again) in ["--verify", "--verify=file"].into_iter().flat_map(|flag| [(flag, false), (flag, true)]) {
            let _ = fs::remove_file(&result);
            fs::write(&file, &text).unwrap();
            assert_eq!(code(&["-1qq", flag], &file, again), if again { 3 } else { 0 }, "{flag}");
            if !again {
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
