//! What is said of a command line that clap refuses.

use anyhow::anyhow;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// bzip2's message for an unknown flag, with the help below it; our own for a value that does not fit its flag.
pub fn bad_flag(program: &OsStr, command: &mut Command, words: &[OsString], error: &clap::Error) -> anyhow::Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let flag = context(ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::NoEquals => {
            let (flag, value) = (flag.split(' ').next().unwrap_or_default(), context(ContextKind::InvalidValue));
            let help = format!("{0}: For help, type: `{0} --help'.", program.display());
            match value.as_str() {
                "" => anyhow!("Flag `{flag}' needs a value\n{help}"),
                value => anyhow!("Bad value `{value}' for flag `{flag}'\n{help}"),
            }
        }
        _ => {
            let word = words.iter().find(|word| has_flag(word, &flag));
            let word = word.map_or(flag.clone(), |word| word.to_string_lossy().into_owned());
            anyhow!("Bad flag `{word}'\n{}", command.render_help())
        }
    }
}

/// Whether `word` is, or contains, the flag that clap complains of: of a cluster clap names a letter, bzip2 the whole
/// word.
fn has_flag(word: &OsStr, flag: &str) -> bool {
    if flag.starts_with("--") {
        return word.to_string_lossy().split('=').next() == Some(flag);
    }
    let is_cluster = word.as_bytes().starts_with(b"-") && !word.as_bytes().starts_with(b"--");
    is_cluster && flag.chars().nth(1).is_some_and(|letter| word.to_string_lossy()[1..].contains(letter))
}
