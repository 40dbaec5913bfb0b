//! Parts of files. bzip2 has no such thing.

use super::indexes::{place, to_refuse};
use super::rows;
use super::streams::lines;
use crate::place::{Place, Run, compressed, noise, text};
use std::collections::BTreeSet;

rows! {
    "`--ranges` with an index, without, of a .hbz" | "no ranges" | "these bytes, in this order" => ranges_of_bytes;
    "`--ranges` of lines" | "no ranges" | "these lines" => ranges_of_lines;
    "`--ranges` after the end" | "no ranges" | "the existing bytes, and a remark; rc 0, as `dd`"
        => ranges_after_the_end;
    "`--ranges` from a pipe" | "no ranges" | "a sentence; rc 1" => no_ranges_from_a_pipe;
    "`--ranges` of a file that has changed" | "no ranges" | "a remark, decoded without the index; rc 1 if it was \
     named, or fits the first part and not another" => a_foreign_index;
    "`--ranges` of a damaged file" | "no ranges" | "damage outside the blocks is not noticed; inside: what is before \
     it, rc 2" => ranges_of_damage;
    "`--lines`" | "no ranges" | "the lines that begin in a range: of ranges that cover the text, each once"
        => whole_lines;
    "`--split I/N`, `--split SIZE@OFFSET`" | "no such thing" | "the blocks that begin there; all parts are the text, \
     to stdout or `-o`" => split_by_compressed_bytes;
    "`--split` with `--lines`" | "no such thing" | "whole lines, each in one part" => split_lines;
    "`--split` of a damaged file" | "no such thing" | "rc 2 for the part in which the damage lies, and only for it"
        => split_of_damage;
    "`--split` of other formats, of a pipe" | "no such thing" | "a sentence; rc 1" => no_split;
    "`--split SIZE@OFFSET` from one stream of the file to the next" | "no such thing" | "that stream's text"
        => streams_of_a_file;
    "bad values, and flags that do not go together" | "-" | "a sentence; rc 1; nothing is written" => nonsense;
}

/// Reads parts in all ways: without an index, with one next to the file, with a named one of either format.
fn all_ways(place: &Place, args: &[&str]) -> Run {
    if !place.has("m") {
        place.shell("hybz -tf --index a.bz2; mv a.bz2.bzi i").silent(0);
        place.put("o", place.offsets("a.bz2").as_bytes());
        place.shell("hybz -dc a.bz2 >p; hybz -c --block-size 1M p >a.hbz").silent(0);
        // The same file with an empty .hbz stream after it.
        place.shell("(cat a.bz2; hybz -c --block-size 1M </dev/null) >m").silent(0);
    }
    let read = |more: &[&str]| place.hybz(&[&["-dc"], args, more, &["a.bz2"]].concat());
    let first = read(&[]);
    for more in [&["-p1"][..], &["-p3"], &["--index=i"], &["-q", "--index=o"], &["--index=i", "-p3"], &["-m1"]] {
        assert!(read(more) == first, "{args:?} {more:?}");
    }
    std::fs::rename(place.path("i"), place.path("a.bz2.bzi")).expect("an index");
    assert!(read(&[]) == first, "{args:?}");
    std::fs::rename(place.path("a.bz2.bzi"), place.path("i")).expect("an index");
    for file in ["a.hbz", "m"] {
        assert!(place.hybz(&[&["-dc"], args, &[file]].concat()) == first, "{args:?} {file}");
    }
    first
}

/// The texts of all parts of `a.bz2`.
fn splits(place: &Place, count: usize, flags: &str) -> Vec<Vec<u8>> {
    let part = |i| place.shell(&format!("hybz -p1 --split {i}/{count} {flags} a.bz2")).silent(0).stdout;
    (1..=count).map(part).collect()
}

fn split_by_compressed_bytes() {
    let (place, plain) = place();
    place.put("plain", &plain);
    for count in [1, 2, 3, 7] {
        assert!(splits(&place, count, "").concat() == plain, "{count}");
    }
    let len = place.get("a.bz2").len();
    let half = len / 2;
    place.shell(&format!("(hybz --split {half}@0 a.bz2; hybz --split inf@{half} <a.bz2) | cmp - plain")).silent(0);
    place.shell("hybz --split 1/2 -o x a.bz2; hybz -d --split 2/2 -c a.bz2 >>x; cmp x plain").silent(0);
    assert!(place.has("a.bz2"));
    place.shell("(hybz --split 1/2 a.bz2; hybz -dc --split 2/2 a.bz2) | cmp - plain").silent(0);
    assert_eq!(place.shell(&format!("hybz --split 1k@{len} a.bz2")).silent(0).stdout, b"");
    // With more parts than blocks, some parts are empty.
    assert!(splits(&place, 50, "").iter().any(Vec::is_empty));
}

fn split_lines() {
    let place = Place::with(&[("plain", &text(900_000))]);
    place.shell("hybz -1k plain; mv plain.bz2 a.bz2").silent(0);
    for count in [1, 2, 5, 20] {
        let parts = splits(&place, count, "--lines");
        assert!(parts.concat() == place.get("plain"));
        assert!(parts.iter().filter(|part| !part.is_empty()).rev().skip(1).all(|part| part.ends_with(b"\n")));
    }
}

fn split_of_damage() {
    let (place, plain) = place();
    let mut file = place.get("a.bz2");
    let at = file.len() / 5;
    file[at] ^= 4;
    place.put("a.bz2", &file);
    let codes: Vec<i32> = (1..=2).map(|i| place.shell(&format!("hybz --split {i}/2 a.bz2 >part.{i}")).code).collect();
    assert_eq!(codes, [2, 0]);
    assert!(plain.ends_with(&place.get("part.2")) && !place.get("part.2").is_empty());
    let run = place.shell("hybz --split 1/2 a.bz2 >x");
    assert!(run.stderr.contains("data integrity") || run.stderr.contains("Data integrity"), "{run:?}");
}

fn no_split() {
    let (place, plain) = place();
    place.put("plain", &plain);
    place.shell("hybz -dc a.bz2 | hybz -c --block-size 1M >a.hbz").silent(0);
    for (words, what) in [
        ("hybz --split 1/2 a.hbz", "has .hbz streams: --split works only with .bz2."),
        ("cat a.bz2 | hybz --split 1/2", "is not a file on a disk: --split cannot seek in it."),
    ] {
        let run = place.shell(words);
        assert!(run.code == 1 && run.stderr.contains(what) && run.stdout.is_empty(), "{run:?}");
    }
    let run = place.shell("hybz --split 2/2 plain");
    assert!(run.code == 2 && run.stderr.contains("not a bzip2 file"), "{run:?}");
}

fn ranges_of_bytes() {
    let (place, plain) = place();
    for (ranges, expected) in [
        ("10@0", &[(0, 10)][..]),
        ("1@599999", &[(599_999, 600_000)]),
        ("200KiB@50k", &[(50_000, 254_800)]),
        ("5@100,5@100,7@3,0@9,100k@440k", &[(100, 105), (100, 105), (3, 10), (440_000, 540_000)]),
        ("1000@449500", &[(449_500, 450_500)]),
    ] {
        let expected: Vec<u8> = expected.iter().flat_map(|(from, to)| plain[*from..*to].to_vec()).collect();
        assert!(all_ways(&place, &["--ranges", ranges]).silent(0).stdout == expected, "{ranges}");
    }
    place.hybz(&["-d", "--ranges", "5@7", "-o", "part", "a.bz2"]).silent(0);
    assert_eq!(place.get("part"), plain[7..12]);
    // A file on stdin works as well.
    assert_eq!(place.shell("hybz -dc --ranges 5@7 <a.bz2").silent(0).stdout, plain[7..12]);
    place.shell("hybz -t --index a.bz2").silent(0);
    assert_eq!(place.shell("hybz -dc --ranges 5@7 --index=a.bz2.bzi <a.bz2").silent(0).stdout, plain[7..12]);
    let run = place.shell("hybcat --ranges 5@7 a.bz2 a.bz2 2>&1 || hybz -dc --ranges 5@7 a.bz2 a.bz2");
    assert!(run.out().ends_with(&String::from_utf8_lossy(&[&plain[7..12], &plain[7..12]].concat()).into_owned()));
}

fn ranges_of_lines() {
    let lines: Vec<String> = (0..60_000).map(|n| format!("{n} {}\r\n", "x".repeat(n % 17))).collect();
    let whole = lines.concat();
    let place = Place::with(&[("a.bz2", &compressed(whole.trim_end().as_bytes()))]);
    for (ranges, expected) in [
        ("1L@0", lines[..1].concat()),
        ("5L@20000L,2L@3L", lines[20_000..20_005].concat() + &lines[3..5].concat()),
        ("3L@10L,2L@20L,1L@59000L", lines[10..13].concat() + &lines[20..22].concat() + &lines[59_000]),
        ("inf@59999L", lines[59_999].trim_end().to_owned()),
        ("10L@59999L", lines[59_999].trim_end().to_owned()),
        ("4@7L,0L@9L", lines[7][..4].to_owned()),
        ("2L@2", whole[2..].split_inclusive('\n').take(2).collect()),
        ("1L@70000L", String::new()),
    ] {
        assert_eq!(all_ways(&place, &["-q", "--ranges", ranges]).silent(0).out(), expected, "{ranges}");
    }
    // A remark says that an index without line ends cannot find lines; the index is used for all else.
    place.put("of", place.offsets("a.bz2").as_bytes());
    let run = place.hybz(&["-dc", "--ranges", "5L@20000L", "--index=of", "a.bz2"]);
    assert_eq!(run.out(), lines[20_000..20_005].concat());
    run.says(0, "hybz: Index of has no line ends; counting them from the beginning.");
    place.hybz(&["-dc", "--ranges", "5L@20000", "--index=of", "a.bz2"]).silent(0);
}

fn ranges_after_the_end() {
    let (place, plain) = place();
    assert!(all_ways(&place, &["--ranges", "inf@0"]).silent(0).stdout == plain);
    let beyond = ["-q", "--ranges", "100@599990,5@600000,1@1T"];
    assert_eq!(all_ways(&place, &beyond).silent(0).stdout, plain[599_990..]);
    for (ranges, first) in [
        ("100@599990,5@600000,1@1T", Some("5@600000")),
        ("inf@600001", Some("inf@600001")),
        ("5@0,2L@1G", Some("2L@1000000000")),
        ("2L@900000000L", Some("2L@900000000L")),
        ("0@700000,0L@9999999L,inf@0,1@599999", None),
    ] {
        let run = place.hybz(&["-dc", "--ranges", ranges, "a.bz2"]);
        let says = first
            .map_or(String::new(), |range| format!("hybz: a.bz2: the text ends before the range {range} begins.\n"));
        assert_eq!((run.code, run.stderr), (0, says), "{ranges}");
    }
    // Every part of an empty text is empty.
    place.shell("hybz < /dev/null > e.bz2; hybz -dc --ranges inf@0 e.bz2").silent(0);
}

fn no_ranges_from_a_pipe() {
    let (place, _) = place();
    for flag in ["--ranges 5@5", "--split 1/2"] {
        let run = place.shell(&format!("cat a.bz2 | hybz -dc {flag}"));
        run.says(1, "hybz: Input file (stdin) is not a file on a disk: --");
    }
    place.shell("mkfifo f; hybz -dcf --ranges 5@5 f").says(1, "Input file f is not a file on a");
    place.shell("(head -c1 >/dev/null; hybz -dc --ranges 5@5) <a.bz2").says(1, "is not at its beginning");
}

fn a_foreign_index() {
    let (place, plain) = place();
    place.put("other.bz2", &compressed(&noise(300_000)));
    place.shell("hybz -t --index other.bz2; mv other.bz2.bzi a.bz2.bzi").silent(0);
    let run = place.hybz(&["-dc", "--ranges", "9@500000", "a.bz2"]);
    assert_eq!(run.stdout, plain[500_000..500_009]);
    run.says(
        0,
        "hybz: Index a.bz2.bzi: the index belongs to another file, or is older than the file: it does not fit at bit ",
    );
    place.hybz(&["-dcq", "--ranges", "9@500000", "a.bz2"]).silent(0);
    place
        .hybz(&["-dc", "--ranges", "9@5", "--index", "a.bz2"])
        .says(1, "Index a.bz2.bzi: the index belongs to another");
    place.hybz(&["-dc", "--ranges", "9@5", "--index=none", "a.bz2"]).says(1, "Can't open input file none");
    place.hybz(&["-dc", "--ranges", "9@5", "--index=a.bz2", "a.bz2"]).says(1, "Index a.bz2: not an index.");
    place.hybz(&["-l", "a.bz2"]).says(0, "decoding without it");
    // One block has changed, but neither the length nor the end: hybz detects it when that block is wanted.
    let (place, plain) = self::place();
    place.shell("hybz -t --index a.bz2").silent(0);
    let mut coded = place.get("a.bz2");
    let second = place.offsets("a.bz2");
    let bit: usize = second.lines().nth(1).unwrap().split_once(',').unwrap().0.parse().unwrap();
    coded[bit / 8 + 8] ^= 0xff;
    place.put("a.bz2", &coded);
    assert_eq!(place.hybz(&["-dc", "--ranges", "9@5", "a.bz2"]).silent(0).stdout, plain[5..14]);
    assert_eq!(place.hybz(&["-dc", "--ranges", "9@500k", "a.bz2"]).silent(0).stdout, plain[500_000..500_009]);
    place.hybz(&["-dc", "--ranges", "9@120k", "--index", "a.bz2"]).says(1, "it does not fit at bit ");
    place.hybz(&["-dc", "--ranges", "9@120k", "a.bz2"]).says(2, "Data integrity error");
    let run = place.hybz(&["-dc", "--ranges", "9@5,9@120k", "a.bz2"]);
    run.says(
        1,
        "hybz: Index a.bz2.bzi: the index belongs to another file, or is older than the file: it does not fit at bit ",
    );
    place.shell("mv a.bz2.bzi other.bzi").silent(0);
    let run = place.hybz(&["-dc", "--ranges", "9@5,9@120k", "--index=other.bzi", "a.bz2"]);
    run.says(
        1,
        "hybz: Index other.bzi: the index belongs to another file, or is older than the file: it does not fit at bit ",
    );
}

fn ranges_of_damage() {
    let (place, plain) = place();
    place.shell("hybz -t --index a.bz2").silent(0);
    let mut coded = place.get("a.bz2");
    let offsets = place.offsets("a.bz2");
    let bit = |n: usize| offsets.lines().nth(n).unwrap().split_once(',').unwrap().0.parse::<usize>().unwrap();
    let text_at: usize = offsets.lines().nth(2).unwrap().split_once(',').unwrap().1.parse().unwrap();
    coded[(bit(2) + bit(3)) / 16] ^= 1;
    place.put("a.bz2", &coded);
    assert_eq!(place.hybz(&["-dc", "--ranges", "9@5", "a.bz2"]).silent(0).stdout, plain[5..14]);
    let run = place.hybz(&["-dc", "--ranges", "inf@90k", "a.bz2"]);
    assert!(run.stdout == plain[90_000..text_at], "{} bytes", run.stdout.len());
    run.says(2, "block 3, at bit");
    // The same ranges without an index.
    place.shell("rm a.bz2.bzi").silent(0);
    let run = place.hybz(&["-dc", "--ranges", "inf@90k", "a.bz2"]);
    assert!(run.stdout == plain[90_000..text_at], "{} bytes", run.stdout.len());
    run.says(2, "block 3, at bit");
    place.hybz(&["-d", "--ranges", "inf@90k", "-o", "part", "a.bz2"]).says(2, "output file = part");
    assert!(!place.has("part"));
}

/// (`src/cli/modes/run/ranges/tests.rs` reads lines of random ranges in all ways.)
fn whole_lines() {
    let whole = lines();
    let place = Place::with(&[("a.bz2", &compressed(&whole))]);
    // Cuts before, at and after a line end, in long lines, in the middle of blocks.
    let end = whole.iter().rposition(|byte| *byte == b'\n').expect("a line end");
    let mut cuts: BTreeSet<usize> = (0..20).map(|cut| cut * 30_011).filter(|cut| *cut < end).collect();
    cuts.extend([end - 1, end, end + 1, end + 2, whole.len()]);
    let cuts: Vec<usize> = cuts.into_iter().collect();
    let ranges: Vec<String> = cuts.windows(2).map(|cut| format!("{}@{}", cut[1] - cut[0], cut[0])).collect();
    assert!(all_ways(&place, &["--lines", "--ranges", &ranges.join(",")]).silent(0).stdout == whole);
    let alone = |range: &String| place.hybz(&["-dc", "--lines", "--ranges", range, "a.bz2"]).silent(0).stdout;
    let parts: Vec<Vec<u8>> = ranges.iter().map(alone).collect();
    assert!(parts.concat() == whole && parts.iter().any(Vec::is_empty));
    assert!(parts.iter().all(|part| part.is_empty() || part.ends_with(b"\n") || part.ends_with(b"the last")));
}

fn streams_of_a_file() {
    // Like Wikimedia's multistream dumps: pages in each stream, and an index of the streams' offsets.
    let pages: Vec<Vec<u8>> =
        (0..7).map(|n| format!("<page>{n}</page>\n").repeat(1000 * (n + 1)).into_bytes()).collect();
    let streams: Vec<Vec<u8>> = pages.iter().map(|page| compressed(page)).collect();
    let place = Place::with(&[("a.bz2", &streams.concat())]);
    let mut from = 0;
    for (page, stream) in pages.iter().zip(&streams) {
        let one = place.hybz(&["-dc", &format!("--split={}@{from}", stream.len()), "a.bz2"]).silent(0);
        assert!(one.stdout == *page, "{from}");
        from += stream.len();
    }
}

/// Each bad value, and each senseless pair of flags, makes hybz print one line and exit with 1, and nothing is done.
fn nonsense() {
    let place = to_refuse();
    place.refuses(&[
        ("-dc --ranges= a.bz2", "--ranges expects ranges such as 10@0,1KiB@15KiB or 5L@20L. For help"),
        ("--split 3/2 a.bz2", "--split expects a part such as 1/8 or 64M@0, not `3/2'."),
        ("--split 0/2 a.bz2", "--split expects a part such as 1/8 or 64M@0, not `0/2'."),
        ("--split 1 a.bz2", "--split expects a part such as 1/8 or 64M@0, not `1'."),
        ("-z --split 1/2 plain", "--split and -z cannot be used together."),
        ("-t --split 1/2 a.bz2", "--split and -t cannot be used together."),
        ("--split 1/2 -r .", "-r and --split cannot be used together."),
        ("-dc --ranges 10 a.bz2", "--ranges expects ranges such as 10@0,1KiB@15KiB or 5L@20L, not `10'."),
        ("-dc --ranges 10@0, a.bz2", "not `10@0,'"),
        ("-dc --ranges 1x@0 a.bz2", "not `1x@0'"),
        ("-dc --ranges 5@inf a.bz2", "not `5@inf'."),
        ("-dc --ranges -5@0 a.bz2", "--ranges expects ranges such as"),
        ("--ranges 1@0 plain", "--ranges works only with -d."),
        ("-z --ranges 1@0 plain", "--ranges and -z cannot be used together."),
        ("-t --ranges 1@0 a.bz2", "--ranges and -t cannot be used together."),
        ("-l --ranges 1@0 a.bz2", "--ranges and -l cannot be used together."),
        ("-d --ranges 1@0 a.bz2", "--ranges gives a part of the text: use it with -c or -o."),
        ("-d --ranges 1@0 -o x --rm a.bz2", "--ranges and --rm cannot be used together."),
        ("-dc --ranges 1@0 a.bz2 -", "--ranges reads stdin only if it is the one input file."),
        ("-dc --lines a.bz2", "--lines works only with --ranges, --split and --stream-size."),
        ("-dc --lines --ranges 1L@0 a.bz2", "--lines and ranges of lines (L) cannot be used together."),
        ("-dc --lines --ranges 1@5L a.bz2", "--lines and ranges of lines (L) cannot be used together."),
    ]);
    place.refuses_each("--split 1/2 {} a.bz2", "--split and {}", &["--ranges 1@0", "--index", "--rm -o x"]);
}
