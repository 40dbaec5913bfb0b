//! Messages about a command line, and the exit code: as in GNU sort, case by case.

use crate::place::{Place, each_same};

const FILES: &[(&str, &[u8])] =
    &[("a", b"b\na\nc\n"), ("b", b"a\nb\nb\nc\n"), ("names", b"a\0b\0"), ("odd name", b"x\n"), ("empty", b"")];

#[test]
fn as_sort_says_it() {
    each_same(FILES, include_str!("messages.sh"));
}

/// GNU sort's exit code is 1 here, which means disorder.
#[test]
fn a_check_of_another_kind() {
    let place = Place::with(FILES);
    let text = "hysort: invalid argument 'x' for '--check'\nValid arguments are:\n  - 'quiet', 'silent'\n  \
                - 'diagnose-first'\nTry 'hysort --help' for more information.\n";
    place.shell("$SORT --check=x a").ends(2, text);
    let words = ["general-numeric", "human-numeric", "month", "numeric", "random", "version"].join("'\n  - '");
    let help = "Try 'hysort --help' for more information.\n";
    let sort = format!("hysort: invalid argument 'x' for '--sort'\nValid arguments are:\n  - '{words}'\n{help}");
    place.shell("$SORT --sort=x a").ends(2, &sort);
    place.shell("$SORT --check= a").ends(2, &text.replace("invalid argument 'x'", "ambiguous argument ''"));
}

#[test]
fn what_hysort_does_not_do() {
    let place = Place::with(FILES);
    let help = "Try 'hysort --help' for more information.\n";
    let by = ": hysort has no random order; use sort or shuf";
    for flag in ["-R", "--random-sort", "-fR", "-k1,1R", "-R -k1"] {
        place.shell(&format!("$SORT {flag} a")).ends(2, &format!("hysort: -R is not supported{by}\n{help}"));
    }
    place.shell("$SORT --debug a").ends(2, &format!("hysort: --debug is not supported; use sort\n{help}"));
    place.shell("$SORT --random-source=a a").ends(2, &format!("hysort: --random-source is not supported{by}\n{help}"));
    place.shell("$SORT --sort=random a").ends(2, &format!("hysort: -R is not supported{by}\n{help}"));
    let remark = "hysort: --compress-program is ignored: temporary files are not compressed\n";
    place.shell("$SORT --compress-program=gzip a").ends(0, remark);
    assert_eq!(place.names().len(), FILES.len());
}

/// Words and names that could move a terminal's cursor are quoted as `ls` quotes them.
#[test]
fn no_word_reaches_a_terminal_as_it_is() {
    let place = Place::with(FILES);
    let help = "Try 'hysort --help' for more information.\n";
    place.shell("printf 'b\\na\\n' >$'x\\033'; $SORT -c $'x\\033'").ends(1, "hysort: 'x'$'\\033':2: disorder: a\n");
    for (words, said) in [
        (r"$'--x\033'", r"unrecognized option '--x'$'\033'"),
        (r"$'--x=\377'", r"unrecognized option '--x='$'\377'"),
        (r"$'-\177'", r"invalid option -- ''$'\177'"),
        (r"$'-\303\251'", r"invalid option -- ''$'\303'"),
        (r"$'--m=\r'", r"option '--m='$'\r' is ambiguous; possibilities: '--merge' '--month-sort'"),
        (
            r"$'--check=\033'",
            concat!(
                r"invalid argument ''$'\033' for '--check'",
                "\nValid arguments are:\n  - 'quiet', 'silent'\n  - 'diagnose-first'"
            ),
        ),
        (r"--completions $'\n'", r"invalid argument ''$'\n' for '--completions': it is bash, zsh or fish"),
    ] {
        place.shell(&format!("$SORT {words} a")).ends(2, &format!("hysort: {said}\n{help}"));
    }
    let most = place.shell("$SORT --batch-size=99999999999 a").stderr.rsplit(' ').next().unwrap_or_default().to_owned();
    for (words, said) in [
        (r"-S $'1\033'", r"invalid suffix in -S argument '1'$'\033'"),
        (r"-S $'\377'", r"invalid -S argument ''$'\377'"),
        (r"-S $'\t1Z'", r"-S argument ''$'\t''1Z' too large"),
        (r"--parallel=$'3\033'", r"invalid suffix in --parallel argument '3'$'\033'"),
        (r"--batch-size=$'x\033'", r"invalid --batch-size argument 'x'$'\033'"),
        (
            r"--batch-size=$'\t1'",
            concat!(r"invalid --batch-size argument ''$'\t''1'", "\nhysort: minimum --batch-size argument is '2'"),
        ),
        (
            r"--batch-size=$'\t99999999999'",
            &format!(
                "{}\nhysort: maximum --batch-size argument with current rlimit is {}",
                r"--batch-size argument ''$'\t''99999999999' too large",
                most.trim_end()
            ),
        ),
    ] {
        place.shell(&format!("$SORT {words} a")).ends(2, &format!("hysort: {said}\n"));
    }
}

/// What the user may have meant by an unknown flag.
#[test]
fn the_nearest_flag() {
    let place = Place::with(FILES);
    for (typed, said) in [
        ("--uniqe", "unrecognized option '--uniqe'; did you mean '--unique'?"),
        ("--revers-=1", "unrecognized option '--revers-=1'; did you mean '--reverse'?"),
        ("-unique", "invalid option -- 'q'; did you mean '--unique'?"),
        ("-K1", "invalid option -- 'K'; did you mean '-k'?"),
        ("-X", "invalid option -- 'X'"),
        ("--xyzzy", "unrecognized option '--xyzzy'"),
        ("--random-sourc", "is not supported"),
        // GNU's flags first, then ours.
        ("--no", "option '--no' is ambiguous; possibilities: '--no-gpu' '--no-sync'"),
        ("--comple=x", "invalid argument 'x' for '--completions'"),
    ] {
        let run = place.shell(&format!("$SORT {typed} a"));
        assert!(run.code == 2 && run.stderr.contains(said), "{typed}: {}", run.stderr);
        assert_eq!(run.stderr.contains("did you mean"), said.contains("did you mean"), "{typed}: {}", run.stderr);
    }
}

#[test]
fn help_and_version() {
    let place = Place::with(FILES);
    let help = place.shell("$SORT --help --no-such").silent(0);
    assert!(String::from_utf8_lossy(&help.stdout).lines().all(|line| line.len() <= 80));
    assert!(help.stdout.starts_with(b"Sorts lines by their bytes") && help.stdout.ends_with(b"2 trouble.\n"));
    assert!(!String::from_utf8_lossy(&help.stdout).contains("random"));
    let version = place.shell("$SORT --version").silent(0);
    assert!(version.stdout.starts_with(concat!("hysort ", env!("CARGO_PKG_VERSION"), "\n").as_bytes()));
    let page = String::from_utf8(place.shell("$SORT --man").silent(0).stdout).unwrap();
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "\"EXIT STATUS\"", "EXAMPLES"] {
        assert!(page.contains(&format!("\n.SH {section}\n")), "{section}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let text = place.shell(&format!("$SORT --completions {shell}")).silent(0).stdout;
        assert!(String::from_utf8_lossy(&text).contains("files0-from"), "{shell}");
    }
    place
        .shell("$SORT --help >/dev/full")
        .ends(2, "hysort: write failed: 'standard output': No space left on device\n");
}

/// In other locales sort's order differs; hysort's is the same.
#[test]
fn no_locale_has_an_effect() {
    let place = Place::with(&[("a", "b\nB\nä\na\n".as_bytes())]);
    for locale in ["C", "C.UTF-8", "de_DE.UTF-8", "en_US.UTF-8"] {
        let run = place.shell(&format!("LC_ALL={locale} LANG={locale} $SORT a")).silent(0);
        assert_eq!(run.stdout, "B\na\nb\nä\n".as_bytes(), "{locale}");
    }
}

/// The number of threads comes from the flag, or else from the variable, or else from the machine and the container.
#[test]
fn threads_of_a_variable() {
    let place = Place::with(FILES);
    let threads = |words: &str| {
        let said = place.shell(&format!("{words} a 2>&1 >out")).stdout;
        String::from_utf8_lossy(&said).matches("  cpu ").count()
    };
    assert_eq!([threads("HYBZ_THREADS=1 $SORT -v"), threads("HYBZ_THREADS=' 1 ' $SORT -v")], [1; 2]);
    assert_eq!(threads("HYBZ_THREADS=1 $SORT -v --parallel=2"), threads("$SORT -v --parallel=2"));
    let all = threads("$SORT -v");
    assert_eq!([threads("HYBZ_THREADS=0 $SORT -v"), threads("HYBZ_THREADS= $SORT -v")], [all; 2]);
    place.shell("HYBZ_THREADS=many $SORT a").ends(2, "hysort: HYBZ_THREADS expects a number of threads, not 'many'\n");
    place.shell("HYBZ_THREADS=-1 $SORT a").ends(2, "hysort: HYBZ_THREADS expects a number of threads, not '-1'\n");
}

#[test]
fn gpus() {
    let place = Place::with(FILES);
    for flags in ["--no-gpu", "--gpu none", "--gpu=none"] {
        assert_eq!(place.shell(&format!("$SORT {flags} a")).silent(0).stdout, b"a\nb\nc\n");
    }
    place
        .shell("$SORT --no-gpu --gpu-required a")
        .ends(2, "hysort: --gpu-required and --no-gpu cannot be used together\n");
    if !cfg!(feature = "cuda") {
        let text = "hysort: this hysort was built without GPU support (feature 'cuda')\n";
        place.shell("$SORT --gpu 0 a").ends(2, text);
        place.shell("$SORT --gpu-required a").ends(2, text);
    }
}
