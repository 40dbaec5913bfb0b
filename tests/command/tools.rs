//! The programs that call bzip2, and find hybz.

use crate::place::{Place, compressed, installed, installed_for_part, text};
use std::fs;

fn tree() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("tree")).expect("a directory");
    place.put("tree/a", &text(200_000));
    place.put("tree/b", b"hello\n");
    for name in ["bzip2", "bunzip2", "bzcat"] {
        place.called(name);
    }
    place
}

#[test]
fn tar() {
    if !installed("tar") {
        return;
    }
    for (pack, unpack) in [
        ("tar -I hybz -cf t.tar.bz2 tree", "tar -I hybz -xf t.tar.bz2 -C out"),
        ("tar -I 'hybz -1' -cf t.tar.bz2 tree", "tar -xjf t.tar.bz2 -C out"),
        ("tar cjf t.tar.bz2 tree", "tar xjf t.tar.bz2 -C out"),
        ("tar cf t.tar tree && hybz t.tar", "bzcat t.tar.bz2 | tar xf - -C out"),
    ] {
        let place = tree();
        place.shell(&format!("mkdir out && {pack} && {unpack} && diff -r tree out/tree")).silent(0);
        assert!(place.get("t.tar.bz2").starts_with(b"BZh"));
    }
}

#[test]
fn scripts_of_bzip2() {
    let place = tree();
    place.put("plain", b"hello plain\n");
    place.put("packed.bz2", &compressed(b"hello packed\n"));
    if installed_for_part("bzgrep") {
        assert_eq!(
            place.shell("bzgrep hello plain packed.bz2").silent(0).out(),
            "plain:hello plain\npacked.bz2:hello packed\n"
        );
        assert_eq!(place.shell("bzgrep -c nothing packed.bz2").code, 1);
    }
    if installed_for_part("bzdiff") {
        place.shell("bzdiff packed.bz2 packed.bz2").silent(0);
        let run = place.shell("echo hello other | bzip2 > other.bz2; bzdiff packed.bz2 other.bz2");
        assert!(run.code == 1 && run.out().contains("hello other"), "{run:?}");
    }
}

#[test]
fn shell_loops_stop_at_control_c() {
    let place = Place::with(&[]);
    // Bash stops a script when its child died by SIGINT, and goes on when it exited with a code. Here the child waits
    // for input, from a writer that ignores the signal as all background commands do.
    let run = place.terminal_shell(
        "mkfifo p; for n in 1 2 3; do (sleep 0.2; kill -INT 0) & sleep 2 > p 2> /dev/null & hybz -c < p > /dev/null; \
         done; echo not stopped",
    );
    assert!(!run.out().contains("not stopped"), "{run:?}");
}

/// Other programs read the bytes.
#[test]
fn others_read_it() {
    let place = Place::with(&[("a", &text(500_000))]);
    place.hybz(&["-k1", "a"]).silent(0);
    for tool in ["bzip2 -dc", "lbzip2 -dc", "pbzip2 -dc", "7z x -so", "busybox bunzip2 -c"] {
        if installed_for_part(tool.split(' ').next().expect("a word")) {
            place.shell(&format!("{tool} a.bz2 | cmp - a")).silent(0);
        }
    }
}
