//! `.hbz`: the files that the flags make, the programs that read them, and the treatment of damaged files.

use crate::behaviours::is_read;
use crate::place::{Place, bzip2_installed, run_with_input, text};

#[test]
fn there_and_back() {
    let plain = text(1_100_000);
    for flags in [&["--block-size", "1M"][..], &["--perturb", "0.1%"], &["--block-size", "2M", "--perturb", "500"]] {
        let place = Place::with(&[("a", &plain)]);
        place.hybz(&[flags, &["a"]].concat()).silent(0);
        assert_eq!(place.names(), ["a.hbz"]);
        is_read("a.hbz", &place.get("a.hbz"), &plain);
    }
    let place = Place::new();
    let empty = place.hybz_with_input(&["--block-size", "1M"], b"").silent(0).stdout;
    assert_eq!(empty.len(), 64);
    assert!(place.hybz_with_input(&["-d"], &empty).silent(0).stdout.is_empty());
    if bzip2_installed() {
        let run = run_with_input(place.command("bzip2").arg("-dc"), &empty);
        assert!(run.code == 2 && run.stdout.is_empty(), "{run:?}");
    }
}

/// A `-m` that is too small is not reported as damage: the exit code is 1, and as much memory as the message names is
/// enough.
#[test]
fn more_memory_than_is_allowed() {
    let place = Place::with(&[("a", &text(1_500_000))]);
    place.hybz(&["--block-size", "1M", "a"]).silent(0);
    for flag in ["-d", "-t", "-dv", "-lv"] {
        let run =
            place.hybz(&[flag, "-m", "1", "a.hbz"]).says(1, "a.hbz: block 1 needs ").says(1, " MB, -m allows 1.\n");
        assert!(!run.stderr.contains("recover") && place.names() == ["a.hbz"], "{flag}: {run:?}");
        let needs = run.stderr.split(" needs ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
        place.hybz(&["-t", "-m", needs, "a.hbz"]).silent(0);
    }
}

#[test]
fn names_and_sizes_that_do_not_fit() {
    let place = Place::with(&[("a.hbz", b"x"), ("a", b"x")]);
    assert_eq!(place.hybz(&["a.hbz"]).code, 1);
    for size in ["100k", "2G", "900k"] {
        assert_eq!(place.hybz(&["--block-size", size, "a"]).code, 1, "{size}");
    }
    assert_eq!(place.names(), ["a", "a.hbz"]);
}

#[test]
fn lists() {
    let plain = text(300_000);
    let place = Place::with(&[("a", &plain), ("b", &plain), ("x", &plain)]);
    place.shell("hybz --block-size 1M a; hybz -3 b").silent(0);
    assert!(place.shell("hybz -l < a.hbz").silent(0).stdout.ends_with(b"(stdin)\n"));
    assert!(place.shell("cat b.bz2 | hybz -l").silent(0).stdout.ends_with(b"(stdin)\n"));
    assert_eq!(place.shell("cat a.hbz | hybz -l").code, 1, "a .hbz is listed from its end");
    for (line, code) in [("-l none", 1), ("-l .", 1), ("-lc a.hbz", 1), ("-l a.hbz x", 2), ("-l x", 2)] {
        assert_eq!(place.hybz(&line.split(' ').collect::<Vec<_>>()).code, code, "{line}");
    }
    assert_eq!(place.names(), ["a.hbz", "b.bz2", "x"]);
    // Both formats in one file, and garbage after them.
    let run = place.shell("cat b.bz2 a.hbz b.bz2 x | tee c.bz2 | hybz -dq | wc -c; hybz -l c.bz2");
    let listed = run.says(0, "trailing garbage").out();
    assert!(listed.starts_with("900000\n") && listed.lines().last().is_some_and(|line| line.starts_with("      3 ")));
    // If one block of a file is damaged, the others are listed as good.
    place.put("m", &text(2_500_000));
    place.shell("hybz --block-size 1M m; printf X | dd of=m.hbz bs=1 seek=1000 conv=notrunc status=none").silent(0);
    place.hybz(&["-d", "m.hbz"]).says(2, "block 1,");
    let run = place.hybz(&["-lv", "m.hbz"]).says(2, "");
    assert_eq!(run.out().lines().filter(|line| line.ends_with(" ok")).count(), 2, "{run:?}");
}

/// However large a number is, the columns of `-l` do not touch.
#[test]
fn columns_of_lists_stay_apart() {
    let place = Place::new();
    place.shell("head -c 60M /dev/zero | tee >(hybz > a.bz2) | hybz --block-size 60M > a.hbz; sleep 0.2").silent(0);
    let run = place.hybz(&["-l", "a.bz2", "a.hbz"]).silent(0);
    for line in run.out().lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<f64>().unwrap_or_else(|_| panic!("{line}"));
        assert_eq!((words.len(), number(4)), (7, 62_914_560.0), "{line}");
        let ratio = number(4) / number(3);
        assert!(ratio > 10_000.0 && (number(5) - ratio).abs() < 1.0, "{line}");
    }
}

/// hybz does not wait for a FIFO to get a writer.
#[test]
fn lists_do_not_wait() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("mkfifo fifo").silent(0);
    place.shell("timeout 20 hybz -lq fifo").silent(1);
    let run = place.shell("(sleep 0.2; hybz -c a > fifo) & timeout 20 hybz -lf fifo").silent(0);
    assert!(run.out().ends_with("  fifo\n"), "{run:?}");
    // For a slow pipe, at least the head of the table is printed.
    let run = place.shell("(sleep 20 > fifo & hybz -l < fifo & sleep 0.5; kill %2 %1); true");
    assert!(run.out().starts_with("streams "), "{run:?}");
}
