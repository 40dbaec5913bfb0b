//! `--install-to`.

use super::rows;
use crate::place::{Place, run};
use hybz::internals::crc::checksum;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

rows! {
    "`--install-to DIR`" | "no such thing" |
        "the command, `hybunz` and `hybcat`, manual page and completions, as packages have them" => what_is_installed;
    "`--install-to DIR` again" | "no such thing" | "nothing is written; files of an older hybz are replaced" => again;
    "`--install-to DIR` where something else has a name" | "no such thing" |
        "refused before anything is written, rc 1; `-f` replaces files and links, never directories" => taken;
    "`--install-to DIR --bzip2-names`" | "no such thing" | "also `bzip2`, `bunzip2`, `bzcat` and `bzip2recover`"
        => bzip2_names;
    "`--install-to` with senseless flags" | "-" | "a sentence; rc 1; nothing is installed" => nonsense;
}

const PAGE: &str = "d/share/man/man1/hybz.1";
const RECORD: &str = "d/share/hybz/installed";

/// The paths below `d`, sorted.
fn paths(place: &Place) -> Vec<String> {
    let found = place.shell("cd d && find . ! -type d | LC_ALL=C sort").silent(0).out();
    found.lines().map(|path| path.trim_start_matches("./").to_owned()).collect()
}

#[test]
fn what_is_installed() {
    let place = Place::new();
    let run = place.hybz(&["--install-to", "d"]).silent(0);
    assert_eq!(run.out(), "");
    let expected = [
        "bin/hybcat",
        "bin/hybunz",
        "bin/hybz",
        "share/bash-completion/completions/hybz",
        "share/fish/vendor_completions.d/hybz.fish",
        "share/hybz/installed",
        "share/man/man1/hybcat.1",
        "share/man/man1/hybunz.1",
        "share/man/man1/hybz.1",
        "share/zsh/site-functions/_hybz",
    ];
    assert_eq!(paths(&place), expected);
    assert_eq!([place.mode("d/bin/hybz"), place.mode(PAGE)], [0o755, 0o644]);
    assert!(place.get("d/bin/hybz") == fs::read(env!("CARGO_BIN_EXE_hybz")).expect("the command"));
    assert_eq!(place.shell("echo text | d/bin/hybz | d/bin/hybcat").silent(0).out(), "text\n");
    // The same files as those of packages.
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/share.sh");
    if script.exists() {
        assert!(Command::new(script).arg(place.path("p")).status().expect("bash").success());
        let hybz = "cd p && find share -type f -name '*hybz*'";
        let files = place.shell(hybz).silent(0).out();
        assert_eq!(files.lines().count(), 4);
        for file in files.lines() {
            assert!(place.get(format!("p/{file}")) == place.get(format!("d/{file}")), "{file}");
        }
    }
}

#[test]
fn again() {
    let place = Place::new();
    let bunzip2 = place.called("bunzip2"); // the name does not matter
    assert_eq!(bunzip2.get_args().count(), 0);
    place.hybz(&["--install-to=d"]).silent(0);
    let numbers = |place: &Place| {
        let number = |path: &String| fs::symlink_metadata(place.path(format!("d/{path}"))).expect("a file").ino();
        paths(place).iter().filter(|path| !RECORD.ends_with(path.as_str())).map(number).collect::<Vec<_>>()
    };
    let (before, page) = (numbers(&place), place.get(PAGE));
    // By the installed command, which is running.
    let said = place.shell("d/bin/hybz -v --install-to d").stderr;
    assert_eq!((said.lines().count(), said.matches(": was there\n").count()), (9, 9), "{said}");
    assert_eq!(numbers(&place), before);

    // An older version's page, as the record knows it.
    let old = b"older\n";
    let record = String::from_utf8(place.get(RECORD)).expect("text");
    let line = record.lines().find(|line| line.ends_with(" share/man/man1/hybz.1")).expect("its line");
    let known = format!("{:08x} {} share/man/man1/hybz.1", checksum(old), old.len());
    place.put(PAGE, old);
    place.put(RECORD, record.replace(line, &known).as_bytes());
    let said = place.hybz(&["-v", "--install-to=d"]).stderr;
    assert!(
        said.contains("  d/share/man/man1/hybz.1: installed\n") && said.matches(": was there").count() == 8,
        "{said}"
    );
    assert!(place.get(PAGE) == page && place.get(RECORD) == record.as_bytes());
    // Somebody has changed it.
    place.put(PAGE, old);
    place.hybz(&["--install-to=d"]).says(1, "hybz: d/share/man/man1/hybz.1 exists: nothing is installed.\n");
    assert_eq!(place.get(PAGE), old);
}

#[test]
fn taken() {
    let place = Place::new();
    fs::create_dir_all(place.path("d/bin")).expect("a directory");
    place.put("d/bin/hybcat", b"theirs");
    symlink("elsewhere", place.path("d/bin/hybunz")).expect("a link");
    let run = place.hybz(&["--install-to", "d"]);
    let lines = ["d/bin/hybunz", "d/bin/hybcat"].map(|path| format!("hybz: {path} exists: nothing is installed.\n"));
    assert_eq!((run.code, run.stderr), (1, lines.concat()));
    assert_eq!(paths(&place), ["bin/hybcat", "bin/hybunz"]);
    place.hybz(&["-f", "--install-to", "d"]).silent(0);
    let target = |name: &str| fs::read_link(place.path(name)).expect("a link");
    assert_eq!(
        [target("d/bin/hybcat"), target("d/bin/hybunz")].map(|target| target.display().to_string()),
        ["hybz"; 2]
    );

    fs::remove_file(place.path(PAGE)).expect("the page");
    fs::create_dir(place.path(PAGE)).expect("a directory");
    place.hybz(&["-f", "--install-to", "d"]).says(1, "hybz: d/share/man/man1/hybz.1 exists: nothing is installed.\n");
    place.put("file", b"");
    place.hybz(&["--install-to", "file"]).says(1, "hybz: Can't make the directory file/bin: ");
}

#[test]
fn bzip2_names() {
    let place = Place::new();
    place.hybz(&["--install-to", "d", "--bzip2-names"]).silent(0);
    let links = place.shell("cd d/bin && find . -type l -lname hybz | LC_ALL=C sort").silent(0).out();
    assert_eq!(links, "./bunzip2\n./bzcat\n./bzip2\n./bzip2recover\n./hybcat\n./hybunz\n");
    assert_eq!(place.shell("echo text | d/bin/bzip2 | d/bin/bunzip2").silent(0).out(), "text\n");
}

#[test]
fn nonsense() {
    let place = Place::with(&[("file", b"text")]);
    for (words, text) in [
        ("--install-to=d file", "--install-to takes no files."),
        ("--install-to=", "--install-to wants the name of a directory."),
        ("--install-to=d -d", "--install-to and -d cannot be used together."),
        ("--bzip2-names file", "--bzip2-names is about --install-to."),
        ("--install-to=d -o x", "--install-to and -o cannot be used together."),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let run = run(place.called("hybz").args(&words));
        assert!(run.code == 1 && run.stderr.starts_with(&format!("hybz: {text}")), "{words:?}: {run:?}");
    }
    assert_eq!(place.names(), ["file"]);
}
