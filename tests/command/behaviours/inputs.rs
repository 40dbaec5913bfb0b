//! Checks of inputs before and after they are read.

use super::rows;
use crate::place::{Place, compressed, decompressed, each_as_bzip2, run};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

rows! {
    "a missing file" | "rc 1; the others are done" | "the same" => missing_files;
    "a directory" | "rc 1, also with `-f` and `-c`" | "the same" => directories;
    "a symbolic link, F2F" | "rc 1" | "the same" => symbolic_links;
    "a symbolic link with `-f`" | "compresses the target, removes the link" | "the same" => links_with_force;
    "a symbolic link with `-c` or `-t`" | "followed" | "the same" => links_that_are_followed;
    "a file with other hard links" | "rc 1, also with `-k`" | "rc 1 if a name would go; with `-k` it is done"
        => hard_links;
    "the same with `-f`" | "done" | "the same" => hard_links_with_force;
    "a FIFO, F2F" | "waits for a writer before it looks" | "rc 1 immediately" => "files"/"input-is-fifo-$FLAG";
    "a FIFO with `-c` or `-f`" | "read" | "the same; it is not removed" => fifos_are_read;
    "a device, F2F" | "rc 1" | "the same" => devices;
    "a file that may not be read" | "rc 1" | "the same" => "files"/"unreadable";
    "a source that is replaced while it is read" | "the new file is removed" | "rc 1, both stay"
        => "files"/"source-replaced";
    "a source that grows while it is read" | "removed, and what was added is lost" | "rc 1, both stay"
        => "files"/"source-grew";
    "an operand that an earlier one makes: `-d x.bz2 x`" | "does both" | "the same" => results_as_operands;
    "the same file twice" | "the second is missing, rc 1" | "the same" => the_same_file_twice;
    "an output that is the input" | "writes into what it reads" | "rc 1" => outputs_as_inputs;
}

fn missing_files() {
    each_as_bzip2(
        &["missing a", "-d missing.bz2 b.bz2", "-t missing.bz2 b.bz2", "-c missing a", "a/b", ""],
        put_directories,
    );
}

fn put_directories(place: &Place) {
    place.put("a", b"hello\n");
    place.put("b.bz2", &compressed(b"hello\n"));
    ["dir", "dir.bz2"].iter().for_each(|name| fs::create_dir(place.path(name)).expect("a directory"));
}

fn directories() {
    each_as_bzip2(
        &["dir a", "-f dir", "-c dir", "-q missing dir a", "-d dir.bz2 b.bz2", "-t dir.bz2", "-df dir.bz2"],
        put_directories,
    );
}

fn put_link(place: &Place) {
    place.put("a", b"hello\n");
    place.put("b.bz2", &compressed(b"hello\n"));
    fs::create_dir(place.path("dir")).expect("a directory");
    let links = [("a", "link"), ("b.bz2", "link.bz2"), ("nowhere", "dangling"), ("loop", "loop"), ("dir", "dirlink")];
    links.iter().for_each(|(target, name)| symlink(target, place.path(name)).expect("a link"));
}

fn symbolic_links() {
    each_as_bzip2(&["link", "-k link", "-q link", "-d link.bz2", "dangling", "loop", "dirlink"], put_link);
}

fn links_with_force() {
    each_as_bzip2(&["-f link", "-fk link", "-df link.bz2", "-f dangling", "-f loop", "-f dirlink"], put_link);
}

fn links_that_are_followed() {
    each_as_bzip2(&["-c link", "-t link.bz2", "-dc link.bz2"], put_link);
}

fn put_hard_links(place: &Place) {
    place.put("a", b"hello\n");
    fs::hard_link(place.path("a"), place.path("b")).expect("a link");
}

fn put_three_links(place: &Place) {
    put_hard_links(place);
    ["c", "d"].iter().for_each(|name| fs::hard_link(place.path("a"), place.path(name)).expect("a link"));
}

fn hard_links() {
    each_as_bzip2(&["a", "-q a", "-c a"], put_hard_links);
    each_as_bzip2(&["a", "-q a", "-c a"], put_three_links);
    let place = Place::new();
    put_hard_links(&place);
    place.hybz(&["-k", "a"]).silent(0);
    assert_eq!(place.names(), ["a", "a.bz2", "b"]);
}

fn hard_links_with_force() {
    each_as_bzip2(&["-f a", "-f a b"], put_hard_links);
    each_as_bzip2(&["-f a"], put_three_links);
}

fn fifos_are_read() {
    let place = Place::new();
    let run = place.shell("mkfifo fifo; (sleep 0.1; echo hello > fifo) & hybz -c fifo").silent(0);
    assert_eq!(decompressed(&run.stdout), b"hello\n");
    place.shell("(sleep 0.1; echo hello > fifo) & hybz -f fifo").silent(0);
    assert_eq!(
        (place.names(), decompressed(&place.get("fifo.bz2"))),
        (vec!["fifo".into(), "fifo.bz2".into()], b"hello\n".to_vec())
    );
    place.shell("(sleep 0.1; cat fifo.bz2 > fifo) & hybz -t fifo").silent(0);
}

fn devices() {
    each_as_bzip2(&["/dev/null", "-k /dev/null /dev/zero", "-c /dev/null"], |_| {});
    let place = Place::new();
    let _socket = UnixListener::bind(place.path("socket")).expect("a socket");
    place.hybz(&["socket"]).says(1, "hybz: Can't open input file socket: ");
    place.hybz(&["-t", "/dev/null"]).says(2, "hybz: /dev/null: file ends unexpectedly");
    place.hybz(&["-d", "/dev/null"]).says(1, "Input file /dev/null is not a normal file.");
    // -f removes no device, not even for root.
    place.hybz(&["-f", "-o", "zeros.bz2", "--rm", "/dev/null"]).silent(0);
    assert!(fs::symlink_metadata("/dev/null").is_ok());
}

fn results_as_operands() {
    // Operands are opened ahead, but not before the operands that make, replace or remove them are done.
    let lines = [
        "-d x.bz2 x",
        "-d x.bz2 ./x",
        "-d y.bz2 x.bz2 x",
        "-dk x.bz2 x",
        "-dv x.bz2 x x.out",
        "-df x.bz2 link",
        "-d x.bz2 missing y.bz2",
        "-f f g g.bz2",
        "-f g g.bz2 f",
        "-f f h",
        "-f g g",
        "-k g g",
        "-c g g",
    ];
    each_as_bzip2(&lines, |place| {
        place.put("x.bz2", &compressed(&compressed(b"hello\n")));
        place.put("y.bz2", &compressed(b"hello\n"));
        place.put("f", b"f\n");
        place.put("g", b"g\n");
        place.put("g.bz2", b"old");
        fs::hard_link(place.path("f"), place.path("h")).expect("a link");
        symlink("x", place.path("link")).expect("a link");
    });
}

fn the_same_file_twice() {
    each_as_bzip2(&["a a", "-f a a"], |place| place.put("a", b"hello\n"));
}

fn outputs_as_inputs() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("hybz -c a >> a").says(1, "hybz: Input file a is the output file.\n");
    place.shell("hybz < a >> a").says(1, "hybz: Input file (stdin) is the output file.\n");
    run(place.called("hybz").args(["-fo", "a", "a"])).says(1, "hybz: Output file a is the input file.\n");
    assert_eq!(place.get("a"), b"hello\n");
}
