//! Compares lanes with the CPU codec: fake ones that fail in every way, and real ones if there are any.

use super::blocks::BatchBlock;
use super::*;
use crate::block::CodedBlock;
use crate::block::Text;
use crate::codec::encoder::run_length_code;
use crate::codec::run_length::encode::runs;
use crate::formats::bzip2::stream::tasks::EncodeBlock;
use crate::formats::hbz::header::BlockHeader;
use crate::formats::hbz::stream::tasks::EncodeLarge;
use crate::station::gpu::fake::{FakeLane, Fault};
use crate::{Level, Pool, Settings};
use hybz_gpu::Open;
use hybz_gpu::{
    CodedBatch, CodedByDevice, DeviceError, DeviceLane, Pipeline, Result, SortedSuffixes, SortedThirds, Steps,
};
use hybz_queue::{Accepts, Core, Job, StationError, Task, Ticket};
use hybz_testkit::shapes::SHAPES;

pub(super) const OFFLOADS: [Offload; 3] = [Offload::Bwt, Offload::Hybrid, Offload::Resident];
/// The same for blocks of `.hbz` streams.
pub(super) const LARGE: [Offload; 3] = [Offload::Suffixes, Offload::HybridLarge, Offload::CodeLarge];

fn size(max_blocks: usize) -> LaneSize {
    LaneSize { max_blocks, max_length: MAX_ENCODER_BLOCK }
}

/// A station whose lane fails once; its replacement works.
pub(super) fn fake(offload: Offload, blocks: usize, mut fault: Option<(usize, Fault)>) -> Box<dyn Station> {
    let open: Open = Box::new(move |blocks| Ok(Box::new(FakeLane::new(size(blocks), fault.take()))));
    Lanes { blocks, growth: Some(0), offload, ..Lanes::default() }
        .station("fake".to_owned(), open, &Shared::default())
        .unwrap()
}

/// The content of a block of either kind.
#[derive(Clone)]
enum TestText {
    Block(Text),
    Large(EncodeLarge),
}

fn texts() -> Vec<TestText> {
    let lens = [1, 63, 64, 65, 5000, 20000];
    SHAPES.iter().flat_map(|shape| lens.map(|len| TestText::Block(Text::Plain((shape.make)(len))))).collect()
}

/// Blocks of `.hbz` streams: all shapes, perturbed or not.
fn large_texts() -> Vec<TestText> {
    let streams = [0, 100].map(|interval| LargeBlocks::try_new(100_000).unwrap().perturbation(interval, 7).stream());
    let lens = [1, 64, 5000, 100_000];
    let all = SHAPES.iter().flat_map(|shape| lens.map(|len| (shape.make)(len))).zip(0..);
    let inputs = all.flat_map(|(text, number)| {
        streams.map(|stream| TestText::Large(EncodeLarge { text: text.clone().into(), number, stream }))
    });
    inputs.collect()
}

/// Receives the answer to a job.
enum Wanted {
    Block(Ticket<CodedBlock>),
    Large(Ticket<(BlockHeader, Vec<u8>)>),
}

fn job(input: &TestText) -> (Job, Wanted) {
    match input.clone() {
        TestText::Block(text) => {
            // A reader has listed the runs of every other block.
            let listed = |plain: &[u8]| plain.len().is_multiple_of(2).then(|| runs(plain).collect());
            let runs = text.plain(&mut Vec::new()).and_then(listed);
            let (job, ticket) = Job::detached(EncodeBlock { text, runs });
            (job, Wanted::Block(ticket))
        }
        TestText::Large(question) => {
            let (job, ticket) = Job::detached(question);
            (job, Wanted::Large(ticket))
        }
    }
}

/// Does the batch. Returns how many blocks were done or forwarded, declined, and not done, after checking the first
/// kind.
fn outcome(station: &mut dyn Station, inputs: &[TestText]) -> ([usize; 3], Result<(), StationError>) {
    let mut core = Core::new(0);
    let (mut jobs, wanted): (Vec<_>, Vec<_>) = inputs.iter().map(job).unzip();
    let result = station.work(&mut jobs);
    let mut counts = [0; 3];
    for (index, ((input, job), wanted)) in inputs.iter().zip(&mut jobs).zip(wanted).enumerate() {
        let (open, declined) = (job.is_open(), job.is_declined());
        counts[if open { 2 } else { usize::from(declined) }] += 1;
        if open || declined {
            continue;
        }
        // A core finishes what was forwarded.
        job.run(&mut core);
        match (input, wanted) {
            (TestText::Block(text), Wanted::Block(ticket)) => {
                let alone = EncodeBlock::from(text.clone()).run(&mut core);
                assert_eq!(ticket.poll(), Some(Ok(alone)), "block {index}");
            }
            (TestText::Large(question), Wanted::Large(ticket)) => {
                assert!(ticket.poll() == Some(Ok(question.run(&mut core))), "block {index}");
            }
            _ => panic!("block {index}"),
        }
    }
    (counts, result)
}

#[test]
fn sorts_what_is_usual_and_leaves_the_rest() {
    let batch = texts();
    for (most, offload) in [16, 37, 512].into_iter().flat_map(|most| OFFLOADS.map(|offload| (most, offload))) {
        let ([begun, left, undone], result) = outcome(&mut *fake(offload, most, None), &batch);
        assert!(result.is_ok());
        assert_eq!(undone, 0);
        assert!(begun > batch.len() / 3 && left > batch.len() / 6, "{begun} {left}");
    }
}

#[test]
fn sorts_large_blocks_and_leaves_others() {
    let batch = large_texts();
    for (most, offload) in [1, 5, 512].into_iter().flat_map(|most| LARGE.map(|offload| (most, offload))) {
        let ([begun, left, undone], result) = outcome(&mut *fake(offload, most, None), &batch);
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(undone, 0);
        assert!(begun > batch.len() / 2 && left > batch.len() / 8, "{begun} {left}");
    }
    // No lane gets blocks of the other kind.
    assert!(OFFLOADS.iter().all(|&offload| !accepts(offload).class(ENCODE_LARGE)));
    assert!(LARGE.iter().all(|&offload| !accepts(offload).class(ENCODE)));
}

/// A lane with one kind of corruption in its answer.
struct Spoilt {
    fake: FakeLane,
    how: usize,
    columns: Vec<u8>,
    origins: Vec<u32>,
    entries: Vec<u32>,
}

impl DeviceLane for Spoilt {
    fn size(&self) -> LaneSize {
        self.fake.size()
    }
    fn input(&mut self) -> &mut [u8] {
        self.fake.input()
    }
    fn steps(&self) -> Steps {
        Steps::default()
    }

    fn thirds(&mut self, lengths: &[u32], turns: &[u32], log: u8, timeout: Duration) -> Result<SortedThirds<'_>> {
        let good = self.fake.thirds(lengths, turns, log, timeout)?;
        let (mut bits, mut bytes, mut entries) = (good.bits.to_vec(), good.bytes.to_vec(), good.entries.to_vec());
        let other = |row: u32| (0..).find(|&at| bytes[at as usize] != bytes[row as usize]).unwrap();
        match self.how {
            1 => bytes[0] = bytes[0].wrapping_add(1),
            2 => *bytes.last_mut().unwrap() ^= 1,
            3 => entries[0] = u32::MAX,
            4 => entries[0] = other(entries[0]),
            5 => entries[1] = other(entries[1]),
            6 => entries[1] = bytes.len() as u32,
            7 => entries.truncate(1),
            8 => bytes.truncate(1000),
            9 => bits.truncate(1000),
            10 => bits[0] ^= 1,
            _ => {}
        }
        (self.columns, self.origins, self.entries) = (bytes, bits, entries);
        Ok(SortedThirds { bits: &self.origins, bytes: &self.columns, entries: &self.entries })
    }

    fn suffixes(&mut self, lengths: &[u32], log: u8, timeout: Duration) -> Result<SortedSuffixes<'_>> {
        let good = self.fake.suffixes(lengths, log, timeout)?;
        let (mut columns, mut origins, mut entries) =
            (good.columns.to_vec(), good.origins.to_vec(), good.entries.to_vec());
        let origin = origins[0] as usize;
        match self.how {
            1 => columns[0] = columns[0].wrapping_add(1),
            2 => columns[origin] = 1,
            3 => columns[origin / 2] ^= 1,
            4 => origins[0] += 1,
            5 => origins[0] = u32::MAX,
            6 => entries[0] = u32::MAX,
            11 => origins[0] = 0,
            7 => entries[1] = u32::MAX,
            8 => entries[1] = columns.len() as u32 - 1,
            9 => entries.clear(),
            10 => columns.truncate(1000),
            _ => {}
        }
        (self.columns, self.origins, self.entries) = (columns, origins, entries);
        Ok(SortedSuffixes { columns: &self.columns, origins: &self.origins, entries: &self.entries })
    }
}

/// What comes of a block whose lane spoils its answer: how many were done, how many not, and whether the lane goes on.
fn spoilt(offload: Offload, how: usize) -> (usize, usize, bool) {
    let text: Vec<u8> = (SHAPES[SHAPES.len() - 1].make)(100_000);
    let stream = LargeBlocks::try_new(100_000).unwrap().stream();
    let open: Open = Box::new(move |max_blocks| {
        let fake = FakeLane::new(LaneSize { max_blocks, max_length: 200_000 }, None);
        let (columns, origins, entries) = Default::default();
        Ok(Box::new(Spoilt { fake, how, columns, origins, entries }))
    });
    let lanes = Lanes { blocks: 1, offload, ..Lanes::default() };
    let mut station = lanes.station("spoilt".to_owned(), open, &Shared::default()).unwrap();
    let work = [TestText::Large(EncodeLarge { text: text.into(), number: 0, stream })];
    let ([begun, _, undone], result) = outcome(&mut *station, &work);
    (begun, undone, result.is_ok())
}

#[test]
fn large_answers_that_cannot_be() {
    for (offload, ways) in [(Offload::Suffixes, 11), (Offload::HybridLarge, 10)] {
        assert_eq!(spoilt(offload, 0), (1, 0, true));
        for how in 1..=ways {
            assert_eq!(spoilt(offload, how), (0, 1, false), "{how}");
        }
    }
}

#[test]
fn failures() {
    let batch = texts();
    for (call, offload) in (0..3).flat_map(|call| OFFLOADS.map(|offload| (call, offload))) {
        for (fault, retire) in
            [(Fault::Memory, false), (Fault::Sticky, true), (Fault::Hang, true), (Fault::Wrong, true)]
        {
            let mut station = fake(offload, 32, Some((call, fault)));
            let ([begun, _, undone], result) = outcome(&mut *station, &batch);
            if undone == 0 {
                continue; // the call that should fail was not reached
            }
            assert_eq!(result.unwrap_err().retire, retire, "{fault:?}");
            assert!(begun >= call * 16, "{fault:?} at call {call}: {begun} begun");
            let (_, again) = outcome(&mut *station, &batch);
            assert_eq!(again.is_ok(), !retire, "{fault:?}");
        }
    }
}

#[test]
fn too_little_memory_makes_smaller_lanes() {
    let lane = |open: Open| station("fake".to_owned(), 100, open, columns::Columns::default());
    let small = lane(Box::new(|most| {
        if most > 30 {
            return Err(DeviceError::Memory("fake".to_owned()));
        }
        Ok(Box::new(FakeLane::new(size(most), None)))
    }));
    assert_eq!(small.unwrap().max_batch(), 25);
    let never = lane(Box::new(|_| Err(DeviceError::Memory("none at all".to_owned()))));
    assert_eq!(never.err().unwrap(), "none at all");
}

/// Lanes that are used from the start.
fn lanes(offload: Offload, blocks: usize, max_length: usize) -> Lanes {
    Lanes { at_once: true, blocks, max_length, offload, ..Lanes::default() }
}

/// A pool whose cores only finish blocks.
fn pool_of(lanes: &Lanes) -> Pool {
    Pool::builder().cores_accept(Accepts::AllBut(&[ENCODE, ENCODE_LARGE])).accelerators(lanes).build()
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
    let device = Pretended.devices().unwrap().remove(0);
    for offload in OFFLOADS.into_iter().chain(LARGE) {
        let mut station = lanes(offload, 16, MAX_ENCODER_BLOCK)
            .open(&Pretended, device.clone(), "gpu 0 lane 0".to_owned(), &Shared::default())
            .unwrap();
        let inputs = if LARGE.contains(&offload) { large_texts() } else { texts() };
        let ([done, _, undone], result) = outcome(&mut *station, &inputs);
        assert!(result.is_ok() && undone == 0 && done > inputs.len() / 3, "{offload:?}");
    }
}

/// The same with real devices, if there are any.
#[test]
fn on_every_device() {
    let (backend, devices) = match gpu::backend() {
        Ok(found) => found,
        Err(why) => return hybz_testkit::skip::skip(hybz_testkit::skip::Need::Gpu, &format!("no device: {why}")),
    };
    let batch = texts();
    for (device, offload) in devices.iter().flat_map(|device| OFFLOADS.map(|offload| (device, offload))) {
        for most in [1, 2, 17, 128, 512] {
            let lanes = lanes(offload, most, MAX_ENCODER_BLOCK);
            let mut station = lanes.open(backend, device.clone(), "device".to_owned(), &Shared::default()).unwrap();
            for _ in 0..2 {
                let ([begun, left, undone], result) = outcome(&mut *station, &batch);
                assert!(result.is_ok(), "{result:?}");
                assert_eq!(undone, 0);
                assert!(begun > batch.len() / 3 && left > batch.len() / 6, "{begun} {left}");
            }
            println!("{offload:?}: {}", station.details().unwrap_or_default());
        }
    }
    let batch = large_texts();
    for device in devices {
        for (most, offload) in [1, 7, 512].into_iter().flat_map(|most| LARGE.map(|offload| (most, offload))) {
            let lanes = lanes(offload, most, 200_000);
            let mut station = lanes.open(backend, device.clone(), "device".to_owned(), &Shared::default()).unwrap();
            let ([begun, _, undone], result) = outcome(&mut *station, &batch);
            assert!(result.is_ok() && undone == 0 && begun > batch.len() / 2, "{result:?} {begun}");
        }
    }
    // Every level and all shapes, with a pool whose cores only finish blocks.
    let mut text = Vec::new();
    for shape in SHAPES {
        text.extend((shape.make)(950_000));
    }
    for (level, offload) in (1..=9).flat_map(|level| OFFLOADS.map(|offload| (level, offload))) {
        let settings = Settings::new().level(Level::try_new(level).unwrap());
        check_on_device(
            &text,
            &settings,
            &lanes(offload, 32, MAX_ENCODER_BLOCK),
            &format!("level {level}, {offload:?}"),
        );
    }
    // The same for large blocks of several sizes.
    for (size, interval) in [(1 << 10, 0), (100_000, 10), (1_000_000, 0), (9_000_000, 1000), (64_000_000, 0)] {
        let large = LargeBlocks::try_new(size).unwrap().perturbation(interval, 1);
        for offload in LARGE {
            let lanes = Lanes { at_once: true, lanes: 2, offload, ..Lanes::for_large_blocks(&large) };
            check_on_device(&text, &Settings::new().encoding(large), &lanes, &format!("{size} {interval} {offload:?}"));
        }
    }
}

/// The bytes are equal to the cores' own, and devices did some of the work.
fn check_on_device(text: &[u8], settings: &Settings, lanes: &Lanes, what: &str) {
    let pool = pool_of(lanes);
    let coded = crate::compress(text, &settings.clone().pool(&pool)).unwrap();
    assert!(coded == crate::compress(text, settings).unwrap(), "{what}");
    let stations = pool.summary().stations;
    let on_device: u64 = stations.iter().filter(|s| s.name.starts_with("gpu")).map(|s| s.blocks).sum();
    assert!(on_device > 0 && stations.iter().all(|s| s.fallbacks == 0), "{stations:?}");
}

/// A coded batch is accepted as a whole or not at all, and invalid data are noticed in every block, sampled or not.
#[test]
fn coded_batches_that_cannot_be() {
    let mut lane = FakeLane::new(size(16), None);
    let (mut kept, mut lengths, mut filled) = (Vec::new(), Vec::new(), 0);
    for shape in SHAPES.iter().take(3) {
        let (mut text, mut coded) = ((shape.make)(20_000), Vec::new());
        text.push(b'!'); // not periodic
        let crc = run_length_code(&Text::Plain(text.clone()), None, &mut Vec::new(), &mut coded);
        lane.input()[filled..filled + coded.len()].copy_from_slice(&coded);
        filled += coded.len();
        lengths.push(coded.len() as u32);
        let (len, text_len) = (coded.len(), text.len() as u64);
        kept.push(BatchBlock { crc, text_len, len, turn: 0, sums: [0; 2], last: 0, turned_last: 0 });
    }
    let answer = lane.code(&lengths, Duration::MAX).unwrap();
    let (blocks, bytes) = (answer.blocks.to_vec(), answer.bytes.to_vec());
    let mut coder = codes::Codes::sampling(true);
    let mut try_it = |blocks: &[CodedByDevice], bytes: &[u8], sample: usize| {
        let blocks = coder.check_all(&kept, CodedBatch { blocks, bytes }, sample);
        blocks.map(|blocks| blocks.iter().flatten().count())
    };
    for sample in 0..4 {
        assert_eq!(try_it(&blocks, &bytes, sample), Ok(3));
        // One block has too many codes: it is left out, and another one sampled.
        let mut too_many = blocks.clone();
        too_many[sample % 3].bits = 0;
        assert_eq!(try_it(&too_many, &bytes, sample), Ok(2));
        // A wrong bit is noticed in a sampled block.
        let mut wrong = bytes.clone();
        wrong[(blocks[sample % 3].at + blocks[sample % 3].bits / 16) as usize] ^= 4;
        assert!(matches!(try_it(&blocks, &wrong, sample), Err(DeviceError::Wrong(_))));
    }
    let spoils: [fn(&mut CodedByDevice); 12] = [
        |block| block.origin = 1 << 24,
        |block| block.symbols += 50,
        |block| block.symbols = u32::MAX,
        |block| block.tables = 7,
        |block| block.tables -= 1,
        |block| block.tables = 0,
        |block| block.bits += 1,
        |block| block.bits = u32::MAX,
        |block| block.at = u32::MAX,
        |block| block.used[0] ^= 1,
        |block| block.lengths[0][1] += 1,
        |block| block.lengths[1][0] = 0,
    ];
    for (number, spoil) in spoils.iter().enumerate() {
        let mut spoilt = blocks.clone();
        spoil(&mut spoilt[2]);
        assert!(matches!(try_it(&spoilt, &bytes, 0), Err(DeviceError::Wrong(_))), "{number}");
    }
    assert!(try_it(&blocks[..2], &bytes, 0).is_err());
    assert!(try_it(&blocks, &bytes[..bytes.len() - 4], 0).is_err());
}

pub(super) fn accepts(offload: Offload) -> Accepts {
    Accepts::Only(kind(offload).accepts)
}
