//! Access control lists: no user may do more with a result than with its source.

use crate::faults::shim;
use crate::place::{Place, run};
use crate::skip::{Need, skip};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use std::path::Path;

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// user::rw-, user:1234:PERMISSIONS, group::---, mask::rw-, other::---
fn list(user: u8) -> Vec<u8> {
    let entry = |tag: u8, permissions, id: u32| [&[tag, 0, permissions, 0][..], &id.to_le_bytes()].concat();
    let entries = [
        entry(1, 6, u32::MAX),
        entry(2, user, 1234),
        entry(4, 0, u32::MAX),
        entry(0x10, 6, u32::MAX),
        entry(0x20, 0, u32::MAX),
    ];
    [&[2, 0, 0, 0][..], &entries.concat()].concat()
}

fn get(path: &Path) -> Option<Vec<u8>> {
    let mut list = vec![0; 100];
    let len = getxattr(path, ACCESS, &mut list[..]).ok()?;
    list.truncate(len);
    Some(list)
}

/// A place with a file `a` that has such a list, if the file system has lists.
fn place(attribute: &str, name: &str) -> Option<Place> {
    let place = Place::with(&[("a", b"hello\n")]);
    if setxattr(place.path(name), attribute, &list(6), XattrFlags::empty()).is_err() {
        skip(Need::System, "the file system has no access control lists");
        return None;
    }
    Some(place)
}

#[test]
fn a_list_is_copied() {
    let Some(place) = place(ACCESS, "a") else { return };
    assert_eq!(place.mode("a"), 0o660, "the mode shows the mask");
    place.hybz(&["a"]).silent(0);
    assert_eq!(get(&place.path("a.bz2")), Some(list(6)));
    place.hybz(&["-d", "a.bz2"]).silent(0);
    assert_eq!((get(&place.path("a")), place.mode("a")), (Some(list(6)), 0o660));
}

#[test]
fn where_it_cannot_be_copied_the_mode_is_narrow() {
    let (Some(place), Some(shim)) = (place(ACCESS, "a"), shim()) else { return };
    let run = run(place.called("hybz").arg("a").env("LD_PRELOAD", shim).env("FAULT", "noacl"));
    run.says(0, "hybz: a.bz2 has mode 600, not 660: Operation not supported.\n");
    assert_eq!((get(&place.path("a.bz2")), place.mode("a.bz2")), (None, 0o600));
}

/// The directory's defaults for new files do not widen the access to the copy of a private file.
#[test]
fn the_defaults_of_a_directory() {
    let Some(place) = place(DEFAULT, "") else { return };
    place.set_mode("a", 0o640);
    place.hybz(&["-k", "a"]).silent(0);
    assert_eq!((get(&place.path("a.bz2")), place.mode("a.bz2")), (None, 0o640));
    // A result of a pipe has no source: it gets the attributes of any new file.
    place.shell("hybz < a -o piped; cat a > made").silent(0);
    assert_eq!(get(&place.path("piped")), get(&place.path("made")));
    assert_eq!(place.mode("piped"), place.mode("made"));
}
