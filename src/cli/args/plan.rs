//! The second of the two steps: derives from the typed flags what the program needs to know. Here are the modes that do
//! not turn each file into a file.

use super::choices::Recovery;
use super::coding::{Coding, LARGE_FLAGS};
use super::common::{Common, Operand};
use super::files::{Action, FilesMode, VerifyPlan};
use super::flags::Flags;
use super::index::IndexPlan;
use super::rows::Kind;
use super::rules;
use super::target::{ReportPlace, Target, report, target};
use anyhow::bail;
use hybz::shard::Shard;
use hybz::{Level, Verify};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A call: the options that all modes have, and its mode.
#[derive(Clone, Debug)]
pub struct Plan<M = Mode> {
    pub common: Common,
    pub mode: M,
}

/// The mode, with everything that only this mode needs and that flags alone do not say.
#[derive(Clone, Debug)]
pub enum Mode {
    Files(FilesMode),
    Shard(ShardMode),
    /// Makes a plan there, or joins the parts that were made according to a plan.
    Shards(Target),
    List(ListMode),
    Recover(RecoverMode),
    Bench(BenchMode),
    Measure,
}

impl Plan {
    /// The plan for these flags and operands, if the program was called by the name `program`.
    pub fn new(program: &OsStr, flags: Flags, operands: Vec<Operand>) -> anyhow::Result<Plan> {
        let common = Common::new(program, flags, operands);
        rules::check(&common)?;
        let coding = Coding::new(&common)?;
        let mode = match common.kind {
            Kind::Compress | Kind::Decompress | Kind::Test => Mode::Files(FilesMode::new(&common, coding)?),
            Kind::List => Mode::List(ListMode { index: IndexPlan::new(&common)? }),
            Kind::Measure => Mode::Measure,
            Kind::Recover => Mode::Recover(RecoverMode::new(&common)?),
            Kind::Bench => Mode::Bench(BenchMode::new(&common, coding)?),
            Kind::Plan => Mode::Shards(plan(&common)?),
            Kind::Shard => Mode::Shard(ShardMode::new(&common)?),
            Kind::Join => Mode::Shards(join(&common)?),
        };
        Ok(Plan { common: common.finish()?, mode })
    }
}

/// Lists files.
#[derive(Clone, Debug)]
pub struct ListMode {
    /// The index to write for a file.
    pub index: Option<IndexPlan>,
}

/// Writes the good blocks of damaged files.
#[derive(Clone, Debug)]
pub struct RecoverMode {
    pub recovery: Recovery,
    pub target: Target,
    /// The index to read, if one was named.
    pub index: Option<IndexPlan>,
}

impl RecoverMode {
    pub fn new(common: &Common) -> anyhow::Result<RecoverMode> {
        let (target, recovery) = (target(common)?, common.recover.unwrap_or_default());
        match target {
            Target::Beside if common.reads_stdin() => {
                bail!("The result of recovering stdin needs a name: use -o or -c.")
            }
            Target::Beside => {}
            _ if recovery == Recovery::Split => {
                bail!("--recover=split makes several files: it takes neither -c nor -o.")
            }
            Target::Stdout if common.json.is_some() => {
                bail!("--json prints to standard output: use --recover with -o, not with -c.")
            }
            _ => {}
        }
        Ok(RecoverMode { recovery, target, index: IndexPlan::new(common)? })
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

impl Direction {
    pub fn name(self) -> &'static str {
        if self == Direction::Compress { "compress" } else { "decompress" }
    }
}

impl BenchMode {
    /// The directions to measure.
    pub fn directions(&self) -> impl Iterator<Item = Direction> {
        let only = self.only;
        [Direction::Compress, Direction::Decompress].into_iter().filter(move |way| only.is_none_or(|only| only == *way))
    }

    pub fn new(common: &Common, coding: Coding) -> anyhow::Result<BenchMode> {
        if common.reads_stdin() {
            bail!("--bench reads files, not standard input.");
        }
        let only = match () {
            () if common.decompress => Some(Direction::Decompress),
            () if common.compress => Some(Direction::Compress),
            () => None,
        };
        if only == Some(Direction::Decompress) {
            let formats = ["--format=bz2", "--format=hbz", "--format=lz4"];
            rules::refuse(common, "-d", &formats)?;
            rules::refuse(common, "-d", &["--stream-size", "--block-size", "--perturb"])?;
        }
        let against = common.against.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect::<Vec<_>>();
        if against.iter().any(String::is_empty) {
            bail!("--against expects programs such as lbzip2,pbzip2.");
        }
        if !against.is_empty() && (coding.large_blocks().is_some() || common.perturb.is_some()) {
            bail!("--against works only with .bz2 output: it cannot be used together with {LARGE_FLAGS}.");
        }
        let time = Duration::from_secs_f64(common.bench.unwrap_or_default());
        Ok(BenchMode { time, only, coding, against })
    }
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

/// Where `--plan` writes the plan.
pub fn plan(common: &Common) -> anyhow::Result<Target> {
    check_file(common)?;
    Ok(match target(common)? {
        Target::Beside => Target::Stdout,
        target => target,
    })
}

/// Where `--join` writes the joined file.
pub fn join(common: &Common) -> anyhow::Result<Target> {
    if common.operands.len() > 1 && common.reads_stdin() {
        bail!("--join reads files, not standard input.");
    }
    named_target(common, Path::new(common.join.as_deref().unwrap_or_default()))
}

impl ShardMode {
    pub fn new(common: &Common) -> anyhow::Result<ShardMode> {
        let Some(plan) = &common.plan_file else { bail!("--shard expects a plan: --plan-file PLAN.") };
        let plan = PathBuf::from(plan);
        check_file(common)?;
        let target = named_target(common, &plan)?;
        let verify = if common.verifies() { Verify::All } else { Verify::Off };
        Ok(ShardMode {
            number: common.shard.unwrap_or_default(),
            plan,
            report: report(common, &target)?,
            target,
            verify,
        })
    }

    /// The mode that compresses `shard` of a file of this length, once the plan has been read.
    pub fn files(self, level: Level, shard: Shard, file_len: u64) -> FilesMode {
        FilesMode {
            action: Action::Compress,
            coding: Some(Coding::of_level(level)),
            verify: VerifyPlan { blocks: self.verify, file: false },
            shard: Some((shard, file_len)),
            ranges: None,
            split: None,
            target: self.target,
            index: None,
            report: self.report,
            remove_sources: false,
        }
    }
}

fn check_file(common: &Common) -> anyhow::Result<()> {
    match common.operands[..] {
        [Operand::File(_)] => Ok(()),
        _ => bail!("{} expects one file.", common.kind.flag()),
    }
}

/// The target of a result that is not named after its source. It must not be the file `plan`.
fn named_target(common: &Common, plan: &Path) -> anyhow::Result<Target> {
    let (flag, target) = (common.kind.flag(), target(common)?);
    match &target {
        Target::File(result) if result == plan => bail!("{flag} and -o cannot name the same file."),
        Target::Beside => bail!("{flag} expects a name for its result: -o FILE, or -c for standard output."),
        _ => Ok(target),
    }
}
