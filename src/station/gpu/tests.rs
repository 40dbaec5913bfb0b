//! Lanes against the CPU codec: fake ones that fail in every way, and real ones where there are any.

use super::*;
use crate::codec::encoder::Encoder;
use crate::gpu::fake::{FakeSorter, Fault};
use crate::gpu::{CodedBatch, CodedByDevice};
use crate::shapes::SHAPES;
use crate::station::cpu::CpuStation;
use crate::{Level, Settings};
use std::num::NonZeroUsize;

const PIPELINES: [Pipeline; 3] = [Pipeline::Bwt, Pipeline::Hybrid, Pipeline::Resident];

fn fake(pipeline: Pipeline, most: usize, fault: Option<(usize, Fault)>) -> GpuStation {
    let mut fault = fault;
    let open = move |most| {
        // What replaces a lane that failed is in order.
        Ok(Box::new(FakeSorter::new(most, LONGEST_BLOCK, fault.take())) as Box<dyn Sorter>)
    };
    GpuStation::new("fake".to_owned(), most, pipeline, Box::new(open)).unwrap()
}

fn texts() -> Vec<Work> {
    let lens = [1, 63, 64, 65, 5000, 20000];
    let all = SHAPES.iter().flat_map(|shape| lens.map(|len| Work::Compress(Text::Plain((shape.make)(len)))));
    all.collect()
}

/// Does the batch; answers how many blocks were sorted, left, and not done, having checked those sorted.
fn outcome(station: &mut GpuStation, batch: &[Work]) -> ([usize; 3], Result<(), StationFailure>) {
    let mut encoder = Encoder::new();
    let mut core = CpuStation::new(0, Arc::default());
    let mut done = vec![2; batch.len()];
    let result = station.work(batch, &mut |index, answer| {
        assert_eq!(done[index], 2, "answered twice");
        done[index] = match answer {
            Done::Begun(sorted) => {
                let Work::Compress(text) = &batch[index] else { panic!() };
                let Done::Coded(finished) = core.one(&Work::Finish(sorted)) else { panic!() };
                assert_eq!(finished, encoder.encode(text), "block {index}");
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
            return Err(Failure::Memory("fake".to_owned()));
        }
        Ok(Box::new(FakeSorter::new(most, LONGEST_BLOCK, None)) as Box<dyn Sorter>)
    };
    assert_eq!(GpuStation::new("fake".to_owned(), 100, Pipeline::Bwt, Box::new(open)).unwrap().most(), 25);
    let never = |_| Err(Failure::Memory("none at all".to_owned()));
    assert_eq!(GpuStation::new("fake".to_owned(), 100, Pipeline::Bwt, Box::new(never)).err().unwrap(), "none at all");
}

/// The same with real devices, where there are any.
#[test]
fn on_every_device() {
    let devices = match gpu::devices() {
        Ok(devices) => devices,
        Err(why) => return println!("skipped: no device ({why})"),
    };
    let batch = texts();
    for (device, pipeline) in devices.iter().flat_map(|device| PIPELINES.map(|pipeline| (device, pipeline))) {
        for most in [1, 2, 17, 128, 512] {
            let device = device.clone();
            let open = move |most| gpu::open(&device, most, LONGEST_BLOCK, pipeline);
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
}

/// A coded batch is believed as a whole or not at all, and what cannot be is seen in any block, sampled or not.
#[test]
fn coded_batches_that_cannot_be() {
    let mut sorter = FakeSorter::new(16, LONGEST_BLOCK, None);
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
        assert!(matches!(try_it(&blocks, &wrong, sample), Err(Failure::Lost(_))));
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
        assert!(matches!(try_it(&spoilt, &bytes, 0), Err(Failure::Lost(_))), "{number}");
    }
    assert!(try_it(&blocks[..2], &bytes, 0).is_err());
    assert!(try_it(&blocks, &bytes[..bytes.len() - 4], 0).is_err());
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
