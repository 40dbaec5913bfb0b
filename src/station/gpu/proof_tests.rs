//! Lanes that prove what they have coded: a single wrong bit of one is found.

use super::Lanes;
use super::batches::{Batch, Batched, Unplaced};
use super::blocks::BatchBlock;
use super::encode::{Codes, proof_of_text};
use super::trial_tests::{accepts, fake};
use super::{Offload, Shared};
use crate::block::{CodedBlock, Text};
use crate::codec::run_length::Run;
use crate::codec::run_length::encode::{encode, encode_into, runs};
use crate::formats::bzip2::stream::tasks::{ENCODE, EncodeBlock};
use crate::station::gpu::fake::{FakeLane, Fault};
use crate::{Level, Pool, Settings, StationReport, Verify};
use hybz_gpu::{CodedBatch, CodedByDevice, DeviceLane, LaneSize};
use hybz_queue::{Accepts, Station};
use hybz_testkit::shapes::{self, Rng, SHAPES, shape};
use std::num::NonZeroUsize;
use std::time::Duration;

/// A station whose first lane fails once.
fn proving(mut fault: Option<(usize, Fault)>) -> Box<dyn Station> {
    let max_length = Lanes::default().max_length;
    let mut lane = move |max_blocks| FakeLane::new(LaneSize { max_blocks, max_length }, fault.take());
    let lanes = Lanes { blocks: 8, verified: true, ..Lanes::default() };
    lanes.station("fake".to_owned(), Box::new(move |blocks| Ok(Box::new(lane(blocks)))), &Shared::default()).unwrap()
}

/// What a lane's thread keeps of a block, and the block that the lane has coded and proven: its run-length-coded text
/// is `coded`.
fn proven(codes: &mut Codes<true>, task: &EncodeBlock, coded: &[u8]) -> (BatchBlock, CodedBlock, CodedByDevice) {
    let mut room = Vec::new();
    let text = task.text.plain(&mut room).unwrap_or(coded);
    let mut lane = FakeLane::new(LaneSize { max_blocks: 1, max_length: coded.len() }, None);
    lane.input()[..coded.len()].copy_from_slice(coded);
    let batch = lane.code(&[coded.len() as u32], 0..1, Duration::from_secs(1)).unwrap();
    let crc = if let Text::RunLength { crc, .. } = task.text { crc } else { crate::crc::checksum(text) };
    let is_coded = matches!(task.text, Text::RunLength { .. });
    let (len, text_len, sums) = (coded.len(), task.text.len(), proof_of_text(coded, text, is_coded, crc));
    let entry = [BatchBlock { crc, text_len, len, turn: 0, sums, last: 0, turned_last: 0 }];
    let by_device = batch.blocks[0];
    let block = codes.check_all(&entry, batch).unwrap().remove(0).unwrap();
    let [entry] = entry;
    (entry, block, by_device)
}

fn run_length_coded(text: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    encode(text, &mut coded);
    coded
}

#[test]
fn right_blocks_are_proven() {
    let mut codes = Codes::default();
    for shape in SHAPES {
        for len in [64, 5000, 100_000] {
            let text = [&(shape.make)(len)[..], b"!"].concat(); // not periodic
            let coded = run_length_coded(&text);
            let (len, crc) = (text.len() as u64, crate::crc::checksum(&text));
            let travelling = Text::RunLength { coded: coded.clone(), len, crc };
            for text in [Text::Plain(text), travelling] {
                let task = EncodeBlock::from(text);
                let (entry, block, by_device) = proven(&mut codes, &task, &coded);
                assert!(codes.is_proven(&entry, &block, &by_device), "{} {len}", shape.name);
            }
        }
    }
}

/// Lanes that code without proving all blocks: one block of each batch is proven, a different one each time, and none
/// is decoded, unless the device proves none.
#[test]
fn one_block_of_each_batch_is_proven() {
    let mut codes: Codes<false> = Codes::default();
    let mut lane = FakeLane::new(LaneSize { max_blocks: 3, max_length: 6000 }, None);
    let tasks = [1, 2, 3].map(|seed| EncodeBlock::from(Text::Plain(shapes::letters(5000, seed))));
    for number in 0..6 {
        let mut batch = Batch::<Codes<false>>::default();
        for (index, task) in tasks.iter().enumerate() {
            batch.push(index, codes.put(task, &mut lane, &batch).ok().unwrap());
        }
        let sampled: Vec<bool> = batch.kept.iter().map(|entry| entry.sums[1] == 1).collect();
        assert_eq!(sampled, [0, 1, 2].map(|block| block == number % 3), "{number}");
        let coded = Codes::<false>::device(&mut lane, &batch).unwrap();
        assert_eq!(coded.blocks.iter().map(|block| block.proof != 0).collect::<Vec<_>>(), sampled, "{number}");
        codes.check_all(&batch.kept, coded).unwrap();
        assert!(codes.decoder.is_none(), "{number}");
        if number == 5 {
            let unproven: Vec<_> = coded.blocks.iter().map(|&block| CodedByDevice { proof: 0, ..block }).collect();
            codes.check_all(&batch.kept, CodedBatch { blocks: &unproven, ..coded }).unwrap();
            assert!(codes.decoder.is_some());
        }
    }
}

/// Each bit of the head, bits anywhere, another text, and fields that are not part of the bits.
#[test]
fn wrong_blocks_are_never_proven() {
    let mut codes = Codes::default();
    let text = (shape("words").make)(30_000);
    let plain = EncodeBlock::from(Text::Plain(text.clone()));
    let (entry, right, by_device) = proven(&mut codes, &plain, &run_length_coded(&text));
    let mut rng = Rng(5);
    for bit in (0..1000).map(|bit| if bit < 600 { bit } else { rng.below(right.bit_len as usize) }) {
        let mut block = right.clone();
        block.bytes[bit / 8] ^= 0x80 >> (bit % 8);
        assert!(!codes.is_proven(&entry, &block, &by_device), "{bit}");
    }
    let changes: [fn(&mut CodedBlock); 4] =
        [|b| b.crc ^= 1, |b| b.text_len += 1, |b| b.block_len -= 1, |b| b.bit_len -= 1];
    for (number, change) in changes.into_iter().enumerate() {
        let mut block = right.clone();
        change(&mut block);
        assert!(!codes.is_proven(&entry, &block, &by_device), "{number}");
    }
    let changes: [fn(&mut CodedByDevice); 4] =
        [|c| c.symbols += 1, |c| c.symbols -= 50, |c| c.proof ^= 1, |c| c.proof = 0];
    for (number, change) in changes.into_iter().enumerate() {
        let mut by_device = by_device;
        change(&mut by_device);
        assert!(!codes.is_proven(&entry, &right, &by_device), "{number}");
    }
    let changes: [fn(&mut BatchBlock); 5] =
        [|e| e.crc ^= 1, |e| e.text_len += 1, |e| e.len -= 1, |e| e.sums[0] += 1, |e| e.sums[1] = 0];
    for (number, change) in changes.into_iter().enumerate() {
        let (mut entry, _, _) = proven(&mut codes, &plain, &run_length_coded(&text));
        change(&mut entry);
        assert!(!codes.is_proven(&entry, &right, &by_device), "{number}");
    }
    assert!(codes.is_proven(&entry, &right, &by_device));
    // Another text than the block's, a CRC that was computed wrongly, and a coded text that was copied wrongly.
    let (coded, crc, mut other) = (run_length_coded(&text), entry.crc, text.clone());
    other[20_000] ^= 1;
    assert_eq!(proof_of_text(&coded, &text, false, crc), entry.sums);
    for [_, is_right] in [
        proof_of_text(&coded, &other, false, crate::crc::checksum(&other)),
        proof_of_text(&coded, &text, false, crc ^ 1),
        proof_of_text(&coded, &other, true, crc),
    ] {
        assert_eq!(is_right, 0);
    }
}

/// The reader's list lacks some runs, or one ends too early or begins too late, in the block as well; and a text was
/// uploaded wrongly.
#[test]
fn proven_blocks_of_another_text() {
    let mut codes = Codes::default();
    let text = (shape("short_runs").make)(30_000);
    let listed: Vec<Run> = runs(&text).collect();
    let middle = (listed.len() / 2..).find(|&number| listed[number].len > 5).unwrap();
    let spoils: [fn(&mut Vec<Run>, usize); 4] = [
        |_, _| {},
        |runs, middle| runs.truncate(middle),
        |runs, middle| runs[middle].len -= 1,
        |runs, middle| runs[middle] = Run { start: runs[middle].start + 1, len: runs[middle].len - 1 },
    ];
    for (number, spoil) in spoils.into_iter().enumerate() {
        let (mut runs, mut coded) = (listed.clone(), vec![0; 40_000]);
        spoil(&mut runs, middle);
        let len = encode_into(&text, runs.iter().copied(), &mut coded).unwrap();
        coded.truncate(len);
        if number == 0 {
            coded[17_000] ^= 1;
        }
        let task = EncodeBlock { text: Text::Plain(text.clone()), runs: Some(runs) };
        let (entry, block, by_device) = proven(&mut codes, &task, &coded);
        assert!(by_device.proof != 0);
        assert!(!codes.is_proven(&entry, &block, &by_device), "{number}");
        // A lane that writes such a block for the device leaves it to a core.
        let mut lane = FakeLane::new(LaneSize { max_blocks: 1, max_length: 40_000 }, None);
        let placed = codes.put(&task, &mut lane, &Batch::default());
        assert_eq!(matches!(placed, Err(Unplaced::Never)), number > 0, "{number}");
    }
}

/// Compresses `text`, of which `right` is the result, in a pool with a lane that proves its blocks and makes this
/// error. Returns the reports of the stations.
fn compressed(text: &[u8], right: &[u8], fault: Option<(usize, Fault)>) -> Vec<StationReport> {
    let pool = Pool::builder().threads(NonZeroUsize::new(2).unwrap()).cores_accept(Accepts::AllBut(&[ENCODE]));
    let pool = pool.station(accepts(Offload::Resident), move || Ok(proving(fault))).build();
    let settings = Settings::new().level(Level::FASTEST).verify(Verify::Devices).pool(&pool);
    assert!(crate::compress(text, &settings).unwrap() == right);
    pool.summary().stations
}

/// The same bytes, and the lane has verified every block that it made.
#[test]
fn a_pool_with_a_lane_that_proves() {
    let text = (shape("words").make)(3_000_000);
    let right = crate::compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
    // On a busy machine the cores may be done before the lane has started.
    let taken = (0..50).any(|_| {
        let stations = compressed(&text, &right, None);
        assert!(stations.iter().all(|station| station.wrong == 0), "{stations:?}");
        assert!(stations.iter().all(|station| station.accelerator || station.verified == 0), "{stations:?}");
        stations.iter().any(|station| station.accelerator && station.blocks > 0 && station.verified == station.blocks)
    });
    assert!(taken);
}

/// A lane codes one bit wrongly, and proves all blocks but one; a core finds that this one is wrong.
#[test]
fn the_lane_that_coded_wrongly_is_blamed() {
    let text = (shape("words").make)(3_200_000);
    let right = crate::compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
    let blamed = (0..50).any(|_| {
        let stations = compressed(&text, &right, Some((0, Fault::OneBit)));
        assert!(stations.iter().filter(|station| !station.accelerator).all(|station| station.wrong == 0));
        let is_blamed = |lane: &StationReport| lane.wrong == 1 && lane.verified + 1 == lane.blocks;
        stations.iter().any(|station| station.accelerator && is_blamed(station) && station.retired.is_some())
    });
    assert!(blamed);
}

/// Compresses a text in a pool with a lane that makes this error in each batch, several times if necessary. Returns the
/// output and the number of the lane's blocks that were found wrong.
fn coded_wrongly(text: &[u8], batch: usize, verify: Verify) -> (Vec<u8>, u64) {
    // On a busy machine the cores may be done before the lane has started.
    (0..50).find_map(|_| once(text, batch, verify)).expect("the lane takes part")
}

fn once(text: &[u8], batch: usize, verify: Verify) -> Option<(Vec<u8>, u64)> {
    let pool = Pool::builder().threads(NonZeroUsize::new(2).unwrap()).cores_accept(Accepts::AllBut(&[ENCODE]));
    let resident = move || Ok(fake(Offload::Resident, 8, Some((batch, Fault::OneBit))));
    let pool = pool.station(accepts(Offload::Resident), resident).build();
    let settings = Settings::new().level(Level::FASTEST).verify(verify).pool(&pool);
    let coded = crate::compress(text, &settings).unwrap();
    let stations = pool.summary().stations;
    // After the lane's error, the cores code the blocks that the lane would have coded.
    let device = stations.iter().find(|station| station.accelerator)?;
    let sum = |of: fn(&StationReport) -> u64| stations.iter().map(of).sum::<u64>();
    let verified = sum(|station| station.verified);
    let expected = match verify {
        Verify::Off => 0,
        Verify::All => sum(|station| station.blocks) + device.wrong,
        _ => device.blocks + device.wrong,
    };
    let some_by_core = verify == Verify::Devices && device.retired.is_some();
    assert!(verified == expected || some_by_core && verified < expected, "{stations:?}");
    // (In a batch of one block, the lane's own checks may find the error before the block leaves the lane.)
    assert_eq!(device.retired.is_some(), device.wrong > 0 || device.fallbacks > 0, "{stations:?}");
    Some((coded, device.wrong))
}

#[test]
fn one_wrong_bit_of_a_gpu_is_found() {
    let mut text = (shape("words").make)(3_200_000);
    text.dedup();
    let right = crate::compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
    let (mut found, mut missed) = (0, 0);
    for batch in 0..4 {
        for verify in [Verify::Devices, Verify::All] {
            let (coded, wrong) = coded_wrongly(&text, batch, verify);
            assert!(coded == right, "batch {batch}, {verify:?}");
            found += wrong;
        }
        // Without verification the file is wrong, unless the batch had a single block or there was no batch.
        missed += usize::from(coded_wrongly(&text, batch, Verify::Off).0 != right);
    }
    assert!(found > 0 && missed > 0, "{found} found, {missed} missed");
}

/// A column has the right bytes in a wrong order. Its lane's checks do not notice, and cores code it: the device is to
/// blame, not a core.
#[test]
fn a_wrong_column_is_the_devices_fault() {
    let text = (shape("words").make)(1_600_000);
    let right = crate::compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
    let found = (0..50).any(|_| {
        let pool = Pool::builder().threads(NonZeroUsize::new(4).unwrap()).cores_accept(Accepts::AllBut(&[ENCODE]));
        let sorting = move || Ok(fake(Offload::Bwt, 8, Some((0, Fault::Swapped))));
        let pool = pool.station(accepts(Offload::Bwt), sorting).build();
        let settings = Settings::new().level(Level::FASTEST).verify(Verify::Devices).pool(&pool);
        assert!(crate::compress(&text, &settings).unwrap() == right);
        let stations = pool.summary().stations;
        let is_core = |station: &&StationReport| station.name.starts_with("cpu");
        assert!(stations.iter().filter(is_core).all(|core| core.wrong == 0 && core.retired.is_none()), "{stations:?}");
        // On a busy machine the cores may be done before the lane has started.
        stations.iter().any(|station| station.name == "fake" && station.wrong == 1 && station.retired.is_some())
    });
    assert!(found);
}
