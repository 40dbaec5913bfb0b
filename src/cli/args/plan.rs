//! The second of the two steps: derives from the typed flags what the program needs to know.

use super::coding::Coding;
use super::common::Common;
use super::files::FilesMode;
use super::flags::Flags;
use super::given::{Given, Operand};
use super::modes::{BenchMode, ListMode, MeasureMode, RecoverMode, ShardMode, ShardsMode};
use super::rows::Kind;
use super::rules;
use std::ffi::OsStr;

/// A call: the options that all modes have, and its mode.
#[derive(Clone, Debug)]
pub struct Plan<M = Mode> {
    pub common: Common,
    pub mode: M,
}

/// The mode, with everything that only this mode needs.
#[derive(Clone, Debug)]
pub enum Mode {
    Files(FilesMode),
    Shard(ShardMode),
    Shards(ShardsMode),
    List(ListMode),
    Recover(RecoverMode),
    Bench(BenchMode),
    Measure(MeasureMode),
}

impl Plan {
    /// The plan for these flags and operands, if the program was called by the name `program`.
    pub fn new(
        program: &OsStr,
        flags: &Flags,
        operands: Vec<Operand>,
        ignored_words: Vec<String>,
    ) -> anyhow::Result<Plan> {
        let given = Given::new(program, flags, operands);
        rules::check(&given)?;
        let coding = Coding::new(flags)?;
        let mode = match given.kind {
            Kind::Compress | Kind::Decompress | Kind::Test => Mode::Files(FilesMode::new(&given, coding)?),
            Kind::List => Mode::List(ListMode::new(&given)?),
            Kind::Measure => Mode::Measure(MeasureMode { decode: flags.decompress, json: flags.json.is_some() }),
            Kind::Recover => Mode::Recover(RecoverMode::new(&given, flags.recover.unwrap_or_default())?),
            Kind::Bench => Mode::Bench(BenchMode::new(&given, flags.bench.unwrap_or_default(), coding)?),
            Kind::Plan => Mode::Shards(ShardsMode::plan(&given, flags.plan.unwrap_or_default(), coding.level)?),
            Kind::Shard => Mode::Shard(ShardMode::new(&given, flags.shard.unwrap_or_default())?),
            Kind::Join => Mode::Shards(ShardsMode::join(&given)?),
        };
        Ok(Plan { common: Common::new(&given, ignored_words)?, mode })
    }
}
