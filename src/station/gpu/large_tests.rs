//! Lanes that decode blocks of `.hbz` streams: damage, growth, and impossible answers; and cases for the kernels.

use super::trial_tests::{FAKE_ROWS, accepts, fake, fake_with, outcome};
use super::*;
use crate::crc;
use crate::formats::hbz::codec::decode::{HbzDecoder, PayloadBlock};
use crate::formats::hbz::header::{BlockHeader, StreamHeader};
use crate::formats::hbz::stream::tasks::{DecodeLarge, EncodeLarge};
use crate::station::gpu::fake::{Fault, Spoil};
use hybz_gpu::{LargeForDevice, ROW_UNIT};
use hybz_queue::{Core, Task};
use hybz_testkit::shapes::{Rng, SHAPES, shape};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// A lane that decodes.
fn decoding(blocks: usize, fault: Option<(usize, Fault)>) -> Box<dyn Station> {
    fake(Offload::DecodeLarge, blocks, fault)
}

/// What lanes share that may grow by this many bytes.
fn room(bytes: u64) -> Shared {
    Shared { growth: OnceLock::from(Arc::new(Growth::new(bytes))), ..Shared::default() }
}

/// A lane that shares `room`.
fn growing(blocks: usize, fault: Option<(usize, Fault)>, room: &Shared) -> Box<dyn Station> {
    fake_with(Offload::DecodeLarge, blocks, fault, |_| {}, room)
}

fn block(text: &[u8], stream: StreamHeader) -> DecodeLarge {
    let (header, payload) = EncodeLarge { text: text.to_vec().into(), number: 0, stream }.run(&mut Core::new(0));
    DecodeLarge { payload: Arc::new(payload), header, stream, stages: None }
}

fn stream(interval: u32, entry_log: u8) -> StreamHeader {
    StreamHeader { block_size: 1 << 20, interval, seed: 3, entry_log }
}

/// Blocks of all shapes; the longest have four segments, others a hundredth of their text's rows.
pub(super) fn blocks(lens: &[usize]) -> Vec<DecodeLarge> {
    let texts = SHAPES.iter().flat_map(|shape| lens.iter().map(|&len| (shape.make)(len)));
    let streams = [(0, 12), (100, 15), (0, 16)].map(|(interval, log)| stream(interval, log));
    texts.zip((0..3).cycle()).map(|(text, number)| block(&text, streams[number])).collect()
}

pub(super) const LENS: [usize; 4] = [1, 64, 5000, 200_000];

/// A block that has been damaged. Its payload's CRC is right.
fn damaged(usual: &DecodeLarge, spoil: impl FnOnce(&mut Vec<u8>)) -> DecodeLarge {
    let mut payload = usual.payload.to_vec();
    spoil(&mut payload);
    let coded_crc = crc::checksum(&payload);
    let header = BlockHeader { coded_len: payload.len() as u32, coded_crc, ..usual.header };
    DecodeLarge { payload: Arc::new(payload), header, ..usual.clone() }
}

/// Blocks with one wrong bit anywhere, and blocks without their end, among others.
pub(super) fn damaged_blocks(len: usize) -> Vec<DecodeLarge> {
    let mut rng = Rng(5);
    let usual = block(&(shape("words").make)(len), stream(0, 12));
    let bits = usual.payload.len() * 8;
    let mut flip = |_| {
        let bit = rng.below(bits);
        damaged(&usual, |payload| payload[bit / 8] ^= 0x80 >> (bit % 8))
    };
    let mut all: Vec<_> = (0..60).map(&mut flip).collect();
    all.push(damaged(&usual, |payload| payload.truncate(payload.len() - 1)));
    all.push(DecodeLarge { header: BlockHeader { coded_crc: 0, ..usual.header }, ..usual.clone() });
    all.push(DecodeLarge { header: BlockHeader { crc: 0, ..usual.header }, ..usual.clone() });
    all.push(DecodeLarge { header: BlockHeader { text_len: 7, ..usual.header }, ..usual.clone() });
    all
}

#[test]
fn decodes_what_is_usual() {
    let all = blocks(&LENS);
    for blocks in [1, 7, 64] {
        assert_eq!(outcome(&mut *decoding(blocks, None), &all), ([all.len(), 0, 0], Ok(())));
    }
    assert!(accepts(Offload::DecodeLarge).class(DECODE_LARGE) && !accepts(Offload::DecodeLarge).class(DECODE));
    // A text that is much longer than its rows.
    let compact = block(&vec![b' '; 1 << 20], stream(0, 12));
    assert!(compact.header.is_compact());
    assert_eq!(outcome(&mut *decoding(1, None), &[compact]).0, [1, 0, 0]);
    // A core must decode chains of this length.
    let long = block(&(shape("words").make)(5000), stream(0, 17));
    assert_eq!(outcome(&mut *decoding(1, None), &[long]).0, [0, 1, 0]);
}

#[test]
fn a_lane_grows_for_a_long_block() {
    let all = blocks(&LENS);
    let mut station = decoding(2, None);
    assert_eq!(station.max_bytes(), 2 * FAKE_ROWS as u64 / 4);
    assert!(outcome(&mut *station, &all).1.is_ok());
    assert!(station.max_bytes() > 100_000 / 4);
    // There is no memory for longer lanes: a core does the long blocks.
    let mut station = decoding(2, Some((0, Fault::Fixed)));
    for _ in 0..2 {
        let ([done, declined, undone], result) = outcome(&mut *station, &all);
        assert!(result.is_ok() && undone == 0 && declined > 0 && done > all.len() / 2, "{done} {declined}");
    }
}

/// The lanes of one device share an amount of memory for long blocks; one takes what another gives back.
#[test]
fn lanes_grow_into_one_room() {
    let long = [block(&(shape("words").make)(60_000), stream(0, 12))];
    let room = room(100_000);
    let [mut first, mut second] = [(); 2].map(|()| growing(2, None, &room));
    assert_eq!(outcome(&mut *first, &long).0, [1, 0, 0]);
    assert_eq!(outcome(&mut *second, &long).0, [0, 1, 0]);
    assert_eq!(outcome(&mut *first, &long).0, [1, 0, 0]);
    drop(first);
    assert_eq!(outcome(&mut *second, &long).0, [1, 0, 0]);
}

/// A failed lane is replaced by a small one; other lanes may take the memory that the failed one had taken.
#[test]
fn a_lane_that_failed_gives_back_its_room() {
    let long = [block(&(shape("words").make)(200_000), stream(0, 12))];
    let room = room(200_000);
    let mut first = growing(8, Some((1, Fault::Memory)), &room);
    assert_eq!(outcome(&mut *first, &long).0, [1, 0, 0]);
    assert!(!outcome(&mut *first, &long).1.unwrap_err().retire);
    assert_eq!(outcome(&mut *growing(2, None, &room), &long).0, [1, 0, 0]);
}

/// A device that refuses to grow makes its lane anew each time it is asked.
#[test]
fn a_lane_is_asked_once_for_blocks_of_one_length() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let count: Spoil = |lane| ASKED.store(lane.asked, Relaxed);
    let long = block(&(shape("words").make)(60_000), stream(0, 12));
    let short = block(b"short", stream(0, 12));
    let tasks = [vec![long; 5], vec![short]].concat();
    let fault = Some((0, Fault::Fixed));
    let mut station = fake_with(Offload::DecodeLarge, 2, fault, count, &room(u64::MAX));
    assert_eq!(outcome(&mut *station, &tasks).0, [1, 5, 0]);
    assert_eq!(ASKED.load(Relaxed), 1);
}

#[test]
fn what_is_damaged_is_for_a_core() {
    let all = damaged_blocks(100_000);
    for damaged in &all {
        let ([.., undone], result) = outcome(&mut *decoding(4, None), std::slice::from_ref(damaged));
        assert_eq!((undone, result), (0, Ok(())));
    }
    let ([done, declined, undone], result) = outcome(&mut *decoding(32, None), &all);
    assert!(result.is_ok() && undone == 0 && declined > all.len() / 2, "{done} {declined}");
}

/// The outcome for a block when a device returns false values for it.
#[test]
fn answers_that_cannot_be() {
    let usual = block(&(shape("words").make)(5000), stream(0, 12));
    let three = [usual.clone(), usual.clone(), usual];
    let spoils: [(Spoil, Option<[usize; 3]>); 5] = [
        (|lane| lane.odd[1] = 1, Some([2, 1, 0])),
        (|lane| (lane.odd[1], lane.columns[5]) = (1, lane.columns[6].wrapping_add(1)), None),
        (|lane| lane.columns.truncate(lane.columns.len() - 1), None),
        (|lane| lane.odd.truncate(2), None),
        (|lane| lane.columns.fill(0), None),
    ];
    for (number, (spoil, expected)) in spoils.into_iter().enumerate() {
        let mut station = fake_with(Offload::DecodeLarge, 4, None, spoil, &Shared::default());
        let (counts, result) = outcome(&mut *station, &three);
        assert_eq!(result.is_ok(), expected.is_some(), "{number}");
        assert!(expected.is_none_or(|expected| counts == expected), "{number}: {counts:?}");
    }
}

/// Batches for `bench large` of `cuda/bench/`, written to the file that `HYBZ_CASES` names: of all shapes, or of the
/// blocks of the `.hbz` file that `HYBZ_CASES_OF` names.
#[test]
#[ignore = "writes a file"]
fn cases_for_the_kernels() {
    let path = std::env::var_os("HYBZ_CASES").expect("HYBZ_CASES names a file");
    let mut cases = Vec::new();
    match std::env::var_os("HYBZ_CASES_OF") {
        Some(file) => write_case(&mut cases, &blocks_of(&std::fs::read(file).unwrap()), true),
        None => {
            let (all, damaged) = (blocks(&[1, 64, 5000]), damaged_blocks(5000));
            all.iter().for_each(|block| write_case(&mut cases, std::slice::from_ref(block), true));
            write_case(&mut cases, &all[..30], true);
            damaged.chunks(30).for_each(|blocks| write_case(&mut cases, blocks, false));
            // A segment with one token left over, with many left over, and with one missing.
            let words = [block(&(shape("words").make)(20_000), stream(0, 12))];
            [1, 2, 33, 1000, -1, -40].iter().for_each(|more| write_spoilt(&mut cases, &words, true, *more));
            // Several segments, and rows that leave no room for the codes.
            write_case(&mut cases, &[block(&(shape("words").make)(200_000), stream(0, 12))], true);
            let period: Vec<u8> = (0..1009u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let long = block(&period.repeat(17_000), StreamHeader { block_size: 1 << 25, ..stream(0, 15) });
            assert!(long.header.rows > 1 << 24);
            write_case(&mut cases, &[long], true);
        }
    }
    std::fs::write(path, cases).unwrap();
}

/// The blocks of a stream.
fn blocks_of(file: &[u8]) -> Vec<DecodeLarge> {
    let (head, mut rest) = file.split_first_chunk().unwrap();
    let stream = StreamHeader::parse(head).unwrap();
    let mut blocks = Vec::new();
    while let Some((head, after)) = rest.split_first_chunk()
        && let Ok(header) = BlockHeader::parse(head, &stream, blocks.len() as u32)
    {
        let (payload, next) = after.split_at(header.coded_len as usize);
        blocks.push(DecodeLarge { payload: Arc::new(payload.to_vec()), header, stream, stages: None });
        rest = next;
    }
    blocks
}

/// Writes a batch: the numbers of blocks, bytes of input and rows; the blocks; the input; for each block 0 if it is
/// `regular`, 1 if a core finds it damaged before it is text, 2 if not, and a hash of its codes.
fn write_case(cases: &mut Vec<u8>, blocks: &[DecodeLarge], regular: bool) {
    write_spoilt(cases, blocks, regular, 0);
}

/// Decodes blocks with `more` additional tokens in the first segment of each block; unless `more` is 0, all must be
/// found odd.
fn write_spoilt(cases: &mut Vec<u8>, blocks: &[DecodeLarge], regular: bool, more: i32) {
    let parsed = blocks.iter().filter_map(|block| {
        let parsed = PayloadBlock::parse(block.stream, block.header, Arc::clone(&block.payload)).ok()?;
        parsed.tokens_fit_rows().then_some(parsed)
    });
    let (mut heads, mut input, mut expected, mut rows) = (Vec::new(), Vec::new(), Vec::new(), 0usize);
    for block in parsed {
        let at = input.len();
        input.resize(at + payload::input_len(&block), 0);
        rows = rows.next_multiple_of(ROW_UNIT);
        let head = payload::write(&block, rows as u32, &mut input, at);
        let tokens = &mut input[head.segments_at as usize + 8..][..4];
        let count = u32::from_ne_bytes(tokens.try_into().unwrap()).saturating_add_signed(more);
        tokens.copy_from_slice(&count.to_ne_bytes());
        heads.push(head);
        rows += block.header.rows as usize;
        let codes = HbzDecoder::new().codes(&block);
        let fnv = |hash: u64, code: &u8| (hash ^ u64::from(*code)).wrapping_mul(0x100_0000_01b3);
        let hash = codes.iter().flatten().fold(0xcbf2_9ce4_8422_2325, fnv);
        let is_odd = codes.is_err() || more != 0;
        expected.push((if is_odd { 1u32 } else { 2 * u32::from(!regular) }, hash));
    }
    let mut word = |word: u32| cases.extend(word.to_ne_bytes());
    [heads.len(), input.len(), rows].iter().for_each(|&n| word(n as u32));
    for head in &heads {
        let LargeForDevice { rows, base, entry_log, selectors, segments_at, entries_at, shares_at, list } = head;
        [rows, base, entry_log, selectors, segments_at, entries_at, shares_at].into_iter().for_each(|&n| word(n));
        list.as_chunks().0.iter().for_each(|four| word(u32::from_ne_bytes(*four)));
    }
    cases.extend(&input);
    for (odd, hash) in expected {
        cases.extend(odd.to_ne_bytes());
        cases.extend(hash.to_ne_bytes());
    }
}
