//! What `--bench` measures, and which flags do not go with it.

use super::flags::Flags;
use super::format::{LARGE_FLAGS, asks_for_large};
use super::task::{Mode, Operand};
use anyhow::bail;
use std::path::PathBuf;
use std::time::Duration;

/// What is measured, and where that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchPlan {
    /// How long each speed is measured.
    pub time: Duration,
    /// Only this direction, if it was typed.
    pub only: Option<Mode>,
    /// Programs to be measured beside hybz.
    pub against: Vec<String>,
    pub plot: Option<PathBuf>,
    pub json: bool,
}

/// What is measured, if anything.
pub fn bench(flags: &Flags, operands: &[Operand]) -> anyhow::Result<Option<BenchPlan>> {
    let Some(seconds) = flags.bench else {
        return match () {
            () if flags.against.is_some() => bail!("--against is about --bench."),
            () if flags.plot.is_some() => bail!("--plot is about --bench."),
            () => Ok(None),
        };
    };
    let others = [
        (flags.test, "-t"),
        (flags.list, "-l"),
        (flags.recover.is_some(), "--recover"),
        (flags.stdout, "-c"),
        (flags.output.is_some(), "-o"),
        (flags.rm, "--rm"),
        (flags.index.is_some(), "--index"),
        (flags.ranges.is_some(), "--ranges"),
        (flags.at.is_some(), "--at"),
        (flags.streams.is_some(), "--streams"),
        (flags.suffix.is_some(), "-S"),
        (flags.report.is_some(), "--report"),
        (flags.verify.is_some(), "--verify"),
        (flags.no_verify, "--verify=none"),
        (flags.recursive, "-r"),
        (flags.filelist.is_some(), "--filelist"),
        (flags.output_dir.is_some(), "--output-dir"),
        (flags.resume, "--resume"),
        (flags.progress.is_some(), "--progress"),
    ];
    if let Some((_, other)) = others.iter().find(|(given, _)| *given) {
        bail!("--bench and {other} cannot be used together.");
    }
    if operands.contains(&Operand::Stdin) {
        bail!("--bench reads files, not standard input.");
    }
    let only = match () {
        () if flags.decompress => Some(Mode::Decompress),
        () if flags.compress => Some(Mode::Compress),
        () => None,
    };
    if only == Some(Mode::Decompress) && (flags.block_size.is_some() || flags.perturb.is_some()) {
        bail!("--block-size and --perturb are about compressing: they cannot be used together with -d.");
    }
    let against = flags.against.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect::<Vec<_>>();
    if against.iter().any(String::is_empty) {
        bail!("--against wants programs such as lbzip2,pbzip2.");
    }
    if !against.is_empty() && asks_for_large(flags) {
        bail!("--against is about .bz2: it cannot be used together with {LARGE_FLAGS}.");
    }
    if flags.plot.as_ref().is_some_and(|file| file.is_empty()) {
        bail!("--plot wants the name of a file.");
    }
    let time = Duration::from_secs_f64(seconds);
    Ok(Some(BenchPlan { time, only, against, plot: flags.plot.clone().map(PathBuf::from), json: flags.json }))
}
