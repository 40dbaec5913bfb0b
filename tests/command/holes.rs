//! Zeros in results become holes if the file system supports them; the bytes read back are always the same.

use crate::faults::shim;
use crate::place::{Place, compressed, run, text};
use crate::skip::{Need, skip, skip_part};
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const PIECE: usize = 4096;

/// The number of bytes that a file takes on the disk.
fn taken(path: &Path) -> u64 {
    fs::metadata(path).expect("metadata").blocks() * 512
}

/// Whether a file in this directory can have holes.
fn has_holes(directory: &Path) -> bool {
    let path = directory.join("hole");
    let mut file = File::create(&path).expect("a file");
    file.seek(SeekFrom::Start(1 << 20)).and_then(|_| file.write_all(b"x")).expect("a hole");
    let found = taken(&path) < 1 << 19;
    fs::remove_file(path).expect("remove");
    found
}

fn zeros(len: usize) -> Vec<u8> {
    vec![0; len]
}

/// Texts, and how many of their bytes may take space on the disk.
fn texts() -> Vec<(&'static str, Vec<u8>, usize)> {
    let some = text(3 * PIECE);
    vec![
        ("all", zeros(3_000_000), 0),
        ("begin", [zeros(1 << 20), some.clone()].concat(), 3 * PIECE),
        ("middle", [some.clone(), zeros(1 << 20), some.clone()].concat(), 6 * PIECE),
        ("end", [some.clone(), zeros(1 << 20)].concat(), 3 * PIECE),
        ("one piece", [&some[..PIECE], &zeros(PIECE), &some[..PIECE]].concat(), 2 * PIECE),
        ("a piece alone", zeros(PIECE), 0),
        ("unaligned", [&some[..5000], &zeros(1 << 20), &some[..5000]].concat(), 5 * PIECE),
        ("several blocks", [&some[..], &zeros(5_000_000), &some[..], &zeros(70_001)].concat(), 7 * PIECE),
    ]
}

/// A row of `behaviours::outputs`.
pub fn long_runs_of_zeros() {
    for memory in [false, true] {
        let place = Place::new();
        let directory = match memory {
            false => Some(place.path("")),
            true => tempfile::tempdir_in("/dev/shm").ok().map(tempfile::TempDir::keep),
        };
        let Some(directory) = directory.filter(|directory| has_holes(directory)) else {
            skip_part(Need::System, "a file system without holes");
            continue;
        };
        for (name, text, most) in texts() {
            for flags in ["", "--format=hbz", "--format=lz4"] {
                place.put("a", &text);
                place.shell(&format!("hybz -c {flags} a >a.coded")).silent(0);
                let calls = [("-dk -o", most as u64), ("-dk --no-sparse -o", u64::MAX), ("-dc a.coded >", u64::MAX)];
                for (flags, most) in calls {
                    let result = directory.join("result");
                    let source = if flags.ends_with('>') { "" } else { "a.coded" };
                    let line = format!("hybz {flags} '{0}' {source} && cat '{0}'", result.display());
                    assert!(place.shell(&line).silent(0).stdout == text, "{name} {flags}");
                    assert!(taken(&result) <= most, "{name}: {} bytes", taken(&result));
                    let all = text.len() as u64;
                    assert!(most < u64::MAX || taken(&result) >= all, "{name}: {} bytes of {all}", taken(&result));
                    fs::remove_file(&result).expect("remove");
                }
            }
        }
        if memory {
            fs::remove_dir_all(directory).expect("remove");
        }
    }
}

/// The length is set before the times, and before the source is removed.
#[test]
fn times_and_old_files() {
    let place = Place::with(&[("a", &[text(10_000), zeros(1 << 20)].concat()), ("old", b"old")]);
    place.shell("touch -d 2001-02-03 a && hybz a && cp -p a.bz2 b.bz2 && hybz -d a.bz2").silent(0);
    assert_eq!(place.shell("stat -c %Y,%s a").out(), place.shell("TZ=$TZ date -d 2001-02-03 +%s,1058576").out());
    place.shell("cp b.bz2 old.bz2; hybz -df old.bz2; cmp old a").silent(0);
    assert_eq!(place.names(), ["a", "b.bz2", "old"]);
}

/// Writes that are cut short or interrupted, and disks that fail.
#[test]
fn faults() {
    let Some(shim) = shim() else { return };
    let whole = [text(5000), zeros(300_000), text(100), zeros(9_000)].concat();
    let place = Place::with(&[("a.bz2", &compressed(&whole))]);
    for fault in ["short", "eintr", "short,eintr", "tmpfile"] {
        let hybz = |args: &[&str]| run(place.called("hybz").args(args).env("LD_PRELOAD", shim).env("FAULT", fault));
        hybz(&["-dkf", "a.bz2"]).silent(0);
        assert!(place.get("a") == whole, "{fault}");
    }
    fs::remove_file(place.path("a")).expect("remove");
    for number in [1, 2] {
        run(place.called("hybz").args(["-d", "a.bz2"]).env("LD_PRELOAD", shim).env("FAULT", format!("write@{number}")))
            .says(1, "hybz: Can't write output file a: Input/output error.");
        assert_eq!(place.names(), ["a.bz2"]);
    }
}

#[test]
fn a_limit_of_length() {
    let place = Place::with(&[("a.bz2", &compressed(&zeros(1 << 20)))]);
    place.shell("trap '' XFSZ; ulimit -f 100; hybz -d a.bz2").says(1, "Can't write output file a: File too large.");
    assert_eq!(place.names(), ["a.bz2"]);
}

#[test]
fn recovered_text() {
    let place = Place::new();
    if !has_holes(&place.path("")) {
        return skip(Need::System, "a file system without holes");
    }
    let whole = [text(10_000), zeros(3 << 20)].concat();
    place.put("a.bz2", &compressed(&whole));
    place.hybz(&["--recover", "a.bz2"]);
    assert!(place.get("a.recovered") == whole && taken(&place.path("a.recovered")) < 100_000);
}
