//! Sorting by keys: random specifications and texts, and those that people use.

use crate::place::{Place, each_same, gnu_sort, hysort, same};
use crate::skip::{Need, skip};
use hybz_testkit::shapes::Rng;
use std::process::{Command, Output};

/// The letters of options that are tried.
const LETTERS: &[&str] =
    &["b", "d", "f", "i", "n", "r", "n", "nr", "bn", "df", "fr", "g", "h", "M", "V", "gr", "hf", "Vr", "dV", "fV"];

/// The words that lines are made of: many of them are equal by some key.
const TOKENS: &[u8] = b"a A b aB Ab z _ \xe4 \xff\xfe \xf9 0 00 1 -1 10 9 -0 01 1.0 1.5 -1.5 .5 -.5 1.50 \
     123456789012345678901234567890 +1 - --1 1e3 1,000 \x01 \x00 \x0b \x7f chr1 chr10 chr2 . 1. 100 1K 2M Jan \
     feb MAR inf v1.2 v1.10 a.c a~ 0x1F 1e-2 18446744073709551617 18446744073709551616 0.1 \
     0.10000000000000000000001 3e-4951 2e4932 0x1.8p-3 0.1875 -inf INFINITY 1k -2M 1.5G 1.G .5T 0M 1Z June v0 \
     a-1.tar.gz a-1.0 .. .x .1 ~ a.~1~ a1~b 1e+ 0xg \x0b1 a.9z 01a";

const GAPS: &[&[u8]] = &[b" ", b"\t", b"  ", b",", b",", b" ,", b"", b":", b" ", b"\t"];

fn pick<'a, T: ?Sized>(rng: &mut Rng, all: &[&'a T]) -> &'a T {
    all[rng.below(all.len())]
}

fn text(rng: &mut Rng, end: u8) -> Vec<u8> {
    let all: Vec<&[u8]> = TOKENS.split(|&byte| byte == b' ').collect();
    let (mut text, tokens) = (Vec::new(), 1 + rng.below(all.len()));
    let most = if rng.below(30) == 0 { 3000 } else { 30 };
    for _ in 0..rng.below(most) {
        for _ in 0..rng.below(5) {
            text.extend_from_slice(pick(rng, GAPS));
            text.extend_from_slice(all[rng.below(tokens)]);
            if end == 0 && rng.below(10) == 0 {
                text.push(b'\n');
            }
        }
        text.push(end);
    }
    if rng.below(4) == 0 {
        text.pop();
    }
    text
}

fn options(rng: &mut Rng) -> String {
    if rng.below(2) == 0 { String::new() } else { pick(rng, LETTERS).to_owned() }
}

fn key(rng: &mut Rng) -> String {
    let mut key = format!("{}", 1 + rng.below(4));
    if rng.below(4) == 0 {
        key += &format!(".{}", 1 + rng.below(4));
    }
    key += &options(rng);
    if rng.below(3) > 0 {
        key += &format!(",{}", 1 + rng.below(4));
        if rng.below(3) == 0 {
            key += &format!(".{}", rng.below(4));
        }
        key += &options(rng);
    }
    key
}

/// A call, whose files are `a`, `b` and `c`.
fn words(rng: &mut Rng) -> (Vec<String>, u8) {
    let mut words = Vec::new();
    for _ in 0..rng.below(4) {
        words.push(format!("-k{}", key(rng)));
    }
    match rng.below(10) {
        0..=2 => words.push(format!("-{}", pick(rng, LETTERS))),
        3 => words.push(format!("--sort={}", pick(rng, &["n", "g", "h", "m", "v"]))),
        _ => {}
    }
    for (flag, of) in [("-s", 4), ("-u", 4), ("-r", 5), ("-t,", 3), ("-t ", 12), ("-t\\0", 30)] {
        if rng.below(of) == 0 && !(flag.starts_with("-t") && words.iter().any(|word| word.starts_with("-t"))) {
            words.push(flag.to_owned());
        }
    }
    let end = if rng.below(10) == 0 { 0 } else { b'\n' };
    if end == 0 {
        words.push("-z".to_owned());
    }
    match rng.below(10) {
        0 => words.extend(["-c", "a"].map(str::to_owned)),
        1 => words.extend(["-C", "a"].map(str::to_owned)),
        2 => words.extend(["-m", "a"].map(str::to_owned)),
        3 => words.extend(["-m", "a", "b", "c"].map(str::to_owned)),
        4 => words.extend(["-S1M", "a", "b", "c"].map(str::to_owned)),
        _ => words.push("a".to_owned()),
    }
    (words, end)
}

fn run(place: &Place, program: &str, words: &[String]) -> Output {
    let mut command = Command::new(program);
    command.args(words).current_dir(place.path("")).env("LC_ALL", "C");
    command.output().expect("it runs")
}

/// `HYBZ_SORT_KEYS_CASES` says how many; 1,000 otherwise.
#[test]
fn random_keys_and_texts() {
    if !gnu_sort() {
        return;
    }
    let cases = std::env::var("HYBZ_SORT_KEYS_CASES").ok().and_then(|number| number.parse().ok()).unwrap_or(1000);
    let seed: u64 = std::env::var("HYBZ_SORT_KEYS_SEED").ok().and_then(|number| number.parse().ok()).unwrap_or(29);
    let (mut rng, mut sorted) = (Rng(seed), 0);
    let place = Place::with(&[]);
    for case in 0..cases {
        let (words, end) = words(&mut rng);
        let mut lens = [0; 3];
        for (name, len) in ["a", "b", "c"].iter().zip(&mut lens) {
            let text = text(&mut rng, end);
            *len = text.len();
            std::fs::write(place.path(name), text).expect("a file in the place");
        }
        let sorting: Vec<String> =
            words.iter().filter(|word| !["-c", "-C", "-m"].contains(&&***word)).cloned().collect();
        // Files that are merged or checked are usually in order.
        if sorting.len() < words.len() && rng.below(4) > 0 {
            let count = words.iter().filter(|word| ["a", "b", "c"].contains(&&***word)).count();
            for name in &["a", "b", "c"][..count] {
                let flags = sorting.iter().filter(|word| !["a", "b", "c"].contains(&&***word)).cloned();
                let words: Vec<String> = flags.chain(["-o".to_owned(), name.to_string(), name.to_string()]).collect();
                run(&place, "sort", &words);
            }
        }
        let (ours, theirs) = (run(&place, hysort(), &words), run(&place, "sort", &words));
        let said = |output: &Output| String::from_utf8_lossy(&output.stderr).replace("hysort: ", "sort: ");
        let is_same = ours.stdout == theirs.stdout && ours.status.code() == theirs.status.code();
        let is_same = is_same && said(&ours) == said(&theirs);
        if !is_same {
            for name in ["a", "b", "c"] {
                eprintln!("{name}: {:?}", String::from_utf8_lossy(&place.get(name)));
            }
            let shown = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
            eprintln!("hysort: {:?} {:?} {}", ours.status.code(), shown(&ours), said(&ours));
            eprintln!("sort:   {:?} {:?} {}", theirs.status.code(), shown(&theirs), said(&theirs));
            panic!("case {case}, seed {seed}: {words:?}");
        }
        sorted += usize::from(theirs.status.code() == Some(0));
    }
    // Most specifications make sense.
    assert!(sorted * 3 > cases * 2, "{sorted} of {cases}");
}

const FILES: &[(&str, &[u8])] = &[
    ("a", b"chr2\t50\tx\nchr10\t7\ty\nchr2\t9\tz\n\nchr1 1\n"),
    ("b", b"b,2,x y\na,10,z\nb,1,\n,,\n"),
    ("passwd", b"root:x:0:0::/root:/bin/bash\ndaemon:x:1:1::/:/bin/sh\nuser:x:1000:9::/home/u:/bin/sh\n"),
];

#[test]
fn keys_as_sort_takes_them() {
    each_same(FILES, include_str!("keys.sh"));
}

/// All NaNs of one sign are equal, the negative ones first, as in GNU sort from 9.2 on. (Before, it compares bits.)
#[test]
fn nan_in_many_spellings() {
    const NEGATIVE: &str = "-nan\n-NaN(\n-nan(2)\n -NAN()\n-nan(0x7)x\n";
    const POSITIVE: &str = "nan\nNAN(1)\n+nan\nnan(0x4000000000000000)\nnan2\nnan(zz)\nnan(-1)\n\tNaN\nnan()\n";
    let text = ["0\n", POSITIVE, "-inf\n", NEGATIVE, "x\n-\nna\n"].concat();
    let in_order = ["x\n-\nna\n", NEGATIVE, POSITIVE, "-inf\n0\n"].concat();
    let place = Place::with(&[("a", text.as_bytes())]);
    assert_eq!(String::from_utf8_lossy(&place.shell("$SORT -gs a").silent(0).stdout), in_order);
    assert_eq!(place.shell("$SORT -gu a").silent(0).stdout, b"x\n-nan\nnan\n-inf\n0\n");
    let version = Command::new("sort").arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version);
    let number = version.lines().next().and_then(|line| line.split_once("sort (GNU coreutils) ")?.1.split_once('.'));
    let number = number.and_then(|(major, minor)| Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?)));
    if number < Some((9, 2)) {
        return skip(Need::System, "GNU sort 9.2 or later is not installed");
    }
    for flags in ["-gs", "-gu", "-gsr", "-g"] {
        same(&[("a", text.as_bytes())], &format!("$SORT {flags} a"));
    }
}
