//! One row for each flag: its name, the modes that take it, and the flags that it needs or excludes.

use super::choices::{OutputFormat, ProgressFormat, Verified};
use super::flags::Flags;
use Kind::{Bench, Compress, Decompress, Join, List, Measure, Plan, Recover, Shard, Test};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Compress,
    Decompress,
    Test,
    List,
    Recover,
    Bench,
    Measure,
    Plan,
    Shard,
    Join,
}

impl Kind {
    /// Each mode and its flag. If several flags are given, the first decides, and the rows refuse the others.
    pub const ALL: [(Kind, &'static str); 10] = [
        (Kind::Plan, "--plan"),
        (Kind::Shard, "--shard"),
        (Kind::Join, "--join"),
        (Kind::Measure, "--measure"),
        (Kind::Bench, "--bench"),
        (Kind::Recover, "--recover"),
        (Kind::List, "-l"),
        (Kind::Test, "-t"),
        (Kind::Decompress, "-d"),
        (Kind::Compress, "-z"),
    ];

    pub fn work(self) -> &'static str {
        match self {
            Compress => "compress",
            Test => "test",
            _ => "decompress",
        }
    }

    pub fn flag(self) -> &'static str {
        Kind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, flag)| flag)
    }
}

pub struct Row {
    pub name: &'static str,
    pub is_given: fn(&Flags) -> bool,
    pub modes: &'static [Kind],
    /// Whether `modes` are those that take the flag; otherwise, they are those that refuse it.
    pub only: bool,
    /// The flag works only with one of these.
    pub needs: &'static [&'static str],
    pub excludes: &'static [&'static str],
}

const fn only(name: &'static str, is_given: fn(&Flags) -> bool, modes: &'static [Kind]) -> Row {
    Row { name, is_given, modes, only: true, needs: &[], excludes: &[] }
}

const fn all_but(name: &'static str, is_given: fn(&Flags) -> bool, modes: &'static [Kind]) -> Row {
    Row { only: false, ..only(name, is_given, modes) }
}

impl Row {
    const fn needs(self, needs: &'static [&'static str]) -> Row {
        Row { needs, ..self }
    }

    const fn excludes(self, excludes: &'static [&'static str]) -> Row {
        Row { excludes, ..self }
    }

    pub fn is_taken_by(&self, mode: Kind) -> bool {
        self.modes.contains(&mode) == self.only
    }

    pub fn lacks(&self, flags: &Flags) -> bool {
        (self.is_given)(flags) && !self.needs.is_empty() && !self.needs.iter().any(|name| is_given(name, flags))
    }
}

/// The modes that process each file by itself.
const FILES: &[Kind] = &[Compress, Decompress, Test];
const FILES_AND_LIST: &[Kind] = &[Compress, Decompress, Test, List];
/// The modes whose results have a destination.
const RESULTS: &[Kind] = &[Compress, Decompress, Recover, Plan, Shard, Join];
/// The modes that take the flags for coding; those that only decode ignore them.
const CODERS: &[Kind] = &[Compress, Decompress, Test, Bench];
/// The modes that depend on the names of compressed files.
const COMPRESSED: &[Kind] = &[Compress, Decompress, Test, List, Recover];

/// Flags that work with one file only.
const SINGLE: &[&str] = &["--ranges", "--split", "-o", "--index=FILE"];

#[rustfmt::skip]
pub static ROWS: &[Row] = &[
    only("-z", |flags| flags.compress, &[Compress, Bench, Plan, Shard, Join]),
    only("-d", |flags| flags.decompress, &[Decompress, Recover, Bench, Measure]),
    only("-t", |flags| flags.test, &[Test]),
    only("-l", |flags| flags.list, &[List]),
    only("--recover", |flags| flags.recover.is_some(), &[Recover]),
    only("--bench", |flags| flags.bench.is_some(), &[Bench]),
    only("--measure", |flags| flags.measure, &[Measure]),
    only("--plan", |flags| flags.plan.is_some(), &[Plan]),
    only("--shard", |flags| flags.shard.is_some(), &[Shard]),
    only("--join", |flags| flags.join.is_some(), &[Join]),
    only("-c", |flags| flags.stdout, RESULTS).excludes(&["-o"]),
    only("-o", |flags| flags.output.is_some(), RESULTS),
    only("-r", |flags| flags.recursive, FILES).excludes(SINGLE),
    only("--cross-file-systems", |flags| flags.cross_file_systems, FILES).needs(&["-r"]),
    only("--filelist", |flags| flags.filelist.is_some(), FILES).excludes(SINGLE),
    only("--null", |flags| flags.null, FILES).needs(&["--filelist"]),
    only("--exclude", |flags| !flags.exclude.is_empty(), FILES).needs(&["-r", "--filelist"]),
    only("--output-dir", |flags| flags.output_dir.is_some(), &[Compress, Decompress])
        .excludes(&["--ranges", "--split", "-o", "--index=FILE", "-c"]),
    only("--resume", |flags| flags.resume, &[Compress, Decompress])
        .excludes(&["--ranges", "--split", "-o", "--index", "-c"]),
    all_but("--fail-fast", |flags| flags.fail_fast, &[List, Recover]),
    only("--rm", |flags| flags.rm, FILES_AND_LIST),
    only("-S", |flags| flags.suffix.is_some(), COMPRESSED),
    all_but("--no-sync", |flags| flags.no_sync, &[List, Bench, Measure]),
    all_but("--no-sparse", |flags| flags.no_sparse, &[List, Bench, Measure]),
    all_but("--ignore-trailing-garbage", |flags| flags.ignore_trailing_garbage.is_some(), &[Recover]),
    only("--index", |flags| flags.index.is_some(), COMPRESSED),
    only("--index=FILE", |flags| flags.index.as_ref().is_some_and(|file| !file.is_empty()), COMPRESSED),
    only("--ranges", |flags| flags.ranges.is_some(), &[Decompress]).excludes(&["--rm"]),
    only("--split", |flags| flags.split.is_some(), &[Decompress]).excludes(&["--rm", "--ranges", "--index"]),
    only("--lines", |flags| flags.lines, &[Compress, Decompress, Bench])
        .needs(&["--ranges", "--split", "--stream-size"]),
    all_but("-1 to -9", |flags| flags.level.0.is_some(), &[List, Recover]),
    only("--format=bz2", |flags| flags.format == Some(OutputFormat::Bz2), &[Compress, Bench, Plan, Shard, Join])
        .excludes(&["--block-size"]),
    only("--format=hbz", |flags| flags.format == Some(OutputFormat::Hbz), &[Compress, Bench])
        .excludes(&["--stream-size"]),
    only("--format=lz4", |flags| flags.format == Some(OutputFormat::Lz4), &[Compress])
        .excludes(&["--block-size", "--perturb", "--stream-size", "--index", "--verify", "--gpu-required",
            "--gpu-pipeline"]),
    only("--block-size", |flags| flags.block_size.is_some(), CODERS),
    only("--perturb", |flags| flags.perturb.is_some(), CODERS),
    only("--perturb-seed", |flags| flags.perturb_seed.is_some(), CODERS)
        .needs(&["--perturb"]),
    only("--stream-size", |flags| flags.stream_size.is_some(), &[Compress, Bench])
        .excludes(&["--block-size", "--perturb"]),
    all_but("--verify=none", |flags| flags.verify == Some(Verified::None), &[Bench, Measure]),
    only("--verify=file", |flags| flags.verify == Some(Verified::File), &[Compress]),
    only("--verify", Flags::verifies, &[Compress, Shard, Join]),
    all_but("--gpu-required", |flags| flags.gpu_required, &[List, Recover, Measure]),
    all_but("--gpu-pipeline", |flags| flags.gpu_pipeline.is_some(), &[]),
    all_but("--json", |flags| flags.json.is_some(), &[Bench, Plan, Join]),
    all_but("--json=FILE", |flags| flags.json.as_ref().is_some_and(|file| !file.is_empty()),
        &[List, Recover, Bench, Measure, Plan, Join]),
    all_but("--progress", |flags| flags.progress == Some(ProgressFormat::Text), &[Bench]),
    only("--against", |flags| flags.against.is_some(), &[Bench]),
    only("--plan-file", |flags| flags.plan_file.is_some(), &[Shard]),
];

pub fn is_given(name: &str, flags: &Flags) -> bool {
    ROWS.iter().any(|row| row.name == name && (row.is_given)(flags))
}

pub fn are_taken(flags: &Flags, mode: Kind) -> bool {
    ROWS.iter().all(|row| row.is_taken_by(mode) || !(row.is_given)(flags))
}

/// Whether one of `some` needs a flag that is not in `all`.
pub fn lack(some: &Flags, all: &Flags) -> bool {
    ROWS.iter().any(|row| (row.is_given)(some) && row.lacks(all))
}
