//! A file on a server that serves ranges: only the wanted blocks are fetched.

use super::files::{File, files};
use super::index::bytes;
use crate::remote::example::{get, serve};
use crate::shapes::Rng;
use crate::skip::{Need, skip};
use hybz::index::Index;
use hybz::seek::Reader;
use hybz::{ReadAt, Settings};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One file of the server.
struct Remote {
    server: SocketAddr,
    path: String,
    len: u64,
    fetched: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
}

impl ReadAt for Remote {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let range = offset..self.len.min(offset + buf.len() as u64);
        if range.is_empty() {
            return Ok(0);
        }
        let body = get(self.server, &self.path, Some(&range))?;
        buf[..body.len()].copy_from_slice(&body);
        self.fetched.fetch_add(body.len() as u64, Relaxed);
        self.requests.fetch_add(1, Relaxed);
        Ok(body.len())
    }

    fn len(&self) -> u64 {
        self.len
    }
}

/// Files with blocks of all levels, and one with a long index.
fn some_files() -> Vec<File> {
    let small = super::files::stream(1, crate::shapes::words(400));
    let many = File { name: "many streams", coded: small.0.repeat(10_000), text: small.1.repeat(10_000) };
    let names = ["blocks of level 1", "all levels"];
    let copy = |file: &File| File { name: file.name, coded: file.coded.clone(), text: file.text.clone() };
    files().iter().filter(|file| names.contains(&file.name)).map(copy).chain([many]).collect()
}

/// Reads ranges of a file that is at `paths[0]` of a server, by its index, which is at `paths[1]`.
fn check(File { name, coded, text }: &File, index: &Index, server: SocketAddr, paths: [&str; 2]) {
    let all: Vec<_> = index.iter().map(Result::unwrap).collect();
    let mut rng = Rng(9);
    for _ in 0..10 {
        let (fetched, requests) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let remote = |path: &str, len: usize| Remote {
            server,
            path: path.to_owned(),
            len: len as u64,
            fetched: fetched.clone(),
            requests: requests.clone(),
        };
        let source = remote(paths[0], coded.len());
        let index = Index::open(Arc::new(remote(paths[1], bytes(index).len())), &source).unwrap();
        let reader = Reader::with_index(source, index, &Settings::new());
        let mut expected = 64 << 10;
        // The last range touches blocks that the first ones had: they count once.
        let mut touched = std::collections::BTreeSet::new();
        for len in [1, 1000, 150_000, 2000] {
            let from = rng.below(text.len() - len);
            let mut buf = vec![0; len];
            assert_eq!(reader.read_at(&mut buf, from as u64).unwrap(), len);
            assert!(buf == text[from..from + len], "{name}");
            let (from, to) = (from as u64, (from + len) as u64);
            touched.extend(
                all.iter()
                    .filter(|block| block.text_offset < to && block.text_offset + block.text_len > from)
                    .map(|block| (block.bit_offset / 8, block.end_bit.div_ceil(8))),
            );
        }
        expected += touched.iter().map(|(from, to)| to - from).sum::<u64>();
        assert!(fetched.load(Relaxed) <= expected, "{name}: {} of {expected} bytes", fetched.load(Relaxed));
        assert!(requests.load(Relaxed) <= 40, "{name}: {} requests", requests.load(Relaxed));
    }
}

#[test]
fn only_the_blocks_are_fetched() {
    for file in some_files() {
        let index = Index::build(&file.coded[..], &Settings::new()).unwrap();
        let (server, _) = serve(vec![("file", file.coded.clone()), ("index", bytes(&index))]).unwrap();
        check(&file, &index, server, ["file", "index"]);
    }
}

/// The same from an S3 server and through another project's client: the Python packages moto and s3fs.
#[test]
fn only_the_blocks_are_fetched_from_s3() {
    let script = |arguments: &[&OsStr]| {
        let python = std::env::var("HYBZ_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library/seek/s3.py");
        let mut command = Command::new(python);
        command.arg("-B").arg(path).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn()
    };
    let asked = script(&["packages".as_ref()]).and_then(|child| child.wait_with_output());
    match asked {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let package = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return skip(Need::Python, &format!("the Python package {package} is not installed (HYBZ_PYTHON)"));
        }
        Err(e) => return skip(Need::Python, &format!("python3 (HYBZ_PYTHON): {e}")),
    }
    let place = tempfile::tempdir().unwrap();
    let (files, mut paths, mut lens) = (some_files(), Vec::new(), String::new());
    let index = |file: &File| Index::build(&file.coded[..], &Settings::new()).unwrap();
    for file in &files {
        for part in [file.coded.clone(), bytes(&index(file))] {
            let path = place.path().join(paths.len().to_string());
            std::fs::write(&path, &part).unwrap();
            paths.push(path);
            lens += &format!("{}\n", part.len());
        }
    }
    let mut server = script(&paths.iter().map(|path| path.as_os_str()).collect::<Vec<_>>()).unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap());
    let mut address = String::new();
    lines.read_line(&mut address).unwrap();
    for (number, file) in files.iter().enumerate().filter(|_| !address.is_empty()) {
        let paths = [2 * number, 2 * number + 1].map(|number| format!("files/{number}"));
        check(file, &index(file), address.trim().parse().unwrap(), [&paths[0], &paths[1]]);
    }
    drop(server.stdin.take());
    let mut same = String::new();
    lines.read_to_string(&mut same).unwrap();
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success() && same == lens, "{same} {}", String::from_utf8_lossy(&output.stderr));
}
