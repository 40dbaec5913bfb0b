//! stdin, stdout, terminals and pipes, and the programs that call bzip2.

use super::rows;
use crate::place::{Place, compressed, installed, installed_for_part, same_as_bzip2, text};
use crate::stdouts::{closed_stdouts, full_stdouts, reports_to_stdouts, stdouts_without_readers};

rows! {
    "compressed data to a terminal" | "refused, rc 1, also with `-f`" | "the same" => nothing_compressed_to_terminals;
    "compressed data from a terminal" | "refused, rc 1" | "the same, also for `-l`"
        => nothing_compressed_from_terminals;
    "text to a terminal" | "written" | "the same" => text_to_terminals;
    "no operands" | "a filter" | "the same" => filters;
    "a closed stdin" | "an empty stream, then rc 1" | "rc 1, and no output" => closed_stdin;
    "the reader of stdout goes away" | "killed by SIGPIPE, in silence" | "the same" => "pipes"/"reader-gone-$FLAG";
    "the same with SIGPIPE ignored" | "rc 1" | "the same, in silence" => "pipes"/"reader-gone-ignored";
    "a closed stdout, in every mode that writes there" | "rc 1" | "the same" => closed_stdouts;
    "a full stdout, in every mode" | "rc 1, but 0 after trailing garbage" | "rc 1" => full_stdouts;
    "a stdout whose reader has gone, in every mode" | "killed by SIGPIPE, in silence" | "the same; rc 1 where it is \
     ignored" => stdouts_without_readers;
    "`--json` to such a stdout" | "no such thing"
        | "rc 1; the work is done" => reports_to_stdouts;
    "several files with `-c`" | "one stream after the other" | "the same" => "pipes"/"several-on-stdout";
    "an empty input, compressed" | "14 bytes, with the level's digit" | "the same" => empty_inputs;
    "`tar -I`, `tar j`" | "work" | "the same" => tar;
    "`bzgrep`, `bzdiff` and others that call `bzip2 -cdfq`" | "work" | "the same" => scripts;
    "a pipe that stays open after a whole stream" | "all of its text comes out" | "the same" => open_pipes;
    "slow and non-blocking pipes" | "EAGAIN is an error" | "waited for" => "pipes"/"nonblocking-stdout";
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

fn nothing_compressed_to_terminals() {
    for line in ["hybz -c a", "hybz -cf a", "hybz", "hybz < a"] {
        let Some(out) = on_terminal(&hello(), line) else { return };
        let text = "hybz: I won't write compressed data to a terminal.\r\nhybz: For help, type: `hybz --help'.\r\n1\n";
        assert_eq!(out, text, "{line}");
    }
}

fn nothing_compressed_from_terminals() {
    for line in ["hybz -d", "hybz -t", "hybz -dc", "hybz -df -", "hybz -l"] {
        let Some(out) = on_terminal(&hello(), line) else { return };
        let text = "hybz: I won't read compressed data from a terminal.\r\nhybz: For help, type: `hybz --help'.\r\n";
        assert!(out.contains(text) && out.ends_with("1\n"), "{line}: {out}");
    }
}

fn text_to_terminals() {
    let Some(out) = on_terminal(&hello(), "hybz -dc a.bz2") else { return };
    assert_eq!(out, "hello\r\n0\n");
}

fn filters() {
    let (plain, packed) = (text(250_000), compressed(&text(250_000)));
    for args in [&[][..], &["-c"], &["-1"], &["-1v"], &["-v"], &["-"], &["-c", "-"]] {
        same_as_bzip2("bzip2", args, &plain, |_| {});
    }
    for args in [&["-d"][..], &["-dc"], &["-dv"], &["-t"], &["-tv"], &["-dc", "-"]] {
        same_as_bzip2("bzip2", args, &packed, |_| {});
    }
}

fn closed_stdin() {
    for line in ["hybz <&-", "hybz -d <&-", "hybz -l <&-"] {
        let run = hello().shell(line).says(1, "hybz: Can't read input file (stdin): Bad file descriptor.\n");
        assert!(!run.out().contains("BZh"));
    }
    hello().shell("hybz -t a.bz2 <&- >&-").silent(0);
    hello().shell("hybz -kf a <&- >&- 2>&-").silent(0);
}

fn empty_inputs() {
    for (flag, digit) in [("-1", b'1'), ("-5", b'5'), ("-9", b'9')] {
        same_as_bzip2("bzip2", &[flag], b"", |_| {});
        let out = hello().hybz_with_input(&[flag], b"").silent(0).stdout;
        assert_eq!(out, [b"BZh", &[digit][..], b"\x17\x72\x45\x38\x50\x90\0\0\0\0"].concat());
    }
}

fn tar() {
    if !installed("tar") {
        return;
    }
    for (pack, unpack) in [
        ("tar -I hybz -cf t.tar.bz2 x", "tar -I hybz -xf t.tar.bz2 -C y"),
        ("tar -I 'hybz -1' -cf t.tar.bz2 x", "tar -xjf t.tar.bz2 -C y"),
        ("tar cjf t.tar.bz2 x", "tar xjf t.tar.bz2 -C y"),
        ("tar cf t.tar x && hybz t.tar", "bzcat t.tar.bz2 | tar xf - -C y"),
    ] {
        let place = Place::with(&[("a", &text(200_000))]);
        ["bzip2", "bunzip2", "bzcat"].iter().for_each(|name| drop(place.called(name)));
        place.shell(&format!("mkdir x y; mv a x; echo hello > x/b; {pack} && {unpack} && diff -r x y/x")).silent(0);
        assert!(place.get("t.tar.bz2").starts_with(b"BZh"), "{pack}");
    }
}

fn scripts() {
    let place = hello();
    ["bzip2", "bunzip2", "bzcat"].iter().for_each(|name| drop(place.called(name)));
    assert_eq!(place.shell("bzip2 -cdfq -- a; bzip2 -cdfq -- a.bz2").silent(0).out(), "hello\nhello\n");
    if installed_for_part("bzgrep") {
        assert_eq!(place.shell("bzgrep -c hello a a.bz2").silent(0).out(), "a:1\na.bz2:1\n");
        assert_eq!(place.shell("bzgrep hello a a.bz2").silent(0).out(), "a:hello\na.bz2:hello\n");
        assert_eq!(place.shell("bzgrep -c nothing a.bz2").code, 1);
    }
    if installed_for_part("bzdiff") {
        place.shell("bzdiff a.bz2 a.bz2").silent(0);
        let run = place.shell("echo hello other | bzip2 > other.bz2; bzdiff a.bz2 other.bz2");
        assert!(run.code == 1 && run.out().contains("hello other"), "{run:?}");
    }
}

/// (The library's `live` has more of these conversations.)
fn open_pipes() {
    let begun = [&compressed(b"question\n")[..], &compressed(&text(1000))[..14]].concat();
    let place = Place::with(&[("a", b"question\n"), ("long", &text(2_000_000)), ("begun", &begun)]);
    place.shell("hybz -k a long; hybz -k --format=hbz a; cp a.bz2 empty; : > nothing; hybz -c nothing >> empty");
    // A stream's text comes out whatever follows the stream, even if what follows is incomplete.
    for flags in ["-d", "-dp1", "-ds"] {
        let asked = "ask() { cat $1 >&3 & timeout 20 head -c $(stat -c %s $2) <&4 | cmp - $2 || exit 9; wait $!; }";
        let line = format!(
            "{asked}; mkfifo in out; hybz {flags} < in > out 2> said & exec 3> in 4< out; ask a.bz2 a; \
             ask long.bz2 long; ask a.hbz a; ask a.hbz a; ask empty a; ask a.hbz a; ask begun a; exec 3>&-; rm in out"
        );
        place.shell(&line).silent(0);
    }
}

fn names_on_terminals() {
    let name = "a\x1b[31mred\x07";
    let place = Place::with(&[(name, b"hello\n"), ("plain name", b"hello\n"), ("it's plain.bz2", b"x")]);
    place.put(format!("{name}.bz2"), &compressed(b"hello\n"));
    for (line, expected) in [
        ("hybz a*red?", r"hybz: Output file 'a'$'\033''[31mred'$'\a''.bz2' already exists. -f overwrites it."),
        ("hybz -d a*2", r"hybz: Output file 'a'$'\033''[31mred'$'\a' already exists. -f overwrites it."),
        ("hybz a*2", r"hybz: Input file 'a'$'\033''[31mred'$'\a''.bz2' already has .bz2 suffix."),
        ("hybz -tv a*2", r"  'a'$'\033''[31mred'$'\a''.bz2': ok"),
        ("hybz -t a*red?", r"hybz: 'a'$'\033''[31mred'$'\a': bad magic number (file not created by bzip2)"),
        ("hybz -t 'plain name'", "hybz: plain name: bad magic number (file not created by bzip2)"),
        ("hybz it*", "hybz: Input file it's plain.bz2 already has .bz2 suffix."),
    ] {
        let Some(out) = on_terminal(&place, line) else { return };
        assert!(out.lines().any(|line| line.trim_end() == expected), "{line}: {out:?}");
    }
    assert!(on_terminal(&place, "hybz -l a*2").is_some_and(|out| out.contains(r"  'a'$'\033''[31mred'$'\a''.bz2'")));
    // If stdout is no terminal, names are written unchanged.
    let listed = place.shell("hybz -l a*2").silent(0);
    assert!(listed.out().ends_with(&format!("  {name}.bz2\n")));
    place.hybz(&[name]).says(1, &format!("hybz: Output file {name}.bz2 already exists. -f overwrites it.\n"));
}
