//! The command `hybz`: a drop-in `bzip2` that uses every core.

#![allow(missing_docs)] // a program has no callers: its manual is `hybz --man`

mod cli;

use cli::args::{self, Request};
use cli::os::process;
use cli::report::{Outcome, errno_text};
use cli::{list, run};
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::panic;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = env::args_os();
    let called = words.next().unwrap_or_else(|| OsString::from("hybz"));
    let program = Path::new(&called).file_name().unwrap_or(&called).to_owned();

    let result = match args::parse(&program, words, |name| env::var_os(name)) {
        Ok(Request::Show(text)) => show(&text),
        // A panic is a defect in hybz, and has printed where it is.
        Ok(Request::Run(plan)) => panic::catch_unwind(|| run::run(plan)).unwrap_or(Ok(Outcome::Exit(3))),
        Ok(Request::List(plan)) => panic::catch_unwind(|| list::list(plan)).unwrap_or(Ok(Outcome::Exit(3))),
        Err(error) => Err(error),
    };
    match result {
        // Nobody waits for a GPU that is still starting, and the kernel frees memory faster than we could.
        Ok(Outcome::Exit(code)) => process::exit_now(code),
        Ok(Outcome::BrokenPipe) => process::end_by_broken_pipe(),
        Err(error) => {
            let text = [program.as_bytes(), b": ", format!("{error:#}\n").as_bytes()].concat();
            // If stderr fails, there is nowhere to report it.
            let _ = io::stderr().write_all(&text);
            ExitCode::FAILURE
        }
    }
}

/// Writes a text that was asked for, such as the help, to stdout.
fn show(text: &str) -> anyhow::Result<Outcome> {
    let mut stdout = io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Outcome::Exit(0)),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(Outcome::BrokenPipe),
        Err(e) => anyhow::bail!("Can't write output file (stdout): {}.", errno_text(&e)),
    }
}
