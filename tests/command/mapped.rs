//! Results in memory (/dev/shm) that several threads write, because one would be too slow.
//!
//! That is not so on the machines that run these tests, so the shim of `faults.c` makes it so: there seem to be 8
//! processors, and `write` takes long.

use crate::faults::shim;
use crate::place::{Place, Run, compressed_at_9, root, run, text};
use crate::skip::{Need, skip};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const MEMBERS: usize = 60;

/// With huge pages, and with small ones.
const PAGES: [&str; 2] = ["mapped", "mapped,nohuge"];

/// A text, and a `.bz2` of it: a stream for each of its members.
fn streams(member: &[u8]) -> (Vec<u8>, Vec<u8>) {
    (member.repeat(MEMBERS), compressed_at_9(member).repeat(MEMBERS))
}

/// A directory in memory.
fn memory() -> Option<TempDir> {
    let made = tempfile::Builder::new().prefix("hybz-test-").tempdir_in("/dev/shm").ok();
    if made.is_none() {
        skip(Need::System, "no /dev/shm");
    }
    made
}

/// `hybz -d` of a file of the place into a file, with these faults. The file `done` of the place says that one came.
fn decode(place: &Place, shim: &Path, fault: &str, source: &str, result: &Path) -> Run {
    let _ = fs::remove_file(place.path("done"));
    let mut command = place.called("hybz");
    command.args(["-d", "-p4", "--no-gpu", "-o"]).arg(result).arg(source).env("LD_PRELOAD", shim);
    run(command.env("FAULT", format!("cores,slow,{fault}")).env("FAULT_DONE", place.path("done")))
}

fn names(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()).collect()
}

/// The number of bytes that a file takes.
fn taken(path: &Path) -> u64 {
    fs::metadata(path).expect("metadata").blocks() * 512
}

#[test]
fn all_formats() {
    let (Some(shim), Some(memory)) = (shim(), memory()) else { return };
    let (whole, coded) = streams(&text(900_001));
    let place = Place::with(&[("a.bz2", &coded), ("a", &whole)]);
    place.shell("for f in hbz lz4; do hybz -kc --format=$f a > a.$f; done").silent(0);
    place.shell("for f in bz2 hbz lz4; do touch -d 2001-02-03T04:05:06.789 a.$f; chmod 640 a.$f; done").silent(0);
    for (format, pages) in ["bz2", "hbz", "lz4"].into_iter().flat_map(|format| PAGES.map(|pages| (format, pages))) {
        let (source, result) = (format!("a.{format}"), memory.path().join(format));
        decode(&place, shim, pages, &source, &result).silent(0);
        assert!(place.has("done"), "{format}: one thread wrote it");
        assert!(fs::read(&result).expect("the result") == whole, "{format}");
        let [made, given] = [&result, &place.path(&source)].map(|path| fs::metadata(path).expect("metadata"));
        assert_eq!((made.mtime(), made.mtime_nsec(), made.mode()), (given.mtime(), given.mtime_nsec(), given.mode()));
        assert_eq!(names(memory.path()), std::slice::from_ref(&result));
        fs::remove_file(result).expect("remove");
    }
}

/// Zeros are holes, and text after them is where it belongs.
#[test]
fn holes() {
    let (Some(shim), Some(memory)) = (shim(), memory()) else { return };
    let (whole, coded) = streams(&[text(700_001), vec![0; 400_000], text(100_000)].concat());
    let place = Place::with(&[("a.bz2", &coded)]);
    for pages in PAGES {
        let result = memory.path().join("a");
        decode(&place, shim, pages, "a.bz2", &result).silent(0);
        assert!(place.has("done") && fs::read(&result).expect("the result") == whole);
        assert!(taken(&result) < 62 * 816_000, "{pages}: {} bytes", taken(&result));
        fs::remove_file(result).expect("remove");
    }
}

/// What the system refuses is written in another way.
#[test]
fn refusals() {
    let (Some(shim), Some(memory)) = (shim(), memory()) else { return };
    let (whole, coded) = streams(&text(900_001));
    let place = Place::with(&[("a.bz2", &coded)]);
    for fault in [
        "collapse",
        "collapse@3",
        "populate@3,nohuge",
        "noallocate,nohuge",
        "nopopulate",
        "refuse-fallocate@1,nohuge", // EPERM
        "refuse-madvise@1",
        "refuse-madvise@38", // ENOSYS
    ] {
        let result = memory.path().join(fault);
        decode(&place, shim, fault, "a.bz2", &result).silent(0);
        assert!(place.has("done") && fs::read(&result).expect("the result") == whole, "{fault}");
        fs::remove_file(result).expect("remove");
    }
}

/// Nothing is left of a result that cannot be completed.
#[test]
fn failures() {
    let (Some(shim), Some(memory)) = (shim(), memory()) else { return };
    let (_, coded) = streams(&text(900_001));
    let place = Place::with(&[("a.bz2", &coded)]);
    let error = ": Input/output error.\n";
    for (fault, code, text) in
        [("populate@3,pwrite,nohuge", 1, error), ("killmapped@5", 137, ""), ("killmapped@9,nohuge", 137, "")]
    {
        let run = decode(&place, shim, fault, "a.bz2", &memory.path().join("a"));
        assert!(place.has("done") && run.code == code && run.stderr.ends_with(text), "{fault}: {run:?}");
        assert!(names(memory.path()).is_empty() && place.has("a.bz2"), "{fault}");
    }
    let line = "ulimit -f 45000; exec env LD_PRELOAD=SHIM FAULT=cores,slow hybz -d -p4 -o OUT a.bz2";
    let out = memory.path().join("a");
    let line = line.replace("SHIM", &shim.to_string_lossy()).replace("OUT", &out.to_string_lossy());
    let run = place.shell(&line);
    assert!(run.code != 0 && names(memory.path()).is_empty() && place.has("a.bz2"), "{run:?}");
}

/// A text that fits exactly, and one for which a byte is missing.
#[test]
fn full() {
    if !root() {
        return skip(Need::System, "only root can mount a tmpfs");
    }
    let Some(shim) = shim() else { return };
    let (whole, coded) = streams(&text(900_001));
    let place = Place::with(&[("a.bz2", &coded)]);
    let at = place.path("at");
    fs::create_dir(&at).expect("a directory");
    let pages = (whole.len() as u64).div_ceil(4096);
    let sizes = [(pages, true), (pages - 1, false), (10_000, false)];
    for ((size, fits), pages) in sizes.into_iter().flat_map(|size| PAGES.map(|pages| (size, pages))) {
        let size = format!("size={}", size * 4096);
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&at).output();
        if !mount.is_ok_and(|done| done.status.success()) {
            return skip(Need::System, "tmpfs cannot be mounted");
        }
        let run = decode(&place, shim, pages, "a.bz2", &at.join("a"));
        let found = fs::read(at.join("a"));
        let left = names(&at).len();
        Command::new("umount").arg("-l").arg(&at).status().expect("umount");
        assert!(place.has("done"), "{size}");
        match fits {
            true => assert!(run.code == 0 && found.is_ok_and(|found| found == whole), "{size}: {run:?}"),
            false => {
                assert!(run.code == 1 && run.stderr.ends_with(": No space left on device.\n") && left == 0, "{run:?}")
            }
        }
    }
}
