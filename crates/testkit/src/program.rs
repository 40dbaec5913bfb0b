//! The `bzip2` program, which judges everything that hybz reads and writes, and other programs that do the same work.

use crate::skip::{Need, skip, skip_part};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// The reason why bzip2 refuses a file. Its exit code is 2 in each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// "bad magic number (file not created by bzip2)".
    NotBzip2,
    /// "file ends unexpectedly".
    Ends,
    /// "data integrity error".
    Data,
    /// The output exceeds the limit of [`reference::decompress`](crate::reference::decompress): it was not judged.
    TooLong,
}

/// Runs `program` with `arguments` and with `input` on its stdin. Returns its exit code, stdout and stderr, or `None`
/// if it is not installed.
pub fn run(program: &str, arguments: &[&str], input: &[u8]) -> Option<(i32, Vec<u8>, String)> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let output = std::thread::scope(|scope| {
        // A program closes its stdin when it has seen enough, so a write that fails is not an error.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().ok()
    })?;
    Some((output.status.code().unwrap_or(-1), output.stdout, String::from_utf8(output.stderr).ok()?))
}

/// Whether `program` can be started on this machine.
fn found(program: &str) -> bool {
    static FOUND: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    let start = |program: &str| {
        let nowhere = Stdio::null;
        Command::new(program).arg("--help").stdin(nowhere()).stdout(nowhere()).stderr(nowhere()).status().is_ok()
    };
    let mut found = FOUND.lock().expect("starting a program does not panic");
    *found.entry(program.to_owned()).or_insert_with(|| start(program))
}

/// Whether `program` is installed. If not, the test that asks counts as skipped, and should return.
pub fn installed(program: &str) -> bool {
    if !found(program) {
        skip(Need::Peers, &format!("{program} is not installed"));
    }
    found(program)
}

/// Whether `program` is installed. If not, the test that asks counts as skipped in part, and goes on without it.
pub fn installed_for_part(program: &str) -> bool {
    if !found(program) {
        skip_part(Need::Peers, &format!("{program} is not installed"));
    }
    found(program)
}

/// The folder `../shared/NAME`. If it is missing, the test that asks counts as skipped, and should return.
pub fn shared(name: &str) -> Option<PathBuf> {
    let folder = crate::shared(name);
    if !folder.is_dir() {
        skip(Need::Shared, &format!("there is no ../shared/{name}"));
        return None;
    }
    Some(folder)
}

/// The output of `bzip2 -dc` for `file`: its text, or the reason for refusing it with the text written until then.
pub fn bunzip2(file: &[u8]) -> Result<Vec<u8>, (Refusal, Vec<u8>)> {
    let (code, out, err) = run("bzip2", &["-dc"], file).expect("bzip2 is installed");
    match code {
        0 => Ok(out),
        2 if err.contains("bad magic number") || err.contains("not a bzip2 file") => Err((Refusal::NotBzip2, out)),
        2 if err.contains("ends unexpectedly") => Err((Refusal::Ends, out)),
        2 if err.contains("ata integrity") => Err((Refusal::Data, out)),
        _ => panic!("bzip2 -dc: exit {code}: {err}"),
    }
}

/// The output of `bzip2 -LEVEL` for `text`.
pub fn bzip2(level: u8, text: &[u8]) -> Vec<u8> {
    let (code, out, err) = run("bzip2", &[&format!("-{level}"), "-c"], text).expect("bzip2 is installed");
    assert_eq!(code, 0, "bzip2 -{level}: {err}");
    out
}
