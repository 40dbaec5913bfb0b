//! Compares lanes that decode with the CPU codec: fake ones that fail in every way, and real ones if there are any.

use super::*;
use crate::formats::bzip2::stream::tasks::{DECODE, DecodeBlock, EncodeBlock};
use crate::station::gpu::fake::{FakeLane, Fault};
use crate::{Level, Pool, Settings};
use hybz_gpu::{BlockForDevice, DecodedBatch, DecodedByDevice, DeviceError, DeviceLane, LaneSize};
use hybz_queue::{Accepts, Core, Job, StationError, Task};
use hybz_testkit::shapes::{Rng, SHAPES, shape};
use std::num::NonZeroUsize;

fn fake(blocks: usize, fault: Option<(usize, Fault)>) -> Box<dyn Station> {
    let mut fault = fault;
    let open = Box::new(move |max_blocks| {
        Ok(Box::new(FakeLane::new(LaneSize { max_blocks, max_length: MAX_CODED }, fault.take())) as Box<_>)
    });
    station("fake".to_owned(), blocks, open, spans::Spans::default()).unwrap()
}

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
fn spans() -> Vec<DecodeBlock> {
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
fn damaged_spans() -> Vec<DecodeBlock> {
    let mut rng = Rng(3);
    let usual = span(&(shape("words").make)(30_000), 3, 7);
    let bits = usual.end as usize;
    let flips: Vec<usize> = (0..300).map(|at| if at < 200 { at } else { rng.below(bits) }).collect();
    let flipped = flips.iter().map(|bit| damaged(&usual, |data| data[bit / 8] ^= 0x80 >> (bit % 8)));
    let cut = (0..40).map(|_| DecodeBlock { end: rng.below(bits) as u64, ..usual.clone() });
    flipped.chain(cut).collect()
}

/// Does the batch; a core does the declined tasks. Compares every answer with a core's own. Returns the numbers of
/// tasks answered, declined and left undone.
fn outcome(station: &mut dyn Station, spans: &[DecodeBlock]) -> ([usize; 3], Result<(), StationError>) {
    let mut core = Core::new(0);
    let (mut jobs, tickets): (Vec<Job>, Vec<_>) = spans.iter().cloned().map(Job::detached).unzip();
    let result = station.work(&mut jobs);
    let mut counts = [0; 3];
    for (number, ((span, job), ticket)) in spans.iter().zip(&jobs).zip(tickets).enumerate() {
        counts[if job.is_declined() { 1 } else { usize::from(job.is_open()) * 2 }] += 1;
        if let Some(answer) = ticket.poll() {
            assert!(answer == Ok(span.run(&mut core)), "span {number}");
        }
    }
    (counts, result)
}

#[test]
fn decodes_what_is_usual() {
    let all = spans();
    for blocks in [1, 7, 32, 512] {
        let ([done, declined, undone], result) = outcome(&mut *fake(blocks, None), &all);
        assert!(result.is_ok() && undone == 0, "{result:?}");
        assert_eq!((done, declined), (all.len(), 0));
    }
    assert!(Accepts::Only(kind(Lanes::for_decoding().offload).accepts).class(DECODE));
    assert!(!Accepts::Only(kind(Lanes::for_decoding().offload).accepts).class(ENCODE));
}

#[test]
fn what_is_damaged_is_for_a_core() {
    let all = damaged_spans();
    for span in all.iter().take(64) {
        let ([done, declined, undone], result) = outcome(&mut *fake(4, None), std::slice::from_ref(span));
        assert!(result.is_ok() && done + declined == 1 && undone == 0);
    }
    let ([_, declined, undone], result) = outcome(&mut *fake(32, None), &all);
    assert!(result.is_ok() && undone == 0 && declined > all.len() / 2, "{declined}");
    // More bytes than any lane has room for.
    let long = DecodeBlock { end: u64::MAX, ..damaged(&spans()[3], |data| data.resize(40 << 20, 0)) };
    assert_eq!(outcome(&mut *fake(4, None), &[long]).0, [0, 1, 0]);
}

#[test]
fn failures() {
    let all = spans();
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

/// Streams of all levels through whole pools, whose lanes fail in every way.
#[test]
fn in_a_pool() {
    let text: Vec<u8> = SHAPES.iter().flat_map(|shape| (shape.make)(150_000)).collect();
    let settings = Settings::new().level(Level::FASTEST);
    let coded = crate::compress(&text, &settings).unwrap();
    for fault in [None, Some(Fault::Memory), Some(Fault::Sticky), Some(Fault::Hang), Some(Fault::Wrong)] {
        for cores in [0, 2] {
            let builder = Pool::builder();
            let mut builder = match NonZeroUsize::new(cores) {
                Some(cores) => builder.threads(cores),
                None => builder.without_cpu(),
            };
            for lane in 0..3 {
                let make = move || Ok(fake(8, fault.map(|fault| (lane, fault))));
                builder = builder.station(Accepts::Only(&[DECODE]), make);
            }
            let settings = Settings::new().pool(&builder.build());
            assert!(crate::decompress(&coded, &settings).unwrap() == text, "{fault:?}, {cores} cores");
            let cut = crate::decompress(&coded[..coded.len() / 2], &settings);
            let alone = crate::decompress(&coded[..coded.len() / 2], &Settings::new());
            assert_eq!(cut.unwrap_err().to_string(), alone.unwrap_err().to_string());
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
    let (all, damaged) = (spans(), damaged_spans());
    for device in devices {
        for blocks in [1, 7, 32, 512] {
            let lanes = Lanes { blocks, ..Lanes::for_decoding() };
            let mut station = lanes.open(backend, device.clone(), "device".to_owned(), &Shared::default()).unwrap();
            for _ in 0..2 {
                let ([done, declined, undone], result) = outcome(&mut *station, &all);
                assert!(result.is_ok() && undone == 0, "{result:?} {blocks} {undone}");
                // A periodic block's permutation has several cycles.
                assert!(done > all.len() / 2 && done + declined == all.len(), "{done} {declined}");
            }
            let ([_, declined, undone], result) = outcome(&mut *station, &damaged);
            assert!(result.is_ok() && undone == 0 && declined > damaged.len() / 2, "{result:?} {declined}");
            println!("{}", station.details().unwrap_or_default());
        }
    }
    // Whole streams of every level, with cores that decode only what lanes decline.
    let text: Vec<u8> = SHAPES.iter().flat_map(|shape| (shape.make)(950_000)).collect();
    for level in 1..=9 {
        let coded = crate::compress(&text, &Settings::new().level(Level::try_new(level).unwrap())).unwrap();
        let lanes = Lanes { at_once: true, ..Lanes::for_decoding() };
        let pool = Pool::builder().cores_accept(Accepts::AllBut(&[DECODE])).accelerators(&lanes).build();
        assert!(crate::decompress(&coded, &Settings::new().pool(&pool)).unwrap() == text, "level {level}");
        let stations = pool.summary().stations;
        let on_device: u64 = stations.iter().filter(|s| s.name.starts_with("gpu")).map(|s| s.blocks).sum();
        assert!(on_device > 0 && stations.iter().all(|s| s.fallbacks == 0), "{stations:?}");
    }
}

type Spoil = fn(&mut [DecodedByDevice]);

/// A lane of a fake device whose results are changed.
struct Spoilt(FakeLane, Spoil, Vec<DecodedByDevice>);

impl DeviceLane for Spoilt {
    fn size(&self) -> LaneSize {
        self.0.size()
    }
    fn input(&mut self) -> &mut [u8] {
        self.0.input()
    }

    fn decode(
        &mut self,
        blocks: &[BlockForDevice],
        bytes: usize,
        expand: bool,
        timeout: Duration,
    ) -> Result<DecodedBatch<'_>, DeviceError> {
        let DecodedBatch { blocks, output } = self.0.decode(blocks, bytes, expand, timeout)?;
        self.2 = blocks.to_vec();
        (self.1)(&mut self.2);
        Ok(DecodedBatch { blocks: &self.2, output })
    }
}

fn spoilt(spoil: Spoil) -> Box<dyn Station> {
    let open: hybz_gpu::Open = Box::new(move |max_blocks| {
        let fake = FakeLane::new(LaneSize { max_blocks, max_length: MAX_CODED }, None);
        Ok(Box::new(Spoilt(fake, spoil, Vec::new())))
    });
    station("spoilt".to_owned(), 4, open, spans::Spans::default()).unwrap()
}

/// No CRC covers the length of an expanded block before its expansion: a block that is said to be too long for its
/// level, and is not, is no damage.
#[test]
fn a_block_that_seems_too_long() {
    let text = (shape("words").make)(95_000);
    let coded = crate::compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
    let too_long: Spoil = |blocks| blocks.iter_mut().for_each(|block| block.rows = 110_000);
    let pool = Pool::builder().without_cpu().station(Accepts::Only(&[DECODE]), move || Ok(spoilt(too_long))).build();
    assert!(crate::decompress(&coded, &Settings::new().pool(&pool)).unwrap() == text);
    let stations = pool.summary().stations;
    assert!(stations.iter().all(|station| station.blocks == 1 && station.retired.is_none()), "{stations:?}");
}

/// The outcome for a block when a device returns false values for it.
#[test]
fn answers_that_cannot_be() {
    fn nonsense() -> DecodedByDevice {
        let most = u32::MAX;
        DecodedByDevice { odd: 1, end_bit: most, rows: most, at: most, length: most, expanded: most, cut: most }
    }
    let usual = span(&[&(shape("words").make)(5000)[..], &[b'x'; 30]].concat(), 5, 9);
    let three = [usual.clone(), usual.clone(), usual];
    // The fake device expands the first and the third block.
    let spoils: [(Spoil, bool); 16] = [
        (|blocks| blocks[1].odd = 1, true),
        (|blocks| blocks[1] = nonsense(), true),
        (|blocks| blocks[1].end_bit += 1, true),
        (|blocks| blocks[1].end_bit = u32::MAX, true),
        (|blocks| blocks[1].rows -= 1, false),
        (|blocks| blocks[1].at = u32::MAX, false),
        (|blocks| blocks[1].at += 1, false),
        (|blocks| blocks[1].length -= 1, false),
        (|blocks| blocks[1].expanded = 1, false),
        (|blocks| blocks[2].expanded = 0, false),
        (|blocks| blocks[2].at += 1, false),
        (|blocks| blocks[2].length -= 1, false),
        (|blocks| blocks[2].length = u32::MAX, false),
        (|blocks| blocks[2].rows = 0, false),
        (|blocks| blocks[2].rows = 10 * blocks[2].length, false),
        (|blocks| blocks[2].rows = blocks[2].length / 60, false),
    ];
    for (number, (spoil, goes_on)) in spoils.into_iter().enumerate() {
        let mut station = spoilt(spoil);
        let (counts, result) = outcome(&mut *station, &three);
        assert_eq!(result.is_ok(), goes_on, "{number}");
        // Blocks after the wrong one stay open.
        let until = if number < 9 { [2, 0, 1] } else { [3, 0, 0] };
        assert_eq!(counts, if goes_on { [2, 1, 0] } else { until }, "{number}");
    }
}
