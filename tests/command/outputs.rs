//! How results are made and what they inherit, beyond the rows of `behaviours::outputs`.

use crate::place::{Place, copy_of_hybz, decompressed, installed, root, run};
use crate::skip::{Need, skip};
use std::fs;
use std::os::unix::fs::MetadataExt;

#[test]
fn the_mode_of_a_result_without_a_source_file() {
    let place = Place::new();
    place.shell("umask 027; echo hello | hybz -o a.bz2").silent(0);
    assert_eq!(place.mode("a.bz2"), 0o640);
}

/// Root in a container that may give files away but not touch those of others (CAP_FOWNER).
#[test]
fn root_without_the_right_to_touch_files_of_others() {
    if !root() {
        return skip(Need::System, "not root");
    }
    if !installed("setpriv") {
        return;
    }
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("chown 4321:4321 a && touch -d 2001-02-03 a").silent(0);
    place.set_mode("a", 0o644);
    let found = fs::metadata(place.path("a")).expect("a");
    place.shell("setpriv --bounding-set -all,+chown,+dac_override --inh-caps -all hybz -k a").silent(0);
    let made = fs::metadata(place.path("a.bz2")).expect("a.bz2");
    assert_eq!((made.mode(), made.uid(), made.gid()), (found.mode(), 4321, 4321));
    assert_eq!(made.mtime(), found.mtime());
}

/// In a directory with the sticky bit others' files can be read but not removed: both stay, and the exit code shows it.
#[test]
fn a_source_that_cannot_be_removed() {
    if !root() {
        return skip(Need::System, "not root");
    }
    if !installed("setpriv") {
        return;
    }
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("chmod 1777 .; chown 4321 . a").silent(0);
    copy_of_hybz(&place.path("copy-of-hybz"));
    let run = place.shell("setpriv --reuid 1234 --regid 1234 --clear-groups ./copy-of-hybz a");
    run.says(1, "copy-of-hybz: Can't remove input file a: Operation not permitted.\n");
    assert_eq!(decompressed(&place.get("a.bz2")), b"hello\n");
    assert!(place.has("a"));
}

/// Many small files, with few descriptors: none is lost, none is open for longer than it must.
#[test]
fn many_files_with_few_descriptors() {
    let place = Place::new();
    let names: Vec<String> = (0..200).map(|n| format!("file{n:03}")).collect();
    for name in &names {
        place.put(name, name.as_bytes());
    }
    place.shell("ulimit -n 40; hybz file*").silent(0);
    assert_eq!(place.names(), names.iter().map(|name| format!("{name}.bz2")).collect::<Vec<_>>());
    place.shell("ulimit -n 40; hybz -d file*").silent(0);
    for name in &names {
        assert_eq!(place.get(name), name.as_bytes());
    }
}

#[test]
fn closed_stderr_does_not_reach_a_file() {
    let place = Place::with(&[("a", b"hello\n"), ("b", b"hello\n")]);
    place.shell("hybz -v a missing b 2>&-; true").silent(0);
    assert_eq!(decompressed(&place.get("a.bz2")), b"hello\n");
    assert_eq!(decompressed(&place.get("b.bz2")), b"hello\n");
    run(place.called("hybz").args(["-d", "a.bz2"])).silent(0);
}
