//! Texts of all shapes: the bytes of `LC_ALL=C sort`.

use crate::place::{gnu_sort, numbers, same};
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

/// Each file ends its last line.
#[test]
fn several_files() {
    if !gnu_sort() {
        return;
    }
    let files: &[(&str, &[u8])] = &[("a", b"d\nb"), ("b", b""), ("c", b"a"), ("d", b"\n"), ("e", b"c\n"), ("f", b"b")];
    for flags in ["", "-u", "-r", "-z", "-m", "-mu", "-mz"] {
        same(files, &format!("$SORT {flags} a b c d e f"));
        same(files, &format!("cat c | $SORT {flags} f e d - b a c"));
    }
    let many: Vec<(String, Vec<u8>)> =
        (0..100u32).map(|i| (format!("f{i}"), format!("{}\n{}", i % 7, 1000 - i).into_bytes())).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, text)| (&**name, &**text)).collect();
    same(&many, "$SORT f*");
    same(&many, "for f in f*; do sort -o $f $f; done; $SORT -m f*");
    same(&many, "for f in f*; do sort -o $f $f; done; $SORT -mu --batch-size=3 f*");
    same(&many, "for f in f*; do sort -o $f $f; done; ulimit -n 40; $SORT -m f*");
}
