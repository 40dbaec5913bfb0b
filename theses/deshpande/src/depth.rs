//! Figures 5.2 and 5.5: the common prefixes of neighbouring suffixes, and the rounds that a sort needs for them.
//!
//! Kasai's algorithm (CPM 2001) computes the common prefix of each suffix with its predecessor in sorted order from
//! libsais's suffix array.

use crate::{INTERVALS, SIZES};
use libsais::SuffixArrayConstruction;

/// The number of bytes that one round of the thesis's string sort compares.
const STEP: u32 = 8;

/// The length of each suffix's common prefix with its predecessor in sorted order, by position in the block.
fn common_prefixes(block: &[u8]) -> Vec<u32> {
    let mut suffixes = vec![0i32; block.len() + 2048];
    SuffixArrayConstruction::for_text(block).in_borrowed_buffer(&mut suffixes).single_threaded().run().expect("memory");
    let suffixes = &suffixes[..block.len()];
    let mut ranks = vec![0u32; block.len()];
    suffixes.iter().enumerate().for_each(|(rank, &suffix)| ranks[suffix as usize] = rank as u32);
    let mut lens = vec![0u32; block.len()];
    let mut same = 0;
    for at in 0..block.len() {
        let rank = ranks[at] as usize;
        if rank == 0 {
            same = 0;
            continue;
        }
        let before = suffixes[rank - 1] as usize;
        same += block[at + same..].iter().zip(&block[before + same..]).take_while(|(a, b)| a == b).count();
        lens[at] = same as u32;
        same = same.saturating_sub(1);
    }
    lens
}

/// A block with a byte inserted after every `interval` bytes (0: unchanged).
fn perturbed(block: &[u8], interval: u32) -> Vec<u8> {
    if interval == 0 {
        return block.to_vec();
    }
    let mut state = 1u64;
    let mut out = Vec::with_capacity(block.len() + block.len() / interval as usize);
    for part in block.chunks(interval as usize) {
        out.extend_from_slice(part);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        out.push(block[(state >> 33) as usize % block.len()]);
    }
    out
}

fn each(text: &[u8], mut f: impl FnMut(usize, &str, Vec<u32>)) {
    for size in SIZES {
        for (interval, name) in INTERVALS {
            let lens = text.chunks(size).flat_map(|block| common_prefixes(&perturbed(block, interval))).collect();
            f(size, name, lens);
        }
    }
}

/// Figure 5.2: the mean and the longest common prefix, and the fraction of at least 8, 64, 512 and 4096 bytes.
pub fn depths(set: &str, text: &[u8]) {
    println!("set,block,perturbed,mean,deeper_8,deeper_64,deeper_512,deeper_4096,deepest");
    each(text, |size, name, lens| {
        let count = lens.len() as f64;
        let mean = lens.iter().map(|&len| f64::from(len)).sum::<f64>() / count;
        let deeper = [8, 64, 512, 4096].map(|depth| lens.iter().filter(|&&len| len >= depth).count() as f64 / count);
        let deeper = deeper.map(|part| format!("{part:.4}")).join(",");
        println!("{set},{size},{name},{mean:.1},{deeper},{}", lens.iter().max().unwrap_or(&0));
    });
}

/// Figure 5.5: the rounds of a sort that compares 8 bytes a round, and of one that doubles the depth each round.
pub fn rounds(set: &str, text: &[u8]) {
    println!("set,block,perturbed,rounds_of_8_bytes,rounds_of_doubling");
    each(text, |size, name, lens| {
        let deepest = lens.iter().max().unwrap_or(&0) + 1;
        println!(
            "{set},{size},{name},{},{}",
            deepest.div_ceil(STEP),
            u32::BITS - (deepest.div_ceil(STEP) - 1).leading_zeros() + 1
        );
    });
}
