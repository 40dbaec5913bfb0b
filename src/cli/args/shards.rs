//! The plans of `--plan`, `--shard` and `--join`.

use super::batch::Batch;
use super::files::{FilesMode, Work};
use super::kind::Given;
use super::operand::Operand;
use super::report::{ReportPlace, report};
use super::table::WITHOUT_PLAN;
use super::task::{Target, target};
use anyhow::bail;
use hybz::shard::Shard;
use hybz::{Level, Verify};
use std::path::{Path, PathBuf};

/// Makes a plan, or joins the parts that were made according to a plan.
#[derive(Clone, Debug)]
pub struct ShardsMode {
    pub target: Target,
    pub task: ShardsTask,
}

#[derive(Clone, Debug)]
pub enum ShardsTask {
    /// Find shards of at least `size` bytes.
    Plan { size: u64, level: Level },
    /// Join the parts made from shards.
    Join(Join),
}

/// How parts are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    pub plan: PathBuf,
    /// Whether the parts stay separate streams.
    pub streams: bool,
    /// Whether to decode the parts first.
    pub verify: bool,
}

/// Compresses one shard of a file.
#[derive(Clone, Debug)]
pub struct ShardMode {
    pub number: u64,
    pub plan: PathBuf,
    pub target: Target,
    pub report: Option<ReportPlace>,
    verify: Verify,
}

impl ShardsMode {
    pub fn plan(given: &Given<'_>, size: u64, level: Level) -> anyhow::Result<ShardsMode> {
        check_file(given)?;
        Ok(ShardsMode { target: target(given)?, task: ShardsTask::Plan { size, level } })
    }

    pub fn join(given: &Given<'_>) -> anyhow::Result<ShardsMode> {
        let join = join(given)?;
        if given.operands.len() > 1 && given.reads_stdin() {
            bail!("--join reads files, not standard input.");
        }
        let target = named_target(given, &join.plan)?;
        Ok(ShardsMode { target, task: ShardsTask::Join(join) })
    }
}

impl ShardMode {
    pub fn new(given: &Given<'_>, number: u64) -> anyhow::Result<ShardMode> {
        let Some(plan) = &given.flags.plan_file else { bail!("--shard wants a plan: --plan-file PLAN.") };
        let plan = PathBuf::from(plan);
        check_file(given)?;
        let target = named_target(given, &plan)?;
        let verify = if given.verifies() { Verify::All } else { Verify::Off };
        Ok(ShardMode { number, plan, report: report(given, &target)?, target, verify })
    }

    /// The mode that compresses `shard` of a file of this length, once the plan has been read.
    pub fn files(self, level: Level, shard: Shard, file_len: u64) -> FilesMode {
        let work = Work::Shard { level, shard, file_len, verify: self.verify };
        let (batch, index, remove_sources) = (Batch::default(), None, false);
        FilesMode { work, target: self.target, batch, index, report: self.report, remove_sources }
    }
}

fn check_file(given: &Given<'_>) -> anyhow::Result<()> {
    match given.operands[..] {
        [Operand::File(_)] => Ok(()),
        _ => bail!("{} wants one file.", given.kind.flag()),
    }
}

/// The target of a result that is not named after its source. It must not be the file `plan`.
fn named_target(given: &Given<'_>, plan: &Path) -> anyhow::Result<Target> {
    let (flag, target) = (given.kind.flag(), target(given)?);
    match &target {
        Target::File(result) if result == plan => bail!("{flag} and -o cannot name the same file."),
        Target::Beside => bail!("{flag} wants a name for its result: -o FILE, or -c for standard output."),
        _ => Ok(target),
    }
}

fn join(given: &Given<'_>) -> anyhow::Result<Join> {
    let flags = given.flags;
    let streams = flags.join.as_ref().is_some_and(|plan| plan == "streams");
    let Some(plan) = (if streams { &flags.plan_file } else { &flags.join }) else {
        bail!("--join=streams wants a plan: --plan-file PLAN. (A plan of this name is ./streams.)")
    };
    if flags.plan_file.is_some() && !streams {
        bail!("{WITHOUT_PLAN}");
    }
    Ok(Join { plan: plan.into(), streams, verify: given.verifies() })
}
