//! Outputs: files that appear complete or not at all, with the attributes of those that they replace.

use crate::place::Place;
use crate::skip::{Need, skip};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// A file system that keeps no modes, and one that cannot sync.
#[test]
fn what_is_refused_is_said() {
    let place = Place::with(&[("a", b"b\na\n")]);
    if !place.has_faults() {
        return;
    }
    for (fault, said) in [
        ("fchmod@1", "hysort: a: has mode 600, not 644: Operation not permitted\n"),
        ("sync@22", "hysort: a: cannot be synced: its file system refuses it\n"),
    ] {
        place.shell("echo b >a; echo a >>a; chmod 644 a").silent(0);
        place.shell(&format!("FAULT=refuse-{fault} LD_PRELOAD=$PWD/faults.so exec $SORT -o a a")).ends(0, said);
        assert_eq!(place.get("a"), b"a\nb\n");
    }
}

/// A job in the background draws nothing, and `stty tostop` does not stop it.
#[test]
fn in_the_background() {
    let place = Place::with(&[]);
    if !["script", "bash", "stty"].iter().all(|program| place.shell(&format!("command -v {program}")).code == 0) {
        return skip(Need::System, "no pseudo-terminal");
    }
    let slow = "(seq 1000000; sleep 1.5; seq 1000000)";
    for (line, shown) in [
        (format!("stty tostop; {slow} | $SORT >out & wait"), false),
        (format!("stty tostop; {slow} | $SORT >out & sleep 0.2; fg"), true),
    ] {
        let script = format!("TERM=xterm timeout 60 script -qec \"bash -mc '{line}'\" shown </dev/null");
        place.shell(&script);
        assert_eq!(place.get("out").iter().filter(|byte| **byte == b'\n').count(), 2_000_000, "{line}");
        let bar = String::from_utf8_lossy(&place.get("shown")).contains("MB");
        assert_eq!(bar, shown, "{line}");
    }
}

/// Owner and group are those of the old file, if we may set them.
#[test]
fn the_owner_stays() {
    if !rustix::process::geteuid().is_root() {
        return skip(Need::System, "only root can give files away");
    }
    let place = Place::with(&[("a", b"b\na\n")]);
    std::os::unix::fs::chown(place.path("a"), Some(1234), Some(2345)).unwrap();
    place.shell("$SORT a -o a").silent(0);
    let after = fs::metadata(place.path("a")).unwrap();
    assert_eq!((after.uid(), after.gid(), place.get("a")), (1234, 2345, b"a\nb\n".to_vec()));
}

/// Without /proc an unnamed file could not get a name: a hidden one is used, which a signal removes.
#[test]
fn hidden_names() {
    let place = Place::with(&[("a", b"b\na\n"), ("old", b"the old file\n")]);
    if place.shell("unshare -m true").code != 0 {
        return skip(Need::System, "no name space of mounts can be made");
    }
    let without_proc = |script: &str| {
        let umount = "umount -l /proc && ";
        place.shell(&format!("export SORT; unshare -m env --default-signal=TERM bash -c '{umount}{script}'"))
    };
    without_proc("$SORT a -o new; $SORT a -o a").silent(0);
    assert_eq!((place.get("a"), place.get("new")), (b"a\nb\n".to_vec(), b"a\nb\n".to_vec()));
    let run = without_proc("{ sleep 2 | $SORT -o old & sleep 0.5; ls -A; kill -TERM $!; wait $!; echo $?; }").silent(0);
    assert_eq!(String::from_utf8_lossy(&run.stdout), ".old.hybz-tmp\na\nnew\nold\n143\n");
    assert_eq!((place.names().len(), place.get("old")), (3, b"the old file\n".to_vec()));
    // The next call removes the file that kill -9 leaves.
    without_proc("{ sleep 2 | $SORT -o old & sleep 0.5; kill -KILL $!; }");
    assert_eq!(place.names(), [".old.hybz-tmp", "a", "new", "old"]);
    without_proc("$SORT a -o old").silent(0);
    assert_eq!((place.names().len(), place.get("old")), (3, b"a\nb\n".to_vec()));
}

/// A file that is mounted, or another user's in /tmp, cannot be replaced: that is known before any work.
#[test]
fn what_cannot_be_replaced() {
    let place = Place::with(&[("a", b"b\na\n"), ("mounted", b"old\n"), ("f", b"")]);
    let script =
        "rm f; mkfifo f; mount --bind a mounted && { timeout 5 $SORT -o mounted <>f; echo $?; umount mounted; }";
    let run = place.shell(script);
    if run.stdout.is_empty() {
        return skip(Need::System, "nothing can be mounted");
    }
    assert_eq!(
        (&*run.stderr, &run.stdout[..]),
        ("hysort: open failed: mounted: Device or resource busy\n", &b"2\n"[..])
    );
    assert_eq!((place.get("a"), place.get("mounted")), (b"b\na\n".to_vec(), b"old\n".to_vec()));
    let script = "chmod 755 .; mkdir d; chmod 1777 d; echo old >d/old; chmod 666 d/old; cp $SORT hysort; \
                  another='setpriv --reuid=12345 --regid=12345 --clear-groups'; \
                  timeout 5 $another ./hysort -o d/old <>f; echo $?; cat d/old";
    let run = place.shell(script);
    if run.stderr.contains("protected") || run.stderr.contains("Permission denied") {
        return skip(Need::System, "files of others in such directories are protected");
    }
    assert_eq!(&*run.stderr, "hysort: open failed: d/old: Operation not permitted\n");
    assert_eq!(run.stdout, b"2\nold\n");
}

/// An access control list stays, on file systems that have such lists.
#[test]
fn the_access_control_list_stays() {
    let place = Place::with(&[("a", b"b\na\n")]);
    // user::rw-, user:1000:r--, group::---, mask::r--, other::---
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 4, 1000), (4, 0, u32::MAX), (0x10, 4, u32::MAX), (0x20, 0, u32::MAX)];
    let list: Vec<u8> = [2u32.to_le_bytes().to_vec()]
        .into_iter()
        .chain(entries.map(|(tag, perm, id)| [&tag.to_le_bytes()[..], &perm.to_le_bytes(), &id.to_le_bytes()].concat()))
        .flatten()
        .collect();
    const NAME: &str = "system.posix_acl_access";
    if rustix::fs::setxattr(place.path("a"), NAME, &list, rustix::fs::XattrFlags::empty()).is_err() {
        return skip(Need::System, "the file system has no access control lists");
    }
    place.shell("$SORT a -o a").silent(0);
    let mut found = [0; 100];
    let len = rustix::fs::getxattr(place.path("a"), NAME, &mut found[..]).expect("the list");
    assert_eq!((&found[..len], place.get("a")), (&list[..], b"a\nb\n".to_vec()));
}
