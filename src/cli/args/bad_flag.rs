//! The message for a command line that clap refuses: one line, with bzip2's words for an unknown flag.

use super::environment::{Environment, count};
use super::flags::Flags;
use anyhow::{anyhow, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, ValueHint};
use hybz_files::quote::shown;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The message: the flag as it was typed, the nearest known flag or what its value should be, and where to find help.
pub fn bad_flag(
    program: &OsStr,
    command: &Command,
    environment: &Environment,
    typed: &[OsString],
    error: &clap::Error,
) -> anyhow::Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.first().cloned().unwrap_or_default(),
        _ => String::new(),
    };
    let flag = context(ContextKind::InvalidArg);
    let words: Vec<&OsStr> = environment.words().chain(typed).map(|word| &**word).collect();
    let bad_value = matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::NoEquals);
    let (at, what, end) = match bad_value.then(|| argument(command, &flag)).flatten() {
        Some(arg) => {
            let value = context(ContextKind::InvalidValue);
            let (at, spelling) = spelling(&words, arg, &value)
                .unwrap_or_else(|| (words.len(), format!("--{}", arg.get_long().unwrap_or_default())));
            let but = format!(", not `{}'", shown(OsStr::new(&value)).display());
            let but = if value.is_empty() { "" } else { &but };
            (at, format!("{spelling} expects {}{but}", wanted(arg)), ".".to_owned())
        }
        None => {
            let at = words.iter().position(|word| has_flag(word, &flag)).unwrap_or(words.len());
            let word = words.get(at).copied().unwrap_or(OsStr::new(&flag));
            let end = match &*context(ContextKind::SuggestedArg) {
                "" => ".".to_owned(),
                nearest => format!("; did you mean `{nearest}'?"),
            };
            (at, format!("Bad flag `{}'", shown(word).display()), end)
        }
    };
    let variable = environment.variable(at);
    let source = variable.map(|name| format!(" (in the environment variable {name})")).unwrap_or_default();
    anyhow!("{what}{source}{end} For help, type: `{} --help'.", program.display())
}

/// Whether `word` is, or contains, the flag that clap complains about. Of a cluster, clap names one letter, but bzip2
/// names the whole word.
fn has_flag(word: &OsStr, flag: &str) -> bool {
    if flag.starts_with("--") {
        return word.to_string_lossy().split('=').next() == Some(flag);
    }
    let is_cluster = word.as_bytes().starts_with(b"-") && !word.as_bytes().starts_with(b"--");
    is_cluster && flag.chars().nth(1).is_some_and(|letter| word.to_string_lossy()[1..].contains(letter))
}

/// The argument that clap's messages call `flag`, such as `--threads <N>` or `--recover[=<RESULT>]`.
fn argument<'a>(command: &'a Command, flag: &str) -> Option<&'a Arg> {
    let flag = flag.split([' ', '[']).next().unwrap_or_default();
    command.get_arguments().find(|arg| match flag.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => flag.chars().nth(1).is_some_and(|short| arg.get_short() == Some(short)),
    })
}

/// The position at which `arg` was typed with this value, and the spelling of `arg`: `-n`, `--threads`.
fn spelling(words: &[&OsStr], arg: &Arg, value: &str) -> Option<(usize, String)> {
    let text = |at: usize| words.get(at).map(|word| word.to_string_lossy());
    (0..words.len()).find_map(|at| {
        let word = text(at)?;
        let fits = |attached: &str| match attached {
            "" => value.is_empty() || text(at + 1).is_some_and(|next| next == value),
            attached => attached == value,
        };
        if let Some(long) = word.strip_prefix("--") {
            let (name, attached) = long.split_once('=').unwrap_or((long, ""));
            return (arg.get_long() == Some(name) && fits(attached)).then(|| (at, format!("--{name}")));
        }
        let cluster = word.strip_prefix('-')?;
        let fitting = |short: &char| cluster.split_once(*short).is_some_and(|(_, attached)| fits(attached));
        arg.get_short_and_visible_aliases()?.into_iter().find(fitting).map(|short| (at, format!("-{short}")))
    })
}

fn wanted(arg: &Arg) -> String {
    match arg.get_id().as_str() {
        "threads" => "a number of threads, at most 4194304",
        "memory" => "a size such as 100 (MiB), 300k or 1G",
        "block_size" => "a size such as 9M or 1G",
        "plan" | "stream_size" => "a size such as 100M or 1.5G",
        "perturb" => "a number of bytes or a percentage such as 0.1%",
        "ranges" => "ranges such as 10@0,1KiB@15KiB or 5L@20L",
        "split" => "a part such as 1/8 or 64M@0",
        "filelist" => "the name of a file, or -",
        "exclude" => "a pattern such as *.jpg or cache/**",
        "suffix" => "a suffix such as .bz2",
        "bench" => "a number of seconds, at most 3600",
        "against" => "programs such as lbzip2,pbzip2",
        "gpu" => "a list of GPUs such as 0,1, or none",
        "ignore_trailing_garbage" => "0 or 1",
        _ => {
            let possible = arg.get_possible_values();
            let names: Vec<&str> = possible.iter().map(|value| value.get_name()).collect();
            match (&names[..], arg.get_value_hint()) {
                ([], ValueHint::FilePath) => "the name of a file",
                ([], ValueHint::DirPath) => "the name of a directory",
                ([], _) => "a number",
                ([others @ .., last], _) => return format!("{} or {last}", others.join(", ")),
            }
        }
    }
    .to_owned()
}

/// Refuses flags that mean something else under pbzip2's name, and names the flag to use. (hybz would list files where
/// pbzip2 compresses them, or give them another suffix.)
pub fn check_pbzip2(program: &OsStr, command: &Command, flags: &Flags, typed: &[OsString]) -> anyhow::Result<()> {
    if !program.to_string_lossy().contains("pbzip2") {
        return Ok(());
    }
    if count(command, typed.iter(), 'l') > 0 {
        bail!("-l of pbzip2 limits the load: use -p N, a number of threads. (--list lists files.)");
    }
    if flags.suffix.as_ref().is_some_and(|suffix| suffix.as_bytes().iter().all(u8::is_ascii_digit)) {
        bail!("-S of pbzip2 is the size of stacks, which hybz chooses itself: leave it out.");
    }
    Ok(())
}
