//! Text that comes in pieces is not searched from its beginning for each piece: a line of twice the length takes about
//! twice as many steps (at most 2.5 times as many, not four times), wherever it goes.

use crate::chunker::Chunker;
use crate::keys::{Key, Keys, Sorter, merge};
use crate::limits::Limits;
use crate::long::LongLines;
use crate::order::Order;
use crate::text::steps;
use crate::weave::Weave;
use std::io::{self, BufReader, Write};

/// The bytes of a piece.
const PIECE: usize = 1000;

/// Texts of about `len` bytes: a long line, and lines of 8 bytes.
fn texts(len: usize) -> [Vec<u8>; 2] {
    [[&b"x".repeat(len)[..], b"\nb\n"].concat(), b"abcdefg\n".repeat(len / 8)]
}

/// Each step is a byte in which an end is looked for, on this thread.
#[track_caller]
fn is_linear(what: &str, work: impl Fn(&[u8])) {
    let [short, long] = [64 * PIECE, 128 * PIECE].map(|len| texts(len).map(|text| steps::of(|| work(&text))));
    for kind in 0..2 {
        let (short, long) = (short[kind], long[kind]);
        assert!(long > 0 && 2 * long <= 5 * short, "{what}, kind {kind}: {short} steps, then {long}");
    }
}

#[test]
fn no_piece_is_searched_again() {
    is_linear("chunks, copied", |text| {
        let mut chunker = Chunker::with_long(b'\n', 1 << 14, 1 << 12, LongLines::new(b'\n', 1 << 12));
        for piece in text.chunks(PIECE) {
            let mut rest = piece;
            while !rest.is_empty() {
                let taken = chunker.push(rest).unwrap();
                rest = &rest[taken..];
                chunker.take();
            }
        }
    });
    for most in [PIECE, 1 << 15] {
        is_linear("chunks, owned", |text| {
            let mut chunker = Chunker::with_long(b'\n', 1 << 14, 1 << 12, LongLines::new(b'\n', 1 << 12));
            text.chunks(most).for_each(|piece| chunker.push_owned(piece.to_vec()).unwrap());
        });
    }
    is_linear("long lines between others", |text| {
        let mut long = LongLines::new(b'\n', PIECE);
        long.append(&b"y".repeat(PIECE)).unwrap();
        long.end_line();
        let mut to = io::sink();
        let mut weave = Weave::new(Order::new(), long, &mut to).unwrap();
        text.chunks(PIECE).for_each(|piece| weave.write_all(piece).unwrap());
    });
    for (stable, unique) in [(false, false), (true, false), (false, true)] {
        let keys = Keys::new(["1".parse::<Key>().unwrap()], &Order::new().unique(unique)).stable(stable);
        is_linear("keys", |text| {
            let pool = crate::pool().build();
            let mut sorter = Sorter::new(&keys, Limits::new(), &pool);
            text.chunks(PIECE).for_each(|piece| sorter.push_owned(piece.to_vec()).unwrap());
            sorter.write_to(&mut io::sink()).unwrap();
        });
        is_linear("merged keys", |text| {
            merge(vec![BufReader::with_capacity(PIECE, text)], &keys, io::sink()).unwrap();
        });
    }
}
