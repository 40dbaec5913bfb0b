//! stdin, stdout, terminals and pipes, and the programs that call bzip2.

use super::rows;
use crate::place::{Place, compressed, decompressed, installed, installed_for_part, same_as_bzip2, text};
use crate::stdouts;

rows! {
    "compressed data to a terminal" | "refused, rc 1, also with `-f`" | "the same" => nothing_compressed_to_terminals;
    "compressed data from a terminal" | "refused, rc 1" | "the same, also for `-l`"
        => nothing_compressed_from_terminals;
    "text to a terminal" | "written" | "the same" => text_to_terminals;
    "no operands" | "a filter" | "the same" => filters;
    "a closed stdin" | "an empty stream, then rc 1" | "rc 1, and no output" => closed_stdin;
    "the reader of stdout goes away" | "killed by SIGPIPE, in silence" | "the same" => readers_that_leave;
    "the same with SIGPIPE ignored" | "rc 1" | "the same, in silence" => readers_that_leave_unnoticed;
    "a closed stdout, in every mode that writes there" | "rc 1" | "the same" => closed_stdouts;
    "a full stdout, in every mode" | "rc 1" | "the same" => full_stdouts;
    "a stdout whose reader has gone, in every mode" | "killed by SIGPIPE, in silence" | "the same; rc 1 where it is \
     ignored" => stdouts_without_readers;
    "`--json` to such a stdout" | "no such thing"
        | "rc 1; the work is done" => reports_to_stdouts;
    "several files with `-c`" | "one stream after the other" | "the same" => several_files;
    "an empty input, compressed" | "14 bytes, with the level's digit" | "the same" => empty_inputs;
    "`tar -I`, `tar j`" | "work" | "the same" => tar;
    "`bzgrep`, `bzdiff` and others that call `bzip2 -cdfq`" | "work" | "the same" => scripts;
    "a pipe that stays open after a whole stream" | "all of its text comes out" | "the same" => open_pipes;
    "slow and non-blocking pipes" | "EAGAIN is an error" | "waited for" => slow_pipes;
    "names with control characters, on a terminal" | "written as they are" | "quoted as `ls` quotes them"
        => names_on_terminals;
}

/// The output of a command line on a terminal, with its exit code in the last line.
fn on_terminal(place: &Place, line: &str) -> Option<String> {
    installed("script").then(|| place.shell(&format!("script -qec \"{line}\" /dev/null < /dev/null; echo $?")).out())
}

fn hello() -> Place {
    Place::with(&[("a", b"hello\n"), ("a.bz2", &compressed(b"hello\n"))])
}

#[test]
fn nothing_compressed_to_terminals() {
    for line in ["hybz -c a", "hybz -cf a", "hybz < a"] {
        let Some(out) = on_terminal(&hello(), line) else { return };
        let text = "hybz: I won't write compressed data to a terminal.\r\nhybz: For help, type: `hybz --help'.\r\n1\n";
        assert_eq!(out, text, "{line}");
    }
}

#[test]
fn nothing_compressed_from_terminals() {
    for line in ["hybz -d", "hybz -t", "hybz -df -", "hybz -l"] {
        let Some(out) = on_terminal(&hello(), line) else { return };
        let text = "hybz: I won't read compressed data from a terminal.\r\nhybz: For help, type: `hybz --help'.\r\n";
        assert!(out.contains(text) && out.ends_with("1\n"), "{line}: {out}");
    }
}

#[test]
fn text_to_terminals() {
    let Some(out) = on_terminal(&hello(), "hybz -dc a.bz2") else { return };
    assert_eq!(out, "hello\r\n0\n");
}

#[test]
fn filters() {
    let (plain, packed) = (text(250_000), compressed(&text(250_000)));
    for (args, input) in [(&[][..], &plain), (&["-1v"], &plain), (&["-d"], &packed), (&["-tv"], &packed)] {
        same_as_bzip2("bzip2", args, input, |_| {});
    }
}

#[test]
fn closed_stdin() {
    for line in ["hybz <&-", "hybz -d <&-", "hybz -l <&-"] {
        let run = hello().shell(line).says(1, "hybz: Can't read input file (stdin): Bad file descriptor.\n");
        assert!(!run.out().contains("BZh"));
    }
}

fn reader_leaves(before: &str, code: i32) {
    let place = Place::with(&[("a", &text(3_000_000)), ("a.bz2", &compressed(&text(3_000_000)))]);
    for line in ["hybz -c1 a", "hybz -d < a.bz2"] {
        let run = place.shell(&format!("{before} {line} | head -c 5 > /dev/null; exit ${{PIPESTATUS[0]}}"));
        assert_eq!((run.code, run.stderr.as_str()), (code, ""), "{line}");
    }
}

#[test]
fn readers_that_leave() {
    reader_leaves("", 141);
}

#[test]
fn readers_that_leave_unnoticed() {
    reader_leaves("trap '' PIPE;", 1);
}

#[test]
fn closed_stdouts() {
    stdouts::closed();
}

#[test]
fn full_stdouts() {
    stdouts::full();
}

#[test]
fn stdouts_without_readers() {
    stdouts::closed_readers();
}

#[test]
fn reports_to_stdouts() {
    stdouts::failed_reports_do_not_stop_the_work();
}

#[test]
fn several_files() {
    let prepare = |place: &Place| {
        place.put("a", &text(120_000));
        place.put("b", b"hello\n");
    };
    same_as_bzip2("bzip2", &["-c", "b", "a", "b"], b"", prepare);
    let place = Place::new();
    prepare(&place);
    let run = place.hybz(&["-c", "b", "a"]).silent(0);
    assert_eq!(decompressed(&run.stdout), [b"hello\n", &text(120_000)[..]].concat());
}

#[test]
fn empty_inputs() {
    for (flag, digit) in [("-1", b'1'), ("-9", b'9')] {
        same_as_bzip2("bzip2", &[flag], b"", |_| {});
        let out = hello().hybz_with_input(&[flag], b"").silent(0).stdout;
        assert_eq!(out, [b"BZh", &[digit][..], b"\x17\x72\x45\x38\x50\x90\0\0\0\0"].concat());
    }
}

#[test]
fn tar() {
    if !installed("tar") {
        return;
    }
    for (pack, unpack) in
        [("tar -I hybz -cf t x", "tar -I hybz -xf t -C y"), ("tar -I 'hybz -1' -cf t x", "tar xjf t -C y")]
    {
        let place = Place::new();
        place.called("bzip2");
        place.shell(&format!("mkdir x y; echo hello > x/a; {pack} && {unpack} && diff -r x y/x")).silent(0);
        place.shell("tar cjf t x && bzip2 -t t").silent(0);
    }
}

#[test]
fn scripts() {
    let place = hello();
    ["bzip2", "bunzip2", "bzcat"].iter().for_each(|name| drop(place.called(name)));
    assert_eq!(place.shell("bzip2 -cdfq -- a; bzip2 -cdfq -- a.bz2").silent(0).out(), "hello\nhello\n");
    if installed_for_part("bzgrep") {
        assert_eq!(place.shell("bzgrep -c hello a a.bz2").silent(0).out(), "a:1\na.bz2:1\n");
    }
    if installed_for_part("bzdiff") {
        place.shell("bzdiff a.bz2 a.bz2").silent(0);
    }
}

#[test]
fn open_pipes() {
    let place = hello();
    let run = place.shell("(cat a.bz2; sleep 5) | timeout 20 hybz -d | (read -r line; echo $line; kill 0)");
    assert_eq!(run.out(), "hello\n");
}

#[test]
fn slow_pipes() {
    if !installed("python3") {
        return;
    }
    let script = "
import os, subprocess, time, bz2
r, w = os.pipe()
os.set_blocking(r, False)
p = subprocess.Popen(['hybz'], stdin=r, stdout=subprocess.PIPE)
for n in range(4):
    time.sleep(0.05); os.write(w, b'word ')
os.close(w)
assert bz2.decompress(p.stdout.read()) == b'word ' * 4 and p.wait() == 0
";
    let place = Place::with(&[("slow.py", script.as_bytes())]);
    place.shell("python3 slow.py").silent(0);
}

#[test]
fn names_on_terminals() {
    let place = Place::with(&[("\x1b[31mred.bz2", b"x"), ("it's plain.bz2", b"x")]);
    let Some(out) = on_terminal(&place, "hybz *red.bz2") else { return };
    assert_eq!(out, "hybz: Input file ''$'\\033''[31mred.bz2' already has .bz2 suffix.\r\n1\n");
    let out = on_terminal(&place, "hybz it*").unwrap_or_default();
    assert_eq!(out, "hybz: Input file it's plain.bz2 already has .bz2 suffix.\r\n1\n");
    place.shell("hybz *red.bz2").says(1, "hybz: Input file \x1b[31mred.bz2 already");
}
