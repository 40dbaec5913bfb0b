//! Texts of all shapes: the bytes of `LC_ALL=C sort`.

use crate::place::{Place, gnu_sort, numbers, same};
use crate::texts::texts;

#[test]
fn all_shapes() {
    if !gnu_sort() {
        return;
    }
    for (name, text) in texts().into_iter().chain([("numbers", numbers(200_000))]) {
        for flags in ["", "-r", "-u", "-ru", "-z", "-zu", "--parallel=1", "--parallel=16 -S 1M"] {
            let run = same(&[("a", &text)], &format!("$SORT {flags} a"));
            assert_eq!(run.code, 0, "{name} {flags}");
        }
        same(&[("a", &text)], "cat a | $SORT");
        same(&[("a", &text)], "$SORT -c a 2>/dev/null");
        same(&[("a", &text)], "$SORT -m a a");
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

/// More than memory: through temporary files.
#[test]
fn larger_than_memory() {
    if !gnu_sort() {
        return;
    }
    let text = numbers(300_000);
    let place = Place::with(&[("a", &text)]);
    for order in ["", "-u", "-r"] {
        let expected = same(&[("a", &text)], &format!("$SORT {order} a a")).stdout;
        for limits in ["-S 1M", "-S 1M --parallel=16", "-S 2M --parallel=1 -T . -T /tmp"] {
            for script in [format!("$SORT {order} {limits} a a"), format!("cat a a | $SORT {order} {limits}")] {
                assert!(place.shell(&script).silent(0).stdout == expected, "{script}");
            }
        }
    }
}

/// A sorted file passes `-c`; with a misplaced or repeated line it does not.
#[test]
fn checks_of_the_results_of_sort() {
    if !gnu_sort() {
        return;
    }
    for flags in ["", "-r", "-u", "-ru", "-z"] {
        let text = [("a", &numbers(50_000)[..])];
        let run = same(&text, &format!("set -o pipefail; sort {flags} a | $SORT -c {flags}"));
        assert_eq!(run.code, 0, "{flags}");
        for spoilt in ["sed '40000{h;d};$G'", "sed 25000p"] {
            let run = same(&text, &format!("sort {flags} a | {spoilt} | $SORT -c {flags} -"));
            let allowed = spoilt.ends_with('p') && !flags.contains('u');
            assert!(flags == "-z" || run.code == i32::from(!allowed), "{flags} {spoilt}");
        }
    }
}
