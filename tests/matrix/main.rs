//! The fault matrix: faults that a compressor may meet, what should happen then, and what does happen.
//!
//! `cargo test --test matrix` runs every scenario with hybz; `cargo test --test matrix -- disk` those whose names
//! contain `disk`; `cargo test --test matrix -- --list` prints all names, with the expected outcomes. With
//! `HYBZ_MATRIX_PEERS=bzip2,lbzip2,pbzip2` the peers are run, too; their failures do not fail the test.
//! `HYBZ_MATRIX_TABLE=docs/FAULTS.md` then writes that page: totals, and the faults of each peer.
//!
//! A scenario is a few lines of shell in `tests/matrix/*.sh`, with the functions of `prelude.sh`. Scenarios about
//! damaged data come from the table of `testkit::crafted`. Scenarios that a machine cannot run are skipped by name.

mod harness;
mod scenario;
mod table;

use harness::Trial;
use hybz_testkit::crafted;
use hybz_testkit::skip::{Need, skip_named};
use scenario::{Kit, Outcome, Scenario};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use table::Table;

fn main() -> ExitCode {
    let kit = Arc::new(Kit::new());
    let peers: Vec<String> = std::env::var("HYBZ_MATRIX_PEERS")
        .map(|peers| peers.split(',').map(str::to_owned).collect())
        .unwrap_or_default();
    let table = Arc::new(Mutex::new(Table::new(&peers)));
    let scenarios = scenario::all();
    // This checks that no scenario is lost when the files are read: docs/FAULTS.md has the number of those that ran
    // when it was written.
    let row = include_str!("../../docs/FAULTS.md").lines().find_map(|line| line.strip_prefix("| all | 0 of "));
    let counted: usize = row.and_then(|row| row.split(' ').next()?.parse().ok()).expect("a row for all");
    assert!(scenarios.len() >= counted, "{} scenarios, and docs/FAULTS.md has {counted}", scenarios.len());
    let trials = scenarios
        .into_iter()
        .map(|scenario| {
            let (kit, table, peers) = (Arc::clone(&kit), Arc::clone(&table), peers.clone());
            Trial {
                name: scenario.name.clone(),
                expected: scenario.expected.clone(),
                run: Box::new(move || run(&kit, &scenario, &peers, &table)),
            }
        })
        .collect();
    let code = harness::main(trials);
    if let Some(file) = std::env::var_os("HYBZ_MATRIX_TABLE") {
        let text = table.lock().expect("no scenario panics").text();
        std::fs::write(&file, text).expect("the table is written");
    }
    code
}

/// Runs a scenario with hybz, and with the peers to which it applies.
fn run(kit: &Kit, scenario: &Scenario, peers: &[String], table: &Mutex<Table>) -> Result<(), String> {
    if let Some(reason) = scenario.lacks() {
        skip_named(Need::System, &format!("matrix::{}", scenario.name), &reason);
        return Ok(());
    }
    let ours = kit.run(scenario, "hybz");
    if !peers.is_empty() {
        let theirs = peers.iter().map(|peer| (!scenario.ours_only).then(|| kit.run(scenario, peer)));
        let outcomes = std::iter::once(Some(ours.clone())).chain(theirs).collect();
        table.lock().expect("no scenario panics").add(scenario, outcomes);
    }
    match ours {
        Outcome::Right => Ok(()),
        Outcome::Skipped(reason) => {
            skip_named(Need::System, &format!("matrix::{}", scenario.name), &reason);
            Ok(())
        }
        Outcome::Wrong(got) => Err(format!("expected: {}\ngot: {got}", scenario.expected)),
    }
}
