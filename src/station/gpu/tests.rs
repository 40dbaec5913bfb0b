//! Compares lanes with the CPU codec: fake ones that fail in every way, and real ones if there are any.

use super::decode_tests::{damaged_spans, spans};
use super::large_tests::{LENS, blocks as large_blocks, damaged_blocks};
use super::trial_tests::{FAKE_ROWS, LARGE, OFFLOADS, accepts, fake, fake_with, outcome};
use super::*;
use crate::block::Text;
use crate::codec::run_length::encode::runs;
use crate::formats::bzip2::stream::tasks::EncodeBlock;
use crate::formats::hbz::stream::tasks::EncodeLarge;
use crate::station::gpu::fake::{FakeLane, Fault, Spoil};
use crate::{Level, Pool, Settings};
use hybz_gpu::{DeviceError, DeviceLane, Open, Pipeline, Result};
use hybz_queue::{Accepts, Task};
use hybz_testkit::shapes::SHAPES;
use hybz_testkit::skip::{Need, skip};

/// How a lane fails, and whether it then retires.
const FAULTS: [(Fault, bool); 4] =
    [(Fault::Memory, false), (Fault::Sticky, true), (Fault::Hang, true), (Fault::Wrong, true)];

/// Blocks of `.bz2` streams. A reader has listed the runs of every other one.
fn texts() -> Vec<EncodeBlock> {
    let listed = |text: &[u8]| text.len().is_multiple_of(2).then(|| runs(text).collect());
    let task = |text: Vec<u8>| EncodeBlock { runs: listed(&text), text: Text::Plain(text) };
    SHAPES.iter().flat_map(|shape| [1, 63, 64, 65, 5000, 20000].map(|len| task((shape.make)(len)))).collect()
}

/// Blocks of `.hbz` streams: all shapes, perturbed or not.
fn large_texts() -> Vec<EncodeLarge> {
    let streams = [0, 100].map(|interval| LargeBlocks::try_new(100_000).unwrap().perturbation(interval, 7).stream());
    let all = SHAPES.iter().flat_map(|shape| [1, 64, 5000, 100_000].map(|len| (shape.make)(len))).zip(0..);
    all.flat_map(|(text, number)| streams.map(|stream| EncodeLarge { text: text.clone().into(), number, stream }))
        .collect()
}

#[test]
fn sorts_what_is_usual_and_leaves_the_rest() {
    let (batch, large) = (texts(), large_texts());
    for (most, offload) in [16, 37, 512].into_iter().flat_map(|most| OFFLOADS.map(|offload| (most, offload))) {
        let ([begun, left, undone], result) = outcome(&mut *fake(offload, most, None), &batch);
        assert_eq!((undone, result), (0, Ok(())));
        assert!(begun > batch.len() / 3 && left > batch.len() / 6, "{begun} {left}");
    }
    for (most, offload) in [1, 5, 512].into_iter().flat_map(|most| LARGE.map(|offload| (most, offload))) {
        let ([begun, left, undone], result) = outcome(&mut *fake(offload, most, None), &large);
        assert_eq!((undone, result), (0, Ok(())));
        assert!(begun > large.len() / 2 && left > large.len() / 8, "{begun} {left}");
    }
    // No lane gets blocks of the other kind.
    assert!(OFFLOADS.iter().all(|&offload| !accepts(offload).class(ENCODE_LARGE)));
    assert!(LARGE.iter().all(|&offload| !accepts(offload).class(ENCODE)));
}

#[test]
fn failures() {
    OFFLOADS.into_iter().for_each(|offload| failures_of(offload, 32, &texts()));
    failures_of(Offload::Decode, 16, &spans());
    failures_of(Offload::DecodeLarge, 16, &large_blocks(&[64, 5000]));
}

fn failures_of<T: Task<Output: PartialEq> + Clone>(offload: Offload, blocks: usize, tasks: &[T]) {
    for (call, (fault, retire)) in (0..3).flat_map(|call| FAULTS.map(|fault| (call, fault))) {
        let mut station = fake(offload, blocks, Some((call, fault)));
        let ([begun, _, undone], result) = outcome(&mut *station, tasks);
        assert!(undone > 0, "{offload:?}: {fault:?} at call {call}: {begun} begun");
        assert_eq!(result.unwrap_err().retire, retire, "{offload:?}: {fault:?}");
        assert_eq!(outcome(&mut *station, tasks).1.is_ok(), !retire, "{offload:?}: {fault:?}");
    }
}

/// The device's answers, of which the lane's first is spoilt: none is taken, and the lane retires.
#[test]
fn large_answers_that_cannot_be() {
    const SUFFIXES: [Spoil; 11] = [
        |lane| lane.columns[0] = lane.columns[0].wrapping_add(1),
        |lane| lane.columns[lane.origins[0] as usize] = 1,
        |lane| lane.columns[lane.origins[0] as usize / 2] ^= 1,
        |lane| lane.origins[0] += 1,
        |lane| lane.origins[0] = u32::MAX,
        |lane| lane.origins[0] = 0,
        |lane| lane.keys[0] = u32::MAX,
        |lane| lane.keys[1] = u32::MAX,
        |lane| lane.keys[1] = lane.columns.len() as u32 - 1,
        |lane| lane.keys.clear(),
        |lane| lane.columns.truncate(1000),
    ];
    const THIRDS: [Spoil; 10] = [
        |lane| lane.columns[0] = lane.columns[0].wrapping_add(1),
        |lane| *lane.columns.last_mut().unwrap() ^= 1,
        |lane| lane.origins[0] = u32::MAX,
        |lane| lane.origins[0] = other(lane, 0),
        |lane| lane.origins[1] = other(lane, 1),
        |lane| lane.origins[1] = lane.columns.len() as u32,
        |lane| lane.origins.truncate(1),
        |lane| lane.columns.truncate(1000),
        |lane| lane.keys.truncate(1000),
        |lane| lane.keys[0] ^= 1,
    ];
    /// A row with another byte than this entry point's.
    fn other(lane: &FakeLane, entry: usize) -> u32 {
        let byte = lane.columns[lane.origins[entry] as usize];
        lane.columns.iter().position(|&other| other != byte).unwrap() as u32
    }
    let stream = LargeBlocks::try_new(100_000).unwrap().stream();
    let text = (SHAPES[SHAPES.len() - 1].make)(100_000);
    let task = [EncodeLarge { text: text.into(), number: 0, stream }];
    for (offload, spoils) in [(Offload::Suffixes, &SUFFIXES[..]), (Offload::HybridLarge, &THIRDS)] {
        assert_eq!(outcome(&mut *fake(offload, 1, None), &task), ([1, 0, 0], Ok(())));
        for (number, &spoil) in spoils.iter().enumerate() {
            let (counts, result) = outcome(&mut *fake_with(offload, 1, None, spoil, &Shared::default()), &task);
            assert!(counts == [0, 0, 1] && result.is_err(), "{offload:?}, {number}");
        }
    }
}

/// A coded batch is accepted as a whole or not at all, and invalid data are noticed in every block, sampled or not.
#[test]
fn coded_batches_that_cannot_be() {
    let task = |shape: &hybz_testkit::shapes::Shape| {
        let text = [&(shape.make)(20_000)[..], b"!"].concat(); // not periodic
        EncodeBlock::from(Text::Plain(text))
    };
    let tasks: Vec<_> = SHAPES.iter().take(3).map(task).collect();
    let spoilt = |spoil| outcome(&mut *fake_with(Offload::Resident, 16, None, spoil, &Shared::default()), &tasks);
    assert_eq!(spoilt(|_| {}), ([3, 0, 0], Ok(())));
    // One block has too many codes: it is left out, and another one sampled.
    assert_eq!(spoilt(|lane| lane.coded[0].bits = 0), ([2, 1, 0], Ok(())));
    let spoils: [Spoil; 15] = [
        |lane| lane.columns[(lane.coded[0].at + lane.coded[0].bits / 16) as usize] ^= 4,
        |lane| lane.coded[2].origin = 1 << 24,
        |lane| lane.coded[2].symbols += 50,
        |lane| lane.coded[2].symbols = u32::MAX,
        |lane| lane.coded[2].tables = 7,
        |lane| lane.coded[2].tables -= 1,
        |lane| lane.coded[2].tables = 0,
        |lane| lane.coded[2].bits += 1,
        |lane| lane.coded[2].bits = u32::MAX,
        |lane| lane.coded[2].at = u32::MAX,
        |lane| lane.coded[2].used[0] ^= 1,
        |lane| lane.coded[2].lengths[0][1] += 1,
        |lane| lane.coded[2].lengths[1][0] = 0,
        |lane| lane.coded.truncate(2),
        |lane| lane.columns.truncate(lane.columns.len() - 4),
    ];
    for (number, spoil) in spoils.into_iter().enumerate() {
        let (counts, result) = spoilt(spoil);
        assert!(counts == [0, 0, 3] && result.is_err_and(|error| error.retire), "{number}: {counts:?}");
    }
}

#[test]
fn too_little_memory_makes_smaller_lanes() {
    let lane = |open: Open| station("fake".to_owned(), 100, open, columns::Columns::default());
    let small = lane(Box::new(|max_blocks| {
        if max_blocks > 30 {
            return Err(DeviceError::Memory("fake".to_owned()));
        }
        Ok(Box::new(FakeLane::new(LaneSize { max_blocks, max_length: MAX_ENCODER_BLOCK }, None)))
    }));
    assert_eq!(small.unwrap().max_batch(), 25);
    let never = lane(Box::new(|_| Err(DeviceError::Memory("none at all".to_owned()))));
    assert_eq!(never.err().unwrap(), "none at all");
}

/// A second backend is a type that finds devices and opens lanes, and a line in the table.
struct Pretended;

impl Backend for Pretended {
    fn likely(&self) -> usize {
        1
    }
    fn devices(&self) -> Result<Vec<Device>, String> {
        let (name, uuid, pci) = ("pretended".to_owned(), "GPU-0".to_owned(), "0000:00:00.0".to_owned());
        Ok(vec![Device { number: 0, ordinal: 0, name, uuid, pci, memory: 1 << 30 }])
    }
    fn open(&self, _: &Device, _: Pipeline, size: LaneSize) -> Result<Box<dyn DeviceLane>> {
        Ok(Box::new(FakeLane::new(size, None)))
    }
}

#[test]
fn a_second_backend() {
    let devices = Pretended.devices().unwrap();
    all_kinds(&Pretended, &devices, [&[16], &[16], &[16]]);
}

/// Every kind of lane does its tasks on these devices, once for each maximum of blocks in a batch: of `.bz2`,
/// of `.hbz`, and to be decoded.
fn all_kinds(backend: &'static dyn Backend, devices: &[Device], [small, large, coded]: [&[usize]; 3]) {
    let lanes = |offload, max_length| Lanes { max_length, offload, ..Lanes::default() };
    for offload in OFFLOADS {
        // How many are for a core: `(done, declined, all)`.
        let usual = |done, declined, all| done > all / 3 && declined > all / 6;
        on_devices(backend, devices, &lanes(offload, MAX_ENCODER_BLOCK), small, &texts(), usual);
    }
    for offload in LARGE {
        on_devices(backend, devices, &lanes(offload, 200_000), large, &large_texts(), |done, _, all| done > all / 2);
    }
    let spoilt = |_, declined, all| declined > all / 2;
    let decoding = Lanes::for_decoding();
    // A periodic block's permutation has several cycles.
    on_devices(backend, devices, &decoding, coded, &spans(), |done, _, all| done > all / 2);
    on_devices(backend, devices, &decoding, coded, &damaged_spans(), spoilt);
    let decoding = Lanes { max_length: FAKE_ROWS, ..Lanes::for_decoding_large() };
    on_devices(backend, devices, &decoding, coded, &large_blocks(&LENS), |done, _, all| done == all);
    on_devices(backend, devices, &decoding, coded, &damaged_blocks(200_000), spoilt);
}

fn on_devices<T: Task<Output: PartialEq> + Clone>(
    backend: &'static dyn Backend,
    devices: &[Device],
    lanes: &Lanes,
    most: &[usize],
    tasks: &[T],
    is_usual: fn(usize, usize, usize) -> bool,
) {
    for (device, &blocks) in devices.iter().flat_map(|device| most.iter().map(move |blocks| (device, blocks))) {
        let lanes = Lanes { blocks, ..lanes.clone() };
        let mut station = lanes.open(backend, device.clone(), "device".to_owned(), &Shared::default()).unwrap();
        for _ in 0..2 {
            let ([done, declined, undone], result) = outcome(&mut *station, tasks);
            assert_eq!((undone, result), (0, Ok(())), "{:?}, {blocks}", lanes.offload);
            assert!(is_usual(done, declined, tasks.len()), "{:?}: {done} {declined}", lanes.offload);
        }
        println!("{:?}: {}", lanes.offload, station.details().unwrap_or_default());
    }
}

/// The same with real devices, if there are any.
#[test]
fn on_every_device() {
    let (backend, devices) = match gpu::backend() {
        Ok(found) => found,
        Err(why) => return skip(Need::Gpu, &format!("no device: {why}")),
    };
    all_kinds(backend, &devices, [&[1, 2, 17, 128, 512], &[1, 7, 512], &[1, 7, 32, 512]]);
    // Every level and all shapes, then large blocks of several sizes, with cores that only finish blocks.
    let text: Vec<u8> = SHAPES.iter().flat_map(|shape| (shape.make)(950_000)).collect();
    let at_once = |lanes| Lanes { at_once: true, ..lanes };
    for level in 1..=9 {
        let settings = Settings::new().level(Level::try_new(level).unwrap());
        for offload in OFFLOADS {
            stream_on_device(&text, &settings, &at_once(Lanes { offload, ..Lanes::default() }), None);
        }
        stream_on_device(&text, &settings, &at_once(Lanes::default()), Some(&at_once(Lanes::for_decoding())));
    }
    for (size, interval) in [(1 << 10, 0), (100_000, 10), (1_000_000, 0), (9_000_000, 1000), (64_000_000, 0)] {
        let large = LargeBlocks::try_new(size).unwrap().perturbation(interval, 1);
        let settings = Settings::new().encoding(large);
        let lanes = |offload| at_once(Lanes { lanes: 2, offload, ..Lanes::for_large_blocks(&large) });
        let decoding = at_once(Lanes { lanes: 2, ..Lanes::for_decoding_large() });
        for offload in LARGE {
            stream_on_device(&text, &settings, &lanes(offload), Some(&decoding));
        }
    }
}

/// The bytes are equal to the cores' own, are decoded again, and devices did some of the work.
fn stream_on_device(text: &[u8], settings: &Settings, coding: &Lanes, decoding: Option<&Lanes>) {
    const FIRST: &[Class] = &[ENCODE, ENCODE_LARGE, DECODE, DECODE_LARGE];
    let on = |lanes: &Lanes, work: &dyn Fn(&Settings)| {
        let pool = Pool::builder().cores_accept(Accepts::AllBut(FIRST)).accelerators(lanes).build();
        work(&settings.clone().pool(&pool));
        let stations = pool.summary().stations;
        let on_device: u64 = stations.iter().filter(|s| s.name.starts_with("gpu")).map(|s| s.blocks).sum();
        assert!(on_device > 0 && stations.iter().all(|s| s.fallbacks == 0), "{stations:?}");
    };
    let coded = crate::compress(text, settings).unwrap();
    on(coding, &|settings| assert!(crate::compress(text, settings).unwrap() == coded, "{coding:?}"));
    if let Some(lanes) = decoding {
        on(lanes, &|settings| assert!(crate::decompress(&coded, settings).unwrap() == text, "{lanes:?}"));
    }
}
