//! Exit codes and messages.

use super::rows;
use crate::place::{
    Place, bzip2_installed, compressed, decompressed, each_as_bzip2, installed, run, same_as_bzip2, text,
};
use std::time::Instant;

rows! {
    "exit codes" | "0; 1: environment; 2: damaged data; 3: a defect" | "the same; of several, the highest"
        => exit_codes;
    "whose messages" | "they begin with the program's name, as it was called" | "the same" => the_program_s_name;
    "texts that scripts look for" | "\"already has .bz2 suffix\" and others" | "the same, word for word" => known_texts;
    "a file that fails" | "at least a line" | "the same" => a_line_for_each;
    "`-q` hides remarks" | "suffixes, not a normal file, guesses, garbage" | "the same" => quiet_hides_remarks;
    "`-q` does not hide errors" | "missing, exists, directory, links, not bzip2" | "the same" => quiet_shows_errors;
    "a cut file under `-q`" | "nothing" | "one line" => a_cut_file_under_quiet;
    "`-qq`" | "as `-q`" | "silence, also about flags; the exit code stays" => twice_quiet;
    "stdin in messages" | "(stdin)" | "the same" => the_name_of_stdin;
    "lines of `-v`" | "in the order of the operands" | "the same, whatever is finished first" => lines_in_order;
    "progress" | "none" | "on a terminal after a second, also if stdout is a pipe; `--progress` elsewhere" => progress;
    "progress that is not wanted" | "none" | "`-q` and `--progress=never` forbid it; no bar with \
     `TERM=dumb` or without TERM" => no_progress;
    "progress of a job in the background" | "none"
        | "nothing is drawn, and `stty tostop` does not stop it; a bar after `fg`" => progress_in_the_background;
    "progress of `-l`" | "no -l" | "of files that are decoded, as with `-t`" => progress_of_lists;
    "a result that exists" | "rc 1" | "the same; says that `-f` overwrites it" => advice_to_overwrite;
    "a guessed name of a file that is refused" | "\"Can't guess original name\", then the refusal"
        | "the refusal alone; under bzip2's names the same" => no_guess_before_a_refusal;
    "a bad value" | "no flag has one" | "names the flag as it was typed, and says what it needs" => bad_values;
    "flags that contradict" | "`-c` and `-t`" | "named as they were typed" => contradictions;
    "advice to recover" | "after damage, also of an empty file" | "where there is something to recover: `hybz \
     --recover NAME`; under bzip2's names bzip2's own" => advice;
    "whose advice" | "bzip2recover" | "the same under bzip2's names; `FILE` for several files and stdin"
        => advice_by_name;
    "advice after damage of `.hbz`, `.Z`, `.lz4`" | "bzip2recover" | "none: `--recover` works only with `.bz2`"
        => no_advice_for_other_formats;
    "`-tvv` of a missing file" | "one line" | "the same: no empty table" => no_empty_tables;
}

fn exit_codes() {
    let place = Place::with(&[("good.bz2", &compressed(b"hello\n")), ("cut.bz2", &compressed(b"hello\n")[..20])]);
    for (files, code) in
        [("good.bz2", 0), ("missing good.bz2", 1), ("cut.bz2 missing good.bz2", 2), ("missing cut.bz2", 2)]
    {
        for flags in ["-t", "-dkf"] {
            let args: Vec<&str> = [flags].into_iter().chain(files.split(' ')).collect();
            assert_eq!(place.hybz(&args).code, code, "{flags} {files}");
            if flags == "-t" && bzip2_installed() {
                assert_eq!(run(place.command("bzip2").args(&args)).code, code, "{files}");
            }
        }
    }
}

fn the_program_s_name() {
    for name in ["bzip2", "pbzip2", "hybz", "my tool"] {
        let place = Place::new();
        run(place.called(name).arg("no"))
            .says(1, &format!("{name}: Can't open input file no: No such file or directory.\n"));
        run(place.called(name).arg("-Z")).says(1, &format!("{name}: Bad flag `-Z'. For help"));
    }
}

fn put_several(place: &Place) {
    place.put("a", b"hello\n");
    place.put("a.bz2", &compressed(b"hello\n"));
    place.put("b", b"hello\n");
    place.put("c", &compressed(b"hello\n"));
    place.put("garbage.bz2", &[&compressed(b"hello\n")[..], b"x"].concat());
    place.set_mode("garbage.bz2", 0o600);
    std::fs::hard_link(place.path("b"), place.path("link")).expect("a link");
    std::fs::create_dir(place.path("dir")).expect("a directory");
}

fn all_the_same(lines: &[&str]) {
    each_as_bzip2(lines, put_several);
}

fn known_texts() {
    all_the_same(&["missing", "a.bz2", "dir", "/dev/null", "a", "b", "-d c", "-d b link", "-d garbage.bz2", "-ct a"]);
}

fn a_line_for_each() {
    let place = Place::new();
    put_several(&place);
    let run = place.hybz(&["missing", "a.bz2", "dir", "/dev/null", "a", "b"]);
    assert_eq!((run.code, run.stderr.lines().count()), (1, 6), "{}", run.stderr);
}

fn quiet_hides_remarks() {
    all_the_same(&["-q a.bz2", "-q /dev/null", "-dq c", "-dq garbage.bz2"]);
}

fn quiet_shows_errors() {
    all_the_same(&["-q missing", "-q a", "-q dir", "-q b", "-dq b", "-dq a", "-tq b"]);
}

fn a_cut_file_under_quiet() {
    let place = Place::with(&[("a.bz2", &compressed(b"hello\n")[..20])]);
    let run = place.hybz(&["-dq", "a.bz2"]);
    assert_eq!((run.code, run.stderr.as_str()), (2, "hybz: a.bz2: Compressed file ends unexpectedly\n"));
}

fn twice_quiet() {
    let place = Place::new();
    put_several(&place);
    for args in [
        &["-qq", "missing"][..],
        &["-q", "dir", "-q"],
        &["-qqZ"],
        &["-Z", "-qq"],
        &["-qq", "--nope"],
        &["-qqp", "x"],
        &["-qqct", "a.bz2"],
        &["-lqqo", "x", "a.bz2"],
    ] {
        place.hybz(args).silent(1);
    }
    place.hybz(&["-dqq", "a", "b"]).silent(2);
    run(place.called("hybz").args(["-Z"]).env("HYBZ", "-qq")).silent(1);
    place.hybz(&["-q", "-Z"]).says(1, "hybz: Bad flag `-Z'");
    place.hybz(&["-Z", "--", "-qq"]).says(1, "hybz: Bad flag `-Z'");
}

fn the_name_of_stdin() {
    same_as_bzip2("bzip2", &["-v"], b"hello\n", |_| {});
    same_as_bzip2("bzip2", &["-t"], b"hello\n", |_| {});
}

fn lines_in_order() {
    let prepare = |place: &Place| {
        for n in 0..60 {
            match n % 5 {
                1 => std::fs::create_dir(place.path(format!("file{n:02}"))).expect("a directory"),
                2 => {}
                _ => place.put(format!("file{n:02}"), &text(if n % 5 == 0 { 300_000 } else { n })),
            }
        }
    };
    let names: Vec<String> = (0..60).map(|n| format!("file{n:02}")).collect();
    let args: Vec<&str> = ["-1v"].into_iter().chain(names.iter().map(String::as_str)).collect();
    same_as_bzip2("bzip2", &args, b"", prepare);
    let place = Place::new();
    prepare(&place);
    let run = place.hybz(&args);
    let words = run.stderr.split(|c: char| !c.is_alphanumeric());
    let told: Vec<&str> = words.filter(|word| word.starts_with("file") && word.len() == 6).collect();
    assert_eq!((run.code, told), (1, args[1..].to_vec()), "{}", run.stderr);
}

/// Input that takes more than a second, because progress is shown only after a second.
const SLOW: &str = "(head -c 30000000 /dev/zero; sleep 1.2; head -c 30000000 /dev/zero)";

fn shown_on_a_terminal(flags: &str, term: &str) -> String {
    let line = format!("TERM={term} script -qec '{SLOW} | hybz {flags} | cat > /dev/null' /dev/null < /dev/null");
    Place::new().shell(&line).out()
}

fn progress() {
    let begun = Instant::now();
    let lines = Place::new().shell(&format!("{SLOW} | hybz -1 --progress > /dev/null")).stderr;
    let taken = begun.elapsed().as_secs_f64();
    assert!(!lines.is_empty(), "it took {taken} s");
    for line in lines.lines() {
        let numbers = line.strip_prefix("(stdin): ").and_then(|line| line.strip_suffix(" MB/s")?.split_once(" MB, "));
        let (done, rate) = numbers.unwrap_or_else(|| panic!("{line}"));
        let [done, rate]: [f64; 2] = [done, rate].map(|number| number.parse().expect("a number"));
        // Shown are whole blocks of 5.1 MB of zeros, or all 60 MB; and the amount and the rate give the elapsed time.
        let blocks = (done / 5.099_235).round();
        assert!(blocks > 0.0 && ((done - blocks * 5.099_235).abs() < 0.06 || done == 60.0), "{line}");
        assert!((0.99..taken + 0.1).contains(&(done / rate)), "{line}, of {taken} s");
    }
    if installed("script") {
        let bar = shown_on_a_terminal("-1", "xterm");
        assert!(bar.contains("(stdin)"), "{bar:?}");
    }
}

fn progress_of_lists() {
    let place = Place::with(&[("a", &text(1_000_000))]);
    place.hybz(&["-1", "a"]).silent(0);
    let slow = "(head -c 50000 a.bz2; sleep 1.2; tail -c +50001 a.bz2)";
    let line = format!("TERM=xterm script -qec '{slow} | hybz -lv' /dev/null < /dev/null");
    if installed("script") {
        let shown = place.shell(&line).out();
        assert!(shown.contains("(stdin)") && shown.contains("MB compressed"), "{shown:?}");
    }
}

fn no_progress() {
    let calls = [("-1q", "xterm"), ("-1 --progress=never", "xterm"), ("-1", "dumb"), ("-1", "")];
    if !installed("script") {
        return;
    }
    // All calls run at the same time, because each waits for more than a second.
    std::thread::scope(|scope| {
        for (flags, term) in calls {
            scope.spawn(move || {
                assert_eq!(shown_on_a_terminal(flags, term), "", "{flags} {term}");
            });
        }
        Place::new().shell(&format!("{SLOW} | hybz -1 > /dev/null")).silent(0);
    });
}

/// Runs a shell with job control on a separate terminal.
fn with_jobs(line: &str) -> Place {
    let place = Place::new();
    place.shell(&format!("TERM=xterm timeout 60 script -qec \"bash -mc '{line}'\" shown < /dev/null"));
    place
}

fn progress_in_the_background() {
    if !installed("script") {
        return;
    }
    std::thread::scope(|scope| {
        for (program, then) in [("hybz", "wait"), ("./bzip2", "wait"), ("hybz", "sleep 0.2; fg")] {
            scope.spawn(move || {
                let slow = "(head -c 30000000 /dev/zero; sleep 1.5; head -c 3000000 /dev/zero)";
                let line = format!("ln -s $(command -v hybz) bzip2; stty tostop; {slow} | {program} -1 > out & {then}");
                let place = with_jobs(&line);
                assert!(decompressed(&place.get("out")) == vec![0; 33_000_000], "it was stopped");
                let shown = String::from_utf8(place.get("shown")).expect("text");
                assert_eq!(shown.contains("(stdin)"), then.ends_with("fg"), "{program}: {shown:?}");
            });
        }
    });
}

fn advice_to_overwrite() {
    let place = Place::new();
    put_several(&place);
    std::fs::create_dir(place.path("c.out")).expect("a directory");
    place.hybz(&["a"]).says(1, "hybz: Output file a.bz2 already exists. -f overwrites it.\n");
    place.hybz(&["-d", "a.bz2"]).says(1, "hybz: Output file a already exists. -f overwrites it.\n");
    place.hybz(&["-d", "c"]).says(1, "hybz: Output file c.out already exists.\n");
    run(place.called("bzip2").arg("a")).says(1, "bzip2: Output file a.bz2 already exists.\n");
}

fn no_guess_before_a_refusal() {
    let place = Place::with(&[("text", b"hello\n"), ("empty", b""), ("coded", &compressed(b"hello\n"))]);
    let run = place.hybz(&["-d", "text", "empty"]);
    assert!(run.code == 2 && !run.stderr.contains("guess"), "{run:?}");
    place.hybz(&["-dk", "coded"]).says(0, "Can't guess original name for coded -- using coded.out\n");
    let run = place.hybz(&["-dk", "coded"]).says(1, "already exists");
    assert!(!run.stderr.contains("guess"), "{run:?}");
    same_as_bzip2("bzip2", &["-d", "text"], b"", |place| place.put("text", b"hello\n"));
}

fn bad_values() {
    let sizes = "expects a size such as 100 (MiB), 300k or 1G, not";
    for (flags, text) in [
        ("-p x", "-p expects a number of threads, at most 4194304, not `x'"),
        ("-n f", "-n expects a number of threads, at most 4194304, not `f'"),
        ("-kTf", "-T expects a number of threads, at most 4194304, not `f'"),
        ("-p-1", "-p expects a number of threads, at most 4194304, not `-1'"),
        ("--threads=q", "--threads expects a number of threads, at most 4194304, not `q'"),
        ("-p 4194305", "-p expects a number of threads, at most 4194304, not `4194305'"),
        ("-p99999999999999999999", "-p expects a number of threads, at most 4194304, not `99999999999999999999'"),
        ("-m 12q", &format!("-m {sizes} `12q'")),
        ("-m0", &format!("-m {sizes} `0'")),
        ("--memory 0", &format!("--memory {sizes} `0'")),
        ("-p", "-p expects a number of threads, at most 4194304"),
        ("-o", "-o expects the name of a file"),
        ("--join", "--join expects the name of a file"),
        ("--plan-file", "--plan-file expects the name of a file"),
        ("--plan x", "--plan expects a size such as 100M or 1.5G, not `x'"),
        ("--gpu-pipeline x", "--gpu-pipeline expects resident, bwt or hybrid, not `x'"),
        ("--ignore-trailing-garbage=2", "--ignore-trailing-garbage expects 0 or 1, not `2'"),
    ] {
        let place = Place::with(&[("a", b"hello\n")]);
        let run = place.hybz(&["a"].into_iter().chain(flags.split(' ')).collect::<Vec<_>>());
        let line = format!("hybz: {text}. For help, type: `hybz --help'.\n");
        assert_eq!((run.code, run.out().as_str(), run.stderr), (1, "", line));
        assert_eq!(place.names(), ["a"]);
    }
}

fn contradictions() {
    let place = Place::new();
    for (name, args, text) in [
        ("bzip2", "-ct", "-c and -t"),
        ("hybz", "-lc", "-c and -l"),
        ("hybz", "-lox", "-o and -l"),
        ("bzcat", "-l", "bzcat and -l"),
        ("bzcat", "-lc", "-c and -l"),
    ] {
        run(place.called(name).arg(args)).says(1, &format!("{name}: {text} cannot be used together.\n"));
    }
    run(place.called("bzcat").args(["-t", "a.bz2"])).says(1, "bzcat: -c and -t cannot be used together.\n");
    place.shell("echo a | hybz | bzcat -tv").says(0, "  (stdin): ok\n");
    for (flag, named) in [("--no-gpu", "--no-gpu"), ("-s", "-s"), ("--gpu=none", "--gpu none")] {
        let run = place.hybz(&["--gpu-required", flag, "a"]);
        run.says(1, &format!("hybz: --gpu-required and {named} cannot be used together.\n"));
    }
}

fn advice() {
    let coded = compressed(b"hello\n");
    let cases = [(&coded[..20], "", true), (b"", "", false), (&[&coded[..], b"x"].concat(), "0", false)];
    for (bytes, forbid, advised) in cases {
        let place = Place::with(&[("a.bz2", bytes)]);
        let flag = if forbid.is_empty() { "-d" } else { "--ignore-trailing-garbage=0" };
        let run = place.hybz(&["-d", flag, "a.bz2"]);
        assert_eq!((run.code, run.stderr.contains("`hybz --recover a.bz2'")), (2, advised), "{}", run.stderr);
    }
}

/// The advice names a single damaged file; FILE stands for several files, and for stdin.
fn advice_by_name() {
    let (bzip2s, cut) = ("You can use the `bzip2recover' program to attempt", &compressed(b"hello\n")[..20]);
    let place = Place::with(&[("a.bz2", cut), ("b.bz2", cut)]);
    for name in ["bzip2", "bunzip2", "bzcat"] {
        run(place.called(name).args(["-dc", "a.bz2"])).says(2, bzip2s);
    }
    place.hybz(&["-t", "a.bz2", "b.bz2"]).says(2, "You can use `hybz --recover FILE' to attempt to recover\ndata");
    let piped = place.shell("cat a.bz2 | hybz -t").says(2, "`hybz --recover FILE'");
    assert!(!piped.stderr.contains("bzip2recover"), "{piped:?}");
}

fn no_advice_for_other_formats() {
    let place = Place::with(&[("a", &text(300_000)), ("b", b"\x1f\x9d\x90\xff\xff\xff\xff\xff")]);
    place.shell("mv b b.Z; hybz -k --format=lz4 a; hybz -k --block-size 1M a").silent(0);
    for file in ["a.lz4", "a.hbz"] {
        let whole = place.get(file);
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        for (bytes, how) in [(&whole[..whole.len() / 2], "cut"), (&flipped[..], "flipped")] {
            place.put(file, bytes);
            for line in [format!("hybz -t {file}"), format!("cat {file} | hybz -t"), format!("hybz -t < {file}")] {
                let run = place.shell(&line);
                assert!(run.code == 2 && !run.stderr.contains("to attempt to recover"), "{how}: {line}: {run:?}");
            }
        }
    }
    let run = place.hybz(&["-t", "b.Z"]);
    assert!(run.code == 2 && !run.stderr.contains("to attempt to recover"), "{run:?}");
}

/// If there was nothing to do, no station is listed.
fn no_empty_tables() {
    each_as_bzip2(&["-tvv missing", "-vvc empty", "-vvk missing empty"], |place| place.put("empty", b""));
}
