//! Inputs: files that cannot be read, files that change.

use crate::place::{gnu_sort, same};
use crate::skip::{Need, skip};

/// Compressed files are sorted as they are.
#[test]
fn compressed_files() {
    let bz2 = hybz::compress(b"b\na\n", &hybz::Settings::new()).expect("it can be compressed");
    for text in [&bz2[..], b"BZh9 begins a .bz2\nA\n", b"\x89HBZ\nA\n"] {
        if gnu_sort() {
            same(&[("a", text)], "$SORT a; cat a | $SORT");
        }
    }
}

/// stdin of which another process has read a part, FIFOs, files without a length.
#[test]
fn other_files() {
    if !gnu_sort() {
        return;
    }
    let files: &[(&str, &[u8])] = &[("a", b"head\nd\nb\nc\n")];
    for script in [
        "{ read line; $SORT; } <a",
        "{ $SORT -; $SORT -; } <a",
        "mkfifo f; cat a >f & $SORT f; rm f",
        "mkfifo f; cat a >f & $SORT -m f; rm f",
        "$SORT /proc/self/limits | wc -l",
        "$SORT <(cat a) <(cat a)",
        "{ printf 'b\\n'; sleep 0.1; printf a; sleep 0.1; printf '\\na2\\n'; } | $SORT",
        "$SORT a >>a; cat a",
        "$SORT -c a >>a 2>/dev/null; cat a",
    ] {
        same(files, script);
    }
    // GNU sort copies such a file first.
    same(&[], "ulimit -f 20000; seq -w 400000 >a; $SORT -m a >>a; cksum a");
}

#[test]
fn unreadable_files() {
    if rustix::process::geteuid().is_root() {
        return skip(Need::System, "root can read all files");
    }
    if gnu_sort() {
        for script in ["chmod 0 a; $SORT a", "chmod 0 a; $SORT -c a", "chmod 0 a; $SORT -o a b"] {
            same(&[("a", b"b\na\n"), ("b", b"")], script);
        }
    }
}
