//! README.md has a row for every table and figure of `items.txt`, whose command exists and whose run is recorded.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A row: his number, ours, the ratio, the command, the run.
type Row<'a> = Vec<&'a str>;

fn rows(readme: &str) -> BTreeMap<String, Row<'_>> {
    let mut rows = BTreeMap::new();
    for line in readme.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [thesis, item, rest @ ..] = &cells[..] else { continue };
        if item.starts_with("table ") || item.starts_with("figure ") {
            assert_eq!(rest.len(), 5, "his, ours, ratio, command, run: {line}");
            let twice = rows.insert(format!("{thesis} {item}"), rest.to_vec());
            assert!(twice.is_none(), "two rows: {line}");
        }
    }
    rows
}

/// What is wrong with the rows.
fn faults(items: &str, readme: &str, commands: &str) -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rows = rows(readme);
    let items: Vec<&str> = items.lines().filter(|line| !line.starts_with('#')).collect();
    let mut faults = Vec::new();
    faults.extend(items.iter().filter(|item| !rows.contains_key(**item)).map(|item| format!("{item}: no row")));
    for (item, row) in &rows {
        if !items.contains(&&**item) {
            faults.push(format!("{item}: not in items.txt"));
        }
        let (ours, command, run) = (row[1], row[3].trim_matches('`'), row[4]);
        // A sentence says why.
        if ours.starts_with("not made: ") && ours.len() > 30 {
            continue;
        }
        let words: Vec<&str> = command.split(' ').take(2).collect();
        let known = commands.lines().any(|line| line.starts_with(&format!("{}: ", words.join(" "))));
        if !known && words.first() != Some(&"dither") {
            faults.push(format!("{item}: no command `{command}'"));
        }
        let link = run.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(link, _)| link);
        if link.is_none_or(|link| !here.join(link).is_file()) {
            faults.push(format!("{item}: no recorded run, `{run}'"));
        }
    }
    faults
}

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a file of this package")
}

fn commands() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_theses")).output().expect("the command");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_table_and_figure_has_a_row_with_a_command_and_a_run() {
    assert_eq!(faults(&read("items.txt"), &read("README.md"), &commands()), Vec::<String>::new());
}

#[test]
fn what_is_missing_is_found() {
    let commands = commands();
    let row = |line: &str| faults("patel table 4.1", line, &commands);
    assert!(row("| patel | table 4.1 | 7 | 9 | 2 | `patel 4.1 dickens` | [run](README.md) |").is_empty());
    assert_eq!(row("").len(), 1);
    assert_eq!(row("| patel | table 4.1 | 7 | 9 | 2 | `patel 4.9` | [run](README.md) |").len(), 1);
    assert_eq!(row("| patel | table 4.1 | 7 | 9 | 2 | `patel 4.1` | [run](nowhere.md) |").len(), 1);
    assert_eq!(row("| patel | table 4.1 | 7 | not made: no | - | - | - |").len(), 2);
    assert!(row("| patel | table 4.1 | 7 | not made: a peer that cannot be had here | - | - | - |").is_empty());
}
