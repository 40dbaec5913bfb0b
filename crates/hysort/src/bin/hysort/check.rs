//! `-c`: whether a file is sorted.

use crate::args::Plan;
use crate::call::{Outcome, failure};
use crate::failure::Failure;
use crate::input;
use hybz_files::quote::for_terminal;
use hysort::Disorder;
use std::io::{self, BufReader, Write};
use std::os::unix::ffi::OsStrExt;

/// Bytes per read.
const READ: usize = 1 << 20;

pub fn check(plan: &Plan, quiet: bool) -> Result<Outcome, Failure> {
    let name = &plan.files[0];
    let text = BufReader::with_capacity(READ, input::open(name)?);
    let found = hysort::check(text, plan.keyed()).map_err(|e| failure(e, plan))?;
    let Some(Disorder { number, line, .. }) = found else { return Ok(Outcome::Done) };
    if !quiet {
        let place = format!(":{number}: disorder: ");
        // A colon ends the name, as in GNU's message: the name is quoted only if it could harm a terminal.
        let name = for_terminal(name, true);
        let text = [b"hysort: ", name.as_bytes(), place.as_bytes(), &line, &[plan.end()]].concat();
        // If stderr fails, there is nowhere to report it.
        let _ = io::stderr().write_all(&text);
    }
    Ok(Outcome::Disorder)
}
