//! The command `hybz`: a drop-in `bzip2` that uses every core.

#![allow(missing_docs)] // a program has no callers: its manual is `--help`

mod cli;

use cli::args::{self, Request};
use cli::report::errno_text;
use cli::{inherited, list, run};
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
        // A panic is a defect of ours, and has said where it is.
        Ok(Request::Run(plan)) => panic::catch_unwind(|| run::run(plan)).unwrap_or(Ok(run::Outcome::Exit(3))),
        Ok(Request::List(plan)) => panic::catch_unwind(|| list::list(plan)).unwrap_or(Ok(run::Outcome::Exit(3))),
        Err(error) => Err(error),
    };
    match result {
        Ok(run::Outcome::Exit(code)) => leave(code),
        Ok(run::Outcome::BrokenPipe) => inherited::end_by_broken_pipe(),
        Err(error) => {
            let text = [program.as_bytes(), b": ", format!("{error:#}\n").as_bytes()].concat();
            // Nobody is left to be told when stderr fails too.
            let _ = io::stderr().write_all(&text);
            ExitCode::FAILURE
        }
    }
}

/// Ends the process at once: everything is written, and nobody waits for a GPU that is still starting, or hangs. (The CUDA
/// runtime would, in what it has registered to be called at exit.) The kernel gives the memory back faster than we could.
#[allow(unsafe_code)]
fn leave(code: u8) -> ExitCode {
    // SAFETY: it takes a number and does not return; no output of ours is buffered any more.
    unsafe { libc::_exit(code.into()) }
}

/// Help and version go to stdout: somebody asked for them.
fn show(text: &str) -> anyhow::Result<run::Outcome> {
    let mut stdout = io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(run::Outcome::Exit(0)),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(run::Outcome::BrokenPipe),
        Err(e) => anyhow::bail!("Can't write output file (stdout): {}.", errno_text(&e)),
    }
}
