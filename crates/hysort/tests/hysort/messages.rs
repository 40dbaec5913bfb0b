//! Messages about a command line, and the exit code: as in GNU sort, case by case.

use crate::place::{Place, each_same};

const FILES: &[(&str, &[u8])] =
    &[("a", b"b\na\nc\n"), ("b", b"a\nb\nb\nc\n"), ("names", b"a\0b\0"), ("odd name", b"x\n"), ("empty", b"")];

#[test]
fn as_sort_says_it() {
    each_same(FILES, include_str!("messages.sh"));
}

#[test]
fn as_it_says() {
    let place = Place::with(FILES);
    let wanted = include_str!("said.txt");
    let mut made = String::new();
    for line in wanted.lines().filter(|line| line.is_empty() || line.starts_with(['#', '$'])) {
        made += &format!("{line}\n");
        if let Some(command) = line.strip_prefix("$ ") {
            let run = place.shell(&format!("exec 2>&1; {command}"));
            made += &run.out();
            made += &if run.code == 0 { String::new() } else { format!("[{}]\n", run.code) };
            assert_eq!(place.names().len(), FILES.len(), "{command}");
        }
    }
    if std::env::var_os("HYBZ_GENERATE").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hysort/said.txt"), made).expect("it can be written");
    } else {
        made.lines().zip(wanted.lines()).for_each(|(made, wanted)| assert_eq!(made, wanted));
        assert_eq!(made.len(), wanted.len());
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
}

#[test]
fn gpus() {
    let place = Place::with(FILES);
    if !cfg!(feature = "cuda") {
        let text = "hysort: this hysort was built without GPU support (feature 'cuda')\n";
        place.shell("$SORT --gpu 0 a").ends(2, text);
        place.shell("$SORT --gpu-required a").ends(2, text);
    }
}
