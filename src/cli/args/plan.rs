//! The second of the two steps: derives from the typed flags what the program needs to know.

use super::coding::Coding;
use super::common::{Common, Operand};
use super::files::FilesMode;
use super::flags::Flags;
use super::modes::{self, BenchMode, ListMode, RecoverMode, ShardMode};
use super::rows::Kind;
use super::rules;
use super::target::Target;
use std::ffi::OsStr;

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
            Kind::List => Mode::List(ListMode::new(&common)?),
            Kind::Measure => Mode::Measure,
            Kind::Recover => Mode::Recover(RecoverMode::new(&common)?),
            Kind::Bench => Mode::Bench(BenchMode::new(&common, coding)?),
            Kind::Plan => Mode::Shards(modes::plan(&common)?),
            Kind::Shard => Mode::Shard(ShardMode::new(&common)?),
            Kind::Join => Mode::Shards(modes::join(&common)?),
        };
        Ok(Plan { common: common.finish()?, mode })
    }
}
