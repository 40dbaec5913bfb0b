//! Objects that hybz prints, read by real parsers: always by `serde_json`, and by jq and Python's jsonschema if they
//! are installed. `HYBZ_PYTHON` names the interpreter that has jsonschema, if `python3` lacks it.

use crate::place::{installed_for_part, run_with_input};
use crate::skip::{Need, skip_part};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// The objects in these lines. All of them must fit docs/report.schema.json.
#[track_caller]
pub fn objects(lines: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(lines).expect("JSON is UTF-8");
    assert!(text.ends_with('\n'), "{text}");
    let objects: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect();
    let types: Vec<&str> = objects.iter().map(|object| object["type"].as_str().expect("a type")).collect();
    if installed_for_part("jq") {
        let run = run_with_input(Command::new("jq").args(["-r", ".type"]), lines);
        assert_eq!(run.out().lines().collect::<Vec<_>>(), types, "{run:?}");
    }
    if let Some(checker) = checker() {
        let mut checker = checker.lock().expect("nothing panics with it");
        let answers: Vec<_> = text.lines().map(|line| checker.answer(line)).collect();
        drop(checker);
        assert_eq!(answers, types, "{text}");
    }
    objects
}

fn python() -> String {
    std::env::var("HYBZ_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// A process that checks objects against the schema. One serves all tests: starting it takes most of a second.
struct Checker(ChildStdin, BufReader<ChildStdout>);

impl Checker {
    fn answer(&mut self, line: &str) -> String {
        let mut answer = String::new();
        let asked = writeln!(self.0, "{line}").and_then(|()| self.1.read_line(&mut answer));
        if asked.is_ok() { answer.trim_end().to_owned() } else { "no answer".to_owned() }
    }
}

/// The checker, if there is a Python with jsonschema. If not, the test that asks counts as skipped in part.
fn checker() -> Option<&'static Mutex<Checker>> {
    static CHECKER: OnceLock<Option<Mutex<Checker>>> = OnceLock::new();
    let checker = CHECKER.get_or_init(|| {
        let found = Command::new(python()).args(["-c", "from jsonschema import Draft202012Validator"]).output();
        found.ok().filter(|output| output.status.success())?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = [root.join("tests/command/schema.py"), root.join("docs/report.schema.json")];
        let mut command = Command::new(python());
        let mut child = command.arg("-B").args(files).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        Some(Mutex::new(Checker(child.stdin.take()?, BufReader::new(child.stdout.take()?))))
    });
    if checker.is_none() {
        skip_part(Need::Python, "the Python package jsonschema is not installed (HYBZ_PYTHON)");
    }
    checker.as_ref()
}
