//! System calls that fail or do less than asked: hybz exits with an error, keeps the source, and leaves nothing
//! incomplete. (The matrix tests each call with a single failure.)
//!
//! A library that is loaded before the C library (`faults.c`, compiled here) makes them fail.

use crate::place::{Place, Run, compressed, decompressed, run, text};
use crate::skip::{Need, skip};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The library, if there is a C compiler.
pub fn shim() -> Option<&'static Path> {
    static SHIM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let shim = SHIM.get_or_init(|| {
        let library = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("faults-{}.so", std::process::id()));
        hybz_testkit::make_faults(&library).then_some(library)
    });
    if shim.is_none() {
        skip(Need::System, "no C compiler");
    }
    shim.as_deref()
}

/// Runs hybz with a fault (`faults.c` has the names of faults).
pub fn with_fault(place: &Place, fault: &str, args: &[&str]) -> Option<Run> {
    Some(run(place.called("hybz").args(args).env("LD_PRELOAD", shim()?).env("FAULT", fault)))
}

/// The remark about a file system that cannot sync.
const UNSYNCED: &str = " cannot be synced: its file system refuses it.\n";
/// The remark about a result that only its owner may read.
const NARROW: &str = " has mode 600, not 644: ";

/// Each call that a file system, an option of a mount or a filter of system calls may refuse, and the remark that may
/// follow: hybz then does without the call (docs/FAULTS.md has the table).
const REFUSALS: [(&str, &str); 15] = [
    ("tmpfile", ""),
    ("linkat", ""),
    ("renameat2,tmpfile", ""),
    ("linkat,renameat2", ""),
    ("flock,tmpfile", ""),
    ("fdatasync", ""),
    ("sync", UNSYNCED),
    ("fsync", ""),
    ("fchown", ""),
    ("fchmod", NARROW),
    ("futimens", ""),
    ("fgetxattr", NARROW),
    ("fremovexattr", NARROW),
    ("fadvise", ""),
    ("statx", ""),
];

#[test]
fn refused_calls() {
    const EPERM: i32 = 1;
    const EACCES: i32 = 13;
    const EXDEV: i32 = 18;
    const EINVAL: i32 = 22;
    const ENOSYS: i32 = 38;
    let bytes = text(30_000);
    for (calls, remark) in REFUSALS {
        for error in [EPERM, EACCES, EXDEV, EINVAL, ENOSYS] {
            // Only linkat can return EXDEV; and std does without statx only after ENOSYS.
            if (error == EXDEV && !calls.starts_with("linkat")) || (calls == "statx" && error != ENOSYS) {
                continue;
            }
            let faults: Vec<String> = calls.split(',').map(|call| format!("refuse-{call}@{error}")).collect();
            let place = Place::with(&[("a", &bytes)]);
            place.set_mode("a", 0o644);
            let works = |args: &[&str], names: &[&str]| {
                let run = with_fault(&place, &faults.join(","), args)?;
                let said = run.stderr.is_empty() || (!remark.is_empty() && run.stderr.contains(remark));
                assert!(run.code == 0 && said && place.names() == names, "{args:?}, {faults:?}: {run:?}");
                Some(run)
            };
            let Some(run) = works(&["a"], &["a.bz2"]) else { return };
            // Without calls for access control lists there are no lists, and so no remark about one.
            assert_eq!(run.stderr.is_empty(), remark.is_empty() || (remark == NARROW && run.stderr.is_empty()));
            assert_eq!(decompressed(&place.get("a.bz2")), bytes, "{faults:?}");
            works(&["-d", "a.bz2"], &["a"]);
            place.put("a.bz2", b"old");
            works(&["-f", "a"], &["a.bz2"]);
            place.put("b.bz2", &compressed(&bytes));
            works(&["-d", "a.bz2", "b.bz2"], &["a", "b"]);
            assert!(place.get("a") == bytes && place.get("b") == bytes, "{faults:?}");
        }
    }
}

/// Calls that only save time are refused, for several results and for pipes.
#[test]
fn refused_calls_that_save_time() {
    const EPERM: i32 = 1;
    const EINVAL: i32 = 22;
    const ENOSYS: i32 = 38;
    let Some(shim) = shim() else { return };
    let bytes = text(1_500_000);
    for call in ["directory", "fadvise", "madvise", "pipe_size", "sync_file_range"] {
        for error in [EPERM, EINVAL, ENOSYS] {
            let place = Place::with(&[("a", &bytes), ("b", b"hello\n")]);
            let lines = [
                "hybz a b; cat a.bz2 | hybz -dc | cat >c; cat c | hybz -c | cat >c.bz2; hybz -d a.bz2 b.bz2",
                "hybz -k --verify=file a; head -c 9000000 /dev/zero | hybz -c | hybz -dc | cat >zeros",
            ];
            let faulty = format!("export LD_PRELOAD={} FAULT_DONE=done FAULT=refuse-{call}@{error}", shim.display());
            let run = place.shell(&format!("{faulty}; {}", lines.join("; ")));
            assert!(run.code == 0 && run.stderr.is_empty(), "{call}, {error}: {run:?}");
            assert!(place.has("done"), "{call} is not called");
            assert!(place.get("a") == bytes && place.get("c") == bytes, "{call}, {error}");
            assert_eq!(decompressed(&place.get("c.bz2")), bytes, "{call}, {error}");
        }
    }
}

/// If the kernel still reports an old link count of two, as with some FUSE file systems, hybz asks again.
#[test]
fn links_of_long_ago() {
    let place = Place::with(&[("a.bz2", &compressed(b"hello\n"))]);
    let Some(run) = with_fault(&place, "stalelinks", &["-d", "a.bz2"]) else { return };
    run.silent(0);
    assert_eq!(place.names(), ["a"]);
}

/// The directory of an operand is exchanged with a link after each open in turn: nothing is made or replaced where the
/// link leads.
#[test]
fn a_directory_is_exchanged_with_a_link() {
    for (name, flags, result) in [
        ("f", &["-z"][..], "f.bz2"),
        ("f.bz2", &["-d"], "f"),
        ("f.bz2", &["--recover"], "f.recovered"),
        ("f.bz2", &["--recover=split"], "rec00001f.bz2"),
        ("f.bz2", &["-l", "--index"], "f.bz2.bzi"),
        ("f.bz2", &["-l"], "f.bz2.bzi"), // not read there, either
        ("f.bz2", &["-d", "--ranges=0@1", "-c"], "f.bz2.bzi"),
        ("f.bz2", &["--recover", "-c"], "f.bz2.bzi"),
        ("f", &["--plan=1M", "-o", "u/A/plan"], "plan"),
        ("f", &["--shard=0", "--plan-file=plan", "-o", "u/A/part"], "part"),
        ("f.bz2", &["--recover", "-o", "u/A/text"], "text"),
        ("f.bz2", &["-t", "--index=u/A/index"], "index"),
        ("f.bz2", &["-l", "--index=u/A/index"], "index"),
    ] {
        let coded = if name == "f" { b"hello\n".to_vec() } else { compressed(b"hello\n") };
        for (force, victim) in [(&[][..], None), (&["-f"], Some(&b"victim"[..]))] {
            for call in 1..=8 {
                let place = Place::new();
                ["u", "u/A", "other"].iter().for_each(|name| fs::create_dir(place.path(name)).expect("a directory"));
                symlink("../other", place.path("u/B")).expect("a link");
                place.put(format!("u/A/{name}"), &coded);
                if flags[0] == "--shard=0" {
                    place.shell("hybz --plan 1M u/A/f >plan").silent(0);
                }
                if let Some(victim) = victim {
                    place.put(format!("other/{result}"), victim);
                }
                let path = format!("u/A/{name}");
                let args = [flags, force, &[&path]].concat();
                let Some(run) = with_fault(&place, &format!("exchange@{call}"), &args) else { return };
                let there = fs::read_dir(place.path("other")).expect("the other directory").count();
                assert_eq!(there, usize::from(victim.is_some()), "{flags:?} {force:?} {call}: {run:?}");
                if let Some(victim) = victim {
                    assert_eq!(place.get(format!("other/{result}")), victim, "{flags:?} {force:?} {call}");
                }
                assert!(!run.stderr.contains("Index"), "{flags:?} {force:?} {call}: {run:?}");
                // Nothing was exchanged: hybz opens fewer than `call` files, so every open has been tried.
                if fs::symlink_metadata(place.path("u/B")).is_ok_and(|found| found.is_symlink()) {
                    assert!(call > 1, "{flags:?}: nothing was exchanged");
                    break;
                }
            }
        }
    }
}
