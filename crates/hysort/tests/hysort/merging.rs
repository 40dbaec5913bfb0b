//! `-m` with few descriptors: more files than may be open are sorted.

use crate::place::{Place, Run};
use crate::skip::{Need, skip};
use std::process::Command;

const COUNT: u32 = 100;

/// `COUNT` sorted files in a directory `in`, and the merge of all of them.
fn place() -> (Place, Vec<u8>) {
    let place = Place::with(&[]);
    std::fs::create_dir(place.path("in")).expect("a directory");
    let mut all = Vec::new();
    for number in 0..COUNT {
        let mut lines: Vec<String> =
            (0..500).map(|i: u32| format!("{}\n", (i * COUNT + number).wrapping_mul(2_654_435_761))).collect();
        lines.sort();
        std::fs::write(place.path(&format!("in/{number}")), lines.concat()).expect("a file");
        all.extend(lines);
    }
    all.sort();
    (place, all.concat().into_bytes())
}

#[track_caller]
fn merges(run: Run, expected: &[u8], why: &str) {
    assert_eq!((run.code, &*run.stderr), (0, ""), "{why}");
    assert!(run.stdout == expected, "{why}");
}

#[test]
fn more_files_than_descriptors() {
    let (place, expected) = place();
    for limit in [10, 11, 12, 20, 64, 100, 110, 200] {
        let script = format!("ulimit -n {limit}; exec $SORT -m in/*");
        merges(place.shell(&script), &expected, &script);
    }
    for script in [
        // Three descriptors besides the standard ones.
        "files=$(echo in/*); ulimit -n 6; exec $SORT -m -k1,1 $files 3<&- 4<&- 5<&-",
        "files=$(echo in/*); ulimit -n 6; exec $SORT -m -S 300K $files 3<&- 4<&- 5<&-",
        "ulimit -n 32; exec $SORT -mu in/* in/*",
        "ulimit -n 32; $SORT -m in/* -o out && cat out",
        "ulimit -n 32; $SORT -m --batch-size=2 in/*",
        "ulimit -n 32; $SORT -m --batch-size=28 in/*",
        "ulimit -n 32; cat in/3 | exec $SORT -m in/? in/[1-9]? - | sort -c; $SORT -m in/*",
        "ulimit -n 32; mkfifo p; cat in/0 >p & $SORT -m in/[1-9]* p; rm p",
        "ulimit -n 32; mkfifo p; cat in/0 >p & $SORT -m p in/[1-9]*; rm p",
    ] {
        merges(place.shell(script), &expected, script);
    }
    let reverse: Vec<&[u8]> = expected.split_inclusive(|&byte| byte == b'\n').rev().collect();
    let script = "for file in in/*; do tac $file >r$file; done; ulimit -n 32; $SORT -mr rin/*";
    merges(place.shell(&format!("mkdir rin; {script}")), &reverse.concat(), script);
}

/// The limit falls while the files are being opened: those that are open are sorted first.
#[test]
fn descriptors_that_become_fewer() {
    if !Command::new("prlimit").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skip(Need::System, "prlimit is not installed");
    }
    let (place, expected) = place();
    // hysort waits for the writer of `p`, having seen the higher limit.
    let script = "ulimit -n 200; mkfifo p; $SORT -m p in/[1-9]* >out & sleep 1; prlimit --pid $! --nofile=20:200; \
                  cat in/0 >p; wait $! && cat out";
    merges(place.shell(script), &expected, script);
}
