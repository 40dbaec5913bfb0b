//! What is done, with which operands, and where results go.

use std::ffi::OsStr;
use std::path::PathBuf;

/// What is done with the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
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
}

/// One thing to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Stdin,
    File(PathBuf),
}

impl Operand {
    /// What was typed: `-` is stdin, but only before `--`.
    pub fn typed(file: &OsStr) -> Operand {
        if file == "-" { Operand::Stdin } else { Operand::File(file.into()) }
    }

    /// Its name in messages.
    pub fn name(&self) -> &OsStr {
        match self {
            Operand::Stdin => OsStr::new("(stdin)"),
            Operand::File(path) => path.as_os_str(),
        }
    }
}
