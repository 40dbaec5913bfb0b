//! A device makes one wrong bit in one block, in a place that its lane does not check.

use super::Offload;
use super::trial_tests::{accepts, fake};
use crate::formats::bzip2::stream::tasks::ENCODE;
use crate::station::gpu::fake::Fault;
use crate::{Level, Pool, Settings, StationReport, Verify};
use hybz_queue::Accepts;
use std::num::NonZeroUsize;

/// Compresses a text in a pool with a lane that makes this error in each batch, several times if necessary. Returns the
/// output and the number of the lane's blocks that were found wrong.
fn coded(text: &[u8], batch: usize, verify: Verify) -> (Vec<u8>, u64) {
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
    let mut text = (hybz_testkit::shapes::shape("words").make)(3_200_000);
    text.dedup();
    let right = crate::compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
    let (mut found, mut missed) = (0, 0);
    for batch in 0..4 {
        for verify in [Verify::Devices, Verify::All] {
            let (coded, wrong) = coded(&text, batch, verify);
            assert!(coded == right, "batch {batch}, {verify:?}");
            found += wrong;
        }
        // Without verification the file is wrong, unless the batch had a single block or there was no batch.
        missed += usize::from(coded(&text, batch, Verify::Off).0 != right);
    }
    assert!(found > 0 && missed > 0, "{found} found, {missed} missed");
}

/// A column has the right bytes in a wrong order. Its lane's checks do not notice, and cores code it: the device is to
/// blame, not a core.
#[test]
fn a_wrong_column_is_the_devices_fault() {
    let text = (hybz_testkit::shapes::shape("words").make)(1_600_000);
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
