//! `BZ2_bzDecompress`: the same text and the same final code for whole, cut and damaged streams, and no byte taken
//! after a stream's end.
//!
//! How much input each call takes before that end is not compared: both libraries get the same sizes of pieces and
//! output buffers, and what a call leaves goes to the next one.

use crate::coding::code;
use crate::library::{Library, Sizes, decode, ours, theirs};
use crate::{calls, rng, text};
use hybz_testkit::crafted::{Case, Expect, cases};
use hybz_testkit::shapes::Rng;
use hybz_testkit::skip::{Need, skip};
use std::ffi::c_int;

/// A stream, of any level, of several blocks or randomised, as it is or damaged.
fn stream(rng: &mut Rng, crafted: &[Vec<u8>], theirs: &Library) -> (Vec<u8>, &'static str) {
    let mut coded = if rng.below(5) == 0 {
        crafted[rng.below(crafted.len())].clone()
    } else {
        let text = text(rng);
        let flushed = if rng.below(3) == 0 { text.len() / (1 + rng.below(5)) } else { text.len() };
        let calls = [(1, flushed, 4 << 20), (1, flushed, 4 << 20), (2, 4 << 20, 4 << 20), (2, 4 << 20, 4 << 20)];
        code(theirs, &text, 1 + rng.below(9) as c_int, &calls[usize::from(flushed == text.len()) * 2..]).1
    };
    let len = coded.len();
    let damage = match rng.below(8) {
        _ if len == 0 => "none",
        0 => {
            coded.truncate(rng.below(len + 1));
            "cut"
        }
        1 => {
            coded[rng.below(len)] ^= 1 << rng.below(8);
            "a bit"
        }
        2 => {
            coded[rng.below(len.min(60))] ^= 1 << rng.below(8);
            "a bit of the beginning"
        }
        3 => {
            (0..1 + rng.below(5)).for_each(|_| coded[rng.below(len)] = rng.below(256) as u8);
            "some bytes"
        }
        4 => {
            let from = rng.below(len);
            coded.drain(from..len.min(from + 1 + rng.below(20)));
            "bytes missing"
        }
        _ => "none",
    };
    if rng.below(3) > 0 {
        coded.extend((0..rng.below(40)).map(|_| rng.below(256) as u8));
    }
    (coded, damage)
}

/// The crafted streams of the testkit that are not long.
fn crafted() -> Vec<Vec<u8>> {
    let is_short = |case: &Case| match &case.expect {
        Expect::Accepted(text) => text.len() < 4_000_000,
        Expect::Refused { good, .. } => good.len() < 4_000_000,
    };
    cases::all().into_iter().filter(|case| case.file.len() < 100_000 && is_short(case)).map(|case| case.file).collect()
}

#[test]
fn decoding_whole_cut_and_damaged() {
    let Some(theirs) = theirs() else { return skip(Need::Peers, "the system has no libbz2.so.1.0") };
    let ours = ours();
    let crafted = crafted();
    let mut left = calls();
    let mut rng = rng(28);
    let mut case = 0;
    while left > 0 {
        let (coded, damage) = stream(&mut rng, &crafted, &theirs);
        let small_pieces = coded.len() < 5000 || coded.len() < 30_000 && rng.below(8) == 0;
        let pieces: &[&[usize]] = if small_pieces {
            &[&[1], &[0, 1, 2, 7], &[7, 300], &[100], &[4096], &[4 << 20]]
        } else {
            &[&[4096], &[0, 1, 60_000], &[8192, 1], &[4 << 20], &[900_000, 40]]
        };
        let rooms: &[&[usize]] = if small_pieces {
            &[&[1, 60_000], &[0, 100, 4000], &[70_000], &[4 << 20], &[5000, 1, 0, 250]]
        } else {
            &[&[65_536], &[0, 300_000], &[9000, 1, 400_000], &[4 << 20]]
        };
        let (pieces, rooms) = (pieces[rng.below(pieces.len())], rooms[rng.below(rooms.len())]);
        let sizes = Sizes { pieces, rooms, seed: rng.below(1 << 30) as u64 };
        let small = c_int::from(rng.below(4) == 0);
        let made = decode(&ours, &coded, small, sizes);
        let wanted = decode(&theirs, &coded, small, sizes);
        let bytes: String = coded.iter().take(1000).map(|byte| format!("{byte:02x}")).collect();
        let what = format!("case {case}: {} bytes, damage: {damage}, {sizes:?}, small {small}, {bytes}", coded.len());
        assert_eq!(made.code, wanted.code, "{what}: code");
        let same = (0..).zip(made.text.iter().zip(&wanted.text)).find(|(_, (a, b))| a != b).map(|(at, _)| at);
        let (len, wanted_len) = (made.text.len(), wanted.text.len());
        assert!(
            same.is_none() && len == wanted_len,
            "{what}: {len} bytes of text, not {wanted_len}: {same:?}, {}",
            made.code
        );
        if wanted.code == 4 {
            assert_eq!(made.taken, wanted.taken, "{what}: input taken");
        }
        left = left.saturating_sub(made.calls);
        case += 1;
    }
}

/// A stream that ends a few bytes after its damage: bzip2's library has looked at each code by then.
#[test]
fn damage_at_the_very_end() {
    let Some(theirs) = theirs() else { return skip(Need::Peers, "the system has no libbz2.so.1.0") };
    let ours = ours();
    let mut rng = rng(29);
    // Nearly full, so that a long run exceeds the block.
    let text: Vec<u8> =
        (0..99_900).map(|at| if at % 100 < 60 { b'a' + (at % 2) as u8 } else { rng.below(8) as u8 }).collect();
    let whole = code(&theirs, &text, 1, &[(2, 1 << 20, 1 << 20)]).1;
    let mut refused = 0;
    for case in 0..400 {
        let mut coded = whole[..whole.len() - 30 - rng.below(2000)].to_vec();
        let run = [0x00, 0xff, 0x55, 0xb6][rng.below(4)];
        coded.extend((0..1 + rng.below(30)).map(|_| if rng.below(4) > 0 { run } else { rng.below(256) as u8 }));
        let sizes = Sizes { pieces: [&[7usize, 5000][..], &[60_000]][case % 2], rooms: &[100_000], seed: 1 };
        let (made, wanted) = (decode(&ours, &coded, 0, sizes), decode(&theirs, &coded, 0, sizes));
        assert_eq!(made.code, wanted.code, "case {case}");
        refused += usize::from(wanted.code == -4);
    }
    assert!(refused > 20, "{refused} of the streams are damaged");
}
