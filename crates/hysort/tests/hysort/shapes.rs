//! Texts of all shapes: the bytes of `LC_ALL=C sort`.

use crate::place::{each_same, gnu_sort, numbers, same};
use crate::texts::texts;

#[test]
fn all_shapes() {
    if !gnu_sort() {
        return;
    }
    for (name, text) in texts().into_iter().chain([("numbers", numbers(200_000))]) {
        let files = [("a", &text[..])];
        for flags in
            ["", "-r", "-u", "-ru", "-z", "-zu", "--parallel=1", "--parallel=16 -S 1M", "-r -S 2M -T . -T /tmp"]
        {
            assert_eq!(same(&files, &format!("$SORT {flags} a a")).code, 0, "{name} {flags}");
        }
        same(&files, "cat a a | $SORT -u -S 1M | tee b | $SORT -c -u && $SORT -m a b");
        for spoilt in ["sed '2{h;d};$G'", "sed 2p"] {
            same(&files, &format!("$SORT -u a | {spoilt} | $SORT -c -u 2>/dev/null"));
        }
        same(&files, "$SORT -c a 2>/dev/null");
    }
}

/// The end of a file ends its last line.
#[test]
fn several_files() {
    let many = b"for i in $(seq 100); do printf '%d\\n%d' $((i % 7)) $((1000 - i)) >f$i; done";
    let mut files: Vec<(&str, &[u8])> = vec![("many", many), ("a", b"d\nb"), ("b", b""), ("c", b"a")];
    files.extend([("d", &b"\n"[..]), ("e", b"c\n"), ("f", b"b")]);
    each_same(&files, include_str!("files.sh"));
}
