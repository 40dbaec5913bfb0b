//! Threads, memory, and lists.

use super::rows;
use crate::json::objects;
use crate::place::{Place, Run, bzip2_installed, compressed, installed, run, same_as_bzip2, text};
use crate::skip::{Need, skip};
use serde_json::Value;
use std::thread;

rows! {
    "threads" | "one" | "one for each core that affinity and the container's quota allow" => threads_by_affinity;
    "threads in a container with a CPU quota" | "one" | "as many as the quota allows" => threads_by_quota;
    "`-p 1 --no-gpu`" | "-" | "one thread" => one_thread;
    "`-p` of a million" | "-" | "four threads a core, or 16, at most" => threads_that_help;
    "`-p` beyond reason" | "-" | "rc 1" => threads_beyond_reason;
    "a file that is one stream, decompressed" | "on one core" | "on all" => single_streams;
    "memory of blocks in flight" | "one block" | "bounded; `-vv` says by how much, `-m` changes it" => the_bound;
    "the bytes of the output" | "-" | "bzip2's, at every level" => the_bytes;
    "the bytes and the number of threads" | "-" | "do not depend on it" => the_bytes_with_any_threads;
    "many small files" | "one after the other" | "in one queue; each as bzip2 does it" => many_files;
    "`-l`" | "bad flag" | "streams, blocks, level, bytes, ratio and name of each file" => lists;
    "`-lv`" | "bad flag" | "also each block, checked" => lists_of_blocks;
    "`-l` of damaged and other files" | "bad flag" | "rc 2; the others are listed" => lists_of_damaged_files;
    "`-lv` of a damaged .bz2" | "bad flag" | "rc 2; also the damaged places, and the blocks after them" =>
        lists_of_damaged_blocks;
    "`-lv` of files whose streams, not blocks, are damaged" | "no such flag" | "all data of the blocks after the \
        damage are listed"
        => lists_of_damaged_streams;
}

/// The rows of CPU stations in the table of `-vv`.
fn stations(stderr: &str) -> usize {
    stderr.lines().filter(|line| line.starts_with("  cpu ")).count()
}

#[test]
fn threads_by_affinity() {
    if !installed("taskset") {
        return;
    }
    let place = Place::with(&[("a", &text(3_000_000))]);
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let one = place.shell("taskset -c $(taskset -cp $$ | grep -o '[0-9]*$') hybz -1vvc a");
    let all = place.shell("hybz -1vvc a");
    assert_eq!((one.code, stations(&one.stderr)), (0, 1), "{}", one.stderr);
    assert!(stations(&all.stderr) <= cores && one.stdout == all.stdout, "{}", all.stderr);
}

/// A control group of our own, with the time of one core, as containers have it.
#[test]
fn threads_by_quota() {
    let place = Place::with(&[("a", &text(3_000_000))]);
    let script = "g=/sys/fs/cgroup/cpu/hybz-test-$$ quota=cpu.cfs_quota_us value=100000
        [ -e ${g%/*}/$quota ] || { g=/sys/fs/cgroup/hybz-test-$$ quota=cpu.max value='100000 100000'; }
        mkdir $g && [ -e $g/$quota ] && echo $value >$g/$quota || { rmdir $g; exit 77; } 2>/dev/null
        (echo $BASHPID >$g/cgroup.procs && exec hybz -1vvc a)
        code=$?
        for try in 1 2 3 4 5 6 7 8 9; do rmdir $g && break; sleep 0.1; done 2>/dev/null
        exit $code";
    let run = place.shell(script);
    if run.code == 77 {
        return skip(Need::System, "no control group can be made");
    }
    assert_eq!((run.code, stations(&run.stderr)), (0, 1), "{}", run.stderr);
}

#[test]
fn one_thread() {
    let run = Place::with(&[("a", &text(1_000_000))]).hybz(&["-1vvcp1", "--no-gpu", "a"]);
    assert_eq!((run.code, stations(&run.stderr)), (0, 1), "{}", run.stderr);
}

#[test]
fn threads_that_help() {
    let bytes = text(300_000);
    let place = Place::with(&[("a", &bytes)]);
    let plain = place.hybz(&["-c1", "a"]).silent(0).stdout;
    // The blocks in flight of this many threads would fill the address space.
    for threads in ["1000", "1000000", "4194304"] {
        let run = place.shell(&format!("ulimit -v 4000000; hybz -1vvc -p {threads} a"));
        assert!(run.code == 0 && run.stdout == plain, "{threads}: {}", run.stderr);
        let line = run.stderr.lines().find(|line| line.contains("in flight")).expect("the bound").to_owned();
        let words: Vec<&str> = line.split_whitespace().collect();
        let mebibytes: f64 = words[words.len() - 2].parse().expect("a number");
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        assert!(mebibytes <= (12 * (4 * cores).max(16)) as f64, "-p {threads}: {line}");
    }
    // On one core, where the number cannot depend on the machine: 16, of which each takes some of the 150 blocks.
    if installed("taskset") {
        place.put("b", &text(15_000_000));
        let run = place.shell("taskset -c $(taskset -cp $$ | grep -o '[0-9]*$') hybz -1vvc -p 1000000 b");
        assert_eq!((run.code, stations(&run.stderr)), (0, 16), "{}", run.stderr);
    }
}

#[test]
fn threads_beyond_reason() {
    for threads in ["100000000", "1000000000", "9223372036854775808"] {
        let place = Place::with(&[("a", b"hello\n")]);
        let text = format!("-p wants at most 4194304 threads, not `{threads}'");
        place.hybz(&["-p", threads, "a"]).says(1, &text);
        let run = run(place.called("hybz").arg("a").env("HYBZ", format!("-p{threads}"))).says(1, &text);
        assert!(run.stderr.contains("(in the environment variable HYBZ). For help"), "{run:?}");
        assert_eq!(place.names(), ["a"]);
    }
}

#[test]
fn single_streams() {
    let place = Place::with(&[("a.bz2", &compressed(&text(3_000_000)))]);
    let run = place.hybz(&["-tvvp2", "a.bz2"]);
    assert_eq!((run.code, stations(&run.stderr)), (0, 2), "{}", run.stderr);
}

#[test]
fn the_bound() {
    let place = Place::with(&[("a", &text(300_000))]);
    let run = place.hybz(&["-1vvc", "a"]);
    assert!(run.stderr.contains("\n  blocks in flight: at most "), "{}", run.stderr);
    let run = place.hybz(&["-1vvcm3", "a"]);
    assert!(run.stderr.contains("\n  blocks in flight: at most 3.0 MiB\n"), "{}", run.stderr);
}

#[test]
fn the_bytes() {
    for level in 1..=9 {
        // The library's `identity` fills the blocks of all levels.
        let plain = text(if level == 9 { 990_000 } else { 120_000 });
        same_as_bzip2("bzip2", &[&format!("-{level}")], &plain, |_| {});
    }
}

#[test]
fn the_bytes_with_any_threads() {
    let place = Place::with(&[("a", &text(1_500_000))]);
    let plain = place.hybz(&["-1c", "a"]).silent(0).stdout;
    for threads in ["-p1", "-p2", "-p3", "-p7", "-p16"] {
        assert!(place.hybz(&["-1c", threads, "a"]).silent(0).stdout == plain, "{threads}");
    }
}

#[test]
fn many_files() {
    if !bzip2_installed() {
        return;
    }
    let prepare = |place: &Place| (0..300).for_each(|n| place.put(format!("f{n:03}"), &text(n * 50)));
    let (theirs, ours) = (Place::new(), Place::new());
    prepare(&theirs);
    prepare(&ours);
    theirs.shell("bzip2 f*").silent(0);
    ours.shell("hybz f*").silent(0);
    assert!(ours.files() == theirs.files());
}

#[test]
fn lists() {
    let place = Place::with(&[("a", &text(250_000)), ("c", b"")]);
    place.shell("(hybz -c1 a; hybz -c5 a; hybz -c3 a) > three.bz2; hybz --block-size 2M a").silent(0);
    place.shell("hybz --block-size 1M c; hybz -c5 < /dev/null > empty.bz2").silent(0);
    let list = place.hybz(&["-l", "three.bz2", "a.hbz", "c.hbz", "empty.bz2"]).silent(0).out();
    let words: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["streams", "blocks", "level", "compressed", "uncompressed", "ratio", "name"]);
    // The level is the highest of the streams.
    for (row, name, streams, blocks, level, len) in [
        (1, "three.bz2", "3", "5", "5", "750000"),
        (2, "a.hbz", "1", "1", "2M", "250000"),
        (3, "c.hbz", "1", "0", "1M", "0"),
        (4, "empty.bz2", "1", "0", "5", "0"),
    ] {
        let bytes = place.get(name).len().to_string();
        assert_eq!((&words[row][..5], words[row][6]), (&[streams, blocks, level, &bytes, len][..], name), "{list}");
    }
}

#[test]
fn lists_of_blocks() {
    let place = Place::with(&[("a.bz2", &compressed(&text(250_000))), ("b", &text(1_500_000))]);
    place.hybz(&["--block-size", "1M", "b"]).silent(0);
    for (name, blocks) in [("a.bz2", 3), ("b.hbz", 2)] {
        let list = place.hybz(&["-lv", name]).silent(0).out();
        assert_eq!(list.lines().filter(|line| line.ends_with(" ok")).count(), blocks, "{list}");
    }
}

#[test]
fn lists_of_damaged_files() {
    let coded = compressed(b"hello\n");
    let place = Place::with(&[("cut.bz2", &coded[..20]), ("other", b"other"), ("empty", b""), ("a.bz2", &coded)]);
    let run = place.hybz(&["-l", "cut.bz2", "other", "missing", "empty", "a.bz2"]);
    assert!(run.code == 2 && run.out().ends_with("  a.bz2\n"), "{run:?}");
    for text in [
        "hybz: cut.bz2: file ends unexpectedly: in block 1",
        "hybz: other is not a bzip2 file.\n",
        "hybz: Can't open input file missing: No such file or directory.\n",
        "hybz: empty: file ends unexpectedly: it is empty\n",
    ] {
        assert!(run.stderr.contains(text), "{}", run.stderr);
    }
}

/// The words of each row of blocks; the line after it that reports an error counts as one word.
fn block_rows(list: &str) -> Vec<Vec<&str>> {
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for line in list.lines().skip_while(|line| !line.ends_with(" state")).skip(1) {
        assert!(line.len() <= 80, "{line}");
        let words: Vec<&str> = line.split_whitespace().collect();
        match (rows.last_mut(), matches!(words[..], [_, _, _, _, _, _, _, "ok" | "bad" | "cut"])) {
            (Some(last), false) => last.push(line.trim_start()),
            _ => rows.push(words),
        }
    }
    rows
}

/// The rows, as a table and as JSON. The exit code and the message are those of `-l`.
fn listed(place: &Place, name: &str) -> (String, Vec<Value>) {
    let lists: [Run; 2] = [&["-lv", name][..], &["-lv", "--json", name]].map(|args| place.hybz(args));
    let plain = place.hybz(&["-l", name]);
    for run in &lists {
        assert_eq!((run.code, &run.stderr), (2, &plain.stderr), "{run:?}");
    }
    let object = objects(&lists[1].stdout).remove(0);
    assert!(object["exit"] == 2 && object.get("blocks").is_none(), "{object}");
    (lists[0].out(), object["block_list"].as_array().expect("a list").clone())
}

#[test]
fn lists_of_damaged_blocks() {
    let place = Place::with(&[("a.bz2", &compressed(&text(450_000)))]);
    let good = place.hybz(&["-lv", "a.bz2"]).silent(0).out();
    let good = block_rows(&good);
    assert_eq!(good.len(), 5);
    let mut coded = place.get("a.bz2");
    let [second, third]: [usize; 2] = [1, 2].map(|row: usize| good[row][2].parse().expect("an offset"));
    coded[(second + third) / 2] ^= 1;
    place.put("bad.bz2", &coded);
    let (list, json) = listed(&place, "bad.bz2");
    let rows = block_rows(&list);
    assert_eq!(rows.len(), 5, "{list}");
    assert_eq!((&rows[0], &rows[1][..5]), (&good[0], &good[1][..5]));
    assert_eq!(rows[1][5..8], ["-", "-", "bad"], "{list}");
    assert_eq!((rows[1].len(), &json[1]["state"]), (9, &Value::from(rows[1][8])));
    assert!(list.contains(" -  bad.bz2\n"), "{list}");
    for member in ["text_length", "crc"] {
        assert!(json[1].get(member).is_some_and(Value::is_null), "{:?}", json[1]);
    }
    for row in 2..5 {
        // The number of lost blocks and the length of their text are unknown.
        let [offset, bytes, len, crc] = [2, 3, 5, 6].map(|column: usize| good[row][column]);
        assert_eq!(rows[row], ["-", "-", offset, bytes, "-", len, crc, "ok"], "{list}");
        let object = &json[row];
        let known = ["number", "stream", "text_offset"].map(|member| object[member].is_null());
        assert_eq!((known, &object["state"]), ([true; 3], &Value::from("ok")), "{object}");
        assert_eq!((object["text_length"].to_string(), &object["crc"]), (len.to_owned(), &Value::from(&crc[2..])));
        assert_eq!(object["bit_offset"].as_u64().map(|bit| bit / 8), offset.parse().ok());
    }
    // From the position of a descriptor.
    let run = place.shell("{ head -c 7 /dev/zero; cat bad.bz2; } > later; exec < later; head -c 7 > null; hybz -lv");
    assert_eq!((run.code, block_rows(&run.out())), (2, rows));
}

/// If no block is lost, everything is known about the blocks after the damage.
#[test]
fn lists_of_damaged_streams() {
    let place = Place::new();
    let coded = compressed(&text(150_000));
    place.put("two.bz2", &[&coded[..], &coded].concat());
    let good = place.hybz(&["-lv", "two.bz2"]).silent(0).out();
    // The combined CRC of the first stream, its last block's CRC field, and the rest of the second cut off.
    let end = coded.len();
    let field: usize = block_rows(&good)[1][2].parse::<usize>().expect("an offset") + 8;
    for (damage, lost, states) in [
        (end - 3, None, ["ok", "ok", "ok", "ok"]),
        (field, None, ["ok", "ok the stored CRC of a block is damaged", "ok", "ok"]),
        (2 * end - 30, Some(3), ["ok", "ok", "ok", "cut"]),
    ] {
        let mut bad = place.get("two.bz2");
        if lost.is_some() {
            bad.truncate(damage)
        } else {
            bad[damage] ^= 1
        };
        place.put("bad.bz2", &bad);
        let list = listed(&place, "bad.bz2").0;
        let (rows, good) = (block_rows(&list), block_rows(&good));
        assert_eq!(rows.len(), 4, "{list}");
        for (row, state) in states.into_iter().enumerate() {
            assert_eq!(rows[row][7..].join(" "), state, "{list}");
            let known = if lost == Some(row) { "1110100" } else { "1111111" };
            let known = known.bytes().map(|one| one == b'1');
            for ((column, is_known), right) in rows[row].iter().zip(known).zip(&good[row]) {
                assert!(if is_known { column == right } else { column != right }, "{row}: {list}");
            }
        }
    }
}
