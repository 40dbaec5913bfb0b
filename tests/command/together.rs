//! Flags that were added at different times, used together.

use crate::json::objects;
use crate::place::{Place, installed, text};
use serde_json::json;

/// The names of new directories are on the disk before a source is removed.
#[test]
fn directories_are_synced() {
    if !installed("strace") {
        return;
    }
    let place = Place::with(&[]);
    place.shell("mkdir -p src/n1/n2; echo x > src/n1/n2/f").silent(0);
    let trace = "strace -f -y -o trace -e trace=fsync,mkdir,mkdirat,unlink,unlinkat";
    place.shell(&format!("{trace} hybz -qr --rm --output-dir out/deep src")).silent(0);
    let calls = String::from_utf8(place.get("trace")).unwrap();
    let removed = calls.find("\"f\"").or_else(|| calls.find("/f\"")).expect("the source is removed");
    let before = &calls[..removed];
    let synced = |end: &str| before.lines().any(|line| line.contains("fsync(") && line.contains(&format!("{end}>)")));
    for directory in ["/out", "/out/deep", "/out/deep/src", "/out/deep/src/n1", "/out/deep/src/n1/n2"] {
        assert!(synced(directory), "{directory}: {calls}");
    }
    assert!(place.shell("ls out/deep/src/n1/n2").out().contains("f.bz2"));
}

#[test]
fn many_files_with_indexes_and_few_descriptors() {
    let place = Place::with(&[]);
    place.shell("for n in $(seq 400); do echo $n > f$n; done").silent(0);
    place.shell("ulimit -Sn 64; ulimit -Hn 128; hybz --index --verify=file f*").silent(0);
    assert_eq!(place.shell("ls *.bz2 | wc -l; ls *.bzi | wc -l; ls | wc -l").out(), "400\n400\n800\n");
}

/// An error about a directory is not reported as one of the next file.
#[test]
fn failures_of_no_file_in_reports() {
    let place = Place::with(&[("good", b"good\n")]);
    let run = place.hybz(&["-rk", "--json=-", "missing", "good"]);
    assert_eq!(run.code, 1);
    let found = objects(&run.stdout);
    assert_eq!((&found[0]["name"], &found[0]["exit"]), (&json!("good"), &json!(0)));
    assert_eq!((&found[1]["type"], &found[1]["exit"]), (&json!("summary"), &json!(1)));
    assert!(found[1]["error"].as_str().unwrap().contains("missing"), "{found:?}");
}

#[test]
fn a_report_in_the_tree() {
    let place = Place::with(&[]);
    place.shell("mkdir t; echo x > t/f; hybz -qrk --json=t/report t").silent(0);
    assert_eq!(place.shell("ls t").out(), "f\nf.bz2\nreport\n");
    // Nor is a report taken for an index, and half a line in it does not spoil the next line.
    place.put("g", b"g\n");
    place.shell("hybz -kf --index=t/report --json=t/report g").says(1, "Output file t/report is the report.");
    place.shell("printf '{\"schema\":1,\"type\":\"fi' >> t/report; hybz -kf --json=t/report g").silent(0);
    let lines = String::from_utf8(place.get("t/report")).unwrap();
    let good = lines.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count();
    assert_eq!((good, lines.lines().count()), (6, 7), "{lines}");
}

/// Too little memory for reading a result again is not reported as a defect.
#[test]
fn little_memory_to_verify_with() {
    let place = Place::with(&[("a", &text(3_000_000))]);
    let run = place.shell("hybz -k --block-size 3M -m1 --verify=file a");
    assert!(run.code < 2 && (run.code == 0) == place.has("a.hbz"), "{run:?}");
}

#[test]
fn patterns_as_people_write_them() {
    let place = Place::with(&[]);
    place.shell(
        "mkdir -p t/build t/src; echo x | tee t/build/a t/src/b > t/c; hybz -qrk --exclude build/ --exclude ./c t",
    );
    assert_eq!(place.shell("find t -name '*.bz2'").out(), "t/src/b.bz2\n");
}

#[test]
fn some_files_have_not_been_processed() {
    let place = Place::with(&[("a", b"a"), ("b", b"b")]);
    let run = place.hybz(&["-k", "--resume", "--fail-fast", "none", "a", "b"]);
    run.says(1, "WARNING: some files have not been processed");
    // Names that come after the failure are not opened, but hybz knows that files are left.
    let list = "(echo none; sleep 0.5; echo report; echo a)";
    let run = place.shell(&format!("{list} | hybz -k --fail-fast --json=report --filelist -"));
    run.says(1, "WARNING: some files have not been processed");
    // None are left if the last file failed.
    place.shell("echo none > list; mkdir d; mv b d; echo x > d/b.bz2").silent(0);
    for last in ["--resume none", "--filelist list", "-r d", "-r d none"] {
        let run = place.shell(&format!("hybz -k --fail-fast {last}"));
        assert!(run.code == 1 && run.stderr.contains("have not been") == (last == "-r d none"), "{last}: {run:?}");
    }
}

/// Two sources have the same result name: even with -f the first result stays, and so does the second source.
#[test]
fn two_sources_of_one_result() {
    for thread in ["", "--no-sync "] {
        let place = Place::with(&[]);
        place.shell("mkdir t; cd t; echo one | bzip2 > x.tar.bz2; echo two | bzip2 > x.tbz2").silent(0);
        let run = place.shell(&format!("hybz -qrdf {thread}t"));
        run.says(1, "Output file t/x.tar is the result of another input file of this call: it stays.");
        assert_eq!(place.shell("ls t; cat t/x.tar; bzip2 -dc t/x.tbz2").out(), "x.tar\nx.tbz2\none\ntwo\n");
        // A file that existed before is replaced.
        place.shell("rm t/x.tbz2; bzip2 -k t/x.tar; echo old > t/x.tar; hybz -df t/x.tar.bz2; cat t/x.tar").silent(0);
    }
}

/// With --resume, a later operand is compared with the final result.
#[test]
fn resumed_results_of_two_sources() {
    let place = Place::with(&[("a", b"a")]);
    place.hybz(&["-qk", "--resume", "a", "a"]).silent(0);
    place.shell("mkdir t; cd t; echo one | bzip2 > x.tar.bz2; echo two | bzip2 > x.tbz2; echo two > x.tar").silent(0);
    place.hybz(&["-qrdf", "--resume", "t"]).says(1, "is the result of another input file of this call: it stays.");
    assert_eq!(place.shell("ls t; cat t/x.tar; bzip2 -dc t/x.tbz2").out(), "x.tar\nx.tbz2\none\ntwo\n");
}

/// Loading libm.so at every start takes 0.3 MB and 0.09 ms, so its functions come from the crate libm.
#[test]
fn libm_is_not_loaded() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_hybz")).unwrap();
    assert!(!program.windows(10).any(|bytes| bytes == b"libm.so.6\0"));
}
