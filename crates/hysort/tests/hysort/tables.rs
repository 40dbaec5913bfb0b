//! Made-up tables such as people sort, by keys that people use: the bytes of `LC_ALL=C sort`.

use crate::place::{gnu_sort, same};
use hybz_testkit::shapes::Rng;

/// How many lines a text has.
const LINES: usize = 20_000;

/// One of some words.
fn one<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.below(of.len())]
}

fn word(rng: &mut Rng) -> String {
    (0..1 + rng.below(8)).map(|_| char::from(b'a' + rng.below(26) as u8)).collect()
}

const NAMES: &[&str] = &["chr1", "chr2", "chr10", "chr11", "chrX", "chrM", "chr1_random"];

fn bed(rng: &mut Rng) -> String {
    let (name, start) = (one(rng, NAMES), rng.below(1 << 27));
    format!("{name}\t{start}\t{}\tread{}\t{}\t+", start + rng.below(200), rng.below(5000), rng.below(60))
}

fn sam(rng: &mut Rng) -> String {
    let bases: String = (0..50).map(|_| one(rng, &["A", "C", "G", "T"])).collect();
    let (read, name) = (rng.below(9000), one(rng, NAMES));
    format!("r{read}:{}\t{}\t{name}\t{}\t60\t50M\t{bases}", rng.below(3), rng.below(256), rng.below(1 << 27))
}

fn passwd(rng: &mut Rng) -> String {
    let (name, id) = (word(rng), rng.below(70_000));
    format!("{name}:x:{id}:{}:{} {}:/home/{name}:/bin/sh", rng.below(100), word(rng), word(rng))
}

fn ranking(rng: &mut Rng) -> String {
    format!("{:7} {}", rng.below(9000), word(rng))
}

fn versions(rng: &mut Rng) -> String {
    format!("{}-{}.{}.{}", one(rng, &["gcc", "hybz", "lib", "lib2"]), rng.below(12), rng.below(120), rng.below(3))
}

fn address(rng: &mut Rng) -> String {
    format!("{}.{}.{}.{}", 1 + rng.below(223), rng.below(256), rng.below(256), rng.below(256))
}

/// A name, a function that makes a line, and the keys.
type Table = (&'static str, fn(&mut Rng) -> String, &'static [&'static str]);

const TABLES: [Table; 6] = [
    ("BED", bed, &["-k1,1 -k2,2n", "-k1,1 -k2,2n -k3,3n", "-k5,5nr", "-u -k1,1 -k2,2n -k3,3n"]),
    ("SAM", sam, &["-t '\t' -k3,3 -k4,4n", "-k1,1", "-s -k3,3", "-k1,1 -u"]),
    ("passwd", passwd, &["-t: -k3,3n", "-t: -k4,4n -k1,1", "-t: -k5f", "-t: -nrk3 -s"]),
    ("uniq -c", ranking, &["-rn", "-k1,1nr -k2,2", "-bn", "-k2.2,2.4 -k1.1,1.4n"]),
    ("versions", versions, &["-t- -k1,1 -k2,2n", "-t. -k2,2n -k3,3n", "-t- -k1,1r -k2"]),
    ("IP addresses", address, &["-t. -k1,1n -k2,2n -k3,3n -k4,4n", "-t . -k 1,1nr -k 2,2n", "-n", "-u -t. -k1,2n"]),
];

#[test]
fn six_tables() {
    if !gnu_sort() {
        return;
    }
    let mut rng = Rng(29);
    for (name, line, all) in TABLES {
        // A line that is too long for a chunk is among them.
        let times = |number: usize| if number == LINES / 2 { 10_000 } else { 1 };
        let text = (0..LINES).flat_map(|number| [line(&mut rng).repeat(times(number)).as_bytes(), b"\n"].concat());
        let text: Vec<u8> = text.collect();
        for keys in all {
            let keys = keys.replace("'\t'", "$'\\t'");
            for limits in ["", "-S 1M -T ."] {
                let run = same(&[("a", &text)], &format!("$SORT {limits} {keys} a"));
                assert_eq!((run.code, &*run.stderr), (0, ""), "{name} {keys}");
            }
            same(&[("a", &text)], &format!("$SORT {keys} a | tee b | $SORT -c {keys} && $SORT -m {keys} b b"));
            same(&[("a", &text)], &format!("$SORT -c {keys} a"));
        }
    }
}
