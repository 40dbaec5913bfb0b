//! The command line, in two steps: clap reads what was typed ([`flags`]), then [`Plan`] says what the program needs.
//!
//! Two steps come before clap: reading the flags of environment variables, and splitting at `--`. One comes after it:
//! bzip2's message for a bad flag.

mod about;
mod applicable;
mod bad_flag;
mod batch;
mod bench;
mod choices;
mod coding;
mod common;
mod environment;
mod files;
mod flags;
mod help;
mod index;
mod kind;
mod level;
mod list;
mod measure;
mod operand;
mod packaging;
mod part;
mod pbzip2;
mod plan;
mod ranges;
mod recover;
mod report;
mod shards;
mod split;
mod table;
mod task;
mod values;
mod verify;

pub use batch::{Batch, NameList};
pub use bench::{BenchMode, Direction};
pub use choices::{IndexFormat, Recovery};
pub use coding::Coding;
pub use common::{Common, Gpus};
pub use files::{FilesMode, Work};
pub use index::{IndexPlan, usual_index};
pub use list::{ListMode, Listing};
pub use measure::MeasureMode;
pub use operand::Operand;
pub use part::{SplitPlan, TextRanges};
pub use plan::{Mode, Plan};
pub use ranges::{Amount, Range};
pub use recover::RecoverMode;
pub use report::ReportPlace;
pub use shards::{Join, ShardMode, ShardsMode, ShardsTask};
pub use task::{Action, Target};

use applicable::Call;
use bad_flag::bad_flag;
use clap::CommandFactory;
use clap::error::ErrorKind;
use common::is_bzip2;
use environment::{Environment, quietness};
use flags::Flags;
use hybz_files::terminal;
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::ManuallyDrop;

/// The request of a command line.
#[derive(Debug)]
pub enum Request {
    /// A text for stdout, such as the help.
    Show(String),
    Run(Box<Plan>),
}

/// Why a command line was refused.
pub struct Refusal {
    pub error: anyhow::Error,
    /// How often `-q` was given.
    pub quiet: u8,
}

/// Reads the words after the program's name.
pub fn parse(
    program: &OsStr,
    mut words: impl Iterator<Item = OsString>,
    variable: impl Fn(&str) -> Option<OsString> + Copy,
) -> Result<Request, Refusal> {
    // Never dropped: freeing all flags would take 3.8 % of the instructions of compressing 1 kB, and the process ends
    // soon.
    let mut command = ManuallyDrop::new(Flags::command());
    let environment = Environment::read(&command, variable);
    let typed: Vec<OsString> = words.by_ref().take_while(|word| word != "--").collect();
    let before_dashes = || environment.flags.iter().chain(&typed);

    let first_line = if is_bzip2(program) { about::BZIP2_LINE } else { "" };
    let found = command.try_get_matches_from_mut(before_dashes());
    let mut flags = match found.and_then(|mut found| Flags::from_matches(&mut found)) {
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
    if flags.about.man {
        return Ok(Request::Show(packaging::MANUAL_PAGE.to_owned()));
    }
    if let Some(shell) = flags.about.completions {
        return Ok(Request::Show(packaging::completions(shell).to_owned()));
    }
    let quiet = flags.quiet;
    pbzip2::check(program, &command, &flags, &typed).map_err(|error| Refusal { error, quiet })?;
    let more: Vec<Operand> = words.map(|word| Operand::File(word.into())).collect();
    let operands = flags.files.iter().map(|file| Operand::typed(file)).chain(more.iter().cloned()).collect();
    if flags.threads.is_none() && !flags.small {
        flags.threads = threads_of_environment(variable).map_err(|error| Refusal { error, quiet })?;
    }
    let plan = match Plan::new(program, &flags, operands, environment.ignored_words.clone()) {
        Ok(plan) => Ok(plan),
        Err(error) => {
            let call = Call { program, environment: &environment, typed: &typed, more: &more };
            call.without_other_modes(&flags, error)
        }
    };
    plan.map(|plan| Request::Run(Box::new(plan))).map_err(|error| Refusal { error, quiet })
}

/// The number of threads that HYBZ_THREADS gives, for programs that cannot say it by a flag: engines, schedulers.
fn threads_of_environment(variable: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<Option<u64>> {
    let Some(value) = variable("HYBZ_THREADS").filter(|value| !value.is_empty()) else { return Ok(None) };
    let number = value.to_str().and_then(|value| value.trim().parse().ok());
    match number.filter(|number| *number <= values::MAX_THREADS) {
        Some(number) => Ok(Some(number)),
        None => {
            anyhow::bail!("HYBZ_THREADS wants a number of threads, not `{}'.", value.display())
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A typed mode takes precedence over a variable's mode.
    #[test]
    fn modes_of_variables() {
        for (variable, typed) in [("--recover", "-z"), ("-l", "--bench"), ("--bench", "--measure"), ("--plan=1M", "-d")]
        {
            let words = [typed, "x"].map(OsString::from).into_iter();
            let parsed = parse(OsStr::new("hybz"), words, |name| (name == "HYBZ").then(|| variable.into()));
            let Ok(Request::Run(plan)) = parsed else { panic!("{variable} {typed}") };
            let is_typed = match (typed, plan.mode) {
                ("--bench", Mode::Bench(_)) | ("--measure", Mode::Measure(_)) => true,
                ("-z" | "-d", Mode::Files(files)) => (files.action() == Action::Compress) == (typed == "-z"),
                _ => false,
            };
            assert!(is_typed, "{variable} {typed}");
        }
    }

    /// The plan for these words.
    pub fn plan(words: &str) -> Plan {
        match parse(OsStr::new("hybz"), words.split_whitespace().map(Into::into), |_| None) {
            Ok(Request::Run(plan)) => *plan,
            Ok(Request::Show(text)) => panic!("{words}: {text}"),
            Err(refusal) => panic!("{words}: {}", refusal.error),
        }
    }
}
