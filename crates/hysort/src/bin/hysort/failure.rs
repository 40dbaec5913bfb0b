//! Failures, in the words of GNU sort, which scripts look for.

use crate::names::quoted_if_needed;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::{error, fmt};

/// Why there is no result. The exit code is 2 for all of them.
#[derive(Debug)]
pub enum Failure {
    /// The system refuses something: what, to which file, and why.
    System { what: &'static str, file: Vec<u8>, error: io::Error },
    /// A sentence about the input or the machine.
    Sentence(Vec<u8>),
    /// A sentence about the command line, followed by a hint at `--help`.
    Usage(Vec<u8>),
}

/// GNU sort's names for the two files that have none.
pub const STDIN: &str = "-";
pub const STDOUT: &str = "standard output";

impl Failure {
    /// `cannot read: FILE: No such file or directory`.
    pub fn system(what: &'static str, file: impl AsRef<OsStr>, error: io::Error) -> Failure {
        Failure::System { what, file: quoted_if_needed(file.as_ref()), error }
    }

    pub fn sentence(text: impl Into<Vec<u8>>) -> Failure {
        Failure::Sentence(text.into())
    }

    pub fn usage(text: impl Into<Vec<u8>>) -> Failure {
        Failure::Usage(text.into())
    }

    /// Whether the reader of the output has gone.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::System { what: "write failed", error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The message, without the name of the program. A failure of the command line has a second line.
    pub fn text(&self) -> Vec<u8> {
        match self {
            Failure::System { what, file, error } => {
                [what.as_bytes(), b": ", file, b": ", errno_text(error).as_bytes()].concat()
            }
            Failure::Sentence(text) => text.clone(),
            Failure::Usage(text) => [text, &b"\nTry 'hysort --help' for more information."[..]].concat(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text()))
    }
}

/// An error of reading or writing carries its failure through the library: `call::failure` takes it out.
impl error::Error for Failure {}

/// The system's text for an error, without the number that std adds.
pub fn errno_text(error: &io::Error) -> Cow<'static, str> {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(at) => text[..at].to_owned().into(),
        None => text.into(),
    }
}

/// Prints a remark about a file; the call does not fail because of it.
pub fn remark(file: &OsStr, text: &str) {
    // If stderr fails, there is nowhere to report it.
    let _ = io::stderr().write_all(&[b"hysort: ", &quoted_if_needed(file)[..], b": ", text.as_bytes(), b"\n"].concat());
}
