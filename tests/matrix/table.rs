//! `docs/FAULTS.md`: the number of scenarios that each program failed, and how it failed them.

use crate::scenario::{Outcome, Scenario};
use std::fmt::Write;

/// The outcomes of all scenarios, with hybz first.
pub struct Table {
    programs: Vec<String>,
    rows: Vec<(Scenario, Vec<Option<Outcome>>)>,
}

impl Table {
    pub fn new(peers: &[String]) -> Table {
        let programs = std::iter::once("hybz".to_owned()).chain(peers.iter().cloned()).collect();
        Table { programs, rows: Vec::new() }
    }

    pub fn add(&mut self, scenario: &Scenario, outcomes: Vec<Option<Outcome>>) {
        self.rows.push((scenario.clone(), outcomes));
    }

    pub fn text(&mut self) -> String {
        self.rows.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        let mut text = INTRODUCTION.to_owned();
        self.counts(&mut text);
        text.push_str(REFUSALS);
        self.failures(&mut text);
        text
    }

    fn heading(&self, text: &mut String, first: &str) {
        let _ = writeln!(text, "| {first} | {} |", self.programs.join(" | "));
        let _ = writeln!(text, "|---|{}", "---|".repeat(self.programs.len()));
    }

    /// Failed / run, by section and program.
    fn counts(&self, text: &mut String) {
        let mut sections: Vec<&str> = self.rows.iter().map(|(scenario, _)| scenario.section()).collect();
        sections.dedup();
        self.heading(text, "section");
        for section in sections.iter().copied().map(Some).chain([None]) {
            let rows: Vec<_> =
                self.rows.iter().filter(|(s, _)| section.is_none_or(|name| s.section() == name)).collect();
            let cells = (0..self.programs.len()).map(|program| {
                let outcomes = rows.iter().filter_map(|(_, outcomes)| outcomes[program].as_ref());
                let run = outcomes.clone().filter(|outcome| !matches!(outcome, Outcome::Skipped(_))).count();
                let failed = outcomes.filter(|outcome| matches!(outcome, Outcome::Wrong(_))).count();
                format!("{failed} of {run}")
            });
            let _ = writeln!(text, "| {} | {} |", section.unwrap_or("all"), cells.collect::<Vec<_>>().join(" | "));
        }
    }

    /// The scenarios in which a program failed, and how.
    fn failures(&self, text: &mut String) {
        text.push_str("## What failed\n\n");
        self.heading(text, "scenario: expected");
        for (scenario, outcomes) in &self.rows {
            if !outcomes.iter().flatten().any(|outcome| matches!(outcome, Outcome::Wrong(_))) {
                continue;
            }
            let cells: Vec<String> = outcomes.iter().map(cell).collect();
            let _ = writeln!(text, "| {}: {} | {} |", scenario.name, escape(&scenario.expected), cells.join(" | "));
        }
    }
}

fn cell(outcome: &Option<Outcome>) -> String {
    match outcome {
        None => "-".to_owned(),
        Some(Outcome::Right) => "right".to_owned(),
        Some(Outcome::Skipped(_)) => "not run".to_owned(),
        Some(Outcome::Wrong(got)) => escape(&got.chars().take(160).collect::<String>()),
    }
}

fn escape(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().replace('|', "\\|")
}

const INTRODUCTION: &str = "\
# Faults

For readers who ask what happens when something goes wrong: what hybz does then, and what bzip2, lbzip2 and pbzip2 do.
This file is written by

```text
HYBZ_MATRIX_PEERS=bzip2,lbzip2,pbzip2 HYBZ_MATRIX_TABLE=docs/FAULTS.md cargo test --test matrix
```

(bzip2 1.0.8, lbzip2 2.5, pbzip2 1.1.13; 2 cores; as root). `cargo test --test matrix` runs all scenarios with hybz
alone, as part of `cargo test`; `cargo test --test matrix -- --list` prints the name of each and what should happen.
The scenarios are in `tests/matrix/*.sh` and, for section `format`, in `crates/testkit/src/crafted/cases`. Messages and
exact exit codes are compared for hybz only: a peer may refuse in any way that leaves the files as they should be.
Scenarios about flags that only hybz has are not run with the peers, nor are those that make a system call fail if the
peer makes that call inside the C library, where the test cannot reach it.

Failed of run:

";

const REFUSALS: &str = "
## Calls that are refused

A file system, an option of its mount or a filter of system calls may refuse a call; then hybz tries another way.
`refused_calls` and `refused_calls_that_save_time` of `faults.rs` in `tests/command` refuse each of them in turn, and
`acl.rs` `fsetxattr`. Any other error, such as a full disk, ends the file, and its source stays.

| call that is refused | then | remark |
|---|---|---|
| `open` with `O_TMPFILE` (no file without a name) | a file with a hidden name from the beginning | |
| `linkat` (the complete file gets no name) | a copy with a hidden name; later files there begin with one | |
| `renameat2` with `RENAME_NOREPLACE` | an empty file reserves the name, and is replaced by `renameat` | |
| `flock` | no lock: what `kill -9` leaves is kept | |
| `fdatasync` | `fsync` | |
| `fdatasync` and `fsync` of a file | none: a power cut may lose the result | once a call: it cannot be synced |
| `open` and `fsync` of a directory | none | |
| `fchown` | the group is not kept: group and others get only what both had | |
| `fchmod` | the mode stays that of a new file: 600, or that of the mount | once a call: the mode, if it differs |
| `fsetxattr`, `fremovexattr` of a list (ACL) | a mode that gives nobody more than the list | the same |
| `fgetxattr` of a list | as if the list forbade all but the owner | the same |
| `futimens` | the result has the time at which it was made | |
| `statx` | `fstat` | |
| `posix_fadvise`, `sync_file_range`, `madvise`, `F_SETPIPE_SZ` | none: they only save time | |

The owner is set last: root without CAP_FOWNER can change nothing of another user's file.

## Directories that are replaced meanwhile

The directory of each operand is opened once, before the operand, also by `--recover`, `-l` and plans. The file is
opened, its index is read, its result is made and named, and the file is removed in this open directory, whether its
name was typed, listed or found by `-r`. So nothing is made, replaced or removed elsewhere if another user exchanges a
directory of its path with a link. A result of `-o` or index of `--index` in another directory, and the result of
`--join`, is made in the directory to which its path leads when hybz opens it. A name that leads to an open descriptor,
such as `/dev/stdin`, is never removed.

";
