//! What `--plan`, `--shard` and `--join` ask for, and which flags do not go with them.

use super::flags::{Flags, Verified};
use super::task::{Mode, Operand, Target};
use anyhow::bail;
use std::path::PathBuf;

/// What is done with the shards of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shards {
    /// Find those of so many bytes, or more.
    Plan(u64),
    /// Compress the one with this number.
    Part { number: u64, plan: PathBuf },
    /// Join their parts.
    Join { plan: PathBuf, verify: bool },
}

/// What is done with shards, if anything.
pub fn shards(flags: &Flags, mode: Mode, target: &Target, operands: &[Operand]) -> anyhow::Result<Option<Shards>> {
    let (flag, shards) = match (flags.plan, flags.shard, &flags.join) {
        (Some(size), None, None) => ("--plan", Shards::Plan(size)),
        (None, Some(number), None) => match &flags.plan_file {
            Some(plan) => ("--shard", Shards::Part { number, plan: plan.into() }),
            None => bail!("--shard wants a plan: --plan-file PLAN."),
        },
        (None, None, Some(plan)) => {
            if flags.verify == Some(Verified::File) {
                bail!("--join decodes parts with --verify: --verify=file is about compressing.");
            }
            ("--join", Shards::Join { plan: plan.into(), verify: flags.verify.is_some() })
        }
        (None, None, None) if flags.plan_file.is_some() => bail!("--plan-file is about --shard."),
        (None, None, None) => return Ok(None),
        _ => bail!("Only one of --plan, --shard and --join can be used."),
    };
    if flags.plan_file.is_some() && flags.shard.is_none() {
        bail!("--plan-file is about --shard.");
    }
    let part = flags.shard.is_some();
    let others = [
        (mode != Mode::Compress && !flags.test && !flags.list, "-d"),
        (flags.test, "-t"),
        (flags.list, "-l"),
        (flags.recover.is_some(), "--recover"),
        (flags.bench.is_some(), "--bench"),
        (flags.recursive, "-r"),
        (flags.filelist.is_some(), "--filelist"),
        (flags.output_dir.is_some(), "--output-dir"),
        (flags.resume, "--resume"),
        (flags.rm, "--rm"),
        (flags.suffix.is_some(), "-S"),
        (flags.index.is_some(), "--index"),
        (flags.block_size.is_some(), "--block-size"),
        (flags.perturb.is_some(), "--perturb"),
        (!part && flags.report.is_some(), "--report"),
        (flags.plan.is_some() && flags.verify.is_some(), "--verify"),
        (part && flags.verify == Some(Verified::File), "--verify=file"),
    ];
    if let Some((_, other)) = others.iter().find(|(given, _)| *given) {
        bail!("{flag} and {other} cannot be used together.");
    }
    match (&shards, operands) {
        (Shards::Join { .. }, [Operand::Stdin]) | (_, [Operand::File(_)]) => {}
        (Shards::Join { .. }, _) if !operands.contains(&Operand::Stdin) => {}
        (Shards::Join { .. }, _) => bail!("--join reads files, not standard input."),
        _ => bail!("{flag} wants one file."),
    }
    if let (Target::File(result), Shards::Part { plan, .. } | Shards::Join { plan, .. }) = (target, &shards)
        && result == plan
    {
        bail!("{flag} and -o cannot be about the same file.");
    }
    if *target == Target::Beside && flags.plan.is_none() {
        bail!("{flag} wants a name for its result: -o FILE, or -c for standard output.");
    }
    Ok(Some(shards))
}
