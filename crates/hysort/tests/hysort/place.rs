//! A directory to run commands in, and two of them to compare hysort with sort.

use crate::skip::{Need, skip};
pub use hybz_testkit::run::Run;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A directory for one test.
pub struct Place(TempDir);

/// Lines of numbers in disorder, all different.
pub fn numbers(count: u32) -> Vec<u8> {
    (0..count).flat_map(|i| format!("{}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect()
}

pub fn hysort() -> &'static str {
    env!("CARGO_BIN_EXE_hysort")
}

impl Place {
    pub fn with(files: &[(&str, &[u8])]) -> Place {
        let place = Place(tempfile::Builder::new().prefix("hysort-test-").tempdir().expect("a temporary directory"));
        for (name, bytes) in files {
            fs::write(place.path(name), bytes).expect("a file in the place");
        }
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The names of everything in the directory, including hidden files.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the place is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// All files with their contents.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let names = self.names().into_iter().filter(|name| self.path(name).is_file());
        names.map(|name| (name.clone(), fs::read(self.path(&name)).unwrap_or_default())).collect()
    }

    /// Puts `faults.so` here; `tests/command/faults.c` lists the values of FAULT. Without a C compiler, the calling
    /// test counts as skipped, and should return.
    pub fn has_faults(&self) -> bool {
        let is_made = hybz_testkit::make_faults(&self.path("faults.so"));
        if !is_made {
            skip(Need::System, "no C compiler");
        }
        is_made
    }

    /// A command in this directory, with the program `sort` as `$SORT`.
    pub fn command(&self, sort: &str, script: &str) -> Command {
        let mut command = Command::new("bash");
        command.arg("-c").arg(script).current_dir(self.0.path()).env("SORT", sort).env("LC_ALL", "C");
        for name in ["TMPDIR", "POSIXLY_CORRECT", "HYBZ_SKIPS", "HYBZ_THREADS"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs a shell's script with hysort as `$SORT`.
    pub fn shell(&self, script: &str) -> Run {
        self.run(hysort(), script)
    }

    fn run(&self, sort: &str, script: &str) -> Run {
        Run::from(self.command(sort, script).output().expect("bash is there"))
    }
}

/// Whether GNU sort is installed. If not, the calling test counts as skipped, and should return.
pub fn gnu_sort() -> bool {
    let version = Command::new("sort").arg("--version").output();
    let gnu = version.is_ok_and(|output| output.stdout.starts_with(b"sort (GNU coreutils)"));
    if !gnu {
        skip(Need::Peers, "GNU sort is not installed");
    }
    gnu
}

/// Runs `script` with hysort and with sort as `$SORT`, each in a directory of its own with these files, and compares
/// exit code, stdout, stderr and the files that are there afterwards.
#[track_caller]
pub fn same(files: &[(&str, &[u8])], script: &str) -> Run {
    let (ours, theirs) = (Place::with(files), Place::with(files));
    let run = ours.run(hysort(), script);
    let expected = theirs.run("sort", script);
    let said = in_common_words(&run.stderr, hysort());
    assert_eq!((run.code, said), (expected.code, in_common_words(&expected.stderr, "sort")), "{script}");
    assert!(run.stdout == expected.stdout, "{script}: stdout differs: {:?}, not {:?}", head(&run), head(&expected));
    assert!(ours.files() == theirs.files(), "{script}: files differ");
    run
}

/// The same for each of these lines that is not a comment.
pub fn each_same(files: &[(&str, &[u8])], scripts: &str) {
    let scripts = scripts.lines().filter(|line| !line.starts_with('#'));
    if gnu_sort() {
        scripts.for_each(|script| drop(same(files, script)));
    }
}

fn head(run: &Run) -> String {
    String::from_utf8_lossy(&run.stdout[..run.stdout.len().min(200)]).into_owned()
}

/// Makes the messages of both programs equal where they differ on purpose: GNU sort checks a descriptor with another
/// call, writes through a buffer, and reports a failed write twice.
fn in_common_words(stderr: &str, program: &str) -> String {
    let text = stderr.replace(program, "sort").replace("hysort", "sort");
    let text = text.replace("fflush failed:", "write failed:").replace("stat failed:", "read failed:");
    text.replace("sort: write error\n", "")
}
