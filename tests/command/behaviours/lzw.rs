//! `.Z` files of `compress`. bzip2 does not read them, nor does hybz when called by bzip2's names.

use super::{as_bzip2_sees, is_read, rows};
use crate::place::{Place, bzip2_installed, compressed, run, same_as_bzip2, text};
use hybz::{LargeBlocks, Settings};

rows! {
    "`-d`, `-dk`, `-dc`, `-t`, `-o` of a `.Z`" | "not a bzip2 file" | "its text, as gzip; also from stdin" => reading;
    "`NAME.Z`, `NAME.taz`" | "`NAME.Z.out`, `NAME.taz.out`" | "`NAME`, `NAME.tar`" => names;
    "`-z` of a `.Z`" | "`NAME.Z.bz2`" | "the same" => compressing;
    "damage, an end within a code" | "-" | "rc 2, the text before it to stdout; as gzip, no error: nothing says \
     where a `.Z` ends" => damage;
    "two `.Z` in one file" | "-" | "the second one is taken for codes, as in gzip" => two;
    "`-dcf` of a `.Z`" | "copied" | "its text" => forced;
    "`-l` of a `.Z`; with `-v`, `--json`" | "no -l" | "decoded: its sizes, no blocks" => listing;
    "`--index` of a `.Z`; `--recover`, `--bench`" | "no such flags" | "a remark and no index; refused \
     by name" => other_flags;
    "`--ranges` of a `.Z`" | "no such flags" | "decoded from the beginning" => ranges;
    "called as `bzip2`, `bunzip2` or `bzcat`: a `.Z`, a `.hbz`" | "not a bzip2 file" | "the same, byte for byte; so \
     are names that end in `.Z` and `.hbz`" => called_as_bzip2;
}

/// `aaaaaa`.
const SIX: &[u8] = &[0x1f, 0x9d, 0x90, 0x61, 0x02, 0x0a, 0x04];

fn reading() {
    is_read("a.Z", SIX, b"aaaaaa");
}

fn names() {
    let place = Place::with(&[("a.taz", SIX), ("b.Z", SIX), ("c", SIX)]);
    place.hybz(&["-d", "a.taz", "b.Z"]).silent(0);
    assert_eq!(place.names(), ["a.tar", "b", "c"]);
    place.hybz(&["-d", "c"]).says(0, "Can't guess original name for c -- using c.out");
    let place = Place::with(&[("a.Z", SIX), ("b", b"x"), ("c.hbz", b"x")]);
    place.hybz(&["-drk", "."]);
    assert!(place.has("a") && !place.has("b.out"));
}

fn compressing() {
    same_as_bzip2("bzip2", &["a.Z", "b.taz"], b"", |place| {
        place.put("a.Z", SIX);
        place.put("b.taz", SIX);
    });
    let place = Place::with(&[("a.Z", SIX)]);
    place.hybz(&["a.Z"]).silent(0);
    assert_eq!(place.names(), ["a.Z.bz2"]);
}

fn damage() {
    // A code that is not defined yet.
    let file = [0x1f, 0x9d, 0x90, 0x61, 0x04, 0x02];
    let place = Place::with(&[("a.Z", &file)]);
    let run = place.hybz(&["-dc", "a.Z"]);
    assert_eq!((run.code, &run.stdout[..]), (2, &b"a"[..]));
    assert!(run.stderr.contains("at bit 33: code 258, but only those below 258 are known"), "{run:?}");
    assert!(!run.stderr.contains("bzip2recover"), "{run:?}");
    place.hybz(&["-d", "a.Z"]).says(2, "Data integrity error when decompressing.");
    place.hybz(&["-t", "a.Z"]).says(2, "a.Z: data integrity error in data: at bit 33: code 258");
    assert_eq!(place.names(), ["a.Z"]);
    place.put("a.Z", &SIX[..5]);
    assert_eq!(place.hybz(&["-dc", "a.Z"]).silent(0).stdout, b"a");
}

fn two() {
    let place = Place::with(&[("a.Z", &[SIX, SIX].concat())]);
    place.hybz(&["-t", "a.Z"]).says(2, "code");
    // After a .bz2, a .Z is garbage, as for bzip2.
    place.put("b.bz2", &[&compressed(b"text"), SIX].concat());
    place.hybz(&["-dc", "b.bz2"]).says(0, "trailing garbage after EOF ignored");
}

fn forced() {
    let place = Place::new();
    assert_eq!(place.hybz_with_input(&["-dcf"], SIX).silent(0).stdout, b"aaaaaa");
    for other in [&b"\x1f"[..], b"\x1f\x8b\x08 gzip's", b"\x1f\x9c"] {
        assert_eq!(place.hybz_with_input(&["-dcf"], other).silent(0).stdout, other);
    }
    if bzip2_installed() {
        let run = crate::place::run_with_input(place.called("bzcat").arg("-f"), SIX).silent(0);
        assert_eq!(run.stdout, SIX);
    }
}

fn listing() {
    let place = Place::with(&[("a.Z", SIX)]);
    for flags in [&["-l", "a.Z"][..], &["-lv", "a.Z"]] {
        let lines = place.hybz(flags).silent(0).out();
        let words: Vec<&str> = lines.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(words, ["1", "0", "-", "7", "6", "0.857", "a.Z"]);
    }
    let object = place.hybz(&["-l", "--json", "a.Z"]).silent(0).out();
    assert!(object.contains(r#""format":"Z","from":"decoding","streams":1,"blocks":0"#), "{object}");
    let report = place.shell("hybz -t --json=r a.Z && cat r").silent(0).out();
    assert!(report.contains(r#""format":"Z""#), "{report}");
}

fn other_flags() {
    let place = Place::with(&[("a.Z", SIX)]);
    place.hybz(&["-dk", "--index", "a.Z"]).says(0, "a.Z is a .Z, which has no blocks: no index is written");
    place.hybz(&["-l", "--index", "a.Z"]).says(0, "a.Z is a .Z, which has no blocks: no index is written");
    assert_eq!(place.names(), ["a", "a.Z"]);
    place.hybz(&["--recover", "a.Z"]).says(1, "a.Z is a .Z: --recover works only with .bz2.");
    place.hybz(&["--bench", "-d", "a.Z"]).says(1, "a.Z is a .Z: --bench works only with .bz2 and .hbz.");
}

fn ranges() {
    // Codes of nine bits that stand for single bytes, 0 to 199.
    let bits: Vec<u8> = (0..200u16).flat_map(|byte| (0..9).map(move |i| (byte >> i & 1) as u8)).collect();
    let bytes = bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |sum, bit| sum << 1 | bit));
    let file: Vec<u8> = [0x1f, 0x9d, 0x90].into_iter().chain(bytes).collect();
    let place = Place::with(&[("a.Z", &file)]);
    assert_eq!(place.hybz(&["-dc", "--ranges", "3@10,2@100", "a.Z"]).silent(0).stdout, [10, 11, 12, 100, 101]);
    assert_eq!(place.hybz(&["-dc", "--ranges", "2@100,3@10", "a.Z"]).silent(0).stdout, [100, 101, 10, 11, 12]);
}

fn called_as_bzip2() {
    let large = Settings::new().encoding(LargeBlocks::try_new(1_000_000).unwrap());
    let hbz = hybz::compress(&text(5000), &large).unwrap();
    [SIX, &hbz].iter().for_each(|file| as_bzip2_sees(&["a.Z", "a.hbz", "a.bz2"], file));
    // Called by other names, hybz reads all formats.
    let place = Place::with(&[("a.Z", SIX), ("b.hbz", &hbz)]);
    run(place.called("hybunz").args(["a.Z", "b.hbz"])).silent(0);
    assert_eq!(place.names(), ["a", "b"]);
}
