//! Messages, beyond the rows of `behaviours::messages`: the lines of `-v` and `-vv` are those of bzip2.

use crate::place::{Place, bzip2_installed, compressed, noise, run, same_as_bzip2, text};

#[test]
fn lines_of_v_are_those_of_bzip2() {
    let prepare = |place: &Place| {
        place.put("a", &text(120_000));
        place.put("a-much-longer-name-than-the-others", &text(1000));
        place.put("empty", b"");
        place.put("zeros", &[0; 300_000]);
        place.put("é", b"hello\n");
    };
    for args in [
        &["-v", "a"][..],
        &["-v", "empty"],
        &["-v", "zeros", "empty", "a"],
        &["-v", "a", "missing", "a-much-longer-name-than-the-others", "é"],
        &["-cv", "a", "zeros"],
        &["-qv", "a"],
    ] {
        same_as_bzip2("bzip2", args, b"", prepare);
    }
    let packed = |place: &Place| {
        place.put("a.bz2", &compressed(&text(120_000)));
        place.put("longer-name.bz2", &compressed(b""));
    };
    for args in [&["-dv", "a.bz2", "longer-name.bz2"][..], &["-tv", "a.bz2", "longer-name.bz2"], &["-dkvc", "a.bz2"]] {
        same_as_bzip2("bzip2", args, b"", packed);
    }
}

/// `-vv`: bzip2's lines for blocks, then the table of the stations.
#[test]
fn lines_of_vv() {
    if !bzip2_installed() {
        return;
    }
    let place = Place::with(&[("a", b"hello\n"), ("empty", b""), ("a.bz2", &compressed(b"hello\n"))]);
    // Blocks are numbered in each stream.
    place.put("streams.bz2", &[compressed(b""), compressed(&noise(2_000_000)), compressed(b"a")].concat());
    for args in [&["-vvc", "a"][..], &["-tvv", "a.bz2"], &["-dcvv", "a.bz2"], &["-tvv", "streams.bz2", "a.bz2"]] {
        let theirs = run(place.command("bzip2").args(args));
        let ours = run(place.called("bzip2").args(args));
        assert_eq!((ours.code, &ours.stdout), (0, &theirs.stdout));
        let table = ours.stderr.strip_prefix(&theirs.stderr);
        let table =
            table.unwrap_or_else(|| panic!("{args:?}: {:?} should begin with {:?}", ours.stderr, theirs.stderr));
        for column in ["station", "blocks", "MB in", "busy", "waits", "fallbacks", "MiB"] {
            assert!(table.contains(column), "{table}");
        }
    }
}
