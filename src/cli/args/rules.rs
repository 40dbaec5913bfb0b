//! One row a flag: its name, the modes that take it, and the flags that it needs or excludes. The parser refuses what a
//! row does not allow, always in the same words.
//!
//! Conflicts that depend on a value or on the operands are checked where that value is read: `--verify=file` needs
//! files, for example.

use super::choices::{IndexFormat, OutputFormat, Verified};
use super::flags::Flags;
use super::given::{Given, Kind};
use Kind::{Bench, Compress, Decompress, Join, List, Measure, Plan, Recover, Shard, Test};
use anyhow::bail;
use std::borrow::Cow;

struct Row {
    name: &'static str,
    is_given: fn(&Flags) -> bool,
    modes: &'static [Kind],
    /// Whether these modes take the flag, or all others.
    only: bool,
    /// The flag works only with one of these.
    needs: &'static [&'static str],
    excludes: &'static [&'static str],
    /// A sentence after a refusal.
    hint: &'static str,
}

/// The row of a flag that these modes take.
const fn only(name: &'static str, is_given: fn(&Flags) -> bool, modes: &'static [Kind]) -> Row {
    Row { name, is_given, modes, only: true, needs: &[], excludes: &[], hint: "" }
}

/// The row of a flag that all modes but these take.
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

    const fn hint(self, hint: &'static str) -> Row {
        Row { hint, ..self }
    }

    fn is_taken_by(&self, mode: Kind) -> bool {
        self.modes.contains(&mode) == self.only
    }

    /// Whether the flag is given without a flag that it needs.
    fn lacks(&self, flags: &Flags) -> bool {
        (self.is_given)(flags) && !self.needs.is_empty() && !self.needs.iter().any(|name| is_given(name, flags))
    }
}

/// The modes that process each file by itself.
const FILES: &[Kind] = &[Compress, Decompress, Test];
/// These, and the list of files.
const FILES_AND_LIST: &[Kind] = &[Compress, Decompress, Test, List];
/// The modes whose results have a destination.
const RESULTS: &[Kind] = &[Compress, Decompress, Recover, Plan, Shard, Join];
/// Decoders take the flags of their coders, and ignore them.
const CODERS: &[Kind] = &[Compress, Decompress, Test, Bench];
/// The modes that go by the names of compressed files.
const COMPRESSED: &[Kind] = &[Compress, Decompress, Test, List, Recover];

/// Flags that go with one file.
const SINGLE: &[&str] = &["--ranges", "--split", "-o", "--index=FILE"];

#[rustfmt::skip]
static ROWS: &[Row] = &[
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
    only("--index-format", |flags| flags.index_format.is_some() && !prints_offsets(flags), FILES_AND_LIST)
        .needs(&["--index"]).hint(" (An index of any format is read. -l --index-format=offsets prints one.)"),
    only("--ranges", |flags| flags.ranges.is_some(), &[Decompress]).excludes(&["--rm", "--index-format"]),
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
    all_but("--json", |flags| flags.json.is_some(), &[Plan, Join]),
    all_but("--json=FILE", |flags| flags.json.as_ref().is_some_and(|file| !file.is_empty()),
        &[List, Recover, Bench, Plan, Join]),
    all_but("--progress", |flags| flags.progress.is_some(), &[Bench]),
    only("--against", |flags| flags.against.is_some(), &[Bench]),
    only("--plan-file", |flags| flags.plan_file.is_some(), &[Shard, Join]),
];

/// Refuses flags that do not go with the mode, or with each other.
pub fn check(given: &Given<'_>) -> anyhow::Result<()> {
    let mode = given.kind;
    for row in ROWS.iter().filter(|row| !row.is_taken_by(mode)) {
        let Some(flag) = spelling(given, row) else { continue };
        if row.only && Kind::asked_for(given.flags).is_none() {
            let modes: Vec<&str> = row.modes.iter().map(|mode| mode.flag()).collect();
            bail!("{flag} works only with {}.{}", listed(&modes), row.hint);
        }
        bail!("{flag} and {} cannot be used together.{}", mode.flag(), row.hint);
    }
    if let Some(Row { name, needs, hint, .. }) = ROWS.iter().find(|row| row.lacks(given.flags)) {
        bail!("{name} works only with {}.{hint}", listed(needs));
    }
    for row in ROWS.iter().filter(|row| (row.is_given)(given.flags)) {
        refuse(given, row.name, row.excludes)?;
    }
    Ok(())
}

/// Refuses each of the flags `others` together with `flag`.
pub fn refuse(given: &Given<'_>, flag: &str, others: &[&str]) -> anyhow::Result<()> {
    let rows = others.iter().filter_map(|name| ROWS.iter().find(|row| row.name == *name));
    match rows.filter_map(|row| spelling(given, row)).next() {
        Some(other) => bail!("{flag} and {other} cannot be used together."),
        None => Ok(()),
    }
}

/// Whether the flag of this name is one of `flags`.
pub fn is_given(name: &str, flags: &Flags) -> bool {
    ROWS.iter().any(|row| row.name == name && (row.is_given)(flags))
}

/// Whether `mode` takes all these flags.
pub fn are_taken(flags: &Flags, mode: Kind) -> bool {
    ROWS.iter().all(|row| row.is_taken_by(mode) || !(row.is_given)(flags))
}

/// Whether one of `some` needs a flag that is not in `all`.
pub fn lack(some: &Flags, all: &Flags) -> bool {
    ROWS.iter().any(|row| (row.is_given)(some) && row.lacks(all))
}

/// Whether the offsets of an index are printed rather than written to a file.
pub fn prints_offsets(flags: &Flags) -> bool {
    flags.list && flags.index.is_none() && flags.index_format == Some(IndexFormat::Offsets)
}

/// The flag, or the program's name that stands for it, if either is given.
fn spelling<'a>(given: &Given<'a>, row: &Row) -> Option<Cow<'a, str>> {
    let is_typed = (row.is_given)(given.flags);
    match given.name_means(row.name) {
        // bzip2 says "-c and -t", whatever it is called.
        by_name if is_typed || by_name && given.kind == Test => Some(row.name.into()),
        by_name => by_name.then(|| given.program.to_string_lossy()),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use clap::{Arg, CommandFactory};
    use std::ffi::OsStr;

    /// Flags that need no row, because they go with every mode.
    const EVERYWHERE: &str = "--keep-going --keep --force --small --loadavg --threads --memory --gpu --no-gpu --quiet \
                              --verbose --no-progress --exponential --sequential -b --help --version --man \
                              --completions";

    fn refused(words: &str) -> Option<String> {
        let parsed = parse(OsStr::new("hybz"), words.split([' ', '+']).map(Into::into), |_| None);
        parsed.err().map(|refusal| refusal.error.to_string())
    }

    /// Which flags each mode takes, and which it refuses.
    #[test]
    #[rustfmt::skip]
    fn flags_and_modes() {
        // Only -z, -d and -t take these, or some of them.
        let files = "-r --filelist=f --output-dir=y --resume --ranges=1@0 --split=1/2 --verify=file";
        let coding = "--format=hbz --format=lz4 --block-size=1M --perturb=9 --stream-size=1M --lines";
        let compressed = "-S.x --rm --index";
        let against = "--against=a";
        let modes = "-d -t -l --recover --bench --measure";
        let disk = "--no-sync --no-sparse";
        let always = "--fail-fast --ignore-trailing-garbage -9";
        for (mode, taken, refused_flags) in [
            ("-z", vec!["-c -oy -r+--exclude=a -r+--cross-file-systems --filelist=f+--null --output-dir=y --resume",
                "--stream-size=1M+--lines --format=bz2 --format=hbz --format=lz4 --block-size=1M --verify=file",
                "--verify --index=i --index+--index-format=bzi --perturb=9+--perturb-seed=9 --verify=none",
                compressed, disk, always, "--json=r --progress"],
                vec!["--ranges=1@0 --split=1/2 --plan-file=p", against]),
            ("-d", vec!["-c -oy -r --filelist=f --output-dir=y --resume -k+--index -c+--ranges=1@0 --split=1/2+--lines",
                "-S.x --rm --block-size=1M --perturb=9 --verify=none --json=r --progress", disk, always],
                vec!["--format=bz2 --format=hbz --format=lz4 --stream-size=1M --verify --verify=file",
                "--plan-file=p", against]),
            ("-t", vec!["-r --filelist=f --block-size=1M --perturb=9 --verify=none --json=r --progress",
                compressed, disk, always],
                vec!["-c -oy --output-dir=y --resume --ranges=1@0 --split=1/2 --lines --format=bz2 --stream-size=1M",
                "--verify=file --verify --plan-file=p", against]),
            ("-l", vec![compressed, "--ignore-trailing-garbage --index-format=offsets --verify=none --json --progress"],
                vec!["-c -oy --fail-fast -9 --verify --gpu-required --json=r --against=a --plan-file=p",
                files, coding, disk]),
            ("--recover", vec!["-d -c -oy -S.x --index --verify=none --json --progress", disk],
                vec!["-z -t -l --rm --index-format=bzi --verify --gpu-required --json=r --against=a",
                "--plan-file=p", files, coding, always]),
            ("--bench", vec!["-z -d --stream-size=1M+--lines --format=hbz --block-size=1M --perturb=9 --json",
                against, always],
                vec!["-t -l --recover -c -oy --index-format=bzi --format=lz4 --verify=none --verify --json=r",
                "--progress --plan-file=p", files, compressed, disk]),
            ("--measure", vec!["-d --json --json=r --progress", always],
                vec!["-z -t -l --recover --bench -c -oy --index-format=bzi --verify=none --verify --gpu-required",
                "--against=a --plan-file=p", files, coding, compressed, disk]),
            ("--plan=1M", vec!["-z -c -oy --format=bz2 --verify=none --progress", disk, always],
                vec!["--shard=0 --join=p --verify --json=r --plan-file=p",
                modes, files, coding, compressed, against]),
            ("--shard=0 --plan-file=p -oy", vec!["-z --format=bz2 --verify=none --verify --json=r --progress",
                disk, always],
                vec!["--join=p", modes, files, coding, compressed, against]),
            ("--join=p -oy", vec!["-z --format=bz2 --verify=none --verify --progress", disk, always],
                vec!["--json=r", modes, files, coding, compressed, against]),
        ] {
            for flag in taken.iter().flat_map(|flags| flags.split(' ')) {
                assert_eq!(refused(&format!("{mode} {flag} x")), None, "{mode} {flag}");
            }
            for flag in refused_flags.iter().flat_map(|flags| flags.split(' ')) {
                let text = refused(&format!("{mode} {flag} x")).unwrap_or_else(|| panic!("{mode} {flag}"));
                assert!(text.contains("cannot be used together."), "{mode} {flag}: {text}");
            }
        }
    }

    #[test]
    fn sentences() {
        for (words, text) in [
            ("-d --verify x", "--verify and -d cannot be used together."),
            ("--bench -9 -c x", "-c and --bench cannot be used together."),
            ("-l -9 x", "-1 to -9 and -l cannot be used together."),
            ("-l --json=r x", "--json=FILE and -l cannot be used together."),
            ("--ranges=1@0 x", "--ranges works only with -d."),
            ("--plan-file=p x", "--plan-file works only with --shard and --join."),
            ("--null x", "--null works only with --filelist."),
            ("--exclude=a x", "--exclude works only with -r and --filelist."),
            ("--lines x", "--lines works only with --ranges, --split and --stream-size."),
            ("--cross-file-systems x", "--cross-file-systems works only with -r."),
            ("--perturb-seed=9 x", "--perturb-seed works only with --perturb."),
        ] {
            assert_eq!(refused(words).as_deref(), Some(text), "{words}");
        }
    }

    #[test]
    fn flags_that_exclude_each_other() {
        for (words, others) in [
            ("-c", "-oy"),
            ("-d -r", "--ranges=1@0 --split=1/2 -oy --index=i"),
            ("-d --filelist=f", "--ranges=1@0 --split=1/2 -oy --index=i"),
            ("-d --output-dir=y", "--ranges=1@0 --split=1/2 -oy --index=i -c"),
            ("-d --resume", "--ranges=1@0 --split=1/2 -oy --index=i -c --index"),
            ("-d -c --ranges=1@0", "--rm --index+--index-format=bzi"),
            ("-d -c --split=1/2", "--rm --ranges=1@0 --index"),
            ("--format=bz2", "--block-size=1M"),
            ("--format=hbz", "--stream-size=1M"),
            ("--format=lz4", "--block-size=1M --perturb=9 --stream-size=1M --index --verify --gpu-required"),
            ("--format=lz4", "--gpu-pipeline=bwt"),
            ("--stream-size=1M", "--block-size=1M --perturb=9"),
            ("--bench -d", "--format=bz2 --format=hbz --stream-size=1M --block-size=1M --perturb=9"),
        ] {
            for other in others.split(' ') {
                let text = refused(&format!("{words} {other} x")).unwrap_or_else(|| panic!("{words} {other}"));
                assert!(text.contains("cannot be used together."), "{words} {other}: {text}");
            }
        }
    }

    /// A new flag needs a row, or a place in `EVERYWHERE`; and rows name only flags that have rows.
    #[test]
    fn every_flag_has_its_place() {
        let rows: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        for name in ROWS.iter().flat_map(|row| row.needs.iter().chain(row.excludes)) {
            assert!(rows.contains(name), "{name} has no row");
        }
        let known = rows.iter().flat_map(|row| row.split(['=', ' '])).chain(EVERYWHERE.split(' '));
        let known: Vec<&str> = known.collect();
        let shown = |arg: &Arg| {
            let short = arg.get_short().filter(|short| !matches!(short, '2'..='8'));
            let long = arg.get_long().map(|long| format!("--{long}"));
            long.into_iter().chain(short.map(|short| format!("-{short}"))).collect::<Vec<_>>()
        };
        for arg in Flags::command().get_arguments().filter(|arg| !arg.is_positional()) {
            let names = shown(arg);
            assert!(names.is_empty() || names.iter().any(|name| known.contains(&&**name)), "{names:?} has no row");
        }
    }
}
