//! Flags that mean something else under pbzip2's name. They are refused with the flag to use, because hybz would list
//! files where pbzip2 compresses them, or give them another suffix.

use super::environment::count;
use super::flags::Flags;
use anyhow::bail;
use clap::Command;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Refuses the flags that pbzip2 has for its load average and its stacks, if the program was called by its name.
pub fn check(program: &OsStr, command: &Command, flags: &Flags, typed: &[OsString]) -> anyhow::Result<()> {
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
