//! Table 1D: how results are made, what they inherit, and when sources are removed.

use crate::place::{Place, compressed, copy_of_hybz, decompressed, installed, noise, root, run, same_as_bzip2, text};
use crate::skip::{Need, skip, skip_part};
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::{Duration, SystemTime};

#[test]
fn what_is_there_already_stays() {
    for args in [&["a"][..], &["-q", "a"], &["-kv", "a"], &["-d", "b.bz2"]] {
        same_as_bzip2("bzip2", args, b"", |place| {
            place.put("a", b"hello\n");
            place.put("a.bz2", b"old");
            place.put("b", b"old");
            place.put("b.bz2", &compressed(b"hello\n"));
        });
    }
    let place = Place::with(&[("a", b"hello\n"), ("b", b"hello\n"), ("c", b"hello\n")]);
    symlink("nowhere", place.path("a.bz2")).expect("a link");
    fs::create_dir(place.path("b.bz2")).expect("a directory");
    fs::hard_link(place.path("c"), place.path("c.bz2")).expect("a link");
    place.hybz(&["a"]).says(1, "hybz: Output file a.bz2 already exists.");
    place.hybz(&["b"]).says(1, "hybz: Output file b.bz2 already exists.");
    place.hybz(&["-f", "b"]).says(1, "hybz: Can't create output file b.bz2: Is a directory.");
    place.hybz(&["-f", "c"]).says(1, "hybz: Output file c.bz2 is the input file.");
    assert_eq!(place.names(), ["a", "a.bz2", "b", "b.bz2", "c", "c.bz2"]);
}

#[test]
fn force_replaces() {
    for args in [&["-f", "a"][..], &["-fk", "a"], &["-df", "b.bz2"]] {
        same_as_bzip2("bzip2", args, b"", |place| {
            place.put("a", b"hello\n");
            place.put("a.bz2", b"old");
            place.set_mode("a.bz2", 0o777);
            place.put("b", b"old");
            place.put("b.bz2", &compressed(b"hello\n"));
        });
    }
}

/// bzip2 fails at a dangling link; pigz and zstd write through it.
#[test]
fn force_replaces_a_link_not_its_target() {
    for target in ["nowhere", "target"] {
        let place = Place::with(&[("a", b"hello\n"), ("target", b"not to be touched")]);
        symlink(target, place.path("a.bz2")).expect("a link");
        place.hybz(&["-f", "a"]).silent(0);
        assert!(fs::symlink_metadata(place.path("a.bz2")).is_ok_and(|found| found.is_file()));
        assert_eq!(place.names(), ["a.bz2", "target"]);
        assert_eq!(place.get("target"), b"not to be touched");
    }
}

/// A FIFO in the result's place has no reader that could be waited for.
#[test]
fn force_replaces_a_fifo() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("mkfifo a.bz2").silent(0);
    place.hybz(&["a"]).says(1, "hybz: Output file a.bz2 already exists.");
    place.hybz(&["-f", "a"]).silent(0);
    assert_eq!(decompressed(&place.get("a.bz2")), b"hello\n");
}

/// bzip2 loses the old file, and then has no new one.
#[test]
fn force_keeps_the_old_file_until_the_new_one_is_complete() {
    let mut broken = compressed(&text(300_000));
    broken.truncate(broken.len() / 2);
    let place = Place::with(&[("a.bz2", &broken), ("a", b"old")]);
    place.hybz(&["-df", "a.bz2"]).says(2, "Compressed file ends unexpectedly");
    place.hybz(&["-df", "missing.bz2"]).says(1, "Can't open");
    assert_eq!((place.get("a"), place.names()), (b"old".to_vec(), vec!["a".to_owned(), "a.bz2".to_owned()]));
}

#[test]
fn mode_and_times_are_kept() {
    let place = Place::with(&[("a", b"hello\n")]);
    let (accessed, modified) = (Duration::new(1_000_000_001, 123_456_789), Duration::new(1_111_111_111, 987_654_321));
    let times = |name: &str| {
        let found = fs::metadata(place.path(name)).expect("metadata");
        (found.mtime(), found.mtime_nsec(), found.atime(), found.atime_nsec())
    };
    let file = File::options().write(true).open(place.path("a")).expect("a");
    let epoch = SystemTime::UNIX_EPOCH;
    file.set_times(FileTimes::new().set_accessed(epoch + accessed).set_modified(epoch + modified)).expect("times");
    let before = times("a");
    for mode in [0o600, 0o644, 0o751, 0o400] {
        place.set_mode("a", mode);
        place.hybz(&["a"]).silent(0);
        assert_eq!((place.mode("a.bz2"), times("a.bz2")), (mode, before));
        place.hybz(&["-d", "a.bz2"]).silent(0);
        assert_eq!((place.mode("a"), times("a")), (mode, before));
    }
    // No user gets a set-uid file that another user made.
    place.set_mode("a", 0o6755);
    place.hybz(&["a"]).silent(0);
    assert_eq!(place.mode("a.bz2"), 0o755);
}

/// bzip2 leaves such a result with mode 0600.
#[test]
fn trailing_garbage_does_not_cost_the_mode() {
    let place = Place::with(&[("a.bz2", &[&compressed(b"hello\n")[..], b"garbage"].concat())]);
    place.set_mode("a.bz2", 0o640);
    place.hybz(&["-d", "a.bz2"]).says(0, "trailing garbage");
    assert_eq!((place.mode("a"), place.names()), (0o640, vec!["a".to_owned()]));
}

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

/// The source belongs to another user: the result is the caller's, and grants access to no user to whom the source did
/// not.
#[test]
fn a_group_that_cannot_be_kept() {
    if !root() {
        return skip(Need::System, "not root");
    }
    if !installed("setpriv") {
        return;
    }
    for (mode, expected) in [(0o6755, 0o755), (0o664, 0o644), (0o646, 0o644), (0o640, 0o600), (0o604, 0o600)] {
        let place = Place::with(&[("a", b"hello\n")]);
        place.shell("chmod 777 . && chown 4321:4321 a").silent(0);
        place.set_mode("a", mode);
        copy_of_hybz(&place.path("copy-of-hybz"));
        let run = place.shell("setpriv --reuid 1234 --regid 1234 --clear-groups ./copy-of-hybz -k a");
        if mode & 0o004 == 0 {
            run.says(1, "Permission denied");
            continue;
        }
        run.silent(0);
        let found = fs::metadata(place.path("a.bz2")).expect("a.bz2");
        assert_eq!((found.mode() & 0o7777, found.uid()), (expected, 1234), "from {mode:o}");
    }
}

/// While it is written, a result is readable only by its owner, and has no name.
#[test]
fn nothing_is_seen_of_an_unfinished_result() {
    let place = Place::with(&[("a", b"hello\n")]);
    let shell =
        "mkfifo fifo; hybz -f fifo & exec 3> fifo; head -c 3000000 /dev/urandom >&3; sleep 0.3; ls -A; exec 3>&-; wait";
    assert_eq!(place.shell(shell).silent(0).out(), "a\nfifo\n");
    assert!(place.get("fifo.bz2").len() > 3_000_000);
}

/// xz -k, zstd --no-sync: if the source is kept, the disk need not be waited for.
#[test]
fn the_disk_is_waited_for_only_where_something_is_lost() {
    if !installed("strace") {
        return;
    }
    let syncs = |args: &str, prepare: &str| {
        let place = Place::with(&[("a", b"hello\n"), ("b", b"hello\n")]);
        let trace = "strace -f -o trace -e trace=fdatasync,fsync,unlink,unlinkat,linkat,renameat,renameat2,rename";
        place.shell(&format!("{prepare} {trace} hybz {args}")).silent(0);
        let trace = String::from_utf8(place.get("trace")).expect("text");
        let calls = trace.lines().filter_map(|line| line.split_once(' ')?.1.trim().split_once('('));
        calls.map(|(call, _)| call.to_owned()).filter(|call| !call.contains("+++")).collect::<Vec<_>>()
    };
    assert_eq!(syncs("a", ""), ["fdatasync", "linkat", "fsync", "unlinkat"]);
    assert_eq!(syncs("-k a", ""), ["linkat"]);
    assert_eq!(syncs("--no-sync a", ""), ["linkat", "unlinkat"]);
    let both = syncs("a b", "");
    assert_eq!(both.iter().filter(|call| *call == "fdatasync").count(), 2);
    assert!(both.iter().position(|call| call == "unlinkat") > both.iter().position(|call| call == "fsync"), "{both:?}");
    let replaced = syncs("-kf a", "touch a.bz2;");
    assert_eq!(replaced, ["fdatasync", "linkat", "renameat", "fsync"]);
}

#[test]
fn unwritable_directories() {
    let place = Place::with(&[("other", b"hello\n")]);
    fs::create_dir(place.path("dir")).expect("a directory");
    place.put("dir/a", b"hello\n");
    place.set_mode("dir", 0o555);
    if !root() {
        let run =
            place.hybz(&["dir/a", "other"]).says(1, "hybz: Can't create output file dir/a.bz2: Permission denied.\n");
        assert_eq!(run.stderr.lines().count(), 1);
        assert_eq!(place.names(), ["dir", "other.bz2"]);
    } else {
        skip_part(Need::System, "root may write to every directory");
    }
    place.set_mode("dir", 0o755);
    // A directory that may be written but not listed is fine.
    place.set_mode("dir", 0o300);
    place.hybz(&["dir/a"]).silent(0);
    place.set_mode("dir", 0o755);
    assert!(place.has("dir/a.bz2"));
    place
        .hybz(&["-o", "no/such/dir/x", "dir/a.bz2", "-d"])
        .says(1, "hybz: Can't create output file no/such/dir/x: No such");
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

#[test]
fn a_full_disk() {
    let place = Place::with(&[("a", &noise(600_000)), ("b", b"hello\n")]);
    fs::create_dir(place.path("disk")).expect("a directory");
    if place.shell("mount -t tmpfs -o size=1m none disk").code != 0 {
        return skip(Need::System, "mounting is not allowed");
    }
    place
        .shell("cp a b disk && cd disk && hybz -1 a b")
        .says(1, "hybz: Can't write output file a.bz2: No space left on device.");
    let left = place.shell("ls -A disk").out();
    place.shell("umount disk").silent(0);
    assert_eq!(left, "a\nb.bz2\n", "the other file is done, and nothing half");
}

#[test]
fn a_limit_of_file_size() {
    let place = Place::with(&[("a", &text(900_000))]);
    // 153 = SIGXFSZ. bzip2 leaves a part of the result.
    let run = place.shell("ulimit -f 8; hybz -1 a; echo $?");
    assert_eq!(run.out(), "153\n");
    let run = place
        .shell("trap '' XFSZ; ulimit -f 8; hybz -1 a")
        .says(1, "hybz: Can't write output file a.bz2: File too large.");
    assert!(run.stdout.is_empty());
    assert_eq!(place.names(), ["a"]);
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
