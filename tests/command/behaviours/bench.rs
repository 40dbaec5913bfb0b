//! `--bench`: what it prints, never how fast anything is.

use super::rows;
use crate::place::{Place, compressed, installed_for_part, run, text};
use std::fs;

rows! {
    "`--bench=SECONDS FILE...`" | "no such thing" | "a table: threads, both directions, medians; no file is changed"
        => a_table;
    "`--bench --against`" | "no such thing" | "other programs in the same rounds, verified; absent ones are named"
        => other_programs;
    "`--bench -d`, `-z`" | "no such thing" | "one direction; compressed files only with -d" => one_direction;
    "`--bench` of more than fits into memory" | "no such thing" | "the beginning, with a remark; of compressed files a \
     sentence, rc 1" => more_than_fits;
    "`--bench` with senseless flags" | "-" | "a sentence; rc 1; nothing is written" => nonsense;
}

/// The rows of the table without their columns of numbers: program, threads, and whether a direction failed.
fn rows_of(place: &Place, args: &[&str], code: i32) -> Vec<String> {
    let run = place.hybz(&[&["--bench=0", "--no-gpu"], args].concat());
    assert_eq!(run.code, code, "{run:?}");
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let failed = words[3..].chunks(4).map(|cell| if cell[0] == "failed" { " failed" } else { " ok" });
        format!("{} {}{}", words[0], words[1], failed.collect::<String>())
    };
    run.out().lines().skip(5).map(row).collect()
}

fn a_table() {
    let place = Place::with(&[("a", &text(200_000)), ("b", &text(50_000))]);
    let before = place.files();
    let run = place.hybz(&["--bench=0", "--no-gpu", "-1p3", "a", "b"]).silent(0);
    let (out, mut lines) = (run.out(), Vec::new());
    lines.extend(out.lines());
    assert!(lines[0].starts_with("2 files: 250.0 kB of text, ") && lines[0].ends_with(" kB compressed at level 1"));
    assert_eq!(lines[1..3], ["3 threads, no GPU; every output verified", "MB/s of text, medians of rounds within 0 s"]);
    assert!(lines.iter().all(|line| line.len() <= 80), "{out}");
    let starts: Vec<_> = lines[4..].iter().map(|line| &line[..22]).collect();
    let rows = ["program   threads GPUs", "hybz            1    -", "hybz            2    -", "hybz            3    -"];
    assert_eq!(starts, rows.map(|row| &row[..22]), "{out}");
    assert!(place.files() == before);
}

fn other_programs() {
    let place = Place::with(&[("a", &text(200_000))]);
    let peers: Vec<_> = ["bzip2", "lbzip2", "pbzip2"].into_iter().filter(|peer| installed_for_part(peer)).collect();
    for peer in peers {
        let found = rows_of(&place, &["-p2", "--against", peer, "a"], 0);
        let rows =
            [("hybz", 1), (peer, 1), ("hybz", 2), (peer, 2)].map(|(who, threads)| format!("{who} {threads} ok ok"));
        assert_eq!(found, rows[..if peer == "bzip2" { 3 } else { 4 }], "{peer}");
    }
    // Programs whose output is wrong or missing are detected; the message blames them and not hybz.
    let hybz = place.called("hybz").get_program().to_owned();
    let hybz = hybz.to_str().expect("UTF-8");
    let liar = format!("#!/bin/sh\ncase $1 in -d) cat >/dev/null; echo text;; *) {hybz} -1;; esac\n");
    for (name, script) in [("cat", "#!/bin/sh\ncat\n"), ("liar", &liar), ("fails", "#!/bin/sh\nexit 3\n")] {
        place.put(name, script.as_bytes());
        place.set_mode(name, 0o755);
    }
    for (name, compress, decompress) in [
        ("./cat", "its output cannot be decompressed: not a bzip2 file", "its output is not the text"),
        ("./liar", "", "its output is not the text"),
        ("./fails", "it failed: exit status: 3", "it failed: exit status: 3"),
    ] {
        let run = place.hybz(&["--bench=0", "--no-gpu", "-p1", "--against", name, "a"]);
        let compress = if compress.is_empty() { String::new() } else { format!("compress: {compress}") };
        assert!(run.code == 1 && run.stderr.contains(&compress), "{run:?}");
        assert!(run.stderr.contains(&format!("decompress: {decompress}")), "{run:?}");
        assert_eq!(run.stderr.lines().count(), if compress.is_empty() { 1 } else { 2 }, "{run:?}");
    }
    let run = place.hybz(&["--bench=0", "-p1", "--against", "./fails,no-such-program", "a"]);
    assert!(run.out().contains("\n./fails         1    -     failed     -     -    -"), "{run:?}");
    run.says(1, "hybz: no-such-program is not installed: left out\nhybz: ./fails with 1 thread, compress: it failed");
}

fn one_direction() {
    let place = Place::with(&[("a", &text(100_000)), ("a.bz2", &compressed(&text(100_000))), ("empty", b"")]);
    assert_eq!(rows_of(&place, &["-p1", "-d", "a.bz2", "a.bz2"], 0), ["hybz 1 ok"]);
    assert_eq!(rows_of(&place, &["-p1", "-z", "a"], 0), ["hybz 1 ok"]);
    let large = place.hybz(&["--bench=0", "--no-gpu", "-p1", "--block-size", "1M", "a"]).silent(0);
    assert!(large.out().contains(" compressed in blocks of 1.0 MB\n"), "{large:?}");
    let says = " is compressed: use -d to measure decompressing it.";
    place.hybz(&["--bench=0", "a", "a.bz2"]).says(1, says);
    place.hybz(&["--bench=0", "-d", "a"]).says(2, "hybz: a: bad magic number (file not created by bzip2)");
    place.hybz(&["--bench=0", "empty"]).says(1, "There is nothing to measure: the input is empty.");
    place.hybz(&["--bench=0", "."]).says(1, "Input file . is a directory.");
    fs::write(place.path("garbage.bz2"), [place.get("a.bz2"), b"garbage".to_vec()].concat()).expect("a file");
    place.hybz(&["--bench=0", "-qd", "garbage.bz2"]).silent(0);
    place.hybz(&["--bench=0", "-d", "garbage.bz2", "a.bz2"]).says(2, "garbage.bz2: garbage after the end, from byte ");
    // Flags in an environment variable count as if typed.
    let run = run(place.called("hybz").args(["--bench=0", "a"]).env("HYBZ", "-k -p1 -3"));
    assert!(run.out().contains(" compressed at level 3\n"), "{run:?}");
}

/// A few kilobytes can decompress to gigabytes of text.
fn more_than_fits() {
    let place = Place::new();
    // A limit of 400 MB leaves 50 MB for the input.
    let make = "head -c 30000000 /dev/zero | hybz -c > 30; cat 30 30 > 60.bz2; \
                cat 60.bz2 60.bz2 60.bz2 60.bz2 > 240.bz2; \
                head -c 60000000 /dev/zero > 60";
    place.shell(make).silent(0);
    let limited = |args: &str| place.shell(&format!("ulimit -v 400000; hybz --bench=0 -p1 --no-gpu {args}"));
    limited("-z 60").says(0, "hybz: only the first 48 MB are measured: memory does not suffice for more");
    limited("-d 30").silent(0);
    for args in ["-d 60.bz2", "-d 240.bz2", "-d 30 30"] {
        limited(args).says(1, "is too large: 48 MB of memory are for the input.");
    }
}

fn nonsense() {
    let place = Place::with(&[("a", b"hello\n"), ("a.bz2", &compressed(b"hello\n"))]);
    place.refuses(&[
        ("--bench", "--bench reads files, not standard input."),
        ("--bench a -", "--bench reads files, not standard input."),
        ("--bench=x a", "--bench expects a number of seconds, at most 3600, not `x'."),
        ("--bench=-1 a", "--bench expects a number of seconds, at most 3600, not `-1'."),
        ("--bench=3601 a", "--bench expects a number of seconds, at most 3600, not `3601'."),
        ("--bench -d --ranges 1@0 a.bz2", "--ranges and --bench cannot be used together."),
        ("--bench -d --lines a.bz2", "--lines works only with --ranges, --split and --stream-size."),
        ("--bench --json a", "--json and --bench cannot be used together."),
        ("--bench --json=log a", "--json and --bench cannot be used together."),
        ("--bench --progress a", "--progress and --bench cannot be used together."),
        ("--bench -d --block-size 1M a.bz2", "-d and --block-size cannot be used together."),
        (
            "--bench --block-size 1M --against bzip2 a",
            "--against works only with .bz2 output: it cannot be used together with",
        ),
        ("--bench --against , a", "--against expects programs such as lbzip2,pbzip2."),
        ("--bench --against= a", "--against expects programs such as lbzip2,pbzip2."),
        ("--against bzip2 a", "--against works only with --bench."),
    ]);
    place.refuses_each("--bench -d {} a.bz2", "-d and {}", &["--format=hbz", "--stream-size 1M", "--perturb 9"]);
}
