//! Compares the decoder and the encoder without a pool with those that use one.

use crate::crafted::cases;
use crate::ours;
use crate::shapes::{EDGES, Rng, SHAPES, shape};
use hybz::push::{Block, BlockDecoder, Decoder, Encoder, find_block};
use hybz::{Error, Settings};
use hybz_testkit::rounds;

/// Decodes a file that is pushed in pieces. Returns all text, and the error if there is one.
fn decode(file: &[u8], piece: usize) -> (Vec<u8>, Result<(), String>) {
    let (mut decoder, mut text) = (Decoder::new(), Vec::new());
    let mut take = |decoder: &mut Decoder| -> Result<(), Error> {
        while let Some(bytes) = decoder.text()? {
            assert!(!bytes.is_empty());
            text.extend_from_slice(bytes);
        }
        Ok(())
    };
    for bytes in file.chunks(piece) {
        decoder.push(bytes);
        if let Err(error) = take(&mut decoder) {
            assert_eq!(take(&mut decoder).unwrap_err().to_string(), error.to_string(), "the error stays");
            return (text, Err(error.to_string()));
        }
    }
    decoder.finish();
    let result = take(&mut decoder).map_err(|error| error.to_string());
    assert_eq!(decoder.is_complete(), result.is_ok());
    (text, result)
}

/// The text and the verdict of the pool's `.bz2` decoder for a file.
fn by_pool(file: &[u8]) -> (Vec<u8>, Result<(), String>) {
    use hybz::write::MultiBzDecoder;
    use std::io::Write;
    let mut decoder = MultiBzDecoder::with_settings(Vec::new(), &Settings::new());
    let result = decoder.write_all(file).and_then(|()| decoder.try_finish());
    let result = result.map_err(|error| error.to_string());
    (decoder.get_ref().clone(), result)
}

#[test]
fn crafted_files_as_by_the_pool() {
    let mut refused = 0;
    for case in cases::all() {
        let expected = by_pool(&case.file);
        refused += usize::from(expected.1.is_err());
        for piece in [1, 64, 1 << 20] {
            if piece == 1 && case.file.len() > 2_000 {
                continue;
            }
            let made = decode(&case.file, piece);
            assert_eq!(made.1, expected.1, "{}, pieces of {piece}", case.name);
            assert!(made.0 == expected.0, "{}, pieces of {piece}: {} bytes", case.name, made.0.len());
        }
    }
    assert!(refused > 50, "{refused} cases were refused");
}

#[test]
fn cut_and_changed_files_as_by_the_pool() {
    let text = [&(shape("words").make)(150_000)[..], &[7; 70_000]].concat();
    let file = ours::compress(&text, &Settings::new().level(ours::level(1)));
    let two = [&file[..], &file[..]].concat();
    let mut rng = Rng(50);
    for round in 0..rounds(120, 2000) {
        let mut other = two[..two.len() - (round % 3).min(1) * rng.below(two.len())].to_vec();
        if round % 3 != 1 && !other.is_empty() {
            let bit = rng.below(other.len() * 8);
            other[bit / 8] ^= 1 << (bit % 8);
        }
        let expected = by_pool(&other);
        let made = decode(&other, [1000, 1 << 16, 1 << 20][round % 3]);
        assert_eq!(made.1, expected.1, "round {round}");
        assert!(made.0 == expected.0, "round {round}: {} bytes, not {}", made.0.len(), expected.0.len());
    }
}

#[test]
fn what_follows_the_streams() {
    let file = ours::compress(b"text", &Settings::new());
    let ends = [(&b""[..], None), (b"B", None), (b"BZh0", Some(file.len() as u64)), (b"\0", Some(file.len() as u64))];
    for (tail, trailing) in ends {
        let mut decoder = Decoder::new();
        decoder.push(&[&file[..], tail].concat());
        assert_eq!(decoder.text().expect("a right stream"), Some(&b"text"[..]));
        assert_eq!(decoder.text().expect("a right stream"), None);
        assert_eq!((decoder.trailing(), decoder.position()), (trailing, file.len() as u64), "{tail:?}");
        decoder.finish();
        assert_eq!(decoder.text().is_err(), tail == b"B", "{tail:?}");
    }
    let mut decoder = Decoder::single();
    decoder.push(&[&file[..], &file[..]].concat());
    assert_eq!(decoder.text().expect("a right stream"), Some(&b"text"[..]));
    assert_eq!(decoder.text().expect("a right stream"), None);
    assert_eq!((decoder.is_complete(), decoder.position()), (true, file.len() as u64));
}

#[test]
fn blocks_one_by_one() {
    let text = (shape("words").make)(250_000);
    let file = ours::compress(&text, &Settings::new().level(ours::level(1)));
    let (mut decoder, mut at, mut found) = (BlockDecoder::new(), 0, Vec::new());
    let mut whole = Decoder::new();
    whole.push(&file);
    let mut chain = Decoder::new();
    chain.push(&file);
    while let Some(bit) = find_block(&file, at) {
        let block = decoder.decode(&file, bit).expect("a right block");
        assert!(whole.text().expect("a right file") == Some(&block.text[..]));
        assert_eq!(whole.block_bit(), bit);
        assert_eq!(chain.next_block(), Some(bit));
        for wrong in [Block { end_bit: bit - 1, ..block.clone() }, Block { block_len: 100_001, ..block.clone() }] {
            assert!(!chain.accept(&wrong));
        }
        assert!(chain.accept(&block));
        found.extend_from_slice(&block.text);
        at = block.end_bit;
    }
    assert!(found == text);
    assert!(chain.text().expect("the CRC of the stream is right").is_none());
    assert_eq!((chain.next_block(), chain.is_complete()), (None, true));
    // The level is that of the block's own stream, also if another stream ends before it.
    let first = ours::compress(b"text", &Settings::new());
    let both = [&first[..], &file].concat();
    let mut chain = Decoder::new();
    chain.push(&both);
    assert_eq!(chain.text().expect("a right stream"), Some(&b"text"[..]));
    let block = decoder.decode(&both, 8 * first.len() as u64 + 32).expect("a right block");
    assert!(!chain.accept(&Block { block_len: 100_001, ..block.clone() }));
    assert!(chain.accept(&block));
    assert!(matches!(decoder.decode(&file, 33), Err(Error::Data { block: 1, bit_offset: 33, .. })));
    assert!(matches!(decoder.decode(&file[..90], 32), Err(Error::Truncated { block: 1, bit_offset: 720 })));
    let zeros = ours::compress(&vec![0; 5_000_000], &Settings::new());
    assert!(decoder.decode(&zeros, 32).expect("a right block").text == vec![0; 5_000_000]);
}

#[test]
fn encoded_as_by_the_pool() {
    let encode = |text: &[u8], level: u8, piece: usize| {
        let (mut encoder, mut coded) = (Encoder::new(ours::level(level)), Vec::new());
        for part in text.chunks(piece).map(Some).chain([None]) {
            match part {
                Some(part) => encoder.push(part),
                None => encoder.finish(),
            }
            while let Some(bytes) = encoder.coded() {
                coded.extend_from_slice(bytes);
            }
        }
        encoder.push(b"ignored");
        assert_eq!(encoder.coded(), None);
        coded
    };
    let edges = EDGES.iter().map(|edge| (edge.name, (edge.make)()));
    let shapes = SHAPES.iter().map(|shape| (shape.name, (shape.make)(210_000)));
    for (name, text) in edges.chain(shapes) {
        for (level, piece) in [(1, 1000), (9, 70_000), (5, 1 << 24)] {
            let expected = ours::compress(&text, &Settings::new().level(ours::level(level)));
            assert!(encode(&text, level, piece) == expected, "{name}, level {level}");
        }
    }
}
