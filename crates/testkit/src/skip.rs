//! Skips a test by name, if the machine lacks something that the test needs.
//!
//! libtest has no such verdict: a test that returns early passes. [`skip`] therefore reports the skip on stderr, past
//! libtest's capture, and if `HYBZ_SKIPS` names a file, appends a line to that: verdict, test, reason and process,
//! between tabs. `.ci/tally` counts those lines.
//!
//! `HYBZ_DEMAND` lists requirements that must not be missing, and a test that lacks one fails:
//! `HYBZ_DEMAND=peers,shared cargo test`. The words are those of [`Need`], in lower case; `all` stands for all of them.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Mutex;

/// A requirement that a machine may lack.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// The programs that judge hybz: bzip2, lbzip2, pbzip2, 7z; gzip and ncompress for `.Z`, libtiff for strips.
    Peers,
    /// The files next to the repository: `../shared/data` and `../shared/suites`.
    Shared,
    /// Data of gigabytes, named by an environment variable.
    Large,
    /// A GPU, or for some tests a machine without one.
    Gpu,
    /// Something of the system: root, a mount, a C compiler, /proc.
    System,
    /// Python packages: rapidgzip, indexed_bzip2 and ratarmount, which have indexes of their own; jsonschema.
    Python,
    /// A cargo whose rustdoc writes the JSON from which the snapshot of the public API is made.
    Rustdoc,
}

/// Records that the running test shows nothing, because of `reason`. Write `return skip(Need::Peers, "lbzip2 is not
/// installed")`.
///
/// # Panics
/// If `HYBZ_DEMAND` lists `need`.
pub fn skip(need: Need, reason: &str) {
    record("skipped", need, &test_name(), reason);
}

/// Records that the running test goes on, but shows less than it could, because of `reason`.
///
/// # Panics
/// If `HYBZ_DEMAND` lists `need`.
pub fn skip_part(need: Need, reason: &str) {
    record("skipped in part", need, &test_name(), reason);
}

/// Like [`skip`], for a test that libtest does not know by name.
///
/// # Panics
/// If `HYBZ_DEMAND` lists `need`.
pub fn skip_named(need: Need, test: &str, reason: &str) {
    record("skipped", need, test, reason);
}

/// Prints and records a skip once for each test and reason.
fn record(verdict: &'static str, need: Need, test: &str, reason: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let word = format!("{need:?}").to_lowercase();
    let demand = std::env::var("HYBZ_DEMAND").unwrap_or_default();
    let demanded = demand.split(',').any(|demanded| demanded == word || demanded == "all");
    assert!(!demanded, "{reason}, and HYBZ_DEMAND={demand} demands {word}");
    // One write call for each line, so that lines of several tests and processes do not mix.
    let line = format!("{verdict}\t{test}\t{reason}\t{}\n", std::process::id());
    if !SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(line.clone()) {
        return;
    }
    let _ = std::io::stderr().write_all(format!("{verdict}: {test}: {reason}\n").as_bytes());
    if let Some(path) = std::env::var_os("HYBZ_SKIPS") {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("HYBZ_SKIPS={}: {error}", path.display()));
    }
}

/// `binary::module::test`. libtest names a test's thread after the test; a thread that the test starts has no name.
fn test_name() -> String {
    let binary = std::env::current_exe().ok();
    let stem = binary.as_ref().and_then(|path| path.file_stem()).map(|stem| stem.to_string_lossy());
    let stem = stem.as_deref().unwrap_or("?");
    // cargo appends a dash and a hash.
    let binary = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
    match std::thread::current().name() {
        Some("main") | None => format!("{binary}::?"),
        Some(name) => format!("{binary}::{name}"),
    }
}
