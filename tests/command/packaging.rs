//! The files that packagers install: the manual page and the completions.

use crate::place::{Place, Run, copy_of_hybz};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// The flags that `--help` shows, such as `-d` and `--decompress`.
fn visible_flags(place: &Place) -> BTreeSet<String> {
    let help = place.hybz(&["--help"]).silent(0).out();
    let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let words = lines.flat_map(|line| line.split([' ', ',', '[', ']']));
    let flags = words.filter(|word| word.starts_with('-') && word.len() > 1 && *word != "--");
    let flags = flags.map(|flag| flag.trim_end_matches("...").trim_end_matches([')', ':', ';']).to_owned());
    flags.filter(|flag| flag.starts_with("--") || flag.len() == 2).collect()
}

fn installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        println!("skipped: no {program}");
    }
    found
}

#[test]
fn the_manual_page_has_all_flags() {
    let place = Place::new();
    let flags = visible_flags(&place);
    assert!(flags.len() > 40 && flags.contains("-p") && flags.contains("--version"), "{flags:?}");
    let page = place.hybz(&["--man"]).silent(0).out().replace(r"\-", "-");
    for flag in flags {
        assert!(page.contains(&flag), "{flag}");
    }
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "\"EXIT STATUS\"", "FILES", "EXAMPLES"]
    {
        assert!(page.contains(&format!("\n.SH {}\n", section.trim_matches('"'))), "{section}");
    }
    assert!(page.contains(&format!("hybz {}", env!("CARGO_PKG_VERSION"))));
    assert!(!page.contains("@VERSION@") && !page.contains("@OPTIONS@"));
    for rare in ["--perturb-seed", "--gpu-pipeline", "--keep-going"] {
        assert!(page.contains(rare), "{rare}");
    }
}

#[test]
fn the_manual_page_is_valid() {
    let place = Place::new();
    if installed("groff") {
        place.shell("hybz --man | groff -man -ww -z").silent(0);
    }
    if Command::new("mandoc").output().is_ok() {
        place.shell("hybz --man | mandoc -T lint -W error").silent(0);
    } else {
        println!("skipped: no mandoc");
    }
}

#[test]
fn completions_are_valid() {
    let place = Place::new();
    let flags = visible_flags(&place);
    for (shell, installed) in [("bash", true), ("zsh", installed("zsh")), ("fish", installed("fish"))] {
        let run: Run = place.hybz(&["--completions", shell]).silent(0);
        for flag in flags.iter().filter(|flag| flag.starts_with("--")) {
            let word = if shell == "fish" { format!("-l {}", &flag[2..]) } else { flag.clone() };
            assert!(run.out().contains(&word), "{shell}: {flag}");
        }
        for name in ["hybz", "hybunz", "hybcat"] {
            assert!(run.out().contains(name), "{shell}: {name}");
        }
        place.put("completions", &run.stdout);
        if installed {
            place.shell(&format!("{shell} -n completions")).silent(0);
        }
    }
    place.hybz(&["--completions", "tcsh"]).says(1, "hybz: --completions expects bash, zsh or fish, not `tcsh'");
    place.hybz(&["--completions"]).says(1, "hybz: --completions expects bash, zsh or fish. For help");
}

/// The completions that bash offers for the last of the words typed so far.
#[test]
fn bash_completes() {
    let place = Place::with(&[("file1", b""), ("file2", b"")]);
    place.put("in put.bz2", b"");
    place.put("x.Z", b"");
    place.put("y.lz4", b"");
    for (typed, offered) in [
        ("hybz --dec", "--decompress\n"),
        ("hybz -k --keep --completions f", "fish\n"),
        ("hybz --format = l", "lz4\n"),
        ("hybz --format = ''", "bz2\nhbz\nlz4\n"),
        ("hybz --format h", "hbz\n"),
        ("hybz --verify = n", "none\n"),
        ("hybunz --completions z", "zsh\n"),
        // hybz.bash offers no word: bash itself completes names of files.
        ("hybcat -o file", "\n"),
        ("hybz ''", "\n"),
        ("hybz file", "\n"),
        ("hybz -d ''", "in put.bz2\nx.Z\ny.lz4\n"),
        ("hybz -kd y", "y.lz4\n"),
        ("hybunz ''", "in put.bz2\nx.Z\ny.lz4\n"),
        ("hybz -d file", "\n"),
        ("hybz -z ''", "\n"),
    ] {
        let line = format!(
            "source <(hybz --completions bash); COMP_WORDS=({typed}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             compopt() {{ :; }}; _hybz ${{COMP_WORDS[0]}} \"${{COMP_WORDS[-1]}}\" ${{COMP_WORDS[-2]}}; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\" | sort"
        );
        assert_eq!(place.shell(&line).silent(0).out(), offered, "{typed}");
    }
}

/// `packaging/install.sh` installs all files and links, and never replaces another program of bzip2's name.
#[test]
fn an_archive_installs_itself() {
    let place = Place::new();
    let packaging = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging");
    fs::create_dir(place.path("bin")).expect("a directory");
    copy_of_hybz(&place.path("bin/hybz"));
    let pack = format!("cp {packaging}/install.sh . && cp bin/hybz bin/hysort && bash {packaging}/share.sh .");
    place.shell(&pack).silent(0);
    let install = "sh ./install.sh --bzip2 to";
    assert_eq!(place.shell(&format!("{install} && {install}")).code, 0, "also over itself");
    let list = place.shell("cd to && find . -type f -o -type l | sort").silent(0).out();
    let (bin, pages) = ("./bin/", "./share/man/man1/");
    let commands = ["bunzip2", "bzcat", "bzip2", "bzip2recover", "hybcat", "hybunz", "hybz", "hysort"];
    let mut expected: Vec<String> = commands.iter().map(|name| format!("{bin}{name}")).collect();
    expected.extend(["hybcat", "hybunz", "hybz", "hysort"].map(|name| format!("{pages}{name}.1")));
    for name in ["hybz", "hysort"] {
        expected.push(format!("./share/bash-completion/completions/{name}"));
        expected.push(format!("./share/fish/vendor_completions.d/{name}.fish"));
        expected.push(format!("./share/zsh/site-functions/_{name}"));
    }
    expected.sort();
    assert_eq!(list.lines().collect::<Vec<_>>(), expected);
    place.shell("echo hello | to/bin/bzip2 | to/bin/bzcat").silent(0);
    place.shell("mkdir -p other/bin; echo mine > other/bin/bzip2").silent(0);
    let run = place.shell("sh ./install.sh --bzip2 other");
    assert_eq!((run.code, run.stderr.as_str()), (1, "other/bin/bzip2 exists: nothing is installed.\n"));
    assert_eq!(place.shell("ls -A other/bin other").silent(0).out(), "other:\nbin\n\nother/bin:\nbzip2\n");
}
