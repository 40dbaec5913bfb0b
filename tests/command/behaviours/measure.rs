//! The output of `--measure`. The tests in crates/factor/tests check the numbers themselves.

use super::rows;
use crate::json::objects;
use crate::place::{Place, compressed, noise, odd_name, run, run_with_input, text};
use hybz_factor::measure;
use serde_json::{Value, json};

rows! {
    "`--measure FILE...`" | "no such thing" | "a line for each file and their sums; no file is changed" => a_table;
    "`--measure --json`" | "no such thing" | "an object for each file (docs/JSON.md)" => an_object_each;
    "`--measure` of stdin" | "no such thing" | "measured like a file" => of_stdin;
    "`--measure -d`" | "no such thing" | "the text of compressed files; damaged ones are rc 2" => of_text;
    "`--measure` of files that fail" | "no such thing" | "a sentence, rc 1, and the other files" => what_fails;
    "`--measure` of more than fits into memory" | "no such thing" | "refused by name before it is read; rc 1"
        => more_than_fits;
    "`--measure -p`, `-v`, `-q`, `--progress`" | "no such thing" | "many files at once, in order; times of the steps"
        => many_files;
    "`--measure` with senseless flags" | "-" | "a sentence; rc 1; nothing is printed" => nonsense;
}

fn a_table() {
    let place = Place::with(&[("a", b"abracadabra"), ("zeros", &[0; 20_000]), ("empty", b"")]);
    let before = place.files();
    let table = [
        "        bytes alphabet entropy        runs      n/r     factors      n/z    longest  name\n",
        "           11        5  2.0404           8     1.38           8     1.38          4  a\n",
        "        20000        1  0.0000           2    10000           2    10000      19999  zeros\n",
        "            0        0  0.0000           0     0.00           0     0.00          0  empty\n",
        "        20011        -       -          10  2001.10          10  2001.10      19999  (3 files)\n",
    ];
    let run = place.hybz(&["--measure", "a", "zeros", "empty"]).silent(0);
    assert_eq!(run.out(), table.concat());
    // For a single file no sums are printed. Levels and -k in a variable concern other modes.
    let run = place.shell("HYBZ='-9k --no-gpu' hybz --measure -- a").silent(0);
    assert_eq!(run.out(), table[..2].concat());
    assert!(place.files() == before);
}

/// Compares the figures of an object with those of the library.
fn same(object: &Value, text: &[u8]) {
    let found = measure(text).expect("memory");
    let members =
        ["bytes", "alphabet", "runs", "factors", "longest"].map(|key| object[key].as_u64().expect("a number"));
    assert_eq!(members, [found.bytes, found.alphabet.into(), found.runs, found.factors, found.longest], "{object}");
    let means = ["entropy", "mean_run", "mean_factor"].map(|key| object[key].as_f64().expect("a number"));
    let expected = [found.entropy, found.mean_run(), found.mean()];
    assert!(means.iter().zip(expected).all(|(mean, expected)| (mean - expected).abs() < 1e-9), "{object}");
    assert_eq!((&object["type"], &object["exit"]), (&json!("measure"), &json!(0)));
}

fn an_object_each() {
    let texts = [text(300_000), noise(70_000), vec![]];
    let place = Place::with(&[("a", &texts[0]), ("b", &texts[1])]);
    place.put(odd_name(), &texts[2]);
    let run = run(place.called("hybz").args(["--measure", "--json", "a", "b", "missing"]).arg(odd_name()));
    assert_eq!((run.code, run.stderr.lines().count()), (1, 1), "{run:?}");
    let found = objects(&run.stdout);
    assert_eq!(found.len(), 4);
    for (object, text) in [&found[0], &found[1], &found[3]].into_iter().zip(&texts) {
        same(object, text);
        assert_eq!((&object["decoded"], &object["gpu"]), (&json!(false), &json!(false)));
    }
    assert_eq!((&found[0]["name"], &found[2]["name"]), (&json!("a"), &json!("missing")));
    assert_eq!(found[3]["name_base64"], json!("b2RkIP8KJXMnIm5hbWU="));
    let error = "Can't open input file missing: No such file or directory.";
    assert_eq!((&found[2]["error"], &found[2]["exit"]), (&json!(error), &json!(1)));
    assert!(found[2]["bytes"].is_null());
}

fn of_stdin() {
    let place = Place::with(&[("a", &text(50_000)), ("a.bz2", &compressed(&text(50_000)))]);
    let measured = |args: &[&str], input: &[u8]| {
        let run = run_with_input(place.called("hybz").args(["--measure", "--json"]).args(args), input);
        assert_eq!((run.code, &*run.stderr), (0, ""), "{args:?}");
        objects(&run.stdout)
    };
    for args in [&[][..], &["-"]] {
        let found = measured(args, &text(50_000));
        same(&found[0], &text(50_000));
        assert_eq!(found[0]["name"], json!("(stdin)"));
    }
    let found = measured(&["a", "-", "a"], b"hello\n");
    same(&found[1], b"hello\n");
    same(&found[2], &text(50_000));
    same(&measured(&["-d"], &compressed(b"hello\n"))[0], b"hello\n");
    // stdin is measured from its current position; files in /proc are measured although their reported length is 0.
    let run = place.shell("(head -c 6 >/dev/null; hybz --measure --json) <a");
    assert!(objects(&run.stdout)[0]["bytes"].as_u64() <= Some(50_000), "{run:?}");
    let run = place.shell("hybz --measure --json /proc/self/cmdline");
    assert!(objects(&run.stdout)[0]["bytes"].as_u64() > Some(20), "{run:?}");
    place.shell("hybz --measure <&-").says(1, "Can't read input file (stdin): Bad file descriptor.");
    place.shell("hybz --measure <.").says(1, "Input file (stdin) is a directory.");
}

fn of_text() {
    let place = Place::with(&[("a", &text(450_000))]);
    place.shell("hybz -1k a; hybz --block-size 1M -k a; cp a.bz2 bad.bz2; cat a.bz2 a.hbz >both").silent(0);
    place.shell("printf x | dd of=bad.bz2 bs=1 seek=40000 conv=notrunc; printf garbage | cat a.bz2 - >garbage.bz2");
    let run = place.hybz(&["--measure", "-d", "--json", "a.bz2", "a.hbz", "both", "garbage.bz2"]).silent(0);
    let found = objects(&run.stdout);
    for object in [&found[0], &found[1], &found[3]] {
        same(object, &text(450_000));
        assert_eq!(object["decoded"], json!(true));
    }
    same(&found[2], &[text(450_000), text(450_000)].concat());
    // Without -d, the bytes of the file are measured.
    let run = place.hybz(&["--measure", "--json", "a.bz2"]).silent(0);
    same(&objects(&run.stdout)[0], &place.get("a.bz2"));
    let run = place.hybz(&["--measure", "-d", "bad.bz2", "a", "a.bz2"]);
    assert_eq!(run.out().lines().count(), 2, "{run:?}");
    run.says(2, "hybz: bad.bz2: data integrity (CRC) error in data: block ");
    place.hybz(&["--measure", "-d", "a"]).says(2, "hybz: a: bad magic number (file not created by bzip2)");
    let says = "garbage.bz2: garbage after the end, from byte ";
    place.hybz(&["--measure", "-d", "--ignore-trailing-garbage=0", "garbage.bz2"]).says(2, says);
}

fn what_fails() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("mkdir d; mkfifo f").silent(0);
    let run = place.hybz(&["--measure", "missing", "d", "a"]);
    assert_eq!(run.out().lines().count(), 2, "{run:?}");
    let says = "hybz: Can't open input file missing: No such file or directory.\nhybz: Input file d is a directory.\n";
    assert_eq!((run.code, &*run.stderr), (1, says));
    place.hybz(&["--measure", "f"]).says(1, "Input file f is not a normal file.");
    place.hybz(&["--measure", "-q", "f"]).silent(1);
    place.hybz(&["--measure", "-qq", "missing"]).silent(1);
    let run = place.shell("(cat a a >f) & hybz --measure -f f; wait").silent(0);
    assert!(run.out().contains("\n           12  "), "{run:?}");
    place.shell("hybz --measure a >/dev/full").says(1, "Can't write output file (stdout): No space left on device.");
}

fn more_than_fits() {
    let place = Place::with(&[("a", b"hello\n")]);
    // Both files are sparse. hybz never reads the first one, nor the second, for which no memory would suffice.
    place.shell("truncate -s 1000000 m; truncate -s 1M t; truncate -s 2147483648 2g").silent(0);
    let run = place.hybz(&["--measure", "-m12", "m", "a"]);
    assert_eq!(run.out().lines().count(), 2, "{run:?}");
    run.says(1, "hybz: m: measuring it needs 13 MB of memory, and -m allows 12 MB.\n");
    // As many megabytes as the message names are enough.
    place.hybz(&["--measure", "-m13", "m", "a"]).silent(0);
    place.hybz(&["--measure", "2g"]).says(1, "hybz: 2g is too long: at most 2147483647 bytes can be measured.\n");
    // An input of unknown length is read as far as memory allows.
    let says = "hybz: (stdin): measuring it needs more memory, and -m allows 12 MB.\n";
    place.shell("cat m | hybz --measure -m12").says(1, says);
    place.shell("cat m | hybz --measure -m13").silent(0);
    place
        .shell("hybz -c m >m.bz2; hybz --measure -m12 -d m.bz2")
        .says(1, "hybz: m.bz2: measuring it needs more memory,");
    // A process with limited memory.
    let limited = |file: &str| place.shell(&format!("ulimit -v 100000; hybz --measure -p1 {file}"));
    limited("t").silent(0);
    place.shell("truncate -s 5M large").silent(0);
    limited("large").says(1, "hybz: large: measuring it needs 66 MB of memory, and there may be 48 MB.\n");
    // Here -m allows more memory than there is.
    place.shell("truncate -s 20M larger").silent(0);
    limited("-m1000 larger").says(1, "hybz: Out of memory. Less is needed with fewer threads");
}

fn many_files() {
    let place = Place::new();
    let names: Vec<String> = (0..40).map(|number| format!("f{number:02}")).collect();
    for (number, name) in names.iter().enumerate() {
        // Long and short files in turn, so that they are not finished in order.
        place.put(name, &text(if number % 4 == 0 { 400_000 } else { number * 10 }));
    }
    let list = names.join(" ");
    let one = place.shell(&format!("hybz --measure -p1 {list}")).silent(0);
    // 12 MB are enough to measure only two long files at the same time.
    for flags in ["-p2", "-p7", "-p7 -m12"] {
        let run = place.shell(&format!("hybz --measure {flags} {list}")).silent(0);
        assert!(run.stdout == one.stdout, "{flags}: {run:?}");
    }
    let lines: Vec<String> = one.out().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 42);
    assert!(lines[1..41].iter().zip(&names).all(|(line, name)| line.ends_with(&format!("  {name}"))));
    let run = place.shell(&format!("hybz --measure -v -p2 {list}"));
    assert_eq!((run.code, run.stderr.lines().count()), (0, 40), "{run:?}");
    let line = run.stderr.lines().next().expect("a line");
    assert!(line.starts_with("  f00:     read in 0.") && line.ends_with(" MB/s"), "{line}");
}

fn nonsense() {
    let place = Place::with(&[("a", b"hello\n"), ("a.bz2", &compressed(b"hello\n"))]);
    place.refuses(&[
        ("--measure --format bz2 a.bz2", "hybz: --format=bz2 and --measure cannot be used together."),
        ("--plan 1M --measure a", "--measure and --plan cannot be used together."),
        ("--measure --json=r a", "hybz: --json=FILE and --measure cannot be used together."),
    ]);
    // Flags of other modes in a variable are ignored.
    let before = place.files();
    place.shell("BZIP2='-c --rm' hybz --measure a").silent(0);
    assert!(place.files() == before);
}
