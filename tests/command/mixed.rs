//! Streams of both formats in one file, and blocks that need more memory than `-m` allows.

use crate::place::{Place, Run, text};

/// Decodes, tests and lists a file. Returns the exit codes, which must be one for all.
fn code_of_all(place: &Place, name: &str) -> i32 {
    let codes = ["-t", "-dc", "-l"].map(|flag| place.hybz(&[flag, name]).code);
    assert!(codes.iter().all(|&code| code == codes[0]), "{name}: {codes:?}");
    codes[0]
}

#[test]
fn both_formats_in_one_file() {
    let plain = text(1_300_000);
    let place = Place::with(&[("a", &plain), ("b", b"a short one\n")]);
    place.hybz(&["-k", "--block-size", "1M", "a", "b"]).silent(0);
    place.hybz(&["-k", "a", "b"]).silent(0);
    for (line, expected) in [
        ("cat a.hbz b.bz2", "a b"),
        ("cat b.bz2 a.hbz", "b a"),
        ("cat a.bz2 b.hbz b.bz2 a.hbz", "a b b a"),
        ("cat b.hbz b.bz2 b.hbz", "b b b"),
        ("cat b.hbz a.hbz b.bz2; echo garbage", "b a b"),
    ] {
        place.shell(&format!("({line}) > c.bz2; cat {expected} > expected")).silent(0);
        assert_eq!(code_of_all(&place, "c.bz2"), 0, "{line}");
        let run = place.hybz(&["-dqf", "c.bz2"]).silent(0);
        assert!(place.get("c") == place.get("expected"), "{line}: {run:?}");
        // What follows the last stream is named.
        let listed = |run: Run| if line.contains("garbage") { run.says(0, "trailing garbage") } else { run.silent(0) };
        let list = listed(place.shell(&format!("({line}) > c.bz2; hybz -l c.bz2"))).out();
        let words: Vec<&str> = list.lines().nth(1).expect("a line").split_whitespace().collect();
        let streams = expected.split(' ').count().to_string();
        assert_eq!((words[0], words[4]), (&*streams, &*place.get("expected").len().to_string()), "{line}: {list}");
        let verbose = listed(place.hybz(&["-lv", "c.bz2"])).out();
        assert_eq!(
            verbose.lines().filter(|line| line.ends_with(" ok")).count(),
            words[1].parse::<usize>().unwrap(),
            "{line}"
        );
    }
}

/// A `-m` that is too small is not reported as damage: the exit code is 1, and the amount of memory in the message is
/// enough.
#[test]
fn more_memory_than_is_allowed() {
    let place = Place::with(&[("a", &text(1_500_000))]);
    place.hybz(&["--block-size", "1M", "a"]).silent(0);
    for flags in [&["-d"][..], &["-t"], &["-dv"], &["-lv"]] {
        let run = place.hybz(&[flags, &["-m", "1", "a.hbz"]].concat());
        assert!(run.code == 1 && run.stderr.contains("a.hbz: block 1 needs "), "{flags:?}: {run:?}");
        assert!(run.stderr.contains(" MB, -m allows 1.\n") && !run.stderr.contains("recover"), "{flags:?}: {run:?}");
        assert_eq!(place.names(), ["a.hbz"]);
    }
    let said = place.hybz(&["-t", "-m", "1", "a.hbz"]).stderr;
    let (_, needs) = said.split_once(" needs ").expect("how much");
    let needs = needs.split(' ').next().expect("a number");
    place.hybz(&["-d", "-m", needs, "a.hbz"]).silent(0);
}
