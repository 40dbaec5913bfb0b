//! The destination of results.

use super::given::Given;
use super::rows::Kind;
use anyhow::bail;
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
