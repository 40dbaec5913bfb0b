//! Causes that end hysort early: signals, full disks, limits. The old file and all inputs are unchanged, and no other
//! file is left.

use crate::place::{Place, numbers};
use crate::skip::{Need, skip};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

/// Without keys, and with keys that leave the lines of [`numbers`] in the same order.
const KEYS: [&str; 3] = ["", "-k1,1", "-s -k1,1 -k2n"];

/// `kill -9` at any time: the file is the old one or the new one, even if it is the input.
#[test]
fn kill_at_any_time() {
    for keys in KEYS {
        let text = numbers(300_000);
        let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
        lines.sort();
        let sorted = lines.concat();
        let place = Place::with(&[("a", &text), ("old", b"the old file\n")]);
        std::fs::create_dir(place.path("tmp")).unwrap();
        let script = |input: &str| format!("exec $SORT {keys} -S 1M -T tmp -o old {input}");
        let scripts = [("a", &*script("a")), ("old", &script("old"))];
        let started = Instant::now();
        place.shell(scripts[0].1).silent(0);
        let whole = started.elapsed();
        assert!(place.get("old") == sorted);
        let (mut killed, mut late) = (0, 0);
        for step in 0..20u32 {
            let (input, script) = scripts[step as usize % 2];
            let before = if input == "old" { &text[..] } else { b"the old file\n" };
            std::fs::write(place.path("old"), before).unwrap();
            let mut child = place.command(crate::place::hysort(), script).stdin(Stdio::null()).spawn().unwrap();
            sleep(whole * (step * 37 % 100) / 90);
            child.kill().unwrap();
            let done = child.wait().unwrap().success();
            if done {
                late += 1
            } else {
                killed += 1
            }
            let old = place.get("old");
            assert!(old == before || old == sorted, "{step}");
            assert!(!done || old == sorted, "{step}");
            assert!(place.get("a") == text);
            let mut names = place.names();
            // Between linkat and rename the file has a second name: the next call removes it.
            names.retain(|name| name != ".old.hybz-tmp");
            assert_eq!(names, ["a", "old", "tmp"]);
            assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0);
        }
        assert!(killed > 0, "{killed} were killed and {late} were not");
        place.shell(scripts[0].1).silent(0);
        assert_eq!(place.names(), ["a", "old", "tmp"]);
    }
}

/// `kill -9` between `linkat` and `rename` leaves the old file and the complete result under a hidden name. Any later
/// call for the same output removes the hidden file.
#[test]
fn leftovers() {
    let place = Place::with(&[("a", b"b\na\n")]);
    if !place.has_faults() {
        return;
    }
    for (script, old) in [
        ("$SORT -o old a", &b"a\nb\n"[..]),
        ("rm old; $SORT -o old a", b"a\nb\n"),
        ("$SORT -m -o old a", b"b\na\n"),
        ("$SORT -o old no-such-file", b"the old file\n"),
        ("cd / && $SORT -o $OLDPWD/old $OLDPWD/a", b"a\nb\n"),
    ] {
        std::fs::write(place.path("old"), b"the old file\n").unwrap();
        let killed = place.shell("LD_PRELOAD=$PWD/faults.so FAULT=killrename exec $SORT -o old a");
        assert_eq!((killed.code, place.get("old")), (137, b"the old file\n".to_vec()));
        assert_eq!(place.names(), [".old.hybz-tmp", "a", "faults.so", "old"], "{script}");
        assert_eq!(place.get(".old.hybz-tmp"), b"a\nb\n", "the complete result");
        let run = place.shell(script);
        let fails = script.contains("no-such");
        assert_eq!((run.code, place.get("old")), (if fails { 2 } else { 0 }, old.to_vec()), "{script}");
        let left = place.names().contains(&".old.hybz-tmp".to_owned());
        assert_eq!(left, fails, "{script}");
        // Unreadable inputs are found before the output is checked.
        place.shell("$SORT -o old a").silent(0);
        assert_eq!(place.names(), ["a", "faults.so", "old"]);
    }
}

/// A signal ends hysort as it ends sort, and the old file stays.
#[test]
fn signals() {
    for keys in KEYS {
        let place = Place::with(&[("old", b"the old file\n")]);
        for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("KILL", 9)] {
            // A shell's background jobs ignore INT, and so may the process that runs the tests.
            let script = format!(
                "coproc exec env --default-signal=INT,HUP,PIPE $SORT {keys} -o old; sleep 0.5; \
                 kill -{name} $COPROC_PID; wait $COPROC_PID; exit $?"
            );
            let run = place.shell(&script);
            assert_eq!(run.code, 128 + number, "{name}: {}", run.stderr);
            assert_eq!((place.names(), place.get("old")), (vec!["old".to_owned()], b"the old file\n".to_vec()));
        }
    }
}

/// The output of `-v`.
#[test]
fn what_is_told() {
    let place = Place::with(&[("a", b"b\na\nc\n")]);
    let run = place.shell("$SORT -v --parallel=2 a -o b");
    let lines: Vec<&str> = run.stderr.lines().collect();
    let first = "hysort: 3 lines, 6 bytes read, 6 written, 0 in temporary files, 1 ranges, ";
    assert!(run.code == 0 && lines[0].starts_with(first) && lines[1].starts_with("  cpu 0: "), "{}", run.stderr);
}

/// A disk that becomes full: that of the result, and that of `-T`.
#[test]
fn full_disks() {
    for keys in KEYS {
        let text = numbers(300_000);
        let place = Place::with(&[("a", &text)]);
        let mounted = place.shell("mkdir disk && mount -t tmpfs -o size=2M none disk && printf 'b\\na\\n' >disk/old");
        if mounted.code != 0 {
            return skip(Need::System, "no file system can be mounted");
        }
        let result = place.shell(&format!("$SORT {keys} -o disk/old a"));
        let onto = place.shell(&format!("$SORT {keys} -o disk/new a"));
        let spilled = place.shell(&format!("$SORT {keys} -S 1M -T disk a | wc -c"));
        let left = place.shell("ls -A disk; cat disk/old; umount disk");
        assert_eq!(left.stdout, b"old\nb\na\n");
        assert_eq!((result.code, &*result.stderr), (2, "hysort: write failed: disk/old: No space left on device\n"));
        assert_eq!((onto.code, &*onto.stderr), (2, "hysort: write failed: disk/new: No space left on device\n"));
        assert_eq!(&*spilled.stderr, "hysort: write failed: temporary file in disk: No space left on device\n");
        assert_eq!(spilled.stdout, b"0\n");
        assert!(place.get("a") == text);
    }
}

/// Bytes of a temporary file change while it is there: none of its lines is written, and the old file stays.
#[test]
fn damaged_temporary_files() {
    let damage = r#"mkfifo in; mkdir tmp; $SORT KEYS -S 2M --parallel=2 -T tmp -o old in & pid=$!; exec 7>in; cat a >&7
        for try in $(seq 300); do
            for file in /proc/$pid/fd/*; do
                case $(readlink $file) in
                */tmp/*deleted*) if [ $(stat -Lc %s $file) -gt 1000000 ]; then break 2; fi ;;
                esac
            done
            sleep 0.1
        done
        printf QQQ | dd of=$file bs=1 seek=50000 conv=notrunc status=none; exec 7>&-; wait $pid"#;
    for keys in KEYS {
        let place = Place::with(&[("a", &numbers(1_000_000)), ("old", b"the old file\n")]);
        let run = place.shell(&damage.replace("KEYS", keys));
        let is_noticed =
            run.stderr.contains("lines are not as they were written") || run.stderr.contains("other lines");
        assert!(run.code == 2 && is_noticed, "{keys}: {run:?}");
        assert_eq!(place.get("old"), b"the old file\n");
        assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0);
    }
}
