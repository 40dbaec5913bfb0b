//! Lanes that decode blocks of `.bz2` streams: damage, and impossible answers.

use super::trial_tests::{accepts, fake, fake_with, outcome};
use super::*;
use crate::formats::bzip2::stream::tasks::{DecodeBlock, EncodeBlock};
use crate::station::gpu::fake::Spoil;
use crate::{Level, Pool, Settings};
use hybz_gpu::DecodedByDevice;
use hybz_queue::{Core, Task};
use hybz_testkit::shapes::{Rng, SHAPES, shape};

/// A span with a block from bit `shift` on, followed by `rest` bytes of another block.
fn span(text: &[u8], shift: u64, rest: usize) -> DecodeBlock {
    let block = EncodeBlock::from(crate::block::Text::Plain(text.to_vec())).run(&mut Core::new(0));
    let mut data = crate::bits::BitWriter::new();
    data.write(0, shift as u32);
    crate::bits::append_bits(&mut data, &block.bytes, block.bit_len);
    let end = data.bit_len();
    if rest > 0 {
        // The end of the stream, which follows its last block.
        data.write(crate::formats::bzip2::header::END_MAGIC >> 24, 24);
        data.write(crate::formats::bzip2::header::END_MAGIC & 0xff_ffff, 24);
        (0..rest).for_each(|byte| data.write(byte as u64 & 0xff, 8));
    }
    let more = data.bit_len();
    DecodeBlock { data: data.finish().into(), start: shift, end: if rest > 0 { more } else { end } }
}

/// Blocks of all shapes, at all bit offsets.
pub(super) fn spans() -> Vec<DecodeBlock> {
    let mut number = 0;
    let each = SHAPES.iter().flat_map(|shape| [1, 64, 5000, 100_000].map(|len| (shape.make)(len)));
    each.map(|text| {
        number += 1;
        span(&text, number % 8, number as usize % 3 * 5)
    })
    .collect()
}

/// A span that has been damaged.
fn damaged(span: &DecodeBlock, spoil: impl FnOnce(&mut Vec<u8>)) -> DecodeBlock {
    let mut data = span.data.to_vec();
    spoil(&mut data);
    DecodeBlock { data: data.into(), ..span.clone() }
}

/// Spans with one wrong bit anywhere, and spans cut short.
pub(super) fn damaged_spans() -> Vec<DecodeBlock> {
    let mut rng = Rng(3);
    let usual = span(&(shape("words").make)(30_000), 3, 7);
    let bits = usual.end as usize;
    let flips: Vec<usize> = (0..300).map(|at| if at < 200 { at } else { rng.below(bits) }).collect();
    let flipped = flips.iter().map(|bit| damaged(&usual, |data| data[bit / 8] ^= 0x80 >> (bit % 8)));
    let cut = (0..40).map(|_| DecodeBlock { end: rng.below(bits) as u64, ..usual.clone() });
    flipped.chain(cut).collect()
}

#[test]
fn decodes_what_is_usual() {
    let all = spans();
    for blocks in [1, 7, 32, 512] {
        assert_eq!(outcome(&mut *fake(Offload::Decode, blocks, None), &all), ([all.len(), 0, 0], Ok(())));
    }
    assert!(accepts(Offload::Decode).class(DECODE) && !accepts(Offload::Decode).class(ENCODE));
}

#[test]
fn what_is_damaged_is_for_a_core() {
    let all = damaged_spans();
    for span in all.iter().take(64) {
        let ([.., undone], result) = outcome(&mut *fake(Offload::Decode, 4, None), std::slice::from_ref(span));
        assert_eq!((undone, result), (0, Ok(())));
    }
    let ([_, declined, undone], result) = outcome(&mut *fake(Offload::Decode, 32, None), &all);
    assert!(result.is_ok() && undone == 0 && declined > all.len() / 2, "{declined}");
    // More bytes than any lane has room for.
    let long = DecodeBlock { end: u64::MAX, ..damaged(&spans()[3], |data| data.resize(40 << 20, 0)) };
    assert_eq!(outcome(&mut *fake(Offload::Decode, 4, None), &[long]).0, [0, 1, 0]);
}

fn spoilt(spoil: Spoil) -> Box<dyn Station> {
    fake_with(Offload::Decode, 4, None, spoil, &Shared::default())
}

/// No CRC covers the length of an expanded block before its expansion: a block that is said to be too long for its
/// level, and is not, is no damage.
#[test]
fn a_block_that_seems_too_long() {
    let text = (shape("words").make)(95_000);
    let coded = crate::compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
    let too_long: Spoil = |lane| lane.decoded.iter_mut().for_each(|block| block.rows = 110_000);
    let pool = Pool::builder().without_cpu().station(accepts(Offload::Decode), move || Ok(spoilt(too_long))).build();
    assert!(crate::decompress(&coded, &Settings::new().pool(&pool)).unwrap() == text);
    let stations = pool.summary().stations;
    assert!(stations.iter().all(|station| station.blocks == 1 && station.retired.is_none()), "{stations:?}");
}

/// The outcome for a block when a device returns false values for it.
#[test]
fn answers_that_cannot_be() {
    fn nonsense() -> DecodedByDevice {
        let most = u32::MAX;
        DecodedByDevice { odd: 1, end_bit: most, rows: most, at: most, length: most, expanded: most }
    }
    let usual = span(&[&(shape("words").make)(5000)[..], &[b'x'; 30]].concat(), 5, 9);
    let three = [usual.clone(), usual.clone(), usual];
    // The fake device expands the first and the third block.
    let spoils: [(Spoil, bool); 16] = [
        (|lane| lane.decoded[1].odd = 1, true),
        (|lane| lane.decoded[1] = nonsense(), true),
        (|lane| lane.decoded[1].end_bit += 1, true),
        (|lane| lane.decoded[1].end_bit = u32::MAX, true),
        (|lane| lane.decoded[1].rows -= 1, false),
        (|lane| lane.decoded[1].at = u32::MAX, false),
        (|lane| lane.decoded[1].at += 1, false),
        (|lane| lane.decoded[1].length -= 1, false),
        (|lane| lane.decoded[1].expanded = 1, false),
        (|lane| lane.decoded[2].expanded = 0, false),
        (|lane| lane.decoded[2].at += 1, false),
        (|lane| lane.decoded[2].length -= 1, false),
        (|lane| lane.decoded[2].length = u32::MAX, false),
        (|lane| lane.decoded[2].rows = 0, false),
        (|lane| lane.decoded[2].rows = 10 * lane.decoded[2].length, false),
        (|lane| lane.decoded[2].rows = lane.decoded[2].length / 60, false),
    ];
    for (number, (spoil, goes_on)) in spoils.into_iter().enumerate() {
        let (counts, result) = outcome(&mut *spoilt(spoil), &three);
        assert_eq!(result.is_ok(), goes_on, "{number}");
        // Blocks after the wrong one stay open.
        let until = if number < 9 { [2, 0, 1] } else { [3, 0, 0] };
        assert_eq!(counts, if goes_on { [2, 1, 0] } else { until }, "{number}");
    }
}
