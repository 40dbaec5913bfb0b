//! The GPU columns of the tables.

use hybz::internals::formats::hbz::StreamHeader;
use hybz::internals::formats::hbz::encode::HbzEncoder;
use hybz::internals::gpu::{DeviceLane, Offload, Pipeline, backend};
use hybz::{Lanes, LargeBlocks, Pool, Settings};
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(60);

/// The divisions of the work between device and cores in table 5.1: his hybrid, the device sorts, or does all.
pub const PIPELINES: [Offload; 3] = [Offload::HybridLarge, Offload::Suffixes, Offload::CodeLarge];

/// Seconds that one lane takes to sort all blocks of a text, with transfers: the best of several runs, so start-up does
/// not count. `None` without a device.
pub fn sorting_seconds(text: &[u8], size: usize, interval: u32) -> Option<f64> {
    let (backend, devices) = backend().ok()?;
    let device = devices.into_iter().next()?;
    let large = LargeBlocks::try_new(size as u32)?.perturbation(interval, 0);
    let lanes = Lanes::for_large_blocks(&large).at_once(true);
    let shape = lanes.size();
    let mut lane = backend.open(&device, Pipeline::Suffixes, shape).ok()?;
    let stream = StreamHeader { block_size: size as u32, interval, seed: 0, entry_log: 15 };
    let settings = Settings::new().encoding(large);
    let plain = hybz::compress(text, &settings).expect("memory");
    (0..2).map(|_| sort(&mut *lane, text, &stream, &plain)).reduce(f64::min)
}

/// Seconds that all cores and lanes take to compress the text, by this division of the work: the best of several runs.
/// `None` without a device.
pub fn compressing_seconds(text: &[u8], size: usize, interval: u32, offload: Offload) -> Option<f64> {
    backend().ok()?;
    let large = LargeBlocks::try_new(size as u32)?.perturbation(interval, 0);
    let settings = Settings::new().encoding(large);
    let plain = hybz::compress(text, &settings).expect("memory");
    let lanes = Lanes::for_large_blocks(&large).at_once(true).offload(offload);
    let pool = Pool::builder().accelerators(&lanes).build();
    let settings = settings.pool(&pool);
    let all = |_| {
        let start = Instant::now();
        let coded = hybz::compress(text, &settings).expect("memory");
        let seconds = start.elapsed().as_secs_f64();
        assert!(coded == plain, "GPUs and cores write the same bytes");
        seconds
    };
    (0..3).map(all).reduce(f64::min)
}

/// Seconds that all cores and lanes take to decompress the text: the best of several runs. `None` without a device.
pub fn decoding_seconds(text: &[u8], size: usize, interval: u32) -> Option<f64> {
    backend().ok()?;
    let large = LargeBlocks::try_new(size as u32)?.perturbation(interval, 0);
    let coded = hybz::compress(text, &Settings::new().encoding(large)).expect("memory");
    let lanes = Lanes::for_decoding_large().at_once(true);
    let pool = Pool::builder().accelerators(&lanes).build();
    let settings = Settings::new().pool(&pool);
    let decode = |_| {
        let start = Instant::now();
        let found = hybz::decompress(&coded, &settings).expect("what was compressed just now");
        let seconds = start.elapsed().as_secs_f64();
        assert!(found == text, "GPUs and cores decode the text");
        seconds
    };
    (0..4).map(decode).reduce(f64::min)
}

/// Sorts all blocks and returns the seconds. Each block is then coded, untimed, and must equal the block that cores
/// alone wrote.
fn sort(lane: &mut dyn DeviceLane, text: &[u8], stream: &StreamHeader, plain: &[u8]) -> f64 {
    let (mut encoder, mut codes) = (HbzEncoder::default(), Vec::new());
    let mut seconds = 0.0;
    let mut rest = &plain[32..];
    let mut number = 0;
    let blocks: Vec<&[u8]> = text.chunks(stream.block_size as usize).collect();
    for batch in blocks.chunks(lane.size().max_blocks) {
        let (mut lengths, mut filled, mut all) = (Vec::new(), 0, Vec::new());
        for block in batch {
            all.push(encoder.prepare(block, number, stream, &mut codes));
            number += 1;
            lane.input()[filled..filled + codes.len()].copy_from_slice(&codes);
            filled += codes.len();
            lengths.push(codes.len() as u32);
        }
        let start = Instant::now();
        let sorted = lane.suffixes(&lengths, stream.entry_log, TIMEOUT).expect("a device that sorts");
        seconds += start.elapsed().as_secs_f64();
        let (mut columns, each) = (sorted.columns, sorted.entries.len() / lengths.len());
        for (((prepared, &len), &origin), entries) in
            all.iter().zip(&lengths).zip(sorted.origins).zip(sorted.entries.chunks(each))
        {
            let (column, after) = columns.split_at(len as usize + 1);
            columns = after;
            let column = [&column[..origin as usize], &column[origin as usize + 1..]].concat();
            let entries = &entries[..(len as usize).div_ceil(1 << stream.entry_log)];
            let (header, payload) = encoder.finish(prepared, &column, entries);
            let block = [&header.write()[..], &payload].concat();
            assert!(rest.starts_with(&block), "the device sorts as the cores do");
            rest = &rest[block.len()..];
        }
    }
    seconds
}
