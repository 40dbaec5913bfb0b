//! Code that the tests of several packages share: inputs, judges, faults, and the report of a skipped test.

pub mod crafted;
pub mod faults;
#[cfg(unix)]
pub mod fork;
pub mod memory;
pub mod program;
pub mod reference;
#[cfg(unix)]
pub mod run;
pub mod shapes;
pub mod skip;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether tests that draw their cases draw many, and those that go through a table go through all of it: `HYBZ_LONG`
/// is set, as in `.ci/nightly`.
pub fn long() -> bool {
    std::env::var_os("HYBZ_LONG").is_some()
}

/// The number of rounds of a campaign: `usual`, or `many` if [`long`].
pub fn rounds(usual: usize, many: usize) -> usize {
    if long() { many } else { usual }
}

/// The folder `../shared/NAME` next to the repository, which may be missing.
pub fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name)
}

/// Compiles `tests/command/faults.c` for `LD_PRELOAD` to this file: the system's calls then fail as the variable
/// `FAULT` says. Returns whether there is a C compiler.
pub fn make_faults(library: &Path) -> bool {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/command/faults.c");
    let done = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(library).args([source, "-ldl"]).output();
    done.is_ok_and(|output| {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        true
    })
}

/// All files in `folder` and below it, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a readable folder");
    let paths = entries.map(|entry| entry.expect("a readable entry").path());
    let mut found: Vec<PathBuf> =
        paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect();
    found.sort();
    found
}
