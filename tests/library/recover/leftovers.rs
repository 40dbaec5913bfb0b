//! The remains of a stream whose blocks are lost: a header, or the bits of its end. They show that text is missing, so
//! there is a hole, and the exit code is not 0.

use super::{Everything, everything};
use crate::ours::{compress, level, pool};
use crate::shapes::{random, words};
use hybz::Settings;
use hybz::recover::What;

fn settings() -> Settings {
    Settings::new().pool(&pool(2))
}

fn coded(text: &[u8]) -> Vec<u8> {
    compress(text, &Settings::new().level(level(1)))
}

/// The exit code of `hybz --recover`.
fn code(found: &Everything) -> u8 {
    match (found.summary.blocks, found.summary.holes) {
        (0, holes) if holes > 0 || found.summary.streams == 0 => 1,
        (_, 0) => 0,
        _ => 2,
    }
}

#[track_caller]
fn check(file: &[u8], expected: u8) {
    let found = everything(file, &settings());
    assert_eq!(code(&found), expected, "{:?} {:?}", found.holes, found.remarks);
}

/// The last bytes of another stream, after a stream, between two streams, and before a stream.
#[test]
fn the_end_of_a_lost_stream() {
    for len in [200, 301, 402, 503, 604, 705, 806, 907] {
        let (one, other) = (coded(&words(1000)), coded(&words(len)));
        for left in 11..21 {
            let end = &other[other.len() - left..];
            check(&[&one[..], end].concat(), 2);
            check(&[&one[..], end, &one].concat(), 2);
            check(&[end, &one].concat(), 2);
            check(end, 1);
            // The block before it is good, and the rest of this stream is lost.
            check(&[&one[..one.len() - 10], end].concat(), 2);
        }
    }
}

/// A stream that lost its last bytes, then the last bytes of another one, whose magic begins where the first stream's
/// CRC should be.
#[test]
fn the_joint_of_two_ends() {
    for len in [200, 301, 402, 503, 604, 705, 806, 907] {
        let (one, other) = (coded(&words(1000)), coded(&words(len)));
        for (lost, left) in (1..6).flat_map(|lost| (11..16).map(move |left| (lost, left))) {
            let joint = [&one[..one.len() - lost], &other[other.len() - left..]].concat();
            check(&joint, 2);
            check(&[&joint[..], &one].concat(), 2);
        }
    }
}

/// A header, and at most a few bytes of what followed it.
#[test]
fn the_beginning_of_a_lost_stream() {
    let (one, other) = (coded(&words(1000)), coded(&words(300)));
    for left in 1..25 {
        let begin = &other[..left];
        check(&[&one[..], begin].concat(), 2);
        check(&[&one[..], begin, &one].concat(), 2);
        check(begin, 1);
    }
    // A header and an end; the blocks between them are gone.
    let end = &coded(&words(300))[..];
    let end = (0..8).map(|bit| find_end(end, bit)).find(|end| !end.is_empty());
    if let Some(end) = end {
        check(&[&b"BZh1"[..], &end].concat(), 1);
        check(&[&one[..], b"BZh1", &end].concat(), 2);
    }
}

/// The first bytes of a stream, after bytes that belong to no stream.
#[test]
fn the_beginning_of_a_lost_stream_in_garbage() {
    let one = coded(&words(1000));
    for other in [coded(&words(300)), coded(b"")] {
        for left in 5..10 {
            let garbage = [b"more", &other[..left], b"garbage"].concat();
            check(&[&one[..], &garbage].concat(), 2);
            check(&[&one[..], &garbage, &one].concat(), 2);
        }
    }
    check(&[&one[..], b"garbage BZh9 and more"].concat(), 0);
}

/// The end of the stream, moved to the beginning of a byte; empty if it does not begin at this bit of a byte.
fn find_end(file: &[u8], bit: u32) -> Vec<u8> {
    let moved: Vec<u8> =
        file.windows(2).map(|pair| (u16::from_be_bytes([pair[0], pair[1]]) << bit >> 8) as u8).collect();
    let at = moved.windows(6).rposition(|bytes| bytes == [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]);
    at.and_then(|at| moved.get(at..at + 10)).unwrap_or_default().to_vec()
}

/// A header, and as many other bytes as the end of a stream has: nothing is found.
#[test]
fn a_header_and_nothing_that_can_be_known() {
    for byte in [0, 0x17, 0x55, 0xff] {
        for count in 1..25 {
            check(&[&b"BZh9"[..], &vec![byte; count]].concat(), 1);
        }
    }
    // Empty streams, complete and cut.
    let empty = coded(b"");
    check(&empty, 0);
    check(&[&coded(b"text")[..], &empty].concat(), 0);
    check(&[&empty[..], &[0; 100]].concat(), 0);
    (1..empty.len()).for_each(|len| check(&empty[..len], 1));
}

/// Bytes after a complete file that belong to no stream are garbage, as for bzip2.
#[test]
fn trailing_garbage() {
    let one = coded(&words(1000));
    for garbage in [&b"\n"[..], b"garbage, but nothing else\n", &[0; 21], &[0; 5000], &random(3000), b"bzip2"] {
        let file = [&one[..], garbage].concat();
        check(&file, 0);
        assert_eq!(everything(&file, &settings()).remarks[0].what, What::Garbage);
    }
}

/// A stream whose middle is lost. Fewer bytes could be garbage, and a header with an end would be an empty stream.
#[test]
fn the_middle_of_a_stream() {
    for len in [20, 300, 301, 905] {
        let (one, other) = (coded(&words(1000)), coded(&words(len)));
        for (first, last) in (0..25).flat_map(|first| (0..25).map(move |last| (first, last))) {
            if first >= 5 || last >= 11 {
                let rest = [&other[..first], &other[other.len() - last..]].concat();
                check(&[&one[..], &rest].concat(), 2);
                check(&[&one[..], &rest, &one].concat(), 2);
            }
        }
    }
}
