//! Which flags are allowed in which mode, and which flags together. The parser refuses what these tables refuse; the
//! test types every flag in every mode.
//!
//! Conflicts that depend on a value or on the operands are checked where that value is read: `--verify=file` needs
//! files, for example (`verify`).

use super::choices::{OutputFormat, Verified};
use super::kind::{Given, Kind};
use super::list::prints_offsets;
use anyhow::bail;

/// A flag, and whether it was given.
#[derive(Clone, Copy)]
struct Flag {
    name: &'static str,
    is_given: fn(&Given<'_>) -> bool,
}

const fn flag(name: &'static str, is_given: fn(&Given<'_>) -> bool) -> Flag {
    Flag { name, is_given }
}

const DECOMPRESS: Flag = flag("-d", |given| given.decompresses());
const COMPRESS: Flag = flag("-z", |given| given.flags.compress);
const TEST: Flag = flag("-t", |given| given.flags.test);
const LIST: Flag = flag("-l", |given| given.flags.list);
const RECOVER: Flag = flag("--recover", |given| given.flags.recover.is_some());
const BENCH: Flag = flag("--bench", |given| given.flags.bench.is_some());
const MEASURE: Flag = flag("--measure", |given| given.flags.measure);
const STDOUT: Flag = flag("-c", |given| match given.kind {
    // These modes write to stdout whatever the program is called.
    Kind::Bench | Kind::Measure => given.flags.stdout,
    // The name bzcat stands for -c only if there are files, as in bzip2.
    Kind::Test if given.reads_stdin() => given.flags.stdout,
    _ => given.to_stdout(),
});
const STDOUT_TYPED: Flag = flag("-c", |given| given.flags.stdout);
const OUTPUT: Flag = flag("-o", |given| given.flags.output.is_some());
const RECURSIVE: Flag = flag("-r", |given| given.flags.recursive);
const FILELIST: Flag = flag("--filelist", |given| given.flags.filelist.is_some());
const OUTPUT_DIR: Flag = flag("--output-dir", |given| given.flags.output_dir.is_some());
const RESUME: Flag = flag("--resume", |given| given.flags.resume);
const FAIL_FAST: Flag = flag("--fail-fast", |given| given.flags.fail_fast);
const REMOVE: Flag = flag("--rm", |given| given.flags.rm);
const INDEX: Flag = flag("--index", |given| given.flags.index.is_some());
const INDEX_FILE: Flag = flag("--index=FILE", |given| given.flags.index.as_ref().is_some_and(|file| !file.is_empty()));
const INDEX_FORMAT: Flag =
    flag("--index-format", |given| given.flags.index_format.is_some() && !prints_offsets(given.flags));
const RANGES: Flag = flag("--ranges", |given| given.flags.ranges.is_some());
const SPLIT: Flag = flag("--split", |given| given.flags.split.is_some());
const LINES: Flag = flag("--lines", |given| given.flags.lines);
const SUFFIX: Flag = flag("-S", |given| given.flags.suffix.is_some());
const JSON: Flag = flag("--json", |given| given.flags.json.is_some());
const JSON_FILE: Flag = flag("--json=FILE", |given| given.flags.json.as_ref().is_some_and(|file| !file.is_empty()));
const NO_VERIFY: Flag = flag("--verify=none", |given| given.flags.verify == Some(Verified::None));
const VERIFY_FILE: Flag = flag("--verify=file", |given| given.flags.verify == Some(Verified::File));
const VERIFY: Flag = flag("--verify", |given| given.verifies());
const PROGRESS: Flag = flag("--progress", |given| given.flags.progress.is_some());
const FORMAT: Flag = flag("--format", |given| given.flags.format.is_some());
const FORMAT_BZ2: Flag = flag("--format=bz2", |given| given.flags.format == Some(OutputFormat::Bz2));
const FORMAT_HBZ: Flag = flag("--format=hbz", |given| given.flags.format == Some(OutputFormat::Hbz));
const FORMAT_LZ4: Flag = flag("--format=lz4", |given| given.flags.format == Some(OutputFormat::Lz4));
const BLOCK_SIZE: Flag = flag("--block-size", |given| given.flags.block_size.is_some());
const PERTURB: Flag = flag("--perturb", |given| given.flags.perturb.is_some());
const PERTURB_SEED: Flag = flag("--perturb-seed", |given| given.flags.perturb_seed.is_some());
const LEVEL: Flag = flag("-1 to -9", |given| given.flags.level.0.is_some());
const NO_SYNC: Flag = flag("--no-sync", |given| given.flags.no_sync);
const NO_SPARSE: Flag = flag("--no-sparse", |given| given.flags.no_sparse);
const STREAM_SIZE: Flag = flag("--stream-size", |given| given.flags.stream_size.is_some());
const GPU_REQUIRED: Flag = flag("--gpu-required", |given| given.flags.gpu_required);
const GPU_PIPELINE: Flag = flag("--gpu-pipeline", |given| given.flags.gpu_pipeline.is_some());
const TRAILING_GARBAGE: Flag = flag("--ignore-trailing-garbage", |given| given.flags.ignore_trailing_garbage.is_some());
const PLAN_FILE: Flag = flag("--plan-file", |given| given.flags.plan_file.is_some());
const AGAINST: Flag = flag("--against", |given| given.flags.against.is_some());
const CROSS: Flag = flag("--cross-file-systems", |given| given.flags.cross_file_systems);
const NULL: Flag = flag("--null", |given| given.flags.null);
const EXCLUDE: Flag = flag("--exclude", |given| !given.flags.exclude.is_empty());

/// A flag, a letter for each mode in the order of [`Kind::ALL`], and the flag's own text. The letters:
///
/// - `+` the flag may be used in this mode,
/// - `m` "MODE and FLAG cannot be used together.",
/// - `f` "FLAG and MODE cannot be used together.",
/// - `c` "FLAG is about compressing: it cannot be used together with MODE.",
/// - `o` the flag's own text.
type Row = (Flag, &'static str, &'static str);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    //                 z d t l  R B M  p s j
    (DECOMPRESS,      "+ + + +  + + +  m m m", ""),
    (COMPRESS,        "+ + + +  m + m  + + +", ""),
    (TEST,            "+ + + +  m m m  m m m", ""),
    (LIST,            "+ + + +  m m m  m m m", ""),
    (RECOVER,         "+ + + +  + m m  m m m", ""),
    (BENCH,           "+ + + +  + + m  m m m", ""),
    (MEASURE,         "+ + + +  + + +  m m m", ""),
    (STDOUT,          "+ + f f  + m m  + + +", ""),
    (OUTPUT,          "+ + f f  + m m  + + +", ""),
    (RECURSIVE,       "+ + + f  f m m  m m m", ""),
    (FILELIST,        "+ + + f  f m m  m m m", ""),
    (OUTPUT_DIR,      "+ + f f  f m m  m m m", ""),
    (RESUME,          "+ + f f  f m m  m m m", ""),
    (FAIL_FAST,       "+ + + f  f + +  + + +", ""),
    (REMOVE,          "+ + + +  m m m  m m m", ""),
    (INDEX,           "+ + + +  + m m  m m m", ""),
    (RANGES,          "o + f f  m m m  o o o", "--ranges reads compressed files: use it with -d."),
    (SPLIT,           "o + f f  m m m  o o o", "--split reads compressed files: use it with -d."),
    (LINES,           "+ + + +  m + +  + + +", ""),
    (SUFFIX,          "+ + + +  + m m  m m m", ""),
    (JSON,            "+ + + +  + + +  m + m", ""),
    (JSON_FILE,       "+ + + f  f f +  + + +", ""),
    (INDEX_FORMAT,    "+ + + +  o + +  + + +", "--recover reads an index of any format: --index-format is about \
                                                  writing one."),
    (NO_VERIFY,       "+ + + +  + m m  + + +", ""),
    (VERIFY_FILE,     "+ c c c  c + +  + m o", "--join decodes parts with --verify: --verify=file is about \
                                                  compressing."),
    (VERIFY,          "+ c c c  c m m  m + +", ""),
    (PROGRESS,        "+ + + +  + m +  + + +", ""),
    (FORMAT,          "+ c c c  c + m  + + +", ""),
    (FORMAT_HBZ,      "+ + + +  + + +  f f f", ""),
    (FORMAT_LZ4,      "+ + + +  + f +  f f f", ""),
    (LEVEL,           "+ + + f  f + +  + + +", ""),
    (NO_SYNC,         "+ + + f  + f f  + + +", ""),
    (NO_SPARSE,       "+ + + f  + f f  + + +", ""),
    (BLOCK_SIZE,      "+ + + f  m + m  m m m", ""),
    (PERTURB,         "+ + + f  m + m  m m m", ""),
    (STREAM_SIZE,     "+ f f f  f + m  f f f", ""),
    (GPU_REQUIRED,    "+ + + f  m + m  + + +", ""),
    (TRAILING_GARBAGE,"+ + + +  m + +  + + +", ""),
    (PLAN_FILE,       "o o o o  o o o  o + +", WITHOUT_PLAN),
    (AGAINST,         "o o o o  o + o  o o o", "--against is about --bench."),
];

/// The message about a `--plan-file` that is not read.
pub const WITHOUT_PLAN: &str = "--plan-file is about --shard and --join=streams.";

/// Flags that need one of several other flags.
const NEEDS: &[(Flag, &[Flag], &str)] = &[
    (CROSS, &[RECURSIVE], "--cross-file-systems is about -r."),
    (NULL, &[FILELIST], "--null is about --filelist."),
    (EXCLUDE, &[RECURSIVE, FILELIST], "--exclude is about -r and --filelist."),
    (PERTURB_SEED, &[PERTURB], "--perturb-seed is about --perturb."),
    (LINES, &[RANGES, SPLIT, STREAM_SIZE], "--lines works only with --ranges, --split and --stream-size."),
    (INDEX_FORMAT, &[INDEX], "--index-format is about --index, and with -l it can be offsets."),
];

/// Flags that exclude each other in all modes.
const PAIRS: &[(Flag, &[Flag])] = &[
    (OUTPUT, &[STDOUT_TYPED]),
    (RECURSIVE, &[RANGES, SPLIT, OUTPUT, INDEX_FILE]),
    (FILELIST, &[RANGES, SPLIT, OUTPUT, INDEX_FILE]),
    (OUTPUT_DIR, &[RANGES, SPLIT, OUTPUT, INDEX_FILE, STDOUT]),
    (RESUME, &[RANGES, SPLIT, OUTPUT, INDEX_FILE, STDOUT, INDEX]),
    (FORMAT_BZ2, &[BLOCK_SIZE]),
    (FORMAT_HBZ, &[STREAM_SIZE]),
    (FORMAT_LZ4, &[BLOCK_SIZE, PERTURB, STREAM_SIZE, INDEX, VERIFY, GPU_REQUIRED, GPU_PIPELINE]),
    (STREAM_SIZE, &[BLOCK_SIZE, PERTURB]),
    (RANGES, &[REMOVE]),
    (SPLIT, &[REMOVE, RANGES, INDEX]),
];

/// Refuses flags that do not go with the mode, or with each other.
pub fn check(given: &Given<'_>) -> anyhow::Result<()> {
    check_rows(given, given.kind, TABLE)?;
    let is_given = |flag: &Flag| (flag.is_given)(given);
    for (flag, others, text) in NEEDS {
        if is_given(flag) && !others.iter().any(is_given) {
            bail!("{text}");
        }
    }
    for (flag, others) in PAIRS.iter().filter(|(flag, _)| is_given(flag)) {
        if let Some(other) = others.iter().find(|other| is_given(other)) {
            bail!("{} and {} cannot be used together.", flag.name, other.name);
        }
    }
    Ok(())
}

/// Refuses the formats that `-d` refuses, because `--bench -d` only decompresses.
pub fn check_formats_of_decompressing(given: &Given<'_>) -> anyhow::Result<()> {
    let is_format = |row: &&Row| [FORMAT.name, STREAM_SIZE.name].contains(&row.0.name);
    let rows: Vec<Row> = TABLE.iter().filter(is_format).copied().collect();
    check_rows(given, Kind::Decompress, &rows)
}

fn check_rows(given: &Given<'_>, kind: Kind, rows: &[Row]) -> anyhow::Result<()> {
    for row in rows.iter().filter(|row| (row.0.is_given)(given)) {
        if let Some(text) = refusal(row, kind) {
            bail!("{text}");
        }
    }
    Ok(())
}

/// The message that refuses the flag of this row in this mode, if it is refused.
fn refusal((flag, letters, own): &Row, kind: Kind) -> Option<String> {
    let (mode, flag) = (kind.flag(), flag.name);
    match letters.split_whitespace().nth(kind as usize) {
        Some("m") => Some(format!("{mode} and {flag} cannot be used together.")),
        Some("f") => Some(format!("{flag} and {mode} cannot be used together.")),
        Some("c") => Some(format!("{flag} is about compressing: it cannot be used together with {mode}.")),
        Some("o") => Some((*own).to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{flags::Flags, parse};
    use super::*;
    use clap::{Arg, CommandFactory};
    use std::ffi::OsStr;

    /// Flags that go with every mode.
    const EVERYWHERE: &[&str] = &[
        "--keep-going",
        "--keep",
        "--force",
        "--small",
        "--loadavg",
        "--threads",
        "--memory",
        "--gpu",
        "--no-gpu",
        "--gpu-pipeline",
        "--quiet",
        "--verbose",
        "--no-progress",
        "--exponential",
        "--sequential",
        "-b",
        "--help",
        "--version",
        "--man",
        "--completions",
    ];

    /// The flag as it is typed, with its value and the flags that it needs.
    fn typed(name: &str) -> String {
        let value = match name {
            "-o" | "--filelist" | "--output-dir" | "--plan-file" | "--against" | "-S" => " .x",
            "--ranges" => "=1@0",
            "--split" => "=1/2",
            "--index-format" => "=bzi",
            "--format" => "=bz2",
            "--block-size" | "--stream-size" => "=1M",
            "--perturb" | "--perturb-seed" => "=9",
            "-1 to -9" => return "-1".to_owned(),
            "--ignore-trailing-garbage" => "=0",
            "--gpu-pipeline" => "=bwt",
            "--plan" => "=1M",
            _ => "",
        };
        format!("{name}{value}")
    }

    fn refused(words: &str) -> Option<String> {
        let parsed = parse(OsStr::new("hybz"), words.split_whitespace().map(Into::into), |_| None);
        parsed.err().map(|refusal| refusal.error.to_string())
    }

    /// Every flag in every mode: refused with the text of its cell, or accepted, with a place for results if one is
    /// needed.
    #[test]
    fn every_cell() {
        for row in TABLE {
            let letters: Vec<&str> = row.1.split_whitespace().collect();
            assert!(letters.len() == Kind::ALL.len() && letters.iter().all(|cell| "+mfco".contains(cell)), "{}", row.1);
            for kind in Kind::ALL {
                let words = format!("{} {} x", kind.words().join(" "), typed(row.0.name));
                // If both flags ask for modes, the table has one in a row and the other in a column.
                let is_mode = Kind::ALL.iter().any(|kind| kind.flag() == row.0.name);
                // The table already decides about the flag that this flag needs.
                let needs = NEEDS.iter().any(|(flag, ..)| flag.name == row.0.name);
                // `--format=lz4` is also a `--format`, but `--verify=none` verifies nothing.
                let is_general =
                    |other: &&Row| row.0.name.strip_prefix(other.0.name).is_some_and(|rest| rest.starts_with('='));
                let general = || {
                    TABLE
                        .iter()
                        .filter(|_| row.0.name != NO_VERIFY.name)
                        .find(is_general)
                        .and_then(|other| refusal(other, kind))
                };
                match refusal(row, kind).or_else(general) {
                    None if is_mode || needs => {}
                    // Only --join=streams reads a plan; other joins do not.
                    None if row.0.name == PLAN_FILE.name && kind == Kind::Join => {}
                    None if row.0.name == GPU_REQUIRED.name && !cfg!(feature = "cuda") => {}
                    None => {
                        let more = ["", "-c", "-k", "-o y"].map(|more| refused(&format!("{more} {words}")));
                        assert!(more.contains(&None), "{words}: {more:?}");
                    }
                    text => assert_eq!(refused(&words), text, "{words}"),
                }
            }
        }
    }

    #[test]
    fn flags_that_need_others() {
        for (flag, _, text) in NEEDS {
            let name = if flag.name == "--exclude" { "--exclude=a" } else { flag.name };
            assert_eq!(refused(&format!("{} x", typed(name))).as_deref(), Some(*text));
        }
    }

    #[test]
    fn flags_that_exclude_each_other() {
        for (flag, others) in PAIRS {
            for other in *others {
                let other_typed = if other.name == "--index=FILE" { "--index=i".to_owned() } else { typed(other.name) };
                let reads = [RANGES.name, SPLIT.name];
                let mode = if reads.contains(&flag.name) || reads.contains(&other.name) { "-d" } else { "-z" };
                let text = format!("{} and {} cannot be used together.", flag.name, other.name);
                let words = format!("{mode} {} {other_typed} x", typed(flag.name));
                assert_eq!(refused(&words), Some(text), "{words}");
            }
        }
    }

    /// A new flag needs a row of the table, or a place in `EVERYWHERE`.
    #[test]
    fn every_flag_has_its_place() {
        let in_tables = TABLE.iter().map(|row| row.0.name).chain(NEEDS.iter().map(|need| need.0.name));
        let modes = Kind::ALL.iter().map(|kind| kind.flag());
        let known: Vec<&str> = in_tables
            .chain(["-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"])
            .chain(modes)
            .chain(EVERYWHERE.iter().copied())
            .collect();
        let names = |arg: &Arg| {
            let long = arg.get_long().map(|long| format!("--{long}"));
            long.into_iter().chain(arg.get_short().map(|short| format!("-{short}"))).collect::<Vec<_>>()
        };
        for arg in Flags::command().get_arguments().filter(|arg| !arg.is_positional()) {
            assert!(names(arg).iter().any(|name| known.contains(&&**name)), "{:?} is in no table", names(arg));
        }
    }
}
