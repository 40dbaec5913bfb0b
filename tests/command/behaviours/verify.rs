//! `--verify` proves that the output is correct. bzip2 has nothing like it.

use super::rows;
use crate::place::{Place, Run, compressed, decompressed, installed, text};

rows! {
    "`--verify`" | "no verification" | "each block is decoded again before it is written; the same bytes, rc 0"
        => blocks_are_verified;
    "`--verify` from stdin, to stdout, of .hbz, with `-s`" | "no verification" | "the same" => wherever_blocks_are_made;
    "`--verify=file`" | "no verification" | "also both files are read again, after the disk has them and before the \
     result has its name" => files_are_read_again;
    "a disk that stores wrong bytes" | "not noticed" | "with `--verify=file` rc 3, no result, \
     source kept" => "calls"/"disk-rots-$HOW";
    "a source that cannot be read again: a FIFO, or a result that is a device" | "-" | "`--verify=file` refuses it; \
     rc 1" => what_cannot_be_read_again;
    "SIGKILL at any system call, with `--verify` and `--verify=file`" | "no verification" | "the source exists, or a \
        complete result"
        => "signals"/"KILL-at-call-$N-$HOW";
    "`--verify` with `-d`, `-t`, `-l`; `--verify=file` with `-c`, stdin, `--no-sync`" | "-" | "a sentence; rc 1; \
     nothing is written" => verify_and_other_flags;
}

/// The number of verified blocks in the table of `-vv`.
fn verified(run: &Run) -> Option<u64> {
    let line = run.stderr.lines().find_map(|line| line.strip_prefix("  verified: "))?;
    line.split(' ').next()?.parse().ok()
}

fn blocks_are_verified() {
    let bytes = text(450_000);
    for (flags, blocks) in [(&["--verify"][..], 5), (&["--verify=blocks"], 5), (&["--verify=none", "--verify"], 5)] {
        for threads in ["-p1", "-p3"] {
            let place = Place::with(&[("a", &bytes)]);
            let run = place.hybz(&[flags, &["-1vv", threads, "a"]].concat());
            assert_eq!((run.code, verified(&run)), (0, Some(blocks)), "{flags:?}: {run:?}");
            assert!(run.stderr.contains("of which 0 were wrong"));
            assert_eq!(place.names(), ["a.bz2"]);
            assert_eq!(place.get("a.bz2"), compressed(&bytes));
        }
    }
    for flags in [&[][..], &["--verify", "--verify=none"], &["--verify=none"]] {
        let place = Place::with(&[("a", &bytes)]);
        let run = place.hybz(&[flags, &["-1vv", "a"]].concat());
        assert_eq!((run.code, verified(&run)), (0, None), "without a GPU, none by themselves: {run:?}");
    }
}

fn wherever_blocks_are_made() {
    let bytes = text(350_000);
    let place = Place::with(&[("a", &bytes), ("empty", b"")]);
    assert_eq!(place.hybz(&["-1c", "--verify", "a"]).silent(0).stdout, compressed(&bytes));
    assert_eq!(place.hybz_with_input(&["-1", "--verify"], &bytes).silent(0).stdout, compressed(&bytes));
    assert_eq!(decompressed(&place.hybz_with_input(&["-s", "--verify"], &bytes).silent(0).stdout), bytes);
    assert_eq!(decompressed(&place.hybz(&["--verify", "-c", "empty"]).silent(0).stdout), b"");
    let run = place.hybz(&["-kvv", "--verify=file", "--block-size", "1M", "a"]);
    assert_eq!((run.code, verified(&run)), (0, Some(1)), "{run:?}");
    assert_eq!(place.hybz(&["-dc", "a.hbz"]).silent(0).stdout, bytes);
    place.hybz(&["--verify=file", "-kf", "--perturb", "100", "a", "empty"]).silent(0);
    assert_eq!(place.hybz(&["-dc", "a.hbz"]).silent(0).stdout, bytes);
}

fn files_are_read_again() {
    let bytes = text(350_000);
    for flags in [&["-1"][..], &["-1k"], &["-1f"]] {
        let place = Place::with(&[("a", &bytes), ("b", b"hello\n")]);
        place.hybz(&[flags, &["--verify=file", "a", "b"]].concat()).silent(0);
        assert_eq!(place.get("a.bz2"), compressed(&bytes));
        assert_eq!(decompressed(&place.get("b.bz2")), b"hello\n");
        assert_eq!(place.has("a"), flags == ["-1k"]);
    }
    let place = Place::with(&[("a", &bytes)]);
    place.hybz(&["-1", "--verify=file", "-o", "named", "a"]).silent(0);
    assert_eq!(place.get("named"), compressed(&bytes));
    if !installed("strace") {
        return;
    }
    let trace = "strace -f -o trace -e trace=fdatasync,fadvise64,linkat,fsync,unlink,unlinkat";
    place.shell(&format!("{trace} hybz -1 --verify=file a")).silent(0);
    let trace = String::from_utf8(place.get("trace")).expect("text");
    let calls = trace.lines().filter_map(|line| Some(line.split_once(' ')?.1.trim().split_once('(')?.0));
    let calls: Vec<_> = calls.map(|call| call.trim_end_matches("at")).collect();
    assert_eq!(calls.join(" "), "fdatasync fadvise64 fadvise64 link fsync unlink");
}

fn what_cannot_be_read_again() {
    let place = Place::with(&[("a", b"hello\n")]);
    place
        .shell("mkfifo p; exec 3<> p; timeout 5 hybz -fo x --verify=file p")
        .says(1, "hybz: Input file p is not a normal file: --verify=file cannot read it again.");
    place
        .hybz(&["-fo", "/dev/null", "--verify=file", "a"])
        .says(1, "hybz: Output file /dev/null is not a normal file: --verify=file cannot read it again.");
    assert_eq!(place.names(), ["a", "p"]);
}

fn verify_and_other_flags() {
    let place = Place::with(&[("a", b"hello\n"), ("a.bz2", &compressed(b"hello\n"))]);
    let (reads, result) =
        ("--verify=file reads", "the result again from the disk: it cannot be used together with -c.\n");
    let input = "the input file again from the disk: it cannot be used with stdin.\n";
    place.refuses(&[
        ("-dc --verify=file a.bz2", "hybz: --verify=file and -d cannot be used together.\n"),
        ("-c --verify=file a", &format!("hybz: {reads} {result}")),
        ("-o- --verify=file a", &format!("hybz: {reads} {result}")),
        ("-o x --verify=file -", &format!("hybz: {reads} {input}")),
        ("--verify=file", &format!("hybz: {reads} {input}")),
        (
            "--verify=file --no-sync a",
            &format!("hybz: {reads} what is on the disk: it cannot be used together with --no-sync.\n"),
        ),
        ("--verify=all a", "file"),
        ("--verify= a", "file"),
        ("--verify=2 a", "file"),
    ]);
    place.hybz(&["-d", "--verify=none", "-c", "a.bz2"]).silent(0);
}
