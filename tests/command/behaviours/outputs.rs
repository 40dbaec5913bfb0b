//! How results are made, what they inherit, when sources are removed, and what signals leave.

use super::rows;
use crate::holes::long_runs_of_zeros;
use crate::place::{Place, compressed, decompressed, each_as_bzip2, installed, text};

rows! {
    "an output that exists" | "rc 1, no question" | "the same" => existing_outputs;
    "`-o` to a FIFO or a character device" | "no such thing" | "written to, without `-f`; not with `--rm`"
        => outputs_that_are_streams;
    "`-o /dev/stdout`" | "no such thing" | "as `-c`; `-f` does not replace the link" => dev_stdout;
    "an output that appears meanwhile" | "rc 1" | "the same, tested when the result gets its name"
        => outputs_that_appear;
    "`-f` over an output" | "removes it first, and then may have nothing"
        | "the old file lives until the new is complete"
        => "files"/"force-over-cut";
    "a symbolic link as output" | "rc 1, also with `-f` if it dangles" | "rc 1; `-f` replaces the link, not its target"
        => "files"/"output-is-symlink-force";
    "an unfinished result" | "has its name, mode 0600" | "has no name" => "files"/"hidden-until-complete";
    "mode of the result" | "that of the source" | "the same, without set-uid, set-gid and sticky bits"
        => "files"/"mode-$M";
    "another user's file" | "a set-uid source gives the caller a set-uid file"
        | "no user may do more with the result than with the source" => "files"/"mode-of-others-$M";
    "mode after trailing garbage" | "0600" | "that of the source" => "files"/"mode-after-garbage";
    "times of the result" | "those of the source, in whole seconds" | "those of the source, in nanoseconds"
        => "files"/"times";
    "zeros in decompressed files" | "written" | "runs of 4 KiB and more are holes in regular files; not with \
     `--no-sparse`, nor in stdout" => long_runs_of_zeros;
    "the disk, before a source is removed" | "not waited for" | "waited for, data and name; not with `--no-sync`"
        => syncs;
    "a source that cannot be removed" | "rc 1, both stay" | "the same" => "calls"/"unlink-fails";
    "a directory that may not be written" | "rc 1" | "the same, in one line" => "files"/"read-only-directory-$FLAG";
    "a full disk, F2F" | "rc 1, no result, source kept" | "the same" => "systems"/"full-$FLAG";
    "SIGINT" | "rc 1, the partial result removed" | "killed by it, so that shell loops stop; nothing is left"
        => "signals"/"$SIGNAL-after-$T";
    "SIGTERM, SIGHUP" | "rc 1, the partial result removed" | "killed by them; nothing is left"
        => "signals"/"$SIGNAL-after-$T";
    "SIGXFSZ (`ulimit -f`)" | "a partial result is left" | "killed by it; nothing is left"
        => "limits"/"file-size-limit";
    "SIGKILL, SIGQUIT" | "a partial result is left" | "nothing is left, on file systems with nameless files; with `-f` \
     over an old file, SIGKILL between `linkat` and `rename` leaves it and the complete new one as `.NAME.hybz-tmp`, \
     which the next call on that name removes" => "calls"/"kill-before-rename-$THEN";
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
    // hybz does not wait for a reader of a FIFO that has the result's name.
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

/// Like xz -k and zstd --no-sync: if the source is kept, hybz need not wait for the disk.
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
