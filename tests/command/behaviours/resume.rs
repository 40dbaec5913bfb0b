//! `--resume`: complete and correct results are skipped.

use super::batch::{all, all_compressed, same, tree};
use super::rows;
use crate::json::objects;
use crate::place::{Place, Run, compressed, decompressed, text};
use crc_fast::{CrcAlgorithm, checksum};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::thread::sleep;
use std::time::Duration;

rows! {
    "`--resume`" | "bad flag" | "complete, right results are left out; a wrong one is an error, or replaced with `-f`"
        => resumed;
    "`--resume` with `--report`, `--progress`" | "-" | "complete results have an object, and count"
        => complete_files_are_reported;
    "`--resume` with `--verify=file`" | "-" | "complete results are read from the disk and compared, whatever the \
        journal says"
        => complete_files_are_read_again;
    "`-d --resume` of a damaged file whose result exists" | "-" | "the damage is named; rc 2"
        => damaged_sources;
    "`--resume` with a journal that is lost, cut or garbage" | "-" | "the same" => journals;
}

fn remove_journal(files: &mut BTreeMap<Vec<u8>, Vec<u8>>) -> Option<Vec<u8>> {
    files.remove(&b".hybz-journal"[..])
}

/// Inode and times of each result: a result that is made again has others.
fn marks(place: &Place, top: &str) -> BTreeMap<Vec<u8>, (u64, i64, i64)> {
    let mark = |name: &Vec<u8>| {
        let found = fs::metadata(place.path(top).join(OsStr::from_bytes(name))).expect("metadata");
        (found.ino(), found.ctime(), found.ctime_nsec())
    };
    all(place, top).into_keys().filter(|name| name.ends_with(b".bz2")).map(|name| (name.clone(), mark(&name))).collect()
}

#[test]
fn resumed() {
    let place = tree();
    let before = all(&place, "tree");
    // Sources that are removed.
    place.hybz(&["-qrk", "tree"]).silent(0);
    place.shell("rm tree/one.bz2").silent(0);
    let made = marks(&place, "tree");
    place
        .hybz(&["-r", "--resume", "tree"])
        .says(0, "1 file compressed")
        .says(0, "8 skipped (4 already compressed, 4 complete before)");
    same(all(&place, "tree"), all_compressed(&before));
    assert!(made.iter().all(|(name, mark)| marks(&place, "tree")[name] == *mark));
    // Decompressing, with sources that are kept. One of the results is cut, one is longer, one has another byte, and
    // one is foreign.
    place.hybz(&["-qrdk", "tree"]).silent(0);
    assert_eq!(
        place.hybz(&["-rdk", "--resume", "tree"]).stderr,
        "hybz: 0 files decompressed, 0 bytes to 0; 11 skipped (5 without a suffix of compressed files, 5 complete \
         before, 1 of hybz's own)\n"
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
    let mut after = all(&place, "tree");
    remove_journal(&mut after);
    same(after, before);
    // A name that is typed; a result that is a directory, or damaged.
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

#[test]
fn journals() {
    let place = tree();
    let before = all(&place, "tree");
    sleep(Duration::from_millis(250)); // a file that changed just now is not recorded
    let again = |place: &Place| place.hybz(&["-r", "--resume", "--output-dir", "out", "tree"]);
    again(&place).says(0, "5 files compressed");
    let journal = place.get("out/.hybz-journal");
    assert!(journal.len() == 16 + 5 * 8 && journal.starts_with(b"hybz journal 1\n\0"), "{}", journal.len());
    let made = marks(&place, "out");
    again(&place).says(0, "hybz: 0 files compressed, 0 bytes to 0; 5 skipped (5 complete before)\n");
    assert_eq!(place.get("out/.hybz-journal"), journal);
    // With a journal that is lost, cut, too long or garbage, each result is compared again, and recorded again.
    let cut = journal[..journal.len() - 3].to_vec();
    let garbage = [&journal[..16], &[0xaa; 40]].concat();
    for bytes in [&[][..], &journal[..16], &cut, &garbage] {
        place.put("out/.hybz-journal", bytes);
        again(&place).says(0, "5 complete before");
        let healed = place.get("out/.hybz-journal");
        assert!((healed.len() - 16).is_multiple_of(8));
        assert!(journal[16..].chunks(8).all(|record| healed[16..].chunks(8).any(|other| other == record)));
        assert_eq!(marks(&place, "out"), made);
    }
    // Another kind of file with that name is left alone.
    for bytes in [&b"x"[..], b"something else, and long enough"] {
        place.put("out/.hybz-journal", bytes);
        again(&place).says(0, "The journal out/.hybz-journal cannot be used: it is not a journal.");
        assert_eq!(place.get("out/.hybz-journal"), bytes);
    }
    place.shell("rm out/.hybz-journal; ln -s ../tree/one out/.hybz-journal").silent(0);
    again(&place).says(0, "cannot be used: ");
    same(all(&place, "tree"), before.clone());
    place.shell("rm out/.hybz-journal; mkfifo out/.hybz-journal").silent(0);
    again(&place).says(0, "cannot be used: ");
    // A source that changed: its old result is not right, whatever the journal says.
    place.put("out/.hybz-journal-kept", &journal);
    place.shell("rm out/.hybz-journal; mv out/.hybz-journal-kept out/.hybz-journal; echo new >> tree/one").silent(0);
    again(&place)
        .says(1, "out/tree/one.bz2 already exists, and is not the result of the input file.")
        .says(1, "4 complete");
    place.hybz(&["-rf", "--resume", "--output-dir", "out", "tree"]).says(0, "1 file compressed");
    assert_eq!(decompressed(&place.get("out/tree/one.bz2")), place.get("tree/one"));
    // If sources are kept next to their results, the journal is in the walked directory, and is not an operand.
    place.hybz(&["-rk", "--resume", "tree"]).says(0, "5 files compressed");
    assert!(place.has("tree/.hybz-journal"));
    place.hybz(&["-rk", "--resume", "tree"]).says(0, "0 files compressed").says(0, "5 complete before");
    // No journal says that a source may go: the result is compared first.
    let bad = compressed(b"another text");
    place.put("tree/one.bz2", &bad);
    place.hybz(&["-r", "--resume", "tree"]).says(1, "tree/one.bz2 already exists, and is not");
    assert!(place.has("tree/one") && !place.has("tree/a b/deeper/-dash"));
}

#[test]
fn complete_files_are_reported() {
    let place = tree();
    let bytes: usize = all(&place, "tree").values().map(Vec::len).sum();
    place.hybz(&["-qrk", "tree"]).silent(0);
    place.shell("rm 'tree/a b/*.bz2'").silent(0);
    let run = place.hybz(&["-rk", "--resume", "--report=json:log", "--progress=json", "tree"]);
    let found = objects(&place.get("log"));
    let of = |object: &Value| json!([object["name"], object["result"], object["status"], object["exit"]]);
    assert_eq!(of(&found[0]), json!(["tree/one", "tree/one.bz2", "complete", 0]));
    assert_eq!(of(&found[1]), json!(["tree/a b/*", "tree/a b/*.bz2", "done", 0]));
    assert_eq!(of(&found[2]), json!(["tree/a b/two\nlines", "tree/a b/two\nlines.bz2", "complete", 0]));
    assert!(found[0]["bytes_in"].is_null() && found[1]["bytes_in"] == 12_100, "{found:?}");
    let summary = &found[5];
    let counts = ["files", "complete", "failed", "skipped", "bytes_in"].map(|key| summary[key].clone());
    assert_eq!(json!(counts), json!([5, 4, 0, 9, 12_100]));
    let last = |run: &Run| {
        let mut lines = run.stderr.lines().filter(|line| line.starts_with('{'));
        objects((lines.next_back().expect("an object").to_owned() + "\n").as_bytes()).remove(0)
    };
    let end = last(&run);
    assert_eq!(json!([end["read"], end["files"], end["end"]]), json!([bytes, 5, true]));
    // For typed files all totals are known beforehand.
    let run = place.hybz(&["-k", "--resume", "--progress=json", "tree/one", "tree/a b/*"]);
    let end = last(&run);
    assert_eq!(json!([end["read"], end["total"], end["files"], end["operands"]]), json!([12_200, 12_200, 2, 2]));
    // A wrong result has failed.
    place.put("tree/one.bz2", &compressed(b"another text"));
    let run = place.hybz(&["-k", "--resume", "--report=json:second", "tree/one"]);
    let found = objects(&place.get("second"));
    assert_eq!((run.code, &found[0]["status"], &found[1]["complete"]), (1, &json!("failed"), &json!(0)));
}

/// The journal's record that `result` is complete. Only a faulty disk would make one for a wrong result.
fn record(place: &Place, source: &str, result: &str) -> [u8; 8] {
    let crc = |name: &str, numbers: &[u64]| {
        let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
        checksum(CrcAlgorithm::Crc64Nvme, &name.bytes().chain(numbers).collect::<Vec<u8>>())
    };
    let of = |name: &str| {
        let found = fs::metadata(place.path(name)).expect("metadata");
        let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()].map(|time| time as u64);
        [&[found.ino(), found.len()], &times[..]].concat()
    };
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let source = crc(&name(source), &of(source));
    crc(&name(result), &[vec![source], of(result)].concat()).to_le_bytes()
}

#[test]
fn complete_files_are_read_again() {
    let wrong = compressed(&[&b"x"[..], &text(200_000)[1..]].concat());
    let place = Place::with(&[("a", &text(200_000)), ("wrong", &wrong)]);
    fs::create_dir(place.path("d")).expect("a directory");
    place.shell("mv a wrong d").silent(0);
    sleep(Duration::from_millis(250));
    let resume = |more: &[&str]| place.hybz(&[&["-rk", "--resume", "--exclude", "wrong"], more, &["d"]].concat());
    resume(&["--verify=file"]).says(0, "1 file compressed");
    resume(&["--verify=file"]).says(0, "1 complete before");
    // The journal is trusted, except with --verify=file.
    place.shell("mv d/wrong d/a.bz2").silent(0);
    let forged = [place.get("d/.hybz-journal"), record(&place, "d/a", "d/a.bz2").to_vec()].concat();
    place.put("d/.hybz-journal", &forged);
    resume(&[]).says(0, "1 complete before");
    resume(&["--verify=file"]).says(1, "Output file d/a.bz2 already exists, and is not the result of the input file.");
    resume(&["--verify=file", "-f"]).says(0, "1 file compressed");
    assert_eq!(decompressed(&place.get("d/a.bz2")), text(200_000));
}

#[test]
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
