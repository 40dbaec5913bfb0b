//! Lanes that verify: they confirm what is right, and a single wrong bit of another lane is found.

use super::Offload;
use super::trial_tests::{accepts, fake, outcome_of};
use crate::block::{CodedBlock, Text};
use crate::codec::run_length::Run;
use crate::codec::run_length::encode::{encode_into, runs};
use crate::formats::bzip2::stream::tasks::{ENCODE, EncodeBlock, VERIFY};
use crate::station::gpu::fake::Fault;
use crate::{Level, Pool, Settings, StationReport, Verify};
use hybz_queue::{Accepts, Check, Core, Job, Station, StationError, Task};
use hybz_testkit::shapes::{Rng, SHAPES, shape};
use std::num::NonZeroUsize;

fn coded(text: &[u8]) -> (EncodeBlock, CodedBlock) {
    let task = EncodeBlock::from(Text::Plain(text.to_vec()));
    let block = task.run(&mut Core::new(0));
    (task, block)
}

/// Has the station check all blocks. Returns the numbers of those that it has confirmed, declined and left undone.
fn outcome(station: &mut dyn Station, blocks: &[(EncodeBlock, CodedBlock)]) -> ([usize; 3], Result<(), StationError>) {
    let check = |(task, block): &(EncodeBlock, CodedBlock)| Job::detached(Check::new(task.clone(), block.clone()));
    outcome_of(station, blocks.iter().map(check), |_, _| Ok(()))
}

#[test]
fn right_blocks_are_confirmed() {
    let texts = SHAPES.iter().flat_map(|shape| [1, 64, 5000, 100_000].map(|len| (shape.make)(len)));
    let blocks: Vec<_> = texts.map(|text| coded(&text)).collect();
    let ([confirmed, declined, open], result) = outcome(&mut *fake(Offload::Verify, 32, None), &blocks);
    assert_eq!((open, result), (0, Ok(())));
    // A core judges periodic blocks.
    assert!(confirmed > blocks.len() / 2 && declined > 0, "{confirmed} {declined}");
}

/// Each bit of the head, bits anywhere, another text, and fields that are not part of the bits.
#[test]
fn wrong_blocks_are_never_confirmed() {
    let text = (shape("words").make)(30_000);
    let (task, right) = coded(&text);
    let mut rng = Rng(5);
    let bits = (0..400).map(|bit| if bit < 250 { bit } else { rng.below(right.bit_len as usize) });
    let mut blocks: Vec<_> = bits
        .map(|bit| {
            let mut block = right.clone();
            block.bytes[bit / 8] ^= 0x80 >> (bit % 8);
            (task.clone(), block)
        })
        .collect();
    let runny = (shape("short_runs").make)(30_000);
    let mut other = text.clone();
    other[20_000] ^= 1;
    blocks.push((EncodeBlock::from(Text::Plain(other)), right.clone()));
    // A run that the reader has not listed is missing in the block as well.
    let mut listed: Vec<Run> = runs(&runny).collect();
    listed.remove(listed.len() / 2);
    let mut coded = vec![0; runny.len() * 5 / 4];
    let len = encode_into(&runny, listed.iter().copied(), &mut coded).unwrap();
    coded.truncate(len);
    let travelling = Text::RunLength { coded, len: runny.len() as u64, crc: crate::crc::checksum(&runny) };
    let block = EncodeBlock::from(travelling).run(&mut Core::new(0));
    blocks.push((EncodeBlock { text: Text::Plain(runny), runs: Some(listed) }, block));
    let changes: [fn(&mut CodedBlock); 4] =
        [|b| b.crc ^= 1, |b| b.text_len += 1, |b| b.block_len -= 1, |b| b.bit_len -= 1];
    for change in changes {
        let mut block = right.clone();
        change(&mut block);
        blocks.push((task.clone(), block));
    }
    let mut station = fake(Offload::Verify, 32, None);
    let ([confirmed, declined, open], result) = outcome(&mut *station, &blocks);
    assert_eq!(([confirmed, declined, open], result), ([0, blocks.len(), 0], Ok(())));
    let again = outcome(&mut *station, &[(task, right)]);
    assert_eq!(again, ([1, 0, 0], Ok(())));
}

#[test]
fn lanes_that_fail() {
    let blocks: Vec<_> = (0..8).map(|i| coded(&(shape("words").make)(20_000 + i))).collect();
    for fault in [Fault::Memory, Fault::Sticky, Fault::Hang, Fault::Wrong] {
        let mut station = fake(Offload::Verify, 8, Some((0, fault)));
        let ([confirmed, declined, open], result) = outcome(&mut *station, &blocks);
        let error = result.unwrap_err();
        let wrong = fault == Fault::Wrong;
        assert_eq!(error.retire, fault != Fault::Memory, "{fault:?}: {error}");
        assert_eq!(station.ends_group(), wrong, "{fault:?}");
        assert_eq!(confirmed + declined + open, 8);
        assert!(open > 0, "{fault:?}: cores do the rest");
    }
}

/// Compresses `text`, of which `right` is the result, in a pool in which one lane codes, perhaps wrongly, and another
/// verifies. Returns the reports of the stations.
fn compressed(text: &[u8], right: &[u8], threads: usize, fault: Option<(usize, Fault)>) -> Vec<StationReport> {
    let pool = Pool::builder().threads(NonZeroUsize::new(threads).unwrap());
    let pool = pool.cores_accept(Accepts::AllBut(&[ENCODE, VERIFY]));
    let pool = pool.station(accepts(Offload::Resident), move || Ok(fake(Offload::Resident, 8, fault)));
    let pool = pool.station(accepts(Offload::Verify), || Ok(fake(Offload::Verify, 8, None))).build();
    let settings = Settings::new().level(Level::FASTEST).verify(Verify::Devices).pool(&pool);
    assert!(crate::compress(text, &settings).unwrap() == right);
    pool.summary().stations
}

/// The same bytes, and every block has been verified.
#[test]
fn a_pool_that_verifies_on_a_lane() {
    let text = (shape("words").make)(3_000_000);
    let right = crate::compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
    // On a busy machine the cores may be done before the lanes have started.
    let taken = (0..50).any(|_| {
        let stations = compressed(&text, &right, 1, None);
        let made: u64 = stations.iter().filter(|station| station.accelerator).map(|station| station.blocks).sum();
        let verified: u64 = stations.iter().map(|station| station.verified).sum();
        assert_eq!(made, verified, "{stations:?}");
        stations.iter().any(|station| station.accelerator && station.verified > 0)
    });
    assert!(taken);
}

/// A lane codes one bit wrongly; another lane does not confirm it, and the one that coded is blamed.
#[test]
fn the_lane_that_coded_wrongly_is_blamed() {
    let text = (shape("words").make)(3_200_000);
    let right = crate::compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
    let blamed = (0..50).any(|_| {
        let stations = compressed(&text, &right, 2, Some((0, Fault::OneBit)));
        assert!(stations.iter().filter(|station| station.verified > 0).all(|station| station.wrong == 0));
        stations.iter().any(|station| station.wrong > 0 && station.retired.is_some())
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
