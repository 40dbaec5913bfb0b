//! Lines that are too long for a chunk.

use super::*;

/// Lines of which some are longer than any limit, many are equal or agree in many bytes, and some are empty.
fn mixed_lines(rng: &mut Rng, end: u8, longest: usize) -> Vec<u8> {
    let alphabet = 1 + rng.below(3);
    let byte = |rng: &mut Rng| match rng.below(alphabet) as u8 {
        0 => b'a',
        other => 0xff - other,
    };
    let lens = [0, 1 + rng.below(3), 30, 1000, longest, 3 * longest];
    let kinds = 1 + rng.below(lens.len());
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut left = 40 * longest + 20_000;
    while left > 0 && lines.len() < 300 {
        let most = lens[rng.below(kinds).max(rng.below(kinds))];
        let line = match (rng.below(4), lines.len()) {
            (0, count) if count > 0 => lines[rng.below(count)].clone(),
            (1, count) if count > 0 => {
                let other = &lines[rng.below(count)];
                let common = rng.below(other.len() + 1);
                let rest = rng.below(most + 1);
                other[..common].iter().copied().chain((0..rest).map(|_| byte(rng))).collect()
            }
            (2, _) => vec![b'a'; rng.below(most + 1)],
            _ => (0..rng.below(most + 1)).map(|_| byte(rng)).collect(),
        };
        left = left.saturating_sub(line.len() + 1);
        lines.push(line);
    }
    let mut text: Vec<u8> = lines.iter().flat_map(|line| [line, &[end][..]].concat()).collect();
    text.truncate(text.len() - rng.below(2).min(text.len()));
    text
}

/// 1,000 mixes of lines with little memory, or as many as `PROPTEST_CASES` says.
#[test]
fn long_lines_among_others() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let mut rng = Rng(45);
    let all: Vec<Flags> = Flags::all().collect();
    let (mut spilled, mut kept) = (0, 0);
    for case in 0..cases {
        let flags = all[rng.below(all.len())];
        let memory = [1, 1 << 14, 1 << 16, 1 << 20, 1 << 21, 1 << 26][rng.below(6)];
        // From this length on a line is long.
        let longest = (memory as usize / 256).clamp(1 << 12, 1 << 14);
        let text = mixed_lines(&mut rng, flags.end, longest);
        let sizes = [1 + rng.below(100_000), 1 + rng.below(longest), 1 << 20];
        let mut sorter = Sorter::new(&flags.order(), limits(memory), pool());
        if rng.below(4) == 0 {
            // Announces more or less than will come.
            let look = |at: u64| text.get(at as usize..).map(|rest| rest[..rest.len().min(8192)].to_vec());
            sorter.expect([17 << 20, 20 << 20][rng.below(2)], look);
        }
        let owned = rng.below(2) == 0;
        let (out, report) = in_pieces(sorter, &text, owned, || sizes[rng.below(3)]).unwrap();
        let expected = flags.plain(&text);
        assert!(out == expected, "case {case}: {flags:?}, {memory} bytes, {} of text", text.len());
        let lines = |text: &[u8]| flags.lines(text).len() as u64;
        let counts = (report.lines, report.lines_written, report.bytes_written);
        assert_eq!(counts, (lines(&text), lines(&expected), expected.len() as u64), "case {case}");
        if report.spilled > 0 { spilled += 1 } else { kept += 1 }
    }
    assert!(spilled > cases / 5 && kept > cases / 5, "{spilled} went through files, {kept} did not");
}

/// Memory without a limit: lines are long from a megabyte on.
#[test]
fn long_lines_in_memory() {
    let mut rng = Rng(46);
    for flags in Flags::all() {
        let mut lines: Vec<Vec<u8>> = (0..6).map(|n| vec![b'x'; (1 << 20) + n % 3]).collect();
        lines.extend((0..5).map(|_| (0..1_200_000).map(|_| 1 + rng.below(5) as u8).collect()));
        lines.extend([vec![b'x'; (1 << 20) - 1], vec![b'x'; (1 << 20) - 2], b"x".to_vec(), b"y".to_vec(), vec![]]);
        let text: Vec<u8> = lines.iter().flat_map(|line| [line, &[flags.end][..]].concat()).collect();
        for owned in [false, true] {
            let (sorter, mut number) = (Sorter::new(&flags.order(), Limits::new(), pool()), 0);
            let size = || (number += 1, [700_000, 3_000_000, 1][number % 3]).1;
            assert!(in_pieces(sorter, &text, owned, size).unwrap().0 == flags.plain(&text), "{flags:?}");
        }
    }
}
