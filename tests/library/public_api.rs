//! `public_api.txt` has the public API of the library: a change of the API must change that file, where a reviewer
//! sees it. `HYBZ_BLESS=1 cargo test --test library public_api` rewrites the file.
//!
//! rustdoc's JSON knows the API. Its format is unstable, so this test asks a stable rustdoc for it with
//! `RUSTC_BOOTSTRAP=1`, and is skipped if the format is not the one that the crate `public-api` was tried with.

use crate::skip;
use serde_json::Value;
use skip::{Need, skip};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The format of rustdoc's JSON in Rust 1.95, which `public-api` 0.52 reads.
const FORMAT: u64 = 57;

/// rustdoc's JSON for the library without the features of the command, hidden items included; `None` without a cargo.
fn rustdoc() -> Option<Value> {
    // The folder of the build, whose build scripts have run: in a separate folder, the C sources of dependencies were
    // compiled again (23 s of CPU instead of 8).
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is inside the folder of the build");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTDOCFLAGS");
    command.args(["rustdoc", "--lib", "--no-default-features", "--features=libsais,lz4", "--offline"]);
    command.arg("--target-dir").arg(folder);
    command.args(["--", "-Zunstable-options", "--output-format=json", "--document-hidden-items"]);
    let output = command.output().ok()?;
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    let json = fs::read(folder.join("doc/hybz.json")).expect("rustdoc has written it");
    Some(serde_json::from_slice(&json).expect("rustdoc writes JSON"))
}

/// Removes `#[doc(hidden)]` items from the lists of the modules, types and traits that hold them.
///
/// rustdoc can leave them out itself, but then also leaves out public items that are re-exported from hidden modules.
fn strip_hidden(rustdoc: &mut Value) {
    let index = rustdoc["index"].as_object_mut().expect("an index of items");
    let is_hidden = |item: &&Value| item["attrs"].to_string().contains("doc(hidden)");
    let hidden: BTreeSet<u64> = index.values().filter(is_hidden).filter_map(|item| item["id"].as_u64()).collect();
    index.values_mut().for_each(|item| strip_ids(&mut item["inner"], &hidden));
}

fn strip_ids(value: &mut Value, hidden: &BTreeSet<u64>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_array_mut() {
                    Some(ids) if ["items", "variants", "fields", "impls"].contains(&name.as_str()) => {
                        ids.retain(|id| id.as_u64().is_none_or(|id| !hidden.contains(&id)));
                    }
                    _ => strip_ids(value, hidden),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| strip_ids(value, hidden)),
        _ => {}
    }
}

/// A line for each public item, with its full path and signature; the first line counts them.
fn listing(rustdoc: &Value) -> String {
    let stripped = Path::new(env!("CARGO_TARGET_TMPDIR")).join("public-api.json");
    fs::write(&stripped, rustdoc.to_string()).expect("a file beside rustdoc's own");
    // Blanket, auto and derived impls are left out: they would be most of the list.
    let api = public_api::Builder::from_rustdoc_json(&stripped)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .expect("the format was checked");
    let lines: Vec<String> = api.items().map(ToString::to_string).collect();
    let count = lines.iter().filter(|line| !line.starts_with("impl")).count();
    format!("{count} public items\n{}\n", lines.join("\n"))
}

#[test]
fn public_api() {
    let Some(mut rustdoc) = rustdoc() else { return skip(Need::Rustdoc, "cargo cannot be started") };
    let format = rustdoc["format_version"].as_u64();
    if format != Some(FORMAT) {
        return skip(Need::Rustdoc, &format!("rustdoc's JSON has the format {format:?}, not {FORMAT}"));
    }
    strip_hidden(&mut rustdoc);
    let now = listing(&rustdoc);
    println!("{}", now.lines().next().unwrap_or_default());
    let snapshot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public_api.txt");
    if std::env::var_os("HYBZ_BLESS").is_some() {
        return fs::write(&snapshot, now).expect("tests/public_api.txt can be written");
    }
    let blessed = fs::read_to_string(&snapshot).expect("tests/public_api.txt");
    if now != blessed {
        let (old, new): (BTreeSet<_>, BTreeSet<_>) = (blessed.lines().collect(), now.lines().collect());
        let gone = old.difference(&new).map(|line| format!("- {line}\n"));
        let added = new.difference(&old).map(|line| format!("+ {line}\n"));
        let changes: String = gone.chain(added).collect();
        panic!(
            "the public API has changed:\n{changes}if that is meant: HYBZ_BLESS=1 cargo test --test library public_api"
        );
    }
}
