//! Compares lanes that decode `.hbz` blocks with the CPU codec: fake ones that fail in every way, and real ones if
//! there are any.

use super::*;
use crate::block::Text;
use crate::crc;
use crate::flaw::Flaw;
use crate::formats::hbz::codec::decode::PayloadBlock;
use crate::formats::hbz::header::{BlockHeader, StreamHeader};
use crate::formats::hbz::stream::tasks::{DECODE_LARGE, DecodeLarge, EncodeLarge};
use crate::station::gpu::fake::{FakeLane, Fault};
use crate::{Pool, Settings};
use hybz_gpu::{DecodedCodes, DeviceLane, LargeForDevice, ROW_UNIT, Result};
use hybz_queue::{Accepts, Core, Job, StationError, Task};
use hybz_testkit::shapes::{Rng, SHAPES, shape};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of rows that a fake lane has for each of its blocks: some blocks are longer than the lane.
const FAKE_ROWS: usize = 4000;

fn fake(blocks: usize, fault: Option<(usize, Fault)>) -> Box<dyn Station> {
    fake_with(blocks, fault, unlimited())
}

fn unlimited() -> Arc<large::Growth> {
    Arc::new(large::Growth::new(u64::MAX))
}

fn fake_with(blocks: usize, mut fault: Option<(usize, Fault)>, growth: Arc<large::Growth>) -> Box<dyn Station> {
    let open = Box::new(move |max_blocks| {
        Ok(Box::new(FakeLane::new(LaneSize { max_blocks, max_length: FAKE_ROWS }, fault.take())) as Box<_>)
    });
    station("fake".to_owned(), blocks, open, large::Large::new(growth)).unwrap()
}

fn block(text: &[u8], stream: StreamHeader) -> DecodeLarge {
    let (header, payload) = EncodeLarge { text: text.to_vec().into(), number: 0, stream }.run(&mut Core::new(0));
    DecodeLarge { payload: Arc::new(payload), header, stream, stages: None }
}

fn stream(interval: u32, entry_log: u8) -> StreamHeader {
    StreamHeader { block_size: 1 << 20, interval, seed: 3, entry_log }
}

/// Blocks of all shapes; the longest have four segments, others a hundredth of their text's rows.
fn blocks(lens: &[usize]) -> Vec<DecodeLarge> {
    let texts = SHAPES.iter().flat_map(|shape| lens.iter().map(|&len| (shape.make)(len)));
    let streams = [(0, 12), (100, 15), (0, 16)].map(|(interval, log)| stream(interval, log));
    texts.zip((0..3).cycle()).map(|(text, number)| block(&text, streams[number])).collect()
}

const LENS: [usize; 4] = [1, 64, 5000, 200_000];

/// A block that has been damaged. Its payload's CRC is right.
fn damaged(usual: &DecodeLarge, spoil: impl FnOnce(&mut Vec<u8>)) -> DecodeLarge {
    let mut payload = usual.payload.to_vec();
    spoil(&mut payload);
    let coded_crc = crc::checksum(&payload);
    let header = BlockHeader { coded_len: payload.len() as u32, coded_crc, ..usual.header };
    DecodeLarge { payload: Arc::new(payload), header, ..usual.clone() }
}

/// Blocks with one wrong bit anywhere, and blocks without their end, among others.
fn damaged_blocks(len: usize) -> Vec<DecodeLarge> {
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

fn whole(answer: Result<Text, Flaw>) -> Result<Vec<u8>, Flaw> {
    answer.map(|text| text.plain(&mut Vec::new()).unwrap().to_vec())
}

/// Does the batch. Compares every answer with a core's own. Returns the numbers of tasks answered, declined and left
/// undone.
fn outcome(station: &mut dyn Station, blocks: &[DecodeLarge]) -> ([usize; 3], Result<(), StationError>) {
    let mut core = Core::new(0);
    let (mut jobs, tickets): (Vec<Job>, Vec<_>) = blocks.iter().cloned().map(Job::detached).unzip();
    let result = station.work(&mut jobs);
    let mut counts = [0; 3];
    for (number, ((block, job), ticket)) in blocks.iter().zip(&jobs).zip(tickets).enumerate() {
        counts[if job.is_declined() { 1 } else { usize::from(job.is_open()) * 2 }] += 1;
        if let Some(answer) = ticket.poll() {
            assert!(whole(answer.unwrap()) == whole(block.run(&mut core)), "block {number}");
        }
    }
    (counts, result)
}

#[test]
fn decodes_what_is_usual() {
    let all = blocks(&LENS);
    for blocks in [1, 7, 64] {
        let ([done, declined, undone], result) = outcome(&mut *fake(blocks, None), &all);
        assert!(result.is_ok() && undone == 0, "{result:?}");
        assert_eq!((done, declined), (all.len(), 0));
    }
    assert!(Accepts::Only(kind(Lanes::for_decoding_large().offload).accepts).class(DECODE_LARGE));
    assert!(!Accepts::Only(kind(Lanes::for_decoding_large().offload).accepts).class(DECODE));
    // A text that is much longer than its rows.
    let compact = block(&vec![b' '; 1 << 20], stream(0, 12));
    assert!(compact.header.is_compact());
    assert_eq!(outcome(&mut *fake(1, None), &[compact]).0, [1, 0, 0]);
    // A core must decode chains of this length.
    let long = block(&(shape("words").make)(5000), stream(0, 17));
    assert_eq!(outcome(&mut *fake(1, None), &[long]).0, [0, 1, 0]);
}

#[test]
fn a_lane_grows_for_a_long_block() {
    let all = blocks(&LENS);
    let mut station = fake(2, None);
    assert_eq!(station.max_bytes(), 2 * FAKE_ROWS as u64 / 4);
    assert!(outcome(&mut *station, &all).1.is_ok());
    assert!(station.max_bytes() > 100_000 / 4);
    // There is no memory for longer lanes: a core does the long blocks.
    let mut station = fake(2, Some((0, Fault::Fixed)));
    for _ in 0..2 {
        let ([done, declined, undone], result) = outcome(&mut *station, &all);
        assert!(result.is_ok() && undone == 0 && declined > 0 && done > all.len() / 2, "{done} {declined}");
    }
}

/// The lanes of one device share an amount of memory for long blocks; one takes what another gives back.
#[test]
fn lanes_grow_into_one_room() {
    let long = [block(&(shape("words").make)(60_000), stream(0, 12))];
    let growth = Arc::new(large::Growth::new(100_000));
    let mut lanes = [(); 2].map(|()| fake_with(2, None, Arc::clone(&growth)));
    assert_eq!(outcome(&mut *lanes[0], &long).0, [1, 0, 0]);
    assert_eq!(outcome(&mut *lanes[1], &long).0, [0, 1, 0]);
    assert_eq!(outcome(&mut *lanes[0], &long).0, [1, 0, 0]);
    let [first, mut second] = lanes;
    drop(first);
    assert_eq!(outcome(&mut *second, &long).0, [1, 0, 0]);
}

/// A failed lane is replaced by a small one; other lanes may take the memory that the failed one had taken.
#[test]
fn a_lane_that_failed_gives_back_its_room() {
    let long = [block(&(shape("words").make)(200_000), stream(0, 12))];
    let growth = Arc::new(large::Growth::new(200_000));
    let mut first = fake_with(8, Some((1, Fault::Memory)), Arc::clone(&growth));
    assert_eq!(outcome(&mut *first, &long).0, [1, 0, 0]);
    assert!(!outcome(&mut *first, &long).1.unwrap_err().retire);
    assert_eq!(outcome(&mut *fake_with(2, None, growth), &long).0, [1, 0, 0]);
}

/// A device that refuses to grow makes its lane anew each time it is asked.
#[test]
fn a_lane_is_asked_once_for_blocks_of_one_length() {
    let long = vec![block(&(shape("words").make)(60_000), stream(0, 12)); 5];
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let open: hybz_gpu::Open = Box::new(move |max_blocks| {
        let mut lane = FakeLane::new(LaneSize { max_blocks, max_length: FAKE_ROWS }, Some((0, Fault::Fixed)));
        lane.asked = Arc::clone(&count);
        Ok(Box::new(lane))
    });
    let mut station = station("fixed".to_owned(), 2, open, large::Large::new(unlimited())).unwrap();
    assert_eq!(outcome(&mut *station, &long).0, [0, 5, 0]);
    assert_eq!(asked.load(Relaxed), 1);
}

#[test]
fn what_is_damaged_is_for_a_core() {
    let all = damaged_blocks(100_000);
    for damaged in &all {
        let ([done, declined, undone], result) = outcome(&mut *fake(4, None), std::slice::from_ref(damaged));
        assert!(result.is_ok() && done + declined == 1 && undone == 0);
    }
    let ([done, declined, undone], result) = outcome(&mut *fake(32, None), &all);
    assert!(result.is_ok() && undone == 0 && declined > all.len() / 2, "{done} {declined}");
}

#[test]
fn failures() {
    let all = blocks(&[64, 5000]);
    for call in 0..3 {
        for (fault, retire) in
            [(Fault::Memory, false), (Fault::Sticky, true), (Fault::Hang, true), (Fault::Wrong, true)]
        {
            let mut station = fake(16, Some((call, fault)));
            let ([_, _, undone], result) = outcome(&mut *station, &all);
            assert!(undone > 0, "{fault:?}");
            assert_eq!(result.unwrap_err().retire, retire, "{fault:?}");
            assert_eq!(outcome(&mut *station, &all).1.is_ok(), !retire, "{fault:?}");
        }
    }
}

/// Streams through whole pools, whose lanes fail in every way; also blocks that all stations decode in stages.
#[test]
fn in_a_pool() {
    let text: Vec<u8> = SHAPES.iter().flat_map(|shape| (shape.make)(150_000)).collect();
    for size in [40_000, 1 << 30] {
        let settings = Settings::new().encoding(LargeBlocks::try_new(size).unwrap());
        let coded = crate::compress(&text, &settings).unwrap();
        let mut wrong = coded.clone();
        let middle = wrong.len() / 2;
        wrong[middle] ^= 1;
        for fault in [None, Some(Fault::Memory), Some(Fault::Sticky), Some(Fault::Hang), Some(Fault::Wrong)] {
            for cores in [0, 2] {
                let builder = Pool::builder();
                let mut builder = match NonZeroUsize::new(cores) {
                    Some(cores) => builder.threads(cores),
                    None => builder.without_cpu(),
                };
                for lane in 0..3 {
                    let make = move || Ok(fake(8, fault.map(|fault| (lane, fault))));
                    builder = builder.station(Accepts::Only(&[DECODE_LARGE]), make);
                }
                let settings = Settings::new().pool(&builder.build());
                assert!(crate::decompress(&coded, &settings).unwrap() == text, "{fault:?}, {cores} cores");
                for bad in [&coded[..coded.len() / 2], &wrong] {
                    let error = crate::decompress(bad, &settings).unwrap_err().to_string();
                    assert_eq!(error, crate::decompress(bad, &Settings::new()).unwrap_err().to_string());
                }
            }
        }
    }
}

/// The same with real devices, if there are any.
#[test]
fn on_every_device() {
    let (backend, devices) = match gpu::backend() {
        Ok(found) => found,
        Err(why) => return hybz_testkit::skip::skip(hybz_testkit::skip::Need::Gpu, &format!("no device: {why}")),
    };
    let (all, damaged) = (blocks(&LENS), damaged_blocks(200_000));
    for device in devices {
        for most in [1, 7, 64] {
            let lanes = Lanes { blocks: most, max_length: FAKE_ROWS, ..Lanes::for_decoding_large() };
            let mut station = lanes.open(backend, device.clone(), "device".to_owned(), &Shared::default()).unwrap();
            for _ in 0..2 {
                let ([done, declined, undone], result) = outcome(&mut *station, &all);
                assert!(result.is_ok() && undone == 0, "{result:?} {most} {undone}");
                assert!(done == all.len() && declined == 0, "{done} {declined}");
            }
            let ([_, declined, undone], result) = outcome(&mut *station, &damaged);
            assert!(result.is_ok() && undone == 0 && declined > damaged.len() / 2, "{result:?} {declined}");
            println!("{}", station.details().unwrap_or_default());
        }
    }
    // Whole streams, with cores that decode only what lanes decline.
    let text: Vec<u8> = SHAPES.iter().flat_map(|shape| (shape.make)(2_000_000)).collect();
    for (size, interval) in [(1 << 10, 0), (900_000, 10), (9_000_000, 0), (64_000_000, 1000)] {
        let large = LargeBlocks::try_new(size).unwrap().perturbation(interval, 1);
        let coded = crate::compress(&text, &Settings::new().encoding(large)).unwrap();
        let lanes = Lanes { at_once: true, lanes: 2, ..Lanes::for_decoding_large() };
        let pool = Pool::builder().cores_accept(Accepts::AllBut(&[DECODE_LARGE])).accelerators(&lanes).build();
        assert!(crate::decompress(&coded, &Settings::new().pool(&pool)).unwrap() == text, "{size} {interval}");
        let stations = pool.summary().stations;
        let on_device: u64 = stations.iter().filter(|s| s.name.starts_with("gpu")).map(|s| s.blocks).sum();
        assert!(on_device > 0 && stations.iter().all(|s| s.fallbacks == 0), "{stations:?}");
    }
}

/// The outcome for a block when a device returns false values for it.
#[test]
fn answers_that_cannot_be() {
    type Spoil = fn(&mut Vec<u32>, &mut Vec<u8>);
    struct Spoilt(FakeLane, Spoil, Vec<u32>, Vec<u8>);
    impl DeviceLane for Spoilt {
        fn size(&self) -> LaneSize {
            self.0.size()
        }
        fn input(&mut self) -> &mut [u8] {
            self.0.input()
        }

        fn codes(&mut self, blocks: &[LargeForDevice], bytes: usize, timeout: Duration) -> Result<DecodedCodes<'_>> {
            let DecodedCodes { odd, codes } = self.0.codes(blocks, bytes, timeout)?;
            (self.2, self.3) = (odd.to_vec(), codes.to_vec());
            (self.1)(&mut self.2, &mut self.3);
            Ok(DecodedCodes { odd: &self.2, codes: &self.3 })
        }
        fn reserve(&mut self, rows: usize) -> Result<bool> {
            self.0.reserve(rows)
        }
    }

    let usual = block(&(shape("words").make)(5000), stream(0, 12));
    let three = [usual.clone(), usual.clone(), usual];
    let spoils: [(Spoil, Option<[usize; 3]>); 5] = [
        (|odd, _| odd[1] = 1, Some([2, 1, 0])),
        (|odd, codes| (odd[1], codes[5]) = (1, codes[6].wrapping_add(1)), None),
        (|_, codes| codes.truncate(codes.len() - 1), None),
        (|odd, _| odd.truncate(2), None),
        (|_, codes| codes.fill(0), None),
    ];
    for (number, (spoil, expected)) in spoils.into_iter().enumerate() {
        let open: hybz_gpu::Open = Box::new(move |max_blocks| {
            let fake = FakeLane::new(LaneSize { max_blocks, max_length: FAKE_ROWS }, None);
            Ok(Box::new(Spoilt(fake, spoil, Vec::new(), Vec::new())))
        });
        let mut station = station("spoilt".to_owned(), 4, open, large::Large::new(unlimited())).unwrap();
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
        input.resize(at + payload::input_len(&block.parts()), 0);
        rows = rows.next_multiple_of(ROW_UNIT);
        let head = payload::write(&block, rows as u32, &mut input, at);
        let tokens = &mut input[head.segments_at as usize + 8..][..4];
        let count = u32::from_ne_bytes(tokens.try_into().unwrap()).saturating_add_signed(more);
        tokens.copy_from_slice(&count.to_ne_bytes());
        heads.push(head);
        rows += block.rows() as usize;
        let codes = block.all_codes();
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
