//! Indexes of other programs: indexed_bzip2, rapidgzip and ratarmount find the offsets in our files that hybz writes,
//! and each program reads with the other's offsets.
//!
//! These are Python packages (`pip install rapidgzip indexed_bzip2 ratarmount`), which `peers.py` calls. `HYBZ_PYTHON`
//! names the interpreter that has them, if `python3` lacks them.

use super::files::{File, files, stream};
use super::index::offsets;
use crate::shapes::{Rng, words};
use crate::skip::{Need, skip};
use hybz::Settings;
use hybz::index::Index;
use hybz::seek::Reader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

/// Runs `peers.py`.
fn python(arguments: &[&str]) -> Result<String, String> {
    let interpreter = std::env::var("HYBZ_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library/seek/peers.py");
    let output = Command::new(interpreter).arg("-B").arg(script).args(arguments).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Whether these packages are installed. If not, the test counts as skipped.
fn installed(packages: &[&str]) -> bool {
    let found = python(&["packages"]).unwrap_or_default();
    let missing: Vec<_> = packages.iter().filter(|package| !found.split_whitespace().any(|p| p == **package)).collect();
    if let Some(package) = missing.first() {
        skip(Need::Python, &format!("the Python package {package} is not installed (HYBZ_PYTHON)"));
    }
    missing.is_empty()
}

/// A directory with a file in it.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// hybz's offsets equal theirs, and each program reads with the other's offsets.
#[test]
fn offsets_of_indexed_bzip2_and_rapidgzip() {
    if !installed(&["indexed_bzip2", "rapidgzip"]) {
        return;
    }
    let place = Place::new();
    // Neither package reads randomised blocks: "deprecated isRandomized bit is not supported".
    for File { name, coded, text } in files().iter().filter(|file| file.name != "randomised") {
        let file = place.put("file.bz2", coded);
        let plain = place.put("plain", text);
        let index = Index::build(&coded[..], &Settings::new()).unwrap();
        let ours = offsets(&index);
        let file = file.to_str().unwrap();
        let theirs = python(&["offsets", file]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(theirs.as_bytes(), ours, "{name}");

        let lines = place.put("offsets", &ours);
        let read = python(&["read", file, lines.to_str().unwrap(), plain.to_str().unwrap()]);
        // The two packages cannot handle a file without blocks.
        if !text.is_empty() {
            read.unwrap_or_else(|error| panic!("{name}: {error}"));
        }

        let imported = Index::open(Arc::new(theirs.into_bytes()), coded).unwrap();
        let reader = Reader::with_index(coded.clone(), imported, &Settings::new());
        let mut rng = Rng(17);
        for _ in 0..50 {
            let from = rng.below(text.len() + 1);
            let mut buf = vec![0; 3000];
            let n = reader.read_at(&mut buf, from as u64).unwrap();
            assert!(buf[..n] == text[from..(from + 3000).min(text.len())], "{name}, {from}");
        }
    }
}

/// ratarmount lists and reads a tar of small files with our offsets.
#[test]
fn offsets_for_ratarmount() {
    if !installed(&["ratarmountcore"]) {
        return;
    }
    let (place, mut expected) = (Place::new(), String::new());
    std::fs::create_dir(place.0.path().join("dir")).unwrap();
    for n in 0..60usize {
        let data = words(n * 300 + 1);
        place.put(&format!("dir/file{n:02}"), &data);
        let sum: u64 = data.iter().map(|byte| u64::from(*byte)).sum();
        expected += &format!("/dir/file{n:02} {} {}\n", data.len(), sum % 65521);
    }
    let tar = Command::new("tar").args(["-c", "--sort=name", "dir"]).current_dir(place.0.path()).output();
    let tar = tar.expect("tar").stdout;
    let coded = stream(1, tar).0;
    let index = Index::build(&coded[..], &Settings::new()).unwrap();
    assert!(index.blocks() > 5);
    let file = place.put("some.tar.bz2", &coded);
    let lines = place.put("offsets", &offsets(&index));
    let listed = python(&["ratarmount", file.to_str().unwrap(), lines.to_str().unwrap()]);
    // ratarmount also prints messages, which do not begin with `/dir/`.
    let listed = listed.unwrap_or_else(|error| panic!("{error}"));
    let files: String = listed.split_inclusive('\n').filter(|line| line.starts_with("/dir/")).collect();
    assert_eq!(files, expected);
}
