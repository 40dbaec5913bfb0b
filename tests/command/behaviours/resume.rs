//! `--resume`: complete and correct results are skipped.

use super::batch::{all, all_compressed, same, tree};
use super::rows;
use crate::json::objects;
use crate::place::{Place, compressed, decompressed, text};
use serde_json::{Value, json};
use std::fs;

rows! {
    "`--resume`" | "bad flag" | "complete, right results are left out; a wrong one is an error, or replaced with `-f`"
        => resumed;
    "`--resume` with `--json`" | "-" | "complete results have an object, and count"
        => complete_files_are_reported;
    "`--resume` with `--verify=file`" | "-" | "complete results are read from the disk and compared"
        => complete_files_are_read_again;
    "`-d --resume` of a damaged file whose result exists" | "-" | "the damage is named; rc 2"
        => damaged_sources;
    "`--resume` with `--output-dir`" | "-" | "the same" => with_an_output_directory;
}

fn resumed() {
    let place = tree();
    let before = all(&place, "tree");
    // Sources that are removed.
    place.hybz(&["-qrk", "tree"]).silent(0);
    place.shell("rm tree/one.bz2").silent(0);
    let made = place.marks("tree");
    place
        .hybz(&["-r", "--resume", "tree"])
        .says(0, "1 file compressed")
        .says(0, "8 skipped (4 already compressed, 4 complete before)");
    same(all(&place, "tree"), all_compressed(&before));
    assert!(made.iter().all(|(name, mark)| place.marks("tree")[name] == *mark));
    // Decompressing, with sources that are kept. One result is cut, one is longer, one has a wrong byte, and one
    // belongs to another file.
    place.hybz(&["-qrdk", "tree"]).silent(0);
    assert_eq!(
        place.hybz(&["-rdk", "--resume", "tree"]).stderr,
        "hybz: 0 files decompressed, 0 bytes to 0; 10 skipped (5 without a suffix of compressed files, \
         5 complete before)\n"
    );
    let wrong = [
        ("tree/one", text(99)),
        ("tree/a b/*", [text(12_100), b"x".to_vec()].concat()),
        ("tree/a b/two\nlines", [&b"x"[..], &text(3100)[1..]].concat()),
    ];
    for (name, bytes) in &wrong {
        place.put(name, bytes);
    }
    let run = place.hybz(&["-rd", "--resume", "tree"]).says(1, "2 complete before").says(1, "3 errors");
    for (name, bytes) in &wrong {
        assert!(
            run.stderr
                .contains(&format!("Output file {name} already exists, and is not the result of the input file.")),
            "{run:?}"
        );
        assert!(place.get(name) == *bytes && place.has(format!("{name}.bz2")));
    }
    assert!(!place.has("tree/a b/deeper/-dash.bz2"), "its result was right");
    place.hybz(&["-rdf", "--resume", "tree"]).says(0, "3 files decompressed");
    same(all(&place, "tree"), before);
    // A typed name; a result that is a directory, or damaged.
    place.put("a", b"hello\n");
    place.put("a.bz2", &compressed(b"hello\n"));
    place.hybz(&["--resume", "a"]).says(0, "1 skipped (1 complete before)");
    assert_eq!(place.names(), ["a.bz2", "tree"]);
    place
        .shell("echo hello > a; truncate -s 20 a.bz2; hybz --resume a")
        .says(1, "is not the result of the input file.");
    place.shell("rm a.bz2; mkdir a.bz2; hybz --resume a").says(1, "Output file a.bz2 already exists.");
    assert!(place.has("a"));
}

fn with_an_output_directory() {
    let place = tree();
    let again = |place: &Place| place.hybz(&["-r", "--resume", "--output-dir", "out", "tree"]);
    again(&place).says(0, "5 files compressed");
    let made = place.marks("out");
    again(&place).says(0, "hybz: 0 files compressed, 0 bytes to 0; 5 skipped (5 complete before)\n");
    assert_eq!(place.marks("out"), made);
    // A source has changed, so its old result is wrong.
    place.shell("echo new >> tree/one").silent(0);
    again(&place)
        .says(1, "out/tree/one.bz2 already exists, and is not the result of the input file.")
        .says(1, "4 complete");
    place.hybz(&["-rf", "--resume", "--output-dir", "out", "tree"]).says(0, "1 file compressed");
    assert_eq!(decompressed(&place.get("out/tree/one.bz2")), place.get("tree/one"));
    // Sources that are kept next to their results.
    place.hybz(&["-rk", "--resume", "tree"]).says(0, "5 files compressed");
    place.hybz(&["-rk", "--resume", "tree"]).says(0, "0 files compressed").says(0, "5 complete before");
    let bad = compressed(b"another text");
    place.put("tree/one.bz2", &bad);
    place.hybz(&["-r", "--resume", "tree"]).says(1, "tree/one.bz2 already exists, and is not");
    assert!(place.has("tree/one") && !place.has("tree/a b/deeper/-dash"));
}

fn complete_files_are_reported() {
    let place = tree();
    place.hybz(&["-qrk", "tree"]).silent(0);
    place.shell("rm 'tree/a b/*.bz2'").silent(0);
    place.hybz(&["-rk", "--resume", "--json=log", "tree"]).says(0, "");
    let found = objects(&place.get("log"));
    let of = |object: &Value| json!([object["name"], object["result"], object["status"], object["exit"]]);
    assert_eq!(of(&found[0]), json!(["tree/one", "tree/one.bz2", "complete", 0]));
    assert_eq!(of(&found[1]), json!(["tree/a b/*", "tree/a b/*.bz2", "done", 0]));
    assert_eq!(of(&found[2]), json!(["tree/a b/two\nlines", "tree/a b/two\nlines.bz2", "complete", 0]));
    assert!(found[0]["bytes_in"].is_null() && found[1]["bytes_in"] == 12_100, "{found:?}");
    let summary = &found[5];
    let counts = ["files", "complete", "failed", "skipped", "bytes_in"].map(|key| summary[key].clone());
    assert_eq!(json!(counts), json!([5, 4, 0, 8, 12_100]));
    // A wrong result has failed.
    place.put("tree/one.bz2", &compressed(b"another text"));
    let run = place.hybz(&["-k", "--resume", "--json=second", "tree/one"]);
    let found = objects(&place.get("second"));
    assert_eq!((run.code, &found[0]["status"], &found[1]["complete"]), (1, &json!("failed"), &json!(0)));
}

fn complete_files_are_read_again() {
    let wrong = compressed(&[&b"x"[..], &text(200_000)[1..]].concat());
    let place = Place::with(&[("a", &text(200_000)), ("wrong", &wrong)]);
    fs::create_dir(place.path("d")).expect("a directory");
    place.shell("mv a wrong d").silent(0);
    let resume = |more: &[&str]| place.hybz(&[&["-rk", "--resume", "--exclude", "wrong"], more, &["d"]].concat());
    resume(&["--verify=file"]).says(0, "1 file compressed");
    resume(&["--verify=file"]).says(0, "1 complete before");
    place.shell("mv d/wrong d/a.bz2").silent(0);
    resume(&["--verify=file"]).says(1, "Output file d/a.bz2 already exists, and is not the result of the input file.");
    resume(&["--verify=file", "-f"]).says(0, "1 file compressed");
    assert_eq!(decompressed(&place.get("d/a.bz2")), text(200_000));
}

fn damaged_sources() {
    let (good, plain) = (compressed(&text(450_000)), text(450_000));
    let mut bad = good.clone();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    for (file, says) in [
        (&bad[..], "Data integrity error when decompressing."),
        (&good[..middle], "Compressed file ends unexpectedly;"),
        (b"no such thing", "hybz: a.bz2 is not a bzip2 file."),
    ] {
        // Whatever the existing result contains.
        for there in [&plain[..], &plain[..1000], b"", b"another text"] {
            let place = Place::with(&[("a.bz2", file), ("a", there)]);
            for flags in [&["-dk"][..], &["-dkf"], &["-d"]] {
                let run = place.hybz(&[flags, &["--resume", "a.bz2"]].concat());
                let run = run.says(2, says);
                assert!(!run.stderr.contains("already exists"), "{run:?}");
                assert!(place.get("a.bz2") == file && place.get("a") == there);
            }
        }
    }
}
