//! Wrong lines of offsets: those that can be checked are refused, and no wrong text is read.

use super::files::stream;
use super::index::{offsets, refused_reads};
use crate::ours::pool;
use crate::shapes::{Rng, random, words};
use hybz::index::Index;
use hybz::{Error, Settings};
use std::sync::Arc;

/// A `.bz2`, its text, and its lines.
struct Listed {
    coded: Vec<u8>,
    text: Vec<u8>,
    lines: Vec<u8>,
}

impl Listed {
    fn of(parts: &[(u8, Vec<u8>)]) -> Listed {
        let coded: Vec<u8> = parts.iter().flat_map(|(level, text)| stream(*level, text.clone()).0).collect();
        let text = parts.iter().flat_map(|(_, text)| text.clone()).collect();
        let lines = offsets(&Index::build(&coded[..], &Settings::new()).unwrap());
        Listed { coded, text, lines }
    }

    fn open(&self, lines: &[u8]) -> Result<Index, Error> {
        Index::open(Arc::new(lines.to_vec()), &self.coded)
    }

    /// The lines with a change.
    fn with(&self, from: &str, to: &str) -> Vec<u8> {
        let lines = str::from_utf8(&self.lines).unwrap();
        assert!(lines.contains(from), "{lines}");
        lines.replacen(from, to, 1).into_bytes()
    }
}

fn small_streams() -> Listed {
    let parts = [(1, vec![]), (1, words(300)), (9, words(77)), (5, vec![]), (2, random(120)), (9, words(1000))];
    Listed::of(&[&parts[..], &[(3, vec![])]].concat())
}

fn one_block() -> Listed {
    let listed = Listed::of(&[(9, b"to be or not to be\n".to_vec())]);
    assert_eq!(listed.lines, b"32,0\n343,19\n424,19\n");
    listed
}

/// The first line must begin the text, and the last number must be the end of the last block's text.
#[test]
fn both_ends_of_the_lines() {
    let listed = one_block();
    assert_eq!(listed.open(&listed.lines).unwrap().text_len(), 19);
    for bad in ["32,5\n343,24\n424,24\n", "32,5\n343,19\n", "32,0\n343,1", "32,0\n343,20\n424,20", "0,1"] {
        assert!(listed.open(bad.as_bytes()).is_err(), "{bad:?}");
    }
    for good in ["32,0\n343,19", "32,0\n343,19\n424,19"] {
        assert_eq!(listed.open(good.as_bytes()).unwrap().text_len(), 19, "{good:?}");
    }
    for bad in [
        "32,0\n343,19\n342,19\n",
        "32,0\n343,19\n400,19\n",
        "32,0\n343,19\n422,19\n",
        "32,0\n343,19\n4240,19\n",
        "32,0\n343,19\n350,19\n424,19\n",
    ] {
        assert!(listed.open(bad.as_bytes()).is_err(), "{bad:?}");
    }
    // To recover a damaged file, all complete lines are used unchecked: the caller checks the blocks.
    let cut = Arc::new(b"32,0\n343,1".to_vec());
    assert_eq!(Index::open_unchecked(cut, &listed.coded).unwrap().text_len(), 1);
}

/// The length of a damaged last block is unknown, so the lines are refused, but recovery still uses them.
#[test]
fn a_damaged_last_block() {
    let mut listed = one_block();
    listed.coded[12] ^= 1; // in its CRC
    assert!(matches!(listed.open(&listed.lines), Err(Error::Data { block: 1, bit_offset: 32, .. })));
    assert!(Index::open_unchecked(Arc::new(listed.lines.clone()), &listed.coded).is_ok());
}

/// Numbers consist of digits, and a line has at most 64 bytes.
#[test]
fn numbers_and_long_lines() {
    let listed = one_block();
    let blanks = |count: usize| " ".repeat(count);
    let bad = [
        listed.with("343", "+343"),
        listed.with("343,19", "343,+19"),
        listed.with("32,0\n", &format!("32,0{}", blanks(60))),
        listed.with("32,0\n", &format!("{}32,0\n", blanks(64))),
        listed.with("343,19", "343,1\u{a0}9"),
        listed.with("343,19", "343,19,0"),
    ];
    for bad in bad {
        assert!(matches!(listed.open(&bad), Err(Error::NotAnIndex)), "{}", String::from_utf8_lossy(&bad));
    }
}

/// Changes the lines in one place: cuts them, changes a digit, removes a byte or inserts one, or removes, doubles or
/// swaps lines.
fn damage(lines: &[u8], rng: &mut Rng) -> Vec<u8> {
    let (mut bad, at) = (lines.to_vec(), rng.below(lines.len()));
    let mut all: Vec<&[u8]> = lines.split_inclusive(|byte| *byte == b'\n').collect();
    let line = rng.below(all.len());
    match rng.below(7) {
        0 => bad.truncate(at),
        1 => {
            let digit = bad[..=at].iter().rposition(u8::is_ascii_digit).expect("a line begins with one");
            bad[digit] = b'0' + (bad[digit] - b'0' + 1 + rng.below(9) as u8) % 10;
        }
        2 => drop(bad.remove(at)),
        3 => bad.insert(at, b"0123456789,\n +-"[rng.below(15)]),
        4 => bad = [&all[..line], &all[line + 1..]].concat().concat(),
        5 => bad = [&all[..=line], &all[line..]].concat().concat(),
        _ => {
            let next = (line + 1) % all.len();
            all.swap(line, next);
            bad = all.concat();
        }
    }
    bad
}

/// Checks that every read gives all of the right text or an error. Returns whether anything is refused.
fn right_or_refused(listed: &Listed, lines: &[u8], settings: &Settings) -> Result<bool, String> {
    let Ok(index) = listed.open(lines) else { return Ok(true) };
    let text = &listed.text;
    if index.text_len() != text.len() as u64 {
        return Err(format!("{} bytes of text, not {}", index.text_len(), text.len()));
    }
    let refused = refused_reads(listed.coded.clone(), index, text, settings);
    refused.map(|count| count > 0).ok_or_else(|| "wrong text".to_owned())
}

/// 1,000 single changes, or as many as `HYBZ_OFFSETS_CASES` says.
#[test]
fn a_thousand_wrong_lines() {
    let cases = std::env::var("HYBZ_OFFSETS_CASES").map_or(1000, |cases| cases.parse().expect("a number"));
    let files = [
        small_streams(),
        small_streams(),
        one_block(),
        Listed::of(&[(1, words(210_000)), (9, words(40))]),
        Listed::of(&[(5, vec![])]),
    ];
    let settings = Settings::new().pool(&pool(2));
    let (mut rng, mut refused, mut wrong) = (Rng(242), 0, Vec::new());
    for listed in &files {
        assert_eq!(right_or_refused(listed, &listed.lines, &settings), Ok(false));
        assert!(listed.open(&listed.lines).is_ok());
    }
    for case in 0..cases {
        let listed = &files[case % files.len()];
        let lines = damage(&listed.lines, &mut rng);
        match right_or_refused(listed, &lines, &settings) {
            Ok(is_refused) => refused += usize::from(is_refused),
            Err(why) => wrong.push(format!("{case}, {why}: {:?}", String::from_utf8_lossy(&lines))),
        }
    }
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    assert!(refused > cases / 2, "{refused} of {cases} were refused");
}
