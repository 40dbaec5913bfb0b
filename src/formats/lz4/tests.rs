//! Compares the group decoder with the plain one and `lz4`; tests the index, also with false contents.

use super::block::{encode, window};
use super::groups::{self, Sample};
use super::index::Index;
use super::sequence::Unreadable;
use super::{Frame, plain};
use crate::formats::lz4::header::checksum;
use crate::{Error, Settings};
use hybz_testkit::shapes::{EDGES, SHAPES};
use proptest::collection::vec;
use proptest::prelude::*;

/// Runs both decoders on a block, and lz4_flex's where the block is good. Returns the text.
fn same(coded: &[u8], history: &[u8], room: usize) -> Result<Vec<u8>, Unreadable> {
    let text = || [history, &vec![0xaa; room]].concat();
    let (mut a, mut b) = (text(), text());
    let from = history.len();
    let plain = plain::decode(coded, &mut a, from);
    let groups = groups::decode(coded, &mut b, from);
    assert_eq!(plain, groups.map(|(end, _)| end));
    let end = plain?;
    assert!(a[..end] == b[..end]);
    let mut c = vec![0; room];
    if let Ok(len) = lz4_flex::block::decompress_into_with_dict(coded, &mut c, history) {
        assert!(a[from..end] == c[..len]);
    }
    Ok(a[from..end].to_vec())
}

/// The coded blocks of a text.
fn coded_blocks(text: &[u8], level: u8) -> Vec<(Vec<u8>, Vec<u8>, Vec<Sample>)> {
    let coded = encode(text, Frame::new().level(level));
    let mut first = 0;
    let mut found = Vec::new();
    for (&(at, _, samples), text) in coded.blocks.iter().zip(text.chunks(1 << 16)) {
        let word = u32::from_le_bytes(coded.bytes[at..at + 4].try_into().unwrap());
        if word >> 31 == 0 {
            let bytes = coded.bytes[at + 4..][..word as usize].to_vec();
            found.push((bytes, text.to_vec(), coded.samples[first..samples].to_vec()));
        }
        first = samples;
    }
    found
}

#[test]
fn shapes_by_groups() {
    let edges = EDGES.iter().map(|edge| (edge.name, (edge.make)()));
    let shapes = SHAPES.iter().flat_map(|s| [s].into_iter().flat_map(|s| [99, 70_000].map(|n| (s.name, (s.make)(n)))));
    let mut sampled = 0;
    for (name, text) in edges.chain(shapes) {
        for level in [1, 9] {
            for (coded, text, samples) in coded_blocks(&text, level) {
                assert!(same(&coded, &[], text.len()).unwrap() == text, "{name}");
                let mut room = vec![0; text.len()];
                assert_eq!(groups::decode_sampled(&coded, &mut room, &samples), Ok(text.len()), "{name}");
                assert!(room == text, "{name}");
                sampled += samples.len();
                // One byte too few, and too little room.
                assert!(same(&coded[..coded.len() - 1], &[], text.len()).is_err() || coded.len() == 1);
                assert_eq!(same(&coded, &[], text.len() - 1), Err(Unreadable::TooLong), "{name}");
            }
        }
    }
    assert!(sampled > 20, "{sampled}");
}

/// Blocks made by hand: valid ones that no encoder writes, and every kind of error.
#[test]
fn blocks_by_hand() {
    let block = |coded: &[u8]| same(coded, b"history!", 100);
    assert_eq!(block(&[]), Err(Unreadable::Cut));
    assert_eq!(block(&[0]), Ok(vec![]));
    assert_eq!(block(&[0x20, b'a', b'b']), Ok(b"ab".to_vec()));
    assert_eq!(block(&[0x20, b'a']), Err(Unreadable::Cut));
    // A match into the history, overlapping matches, and sequences without literals.
    assert_eq!(block(&[0x00, 8, 0, 0x10, b'x']), Ok(b"histx".to_vec()));
    assert_eq!(block(&[0x13, b'a', 1, 0, 0x00]), Ok(b"aaaaaaaa".to_vec()));
    assert_eq!(block(&[0x13, b'a', 2, 0, 0x00]), Ok(b"a!a!a!a!".to_vec()));
    assert_eq!(block(&[0x10, b'a', 10, 0, 0x00]), Err(Unreadable::Offset));
    assert_eq!(block(&[0x10, b'a', 0, 0, 0x00]), Err(Unreadable::Offset));
    // A match at the end of the block; truncated offsets and lengths.
    assert_eq!(block(&[0x10, b'a', 1, 0]), Err(Unreadable::Cut));
    assert_eq!(block(&[0x10, b'a', 1]), Err(Unreadable::Cut));
    assert_eq!(block(&[0x1f, b'a', 1, 0]), Err(Unreadable::Cut));
    assert_eq!(block(&[0x1f, b'a', 1, 0, 255]), Err(Unreadable::Cut));
    assert_eq!(block(&[0xf0, 255, 255, 255]), Err(Unreadable::Cut));
    assert_eq!(block(&[0x1f, b'a', 1, 0, 255, 0, 0]), Err(Unreadable::TooLong));
    // The first bad sequence counts, in the same group or in the next.
    let good = [0x10, b'a', 1, 0];
    for count in [1, 30, 31, 32, 33, 64] {
        let bad = [good.repeat(count), vec![0x00, 0, 0, 0x10]].concat();
        assert_eq!(same(&bad, &[], 1000), Err(Unreadable::Offset), "{count}");
        let cut = [good.repeat(count), vec![0x00, 1, 0, 0x10]].concat();
        assert_eq!(same(&cut, &[], 1000), Err(Unreadable::Cut), "{count}");
        assert_eq!(same(&cut, &[], 5 * count - 1), Err(Unreadable::TooLong), "{count}");
    }
}

/// Each match needs the one before it: each takes one round, and never more.
#[test]
fn rounds() {
    let chain = [[0x10, b'a', 1, 0].to_vec(), [0x00, 4, 0].repeat(31), vec![0x10, b'z']].concat();
    let mut text = vec![0; 200];
    let (end, effort) = groups::decode(&chain, &mut text, 0).unwrap();
    assert_eq!((end, effort.groups, effort.rounds), (130, 2, 32));
    let mut far = vec![0xf0, 241];
    far.extend(0..=255);
    far.extend([0, 1]);
    far.extend([0x00, 0, 1].repeat(30));
    far.extend([0x10, b'z']);
    let mut text = vec![0; 999];
    let (_, effort) = groups::decode(&far, &mut text, 0).unwrap();
    assert_eq!((effort.groups, effort.rounds), (1, 1));
}

/// Wrong samples are always detected.
#[test]
fn samples_that_lie() {
    let text = hybz_testkit::shapes::SHAPES.iter().find(|s| s.name == "words").map(|s| (s.make)(1 << 16)).unwrap();
    let (coded, text, samples) = coded_blocks(&text, 1).remove(0);
    assert!(samples.len() > 5, "{}", samples.len());
    let mut room = vec![0; text.len()];
    for at in 0..samples.len() {
        for (input, output) in [(1, 0), (0, 1), (u16::MAX, 0), (0, u16::MAX), (3, 4), (0x8000, 0x8000)] {
            let mut wrong = samples.clone();
            let sample = &mut wrong[at];
            *sample = Sample { input: sample.input.wrapping_add(input), output: sample.output.wrapping_add(output) };
            assert!(groups::decode_sampled(&coded, &mut room, &wrong).is_err(), "{at} {input} {output}");
        }
        let missing = [&samples[..at], &samples[at + 1..]].concat();
        assert!(groups::decode_sampled(&coded, &mut room, &missing).is_err());
        let twice = [&samples[..=at], &samples[at..]].concat();
        assert!(groups::decode_sampled(&coded, &mut room, &twice).is_err());
    }
}

fn file(len: usize) -> (Vec<u8>, Vec<u8>) {
    let words = SHAPES.iter().find(|s| s.name == "words").map(|s| (s.make)(len)).unwrap();
    let coded = crate::compress(&words, &Settings::new().encoding(Frame::new())).unwrap();
    (words, coded)
}

#[test]
fn every_block_by_the_index() {
    let (text, coded) = file(300_000);
    let index = Index::read(&coded).unwrap().unwrap();
    assert_eq!(index.text_len(), 300_000);
    assert_eq!(index.blocks().len(), 5);
    for (n, text) in text.chunks(1 << 16).enumerate() {
        assert!(!index.samples(n).is_empty());
        assert!(index.decode(n, &coded[index.range(n)]).unwrap() == text);
    }
    // Bytes before the frame change its position and nothing else.
    let moved = [b"something", &coded[..]].concat();
    let index = Index::read(&moved).unwrap().unwrap();
    assert!(index.decode(1, &moved[index.range(1)]).unwrap() == text[1 << 16..2 << 16]);
    assert_eq!(Index::read(&coded[..coded.len() - 1].to_vec()).unwrap(), None);
    assert_eq!(Index::read(&Vec::new()).unwrap(), None);
}

/// The checksum finds a wrong bit anywhere in the index (or no index is recognised). If the checksum is recomputed, the
/// index is refused, or the blocks contradict it, or it is still right about the text.
#[test]
fn an_index_that_lies() {
    let (text, coded) = file(200_000);
    let start = coded.len() - u32::from_le_bytes(coded[coded.len() - 8..][..4].try_into().unwrap()) as usize;
    let end = coded.len() - 12;
    let mut refused = 0;
    for at in start..coded.len() {
        for bit in [0, 3, 7] {
            let mut wrong = coded.clone();
            wrong[at] ^= 1 << bit;
            assert!(!matches!(Index::read(&wrong), Ok(Some(_))), "{at} {bit}");
            // All other readers skip it, unless its length or magic is wrong.
            if at >= start + 8 {
                assert!(crate::decompress(&wrong, &Settings::new()).unwrap() == text);
            }
            if at >= end {
                continue;
            }
            let sum = crate::formats::lz4::header::checksum(&wrong[start..end]);
            wrong[end..end + 4].copy_from_slice(&sum.to_le_bytes());
            match Index::read(&wrong) {
                Ok(None) => panic!("{at} {bit}"),
                Err(Error::BadIndex(_)) => refused += 1,
                Err(other) => panic!("{at} {bit}: {other}"),
                Ok(Some(index)) => {
                    let mut all = Vec::new();
                    let mut lies = false;
                    for n in 0..index.blocks().len() {
                        let range = index.range(n);
                        let bytes = &wrong[range.start.min(wrong.len())..range.end.min(wrong.len())];
                        match index.decode(n, bytes) {
                            Ok(block) => all.extend(block),
                            Err(_) => lies = true,
                        }
                    }
                    assert!(lies || all == text, "{at} {bit}");
                }
            }
        }
    }
    assert!(refused > 500, "{refused}");
}

#[test]
fn windows() {
    let text: Vec<u8> = (0..200_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    for (history, len) in [(0, 10), (10, 10), (65_530, 10), (65_536, 10), (65_536, 65_535), (5, 65_536), (5, 99_999)] {
        let all = &text[..history + len];
        assert!(window(&all[..history], &all[history..]) == all[all.len().saturating_sub(1 << 16)..]);
    }
}

proptest! {
    #[test]
    fn anything_by_groups(
        coded in vec(prop_oneof![4 => 0..6_u8, 2 => Just(0x11_u8), 1 => any::<u8>()], 0..400),
        history in vec(any::<u8>(), 0..40),
        room in 0..600_usize,
    ) {
        let _ = same(&coded, &history, room);
    }

    #[test]
    fn damaged_blocks_by_groups(at in any::<prop::sample::Index>(), bit in 0..8_u32, len in 20..3000_usize) {
        let text: Vec<u8> = (0..len).map(|n| b"abracadabra, "[n * n % 97 % 13]).collect();
        for (mut coded, text, _) in coded_blocks(&text, 1) {
            let at = at.index(coded.len());
            coded[at] ^= 1_u8 << bit;
            let _ = same(&coded, &[], text.len());
        }
    }

    #[test]
    fn anything_as_an_index(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(!matches!(Index::read(&bytes), Ok(Some(_))));
    }

    /// Changes some bytes of an index and recomputes its checksum. Lookups then give the right text or an error.
    #[test]
    fn an_index_with_other_bytes(changes in vec((any::<prop::sample::Index>(), 0..8_u32), 1..4)) {
        let text: Vec<u8> = (0..150_000_usize).map(|n| b"abracadabra, "[n * n % 97 % 13]).collect();
        let mut file = crate::compress(&text, &Settings::new().encoding(Frame::new())).unwrap();
        let len = u32::from_le_bytes(file[file.len() - 8..][..4].try_into().unwrap()) as usize;
        let index = file.len() - len..file.len() - 12;
        for (at, bit) in changes {
            let at = index.start + at.index(index.len());
            file[at] ^= 1 << bit;
        }
        let checksum = checksum(&file[index.clone()]).to_le_bytes();
        file[index.end..][..4].copy_from_slice(&checksum);
        if let Ok(Some(index)) = Index::read(&file) {
            let texts = text.chunks(Frame::BLOCK_SIZE as usize);
            for (number, text) in texts.enumerate().take(index.blocks().len()) {
                let coded = file.get(index.range(number)).unwrap_or_default();
                prop_assert!(index.decode(number, coded).map_or(true, |found| found == text), "block {}", number);
            }
        }
    }
}
