//! Objects that hybz prints, read by real parsers: always by `serde_json`, and by jq and Python's jsonschema if they
//! are installed. `HYBZ_PYTHON` names the interpreter that has jsonschema, if `python3` lacks it.

use crate::place::{installed_for_part, run_with_input};
use crate::skip::{Need, skip_part};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

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
    if schema_is_checked() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = [root.join("tests/command/schema.py"), root.join("docs/report.schema.json")];
        let run = run_with_input(Command::new(python()).arg("-B").args(files), lines);
        assert_eq!((run.code, run.out().lines().collect::<Vec<_>>()), (0, types), "{}\n{text}", run.stderr);
    }
    objects
}

fn python() -> String {
    std::env::var("HYBZ_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// Whether there is a Python with jsonschema. If not, the test that asks counts as skipped in part.
fn schema_is_checked() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| {
        let found = Command::new(python()).args(["-c", "from jsonschema import Draft202012Validator"]).output();
        found.is_ok_and(|output| output.status.success())
    });
    if !found {
        skip_part(Need::Python, "the Python package jsonschema is not installed (HYBZ_PYTHON)");
    }
    found
}
