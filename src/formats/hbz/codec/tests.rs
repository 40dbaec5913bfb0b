//! Deceptive and damaged blocks, and the stages one by one.

use super::decode::{HbzDecoder, PayloadBlock, TextLens};
use super::encode::HbzEncoder;
use crate::block::Text;
use crate::flaw::Flaw;
use crate::formats::hbz::header::{BlockHeader, StreamHeader};
use hybz_testkit::shapes::Rng;

fn stream(block_size: u32) -> StreamHeader {
    StreamHeader { block_size, interval: 0, seed: 7, entry_log: 12 }
}

fn whole(text: Text) -> Vec<u8> {
    text.plain(&mut Vec::new()).expect("it is not run-length-coded").to_vec()
}

/// Words in the samples of the dictionary; everywhere else, bytes that are rare in the samples.
#[test]
fn a_sample_that_deceives() {
    let words = (hybz_testkit::shapes::shape("words").make)(40_000_000 / 32);
    let mut text: Vec<u8> = Vec::new();
    for piece in 0..32usize {
        text.extend_from_slice(&words[piece * 39_000..][..17_000]);
        text.extend((0..1_250_000 - 17_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8));
    }
    let stream = stream(1 << 26);
    let (header, payload) = HbzEncoder::default().encode(&text, 3, &stream);
    assert!(HbzDecoder::new().decode(stream, header, payload.into()).map(whole) == Ok(text));
}

/// The vector and the walk of one block of one segment, stage by stage.
#[test]
fn the_vector_is_the_naive_one() {
    let text = (hybz_testkit::shapes::shape("words").make)(30_000);
    let stream = stream(1 << 20);
    let (header, payload) = HbzEncoder::default().encode(&text, 0, &stream);
    let block = PayloadBlock::parse(stream, header, payload.into()).unwrap();
    let runs = vec![block.runs(0, &mut super::decode::segment_mtf()).unwrap()];
    let (starts, first) = block.segment_starts(&runs);
    let vector = super::decode::Vectors::of_one().take(header.rows);
    block.fill(0, &runs[0], &starts[0], &vector);
    let whole = block.walk(0..block.entries(), &vector, &first, (&TextLens::new(1), 0)).unwrap();
    assert!(whole == text);
    // The same text from any entry point on.
    for entry in 0..block.entries() {
        let part = block.walk(entry..block.entries(), &vector, &first, (&TextLens::new(1), 0)).unwrap();
        assert!(text.ends_with(&part));
    }
}

/// A damaged payload with a matching CRC gives an error or the text, never a panic.
#[test]
fn damaged_payloads_with_good_crcs() {
    let mut rng = Rng(77);
    let mut decoder = HbzDecoder::new();
    let stream = stream(1 << 20);
    for shape in ["words", "short_runs", "random", "zeros"] {
        let text = (hybz_testkit::shapes::shape(shape).make)(140_000);
        let (header, payload) = HbzEncoder::default().encode(&text, 0, &stream);
        for round in 0..400 {
            let mut bad = payload.clone();
            let near = if round % 2 == 0 { bad.len().min(900) } else { bad.len() };
            for _ in 0..1 + rng.below(3) {
                let at = rng.below(near);
                bad[at] ^= 1 << rng.below(8);
            }
            if round % 5 == 0 {
                bad.truncate(rng.below(near));
            }
            let header = BlockHeader { coded_len: bad.len() as u32, coded_crc: crate::crc::checksum(&bad), ..header };
            match decoder.decode(stream, header, bad.into()) {
                Ok(back) => assert!(whole(back) == text),
                Err(Flaw::PartCrc { .. }) => panic!("the CRC fits"),
                Err(_) => {}
            }
        }
    }
}
