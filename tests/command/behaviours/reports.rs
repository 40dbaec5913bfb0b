//! Output for programs: `--json`, progress on demand, and objects of all kinds.

use super::rows;
use crate::faults::shim;
use crate::json::objects;
use crate::place::{Place, Run, compressed, noise, odd_name, run, run_with_input, text};
use crate::skip::{Need, skip_part};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{self, read_to_string};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

rows! {
    "`--json`" | "no such thing" | "an object for each file and a summary, on stderr (docs/JSON.md)"
        => report_of_files;
    "`--json` of files that fail" | "no such thing" | "an object for each, with its exit code and its error"
        => report_of_failures;
    "`--json=FILE`" | "no such thing" | "appended to, line by line; other files are not touched"
        => places_of_reports;
    "`--json` and signals" | "no such thing" | "a summary of the work done until then" => report_of_the_interrupted;
    "`--json` and signals in the middle of many files" | "no such thing"
        | "every file that is done has an object, except at most one" => report_of_the_interrupted_at_any_time;
    "`--json` and an early end" | "no such thing" | "a summary in any case; a report that cannot be written is rc 1"
        => reports_end;
    "SIGUSR1" | "ends it" | "a line of progress, immediately; nothing is disturbed" => asked_by_signal;
    "SIGUSR1, ignored when hybz is started" | "ignored" | "the same" => not_asked_by_signal;
    "`--json` with senseless flags" | "-" | "a sentence; rc 1; nothing is written"
        => nonsense;
}

/// The objects on stderr, without other messages.
#[track_caller]
fn on_stderr(run: &Run) -> Vec<Value> {
    let lines: String =
        run.stderr.lines().filter(|line| line.starts_with('{')).map(|line| format!("{line}\n")).collect();
    objects(lines.as_bytes())
}

/// These members of an object.
fn members(object: &Value, keys: &[&str]) -> Value {
    keys.iter().map(|key| object[*key].clone()).collect()
}

fn report_of_files() {
    let place = Place::with(&[("a", &text(450_000)), ("b", b"hello\n"), ("empty", b"")]);
    place.put(odd_name(), b"odd\n");
    let mut command = place.called("hybz");
    let run = run(command.args(["-1k", "--json", "a", "b", "empty"]).arg(odd_name()));
    assert_eq!((run.code, run.stdout.len()), (0, 0), "{run:?}");
    let found = objects(run.stderr.as_bytes());
    let types: Vec<_> = found.iter().map(|object| object["type"].as_str().expect("a type")).collect();
    assert_eq!(types, ["file", "file", "file", "file", "summary"]);
    let keys = ["name", "work", "format", "result", "bytes_in", "bytes_out", "blocks", "streams", "exit"];
    let len = |name: &str| place.get(name).len();
    assert_eq!(members(&found[0], &keys), json!(["a", "compress", "bz2", "a.bz2", 450_000, len("a.bz2"), 5, 1, 0]));
    assert_eq!(members(&found[2], &keys), json!(["empty", "compress", "bz2", "empty.bz2", 0, 14, 0, 1, 0]));
    // The CRC is the one at the end of the file, before up to 7 bits of padding.
    assert_eq!(found[2]["crcs"], json!(["00000000"]));
    let all = place.shell("hybz -vvt a.bz2 2>/dev/null; hybz -1vvkf a 2>&1 | sed -n 's/.*final combined CRC = 0x//p'");
    assert_eq!(found[0]["crcs"][0], json!(all.out().trim()));
    // A name that is not UTF-8 is given as bytes.
    let (name, result) = (&found[3]["name_base64"], &found[3]["result_base64"]);
    assert_eq!((name, result), (&json!("b2RkIP8KJXMnIm5hbWU="), &json!("b2RkIP8KJXMnIm5hbWUuYnoy")));
    assert!(found[0]["name_base64"].is_null() && found[0]["error"].is_null());
    let total = &found[4];
    let keys =
        ["work", "operands", "files", "failed", "bytes_in", "blocks", "streams", "fallbacks", "interrupted", "exit"];
    assert_eq!(members(total, &keys), json!(["compress", 4, 4, 0, 450_010, 7, 4, 0, false, 0]));
    let sum = |key| {
        let stations = total["stations"].as_array().expect("stations");
        stations.iter().map(|station| station[key].as_u64().expect("a number")).sum::<u64>()
    };
    assert_eq!((sum("blocks"), sum("bytes_in")), (7, 450_010));

    // Decompressing, several streams, a .hbz, and tests; with one worker thread, and without any.
    place.put("two.bz2", &[compressed(b"one"), compressed(b"two"), b"garbage".to_vec()].concat());
    place.shell("hybz --block-size 1M -k b").silent(0);
    let run = place.hybz(&["-dkfqqp1", "--json", "a.bz2", "b.hbz", "two.bz2"]);
    let found = objects(run.stderr.as_bytes());
    let keys = ["work", "format", "result", "bytes_out", "streams", "trailing_garbage"];
    assert_eq!(members(&found[0], &keys), json!(["decompress", "bz2", "a", 450_000, 1, null]));
    assert_eq!(members(&found[1], &keys), json!(["decompress", "hbz", "b", 6, 1, null]));
    let garbage = place.get("two.bz2").len() - 7;
    assert_eq!(members(&found[2], &keys), json!(["decompress", "bz2", "two", 6, 2, garbage]));
    assert_eq!(found[2]["crcs"].as_array().map(Vec::len), Some(2));
    let run = place.hybz(&["-t", "--json", "b.bz2"]);
    let found = objects(run.stderr.as_bytes());
    assert_eq!(members(&found[0], &keys), json!(["test", "bz2", null, 6, 1, null]));
    let run = run_with_input(place.called("hybz").args(["-1", "--json"]), b"hello\n");
    let found = objects(run.stderr.as_bytes());
    assert_eq!(members(&found[0], &["name", "result", "bytes_in"]), json!(["(stdin)", "-", 6]));
    assert_eq!(run.stdout, place.get("b.bz2"));
}

fn report_of_failures() {
    let mut damaged = compressed(&text(400_000));
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let place =
        Place::with(&[("good", b"good\n"), ("taken", b"taken\n"), ("taken.bz2", b"there\n"), ("bad.bz2", &damaged)]);
    place.put("cut.bz2", &compressed(b"cut")[..20]);
    place.put("none.bz2", b"none");
    let run = place.hybz(&["--json", "missing", "taken", ".", "bad.bz2", "good"]);
    let found = on_stderr(&run);
    let failed: Vec<_> = found.iter().map(|object| (object["exit"].as_u64(), object["error"].as_str())).collect();
    assert_eq!(
        failed,
        [
            (Some(1), Some("Can't open input file missing: No such file or directory.")),
            (Some(1), Some("Output file taken.bz2 already exists.")),
            (Some(1), Some("Input file . is a directory.")),
            (Some(1), Some("Input file bad.bz2 already has .bz2 suffix.")),
            (Some(0), None),
            (Some(1), None),
        ]
    );
    assert_eq!(members(&found[5], &["files", "failed", "bytes_in"]), json!([5, 4, 5]));
    // With -v a verdict is a line of the table of files, without -v a message; the object is the same in both cases.
    for flags in ["-t", "-tv", "-tqq"] {
        let run = place.hybz(&[flags, "--json", "bad.bz2", "cut.bz2", "good.bz2", "none.bz2"]);
        let found = on_stderr(&run);
        let exits: Vec<_> = found.iter().map(|object| object["exit"].as_u64().expect("exit")).collect();
        assert_eq!((run.code, exits), (2, vec![2, 2, 0, 2, 2]), "{flags}");
        let error = |n: usize| found[n]["error"].as_str().expect("an error").to_owned();
        assert!(error(0).starts_with("bad.bz2: data integrity (CRC) error in data: block "), "{}", error(0));
        assert!(error(1).starts_with("cut.bz2: file ends unexpectedly"), "{}", error(1));
        assert!(found[0]["bytes_in"].is_null() && found[0]["work"] == "test");
    }
    let run = place.hybz(&["-d", "--json", "bad.bz2"]);
    assert_eq!((run.code, on_stderr(&run)[0]["exit"].clone()), (2, json!(2)));
}

fn places_of_reports() {
    let place = Place::with(&[("a", b"hello\n"), ("other", b"{\"name\": 1}\n"), ("nothing", b"")]);
    place.hybz(&["-k", "--json=log", "a"]).silent(0);
    place.hybz(&["-t", "--json=log", "a.bz2"]).silent(0);
    place.hybz(&["-t", "--json=nothing", "a.bz2"]).silent(0);
    let types = |lines: &[u8]| objects(lines).iter().map(|object| object["type"].clone()).collect::<Value>();
    assert_eq!(types(&place.get("log")), json!(["file", "summary", "file", "summary"]));
    assert_eq!(types(&place.get("nothing")), json!(["file", "summary"]));
    let run = place.hybz(&["-t", "--json=-", "a.bz2"]).silent(0);
    assert_eq!(types(&run.stdout), json!(["file", "summary"]));
    // A file that is not a report stays unchanged, and no work is done.
    let before = place.files();
    for name in ["a", "other", "a.bz2"] {
        let says = format!("hybz: File {name} is not a report: nothing is appended to it.\n");
        let run = place.hybz(&["-f", &format!("--json={name}"), "a"]);
        assert_eq!((run.code, run.stderr), (1, says));
    }
    place.hybz(&["--json=.", "a"]).says(1, "Can't open report .: Is a directory.");
    place.hybz(&["--json=no/log", "a"]).says(1, "Can't open report no/log: No such file or directory.");
    assert!(place.files() == before);
    // The report is not an input, and no result takes its place.
    let run = place.hybz(&["--json=log", "log", "a", "-f"]);
    run.says(1, "hybz: Input file log is the report.\n");
    place.hybz(&["-fo", "log", "--json=log", "nothing"]).says(1, "hybz: Output file log is the report.\n");
    assert_eq!(objects(&place.get("log")).len(), 9);
    assert!(place.has("log") && !place.has("log.bz2") && !place.has("a"));
}

/// Starts hybz, which reads from a pipe that is never closed.
fn waiting(place: &Place, args: &[&str], shim: Option<&std::path::Path>) -> Child {
    let mut command = place.called("hybz");
    if let Some(shim) = shim {
        command.env("LD_PRELOAD", shim).env("FAULT", "tmpfile");
    }
    let command = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("hybz")
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("kill: the process has not been waited for");
}

/// Whether this process ignores a signal, as in the background of a shell or under nohup: then hybz ignores it, too.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a mask in hexadecimal digits");
    let is_ignored = ignored >> (signal.as_raw() - 1) & 1 == 1;
    if is_ignored {
        skip_part(Need::System, &format!("the tests were started with signal {} ignored", signal.as_raw()));
    }
    is_ignored
}

/// Sends a signal, and waits. Stdin stays open, because at its end hybz could finish before it sees the signal.
fn end_by(mut child: Child, signal: Signal) -> Run {
    let input = child.stdin.take();
    send(&child, signal);
    let run = Run::from(child.wait_with_output().expect("hybz"));
    drop(input);
    run
}

/// Waits until `done`.
#[track_caller]
fn until(done: impl Fn() -> bool) {
    for _ in 0..1000 {
        if done() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("it does not come");
}

fn report_of_the_interrupted() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        let place = Place::with(&[("a", b"hello\n")]);
        let child = waiting(&place, &["--json=log", "a", "-"], None);
        until(|| place.has("log") && place.get("log").ends_with(b"\n"));
        let run = end_by(child, signal);
        assert_eq!((run.code, run.stderr.as_str()), (128 + signal.as_raw(), ""));
        let found = objects(&place.get("log"));
        assert_eq!(found.len(), 2);
        assert_eq!(members(&found[0], &["name", "exit"]), json!(["a", 0]));
        let keys = ["operands", "files", "failed", "bytes_in", "interrupted", "signal", "exit"];
        let code = 128 + signal.as_raw();
        assert_eq!(members(&found[1], &keys), json!([2, 1, 0, 6, true, signal.as_raw(), code]));
        assert!(!place.has("a") && place.has("a.bz2"));
    }
    // Files skipped before the signal are counted.
    let place = Place::with(&[("a", b"hello\n"), ("b.bz2", b"")]);
    place.shell("mkdir d; mv a b.bz2 d").silent(0);
    let child = waiting(&place, &["-r", "--json=log", "d", "-"], None);
    until(|| place.has("log") && place.get("log").ends_with(b"\n"));
    drop(end_by(child, Signal::TERM));
    assert_eq!(members(&objects(&place.get("log"))[1], &["files", "skipped", "complete"]), json!([1, 1, 0]));
    // The report goes to stderr; if results need hidden names, their files are removed, too.
    let shim = shim();
    let place = Place::new();
    let child = waiting(&place, &["-o", "out", "--json"], shim);
    match shim {
        Some(_) => until(|| place.has(".out.hybz-tmp")),
        None => sleep(Duration::from_millis(500)),
    }
    let run = end_by(child, Signal::TERM);
    let found = objects(run.stderr.as_bytes());
    assert_eq!((run.code, found.len(), &found[0]["signal"]), (143, 1, &json!(15)));
    assert!(place.names().is_empty(), "{:?}", place.names());
}

fn report_of_the_interrupted_at_any_time() {
    let names: Vec<String> = (0..200).map(|number| format!("f{number:03}")).collect();
    for n in 0..6u64 {
        let place = Place::new();
        names.iter().for_each(|name| place.put(name, name.as_bytes()));
        let limit = Instant::now() + Duration::from_secs(20);
        let mut command = place.called("hybz");
        let child = command.arg("--json=log").args(&names).stderr(Stdio::null()).spawn().expect("hybz");
        // The signal comes while hybz removes hundreds of sources and writes their objects.
        let begun = || fs::metadata(place.path("log")).is_ok_and(|found| found.len() > 0);
        while !begun() && Instant::now() < limit {
            thread::yield_now();
        }
        sleep(Duration::from_micros(n * 200));
        send(&child, Signal::INT);
        let code = Run::from(child.wait_with_output().expect("hybz")).code;
        let lines = String::from_utf8(place.get("log")).expect("UTF-8");
        let found: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let (last, files) = found.split_last().expect("a summary");
        assert_eq!((&last["type"], &last["exit"]), (&json!("summary"), &json!(code)));
        assert_eq!(last["interrupted"], json!(code != 0));
        let left = place.names();
        let is_left = |name: &str| left.iter().any(|left| left == name);
        assert!(files.iter().all(|object| !is_left(object["name"].as_str().expect("a name"))));
        let done = names.iter().filter(|name| !is_left(name)).count();
        assert!(done - files.len() <= 1, "{done} files are done, {} have objects", files.len());
    }
}

fn reports_end() {
    let place = Place::with(&[("a", b"hello\n"), ("long", &noise(3_000_000))]);
    // The reader of stdout goes away.
    let run = place.shell("hybz -c --json=log long | head -c 1 > first; exit ${PIPESTATUS[0]}");
    assert_eq!(run.code, 141, "{run:?}");
    let found = objects(&place.get("log"));
    assert_eq!(members(&found[0], &["exit", "error"]), json!([1, "Can't write output file (stdout): Broken pipe."]));
    assert_eq!(members(&found[1], &["interrupted", "signal", "exit"]), json!([true, 13, 141]));
    // The work cannot begin.
    let run = place.hybz(&["--json", "--block-size", "1G", "-m", "1", "missing"]);
    assert_eq!(on_stderr(&run).last().expect("a summary")["exit"], json!(1));
    // If the report cannot be written, one message says so, and the work is done.
    if std::path::Path::new("/dev/full").exists() {
        let run = place.hybz(&["--json=/dev/full", "a"]);
        let says = "hybz: Can't write report /dev/full: No space left on device.\n";
        assert_eq!((run.code, run.stderr.as_str()), (1, says));
        assert!(place.has("a.bz2"));
    }
}

fn asked_by_signal() {
    let place = Place::with(&[("a", &text(3_000_000))]);
    place.shell("hybz -1k a").silent(0);
    // hybz reads slow pipes and writes to them, with hundreds of signals in between.
    for (line, from, to) in [("hybz -1c < in", "a", "a.bz2"), ("hybz -dcf in", "a.bz2", "a")] {
        let shell = format!(
            "mkfifo in out; \
             (split -b 60000 --filter='cat; sleep 0.01' {from} > in) & \
             (split -b 60000 --filter='cat; sleep 0.005' - < out > result) & reader=$!; \
             {line} > out 2> said & pid=$!; \
             until grep -Eqs '^SigCgt:.*[2367abef]..$' /proc/$pid/status; do sleep 0.05; done; sleep 0.2; \
             for n in $(seq 300); do kill -USR1 $pid 2>/dev/null || break; sleep 0.002; done; \
             wait $pid; code=$?; wait $reader; rm in out; cmp result {to} && exit $code"
        );
        place.shell(&shell).silent(0);
        let said = String::from_utf8(place.get("said")).expect("UTF-8");
        assert!(said.lines().count() >= 10, "{said}");
        for line in said.lines() {
            let words = line.strip_prefix("hybz: ").and_then(|line| line.split_once(" MB read, "));
            assert!(words.is_some_and(|(_, rest)| rest.contains(" of 1 files done, ")), "{line}");
        }
    }
    // Also in -l and --recover.
    let mut child = waiting(&place, &["-l"], None);
    let status = format!("/proc/{}/status", child.id());
    let catches = |line: &str| line.strip_prefix("SigCgt:\t").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    let usr1 = 1 << (Signal::USR1.as_raw() - 1);
    while !read_to_string(&status).expect("its status").lines().any(|line| catches(line).unwrap_or(0) & usr1 != 0) {
        sleep(Duration::from_millis(10));
    }
    sleep(Duration::from_millis(200));
    send(&child, Signal::USR1);
    let mut said = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut said).expect("a line");
    assert!(said.starts_with("hybz: 0.0 MB read, 0.0 MB written, 0 of 1 files done, 0."), "{said}");
    child.wait_with_output().expect("hybz");
}

fn not_asked_by_signal() {
    let place = Place::new();
    let shell = "trap '' USR1; mkfifo a; hybz -fc a > a.bz2 & exec 3> a; echo hello >&3; sleep 0.2; kill -USR1 $!; \
                 sleep 0.2; exec 3>&-; wait $!; hybz -dc a.bz2";
    assert_eq!(place.shell(shell).silent(0).out(), "hello\n");
}

fn nonsense() {
    let place = Place::with(&[("a", b"hello\n"), ("a.bz2", &compressed(b"hello\n"))]);
    place.refuses(&[
        ("--report=json a", "Bad flag `--report=json'"),
        ("-l --json=log a.bz2", "--json=FILE and -l cannot be used together."),
        ("--recover --json=log a.bz2", "--json=FILE and --recover cannot be used together."),
        ("-vv --json a", "--json and -vv cannot be used together: use --json=FILE."),
        ("-c --json=- a", "--json=- and a result on standard output cannot be used together."),
        ("-k --json=- a -", "--json=- and a result on standard output cannot be used together."),
        ("--progress=xml a", "--progress expects text or never, not `xml'."),
        ("--progress=json a", "--progress expects text or never, not `json'."),
    ]);
}
