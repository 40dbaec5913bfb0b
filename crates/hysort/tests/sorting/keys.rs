//! Keys that closures make, and records of a fixed length, compared with `slice::sort_by`.

use super::{Rng, pool};
use hysort::{Disorder, Error, Key, KeySorter, Keys, Limits, Order, sorted_by};
use std::cmp::Ordering;
use std::num::NonZeroUsize;

type Text = Vec<u8>;

/// Sorts a text that comes in pieces.
fn in_pieces(rng: &mut Rng, text: &[u8], keys: &Keys, limits: Limits) -> Result<(Text, u64), Error> {
    let mut sorter = KeySorter::new(keys, limits, pool());
    if rng.below(2) == 0 {
        let look = |at: u64| Some(text[at as usize..text.len().min(at as usize + 8192)].to_vec());
        sorter.expect(text.len() as u64, look);
    }
    let (mut rest, most) = (text, 1 + rng.below(text.len() / 4 + 50));
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(1 + rng.below(most)));
        sorter.push(piece)?;
        rest = after;
    }
    sorter.end_of_file()?;
    let mut out = Vec::new();
    let report = sorter.write_to(&mut out)?;
    assert_eq!(report.bytes_written, out.len() as u64);
    Ok((out, report.spilled))
}

/// How equal keys are treated.
#[derive(Clone, Copy, Debug)]
struct Ties {
    stable: bool,
    unique: bool,
    reverse: bool,
}

impl Ties {
    fn all() -> impl Iterator<Item = Ties> {
        (0..8).map(|n| Ties { stable: n & 1 > 0, unique: n & 2 > 0, reverse: n & 4 > 0 })
    }

    fn keys(self, keys: Vec<Key>) -> Keys {
        Keys::new(keys, &Order::new().unique(self.unique).reverse(self.reverse)).stable(self.stable)
    }

    /// The plain twin.
    fn sort(self, mut items: Vec<&[u8]>, order: impl Fn(&[u8], &[u8]) -> Ordering) -> Vec<&[u8]> {
        items.sort_by(|a, b| {
            let bytes = if self.reverse { b.cmp(a) } else { a.cmp(b) };
            order(a, b).then(if self.stable || self.unique { Ordering::Equal } else { bytes })
        });
        if self.unique {
            items.dedup_by(|b, a| order(a, b).is_eq());
        }
        items
    }
}

/// What closures are tried.
const CLOSURES: [fn(&[u8], &mut Text); 5] = [
    |line, key| key.extend((line.len() as u64).to_be_bytes()),
    |line, key| key.extend(line.iter().rev().take(2)),
    |line, key| key.extend(line.iter().flat_map(|&byte| [byte, 0, 255, 10, 249])),
    |_, _| {},
    |line, key| key.extend((line.iter().map(|&byte| i64::from(byte) - 100).sum::<i64>() ^ i64::MIN).to_be_bytes()),
];

#[test]
fn closures() {
    let mut rng = Rng(61);
    for case in 0..60 {
        let text: Text = (0..rng.below(3000)).map(|_| [b'\n', b'a', 0, 255, 250, b'b'][rng.below(6)]).collect();
        let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect();
        let all: Vec<_> = (0..1 + rng.below(2)).map(|_| (CLOSURES[rng.below(5)], rng.below(2) == 0)).collect();
        let order = |a: &[u8], b: &[u8]| {
            all.iter().fold(Ordering::Equal, |so_far, &(closure, descending)| {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                closure(a, &mut x);
                closure(b, &mut y);
                so_far.then(if descending { y.cmp(&x) } else { x.cmp(&y) })
            })
        };
        for ties in Ties::all() {
            let key = |&(closure, descending): &(fn(&[u8], &mut Text), bool)| {
                if descending { Key::by(closure).reverse() } else { Key::by(closure) }
            };
            let keys = ties.keys(all.iter().map(key).collect());
            let sorted = ties.sort(lines.clone(), order);
            let expected: Text = sorted.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect();
            let (out, _) = in_pieces(&mut rng, &text, &keys, Limits::new()).unwrap();
            assert!(out == expected, "case {case}, {ties:?}");
            assert_eq!(keys.check(&expected[..]).unwrap(), None);
        }
    }
}

/// A closure with a specification, and more text than memory.
#[test]
fn a_closure_and_a_specification() {
    let mut rng = Rng(62);
    let text: Text =
        (0..60_000).flat_map(|n| format!("{} {}\t{n}\n", rng.below(9), rng.below(500)).into_bytes()).collect();
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let number = |line: &[u8]| -> u32 {
        let digits = line[2..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0, |number, digit| 10 * number + u32::from(digit - b'0'))
    };
    for ties in Ties::all() {
        let keys = ties.keys(vec![Key::by(|line, key| key.push(line[0])), "2,2nr".parse().unwrap()]);
        let expected = ties.sort(lines.clone(), |a, b| a[0].cmp(&b[0]).then(number(b).cmp(&number(a))));
        let limits = Limits::new().memory(1 << 20).temporary(tempfile::tempfile);
        let (out, spilled) = in_pieces(&mut rng, &text, &keys, limits).unwrap();
        assert!(out == expected.concat(), "{ties:?}");
        assert!(spilled > 0);
    }
}

#[test]
fn a_panic_of_a_closure_is_an_error() {
    let bad = |line: &[u8], key: &mut Text| match line {
        b"bad" => panic!("{} is no line", "bad"),
        line => key.extend_from_slice(line),
    };
    let keys = Keys::new([Key::by(bad)], &Order::new());
    let text = [&b"fine\n".repeat(100_000)[..], b"bad\n", &b"fine\n".repeat(1_000_000)].concat();
    for text in [&b"bad"[..], b"a\nbad\n", &text] {
        let is_told = |outcome: Result<(), Error>| match outcome {
            Err(Error::KeyPanicked { reason }) => assert_eq!(reason, "bad is no line"),
            other => panic!("{other:?}"),
        };
        is_told(sorted_by(text, &keys, pool()).map(drop));
        is_told(keys.check(text).map(drop));
        is_told(keys.merge(vec![&b"a\n"[..], text], &mut Vec::new()));
        let mut sorter = KeySorter::new(&keys, Limits::new(), pool());
        sorter.expect(1 << 30, |_| Some(b"bad\n".to_vec()));
        is_told(sorter.push(text).and_then(|()| sorter.write_to(&mut Vec::new())).map(drop));
    }
    // The pool goes on.
    assert_eq!(sorted_by(b"b\na\n", &keys, pool()).unwrap(), b"a\nb\n");
}

/// A key of a record: its specification, and its value.
type OfRecord = (&'static str, fn(&[u8]) -> i128);

const NUMBERS: [OfRecord; 7] = [
    ("1.2,1.5", |r| u32::from_be_bytes(r[1..5].try_into().unwrap()).into()),
    ("1.2,1.5r", |r| -i128::from(u32::from_be_bytes(r[1..5].try_into().unwrap()))),
    ("1.2,1.3s", |r| i16::from_be_bytes(r[1..3].try_into().unwrap()).into()),
    ("1.1,1.4l", |r| u32::from_le_bytes(r[..4].try_into().unwrap()).into()),
    ("1.4l,1.5s", |r| i16::from_le_bytes(r[3..5].try_into().unwrap()).into()),
    ("1.4,1.5rls", |r| -i128::from(i16::from_le_bytes(r[3..5].try_into().unwrap()))),
    ("1.7", |r| r[6..].iter().fold(0, |number, &byte| number << 8 | i128::from(byte))),
];

#[test]
fn records() {
    let mut rng = Rng(63);
    for case in 0..80 {
        let len = 7 + rng.below(9);
        let letters = 1 + rng.below(9);
        let bytes = [10, 193, 192, 0, 255, 1, 191, 194, 127];
        let random = rng.below(2) == 0;
        let count = [0, 1, 30, 700, 5000][rng.below(5)];
        let byte = |rng: &mut Rng| if random { rng.below(256) as u8 } else { bytes[rng.below(letters)] };
        let text: Text = (0..count * len).map(|_| byte(&mut rng)).collect();
        let all: Vec<OfRecord> = (0..rng.below(3)).map(|_| NUMBERS[rng.below(7)]).collect();
        let order = |a: &[u8], b: &[u8]| {
            let each = all.iter().map(|(_, value)| value(a).cmp(&value(b)));
            each.fold(if all.is_empty() { a.cmp(b) } else { Ordering::Equal }, Ordering::then)
        };
        for ties in Ties::all().filter(|ties| !(all.is_empty() && ties.reverse)) {
            let read = all.iter().map(|(key, _)| Key::of_record(key.as_bytes()).unwrap()).collect();
            let keys = ties.keys(read).fixed_length(NonZeroUsize::new(len).unwrap()).unwrap();
            let expected = ties.sort(text.chunks(len).collect(), order).concat();
            let limits = match rng.below(3) {
                0 => Limits::new().memory(1 << 16).temporary(tempfile::tempfile),
                _ => Limits::new(),
            };
            let (out, _) = in_pieces(&mut rng, &text, &keys, limits).unwrap();
            assert!(out == expected, "case {case}: {len}, {ties:?}, {:?}", all.iter().map(|k| k.0).collect::<Vec<_>>());
            assert_eq!(keys.check(&expected[..]).unwrap(), None);
            let mut merged = Vec::new();
            let (even, odd): (Vec<_>, Vec<_>) = expected.chunks(len).enumerate().partition(|(n, _)| n % 2 == 0);
            let each = [even, odd].map(|half| half.iter().flat_map(|(_, r)| r.to_vec()).collect::<Text>());
            keys.merge(vec![&each[0][..], &each[1]], &mut merged).unwrap();
            let both: Vec<&[u8]> = each.iter().flat_map(|half| half.chunks(len)).collect();
            assert!(merged == ties.sort(both, order).concat(), "case {case}: merge, {ties:?}");
        }
    }
}

#[test]
fn long_records_and_partial_ones() {
    let mut rng = Rng(64);
    let len = 300_000;
    let text: Text = (0..20 * len).map(|_| 190 + rng.below(4) as u8).collect();
    let mut expected: Vec<&[u8]> = text.chunks(len).collect();
    expected.sort_by_key(|record| (std::cmp::Reverse(record[9]), *record));
    let keys = Keys::new(["1.10,1.10r".parse().unwrap()], &Order::new());
    let keys = keys.fixed_length(NonZeroUsize::new(len).unwrap()).unwrap();
    let limits = Limits::new().memory(4 << 20).temporary(tempfile::tempfile);
    let (out, spilled) = in_pieces(&mut rng, &text, &keys, limits).unwrap();
    assert!(out == expected.concat() && spilled > 0);

    let of = len as u64;
    let is_partial = |outcome: Result<(), Error>| match outcome {
        Err(Error::PartialRecord { at, bytes: 7, of: found }) => assert_eq!((at, found), (2 * of, of)),
        other => panic!("{other:?}"),
    };
    let partial = &expected[..3].concat()[..2 * len + 7];
    is_partial(in_pieces(&mut rng, partial, &keys, Limits::new()).map(drop));
    is_partial(keys.check(partial).map(drop));
    is_partial(keys.merge(vec![partial, b""], &mut Vec::new()));
    // In the second file, whose beginning counts.
    let mut sorter = KeySorter::new(&keys, Limits::new(), pool());
    sorter.push(&text[..len]).unwrap();
    sorter.end_of_file().unwrap();
    sorter.push(partial).unwrap();
    is_partial(sorter.end_of_file());
}

#[test]
fn disorder_of_records() {
    let keys = Keys::new(["1.2,1.2".parse().unwrap()], &Order::new()).fixed_length(NonZeroUsize::new(2).unwrap());
    let found = keys.unwrap().check(&b"b\x01a\x02\n\nz\x0b"[..]).unwrap();
    assert_eq!(found, None);
    let keys = Keys::new(["1.2,1.2".parse().unwrap()], &Order::new()).fixed_length(NonZeroUsize::new(2).unwrap());
    let Some(Disorder { number, line, .. }) = keys.unwrap().check(&b"b\x01a\x0c\n\nz\x03"[..]).unwrap() else {
        panic!("it is not in order")
    };
    assert_eq!((number, &line[..]), (3, &b"\n\n"[..]));
}

#[test]
fn keys_that_are_not_in_the_record() {
    for (key, message) in [
        ("2", "a record of a fixed length has one field: 1.5,1.8 are its bytes 5 to 8"),
        ("1,2", "a record of a fixed length has one field: 1.5,1.8 are its bytes 5 to 8"),
        ("1.9", "a key has byte 9 of a record of 8 bytes"),
        ("1.1,1.9", "a key has byte 9 of a record of 8 bytes"),
        ("1.3,99999999999999999999.1", "a record of a fixed length has one field: 1.5,1.8 are its bytes 5 to 8"),
    ] {
        let keys = Keys::new([key.parse().unwrap()], &Order::new()).fixed_length(NonZeroUsize::new(8).unwrap());
        assert_eq!(keys.unwrap_err().to_string(), message, "{key}");
    }
    for (key, message) in [("1ln", "options '-ln' are incompatible"), ("1sb", "options '-bs' are incompatible")] {
        let key = Key::of_record(key.as_bytes()).unwrap();
        assert_eq!(key.options().check().unwrap_err().to_string(), message.replace("-ln", "-nl"));
    }
    assert!("1l".parse::<Key>().is_err(), "lines have no such keys");
}
