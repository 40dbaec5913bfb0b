//! Whole trees and long lists of files: what the flags ask for, and which of them do not go together.

use super::flags::Flags;
use super::task::{Mode, Operand, Target};
use anyhow::bail;
use glob::Pattern;
use std::path::PathBuf;

/// Where names of files come from, besides the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameList {
    /// `None` is stdin.
    pub file: Option<PathBuf>,
    /// Whether a zero byte ends each name, not a line end.
    pub null: bool,
}

/// What is done with trees and lists.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Whether directories are walked.
    pub recursive: bool,
    /// Whether other file systems are walked too.
    pub crosses: bool,
    pub list: Option<NameList>,
    /// What a walk, or a list, leaves out.
    pub exclude: Vec<Pattern>,
    /// Whether results that exist are looked at.
    pub resume: bool,
    /// Whether the first failure ends all work.
    pub fail_fast: bool,
}

impl Batch {
    /// Whether nobody knows beforehand which files there are.
    pub fn is_open_ended(&self) -> bool {
        self.recursive || self.list.is_some()
    }
}

/// What is known when the flags of this page are looked at.
pub struct Settled<'a> {
    pub flags: &'a Flags,
    pub mode: Mode,
    pub target: &'a Target,
    /// As they were typed.
    pub operands: &'a [Operand],
}

/// The plan for trees and lists.
pub fn batch(settled: &Settled<'_>) -> anyhow::Result<Batch> {
    let Settled { flags, .. } = settled;
    refuse_what_contradicts(settled)?;
    let list = flags
        .filelist
        .as_ref()
        .map(|file| NameList { file: (file != "-").then(|| PathBuf::from(file)), null: flags.null });
    Ok(Batch {
        recursive: flags.recursive,
        crosses: flags.cross_file_systems,
        list,
        exclude: flags.exclude.clone(),
        resume: flags.resume,
        fail_fast: flags.fail_fast,
    })
}

fn refuse_what_contradicts(settled: &Settled<'_>) -> anyhow::Result<()> {
    let &Settled { flags, mode, target, operands } = settled;
    let many = [(flags.recursive, "-r"), (flags.filelist.is_some(), "--filelist")];
    let depends = [
        (flags.cross_file_systems && !flags.recursive, "--cross-file-systems is about -r."),
        (flags.null && flags.filelist.is_none(), "--null is about --filelist."),
        (!flags.exclude.is_empty() && !many.iter().any(|(given, _)| *given), "--exclude is about -r and --filelist."),
        (flags.filelist.as_ref().is_some_and(|file| file.is_empty()), "--filelist wants the name of a file, or -."),
        (flags.output_dir.as_ref().is_some_and(|dir| dir.is_empty()), "--output-dir wants the name of a directory."),
    ];
    if let Some((_, text)) = depends.iter().find(|(given, _)| *given) {
        bail!("{text}");
    }
    let reads = [
        (flags.recover.is_some(), "--recover"),
        (flags.list, "-l"),
        (flags.ranges.is_some(), "--ranges"),
        (flags.at.is_some(), "--at"),
        (flags.streams.is_some(), "--streams"),
    ];
    let one_file =
        [(flags.output.is_some(), "-o"), (flags.index.as_ref().is_some_and(|file| !file.is_empty()), "--index=FILE")];
    let no_file = [(mode == Mode::Test, "-t"), (*target == Target::Stdout, "-c")];
    let index = [(flags.index.is_some(), "--index")];
    let output_dir = (flags.output_dir.is_some(), "--output-dir");
    let resume = (flags.resume, "--resume");
    let fail_fast = (flags.fail_fast, "--fail-fast");
    for (flag, others) in [
        (many[0], [&reads[..], &one_file].concat()),
        (many[1], [&reads[..], &one_file].concat()),
        (output_dir, [&reads[..], &one_file, &no_file].concat()),
        (resume, [&reads[..], &one_file, &no_file, &index].concat()),
        (fail_fast, reads[..2].to_vec()),
    ] {
        if let Some((_, other)) = others.iter().find(|(given, _)| flag.0 && *given) {
            bail!("{} and {other} cannot be used together.", flag.1);
        }
    }
    let stdin_typed = operands.contains(&Operand::Stdin);
    if flags.filelist.as_ref().is_some_and(|file| file == "-") && stdin_typed {
        bail!("--filelist - reads the list from stdin, which is also an input file.");
    }
    if operands.is_empty() && flags.filelist.is_none() {
        if flags.recursive {
            bail!("-r wants the name of a directory.");
        }
        if flags.resume {
            bail!("--resume wants the names of files.");
        }
    }
    if flags.output_dir.is_some() && (stdin_typed || operands.is_empty() && flags.filelist.is_none()) {
        bail!("--output-dir wants files: the result of stdin has no name.");
    }
    Ok(())
}
