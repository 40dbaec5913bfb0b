//! Tables 4.1 and 4.2 of Patel's thesis (2012): the steps of compression and decompression, by libbz2, on one core of
//! ours and on a GPU.

use crate::libbz2::{self, Stages};
use hybz::Settings;
use hybz::internals::bits::reader::BitReader;
use hybz::internals::bits::{BitSource, BitWriter, SliceBits};
use hybz::internals::codec::bwt::forward::ForwardBwt;
use hybz::internals::codec::bwt::inverse::Inverse;
use hybz::internals::codec::bwt::rotation;
use hybz::internals::codec::header::Bz2BlockHeader;
use hybz::internals::codec::huffman::decode::{GroupDecoder, SYMBOL_BYTES};
use hybz::internals::codec::mtf::decode::MtfDecoder;
use hybz::internals::codec::mtf::encode::MtfSymbols;
use hybz::internals::codec::run_length::decode::decode_text;
use hybz::internals::codec::selector::encode::HuffmanTables;
use hybz::internals::codec::{Decoder, find_magic, run_length};
use hybz::internals::crc;
use hybz::internals::formats::bzip2::MAX_BLOCK;
use hybz::internals::gpu::{BlockForDevice, Device, LaneSize, Pipeline, abi, backend};
use std::sync::Arc;
use std::time::{Duration, Instant};
use theses_common::fail;

const TIMEOUT: Duration = Duration::from_secs(60);
/// The max number of the set's blocks in a batch.
const BATCH: usize = 256;
/// The number of runs; the best run counts.
const RUNS: usize = 5;

/// One block of the set.
struct Block {
    /// Run-length-coded, as the BWT takes it.
    coded: Vec<u8>,
    text: Vec<u8>,
    /// The block's bits in the stream.
    bits: (u64, u64),
}

/// The blocks of a text at level 9, in the stream that holds them.
fn blocks(text: &[u8]) -> (Vec<u8>, Vec<Block>) {
    let stream = hybz::compress(text, &Settings::new()).expect("memory");
    let (mut decoder, mut all, mut at) = (Decoder::new(), Vec::new(), 32);
    while find_magic::find(&stream, at) == Some(at) {
        let block = decoder.decode(&stream, at, u64::MAX, MAX_BLOCK as u32).expect("our own block");
        let text = block.text.plain(&mut Vec::new()).unwrap_or_else(|| fail("a block of long runs")).to_vec();
        let mut coded = Vec::new();
        run_length::encode::encode(&text, &mut coded);
        all.push(Block { coded, text, bits: (at, block.end_bit) });
        at = block.end_bit;
    }
    // A device sorts no periodic blocks and decodes none.
    all.retain(|block| rotation::period(&block.coded) == block.coded.len());
    all.truncate(BATCH);
    (stream, all)
}

/// Seconds for each step.
type Times<const STEPS: usize> = [f64; STEPS];

/// Adds the seconds of a call, and returns its result.
fn timed<T>(seconds: &mut f64, what: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = what();
    *seconds += start.elapsed().as_secs_f64();
    result
}

/// The times of the fastest of several runs.
fn best<const STEPS: usize>(mut run: impl FnMut() -> Times<STEPS>) -> Times<STEPS> {
    let all = (0..RUNS).map(|_| run());
    all.min_by(|a, b| a.iter().sum::<f64>().total_cmp(&b.iter().sum())).expect("more than one run")
}

/// Run lengths and CRC, BWT, MTF, Huffman coding.
fn encode_on_core(blocks: &[Block]) -> Times<4> {
    let mut bwt = ForwardBwt::new(Arc::default());
    let (mut symbols, mut tables, mut room) = (MtfSymbols::default(), HuffmanTables::default(), Vec::new());
    best(|| {
        let mut times = [0.0; 4];
        for block in blocks {
            timed(&mut times[0], || {
                room.clear();
                run_length::encode::encode(&block.text, &mut room);
                crc::checksum(&block.text)
            });
            let last = timed(&mut times[1], || bwt.transform(&mut room));
            timed(&mut times[2], || symbols.encode(last.bytes));
            timed(&mut times[3], || {
                tables.choose(&symbols);
                let mut out = BitWriter::with_capacity(tables.bits_needed(symbols.alphabet));
                tables.write_head(symbols.alphabet, &mut out);
                tables.write_codes(&symbols, &mut out);
                out.bit_len()
            });
        }
        times
    })
}

/// Run lengths and CRC, BWT, MTF, Huffman decoding.
fn decode_on_core(stream: &[u8], blocks: &[Block]) -> Times<4> {
    let (mut header, mut groups) = (Bz2BlockHeader::default(), GroupDecoder::default());
    let (mut mtf, mut bwt) = (MtfDecoder::new(MAX_BLOCK), Inverse::default());
    let mut out = [0; SYMBOL_BYTES];
    best(|| {
        let mut times = [0.0; 4];
        for block in blocks {
            let mut bits = SliceBits::new(stream, block.bits.0, u64::MAX);
            timed(&mut times[3], || {
                header.read(&mut bits, MAX_BLOCK as u32).expect("our own block");
                groups.start_block(&header).expect("regular codes");
            });
            mtf.begin(&header.used, MAX_BLOCK as u32);
            let mut reader = BitReader::new(stream, bits.position());
            loop {
                let piece = timed(&mut times[3], || groups.decode_groups(&header.selectors, &mut reader, &mut out));
                let (len, last) = piece.expect("regular codes");
                timed(&mut times[2], || mtf.push(&out[..len])).expect("regular symbols");
                if last {
                    break;
                }
            }
            let (runs, rows) = mtf.finish();
            timed(&mut times[1], || {
                bwt.build(runs, rows);
                bwt.walk(header.origin);
            });
            let decoded = timed(&mut times[0], || decode_text(bwt.pieces(), rows));
            assert!(decoded.is_ok_and(|(_, crc)| crc == header.crc), "the steps give the text back");
        }
        times
    })
}

/// The steps of the transform, and those between host and device.
const SORTING: [usize; 6] = [
    abi::HYBZ_STEP_KEYS,
    abi::HYBZ_STEP_SORT,
    abi::HYBZ_STEP_GROUP,
    abi::HYBZ_STEP_SMALL_ROUNDS,
    abi::HYBZ_STEP_LARGE_ROUNDS,
    abi::HYBZ_STEP_COMMITS,
];
const TRANSFERS: [usize; 2] = [abi::HYBZ_STEP_UPLOAD, abi::HYBZ_STEP_DOWNLOAD];

/// BWT, MTF, Huffman coding, transfers: for a batch of all blocks.
fn encode_on_device(device: &Device, blocks: &[Block]) -> Result<Times<4>, String> {
    let (backend, _) = backend()?;
    let size = LaneSize { max_blocks: blocks.len(), max_length: MAX_BLOCK };
    let mut lane = backend.open(device, Pipeline::Resident, size).map_err(|e| e.to_string())?;
    let lengths: Vec<u32> = blocks.iter().map(|block| block.coded.len() as u32).collect();
    let all: Vec<u8> = blocks.iter().flat_map(|block| &block.coded).copied().collect();
    let mut bwt = ForwardBwt::new(Arc::default());
    let expected: Vec<_> = blocks.iter().map(|block| bwt.transform(&mut block.coded.clone()).origin).collect();
    Ok(best(|| {
        lane.input()[..all.len()].copy_from_slice(&all);
        let before = lane.steps();
        let coded = lane.code(&lengths, 0..0, TIMEOUT).unwrap_or_else(|e| fail(&e.to_string()));
        assert!(coded.blocks.iter().map(|block| block.origin).eq(expected.iter().copied()), "the same transform");
        let after = lane.steps();
        let steps = |steps: &[usize]| steps.iter().map(|&step| after.ms[step] - before.ms[step]).sum::<f64>() / 1e3;
        [
            steps(&SORTING),
            steps(&[abi::HYBZ_STEP_MTF]),
            steps(&[abi::HYBZ_STEP_TABLES, abi::HYBZ_STEP_CODES]),
            steps(&TRANSFERS),
        ]
    }))
}

/// BWT, MTF, Huffman decoding, transfers: for a batch of all blocks.
fn decode_on_device(device: &Device, stream: &[u8], blocks: &[Block]) -> Result<Times<4>, String> {
    let (backend, _) = backend()?;
    let (mut header, mut input, mut heads) = (Bz2BlockHeader::default(), Vec::new(), Vec::new());
    for block in blocks {
        let mut bits = SliceBits::new(stream, block.bits.0, block.bits.1);
        header.read(&mut bits, MAX_BLOCK as u32).expect("our own block");
        heads.push(head_of(&header, bits.position(), block.bits.1, stream, &mut input));
    }
    let size = LaneSize { max_blocks: blocks.len(), max_length: input.len().div_ceil(blocks.len()) };
    let mut lane = backend.open(device, Pipeline::Decode, size).map_err(|e| e.to_string())?;
    Ok(best(|| {
        lane.input()[..input.len()].copy_from_slice(&input);
        let before = lane.steps();
        let decoded = lane.decode(&heads, input.len(), TIMEOUT).unwrap_or_else(|e| fail(&e.to_string()));
        for (found, block) in decoded.blocks.iter().zip(blocks) {
            let text = &decoded.output[found.at as usize..][..found.length as usize];
            let expected = if found.expanded == 0 { &block.coded } else { &block.text };
            assert!(found.odd == 0 && text == expected, "the device decodes as the cores do");
        }
        let after = lane.steps();
        let steps = |steps: &[usize]| steps.iter().map(|&step| after.ms[step] - before.ms[step]).sum::<f64>() / 1e3;
        let [walk, columns, symbols] =
            [abi::HYBZ_STEP_WALK, abi::HYBZ_STEP_COLUMNS, abi::HYBZ_STEP_SYMBOLS].map(|step| steps(&[step]));
        [walk, columns, symbols, steps(&TRANSFERS)]
    }))
}

/// A block in the form that a lane takes: its bits and selectors are appended to those of the others.
fn head_of(header: &Bz2BlockHeader, first: u64, end: u64, stream: &[u8], input: &mut Vec<u8>) -> BlockForDevice {
    let (at, from) = (input.len(), first / 8);
    input.extend_from_slice(&stream[from as usize..end.div_ceil(8) as usize]);
    input.resize(input.len().next_multiple_of(4) + 8, 0);
    let selectors_at = input.len();
    input.extend_from_slice(&header.selectors);
    input.resize(input.len().next_multiple_of(4), 0);
    let mut head = BlockForDevice {
        at: at as u32,
        first_bit: (first % 8) as u32,
        end_bit: (end - from * 8) as u32,
        selectors_at: selectors_at as u32,
        selectors: header.selectors.len() as u32,
        origin: header.origin,
        limit: MAX_BLOCK as u32,
        symbols: header.alphabet() as u32,
        tables: header.tables as u32,
        used: [0; 256],
        lengths: header.lengths,
    };
    head.used[..header.used.len()].copy_from_slice(&header.used);
    head
}

/// Prints the rows of one direction. `core` has run lengths first, `device` transfers last. libbz2's stages are those
/// of libbz2.rs; each rate is of the text that took the time.
fn print(set: &str, bytes: usize, libbz2: (usize, Stages), core: Times<4>, device: Option<Times<4>>) {
    println!("set,step,libbz2,core,GPU,core/libbz2,GPU/libbz2");
    let (text, stages) = libbz2;
    let [other, core @ ..] = core;
    for (step, name) in ["BWT", "MTF", "Huffman", "MTF_and_Huffman", "all_three", "all"].into_iter().enumerate() {
        let part = |steps: &[f64], rest: f64| match step {
            3 => steps[1] + steps[2],
            4 => steps.iter().sum(),
            5 => steps.iter().sum::<f64>() + rest,
            _ => steps[step],
        };
        let libbz2 = match step {
            0 => Some(stages.bwt),
            3 => Some(stages.mtf_and_huffman),
            4 => Some(stages.bwt + stages.mtf_and_huffman),
            5 => Some(stages.all),
            _ => None,
        };
        let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
        let libbz2 = libbz2.map(|seconds| text as f64 / 1e6 / seconds);
        let core = rate(part(&core, other));
        let gpu = device.map(|[bwt, mtf, huffman, transfers]| rate(part(&[bwt, mtf, huffman], transfers)));
        let shown = |rate: Option<f64>| rate.map_or("-".to_owned(), |rate| format!("{rate:.1}"));
        let ratio = |rate: Option<f64>| match (rate, libbz2) {
            (Some(rate), Some(libbz2)) => format!("{:.2}", rate / libbz2),
            _ => "-".to_owned(),
        };
        println!("{set},{name},{},{core:.1},{},{},{}", shown(libbz2), shown(gpu), ratio(Some(core)), ratio(gpu));
    }
}

/// The times of the steps on a device, or a sentence for the table's comments that says why there are none.
fn on_device<T>(run: impl FnOnce(&Device) -> Result<T, String>) -> Option<T> {
    let result = backend().and_then(|(_, devices)| {
        let device = devices.first().ok_or("no device")?;
        run(device)
    });
    result.inspect_err(|why| println!("# no GPU: {why}")).ok()
}

/// Table 4.1: compression.
pub fn compression(set: &str, text: &[u8]) {
    let (_, blocks) = blocks(text);
    heading(blocks.len());
    println!("# Patel 2012, enwik8, MB/s: BWT 9.84 (bzip2 14.2), MTF and Huffman 29.4 (33.1), all 7.37 (10.26), ratio");
    println!("# 0.33 (0.29); averages, of bzip2's speed: BWT 1/2.89, MTF and Huffman 1/1.34, all 1/2.78.");
    let (stages, coded) = libbz2::compress(text);
    println!("# {set}: ratio {:.3}, on the GPU and for libbz2", coded.len() as f64 / text.len() as f64);
    let device = on_device(|device| encode_on_device(device, &blocks));
    let bytes = blocks.iter().map(|block| block.coded.len()).sum();
    print(set, bytes, (text.len(), stages), encode_on_core(&blocks), device);
}

/// Table 4.2: decompression.
pub fn decompression(set: &str, text: &[u8]) {
    let (stream, blocks) = blocks(text);
    heading(blocks.len());
    println!("# Patel 2012, enwik8, MB/s: BWT 51.0 (bzip2 19.3), MTF and Huffman 28.2 (40.68), all 18.16 (13.11);");
    println!(
        "# averages, of bzip2's speed: BWT 2.45, MTF and Huffman 1/1.83, all 1.2. libbz2's `MTF and Huffman' holds"
    );
    println!("# half of its reverse transform: patel/src/libbz2.rs.");
    let stages = libbz2::decompress(&stream, text);
    let device = on_device(|device| decode_on_device(device, &stream, &blocks));
    let bytes = blocks.iter().map(|block| block.coded.len()).sum();
    print(set, bytes, (text.len(), stages), decode_on_core(&stream, &blocks), device);
}

fn heading(blocks: usize) {
    println!(
        "# MB/s of text. {blocks} blocks in one batch. `all' has run lengths and CRC on a core, transfers on a GPU."
    );
}
