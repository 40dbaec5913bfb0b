//! Keys that closures make, compared with `slice::sort_by`.

use super::{Rng, pool};
use hysort::{Error, Key, Keys, Limits, Order, Sorter, check, merge, sorted};
use std::cmp::Ordering;

type Text = Vec<u8>;

/// Sorts a text that comes in pieces of random sizes.
fn in_pieces(rng: &mut Rng, text: &[u8], keys: &Keys, limits: Limits) -> (Text, u64) {
    let mut sorter = Sorter::new(keys, limits, pool());
    if rng.below(2) == 0 {
        let look = |at: u64| Some(text[at as usize..text.len().min(at as usize + 8192)].to_vec());
        sorter.expect(text.len() as u64, look);
    }
    let most = 1 + rng.below(text.len() / 4 + 50);
    let (out, report) = super::in_pieces(sorter, text, false, || 1 + rng.below(most)).unwrap();
    (out, report.spilled)
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

/// The closures that are tried.
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
            let (out, _) = in_pieces(&mut rng, &text, &keys, Limits::new());
            assert!(out == expected, "case {case}, {ties:?}");
            assert_eq!(check(&expected[..], &keys).unwrap(), None);
        }
    }
}

/// A closure together with a specification, and more text than memory.
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
        let (out, spilled) = in_pieces(&mut rng, &text, &keys, limits);
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
        is_told(sorted(text, &keys, pool()).map(drop));
        is_told(check(text, &keys).map(drop));
        is_told(merge(vec![&b"a\n"[..], text], &keys, &mut Vec::new()));
        let mut sorter = Sorter::new(&keys, Limits::new(), pool());
        sorter.expect(1 << 30, |_| Some(b"bad\n".to_vec()));
        is_told(sorter.push(text).and_then(|()| sorter.write_to(&mut Vec::new())).map(drop));
    }
    // The pool goes on.
    assert_eq!(sorted(b"b\na\n", &keys, pool()).unwrap(), b"a\nb\n");
}
