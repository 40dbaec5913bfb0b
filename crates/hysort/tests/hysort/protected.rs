//! Links and files of others in a directory such as /tmp: the kernel says whether `-o` may follow or write them.

use crate::place::Place;
use crate::skip::{Need, skip};

/// A kernel that forbids following links, whatever `fs.protected_symlinks` is here: opening a link fails.
#[test]
fn the_kernel_is_asked_about_links() {
    let place = Place::with(&[("a", b"b\na\n"), ("victim", b"old\n")]);
    if !place.has_faults() {
        return;
    }
    let before = place.names().len();
    for target in ["victim", "missing"] {
        let script = format!("ln -s {target} link; LD_PRELOAD=$PWD/faults.so FAULT=protected $SORT -o link a");
        place.shell(&script).ends(2, "hysort: open failed: link: Permission denied\n");
        place.shell("rm link").silent(0);
        assert_eq!((place.get("victim"), place.names().len()), (b"old\n".to_vec(), before), "{target}");
    }
}

/// The same with the kernel's own rule, and with that for regular files, as root in another user's sticky directory.
#[test]
fn sticky_directories() {
    if !rustix::process::geteuid().is_root() {
        return skip(Need::System, "only root has files that others may lead it to");
    }
    let on = |name: &str| {
        let value = std::fs::read_to_string(format!("/proc/sys/fs/{name}")).unwrap_or_default();
        value.trim().parse().unwrap_or(0) > 0
    };
    let prepare = "mkdir sticky; chmod 1777 sticky; ln -s ../victim sticky/link; chown -h 12345 sticky/link; \
                   echo old >sticky/file; chown 12345 sticky/file;";
    for (sysctl, name) in [("protected_symlinks", "link"), ("protected_regular", "file")] {
        if !on(sysctl) {
            crate::skip::skip_part(Need::System, &format!("fs.{sysctl} is off"));
            continue;
        }
        let place = Place::with(&[("a", b"b\na\n"), ("victim", b"old\n")]);
        let said = format!("hysort: open failed: sticky/{name}: Permission denied\n");
        place.shell(&format!("{prepare} $SORT -o sticky/{name} a")).ends(2, &said);
        assert_eq!((place.get("victim"), place.get("sticky/file")), (b"old\n".to_vec(), b"old\n".to_vec()));
    }
}
