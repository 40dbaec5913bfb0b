//! Lanes against the CPU codec: fake ones that fail in every way, and real ones where there are any.

use super::*;
use crate::codec::encoder::Encoder;
use crate::gpu::fake::{FakeSorter, Fault};
use crate::gpu::{CodedBatch, CodedByDevice};
use crate::shapes::SHAPES;
use crate::station::Begun;
use crate::station::cpu::CpuStation;
use crate::station::large::{LargeDone, LargeWork};
use crate::{Level, Settings};
use std::num::NonZeroUsize;

const PIPELINES: [Pipeline; 3] = [Pipeline::Bwt, Pipeline::Hybrid, Pipeline::Resident];

fn fake(pipeline: Pipeline, most: usize, fault: Option<(usize, Fault)>) -> GpuStation {
    let mut fault = fault;
    let open = move |most| {
        // What replaces a lane that failed is in order.
        Ok(Box::new(FakeSorter::new(most, MAX_ENCODER_BLOCK, fault.take())) as Box<dyn Sorter>)
    };
    GpuStation::new("fake".to_owned(), most, pipeline, Box::new(open)).unwrap()
}

fn texts() -> Vec<Work> {
    let lens = [1, 63, 64, 65, 5000, 20000];
    let all = SHAPES.iter().flat_map(|shape| lens.map(|len| Work::Compress(Text::Plain((shape.make)(len)))));
    all.collect()
}

/// Blocks of `.hbz` streams: all shapes, perturbed or not.
fn large_texts() -> Vec<Work> {
    let streams = [0, 100].map(|interval| LargeBlocks::try_new(100_000).unwrap().perturbation(interval, 7).stream());
    let lens = [1, 64, 5000, 100_000];
    let all = SHAPES.iter().flat_map(|shape| lens.map(|len| (shape.make)(len))).zip(0..);
    let works = all.flat_map(|(text, number)| {
        streams.map(|stream| Work::Large(LargeWork::Encode { text: text.clone(), number, stream }))
    });
    works.collect()
}

/// What the codec alone makes of a block.
fn alone(work: &Work) -> Done {
    CpuStation::new(0, Arc::default()).one(work)
}

/// Does the batch; answers how many blocks were sorted, left, and not done, having checked those sorted.
fn outcome(station: &mut GpuStation, batch: &[Work]) -> ([usize; 3], Result<(), StationError>) {
    let mut encoder = Encoder::new();
    let mut core = CpuStation::new(0, Arc::default());
    let mut done = vec![2; batch.len()];
    let result = station.work(batch, &mut |index, answer| {
        assert_eq!(done[index], 2, "answered twice");
        done[index] = match answer {
            Done::Begun(begun @ Begun::Block(_)) => {
                let Work::Compress(text) = &batch[index] else { panic!() };
                let Done::Coded(finished) = core.one(&Work::Finish(begun)) else { panic!() };
                assert_eq!(finished, encoder.encode(text), "block {index}");
                0
            }
            Done::Begun(begun @ Begun::Large(_)) => {
                let Done::Large(LargeDone::Encoded(header, payload)) = core.one(&Work::Finish(begun)) else { panic!() };
                let Done::Large(LargeDone::Encoded(wanted, wanted_payload)) = alone(&batch[index]) else { panic!() };
                assert!(header == wanted && payload == wanted_payload, "block {index}: {header:?} for {wanted:?}");
                0
            }
            Done::Coded(coded) => {
                let Work::Compress(text) = &batch[index] else { panic!() };
                assert_eq!(coded, encoder.encode(text), "block {index}");
                0
            }
            Done::Left => 1,
            other => panic!("{other:?}"),
        };
    });
    ([0, 1, 2].map(|kind| done.iter().filter(|&&d| d == kind).count()), result)
}

#[test]
fn sorts_what_is_usual_and_leaves_the_rest() {
    let batch = texts();
    for (most, pipeline) in [16, 37, 512].into_iter().flat_map(|most| PIPELINES.map(|pipeline| (most, pipeline))) {
        let ([begun, left, undone], result) = outcome(&mut fake(pipeline, most, None), &batch);
        assert!(result.is_ok());
        assert_eq!(undone, 0);
        assert!(begun > batch.len() / 3 && left > batch.len() / 6, "{begun} {left}");
    }
}

#[test]
fn sorts_large_blocks_and_leaves_others() {
    let mut batch = large_texts();
    batch.insert(3, Work::Compress(Text::Plain(b"a block of another stream".repeat(100))));
    for most in [1, 5, 512] {
        let ([begun, left, undone], result) = outcome(&mut fake(Pipeline::Suffixes, most, None), &batch);
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(undone, 0);
        assert!(begun > batch.len() / 2 && left > batch.len() / 8, "{begun} {left}");
    }
    // And the others leave large ones.
    for pipeline in PIPELINES {
        assert_eq!(outcome(&mut fake(pipeline, 16, None), &large_texts()).0[1], large_texts().len());
    }
}

#[test]
fn large_columns_that_cannot_be() {
    let text: Vec<u8> = (SHAPES[SHAPES.len() - 1].make)(100_000);
    let stream = LargeBlocks::try_new(100_000).unwrap().stream();
    let work = [Work::Large(LargeWork::Encode { text, number: 0, stream })];
    struct Spoilt(FakeSorter, usize, Vec<u8>, Vec<u32>, Vec<u32>);
    impl Sorter for Spoilt {
        fn most_blocks(&self) -> usize {
            1
        }
        fn longest(&self) -> usize {
            self.0.longest()
        }
        fn texts(&mut self) -> &mut [u8] {
            self.0.texts()
        }
        fn sort(&mut self, _: &[u32], _: Duration) -> Result<gpu::Sorted<'_>, DeviceError> {
            unreachable!()
        }
        fn thirds(&mut self, _: &[u32], _: &[u32], _: Duration) -> Result<gpu::SortedThirds<'_>, DeviceError> {
            unreachable!()
        }
        fn code(&mut self, _: &[u32], _: Duration) -> Result<CodedBatch<'_>, DeviceError> {
            unreachable!()
        }
        fn suffixes(
            &mut self,
            lengths: &[u32],
            log: u8,
            patience: Duration,
        ) -> Result<gpu::SortedSuffixes<'_>, DeviceError> {
            let good = self.0.suffixes(lengths, log, patience)?;
            (self.2, self.3, self.4) = (good.columns.to_vec(), good.origins.to_vec(), good.entries.to_vec());
            let origin = self.3[0] as usize;
            match self.1 {
                1 => self.2[0] = self.2[0].wrapping_add(1),
                2 => self.2[origin] = 1,
                3 => self.2[origin / 2] ^= 1,
                4 => self.3[0] += 1,
                5 => self.3[0] = u32::MAX,
                6 => self.4[0] = u32::MAX,
                11 => self.3[0] = 0,
                7 => self.4[1] = u32::MAX,
                8 => self.4[1] = self.2.len() as u32 - 1,
                9 => self.4.clear(),
                10 => self.2.truncate(1000),
                _ => {}
            }
            Ok(gpu::SortedSuffixes { columns: &self.2, origins: &self.3, entries: &self.4 })
        }
    }
    for spoil in 0..=11 {
        let open = move |most| {
            let fake = FakeSorter::new(most, 200_000, None);
            Ok(Box::new(Spoilt(fake, spoil, Vec::new(), Vec::new(), Vec::new())) as Box<dyn Sorter>)
        };
        let mut station = GpuStation::new("spoilt".to_owned(), 1, Pipeline::Suffixes, Box::new(open)).unwrap();
        let ([begun, _, undone], result) = outcome(&mut station, &work);
        assert_eq!((begun, undone, result.is_ok()), if spoil == 0 { (1, 0, true) } else { (0, 1, false) }, "{spoil}");
    }
}

#[test]
fn failures() {
    let batch = texts();
    for (call, pipeline) in (0..3).flat_map(|call| PIPELINES.map(|pipeline| (call, pipeline))) {
        for (fault, retire) in
            [(Fault::Memory, false), (Fault::Sticky, true), (Fault::Hang, true), (Fault::Wrong, true)]
        {
            let mut station = fake(pipeline, 32, Some((call, fault)));
            let ([begun, _, undone], result) = outcome(&mut station, &batch);
            if undone == 0 {
                continue; // it did not come to that call
            }
            assert_eq!(result.unwrap_err().retire, retire, "{fault:?}");
            assert!(begun >= call * 16, "{fault:?} at call {call}: {begun} begun");
            let (_, again) = outcome(&mut station, &batch);
            assert_eq!(again.is_ok(), !retire, "{fault:?}");
        }
    }
}

#[test]
fn too_little_memory_makes_smaller_lanes() {
    let open = |most: usize| {
        if most > 30 {
            return Err(DeviceError::Memory("fake".to_owned()));
        }
        Ok(Box::new(FakeSorter::new(most, MAX_ENCODER_BLOCK, None)) as Box<dyn Sorter>)
    };
    assert_eq!(GpuStation::new("fake".to_owned(), 100, Pipeline::Bwt, Box::new(open)).unwrap().most(), 25);
    let never = |_| Err(DeviceError::Memory("none at all".to_owned()));
    assert_eq!(GpuStation::new("fake".to_owned(), 100, Pipeline::Bwt, Box::new(never)).err().unwrap(), "none at all");
}

/// The same with real devices, where there are any.
#[test]
fn on_every_device() {
    let devices = match gpu::devices() {
        Ok(devices) => devices,
        Err(why) => return crate::skip::skip(crate::skip::Need::Gpu, &format!("no device: {why}")),
    };
    let batch = texts();
    for (device, pipeline) in devices.iter().flat_map(|device| PIPELINES.map(|pipeline| (device, pipeline))) {
        for most in [1, 2, 17, 128, 512] {
            let device = device.clone();
            let open = move |most| gpu::open(&device, most, MAX_ENCODER_BLOCK, pipeline);
            let mut station = GpuStation::new("device".to_owned(), most, pipeline, Box::new(open)).unwrap();
            for _ in 0..2 {
                let ([begun, left, undone], result) = outcome(&mut station, &batch);
                assert!(result.is_ok(), "{result:?}");
                assert_eq!(undone, 0);
                assert!(begun > batch.len() / 3 && left > batch.len() / 6, "{begun} {left}");
            }
            println!("{pipeline:?}: {}", station.details().unwrap_or_default());
        }
    }
    let batch = large_texts();
    for device in devices {
        for most in [1, 7, 512] {
            let device = device.clone();
            let open = move |most| gpu::open(&device, most, 200_000, Pipeline::Suffixes);
            let mut station = GpuStation::new("device".to_owned(), most, Pipeline::Suffixes, Box::new(open)).unwrap();
            let ([begun, _, undone], result) = outcome(&mut station, &batch);
            assert!(result.is_ok() && undone == 0 && begun > batch.len() / 2, "{result:?} {begun}");
        }
    }
    // Every level, all shapes, with a pool that leaves nothing but finishing to the cores.
    let mut text = Vec::new();
    for shape in SHAPES {
        text.extend((shape.make)(950_000));
    }
    for (level, pipeline) in (1..=9).flat_map(|level| PIPELINES.map(|pipeline| (level, pipeline))) {
        let settings = Settings::new().level(Level::try_new(level).unwrap());
        let lanes = Lanes { after: 0, blocks: 32, pipeline, ..Lanes::default() };
        let pool = lanes.add_to(crate::Pool::builder().cpu_finishes_only()).build();
        let coded = crate::compress(&text, &settings.clone().pool(&pool)).unwrap();
        assert!(coded == crate::compress(&text, &settings).unwrap(), "level {level}, {pipeline:?}");
        let stations = pool.summary().stations;
        let on_device: u64 = stations.iter().filter(|s| s.name.starts_with("gpu")).map(|s| s.blocks).sum();
        assert!(on_device > 0 && stations.iter().all(|s| s.fallbacks == 0), "{stations:?}");
    }
    // And large blocks of several sizes.
    for (size, interval) in [(1 << 10, 0), (100_000, 10), (1_000_000, 0), (9_000_000, 1000), (64_000_000, 0)] {
        let large = LargeBlocks::try_new(size).unwrap().perturbation(interval, 1);
        let settings = Settings::new().large_blocks(large);
        let lanes = Lanes { after: 0, lanes: 2, ..Lanes::for_large_blocks(&large) };
        let pool = lanes.add_to(crate::Pool::builder().cpu_finishes_only()).build();
        let coded = crate::compress(&text, &settings.clone().pool(&pool)).unwrap();
        assert!(coded == crate::compress(&text, &settings).unwrap(), "{size} {interval}");
        let stations = pool.summary().stations;
        let on_device: u64 = stations.iter().filter(|s| s.name.starts_with("gpu")).map(|s| s.blocks).sum();
        assert!(on_device > 0 && stations.iter().all(|s| s.fallbacks == 0), "{stations:?}");
    }
}

/// A coded batch is believed as a whole or not at all, and what cannot be is seen in any block, sampled or not.
#[test]
fn coded_batches_that_cannot_be() {
    let mut sorter = FakeSorter::new(16, MAX_ENCODER_BLOCK, None);
    let mut batch = Batch::default();
    for (index, shape) in SHAPES.iter().take(3).enumerate() {
        let (mut text, mut coded) = ((shape.make)(20_000), Vec::new());
        text.push(b'!'); // not periodic
        let crc = run_length_code(&Text::Plain(text.clone()), &mut Vec::new(), &mut coded);
        sorter.texts()[batch.filled..batch.filled + coded.len()].copy_from_slice(&coded);
        batch.filled += coded.len();
        batch.lengths.push(coded.len() as u32);
        let (len, text_len) = (coded.len(), text.len() as u64);
        batch.entries.push(Entry { index, crc, text_len, len, sums: [0; 2], last: 0, turned_last: 0 });
    }
    let answer = sorter.code(&batch.lengths, Duration::MAX).unwrap();
    let (blocks, bytes) = (answer.blocks.to_vec(), answer.bytes.to_vec());
    let mut coder = coded::Coder::default();
    let mut try_it = |blocks: &[CodedByDevice], bytes: &[u8], sample: usize| {
        let mut replies = Vec::new();
        let result = coder
            .reply_all(&batch, CodedBatch { blocks, bytes }, sample, &mut |index, done| replies.push((index, done)));
        assert!(result.is_ok() || replies.is_empty());
        result.map(|()| replies.iter().filter(|(_, done)| matches!(done, Done::Coded(_))).count())
    };
    for sample in 0..4 {
        assert_eq!(try_it(&blocks, &bytes, sample), Ok(3));
        // Codes that were too many: that block is left, and another one sampled.
        let mut too_many = blocks.clone();
        too_many[sample % 3].bits = 0;
        assert_eq!(try_it(&too_many, &bytes, sample), Ok(2));
        // A wrong bit: seen where it is sampled.
        let mut wrong = bytes.clone();
        wrong[(blocks[sample % 3].at + blocks[sample % 3].bits / 16) as usize] ^= 4;
        assert!(matches!(try_it(&blocks, &wrong, sample), Err(DeviceError::Lost(_))));
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
        assert!(matches!(try_it(&spoilt, &bytes, 0), Err(DeviceError::Lost(_))), "{number}");
    }
    assert!(try_it(&blocks[..2], &bytes, 0).is_err());
    assert!(try_it(&blocks, &bytes[..bytes.len() - 4], 0).is_err());
}

/// Large blocks through a whole pool, with fake lanes that fail in every way, and lanes for `.bz2` beside them.
#[test]
fn large_blocks_in_a_pool() {
    let mut text = Vec::new();
    for shape in SHAPES {
        text.extend((shape.make)(70_000));
    }
    let settings = Settings::new().large_blocks(LargeBlocks::try_new(40_000).unwrap());
    let plain = crate::compress(&text, &settings).unwrap();
    for fault in [None, Some(Fault::Memory), Some(Fault::Sticky), Some(Fault::Hang), Some(Fault::Wrong)] {
        for cores in [0, 2] {
            let mut pool = crate::Pool::builder();
            pool = match NonZeroUsize::new(cores) {
                Some(cores) => pool.threads(cores),
                None => pool.without_cpu(),
            };
            for pipeline in [Pipeline::Suffixes, Pipeline::Suffixes, Pipeline::Resident] {
                pool = pool.station(0, Directions::COMPRESS, move || {
                    Ok(Box::new(fake(pipeline, 4, fault.map(|fault| (1, fault)))) as Box<dyn Station>)
                });
            }
            let pool = pool.build();
            let coded = crate::compress(&text, &settings.clone().pool(&pool)).unwrap();
            assert!(coded == plain, "{fault:?}, {cores} cores");
            let summary = pool.summary();
            let counted: u64 = summary.stations.iter().map(|s| s.bytes_in).sum();
            assert_eq!(counted, text.len() as u64, "{summary:?}");
            assert!(crate::decompress(&coded, &settings.clone().pool(&pool)).unwrap() == text);
        }
    }
}

/// One long block, and a lane that is gone as soon as it comes: whichever comes first, somebody does the block.
#[test]
fn a_long_block_and_no_lane() {
    let text = (SHAPES[SHAPES.len() - 1].make)(40_000);
    let settings = Settings::new().large_blocks(LargeBlocks::try_new(40_000).unwrap());
    let plain = crate::compress(&text, &settings).unwrap();
    let (done, all_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for wait in 0..400 {
            for cores in [0, 1] {
                let mut pool = crate::Pool::builder().without_cpu();
                pool = NonZeroUsize::new(cores).map_or(pool, |cores| crate::Pool::builder().threads(cores));
                for _ in 0..2 {
                    pool = pool.station(0, Directions::COMPRESS, move || {
                        std::thread::sleep(Duration::from_micros(wait % 100));
                        Err("there is no such device".to_owned())
                    });
                }
                assert!(crate::compress(&text, &settings.clone().pool(&pool.build())).unwrap() == plain);
            }
        }
        done.send(()).unwrap();
    });
    all_done.recv_timeout(Duration::from_secs(120)).expect("no block waits for ever");
}

#[test]
fn lanes_of_any_block_size_can_be_made() {
    for size in [1 << 10, 900_000, 9_000_000, 32 << 20, (32 << 20) + 1, 600 << 20, 1 << 30] {
        for interval in [0, 1, 1000] {
            let lanes = Lanes::for_large_blocks(&LargeBlocks::try_new(size).unwrap().perturbation(interval, 0));
            let (blocks, rows) = (lanes.blocks as u64, lanes.longest as u64 + 1);
            assert!((1..=8).contains(&lanes.lanes) && (1..=gpu::MAX_BATCH).contains(&lanes.blocks), "{lanes:?}");
            assert!(lanes.longest >= size as usize && lanes.longest <= gpu::MAX_WIDE_BLOCK, "{lanes:?}");
            // What `fits` in cuda/lane.cu asks for.
            assert!(blocks * rows < 1 << 31 && blocks * rows.next_power_of_two() <= 1 << 32, "{lanes:?}");
        }
    }
}

/// Long blocks are left to the lanes, unless these do not come, or go.
#[test]
fn long_blocks_wait_for_lanes() {
    let text = (SHAPES[SHAPES.len() - 1].make)(400_000);
    let settings = Settings::new().large_blocks(LargeBlocks::try_new(40_000).unwrap());
    let plain = crate::compress(&text, &settings).unwrap();
    let slow = || std::thread::sleep(Duration::from_millis(50));
    type Make = fn() -> Result<Box<dyn Station>, String>;
    let makes: [(Make, Option<u64>); 4] = [
        (|| Ok(Box::new(fake(Pipeline::Suffixes, 2, None))), Some(0)),
        (|| Err("there is no such device".to_owned()), Some(10)),
        (|| panic!("the station cannot be made"), Some(10)),
        (|| Ok(Box::new(fake(Pipeline::Suffixes, 2, Some((1, Fault::Sticky))))), None),
    ];
    for (make, by_cores) in makes {
        let made = move || {
            slow();
            make()
        };
        let pool = crate::Pool::builder().threads(NonZeroUsize::MIN.saturating_add(1));
        let pool = pool.station(0, Directions::COMPRESS, made).build();
        assert!(crate::compress(&text, &settings.clone().pool(&pool)).unwrap() == plain);
        let summary = pool.summary();
        let cores = summary.stations.iter().filter(|s| !s.only_begins);
        let (begun, finished) = cores.fold((0, 0), |sums, s| (sums.0 + s.blocks, sums.1 + s.finished));
        assert!(by_cores.is_none_or(|blocks| begun == blocks), "{summary:?}");
        assert_eq!(begun + finished, 10, "{summary:?}");
    }
}

/// The whole pipeline, with fake lanes that fail in every way: the bytes are the same.
#[test]
fn in_a_pool() {
    let mut text = Vec::new();
    for shape in SHAPES {
        text.extend((shape.make)(150_000));
    }
    let level = Settings::new().level(Level::FASTEST);
    let plain = crate::compress(&text, &level).unwrap();
    for fault in [None, Some(Fault::Memory), Some(Fault::Sticky), Some(Fault::Hang), Some(Fault::Wrong)] {
        for finishes_only in [false, true] {
            for (cores, resting) in [(0, 0), (2, 0), (2, 1)] {
                let mut pool = crate::Pool::builder().resting(resting);
                pool = match NonZeroUsize::new(cores) {
                    Some(cores) => pool.threads(cores),
                    None => pool.without_cpu(),
                };
                if finishes_only {
                    pool = pool.cpu_finishes_only();
                }
                for (lane, pipeline) in PIPELINES.into_iter().enumerate() {
                    pool = pool.station(0, Directions::COMPRESS, move || {
                        Ok(Box::new(fake(pipeline, 16, fault.map(|fault| (lane, fault)))) as Box<dyn Station>)
                    });
                }
                let pool = pool.build();
                let coded = crate::compress(&text, &level.clone().pool(&pool)).unwrap();
                assert!(coded == plain, "{fault:?}, {cores} cores");
                let summary = pool.summary();
                let counted: u64 = summary.stations.iter().map(|s| s.bytes_in).sum();
                assert_eq!(counted, text.len() as u64, "{summary:?}");
            }
        }
    }
}
