//! The command `hybz`: a drop-in `bzip2` that uses every core.

#![allow(missing_docs)] // a program has no public functions: its manual is `hybz --man`
#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

mod cli;

use cli::args::{self, Kind, Plan, Refusal, Request};
use cli::messages::{errno_text, print_stdout, reader_is_gone};
use cli::modes::{bench, bzip2recover, list, measure, recover, run, shards};
use hybz_files::{memory, process};
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::panic::{self, UnwindSafe};
use std::path::Path;

// `link_unwinder` in `build.rs` is the other part of a fast start.
hybz_files::without_libm!();

#[global_allocator]
static ALLOCATOR: memory::Allocator = memory::Allocator;

const OUT_OF_MEMORY: &[u8] =
    b": Out of memory. Less is needed with fewer threads and smaller blocks (-p1, -1), or with -s.\n";

/// Called by the C library, without Rust's runtime, which would read /proc/self/maps and make a stack for a signal
/// handler, only to name stack overflows: a tenth of all instructions of a call for 1 kB. The runtime's other work
/// before `main` is done by `hybz_files::process`. (Other C libraries do not give Rust the arguments before `main`.)
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[allow(unsafe_code)]
// SAFETY: no other function has this name, since the attribute `no_main` leaves out Rust's `main`.
#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    start().into()
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn main() -> std::process::ExitCode {
    start().into()
}

fn start() -> u8 {
    // C's `main` cannot unwind.
    let code = panic::catch_unwind(|| process::with_enough_stack(call)).unwrap_or(Ok(3));
    code.unwrap_or_else(|e| {
        let called = env::args_os().next().unwrap_or_else(|| OsString::from("hybz"));
        let program = Path::new(&called).file_name().unwrap_or(&called);
        let why = format!(
            ": The stack is small (ulimit -s), and there is no thread with a larger one: {}.\n",
            errno_text(&e)
        );
        // If stderr fails, there is nowhere to report it.
        let _ = io::stderr().write_all(&[program.as_bytes(), why.as_bytes()].concat());
        1
    })
}

/// One call of the program. Not inlined: otherwise its stack frame would be taken before `main` has checked the size
/// of the stack.
#[inline(never)]
fn call() -> u8 {
    let mut words = env::args_os();
    let called = words.next().unwrap_or_else(|| OsString::from("hybz"));
    let program = Path::new(&called).file_name().unwrap_or(&called).to_owned();
    memory::set_end([program.as_bytes(), OUT_OF_MEMORY].concat(), 1);
    if program.as_bytes().windows(12).any(|part| part == b"bzip2recover") {
        return bzip2recover::run(&called, words);
    }

    let (quiet, result) = match args::parse(&program, words, |name| env::var_os(name)) {
        Ok(Request::Show(text)) => (0, printing(|| print_stdout(text.as_bytes()).map(|()| 0))),
        Ok(Request::Run(plan)) => (plan.quiet, run_mode(*plan)),
        Err(Refusal { error, quiet }) => (quiet, Err(error)),
    };
    match result {
        // Exits without waiting for a GPU that is still starting. The kernel frees memory faster than we could.
        Ok(code) => process::exit_now(code),
        Err(error) if reader_is_gone(&error) => process::end_by_broken_pipe(),
        Err(_) if quiet > 1 => 1,
        Err(error) => {
            let text = [program.as_bytes(), b": ", format!("{error:#}\n").as_bytes()].concat();
            // If stderr fails, there is nowhere to report it.
            let _ = io::stderr().write_all(&text);
            1
        }
    }
}

/// Runs the mode.
fn run_mode(plan: Plan) -> anyhow::Result<u8> {
    for remark in plan.ignored_words.iter().filter(|_| plan.quiet == 0) {
        // If stderr fails, there is nowhere to report it.
        let _ = io::stderr().write_all(&[plan.program.as_bytes(), b": ", remark.as_bytes(), b"\n"].concat());
    }
    match plan.kind {
        Kind::Compress | Kind::Decompress | Kind::Test => unless_it_panics(|| run::run(plan)),
        Kind::Shard => unless_it_panics(|| run::run_shard(plan)),
        Kind::Plan | Kind::Join => unless_it_panics(|| shards::shards(plan)),
        Kind::Recover => unless_it_panics(|| recover::recover(plan)),
        Kind::List => printing(|| list::list(plan)),
        Kind::Bench => printing(|| bench::bench(plan)),
        Kind::Measure => printing(|| measure::measure(plan)),
    }
}

/// Runs `work`. A panic is a defect in hybz, and has already printed where it happened.
fn unless_it_panics(work: impl FnOnce() -> anyhow::Result<u8> + UnwindSafe) -> anyhow::Result<u8> {
    panic::catch_unwind(work).unwrap_or(Ok(3))
}

/// Like [`unless_it_panics`], for work whose result goes to stdout: nothing is done if stdout cannot take it.
fn printing(work: impl FnOnce() -> anyhow::Result<u8> + UnwindSafe) -> anyhow::Result<u8> {
    print_stdout(b"")?;
    unless_it_panics(work)
}
