//! Operands: what to read.

use std::ffi::OsStr;
use std::path::PathBuf;

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

    /// The operand's name in messages.
    pub fn name(&self) -> &OsStr {
        match self {
            Operand::Stdin => OsStr::new("(stdin)"),
            Operand::File(path) => path.as_os_str(),
        }
    }
}
