//! Checks of inputs before and after they are read.

use super::rows;
use crate::place::{Place, as_nobody, compressed, decompressed, run, same_as_bzip2, text, wait_until_open};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::Stdio;

rows! {
    "a missing file" | "rc 1; the others are done" | "the same" => missing_files;
    "a directory" | "rc 1, also with `-f` and `-c`" | "the same" => directories;
    "a symbolic link, F2F" | "rc 1" | "the same" => symbolic_links;
    "a symbolic link with `-f`" | "compresses the target, removes the link" | "the same" => links_with_force;
    "a symbolic link with `-c` or `-t`" | "followed" | "the same" => links_that_are_followed;
    "a file with other hard links" | "rc 1, also with `-k`" | "rc 1 if a name would go; with `-k` it is done"
        => hard_links;
    "the same with `-f`" | "done" | "the same" => hard_links_with_force;
    "a FIFO, F2F" | "waits for a writer before it looks" | "rc 1 immediately" => fifos_are_refused;
    "a FIFO with `-c` or `-f`" | "read" | "the same; it is not removed" => fifos_are_read;
    "a device, F2F" | "rc 1" | "the same" => devices;
    "a file that may not be read" | "rc 1" | "the same" => unreadable_files;
    "a source that is replaced while it is read" | "the new file is removed" | "rc 1, both stay" => replaced_sources;
    "a source that grows while it is read" | "removed, and what was added is lost" | "rc 1, both stay" => grown_sources;
    "an operand that an earlier one makes: `-d x.bz2 x`" | "does both" | "the same" => results_as_operands;
    "the same file twice" | "the second is missing, rc 1" | "the same" => the_same_file_twice;
    "an output that is the input" | "writes into what it reads" | "rc 1" => outputs_as_inputs;
}

#[test]
fn missing_files() {
    for args in [&["missing", "a"][..], &["-d", "missing.bz2", "b.bz2"], &["-t", "missing"], &["-c", "missing", "a"]] {
        same_as_bzip2("bzip2", args, b"", |place| {
            place.put("a", b"hello\n");
            place.put("b.bz2", &compressed(b"hello\n"));
        });
    }
}

#[test]
fn directories() {
    for args in [&["dir", "a"][..], &["-f", "dir"], &["-c", "dir"], &["-q", "dir"]] {
        same_as_bzip2("bzip2", args, b"", |place| {
            place.put("a", b"hello\n");
            fs::create_dir(place.path("dir")).expect("a directory");
        });
    }
}

fn put_link(place: &Place) {
    place.put("a", b"hello\n");
    place.put("b.bz2", &compressed(b"hello\n"));
    symlink("a", place.path("link")).expect("a link");
    symlink("b.bz2", place.path("link.bz2")).expect("a link");
    symlink("nowhere", place.path("dangling")).expect("a link");
}

#[test]
fn symbolic_links() {
    for args in [&["link"][..], &["-k", "link"], &["-d", "link.bz2"], &["dangling"]] {
        same_as_bzip2("bzip2", args, b"", put_link);
    }
}

#[test]
fn links_with_force() {
    for args in [&["-f", "link"][..], &["-df", "link.bz2"], &["-f", "dangling"]] {
        same_as_bzip2("bzip2", args, b"", put_link);
    }
}

#[test]
fn links_that_are_followed() {
    for args in [&["-c", "link"][..], &["-t", "link.bz2"], &["-dc", "link.bz2"]] {
        same_as_bzip2("bzip2", args, b"", put_link);
    }
}

fn put_hard_links(place: &Place) {
    place.put("a", b"hello\n");
    fs::hard_link(place.path("a"), place.path("b")).expect("a link");
}

#[test]
fn hard_links() {
    same_as_bzip2("bzip2", &["a"], b"", put_hard_links);
    same_as_bzip2("bzip2", &["-c", "a"], b"", put_hard_links);
    let place = Place::new();
    put_hard_links(&place);
    place.hybz(&["-k", "a"]).silent(0);
}

#[test]
fn hard_links_with_force() {
    same_as_bzip2("bzip2", &["-f", "a"], b"", put_hard_links);
    same_as_bzip2("bzip2", &["-f", "a", "b"], b"", put_hard_links);
}

#[test]
fn fifos_are_refused() {
    let place = Place::with(&[("a", b"hello\n")]);
    place
        .shell("mkfifo fifo fifo.bz2; timeout 20 hybz fifo a")
        .says(1, "hybz: Input file fifo is not a normal file.\n");
    place.shell("timeout 20 hybz -d fifo.bz2").says(1, "hybz: Input file fifo.bz2 is not a normal file.\n");
    place.shell("timeout 20 hybz -l fifo").says(1, "hybz: Input file fifo is not a normal file.\n");
    assert_eq!(place.names(), ["a.bz2", "fifo", "fifo.bz2"]);
}

#[test]
fn fifos_are_read() {
    let place = Place::new();
    let run = place.shell("mkfifo fifo; (sleep 0.1; echo hello > fifo) & hybz -c fifo").silent(0);
    assert_eq!(decompressed(&run.stdout), b"hello\n");
    place.shell("(sleep 0.1; echo hello > fifo) & hybz -f fifo").silent(0);
    assert_eq!(place.names(), ["fifo", "fifo.bz2"]);
}

#[test]
fn devices() {
    same_as_bzip2("bzip2", &["/dev/null"], b"", |_| {});
    same_as_bzip2("bzip2", &["-c", "/dev/null"], b"", |_| {});
}

#[test]
fn unreadable_files() {
    let place = Place::with(&[("a", b"hello\n"), ("b", b"hello\n")]);
    place.set_mode("a", 0);
    let Some(run) = as_nobody(&place, "hybz a b") else { return };
    run.says(1, "hybz: Can't open input file a: Permission denied.\n");
    assert_eq!(place.names(), ["a", "b.bz2"]);
}

/// Does `change` while `a` is open and its result cannot be written yet.
fn while_it_is_read(change: impl FnOnce(&Place)) -> Place {
    let place = Place::with(&[("a", &text(1_500_000))]);
    place.shell("mkfifo out").silent(0);
    let mut command = place.called("hybz");
    // With this little memory, `a` cannot be finished before the FIFO has a reader.
    command.args(["-1f", "-m1", "--rm", "-o", "out", "a"]).stderr(Stdio::piped());
    let mut child = command.spawn().expect("hybz");
    wait_until_open(child.id(), &place.path("a"));
    change(&place);
    place.shell("cat out > /dev/null").silent(0);
    assert_eq!(child.wait().expect("hybz").code(), Some(1));
    assert!(place.has("a"));
    place
}

#[test]
fn replaced_sources() {
    while_it_is_read(|place| {
        place.put("new", &text(1_500_000));
        fs::rename(place.path("new"), place.path("a")).expect("rename");
    });
}

#[test]
fn grown_sources() {
    let place = while_it_is_read(|place| {
        let mut file = OpenOptions::new().append(true).open(place.path("a")).expect("a");
        file.write_all(b"more").expect("write");
    });
    assert_eq!(place.get("a").len(), 1_500_004);
}

#[test]
fn results_as_operands() {
    for args in [&["-d", "x.bz2", "x"][..], &["-f", "f", "f.bz2"]] {
        same_as_bzip2("bzip2", args, b"", |place| {
            place.put("x.bz2", &compressed(&compressed(b"hello\n")));
            place.put("f", b"new\n");
            place.put("f.bz2", b"old\n");
        });
    }
}

#[test]
fn the_same_file_twice() {
    same_as_bzip2("bzip2", &["a", "a"], b"", |place| place.put("a", b"hello\n"));
    same_as_bzip2("bzip2", &["-f", "a", "a"], b"", |place| place.put("a", b"hello\n"));
}

#[test]
fn outputs_as_inputs() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("hybz -c a >> a").says(1, "hybz: Input file a is the output file.\n");
    run(place.called("hybz").args(["-fo", "a", "a"])).says(1, "hybz: Output file a is the input file.\n");
    assert_eq!(place.get("a"), b"hello\n");
}
