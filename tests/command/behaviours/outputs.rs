//! How results are made, what they inherit, when sources are removed, and what signals leave.

use super::rows;
use crate::faults::with_fault;
use crate::place::{Place, as_nobody, compressed, decompressed, each_as_bzip2, installed, noise, root, text};
use crate::skip::{Need, skip};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

rows! {
    "an output that exists" | "rc 1, no question" | "the same" => existing_outputs;
    "`-o` to a FIFO or a character device" | "no such thing" | "written to, without `-f`; not with `--rm`"
        => outputs_that_are_streams;
    "`-o /dev/stdout`" | "no such thing" | "as `-c`; `-f` does not replace the link" => dev_stdout;
    "an output that appears meanwhile" | "rc 1" | "the same, tested when the result gets its name"
        => outputs_that_appear;
    "`-f` over an output" | "removes it first, and then may have nothing"
        | "the old file lives until the new is complete"
        => force_replaces_at_the_end;
    "a symbolic link as output" | "rc 1, also with `-f` if it dangles" | "rc 1; `-f` replaces the link, not its target"
        => links_as_outputs;
    "an unfinished result" | "has its name, mode 0600" | "has no name" => unfinished_results;
    "mode of the result" | "that of the source" | "the same, without set-uid, set-gid and sticky bits" => modes;
    "another user's file" | "a set-uid source gives the caller a set-uid file"
        | "no user may do more with the result than with the source" => files_of_others;
    "mode after trailing garbage" | "0600" | "that of the source" => modes_after_garbage;
    "times of the result" | "those of the source, in whole seconds" | "those of the source, in nanoseconds" => times;
    "zeros in decompressed files" | "written" | "runs of 4 KiB and more are holes in regular files; not with \
     `--no-sparse`, nor in stdout" => zeros;
    "the disk, before a source is removed" | "not waited for" | "waited for, data and name; not with `--no-sync`"
        => syncs;
    "a source that cannot be removed" | "rc 1, both stay" | "the same" => sources_that_stay;
    "a directory that may not be written" | "rc 1" | "the same, in one line" => unwritable_directories;
    "a full disk, F2F" | "rc 1, no result, source kept" | "the same" => full_disks;
    "SIGINT" | "rc 1, the partial result removed" | "killed by it, so that shell loops stop; nothing is left" => sigint;
    "SIGTERM, SIGHUP" | "rc 1, the partial result removed" | "killed by them; nothing is left" => sigterm_and_sighup;
    "SIGXFSZ (`ulimit -f`)" | "a partial result is left" | "killed by it; nothing is left" => sigxfsz;
    "SIGKILL, SIGQUIT" | "a partial result is left" | "nothing is left, on file systems with nameless files; with `-f` \
     over an old file, SIGKILL between `linkat` and `rename` leaves it and the complete new one as `.NAME.hybz-tmp`, \
     which the next call on that name removes" => sigkill;
}

fn existing_outputs() {
    each_as_bzip2(&["a", "-q a", "-kv a", "-d b.bz2"], |place| {
        place.put("a", b"hello\n");
        place.put("a.bz2", b"old");
        place.put("b", b"old");
        place.put("b.bz2", &compressed(b"hello\n"));
    });
    let place = Place::with(&[("b", b"hello\n"), ("c", b"hello\n"), ("d", b"hello\n")]);
    place.shell("mkdir b.bz2; ln c c.bz2; mkfifo d.bz2").silent(0);
    place.hybz(&["b"]).says(1, "hybz: Output file b.bz2 already exists.");
    place.hybz(&["-f", "b"]).says(1, "hybz: Can't create output file b.bz2: Is a directory.");
    place.hybz(&["-f", "c"]).says(1, "hybz: Output file c.bz2 is the input file.");
    // A FIFO in the result's place has no reader that could be waited for.
    place.hybz(&["d"]).says(1, "hybz: Output file d.bz2 already exists.");
    assert_eq!(place.names(), ["b", "b.bz2", "c", "c.bz2", "d", "d.bz2"]);
    place.hybz(&["-f", "d"]).silent(0);
    assert_eq!(decompressed(&place.get("d.bz2")), b"hello\n");
}

fn outputs_that_are_streams() {
    let place = Place::with(&[("a", &text(30_000)), ("a.bz2", &compressed(&text(30_000)))]);
    place.shell("mkfifo fifo; ln -s fifo link; hybz --plan 100k a > plan").silent(0);
    let into = |line: &str| place.shell(&format!("timeout 20 cat fifo & timeout 20 {line}; c=$?; wait; exit $c"));
    for line in ["hybz -d -o fifo a.bz2", "hybz -d -o link < a.bz2", "hybz --recover -q -o fifo a.bz2"] {
        assert!(into(line).silent(0).stdout == text(30_000), "{line}");
    }
    assert_eq!(decompressed(&into("hybz -o fifo a").silent(0).stdout), text(30_000));
    assert_eq!(into("hybz --plan 100k -o fifo a").silent(0).stdout, place.get("plan"));
    for line in ["hybz -o /dev/null a", "hybz -d -o /dev/null a.bz2", "hybz -d --ranges 5@1 a.bz2 -o /dev/null"] {
        place.shell(line).silent(0);
    }
    let rm = "is not a normal file: nothing of the input file would be left after --rm.\n";
    place.hybz(&["--rm", "-o", "/dev/null", "a"]).says(1, &format!("hybz: Output file /dev/null {rm}"));
    assert_eq!(place.names(), ["a", "a.bz2", "fifo", "link", "plan"]);
    place.shell("test -p fifo && test -L link && test -c /dev/null").silent(0);
}

fn dev_stdout() {
    let place = Place::with(&[("a", b"hello\n"), ("a.bz2", &compressed(b"hello\n"))]);
    for line in ["hybz -d -o /dev/stdout a.bz2 > x", "hybz -d -f -o /dev/stdout < a.bz2 > x"] {
        place.shell(line).silent(0);
        assert_eq!(place.get("x"), b"hello\n", "{line}");
        place.shell("test -L /dev/stdout").silent(0);
    }
}

fn outputs_that_appear() {
    let place = Place::new();
    let line = "(echo hello; sleep 0.3; echo mine > late.bz2; sleep 0.1) | hybz -o late.bz2";
    place.shell(line).says(1, "hybz: Output file late.bz2 already exists. -f overwrites it.\n");
    assert_eq!(place.get("late.bz2"), b"mine\n");
}

fn force_replaces_at_the_end() {
    let broken = &compressed(&text(300_000))[..20_000];
    let place = Place::with(&[("a.bz2", broken), ("a", b"old")]);
    place.hybz(&["-df", "a.bz2"]).says(2, "Compressed file ends unexpectedly");
    place.hybz(&["-df", "missing.bz2"]).says(1, "Can't open");
    assert_eq!((place.get("a"), place.names()), (b"old".to_vec(), vec!["a".to_owned(), "a.bz2".to_owned()]));
    place.put("a.bz2", &compressed(b"new"));
    place.hybz(&["-df", "a.bz2"]).silent(0);
    assert_eq!((place.get("a"), place.names()), (b"new".to_vec(), vec!["a".to_owned()]));
}

fn links_as_outputs() {
    for target in ["nowhere", "target"] {
        let place = Place::with(&[("a", b"hello\n"), ("target", b"mine")]);
        symlink(target, place.path("a.bz2")).expect("a link");
        place.hybz(&["a"]).says(1, "hybz: Output file a.bz2 already exists. -f overwrites it.\n");
        place.hybz(&["-f", "a"]).silent(0);
        assert_eq!((decompressed(&place.get("a.bz2")), place.get("target")), (b"hello\n".to_vec(), b"mine".to_vec()));
        assert_eq!(place.names(), ["a.bz2", "target"]);
    }
}

fn unfinished_results() {
    let place = Place::new();
    let line = "mkfifo in; hybz -o x.bz2 < in & exec 3> in; head -c 3000000 /dev/urandom >&3; sleep 0.2; ls -A; \
                exec 3>&-; wait";
    assert_eq!(place.shell(line).silent(0).out(), "in\n");
    assert_eq!(place.names(), ["in", "x.bz2"]);
}

fn modes() {
    for (mode, kept) in [(0o600, 0o600), (0o644, 0o644), (0o751, 0o751), (0o400, 0o400), (0o7755, 0o755)] {
        let place = Place::with(&[("a", b"hello\n")]);
        place.set_mode("a", mode);
        place.hybz(&["a"]).silent(0);
        assert_eq!(place.mode("a.bz2"), kept, "{mode:o}");
        place.hybz(&["-d", "a.bz2"]).silent(0);
        assert_eq!(place.mode("a"), kept, "{mode:o}");
    }
}

fn files_of_others() {
    if !root() {
        return skip(Need::System, "not root");
    }
    for (mode, expected) in [(0o6755, 0o755), (0o664, 0o644), (0o646, 0o644), (0o604, 0o600), (0o640, 0)] {
        let place = Place::with(&[("a", b"hello\n")]);
        place.shell("chown 4321:4321 a").silent(0);
        place.set_mode("a", mode);
        let Some(run) = as_nobody(&place, "hybz -k a") else { return };
        if expected == 0 {
            run.says(1, "Permission denied");
            continue;
        }
        run.silent(0);
        let found = fs::metadata(place.path("a.bz2")).expect("a.bz2");
        assert_eq!((found.mode() & 0o7777, found.uid()), (expected, 1234), "from {mode:o}");
    }
}

fn modes_after_garbage() {
    let place = Place::with(&[("a.bz2", &[&compressed(b"hello\n")[..], b"garbage"].concat())]);
    place.set_mode("a.bz2", 0o640);
    place.hybz(&["-d", "a.bz2"]).says(0, "trailing garbage");
    assert_eq!(place.mode("a"), 0o640);
}

fn times() {
    let place = Place::with(&[("a", b"hello\n")]);
    let [accessed, modified] = [(1_000_000_001, 123_456_789), (1_111_111_111, 987_654_321)]
        .map(|(seconds, nanos)| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos));
    let times = FileTimes::new().set_accessed(accessed).set_modified(modified);
    File::options().write(true).open(place.path("a")).expect("a").set_times(times).expect("times");
    for (source, result) in [("a", "a.bz2"), ("a.bz2", "a")] {
        place.hybz(&[if result == "a" { "-d" } else { "-z" }, source]).silent(0);
        let found = fs::metadata(place.path(result)).expect("a result");
        assert_eq!((found.accessed().ok(), found.modified().ok()), (Some(accessed), Some(modified)));
    }
}

fn zeros() {
    let whole = [text(10_000), vec![0; 1 << 20], text(10_000), vec![0; 1 << 20]].concat();
    let place = Place::with(&[("a.bz2", &compressed(&whole))]);
    let blocks = |name: &str| fs::metadata(place.path(name)).expect("metadata").blocks();
    place.shell("truncate -s 1M hole; hybz -dk a.bz2; hybz -dc a.bz2 >b; hybz -d --no-sparse -o c a.bz2").silent(0);
    assert!(["a", "b", "c"].iter().all(|name| place.get(name) == whole));
    if blocks("hole") > 1000 {
        return skip(Need::System, "a file system without holes");
    }
    let [a, b, c] = ["a", "b", "c"].map(blocks);
    assert!(a < 200 && b > 4000 && c > 4000, "{a} {b} {c} blocks");
}

/// xz -k, zstd --no-sync: if the source is kept, the disk need not be waited for.
fn syncs() {
    if !installed("strace") {
        return;
    }
    for (args, prepare, expected) in [
        ("a", "", "fdatasync linkat fsync unlinkat"),
        ("-k a", "", "linkat"),
        ("--no-sync a", "", "linkat unlinkat"),
        ("-kf a", "touch a.bz2;", "fdatasync linkat renameat fsync"),
        ("a b", "", ""),
    ] {
        let place = Place::with(&[("a", b"hello\n"), ("b", b"hello\n")]);
        let trace = "strace -f -o trace -e trace=fdatasync,fsync,unlink,unlinkat,linkat,renameat,renameat2,rename";
        place.shell(&format!("{prepare} {trace} hybz {args}")).silent(0);
        let trace = String::from_utf8(place.get("trace")).expect("text");
        let calls = trace.lines().filter_map(|line| Some(line.split_once(' ')?.1.trim().split_once('(')?.0));
        let calls: Vec<&str> = calls.filter(|call| !call.contains("+++")).collect();
        if args == "a b" {
            let first = |name: &str| calls.iter().position(|call| *call == name);
            assert_eq!(calls.iter().filter(|call| **call == "fdatasync").count(), 2);
            assert!(first("unlinkat") > first("fsync"), "{calls:?}");
        } else {
            assert_eq!(calls.join(" "), expected, "{args}");
        }
    }
}

/// The result is complete, but the disk may not have its name yet, or the source cannot go: both stay.
fn sources_that_stay() {
    for (fault, says) in [("fsync", "sync the directory of output file a.bz2"), ("unlink", "remove input file a")] {
        let place = Place::with(&[("a", b"hello\n")]);
        let Some(run) = with_fault(&place, fault, &["a"]) else { return };
        assert_eq!((run.code, run.stderr), (1, format!("hybz: Can't {says}: Input/output error.\n")));
        assert_eq!(
            (place.names(), decompressed(&place.get("a.bz2"))),
            (vec!["a".into(), "a.bz2".into()], b"hello\n".into())
        );
    }
}

fn unwritable_directories() {
    let place = Place::with(&[("b", b"hello\n")]);
    fs::create_dir(place.path("dir")).expect("a directory");
    place.put("dir/a", b"hello\n");
    place.set_mode("dir", 0o555);
    let run = as_nobody(&place, "hybz -k dir/a b");
    place.set_mode("dir", 0o755);
    let Some(run) = run else { return };
    assert_eq!((run.code, run.stderr.as_str()), (1, "hybz: Can't create output file dir/a.bz2: Permission denied.\n"));
    assert_eq!(place.names(), ["b", "b.bz2", "dir"]);
    // A directory that may be written but not listed is fine.
    place.set_mode("dir", 0o300);
    place.hybz(&["dir/a"]).silent(0);
    place.set_mode("dir", 0o755);
    assert!(place.has("dir/a.bz2"));
    place
        .hybz(&["-o", "no/such/dir/x", "dir/a.bz2", "-d"])
        .says(1, "hybz: Can't create output file no/such/dir/x: No such");
}

fn full_disks() {
    let place = Place::with(&[("a", &noise(600_000)), ("b", b"hello\n")]);
    fs::create_dir(place.path("disk")).expect("a directory");
    if place.shell("mount -t tmpfs -o size=1m none disk").code != 0 {
        return skip(Need::System, "mounting is not allowed");
    }
    let run = place.shell("cp a b disk && cd disk && hybz -1 a b");
    let left = place.shell("ls -A disk; umount disk").out();
    run.says(1, "hybz: Can't write output file a.bz2: No space left on device.\n");
    assert_eq!(left, "a\nb.bz2\n", "the other file is done, and nothing half");
}

/// hybz is killed by `signal` in the middle of its work, and leaves nothing.
fn ends_by(signal: Signal) {
    let place = Place::new();
    // The process that runs the tests may ignore signals.
    let mut command = place.command("env");
    command.arg("--default-signal=INT,QUIT,HUP,TERM").arg(place.called("hybz").get_program());
    command.args(["-1", "-o", "x.bz2"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("hybz");
    let mut stdin = child.stdin.take().expect("its stdin");
    stdin.write_all(&noise(600_000)).expect("hybz reads");
    sleep(Duration::from_millis(100));
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("it runs");
    let run = crate::place::Run::from(child.wait_with_output().expect("hybz"));
    assert_eq!((run.code, run.stderr.as_str()), (128 + signal.as_raw(), ""), "{signal:?}");
    assert_eq!(place.names(), [""; 0], "{signal:?}");
}

fn sigint() {
    ends_by(Signal::INT);
}

fn sigterm_and_sighup() {
    ends_by(Signal::TERM);
    ends_by(Signal::HUP);
}

fn sigxfsz() {
    let place = Place::with(&[("a", &noise(900_000))]);
    assert_eq!(place.shell("ulimit -c 0; ulimit -f 8; hybz -1 a; echo $?").out(), "153\n");
    place.shell("trap '' XFSZ; ulimit -f 8; hybz -1 a").says(1, "hybz: Can't write output file a.bz2: File too large.");
    assert_eq!(place.names(), ["a"]);
}

fn sigkill() {
    ends_by(Signal::KILL);
    ends_by(Signal::QUIT);
    let bytes = text(150_000);
    for later in ["hybz -1kf a", "rm a.bz2; hybz -1k a", "hybz -1kq a"] {
        let place = Place::with(&[("a", &bytes), ("a.bz2", b"old")]);
        let Some(run) = with_fault(&place, "killrename", &["-1f", "a"]) else { return };
        assert_eq!(run.code, 128 + Signal::KILL.as_raw(), "{run:?}");
        assert_eq!(place.names(), [".a.bz2.hybz-tmp", "a", "a.bz2"]);
        assert!(place.get(".a.bz2.hybz-tmp") == compressed(&bytes) && place.get("a.bz2") == b"old");
        let refused = later.ends_with("-1kq a");
        assert_eq!(place.shell(later).code, i32::from(refused), "{later}");
        assert_eq!(place.names(), ["a", "a.bz2"], "{later}");
        assert!(place.get("a.bz2") == if refused { b"old".to_vec() } else { compressed(&bytes) }, "{later}");
    }
}
