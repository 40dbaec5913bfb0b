//! The modes that do not turn each file into a file.

use super::choices::Recovery;
use super::coding::{Coding, LARGE_FLAGS};
use super::files::{FilesMode, Work};
use super::given::{Given, Operand};
use super::index::IndexPlan;
use super::report::{ReportPlace, report};
use super::rows::prints_offsets;
use super::rules;
use super::target::{Target, target};
use anyhow::bail;
use hybz::shard::Shard;
use hybz::{Level, Verify};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Lists files.
#[derive(Clone, Debug)]
pub struct ListMode {
    pub listing: Listing,
    /// The index to write for a file.
    pub index: Option<IndexPlan>,
}

/// How files are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    Table,
    Json,
    Offsets,
}

impl ListMode {
    pub fn new(given: &Given<'_>) -> anyhow::Result<ListMode> {
        let flags = given.flags;
        let listing = match (flags.json.is_some(), prints_offsets(flags)) {
            (false, false) => Listing::Table,
            (true, false) => Listing::Json,
            (true, true) => bail!("--json and --index-format=offsets cannot be used together."),
            (false, true) if flags.verbose > 0 => bail!("--index-format=offsets and -v cannot be used together."),
            (false, true) => match given.operands.len() {
                1 => Listing::Offsets,
                operands => bail!("--index-format=offsets lists one file, not {operands}."),
            },
        };
        Ok(ListMode { listing, index: IndexPlan::new(given)? })
    }
}

/// Measures how repetitive files are.
#[derive(Clone, Debug)]
pub struct MeasureMode {
    /// Whether to measure the text of compressed files.
    pub decode: bool,
    /// Whether objects replace the table.
    pub json: bool,
}

/// Writes the good blocks of damaged files.
#[derive(Clone, Debug)]
pub struct RecoverMode {
    pub recovery: Recovery,
    pub target: Target,
    /// The index to read, if one was named.
    pub index: Option<IndexPlan>,
    pub json: bool,
    /// Whether zeros in results become holes.
    pub sparse: bool,
}

impl RecoverMode {
    pub fn new(given: &Given<'_>, recovery: Recovery) -> anyhow::Result<RecoverMode> {
        let (target, json) = (target(given)?, given.flags.json.is_some());
        match target {
            Target::Beside if given.reads_stdin() => {
                bail!("The result of recovering stdin needs a name: use -o or -c.")
            }
            Target::Beside => {}
            _ if recovery == Recovery::Split => {
                bail!("--recover=split makes several files: it takes neither -c nor -o.")
            }
            Target::Stdout if json => bail!("--json prints to standard output: use --recover with -o, not with -c."),
            _ => {}
        }
        Ok(RecoverMode { recovery, target, index: IndexPlan::new(given)?, json, sparse: !given.flags.no_sparse })
    }
}

/// The speed of compressing and decompressing files is measured.
#[derive(Clone, Debug)]
pub struct BenchMode {
    /// How long to measure each speed.
    pub time: Duration,
    /// The only direction to measure, if one was typed.
    pub only: Option<Direction>,
    /// The format to write and read again.
    pub coding: Coding,
    /// Other programs to measure too.
    pub against: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Compress,
    Decompress,
}

impl BenchMode {
    pub fn new(given: &Given<'_>, seconds: f64, coding: Coding) -> anyhow::Result<BenchMode> {
        let flags = given.flags;
        if given.reads_stdin() {
            bail!("--bench reads files, not standard input.");
        }
        let only = match () {
            () if flags.decompress => Some(Direction::Decompress),
            () if flags.compress => Some(Direction::Compress),
            () => None,
        };
        if only == Some(Direction::Decompress) {
            let formats = ["--format=bz2", "--format=hbz", "--format=lz4"];
            rules::refuse(given, "-d", &formats)?;
            rules::refuse(given, "-d", &["--stream-size", "--block-size", "--perturb"])?;
        }
        let against = flags.against.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect::<Vec<_>>();
        if against.iter().any(String::is_empty) {
            bail!("--against wants programs such as lbzip2,pbzip2.");
        }
        if !against.is_empty() && (coding.large_blocks().is_some() || flags.perturb.is_some()) {
            bail!("--against works only with .bz2 output: it cannot be used together with {LARGE_FLAGS}.");
        }
        let time = Duration::from_secs_f64(seconds);
        Ok(BenchMode { time, only, coding, against })
    }
}

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
        let plan = given.flags.join.as_ref().map(PathBuf::from).unwrap_or_default();
        let join = Join { plan, verify: given.flags.verifies() };
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
        let verify = if given.flags.verifies() { Verify::All } else { Verify::Off };
        Ok(ShardMode { number, plan, report: report(given, &target)?, target, verify })
    }

    /// The mode that compresses `shard` of a file of this length, once the plan has been read.
    pub fn files(self, level: Level, shard: Shard, file_len: u64) -> FilesMode {
        let work = Work::Shard { level, shard, file_len, verify: self.verify };
        FilesMode { work, target: self.target, index: None, report: self.report, remove_sources: false }
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
