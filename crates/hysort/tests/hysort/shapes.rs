//! Texts of all shapes: the bytes of `LC_ALL=C sort`.

use crate::place::{Place, gnu_sort, numbers, same};

/// Named texts.
fn shapes() -> Vec<(&'static str, Vec<u8>)> {
    let long = |byte: u8, len: usize| vec![byte; len];
    let periodic: Vec<u8> =
        (0..50_000u32).flat_map(|i| [&b"abc".repeat((i % 90) as usize)[..], b"\n"].concat()).collect();
    vec![
        ("empty", Vec::new()),
        ("one newline", b"\n".to_vec()),
        ("no last newline", b"b\na".to_vec()),
        ("one line", b"line\n".to_vec()),
        ("one line without its newline", b"line".to_vec()),
        ("empty lines", b"\n\n\nb\n\na\n\n".to_vec()),
        ("NULs", b"a\0b\na\na\0\n\0\n\0\0\na\0a\n".to_vec()),
        ("carriage returns", b"b\r\na\r\nb\na\n\r\n".to_vec()),
        ("all bytes", (0..=255).rev().flat_map(|byte| [byte, b'\n']).collect()),
        ("high bytes", b"\xff\n\x7f\n\x80\n\xc3\xa4\na\n".to_vec()),
        ("prefixes of each other", b"abcdefghijkl\nabc\nabcdefgh\nabcdefg\n\nab\nabcdefghi\n".to_vec()),
        ("equal lines", b"the same line\n".repeat(100_000)),
        (
            "equal lines but one",
            [&b"the same line\n".repeat(50_000)[..], b"another\n", &b"the same line\n".repeat(9)].concat(),
        ),
        ("numbers", numbers(200_000)),
        ("sorted numbers", (0..100_000).flat_map(|i| format!("{i:09}\n").into_bytes()).collect()),
        ("descending numbers", (0..100_000).rev().flat_map(|i| format!("{i:09}\n").into_bytes()).collect()),
        ("periodic lines", periodic),
        ("a long line", [&b"b\n"[..], &long(b'a', 3_000_000), b"\nc\n"].concat()),
        ("long lines", (0..40).rev().flat_map(|i| [&long(b'x', 100_000)[..], &[b'a' + i], b"\n"].concat()).collect()),
        ("a long line without its newline", long(b'z', 2_000_000)),
    ]
}

#[test]
fn all_shapes() {
    if !gnu_sort() {
        return;
    }
    for (name, text) in shapes() {
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
