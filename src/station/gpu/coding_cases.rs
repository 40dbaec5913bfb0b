//! A core's results for blocks of `.hbz` streams, step by step, for `bench coding` of `cuda/bench/`, which compares the
//! kernels with them.

use crate::formats::hbz::codec::tally::{self, Prices, Tally};
use crate::station::gpu::fake::FakeLane;
use hybz_gpu::{DeviceLane, LaneSize, PricesForDevice, SharesForDevice, TallyByDevice};
use hybz_testkit::shapes::{SHAPES, shape};
use std::time::Duration;

/// Writes batches of codes and a core's results for them, step by step, to the file that `HYBZ_CODING_CASES` names.
/// `HYBZ_CASES_OF` may name a text from which blocks of 4 MB are made.
#[test]
#[ignore = "writes a file"]
fn coding_cases_for_the_kernels() {
    let path = std::env::var_os("HYBZ_CODING_CASES").expect("HYBZ_CODING_CASES names a file");
    let mut cases = Vec::new();
    if let Some(file) = std::env::var_os("HYBZ_CASES_OF") {
        let text = std::fs::read(file).unwrap();
        write_coding_case(&mut cases, &text.chunks(4 << 20).map(<[u8]>::to_vec).collect::<Vec<_>>(), 15);
    } else {
        let made = |len: usize| SHAPES.iter().map(move |shape| (shape.make)(len)).filter(|text| text.len() >= 64);
        for len in [64, 4095, 4096, 5000] {
            made(len).for_each(|text| write_coding_case(&mut cases, &[text], 12));
        }
        write_coding_case(&mut cases, &made(3000).take(20).collect::<Vec<_>>(), 12);
        // Several segments, of which some rounds examine only a part; runs across their ends; many selectors.
        let words = (shape("words").make)(70_000);
        let mut mixed = Vec::new();
        for part in 0..31 {
            mixed
                .extend(words.iter().map(|&byte| if part % 3 == 0 { byte } else { byte.wrapping_mul(37 + part) & 15 }));
        }
        write_coding_case(&mut cases, &[mixed[..150_000].to_vec(), vec![7; 200_000], mixed[..65_536].to_vec()], 12);
        // More than 30 segments, so that some rounds use only a part of them: a minute and a half if kernels are
        // emulated.
        if std::env::var_os("HYBZ_LONG").is_some() {
            write_coding_case(&mut cases, &[mixed], 15);
        }
    }
    std::fs::write(path, cases).unwrap();
}

/// Writes a batch: the numbers of blocks, of entry_log and of rounds; the blocks' lengths and codes; the weights; for
/// each block its tokens, its entry points and the first choice; for each round whether it covers all segments; for
/// each round and block the prices and the choice; for each block the shares; the segments; their bytes.
fn write_coding_case(cases: &mut Vec<u8>, blocks: &[Vec<u8>], entry_log: u8) {
    let lengths: Vec<u32> = blocks.iter().map(|block| block.len() as u32).collect();
    let longest = blocks.iter().map(Vec::len).max().unwrap();
    let mut lane = FakeLane::new(LaneSize { max_blocks: blocks.len(), max_length: longest }, None);
    let mut at = 0;
    for block in blocks {
        lane.input()[at..at + block.len()].copy_from_slice(block);
        at += block.len();
    }
    let limit = Duration::from_secs(1);
    let begun = lane.tokens(&lengths, entry_log, &tally::weights(), limit).unwrap();
    let (about, entries, first) = (begun.blocks.to_vec(), begun.entries.to_vec(), begun.tallies.to_vec());
    let most = about.iter().map(|about| about.selectors as usize).max().unwrap();
    let (mut last, mut all_prices, mut tallies) = (first.clone(), Vec::new(), Vec::new());
    for round in tally::rounds(most) {
        let each = last.iter().zip(&about);
        let prices: Vec<PricesForDevice> = each
            .map(|(tally, about)| (&Prices::new(&tally.into(), round.free_moves, about.selectors as usize)).into())
            .collect();
        last = lane.choose(&prices, round.all, limit).unwrap().to_vec();
        all_prices.extend(prices);
        tallies.extend(last.clone());
    }
    let shares: Vec<SharesForDevice> = last
        .iter()
        .zip(&about)
        .map(|(tally, about)| {
            let (tokens, selectors) = Tally::from(tally).tables(about.selectors as usize);
            SharesForDevice::new(&tokens, &selectors)
        })
        .collect();
    let coded = lane.segments(&shares, limit).unwrap();

    let mut word = |word: u32| cases.extend(word.to_ne_bytes());
    [blocks.len() as u32, entry_log.into(), tally::rounds(most).count() as u32].into_iter().for_each(&mut word);
    lengths.iter().for_each(|&length| word(length));
    cases.extend(blocks.concat());
    let mut word = |word: u32| cases.extend(word.to_ne_bytes());
    tally::weights().into_iter().for_each(&mut word);
    for about in &about {
        about.used.into_iter().chain([about.tokens, about.selectors, about.step]).for_each(&mut word);
    }
    entries.into_iter().for_each(&mut word);
    let tally_words = |tally: &TallyByDevice| -> Vec<u32> {
        tally.tokens.iter().flatten().chain(tally.moves.iter().flatten()).copied().collect()
    };
    first.iter().flat_map(tally_words).for_each(&mut word);
    tally::rounds(most).for_each(|round| word(round.all.into()));
    let halves = |half: &u16| half.to_ne_bytes();
    for PricesForDevice { tokens, selectors } in &all_prices {
        cases.extend(tokens.iter().flatten().chain(selectors.iter().flatten()).flat_map(halves));
    }
    tallies.iter().flat_map(tally_words).for_each(|word| cases.extend(word.to_ne_bytes()));
    for SharesForDevice { tokens, selectors } in &shares {
        cases.extend(tokens.iter().flatten().chain(selectors.iter().flatten()).flat_map(halves));
    }
    for segment in coded.segments {
        cases.extend([segment.bits, segment.tokens].iter().flat_map(|word| word.to_ne_bytes()));
    }
    cases.extend(coded.bytes);
}
