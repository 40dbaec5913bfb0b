//! Figures 5.2 and 5.5: sorting depths, and the times of the thesis's sort and its parts.

use crate::perturbed::perturbed;
use crate::suffixes::{self, Scheme, Sorted};
use crate::{INTERVALS, SIZES, device, speed};
use std::time::{Duration, Instant};
use theses_common::ties::{common_prefixes, suffixes as suffixes_of};

/// The time for one block by one scheme of figure 5.2.
const MOST: Duration = Duration::from_secs(30);

/// Figure 5.2: the first block of 4.5 MB. (a) The steps and the time of sorting two thirds of the suffixes, by the
/// number of characters that steps compare. (b) The time of sorting all suffixes, of the two thirds, of the others from
/// these, and of the merge.
pub fn schemes(set: &str, text: &[u8]) {
    let block = &text[..text.len().min(SIZES[1])];
    println!("set,part,scheme,steps,suffixes_in_all_steps,characters,seconds");
    let line = |part: &str, scheme: &str, sorted: &Sorted| {
        let Sorted { steps, sorted, depth, time, ended, .. } = sorted;
        let more = if *ended { "" } else { "+" };
        println!("{set},{part},{scheme},{steps}{more},{sorted}{more},{depth}{more},{:.2}{more}", time.as_secs_f64());
    };
    let all: Vec<u32> = (0..block.len() as u32).collect();
    let sample: Vec<u32> = all.iter().copied().filter(|place| place % 3 != 0).collect();
    for (scheme, name) in [(Scheme::Constant, "constant"), (Scheme::Doubling, "doubling")] {
        line("a", name, &suffixes::sort(block, sample.clone(), scheme, MOST));
    }
    let parts = suffixes::in_parts(block);
    line("a", "16 and doubling", &parts.two_thirds);
    let full = suffixes::sort(block, all, Scheme::Both, Duration::MAX);
    assert!(parts.order == full.order && full.order == suffixes_of(block), "the parts are merged to all suffixes");
    let seconds = [full.time, parts.two_thirds.time, parts.third, parts.merge].map(|time| time.as_secs_f64());
    println!("set,part,all,two_thirds,the_third,merge,times_as_fast,with_merge");
    let [full, two, third, merge] = seconds;
    let ratios = [full / (two + third), full / (two + third + merge)];
    println!("{set},b,{full:.2},{two:.2},{third:.3},{merge:.3},{:.2},{:.2}", ratios[0], ratios[1]);
}

/// Figure 5.5: the deepest and the mean common prefix of neighbouring suffixes (MSD, ASD), and the seconds for all
/// blocks of: bzip2's sort and libsais on one core, the device's sort with transfers, and the merge on one core.
pub fn by_depth(set: &str, text: &[u8]) {
    println!("set,block,perturbed,MSD,ASD,bzip2_sort,blocks_given_up,libsais,GPU_sort,merge");
    for size in SIZES {
        for (interval, name) in INTERVALS {
            let (mut deepest, mut sum, mut count) = (0, 0, 0);
            let (mut libsais, mut merge) = (0.0, 0.0);
            for block in text.chunks(size) {
                let block = perturbed(block, interval);
                let start = Instant::now();
                let order = suffixes_of(&block);
                libsais += start.elapsed().as_secs_f64();
                let lens = common_prefixes(&block, &order);
                deepest = deepest.max(lens.iter().copied().max().unwrap_or_default());
                sum += lens.iter().map(|&len| u64::from(len)).sum::<u64>();
                count += lens.len();
                let (others, sample): (Vec<u32>, Vec<u32>) = order.iter().copied().partition(|place| place % 3 == 0);
                let start = Instant::now();
                let merged = suffixes::merge(&block, &sample, &others);
                merge += start.elapsed().as_secs_f64();
                assert!(merged == order, "merged to all suffixes");
            }
            let (bzip2, given_up) = speed::bzip2_sort(text, size, interval);
            let device = speed::or_dash(device::sorting_seconds(text, size, interval));
            let mean = sum as f64 / count as f64;
            println!("{set},{size},{name},{deepest},{mean:.1},{bzip2:.2},{given_up},{libsais:.2},{device},{merge:.2}");
        }
    }
}
