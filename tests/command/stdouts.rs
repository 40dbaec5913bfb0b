//! A stdout that is closed, full, or without a reader: every mode fails as bzip2 does, and none reports success.

use crate::place::{Place, compressed, decompressed, text};
use crate::skip::{Need, skip};
use std::fs;

/// Every mode that writes to stdout.
const MODES: [&str; 23] = [
    "hybz -c a",
    "hybz < a",
    "hybz -c1 long",
    "hybz -dc a.bz2",
    "hybz -qdc garbage.bz2",
    "hybz -dcf a",
    "hybz -dc --ranges 5@1 a.bz2",
    "hybz -d -o - a.bz2",
    "hybz -l a.bz2",
    "hybz -lv a.bz2",
    "hybz -l --json a.bz2",
    "hybz --plan 100k a",
    "hybz --plan-file plan --shard 0 -c a",
    "hybz --join plan -c part",
    "hybz --measure a",
    "hybz --measure --json a",
    "hybz --bench=0 -p1 --no-gpu a",
    "hybz --help",
    "hybz --man",
    "hybz --version",
    "hybz --completions bash",
    "hybz --recover -c a.bz2",
    "hybz --recover=bz2 -c a.bz2",
];

fn place() -> Place {
    let place = Place::with(&[("a", &text(1000)), ("a.bz2", &compressed(&text(1000))), ("long", &text(2_000_000))]);
    place.put("garbage.bz2", &[&compressed(b"hello\n")[..], b"garbage"].concat());
    place.shell("hybz --plan 100k a > plan && hybz --plan-file plan --shard 0 -o part a").silent(0);
    place
}

/// Runs each mode with `end` appended to its command line. Each exits with `code`, prints this message, and makes no
/// file.
fn all_end(end: &str, code: i32, says: &str) {
    let place = place();
    let before = place.files();
    for mode in MODES {
        let run = place.shell(&format!("{mode} {end}"));
        assert_eq!(run.code, code, "{mode} {end}: {run:?}");
        assert!(run.stderr.contains(says) && !run.stderr.contains("panicked"), "{mode} {end}: {run:?}");
        assert!(!says.is_empty() || run.stderr.is_empty(), "{mode} {end}: {run:?}");
        assert!(place.files() == before, "{mode} {end}");
    }
}

pub fn closed_stdouts() {
    all_end(">&-", 1, "hybz: Can't write output file (stdout): Bad file descriptor.\n");
}

pub fn full_stdouts() {
    all_end("> /dev/full", 1, "hybz: Can't write output file (stdout): No space left on device.\n");
}

/// The reader has gone before the first byte is written: SIGPIPE kills hybz silently, or hybz exits with 1 if SIGPIPE
/// is ignored.
pub fn stdouts_without_readers() {
    // The FIFO's reading end is open only while its writing end is opened.
    let gone = "3>&1 4<> fifo 5> fifo 4>&- 1>&5 5>&- 3>&-";
    let place = place();
    place.shell("mkfifo fifo").silent(0);
    for mode in MODES {
        for (before, code) in [("", 141), ("trap '' PIPE;", 1)] {
            let line = format!("{before} exec {gone}; {mode}");
            let run = place.shell(&line);
            assert_eq!((run.code, run.stderr.as_str()), (code, ""), "{line}");
        }
    }
}

/// Output that fails here is only a report on the work, which goes on; the exit code shows the failure. Recovered files
/// keep their names.
pub fn reports_to_stdouts() {
    for (end, why) in [(">&-", "Bad file descriptor"), ("> /dev/full", "No space left on device")] {
        let place = place();
        place.shell(&format!("hybz -t --json=- a.bz2 {end}")).says(1, why);
        place.shell(&format!("hybz --recover --json a.bz2 {end}")).says(1, why);
        // These calls write nothing to stdout.
        place.shell(&format!("hybz -t a.bz2 {end}; hybz -kf a {end}")).silent(0);
    }
}

/// A chroot may lack `/dev/null`, which Rust's runtime opens in place of closed descriptors.
#[test]
fn closed_descriptors_without_dev_null() {
    let place = Place::with(&[("a", b"hello\n")]);
    let without = "unshare -m sh -c 'mount -t tmpfs none /dev && exec \"$0\" \"$@\"'";
    if place.shell(&format!("{without} test ! -e /dev/null")).code != 0 {
        return skip(Need::System, "only root can hide /dev");
    }
    for closed in ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"] {
        place.shell(&format!("{without} hybz -kf a {closed}")).silent(0);
        assert_eq!(decompressed(&place.get("a.bz2")), b"hello\n");
        fs::remove_file(place.path("a.bz2")).expect("a result");
    }
    for (closed, what) in [("<&- > a.bz2", "input file (stdin)"), (">&- < a", "output file (stdout)")] {
        let run = place.shell(&format!("{without} hybz {closed}"));
        assert!(run.code == 1 && run.stderr.contains(what), "{closed}: {run:?}");
    }
}
