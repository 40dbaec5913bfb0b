//! Damage outside the blocks' codes loses nothing.

use super::{Everything, everything};
use crate::crafted::block::Block;
use crate::crafted::stream::Stream;
use crate::ours::{compress, level, pool};
use crate::shapes::{random, words};
use hybz::Settings;
use hybz::index::Index;
use hybz::recover::{Cause, Found, What, recover};
use std::sync::Arc;

fn settings() -> Settings {
    Settings::new().pool(&pool(2))
}

/// Two streams: their text, and the bits at which their blocks begin.
fn two_streams() -> (Vec<u8>, Vec<u8>, Vec<u64>) {
    let text = [words(250_000), random(120_000)].concat();
    let settings = Settings::new().level(level(1));
    let file = [compress(&text[..250_000], &settings), compress(&text[250_000..], &settings)].concat();
    let index = Index::build(&file[..], &settings).unwrap();
    let begins = index.iter().map(|block| block.unwrap().bit_offset).collect();
    (file, text, begins)
}

fn flip(file: &mut [u8], bit: u64) {
    file[(bit / 8) as usize] ^= 0x80 >> (bit % 8);
}

fn text(found: &Everything) -> Vec<u8> {
    found.blocks.iter().flat_map(|block| block.1.clone()).collect()
}

/// Checks that nothing is lost, and that the findings are these.
#[track_caller]
fn nothing_lost(file: &[u8], expected: &[u8], what: &[What]) {
    let found = everything(file, &settings());
    assert!(text(&found) == expected && found.holes.is_empty(), "{:?} {:?}", found.holes, found.remarks);
    assert_eq!(found.remarks.iter().map(|remark| remark.what).collect::<Vec<_>>(), what);
    assert_eq!(hybz::decompress(&found.rejoined, &settings()).unwrap(), expected);
}

#[test]
fn magics_and_crcs_of_blocks() {
    let (file, text, begins) = two_streams();
    for &begin in &begins {
        for wrong in [&[0][..], &[5, 47], &[3, 17, 33, 40]] {
            let mut bad = file.clone();
            wrong.iter().for_each(|bit| flip(&mut bad, begin + bit));
            nothing_lost(&bad, &text, &[What::Magic]);
        }
        for wrong in [&[48][..], &[79], &[50, 51, 60]] {
            let mut bad = file.clone();
            wrong.iter().for_each(|bit| flip(&mut bad, begin + bit));
            nothing_lost(&bad, &text, &[What::BlockCrc]);
        }
    }
}

/// A CRC field is not blamed for an error unless the end of the stream confirms it.
#[test]
fn a_wrong_crc_that_nothing_explains() {
    let (file, text, begins) = two_streams();
    let mut bad = file.clone();
    flip(&mut bad, begins[1] + 60);
    flip(&mut bad, begins[2] + 60);
    let found = everything(&bad, &settings());
    assert!(found.remarks.is_empty() && found.holes.len() == 1 && found.holes[0].blocks == 2, "{:?}", found.holes);
    assert_eq!(found.blocks.len(), begins.len() - 2);
    assert!(text.starts_with(&found.blocks[0].1));
    assert_eq!(found.holes[0].bits.start, begins[1]);
    assert_eq!(found.holes[0].text_offset, Some(found.blocks[0].1.len() as u64));
}

#[test]
fn headers_and_ends_of_streams() {
    let (file, text, _) = two_streams();
    let settings_1 = Settings::new().level(level(1));
    let first = compress(&text[..250_000], &settings_1).len();
    for byte in 0..4 {
        for at in [byte, first + byte] {
            let mut bad = file.clone();
            bad[at] = 0;
            nothing_lost(&bad, &text, &[What::Header]);
        }
    }
    // The level is not needed: a block of 100 kB is also valid at level 9, and one of 900 kB is accepted at level 1.
    let mut other = compress(&text, &Settings::new());
    other[3] = b'1';
    nothing_lost(&other, &text, &[]);
    for (len, zeros) in [(first, 10), (first, 6), (file.len(), 10), (file.len(), 8)] {
        let mut bad = file.clone();
        bad[len - zeros..len - 1].fill(0);
        let found = everything(&bad, &settings());
        assert!(found.holes.is_empty(), "{zeros}: {:?}", found.holes);
        assert!(self::text(&found) == text);
        assert!(matches!(found.remarks[0].what, What::End | What::StreamCrc), "{:?}", found.remarks);
    }
    for cut in 1..10 {
        nothing_lost(&file[..file.len() - cut], &text, &[What::End]);
    }
    nothing_lost(&[&file[..], &[0; 1000]].concat(), &text, &[What::Garbage]);
    nothing_lost(&file[4..], &text, &[]);
}

#[test]
fn nothing_to_be_found() {
    for file in [&b""[..], b"BZh9", &[0; 5000], &random(100_000)] {
        let found = everything(file, &settings());
        assert!(found.blocks.is_empty());
    }
    let empty = compress(b"", &Settings::new());
    let found = everything(&empty, &settings());
    assert_eq!((found.summary.streams, found.summary.blocks, found.summary.holes), (1, 0, 0));
    let (file, _, begins) = two_streams();
    let found = everything(&file[..(begins[1] / 8) as usize + 40], &settings());
    assert_eq!((found.blocks.len(), found.holes[0].cause), (1, Cause::Cut));
}

/// Magics inside a block's codes do not cut it, and randomised blocks are taken as they are.
#[test]
fn false_magics_and_randomised_blocks() {
    let one = words(9000);
    let blocks = vec![Block::randomised_of_text(&one), Block::of_text(&one[..5000]), Block::randomised_of_text(b"x")];
    let stream = Stream::of(3, blocks);
    nothing_lost(&stream.bytes(), &stream.text(), &[]);
}

/// With an index, the offsets and lengths of the text are known, even if data were inserted.
#[test]
fn places_by_the_index() {
    let (file, text, begins) = two_streams();
    let index = |settings: &Settings| Index::build(&file[..], settings).unwrap();
    let mut bytes = Vec::new();
    index(&settings()).write(&mut bytes).unwrap();
    let mut bad = file.clone();
    flip(&mut bad, begins[1] + 3000);
    let middle = (begins[3] / 8 + 100) as usize;
    bad.splice(middle..middle, random(777));
    let open = |bad: &Vec<u8>| Index::open_unchecked(Arc::new(bytes.clone()), bad).unwrap();
    let mut rebuilt = Vec::new();
    let count = recover(&bad, &settings(), Some(&open(&bad)), |found| {
        match found {
            Found::Block(block) => {
                assert_eq!(block.text_offset, Some(rebuilt.len() as u64));
                block.write_text(&mut rebuilt)?;
            }
            Found::Hole(hole) => {
                assert_eq!(hole.text_offset, Some(rebuilt.len() as u64));
                rebuilt.resize(rebuilt.len() + hole.text_len.unwrap() as usize, 0);
            }
            _ => {}
        }
        Ok(())
    });
    assert_eq!(count.unwrap().holes, 2);
    assert_eq!(rebuilt.len(), text.len());
    let wrong = rebuilt.iter().zip(&text).filter(|(a, b)| a != b).count();
    assert!(wrong > 0 && rebuilt.iter().zip(&text).all(|(a, b)| a == b || *a == 0));
    // A file that is cut.
    let cut = file[..(begins[2] / 8 + 5) as usize].to_vec();
    let mut lost = 0;
    let index = open(&cut);
    recover(&cut, &settings(), Some(&index), |found| {
        if let Found::Hole(hole) = found {
            lost += hole.text_len.unwrap();
        }
        Ok(())
    })
    .unwrap();
    let kept = index.find(0).unwrap().unwrap().text_len + index.iter().nth(1).unwrap().unwrap().text_len;
    assert_eq!(lost, text.len() as u64 - kept);
}
