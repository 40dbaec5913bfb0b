//! The remains of a stream whose blocks are lost: a header, or the bits of its end. They show that text is missing, so
//! there is a hole, and the exit code is not 0.

use super::{Everything, everything};
use crate::ours::{compress, level, pool};
use crate::shapes::{Rng, random, words};
use hybz::Settings;
use hybz::recover::What;
use std::ops::Range;

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

/// The last bytes of another stream, after a stream, between two and before one.
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

/// A stream that lost its last bytes, then the last bytes of another: the other's magic begins where the first one's
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

/// The first bytes of a stream after bytes that belong to none.
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

/// The end of the stream, moved to the beginning of a byte; empty if it does not begin at this bit of one.
fn find_end(file: &[u8], bit: u32) -> Vec<u8> {
    let moved: Vec<u8> =
        file.windows(2).map(|pair| (u16::from_be_bytes([pair[0], pair[1]]) << bit >> 8) as u8).collect();
    let at = moved.windows(6).rposition(|bytes| bytes == [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]);
    at.and_then(|at| moved.get(at..at + 10)).unwrap_or_default().to_vec()
}

/// A header, and as many bytes as an end has, which are not an end: nothing is found.
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

/// A file from which parts are cut: its streams with their texts, and the position in the original of each byte.
struct Cut {
    bytes: Vec<u8>,
    origin: Vec<usize>,
}

/// The bytes of each stream in the file, and its text.
type Streams = Vec<(Range<usize>, Vec<u8>)>;

/// Streams of a block or of none: their bytes in the file, and their text.
fn streams(rng: &mut Rng) -> (Vec<u8>, Streams) {
    let (mut file, mut streams) = (Vec::new(), Vec::new());
    for i in 0..2 + rng.below(4) {
        let len = [0, 1 + rng.below(30), 30 + rng.below(900)][rng.below(5).min(2)];
        let text = if i == 1 { random(len) } else { words(len + 10 * i)[10 * i..].to_vec() };
        let begin = file.len();
        file.extend(coded(&text));
        streams.push((begin..file.len(), text));
    }
    (file, streams)
}

impl Cut {
    /// Cuts a part out, which begins or ends near the edge of a stream, or anywhere.
    fn cut(&mut self, streams: &[(Range<usize>, Vec<u8>)], rng: &mut Rng) {
        let mut place = || {
            let stream = &streams[rng.below(streams.len())].0;
            match rng.below(4) {
                0 => stream.start + rng.below(25),
                1 => stream.end.saturating_sub(rng.below(25)),
                2 => rng.below(streams[streams.len() - 1].0.end + 1),
                _ => {
                    if rng.below(2) == 0 {
                        0
                    } else {
                        usize::MAX
                    }
                }
            }
        };
        let (a, b) = (place(), place());
        let find = |at: usize| self.origin.partition_point(|&origin| origin < at);
        let range = find(a.min(b))..find(a.max(b));
        self.bytes.drain(range.clone());
        self.origin.drain(range);
    }

    /// Whether this whole stream is between the remains of one stream's beginning and of another's end. A stream that
    /// was stored in a damaged block looks the same: it is left out, and a remark says so.
    fn is_called_nested(&self, stream: &Range<usize>, found: &Everything) -> bool {
        let bit = |at: usize| self.origin.partition_point(|&origin| origin < at) as u64 * 8;
        let bits = bit(stream.start)..bit(stream.end);
        found.remarks.iter().any(|remark| remark.what == What::Nested && remark.bits == bits)
    }

    /// Whether a block was found after the remaining beginning of this stream. The beginning is then taken for that
    /// block's header and magic. There is no sign that it was another stream's: all streams of a level begin alike.
    fn became_another(&self, stream: &Range<usize>, found: &Everything) -> bool {
        let at = self.origin.partition_point(|&origin| origin < stream.start) as u64;
        found.blocks.iter().any(|&(bit, _)| bit == (at + 4) * 8)
    }

    /// Whether there is an empty stream: the end of one after a header, or after four bytes where one should be.
    fn has_an_empty_stream(&self) -> bool {
        let end = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0];
        let is_empty =
            |at: usize| self.bytes[at..].starts_with(&end) && (at == 4 || self.bytes[..at].ends_with(b"BZh1"));
        (4..self.bytes.len()).any(is_empty)
    }

    /// How many of these bytes remain, counted from the first and up to the last.
    fn left(&self, range: &Range<usize>) -> (usize, usize) {
        let there = |at: &usize| self.origin.binary_search(at).is_ok();
        (range.clone().take_while(there).count(), range.clone().rev().take_while(there).count())
    }
}

/// 1,000 cuts, or as many as `HYBZ_CUTS_CASES` says.
#[test]
fn a_thousand_cuts() {
    let cases = std::env::var("HYBZ_CUTS_CASES").map_or(1000, |cases| cases.parse().expect("a number"));
    let (mut rng, settings, mut wrong, mut good, mut nested) = (Rng(245), settings(), Vec::new(), 0, 0);
    for case in 0..cases {
        let (file, streams) = streams(&mut rng);
        let mut cut = Cut { origin: (0..file.len()).collect(), bytes: file };
        (0..1 + rng.below(2)).for_each(|_| cut.cut(&streams, &mut rng));
        let found = everything(&cut.bytes, &settings);
        let lost = streams.iter().filter(|(range, text)| {
            let (first, last) = cut.left(range);
            let is_there = first == range.len();
            // Fewer bytes cannot be distinguished from garbage, and a header before the end of an empty stream is one.
            let shows = (first >= 5 && !cut.became_another(range, &found)) || last >= 11;
            let is_found = text.is_empty() || found.blocks.iter().any(|(_, found)| found == text);
            let is_left_out = is_there && !is_found && cut.is_called_nested(range, &found);
            assert!(!is_there || is_found || is_left_out, "{case}: a block that is there is missing");
            nested += usize::from(is_left_out);
            !is_found && shows
        });
        let (lost, code) = (lost.count(), code(&found));
        let nothing = found.blocks.is_empty() && !cut.has_an_empty_stream();
        good += usize::from(code == 0);
        if (lost > 0 && code == 0) || (nothing && code != 1) {
            let left: Vec<_> = streams.iter().map(|(range, _)| (range.len(), cut.left(range))).collect();
            wrong.push(format!("{case}: {code}, {left:?}, {:?} {:?}", found.holes, found.remarks));
        }
    }
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    assert!(nested <= 1 + cases / 1000, "{nested} of {cases} streams that are there were left out");
    assert!((cases / 20..cases * 9 / 10).contains(&good), "{good} of {cases} lost nothing");
}
