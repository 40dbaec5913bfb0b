//! How results are made and what they inherit, beyond the rows of `behaviours::outputs`.

use crate::place::{Place, installed, root};
use crate::skip::{Need, skip};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Root in a container that may change a file's owner but then not touch the file (no CAP_FOWNER).
#[test]
fn root_without_the_right_to_touch_files_of_others() {
    if !root() {
        return skip(Need::System, "not root");
    }
    if !installed("setpriv") {
        return;
    }
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("chown 4321:4321 a && touch -d 2001-02-03 a").silent(0);
    place.set_mode("a", 0o644);
    let found = fs::metadata(place.path("a")).expect("a");
    place.shell("setpriv --bounding-set -all,+chown,+dac_override --inh-caps -all hybz -k a").silent(0);
    let made = fs::metadata(place.path("a.bz2")).expect("a.bz2");
    assert_eq!((made.mode(), made.uid(), made.gid()), (found.mode(), 4321, 4321));
    assert_eq!(made.mtime(), found.mtime());
}
