//! Table 1C: checks before a file is read, and inputs that must not hang.

use crate::place::{Place, compressed, decompressed, root, same_as_bzip2};
use crate::skip::{Need, skip};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

#[test]
fn missing_files_and_directories() {
    for args in [
        &["missing", "a"][..],
        &["-d", "missing.bz2"],
        &["-t", "missing.bz2", "b.bz2"],
        &["-c", "missing", "a"],
        &["dir", "a"],
        &["-f", "dir"],
        &["-c", "dir"],
        &["-d", "dir.bz2", "b.bz2"],
        &["-t", "dir.bz2"],
        &["-df", "dir.bz2"],
        &["-q", "missing", "dir", "a"],
        &["a/b"],
        &[""],
    ] {
        same_as_bzip2("bzip2", args, b"", |place| {
            place.put("a", b"hello\n");
            place.put("b.bz2", &compressed(b"hello\n"));
            fs::create_dir(place.path("dir")).expect("a directory");
            fs::create_dir(place.path("dir.bz2")).expect("a directory");
        });
    }
}

#[test]
fn symbolic_links() {
    for args in [
        &["link"][..],
        &["-k", "link"],
        &["-q", "link"],
        &["-f", "link"],
        &["-fk", "link"],
        &["-c", "link"],
        &["-d", "link.bz2"],
        &["-t", "link.bz2"],
        &["-dc", "link.bz2"],
        &["-df", "link.bz2"],
        &["dangling"],
        &["-f", "dangling"],
        &["loop"],
        &["-f", "loop"],
        &["dirlink"],
        &["-f", "dirlink"],
    ] {
        same_as_bzip2("bzip2", args, b"", |place| {
            place.put("file", b"hello\n");
            place.put("file.bz2", &compressed(b"hello\n"));
            fs::create_dir(place.path("dir")).expect("a directory");
            for (target, name) in [
                ("file", "link"),
                ("file.bz2", "link.bz2"),
                ("nowhere", "dangling"),
                ("loop", "loop"),
                ("dir", "dirlink"),
            ] {
                symlink(target, place.path(name)).expect("a link");
            }
        });
    }
}

/// The file is refused only if one of its names would be removed; bzip2 refuses it with `-k` too.
#[test]
fn hard_links() {
    let prepare = |links: usize| {
        move |place: &Place| {
            place.put("a", b"hello\n");
            for link in 0..links {
                fs::hard_link(place.path("a"), place.path(format!("link{link}"))).expect("a link");
            }
        }
    };
    for args in [&["a"][..], &["-q", "a"], &["-f", "a"], &["-c", "a"]] {
        same_as_bzip2("bzip2", args, b"", prepare(1));
        same_as_bzip2("bzip2", args, b"", prepare(3));
    }
    let place = Place::new();
    prepare(1)(&place);
    place.hybz(&["-k", "a"]).silent(0);
    assert_eq!(place.names(), ["a", "a.bz2", "link0"]);
}

fn make_fifo(place: &Place, name: &str) {
    place.shell(&format!("mkfifo {name}")).silent(0);
}

/// bzip2 waits for a writer before it looks at what it opens.
#[test]
fn a_fifo_is_refused_at_once() {
    let place = Place::with(&[("a", b"hello\n")]);
    make_fifo(&place, "fifo");
    make_fifo(&place, "fifo.bz2");
    place.hybz(&["fifo", "a"]).says(1, "hybz: Input file fifo is not a normal file.");
    place.hybz(&["-d", "fifo.bz2"]).says(1, "hybz: Input file fifo.bz2 is not a normal file.");
    assert_eq!(place.names(), ["a.bz2", "fifo", "fifo.bz2"]);
}

/// With `-c`, `-t` or `-f` a FIFO is read once it has a writer, and stays.
#[test]
fn a_fifo_is_read_when_asked_for() {
    let place = Place::new();
    make_fifo(&place, "fifo");
    let run = place.shell("(sleep 0.2; echo hello > fifo) & hybz -c fifo").silent(0);
    assert_eq!(decompressed(&run.stdout), b"hello\n");
    place.shell("(sleep 0.2; echo hello > fifo) & hybz -f fifo").silent(0);
    assert_eq!(decompressed(&place.get("fifo.bz2")), b"hello\n");
    assert!(place.has("fifo"));
    place.shell("(sleep 0.1; cat fifo.bz2 > fifo) & hybz -t fifo").silent(0);
    place.shell("(sleep 0.1; echo -n hel; sleep 0.1; echo -n lo) > fifo & hybz -c fifo | hybz -d").silent(0);
}

#[test]
fn devices_and_sockets() {
    let place = Place::new();
    let _socket = UnixListener::bind(place.path("socket")).expect("a socket");
    place.hybz(&["socket"]).says(1, "hybz: Can't open input file socket: ");
    for args in
        [&["-k", "/dev/null", "/dev/zero"][..], &["-d", "/dev/null"], &["-c", "/dev/null"], &["-t", "/dev/null"]]
    {
        if args[0] != "-t" && args[0] != "-d" {
            same_as_bzip2("bzip2", args, b"", |_| {});
        }
    }
    place.hybz(&["-t", "/dev/null"]).says(2, "hybz: /dev/null: file ends unexpectedly");
    place.hybz(&["-d", "/dev/null"]).says(1, "Input file /dev/null is not a normal file.");
    // -f removes no device, not even for root.
    place.hybz(&["-f", "-o", "zeros.bz2", "--rm", "/dev/null"]).silent(0);
    assert!(fs::symlink_metadata("/dev/null").is_ok());
}

/// Files of /proc say that they are empty.
#[test]
fn sizes_are_not_believed() {
    let Ok(status) = fs::read("/proc/version") else { return skip(Need::System, "no /proc") };
    let place = Place::new();
    assert_eq!(decompressed(&place.hybz(&["-c", "/proc/version"]).silent(0).stdout), status);
}

#[test]
fn files_that_may_not_be_read() {
    let place = Place::with(&[("a", b"hello\n"), ("b", b"hello\n")]);
    place.set_mode("a", 0);
    if root() {
        return skip(Need::System, "root may read every file");
    }
    place.hybz(&["a", "b"]).says(1, "hybz: Can't open input file a: Permission denied.");
    assert_eq!(place.names(), ["a", "b.bz2"]);
}

#[test]
fn a_file_twice() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.hybz(&["a", "a"]).says(1, "hybz: ");
    assert_eq!(place.names(), ["a.bz2"]);
    assert_eq!(decompressed(&place.get("a.bz2")), b"hello\n");
}
