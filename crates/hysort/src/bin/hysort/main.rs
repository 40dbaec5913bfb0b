//! The command `hysort`: `LC_ALL=C sort` on every core.

mod args;
mod call;
mod check;
mod failure;
mod gpus;
mod input;
mod limits;
mod merge;
mod names;
mod output;
mod packaging;
mod pieces;
mod progress;
mod run;
mod spill;
mod target;

use args::Request;
use call::Outcome;
use failure::{Failure, STDOUT};
use hybz_files::{memory, process, stdout};
use std::convert::Infallible;
use std::io::{self, Write};
use std::{env, panic};

hybz_files::without_libm!();

#[global_allocator]
static ALLOCATOR: memory::Allocator = memory::Allocator;

/// GNU sort's exit code for a failure.
const TROUBLE: u8 = 2;

fn main() {
    let Err(e) = process::with_enough_stack(call);
    let why = format!("hysort: the stack is small (ulimit -s), and there is no thread with a larger one: {e}\n");
    // If stderr fails, there is nowhere to report it.
    let _ = io::stderr().write_all(why.as_bytes());
    process::exit_now(TROUBLE)
}

/// One call of the program. Inlined, it would use its stack before `main` has checked how much there is.
#[inline(never)]
fn call() -> Infallible {
    memory::set_end(b"hysort: memory exhausted\n".to_vec(), TROUBLE);
    if memory::is_limited() {
        // A second heap that just fits leaves too little for the work: at 90 MB, 5 of 40 runs ended for lack of memory.
        memory::be_sparing();
    }
    let words = env::args_os().skip(1);
    // A panic is a defect in hysort, and has printed its location.
    let result = panic::catch_unwind(|| match args::parse(words) {
        Ok(Request::Show(text)) => show(&text),
        Ok(Request::Run(plan)) => run::run(*plan),
        Err(failure) => Err(failure),
    });
    let code = match result {
        Ok(Ok(Outcome::Done)) => 0,
        Ok(Ok(Outcome::Disorder)) => 1,
        Ok(Err(failure)) => {
            if failure.is_broken_pipe() && !process::broken_pipes_are_ignored() {
                process::end_by_broken_pipe();
            }
            // If stderr fails, there is nowhere to report it.
            let _ = io::stderr().write_all(&[b"hysort: ", &failure.text()[..], b"\n"].concat());
            TROUBLE
        }
        Err(_) => TROUBLE,
    };
    // Nobody waits for a GPU that is still starting, and the kernel frees memory faster than we could.
    process::exit_now(code)
}

/// Writes a text that was asked for, such as the help, to stdout.
fn show(text: &str) -> Result<Outcome, Failure> {
    stdout::print(text.as_bytes()).map(|()| Outcome::Done).map_err(|e| Failure::system("write failed", STDOUT, e))
}
