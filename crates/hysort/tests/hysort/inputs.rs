//! Inputs: compressed files, files that cannot be read, files that change.

use crate::place::{Place, gnu_sort, same};
use crate::skip::{Need, skip};
use hybz::{LargeBlocks, Settings};

fn coded(text: &[u8]) -> [Vec<u8>; 2] {
    let settings = Settings::new();
    let large = settings.clone().encoding(LargeBlocks::try_new(1 << 20).expect("1 MiB is allowed"));
    [settings, large].map(|settings| hybz::compress(text, &settings).expect("it can be compressed"))
}

/// Compressed inputs are recognised by their first bytes, whatever their names are: files, stdin, pipes; sorted,
/// merged, checked.
#[test]
fn compressed_files() {
    for (text, sorted) in [(&b"b\na\nc"[..], &b"a\nb\nc\n"[..]), (b"", b"")] {
        for coded in coded(text) {
            let place = Place::with(&[("a", &coded), ("plain", b"b\n")]);
            for script in ["$SORT a", "$SORT <a", "cat a | $SORT", "cat a | $SORT -", "$SORT --files0-from=<(printf a)"]
            {
                assert_eq!(place.shell(script).silent(0).stdout, sorted, "{script}");
            }
            let both = place.shell("$SORT -u a plain").silent(0).stdout;
            assert_eq!(both, if text.is_empty() { &b"b\n"[..] } else { sorted });
            place.shell("$SORT -o sorted a && $SORT -c sorted").silent(0);
            place.shell("cat a | $SORT -C").silent(i32::from(!text.is_empty()));
            let raw = place.shell("$SORT --no-decompress a | wc -c").silent(0).stdout;
            let len: usize = String::from_utf8_lossy(&raw).trim().parse().expect("a number");
            assert!((coded.len()..=coded.len() + 1).contains(&len));
        }
    }
    let [bz2, hbz] = coded(b"a\nc\n");
    let place = Place::with(&[("a", &bz2), ("b", &hbz), ("c", b"b\nd\n"), ("d", &[bz2.clone(), hbz.clone()].concat())]);
    assert_eq!(place.shell("$SORT -m a b c").silent(0).stdout, b"a\na\nb\nc\nc\nd\n");
    assert_eq!(place.shell("$SORT d").silent(0).stdout, b"a\na\nc\nc\n");
    assert_eq!(place.shell("$SORT -o a a && cat a").silent(0).stdout, b"a\nc\n");
}

/// Several blocks, through the pool.
#[test]
fn long_compressed_files() {
    let text: Vec<u8> =
        (0..250_000u32).flat_map(|i| format!("{}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect();
    let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    lines.sort();
    let sorted = lines.concat();
    for coded in coded(&text) {
        let place = Place::with(&[("a", &coded)]);
        assert!(place.shell("$SORT a").silent(0).stdout == sorted);
        assert!(place.shell("$SORT -S 1M --parallel=2 a").silent(0).stdout == sorted);
    }
}

/// Text that begins like a compressed file is text.
#[test]
fn text_that_begins_so() {
    for text in [&b"BZh9 begins a .bz2\nA\n"[..], b"BZh9", b"B", b"BZ\nA", b"BZh91AY&SX\nA\n", b"\x89HBZ\nA\n"] {
        if gnu_sort() {
            same(&[("a", text)], "$SORT a; cat a | $SORT");
        }
    }
}

/// Damaged inputs fail, with a message on how to read them nevertheless.
#[test]
fn damaged_files() {
    for mut coded in coded(&b"some text\n".repeat(1000)) {
        let whole = coded.clone();
        let at = coded.len() / 2;
        coded[at] ^= 8;
        let place = Place::with(&[("a", &coded), ("cut", &whole[..whole.len() - 5]), ("out", b"old\n")]);
        for file in ["a", "cut"] {
            let run = place.shell(&format!("$SORT -o out b-that-is-not-there {file}"));
            assert_eq!(run.code, 2);
            let run = place.shell(&format!("$SORT -o out {file}"));
            assert!(run.stderr.starts_with(&format!("hysort: read failed: {file}: ")), "{}", run.stderr);
            assert!(run.stderr.ends_with(" (--no-decompress sorts its bytes as they are)\n"), "{}", run.stderr);
            assert_eq!((run.code, place.get("out")), (2, b"old\n".to_vec()));
            for flag in ["-m", "-c"] {
                let run = place.shell(&format!("$SORT {flag} {file}"));
                assert!(run.code == 2 && run.stderr.starts_with(&format!("hysort: read failed: {file}: ")));
                assert_eq!(run.stderr.lines().count(), 1);
            }
        }
        assert_eq!(place.names(), ["a", "cut", "out"]);
    }
    let [bz2, _] = coded(b"b\na\n");
    let place = Place::with(&[("a", &[&bz2[..], b"garbage"].concat())]);
    let run = place.shell("$SORT a").says(0, "hysort: a: trailing garbage after the compressed data ignored\n");
    assert_eq!(run.stdout, b"a\nb\n");
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
