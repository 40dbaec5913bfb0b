//! What `--plan`, `--plan-ranges`, `--shard` and `--join` ask for, and which flags do not go with them.

use super::flags::{Flags, Verified};
use super::task::{Mode, Operand, Target};
use anyhow::bail;
use std::path::PathBuf;

/// What is done with the shards of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shards {
    /// Find those of so many bytes, or more.
    Plan(u64),
    /// Find ranges of so many bytes, or more, in the text of a compressed file.
    Ranges(u64),
    /// Compress the one with this number.
    Part { number: u64, plan: PathBuf },
    /// Join their parts.
    Join(Join),
}

/// How parts are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    pub plan: PathBuf,
    /// Whether the parts stay streams of their own.
    pub streams: bool,
    /// Whether they are decoded first.
    pub verify: bool,
}

const PLAN_FILE: &str = "--plan-file is about --shard and --join=streams.";

/// What is done with shards, if anything.
pub fn shards(flags: &Flags, mode: Mode, target: &Target, operands: &[Operand]) -> anyhow::Result<Option<Shards>> {
    let (flag, shards) = match (flags.plan, flags.plan_ranges, flags.shard, &flags.join) {
        (None, None, None, None) if flags.plan_file.is_none() => return Ok(None),
        (None, None, None, None) => bail!("{PLAN_FILE}"),
        (Some(size), None, None, None) => ("--plan", Shards::Plan(size)),
        (None, Some(size), None, None) => ("--plan-ranges", Shards::Ranges(size)),
        (None, None, Some(number), None) => match &flags.plan_file {
            Some(plan) => ("--shard", Shards::Part { number, plan: plan.into() }),
            None => bail!("--shard wants a plan: --plan-file PLAN."),
        },
        (None, None, None, Some(_)) => ("--join", Shards::Join(join(flags)?)),
        _ => bail!("Only one of --plan, --plan-ranges, --shard and --join can be used."),
    };
    let wants_plan_file = matches!(shards, Shards::Part { .. } | Shards::Join(Join { streams: true, .. }));
    if flags.plan_file.is_some() && !wants_plan_file {
        bail!("{PLAN_FILE}");
    }
    let (part, ranges) = (flags.shard.is_some(), flags.plan_ranges.is_some());
    let others = [
        (mode != Mode::Compress && !flags.test && !flags.list && !ranges, "-d"),
        (ranges && flags.compress, "-z"),
        (flags.test, "-t"),
        (flags.list, "-l"),
        (flags.recover.is_some(), "--recover"),
        (flags.bench.is_some(), "--bench"),
        (flags.measure, "--measure"),
        (flags.recursive, "-r"),
        (flags.filelist.is_some(), "--filelist"),
        (flags.output_dir.is_some(), "--output-dir"),
        (flags.resume, "--resume"),
        (flags.rm, "--rm"),
        (flags.suffix.is_some(), "-S"),
        (flags.index.is_some() && !ranges, "--index"),
        (flags.index_format.is_some() && ranges, "--index-format"),
        (flags.ranges.is_some() && ranges, "--ranges"),
        (flags.at.is_some() && ranges, "--at"),
        (flags.streams.is_some() && ranges, "--streams"),
        (flags.block_size.is_some(), "--block-size"),
        (flags.perturb.is_some(), "--perturb"),
        (!part && flags.report.is_some(), "--report"),
        ((flags.plan.is_some() || ranges) && flags.verify.is_some(), "--verify"),
        (part && flags.verify == Some(Verified::File), "--verify=file"),
    ];
    if let Some((_, other)) = others.iter().find(|(given, _)| *given) {
        bail!("{flag} and {other} cannot be used together.");
    }
    match (&shards, operands) {
        (Shards::Join(_), [Operand::Stdin]) | (_, [Operand::File(_)]) => {}
        (Shards::Join(_), _) if !operands.contains(&Operand::Stdin) => {}
        (Shards::Join(_), _) => bail!("--join reads files, not standard input."),
        _ => bail!("{flag} wants one file."),
    }
    if let (Target::File(result), Shards::Part { plan, .. } | Shards::Join(Join { plan, .. })) = (target, &shards)
        && result == plan
    {
        bail!("{flag} and -o cannot be about the same file.");
    }
    if *target == Target::Beside && flags.plan.is_none() && !ranges {
        bail!("{flag} wants a name for its result: -o FILE, or -c for standard output.");
    }
    Ok(Some(shards))
}

/// How `--join` joins.
fn join(flags: &Flags) -> anyhow::Result<Join> {
    if flags.verify == Some(Verified::File) {
        bail!("--join decodes parts with --verify: --verify=file is about compressing.");
    }
    let streams = flags.join.as_ref().is_some_and(|plan| plan == "streams");
    let plan = if streams { &flags.plan_file } else { &flags.join };
    match plan {
        Some(plan) => Ok(Join { plan: plan.into(), streams, verify: flags.verify.is_some() }),
        None => bail!("--join=streams wants a plan: --plan-file PLAN. (A plan of this name is ./streams.)"),
    }
}
