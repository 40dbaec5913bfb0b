//! The destinations of results, and of `--json` in modes that make files.

use super::common::Common;
use super::rows::Kind;
use anyhow::bail;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The destination of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Each result goes to a file next to its source and named after it; the result of stdin goes to stdout.
    Beside,
    /// All results go to stdout, one after another.
    Stdout,
    /// Each result goes below this directory, at the path that its source's name gives.
    Below(PathBuf),
    /// The only result goes to this file.
    File(PathBuf),
    /// There are no results.
    Nowhere,
}

impl Target {
    /// Whether the result of a file is a file.
    pub fn makes_files(&self) -> bool {
        !matches!(self, Target::Stdout | Target::Nowhere)
    }
}

/// The destination that the flags and the program's name ask for.
pub fn target(common: &Common) -> anyhow::Result<Target> {
    let results = if common.kind == Kind::Join { 1 } else { common.typed };
    Ok(match &common.output {
        _ if common.kind == Kind::Test => Target::Nowhere,
        Some(_) if results > 1 => bail!("-o takes the result of one input file, not of {results}."),
        // -f must not replace the link /dev/stdout.
        Some(file) if file != "-" && file != "/dev/stdout" => Target::File(file.into()),
        Some(_) => Target::Stdout,
        None if common.to_stdout() => Target::Stdout,
        None => common.output_dir.as_ref().map_or(Target::Beside, |directory| Target::Below(directory.into())),
    })
}

/// The destination of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportPlace {
    Stderr,
    Stdout,
    File(PathBuf),
}

impl ReportPlace {
    /// Its name in messages.
    pub fn name(&self) -> &OsStr {
        match self {
            ReportPlace::Stderr => OsStr::new("(stderr)"),
            ReportPlace::Stdout => OsStr::new("(stdout)"),
            ReportPlace::File(path) => path.as_os_str(),
        }
    }
}

/// The destination of the report, if one was asked for, when results go to `target`.
pub fn report(common: &Common, target: &Target) -> anyhow::Result<Option<ReportPlace>> {
    let Some(file) = &common.json else { return Ok(None) };
    let place = match file.as_bytes() {
        b"" => ReportPlace::Stderr,
        b"-" => ReportPlace::Stdout,
        _ => ReportPlace::File(file.into()),
    };
    if place == ReportPlace::Stderr && common.verbose > 1 {
        bail!("--json and -vv cannot be used together: use --json=FILE.");
    }
    let data_on_stdout = match target {
        Target::Stdout => true,
        Target::Beside => common.reads_stdin(),
        Target::File(_) | Target::Below(_) | Target::Nowhere => false,
    };
    if place == ReportPlace::Stdout && data_on_stdout {
        bail!("--json=- and a result on standard output cannot be used together.");
    }
    Ok(Some(place))
}
