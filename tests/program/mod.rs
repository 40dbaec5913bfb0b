//! The `bzip2` program: the judge of all that hybz accepts and writes. And its relatives.
#![allow(dead_code)] // each test uses another part

use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// What bzip2 says when it refuses a file, always with exit code 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// "bad magic number (file not created by bzip2)".
    NotBzip2,
    /// "file ends unexpectedly".
    Ends,
    /// "data integrity error".
    Data,
}

/// Runs `program` with `arguments`, `input` on its stdin: exit code, stdout, stderr; `None` if it is not installed.
pub fn run(program: &str, arguments: &[&str], input: &[u8]) -> Option<(i32, Vec<u8>, String)> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let mut stdout = child.stdout.take()?;
    let mut out = Vec::new();
    std::thread::scope(|scope| {
        // A program that has seen enough closes its stdin: a failing write is no failure here.
        scope.spawn(move || drop(stdin.write_all(input)));
        stdout.read_to_end(&mut out)
    })
    .ok()?;
    let mut err = String::new();
    child.stderr.take()?.read_to_string(&mut err).ok()?;
    Some((child.wait().ok()?.code().unwrap_or(-1), out, err))
}

/// Whether `program` can be started here; says so if not.
pub fn installed(program: &str) -> bool {
    let there = Command::new(program)
        .arg("--help")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !there {
        eprintln!("skipped: no {program} here");
    }
    there
}

/// What `bzip2 -dc` makes of `file`: the bytes, or why it refuses it together with what it wrote until then.
pub fn bunzip2(file: &[u8]) -> Result<Vec<u8>, (Refusal, Vec<u8>)> {
    let (code, out, err) = run("bzip2", &["-dc"], file).expect("bzip2 is installed");
    match code {
        0 => Ok(out),
        2 if err.contains("not created by bzip2") || err.contains("not a bzip2 file") => Err((Refusal::NotBzip2, out)),
        2 if err.contains("ends unexpectedly") => Err((Refusal::Ends, out)),
        2 if err.contains("ata integrity") => Err((Refusal::Data, out)),
        _ => panic!("bzip2 -dc: exit {code}: {err}"),
    }
}

/// What `bzip2 -LEVEL` makes of `text`.
pub fn bzip2(level: u8, text: &[u8]) -> Vec<u8> {
    let (code, out, err) = run("bzip2", &[&format!("-{level}"), "-c"], text).expect("bzip2 is installed");
    assert_eq!(code, 0, "bzip2 -{level}: {err}");
    out
}
