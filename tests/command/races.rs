//! A source that is replaced, grown or gone while it is read (the matrix has more of these): it must not be removed.

use crate::place::{Place, decompressed, text, wait_until_open};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Stdio;

/// Compresses `a` while the result of the operand before it is held up, so that `change` happens between the opening of
/// `a` and its end; returns the place afterwards.
fn while_it_is_read(change: impl FnOnce(&Place)) -> (Place, crate::place::Run) {
    let place = Place::with(&[("a", &text(1_500_000))]);
    place.shell("mkfifo out").silent(0);
    // The reader of the FIFO is late, so hybz has opened `a`, and cannot be done with it.
    let child = place
        .called("hybz")
        // With this little memory, `a` cannot be finished before the FIFO has a reader.
        .args(["-1", "-f", "-m1", "--rm", "-o", "out", "a"])
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("hybz");
    wait_until_open(child.id(), &place.path("a"));
    change(&place);
    place.shell("cat out > a.bz2").silent(0);
    let output = child.wait_with_output().expect("hybz");
    (place, output.into())
}

const KEPT: &str = "hybz: Input file a changed while it was read: not removed.\n";

/// This and the next are rows of `behaviours::inputs`.
pub fn replaced_sources() {
    let (place, run) = while_it_is_read(|place| {
        place.put("new", &text(1_500_000));
        fs::rename(place.path("new"), place.path("a")).expect("rename");
    });
    run.says(1, KEPT);
    assert_eq!(decompressed(&place.get("a.bz2")), text(1_500_000), "what was opened was compressed");
    assert!(place.has("a"));
}

pub fn grown_sources() {
    let (place, run) = while_it_is_read(|place| {
        let mut file = OpenOptions::new().append(true).open(place.path("a")).expect("a");
        file.write_all(b"more").expect("write");
    });
    run.says(1, KEPT);
    assert_eq!(place.get("a").len(), 1_500_004);
    assert!(decompressed(&place.get("a.bz2")).len() >= 1_500_000);
}

#[test]
fn sources_that_are_gone() {
    let (_, run) = while_it_is_read(|place| fs::remove_file(place.path("a")).expect("remove"));
    run.says(1, "hybz: Can't remove input file a: No such file or directory.\n");
}
