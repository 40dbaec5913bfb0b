//! The command line, in two main steps: clap reads what was typed ([`flags`]), then [`Plan`] says what the program
//! needs.
//!
//! Two steps come before clap: reading the flags of environment variables, and splitting at `--`. One step comes after
//! it: bzip2's message for a bad flag. Calls as simple as `hybz -dc FILE` need no clap ([`plain`]).

mod bad_flag;
mod checks;
mod choices;
mod coding;
mod environment;
mod flags;
mod help;
mod packaging;
mod plain;
mod plan;
mod ranges;
mod rows;
mod rules;
mod values;

pub use choices::{ProgressFormat, Recovery};
pub use coding::Coding;
pub use plan::{Gpus, Operand, Plan, Target, usual_index};
pub use ranges::{Amount, Range, Split};
pub use rows::Kind;

use anyhow::Context as _;
use bad_flag::{bad_flag, check_pbzip2};
use clap::CommandFactory;
use clap::error::ErrorKind;
use environment::{Environment, quietness};
use flags::Flags;
use hybz_files::terminal;
use plan::is_bzip2;
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::ManuallyDrop;

/// bzip2's first line of `--version` and `--help`. Under bzip2's names it comes first, because programs parse it.
const BZIP2_LINE: &str = "bzip2, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.\n";

#[derive(Debug)]
pub enum Request {
    /// A text for stdout, such as the help.
    Show(String),
    Run(Box<Plan>),
}

pub struct Refusal {
    pub error: anyhow::Error,
    pub quiet: u8,
}

pub fn parse(
    program: &OsStr,
    mut words: impl Iterator<Item = OsString>,
    variable: impl Fn(&str) -> Option<OsString> + Copy,
) -> Result<Request, Refusal> {
    let typed: Vec<OsString> = words.by_ref().take_while(|word| word != "--").collect();
    if Environment::is_empty(variable)
        && let Some(mut flags) = plain::read(&typed)
    {
        let quiet = flags.quiet;
        let plan = operands(&mut flags, words, variable).and_then(|operands| checks::plan(program, flags, operands));
        let refused = |error| Refusal { error, quiet };
        return plan.map(|plan| Request::Run(Box::new(plan))).map_err(refused);
    }

    // Never dropped: freeing all flags would take 3.8 % of the instructions of compressing 1 kB, and the process ends
    // soon.
    let mut command = ManuallyDrop::new(Flags::command().infer_long_args(!is_bzip2(program)));
    let mut environment = Environment::read(&command, variable);
    let first_line = if is_bzip2(program) { BZIP2_LINE } else { "" };
    let found = Flags::read(&mut command, environment.words().chain(&typed));
    let found = found.and_then(|all| environment.keep_suitable(&mut command, program, &typed, all));
    let before_dashes = || environment.words().chain(&typed);
    let mut flags = match found {
        Ok(flags) => flags,
        Err(e) if e.kind() == ErrorKind::DisplayVersion => return Ok(Request::Show(format!("{first_line}{e}"))),
        Err(e) if e.kind() == ErrorKind::DisplayHelp => {
            let all = before_dashes().any(|word| word == "--help");
            let text = help::text(&command, all, terminal::columns(io::stdout()));
            return Ok(Request::Show(format!("{first_line}{text}")));
        }
        Err(e) => {
            let quiet = quietness(&command, before_dashes());
            return Err(Refusal { error: bad_flag(program, &command, &environment, &typed, &e), quiet });
        }
    };
    if flags.man {
        return Ok(Request::Show(packaging::MANUAL_PAGE.to_owned()));
    }
    if let Some(shell) = flags.completions {
        return Ok(Request::Show(packaging::completions(shell).to_owned()));
    }
    let quiet = flags.quiet;
    let refused = |error| Refusal { error, quiet };
    check_pbzip2(program, &command, &flags, &typed).map_err(refused)?;
    let operands = operands(&mut flags, words, variable).map_err(refused)?;
    let plan = checks::plan(program, flags, operands.clone());
    let mut plan = plan.map_err(|error| {
        refused(environment.named(error, |words| {
            let flags = Flags::read(&mut command, words.iter().copied().chain(&typed))?;
            checks::plan(program, flags, operands.clone()).map(drop)
        }))
    })?;
    plan.ignored_words = environment.ignored_words;
    Ok(Request::Run(Box::new(plan)))
}

/// The operands: those among the flags, and the words after `--`. Adds to `flags` what HYBZ_THREADS says.
fn operands(
    flags: &mut Flags,
    words: impl Iterator<Item = OsString>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> anyhow::Result<Vec<Operand>> {
    if flags.threads.is_none() && !flags.small {
        flags.threads = threads_of_environment(variable)?;
    }
    let operands = flags.files.iter().map(|file| Operand::typed(file));
    Ok(operands.chain(words.map(|word| Operand::File(word.into()))).collect())
}

/// The number of threads that HYBZ_THREADS gives, for programs that cannot say it by a flag: engines, schedulers.
fn threads_of_environment(variable: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<Option<u64>> {
    let Some(value) = variable("HYBZ_THREADS").filter(|value| !value.is_empty()) else { return Ok(None) };
    let number = value.to_str().and_then(|value| value.trim().parse().ok());
    let number = number.filter(|number| *number <= values::MAX_THREADS);
    number.map(Some).with_context(|| format!("HYBZ_THREADS expects a number of threads, not `{}'.", value.display()))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A typed mode takes precedence over a variable's mode.
    #[test]
    fn modes_of_variables() {
        for (variable, typed) in
            [("--recover", "-z"), ("-l", "--bench"), ("--bench", "--measure"), ("--plan=1M", "-d"), ("--recover", "-d")]
        {
            let words = [typed, "x"].map(OsString::from).into_iter();
            let parsed = parse(OsStr::new("hybz"), words, |name| (name == "HYBZ").then(|| variable.into()));
            let Ok(Request::Run(plan)) = parsed else { panic!("{variable} {typed}") };
            assert_eq!(plan.kind.flag(), typed, "{variable}");
        }
    }

    pub fn plan(words: &str) -> Plan {
        match parse(OsStr::new("hybz"), words.split_whitespace().map(Into::into), |_| None) {
            Ok(Request::Run(plan)) => *plan,
            Ok(Request::Show(text)) => panic!("{words}: {text}"),
            Err(refusal) => panic!("{words}: {}", refusal.error),
        }
    }
}
