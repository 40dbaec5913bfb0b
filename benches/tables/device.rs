//! A GPU's part of the tables, where there is one.

use hybz::codec::hbz::encode::HbzEncoder;
use hybz::gpu::{Sorter, devices, open};
use hybz::hbz::StreamHeader;
use hybz::station::gpu::Lanes;
use hybz::{LargeBlocks, Pool, Settings};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// Seconds that one lane takes to sort all blocks of a text, transfers included; and those of all cores and lanes, once they are warm,
/// for the whole text. Both do the best of two.
pub fn seconds(text: &[u8], size: usize, interval: u32) -> Option<[f64; 2]> {
    let device = devices().ok()?.into_iter().next()?;
    let large = LargeBlocks::try_new(size as u32)?.perturbation(interval, 0);
    let lanes = Lanes { after: 0, ..Lanes::for_large_blocks(&large) };
    let mut lane = open(&device, lanes.blocks, lanes.longest, lanes.pipeline).ok()?;
    let stream = StreamHeader { block_size: size as u32, interval, seed: 0, entry_log: 15 };
    let settings = Settings::new().large_blocks(large);
    let plain = hybz::compress(text, &settings).expect("memory");
    let sort = (0..2).map(|_| sort(&mut *lane, text, &stream, &plain)).reduce(f64::min)?;
    drop(lane);

    let pool = lanes.add_to(Pool::builder()).build();
    let settings = settings.pool(&pool);
    let all = |_| {
        let start = Instant::now();
        let coded = hybz::compress(text, &settings).expect("memory");
        let seconds = start.elapsed().as_secs_f64();
        assert!(coded == plain, "the same bytes, whoever made them");
        seconds
    };
    Some([sort, (0..3).map(all).reduce(f64::min)?])
}

/// What is sorted is coded, not in the time, and must be what the cores alone have written.
fn sort(lane: &mut dyn Sorter, text: &[u8], stream: &StreamHeader, plain: &[u8]) -> f64 {
    let (mut encoder, mut codes) = (HbzEncoder::new(), Vec::new());
    let mut seconds = 0.0;
    let mut rest = &plain[32..];
    let mut number = 0;
    let blocks: Vec<&[u8]> = text.chunks(stream.block_size as usize).collect();
    for batch in blocks.chunks(lane.most_blocks()) {
        let (mut lengths, mut filled, mut all) = (Vec::new(), 0, Vec::new());
        for block in batch {
            all.push(encoder.prepare(block, number, stream, &mut codes));
            number += 1;
            lane.texts()[filled..filled + codes.len()].copy_from_slice(&codes);
            filled += codes.len();
            lengths.push(codes.len() as u32);
        }
        let start = Instant::now();
        let sorted = lane.suffixes(&lengths, stream.entry_log, PATIENCE).expect("a device that sorts");
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
            assert!(rest.starts_with(&block), "what the device has sorted is what the cores have");
            rest = &rest[block.len()..];
        }
    }
    seconds
}
