//! Figure 4.1 of Patel's thesis (2012): the links on which it pays to compress, send and decompress.
//!
//! With a link of B bytes a second and a ratio r, compressing at R bytes a second before sending takes less time than
//! sending the text if 1/R + r/B < 1/B, which is R > B / (1 - r): his figure is this R by B and r. The same holds of
//! decompressing after sending. So a rate R pays on every link slower than R (1 - r).

use hybz::{Lanes, Pool, Settings};
use std::time::Instant;

/// Speeds of links in GB/s: PCIe 1.0 x4 to PCIe 6.0 x16, as in his figure and after it.
const LINKS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
const RUNS: usize = 3;

/// GB/s of text in the best of several runs.
fn rate<T>(bytes: usize, run: impl Fn() -> T) -> f64 {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    bytes as f64 / 1e9 / (0..RUNS).map(once).fold(f64::MAX, f64::min)
}

pub fn pays(set: &str, text: &[u8]) {
    println!(
        "# Patel 2012: compressing has to do 1 GB/s (a link of 1 GB/s, ratio 0.01) to 32 (16 GB/s, 0.50). His did"
    );
    println!("# 0.001 to 0.007. Here: from memory to memory, all cores and GPUs of this machine.");
    let pool = Pool::builder().accelerators(&Lanes::default()).build();
    let settings = Settings::new().pool(&pool);
    let coded = hybz::compress(text, &settings).expect("memory");
    let ratio = coded.len() as f64 / text.len().max(1) as f64;
    let there = rate(text.len(), || hybz::compress(text, &settings).expect("memory"));
    let back = rate(text.len(), || {
        assert!(hybz::decompress(&coded, &settings).expect("our own stream") == text, "the text comes back");
    });
    println!("set,ratio,link_GB/s,needed_GB/s,compress_GB/s,compressing_pays,decompress_GB/s,decompressing_pays");
    for link in LINKS {
        let needed = link / (1.0 - ratio).max(f64::MIN_POSITIVE);
        println!("{set},{ratio:.3},{link},{needed:.2},{there:.3},{},{back:.3},{}", there > needed, back > needed);
    }
}
