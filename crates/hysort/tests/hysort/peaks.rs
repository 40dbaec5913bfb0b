//! Memory: `-S` bounds it, however long lines are and however many are equal.

use crate::place::{Place, hysort};
use hybz_testkit::shapes::Rng;
use std::fs;
use std::io::Read;
use std::process::Stdio;

/// The capacity of a pipe plus its writer's buffer: this much of the output stays unread while we measure.
const UNREAD: usize = 3 << 20;

/// Sorts `text` with 4 MB of memory, checks the result, and returns the peak in megabytes.
fn peak(name: &str, text: &[u8]) -> u64 {
    let mut expected: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    expected.sort();
    peak_with("-S 4M", name, text, &expected.concat())
}

/// The same with these flags, and this result.
fn peak_with(flags: &str, name: &str, text: &[u8], expected: &[u8]) -> u64 {
    let place = Place::with(&[("a", text)]);
    let mut command = place.command(hysort(), &format!("exec $SORT {flags} --parallel=2 -T . a"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("bash is there");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut out = vec![0; expected.len().saturating_sub(UNREAD)];
    stdout.read_exact(&mut out).expect("it writes");
    // (The usage that wait4 reports includes that of this process before it became the command.)
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it has not ended");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says so");
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    stdout.read_to_end(&mut out).expect("it writes");
    assert!(child.wait().expect("it ends").success(), "{name}");
    assert!(out == expected, "{name}: another result");
    assert_eq!(place.names(), ["a"]);
    kilobytes >> 10
}

#[test]
fn long_lines_need_no_more_memory() {
    let line = |seed: u64, len: usize| -> Vec<u8> {
        let mut rng = Rng(seed);
        (0..len).map(|_| b'a' + rng.below(26) as u8).chain([b'\n']).collect()
    };
    let random = |count: u64, len: usize| (0..count).flat_map(|n| line(n + 10, len)).collect::<Vec<u8>>();
    let equal = line(1, 1_000_000).repeat(60);
    for (name, text) in [
        ("equal lines of 1 MB", &equal),
        ("lines of 1 MB", &random(60, 1_000_000)),
        ("lines of 10 MB", &random(6, 10_000_000)),
        ("one line of 60 MB", &line(3, 60_000_000)),
        ("long and short lines", &[random(30, 1_000_000), random(3_000, 10_000)].concat()),
    ] {
        let megabytes = peak(name, text);
        assert!(megabytes <= 20, "{name}: {megabytes} MB");
    }
}

/// Records are longer than lines, but do not take more memory. (Long keys take up to a tenth more than `-S`, and the
/// program 9 MB: 64 MB were 68 to 77.)
#[test]
fn keys_need_no_more_memory() {
    let mut rng = Rng(29);
    let mut lines: Vec<(usize, usize, Vec<u8>)> = (0..1_000_000)
        .map(|number| {
            let (name, at) = (10 + rng.below(20), rng.below(100_000_000));
            (name, at, format!("chr{name}\t{at}\t{number:08}\tsome more text\n").into_bytes())
        })
        .collect();
    let text: Vec<u8> = lines.iter().flat_map(|(.., line)| line.clone()).collect();
    lines.sort();
    let sorted: Vec<u8> = lines.iter().flat_map(|(.., line)| line.clone()).collect();
    for (flags, most) in [("-S 4M", 20), ("-S 16M", 32), ("-s -S 4M", 20), ("-k1 -k1V -k1V -S 64M", 80)] {
        let megabytes = peak_with(&format!("-k1,1 -k2,2n -k3,3 {flags}"), flags, &text, &sorted);
        assert!(megabytes <= most, "{flags}: {megabytes} MB");
    }
}
