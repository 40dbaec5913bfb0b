//! `--bench`: what it prints, never how fast anything is.

use super::rows;
use crate::json::objects;
use crate::place::{Place, compressed, installed_for_part, run, text};
use serde_json::{Value, json};
use std::fs;

rows! {
    "`--bench=SECONDS FILE...`" | "no such thing" | "a table: threads, both directions, medians; no file is changed"
        => a_table;
    "`--bench --json`" | "no such thing" | "one object (docs/JSON.md)" => an_object;
    "`--bench --against`" | "no such thing" | "other programs in the same rounds, verified; absent ones are named"
        => other_programs;
    "`--bench -d`, `-z`" | "no such thing" | "one direction; compressed files only with -d" => one_direction;
    "`--bench` of more than fits into memory" | "no such thing" | "the beginning, with a remark; of compressed files a \
     sentence, rc 1" => more_than_fits;
    "`--bench` with senseless flags" | "-" | "a sentence; rc 1; nothing is written" => nonsense;
}

fn the_object(place: &Place, args: &[&str], code: i32) -> Value {
    let run = place.hybz(&[&["--bench=0", "--json"], args].concat());
    assert_eq!(run.code, code, "{run:?}");
    let mut found = objects(&run.stdout);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// Program, direction, threads and whether its output was right, of each cell.
fn cells(object: &Value) -> Value {
    let cells = object["cells"].as_array().expect("cells").iter();
    cells.map(|cell| json!([cell["program"], cell["work"], cell["threads"], cell["verified"]])).collect()
}

#[test]
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

#[test]
fn an_object() {
    let place = Place::with(&[("a", &text(200_000))]);
    let found = the_object(&place, &["--no-gpu", "-p2", "a"], 0);
    let expected = json!([
        ["hybz", "compress", 1, true],
        ["hybz", "compress", 2, true],
        ["hybz", "decompress", 1, true],
        ["hybz", "decompress", 2, true]
    ]);
    assert_eq!(cells(&found), expected);
    place.shell("hybz -k a").silent(0);
    let len = place.get("a.bz2").len();
    for (key, value) in [
        ("files", json!(["a"])),
        ("uncompressed", json!(200_000)),
        ("compressed", json!(len)),
        ("level", json!(9)),
        ("block_size", json!(null)),
        ("gpus", json!([])),
    ] {
        assert_eq!(found[key], value, "{key}");
    }
    for cell in found["cells"].as_array().expect("cells") {
        let (rounds, time) = (cell["rounds"].as_u64(), cell["median"].as_f64().expect("a time"));
        let rate = cell["rate"].as_f64().expect("a rate");
        // The median is written to the microsecond, and the rate is computed from the exact median.
        assert!(rounds == Some(1) && (200_000.0 / time / rate - 1.0).abs() < 0.01, "{cell}");
        assert_eq!((&cell["compressed"], &cell["fallbacks"], &cell["gpu_blocks"]), (&json!(len), &json!(0), &json!(0)));
    }
    let run = place.hybz(&["--bench=0.2", "--json", "-p1", "-z", "a"]);
    assert!(objects(&run.stdout)[0]["cells"][0]["rounds"].as_u64() >= Some(3), "{run:?}");
    let found = the_object(&place, &["-p1", "--block-size", "1M", "a"], 0);
    assert_eq!((&found["level"], &found["block_size"]), (&json!(null), &json!(1_000_000)));
}

#[test]
fn other_programs() {
    let place = Place::with(&[("a", &text(200_000))]);
    let peers: Vec<_> = ["bzip2", "lbzip2", "pbzip2"].into_iter().filter(|peer| installed_for_part(peer)).collect();
    for peer in peers {
        let found = the_object(&place, &["-p2", "--against", peer, "a"], 0);
        let threads: &[u64] = if peer == "bzip2" { &[1] } else { &[1, 2] };
        for work in ["compress", "decompress"] {
            for threads in threads {
                let cell = json!([peer, work, threads, true]);
                assert!(cells(&found).as_array().expect("cells").contains(&cell), "{found}");
            }
        }
    }
    // Programs with wrong output, or none, are detected; the message blames them and not hybz.
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
        let found = the_object(&place, &["-p1", "--against", name, "a"], 1);
        let error = |n: usize| found["cells"][n]["error"].as_str().unwrap_or_default().to_owned();
        assert_eq!((error(0), error(2)), (String::new(), String::new()));
        assert!(error(1).starts_with(compress) && error(1).is_empty() == compress.is_empty(), "{found}");
        assert_eq!(error(3), decompress);
    }
    let run = place.hybz(&["--bench=0", "-p1", "--against", "./fails,no-such-program", "a"]);
    assert!(run.out().contains("\n./fails         1    -     failed     -     -    -"), "{run:?}");
    run.says(1, "hybz: no-such-program is not installed: left out\nhybz: ./fails with 1 thread, compress: it failed");
    let found = the_object(&place, &["-p1", "--against", "no-such-program", "a"], 0);
    assert_eq!(found["absent"], json!(["no-such-program"]));
}

#[test]
fn one_direction() {
    let place = Place::with(&[("a", &text(100_000)), ("a.bz2", &compressed(&text(100_000))), ("empty", b"")]);
    let found = the_object(&place, &["-p1", "-d", "a.bz2", "a.bz2"], 0);
    assert_eq!(cells(&found), json!([["hybz", "decompress", 1, true]]));
    assert_eq!((&found["uncompressed"], &found["level"]), (&json!(200_000), &json!(null)));
    assert_eq!(cells(&the_object(&place, &["-p1", "-z", "a"], 0)), json!([["hybz", "compress", 1, true]]));
    let says = " is compressed: use -d to measure decompressing it.";
    place.hybz(&["--bench=0", "a", "a.bz2"]).says(1, says);
    place.hybz(&["--bench=0", "-d", "a"]).says(2, "hybz: a: bad magic number (file not created by bzip2)");
    place.hybz(&["--bench=0", "empty"]).says(1, "There is nothing to measure: the input is empty.");
    place.hybz(&["--bench=0", "."]).says(1, "Can't open input file .: Is a directory.");
    fs::write(place.path("garbage.bz2"), [place.get("a.bz2"), b"garbage".to_vec()].concat()).expect("a file");
    place.hybz(&["--bench=0", "-qd", "garbage.bz2"]).silent(0);
    place.hybz(&["--bench=0", "-d", "garbage.bz2", "a.bz2"]).says(2, "garbage.bz2: garbage after the end, from byte ");
    // Flags of an environment variable are those of the command.
    let run = run(place.called("hybz").args(["--bench=0", "--json", "a"]).env("HYBZ", "-k -p1 -3"));
    assert_eq!(objects(&run.stdout)[0]["level"], 3);
}

/// A few kilobytes can be gigabytes of text.
#[test]
fn more_than_fits() {
    let place = Place::new();
    // 400 MB of text are 50 MB for the input.
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

#[test]
fn nonsense() {
    let place = Place::with(&[("a", b"hello\n"), ("a.bz2", &compressed(b"hello\n"))]);
    place.refuses(&[
        ("--bench", "--bench reads files, not standard input."),
        ("--bench a -", "--bench reads files, not standard input."),
        ("--bench=x a", "--bench wants a number of seconds, at most 3600, not `x'."),
        ("--bench=-1 a", "--bench wants a number of seconds, at most 3600, not `-1'."),
        ("--bench=3601 a", "--bench wants a number of seconds, at most 3600, not `3601'."),
        ("--bench -d --ranges 1@0 a.bz2", "--ranges and --bench cannot be used together."),
        ("--bench -d --lines a.bz2", "--lines works only with --ranges, --split and --stream-size."),
        ("--bench --json=log a", "--json=FILE and --bench cannot be used together."),
        ("--bench -d --block-size 1M a.bz2", "-d and --block-size cannot be used together."),
        (
            "--bench --block-size 1M --against bzip2 a",
            "--against works only with .bz2 output: it cannot be used together with",
        ),
        ("--bench --against , a", "--against wants programs such as lbzip2,pbzip2."),
        ("--bench --against= a", "--against wants programs such as lbzip2,pbzip2."),
        ("--against bzip2 a", "--against works only with --bench."),
    ]);
    place.refuses_each(
        "--bench {} a",
        "{} and --bench",
        &[
            "-c",
            "-o x",
            "--rm",
            "--index",
            "-S .x",
            "--verify",
            "--verify=none",
            "-r",
            "--filelist",
            "--output-dir x",
            "--resume",
            "--progress",
        ],
    );
    place.refuses_each("--bench {} a.bz2", "{} and --bench", &["-t", "-l", "--recover"]);
}
