//! Threads, memory, and lists.

use super::rows;
use crate::json::objects;
use crate::place::{Place, bzip2_installed, compressed, installed, text};
use crate::skip::{Need, skip};
use std::thread;

rows! {
    "threads" | "one" | "one for each core that affinity and the container's quota allow" => threads_by_affinity;
    "threads in a container with a CPU quota" | "one" | "as many as the quota allows" => threads_by_quota;
    "the same with cgroups v2, or little memory" | "one" | "as many as the limits allow" => limits_of_version_2;
    "`-p 1 --no-gpu`" | "-" | "one thread" => one_thread;
    "`-p` of a million" | "-" | "four threads a core, or 16, at most" => threads_that_help;
    "`-p` beyond reason" | "-" | "rc 1" => "limits"/"threads-$N";
    "a file that is one stream, decompressed" | "on one core" | "on all" => single_streams;
    "memory of blocks in flight" | "one block" | "bounded; `-vv` says by how much, `-m` changes it" => the_bound;
    "the bytes of the output" | "-" | "bzip2's, at every level" => "data"/"same-bytes-$LEVEL";
    "the bytes and the number of threads" | "-" | "do not depend on it" => the_bytes_with_any_threads;
    "many small files" | "one after the other" | "in one queue; each as bzip2 does it" => many_files;
    "`-l`" | "bad flag" | "streams, blocks, level, bytes, ratio and name of each file" => lists;
    "`-lv`" | "bad flag" | "also each block, checked" => lists_of_blocks;
    "`-l` of damaged and other files" | "bad flag" | "rc 2; the others are listed" => lists_of_damaged_files;
    "`-lv` of a damaged .bz2" | "bad flag" | "rc 2; the blocks before the damage" => lists_of_damaged_blocks;
}

/// The rows of CPU stations in the table of `-vv`.
fn stations(stderr: &str) -> usize {
    stderr.lines().filter(|line| line.starts_with("  cpu ")).count()
}

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

/// In a separate control group with the time of one core, as containers have it.
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

/// Files of control groups of version 2 replace the system's; the files of the parent group have the limits.
fn limits_of_version_2() {
    let place = Place::with(&[("a", &text(3_000_000))]);
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let limits = [("cpu.max", "100000 100000", 1), ("memory.max", "32000000", 1), ("memory.max", "max", cores)];
    for (file, limit, threads) in limits {
        let run = place.shell(&format!(
            "unshare -m true || exit 77; exec unshare -m sh -c 'g=/sys/fs/cgroup; mount -t tmpfs none $g &&
            mkdir -p $g/a/b && touch $g/a/b/cgroup.controllers && echo {limit} >$g/a/{file} && echo 0::/a/b >own &&
            mount --bind own /proc/$$/cgroup || exit 77; exec hybz -1vvc a'"
        ));
        if run.code == 77 {
            return skip(Need::System, "no file system can be mounted");
        }
        assert_eq!((run.code, stations(&run.stderr).min(cores)), (0, threads), "{file}: {limit}: {}", run.stderr);
    }
}

fn one_thread() {
    let run = Place::with(&[("a", &text(1_000_000))]).hybz(&["-1vvcp1", "--no-gpu", "a"]);
    assert_eq!((run.code, stations(&run.stderr)), (0, 1), "{}", run.stderr);
}

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
    // On one core there are 16 threads, whatever the machine, and each takes some of the 150 blocks.
    if installed("taskset") {
        place.put("b", &text(15_000_000));
        let run = place.shell("taskset -c $(taskset -cp $$ | grep -o '[0-9]*$') hybz -1vvc -p 1000000 b");
        assert_eq!((run.code, stations(&run.stderr)), (0, 16), "{}", run.stderr);
    }
}

fn single_streams() {
    let place = Place::with(&[("a.bz2", &compressed(&text(3_000_000)))]);
    let run = place.hybz(&["-tvvp2", "a.bz2"]);
    assert_eq!((run.code, stations(&run.stderr)), (0, 2), "{}", run.stderr);
}

fn the_bound() {
    let place = Place::with(&[("a", &text(300_000))]);
    let run = place.hybz(&["-1vvc", "a"]);
    assert!(run.stderr.contains("\n  blocks in flight: at most "), "{}", run.stderr);
    let run = place.hybz(&["-1vvcm3", "a"]);
    assert!(run.stderr.contains("\n  blocks in flight: at most 3.0 MiB\n"), "{}", run.stderr);
}

fn the_bytes_with_any_threads() {
    let place = Place::with(&[("a", &text(1_500_000))]);
    let plain = place.hybz(&["-1c", "a"]).silent(0).stdout;
    for threads in ["-p1", "-p2", "-p3", "-p7", "-p16"] {
        assert!(place.hybz(&["-1c", threads, "a"]).silent(0).stdout == plain, "{threads}");
    }
}

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

fn lists() {
    let place = Place::with(&[("a", &text(250_000)), ("c", b"")]);
    place.shell("(hybz -c1 a; hybz -c5 a; hybz -c3 a) > three.bz2; hybz --block-size 2M a").silent(0);
    place.shell("hybz --block-size 1M c; hybz -c5 < /dev/null > empty.bz2").silent(0);
    let list = place.hybz(&["-l", "three.bz2", "a.hbz", "c.hbz", "empty.bz2"]).silent(0).out();
    let words: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["streams", "blocks", "level", "compressed", "uncompressed", "ratio", "name"]);
    // The level shown is the highest level of the streams.
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

fn lists_of_blocks() {
    let place = Place::with(&[("a.bz2", &compressed(&text(250_000))), ("b", &text(1_500_000))]);
    place.hybz(&["--block-size", "1M", "b"]).silent(0);
    for (name, blocks) in [("a.bz2", 3), ("b.hbz", 2)] {
        let list = place.hybz(&["-lv", name]).silent(0).out();
        assert_eq!(list.lines().filter(|line| line.ends_with(" ok")).count(), blocks, "{list}");
    }
}

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

fn lists_of_damaged_blocks() {
    let place = Place::with(&[("a.bz2", &compressed(&text(450_000)))]);
    let good = place.hybz(&["-lv", "--json", "a.bz2"]).silent(0);
    let good = &objects(&good.stdout)[0]["block_list"];
    let mut coded = place.get("a.bz2");
    let [second, third] = [1, 2].map(|row| good[row]["bit_offset"].as_u64().expect("an offset") as usize / 8);
    coded[(second + third) / 2] ^= 1;
    place.put("bad.bz2", &coded);
    let [plain, table, json] = [&["-l"][..], &["-lv"], &["-lv", "--json"]].map(|flags| {
        let run = place.hybz(&[flags, &["bad.bz2"]].concat());
        run.says(2, "hybz: bad.bz2: data integrity (CRC) error in data: block 2, at bit ")
    });
    assert!(!plain.out().contains("bad.bz2") && table.out().contains(" -  bad.bz2\n"), "{plain:?} {table:?}");
    let rows: Vec<String> = table.out().lines().skip(3).map(str::to_owned).collect();
    assert!(rows.len() == 1 && rows[0].len() <= 80 && rows[0].ends_with(" ok"), "{rows:?}");
    let object = &objects(&json.stdout)[0];
    assert!(object["exit"] == 2 && object.get("blocks").is_none(), "{object}");
    assert_eq!(object["block_list"].as_array().expect("a list")[..], good.as_array().expect("a list")[..1]);
}
