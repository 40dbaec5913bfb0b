//! The life of a file on file systems that lack what ext4 has: no files without names, no hard links, no rename that
//! refuses a name that is taken, no modes or no locks.
//!
//! The shim of `faults.c` simulates them; `tests/matrix/systems.sh` uses the real ones where they can be mounted.

use crate::faults::shim;
use crate::place::{Place, Run, compressed, decompressed, run, text};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// The features that exFAT and FAT lack.
const FAT: &str = "tmpfile,noreplace,nolink,nomode";

/// Every operation on a file, with these faults.
fn life(shim: &Path, fault: &str) {
    let place = Place::new();
    let hybz = |args: &[&str]| run(place.called("hybz").args(args).env("LD_PRELOAD", shim).env("FAULT", fault));
    // A mode that is not set is remarked on.
    let done = |run: Run| {
        let narrow = fault.contains("nomode") && run.stderr.contains(" has mode 600, not ");
        assert!(run.code == 0 && (narrow || run.stderr.is_empty()), "{fault}: {run:?}");
    };
    let bytes = text(300_000);
    // A name of 212 bytes: a temporary name made from it must not contain half a character.
    let long = format!("x{}", "ü".repeat(105));
    for name in ["a", &long] {
        let packed = format!("{name}.bz2");
        place.put(name, &bytes);
        done(hybz(&["-1", name]));
        assert_eq!(place.names(), [&packed[..]]);
        assert_eq!(decompressed(&place.get(&packed)), bytes);

        // Existing files are not touched without -f.
        place.put(name, b"other");
        hybz(&[name]).says(1, " already exists. -f overwrites it.\n");
        hybz(&["-d", &packed]).says(1, " already exists. -f overwrites it.\n");
        assert_eq!((place.get(name), decompressed(&place.get(&packed))), (b"other".to_vec(), bytes.clone()));
        done(hybz(&["-df", &packed]));
        assert_eq!((place.names(), place.get(name)), (vec![name.to_owned()], bytes.clone()));
        place.put(&packed, b"old");
        done(hybz(&["-fk", name]));
        assert_eq!(place.names(), [name, &packed]);
        fs::remove_file(place.path(name)).expect("remove");
        hybz(&["-t", &packed]).silent(0);
        assert_eq!(hybz(&["-dc", &packed]).silent(0).stdout, bytes);
        done(hybz(&["-d", &packed]));
        assert_eq!((place.names(), place.get(name)), (vec![name.to_owned()], bytes.clone()));
        fs::remove_file(place.path(name)).expect("remove");
    }

    // After damage the source stays, and no part of a result; the same for several files in one call.
    let mut broken = compressed(&bytes);
    let middle = broken.len() / 2;
    broken[middle] ^= 1;
    place.put("broken.bz2", &broken);
    place.put("b.bz2", &compressed(b"b"));
    place.put("c.bz2", &compressed(b"c"));
    assert_eq!(hybz(&["-d", "b.bz2", "broken.bz2", "c.bz2"]).code, 2);
    assert_eq!(place.names(), ["b", "broken.bz2", "c"]);
    for name in place.names() {
        fs::remove_file(place.path(name)).expect("remove");
    }
}

#[test]
fn simulated() {
    let Some(shim) = shim() else { return };
    for fault in
        [FAT, "tmpfile", "tmpfile,noreplace", "tmpfile,noreplace,nolink,noflock", "nomode", "tmpfile,nothread", "noacl"]
    {
        life(shim, fault);
    }
}

/// If files need names, `kill -9` leaves one, which is removed when the same result is made again. A file that another
/// process is still writing, or that is not a temporary file of ours, stays.
#[test]
fn leftovers() {
    let Some(shim) = shim() else { return };
    let place = Place::with(&[("a", &text(100_000))]);
    let slowly = || {
        let mut child = place
            .called("hybz")
            .args(["-o", "a.bz2"])
            .env("LD_PRELOAD", shim)
            .env("FAULT", FAT)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("hybz");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(&text(50_000)).expect("write");
        sleep(Duration::from_millis(300));
        (child, stdin)
    };
    let hybz = || run(place.called("hybz").args(["-kf", "a"]).env("LD_PRELOAD", shim).env("FAULT", FAT));
    let done = |run: &Run| assert!(run.code == 0 && run.stderr.lines().count() <= 1, "{run:?}"); // of the mode
    let (mut child, stdin) = slowly();
    kill_process(Pid::from_child(&child), Signal::KILL).expect("kill");
    child.wait().expect("hybz");
    drop(stdin);
    assert_eq!(place.names(), [".a.bz2.hybz-tmp", "a"], "a result that no process will finish");
    done(&hybz());
    assert_eq!(place.names(), ["a", "a.bz2"]);

    fs::remove_file(place.path("a.bz2")).expect("remove");
    let (child, stdin) = slowly();
    done(&hybz());
    assert_eq!(place.names(), [".a.bz2.hybz-tmp", "a", "a.bz2"], "another process still writes the other");
    fs::remove_file(place.path("a.bz2")).expect("remove");
    drop(stdin);
    assert!(child.wait_with_output().expect("hybz").status.success());
    assert_eq!((place.names(), decompressed(&place.get("a.bz2"))), (vec!["a".into(), "a.bz2".into()], text(50_000)));

    // Names that are taken: by a directory, by a link to something of value.
    fs::create_dir(place.path(".a.bz2.hybz-tmp")).expect("a directory");
    done(&hybz());
    fs::remove_dir(place.path(".a.bz2.hybz-tmp")).expect("remove");
    fs::hard_link(place.path("a"), place.path(".a.bz2.hybz-tmp")).expect("a link");
    done(&hybz());
    assert_eq!(place.names(), [".a.bz2.hybz-tmp", "a", "a.bz2"]);
}
