//! What is done with files, and where results go.

use super::kind::{Given, Kind};
use anyhow::bail;
use std::path::PathBuf;

/// What is done with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Compress,
    Decompress,
    Test,
}

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Each result into a file next to its source, named after it; the result of stdin to stdout.
    Beside,
    /// All results to stdout, one after the other.
    Stdout,
    /// Each result beneath this directory, at the place that its source's name says.
    Below(PathBuf),
    /// The only result into this file.
    File(PathBuf),
    /// There are no results.
    Nowhere,
}

impl Target {
    /// Whether results of files are files.
    pub fn makes_files(&self) -> bool {
        !matches!(self, Target::Stdout | Target::Nowhere)
    }
}

/// Where results go.
pub fn target(given: &Given<'_>) -> anyhow::Result<Target> {
    let flags = given.flags;
    let results = if given.kind == Kind::Join { 1 } else { given.typed };
    Ok(match &flags.output {
        _ if given.kind == Kind::Test => Target::Nowhere,
        Some(_) if results > 1 => bail!("-o takes the result of one input file, not of {results}."),
        // -f must not replace the link /dev/stdout.
        Some(file) if file != "-" && file != "/dev/stdout" => Target::File(file.into()),
        Some(_) => Target::Stdout,
        None if given.to_stdout() => Target::Stdout,
        None => flags.output_dir.as_ref().map_or(Target::Beside, |directory| Target::Below(directory.into())),
    })
}
