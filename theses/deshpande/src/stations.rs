//! Tables 5.2 and 5.3: how one to all CPU cores share the work, without and with GPUs; and section 5.2.3: the ways to
//! divide the work on a block.

use crate::{INTERVALS, SIZES};
use hybz::internals::gpu::Offload;
use hybz::{Lanes, LargeBlocks, Level, Pool, Settings};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Instant;

/// With GPUs, a shorter text is repeated to at least this many bytes.
const MIN_WITH_GPUS: usize = 500_000_000;

/// Table 5.2: 1, 2, 4 .. all cores.
pub fn large_system(set: &str, text: &[u8]) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    by_number(set, text, std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < cores).chain([cores]));
}

/// Table 5.3: a system with few cores, of which he has two, and up to four threads.
pub fn small_system(set: &str, text: &[u8]) {
    by_number(set, text, 1..=4);
}

/// Compresses with these numbers of CPU stations, as `.hbz` of blocks of 9 MB perturbed by 0.1 % and as `.bz2`, without
/// GPU lanes and with them. (His first column, a GPU with the core that feeds it, cannot be had: hybz has at least one
/// CPU station.)
///
/// With lanes the text is compressed twice and the second run counts, because starting a device takes half a second.
fn by_number(set: &str, text: &[u8], numbers: impl Iterator<Item = usize>) {
    let gpus = hybz::internals::gpu::likely();
    let mut text = std::borrow::Cow::Borrowed(text);
    if gpus == 0 {
        println!("# no device: no lines with GPUs");
    } else {
        text = text.repeat(MIN_WITH_GPUS.div_ceil(text.len())).into();
        println!("# repeated: {} bytes", text.len());
    }
    println!("set,format,cpu,gpu,seconds,MB/s,of_one_core,blocks_by_station");
    let large = LargeBlocks::try_new(SIZES[2] as u32).expect("a block size").perturbation(INTERVALS[2].0, 0);
    let mut one_core = [0.0; 2];
    for number in numbers {
        let threads = NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
        for (at, (name, lanes, settings)) in [
            ("hbz-9M-0.1%", Lanes::for_large_blocks(&large), Settings::new().encoding(large)),
            ("bz2", Lanes::default(), Settings::new().level(Level::BEST)),
        ]
        .into_iter()
        .enumerate()
        {
            let pool = Pool::builder().threads(threads).build();
            let coded = line(&text, &settings, pool, &format!("{set},{name},{number},0"), false, &mut one_core[at]);
            if gpus > 0 {
                let pool = Pool::builder().threads(threads).accelerators(&lanes.at_once(true)).build();
                let name = format!("{set},{name},{number},{gpus}");
                let same = line(&text, &settings, pool, &name, true, &mut one_core[at]);
                assert!(coded == same, "GPUs and cores write the same bytes");
            }
        }
    }
}

/// Compresses in blocks of 900 kB (as `.bz2`), 4.5 and 9 MB (as `.hbz`): on all cores; then with GPUs too, in the
/// thesis's hybrid shape, with GPUs that sort everything, and in the resident shape. All write the same bytes.
pub fn by_shape(set: &str, text: &[u8]) {
    let gpus = hybz::internals::gpu::likely();
    let text = if gpus > 0 { text.repeat(MIN_WITH_GPUS.div_ceil(text.len())) } else { text.to_vec() };
    println!("# {} bytes", text.len());
    println!("set,block,shape,seconds,MB/s,of_cores,blocks_by_station");
    for size in SIZES {
        let mut first = 0.0;
        let large = LargeBlocks::try_new(size as u32).filter(|_| size > 900_000);
        let settings = Settings::new().level(Level::BEST);
        let (settings, lanes, [hybrid, sorts, resident]) = match large {
            None => (settings, Lanes::default(), [Offload::Hybrid, Offload::Bwt, Offload::Resident]),
            Some(large) => {
                let offloads = [Offload::HybridLarge, Offload::Suffixes, Offload::CodeLarge];
                (settings.encoding(large), Lanes::for_large_blocks(&large), offloads)
            }
        };
        let coded = line(&text, &settings, Pool::builder().build(), &format!("{set},{size},cores"), false, &mut first);
        for (name, offload) in [("hybrid", hybrid), ("sorts", sorts), ("resident", resident)] {
            if gpus > 0 {
                let lanes = lanes.clone().offload(offload).at_once(true);
                let pool = Pool::builder().accelerators(&lanes).build();
                let name = format!("{set},{size},{name}");
                let made = line(&text, &settings, pool, &name, true, &mut first);
                assert!(coded == made, "GPUs and cores write the same bytes");
            }
        }
    }
}

/// Measures and prints one line of the table, which begins with `name`. Returns the compressed bytes. `first` becomes
/// the seconds of the first line, with which the others are compared.
fn line(text: &[u8], settings: &Settings, pool: Pool, name: &str, warm_up: bool, first: &mut f64) -> Vec<u8> {
    let settings = settings.clone().pool(&pool);
    let blocks =
        || -> BTreeMap<String, u64> { pool.summary().stations.into_iter().map(|s| (s.name, s.blocks)).collect() };
    if warm_up {
        hybz::compress(text, &settings).expect("memory");
    }
    let before = blocks();
    let start = Instant::now();
    let coded = hybz::compress(text, &settings).expect("memory");
    let seconds = start.elapsed().as_secs_f64();
    let done = |(name, blocks): (String, u64)| {
        let done = blocks - before.get(&name).copied().unwrap_or(0);
        format!("{}:{done}", name.replace(' ', "_"))
    };
    let shares: Vec<String> = blocks().into_iter().map(done).collect();
    if *first == 0.0 {
        *first = seconds;
    }
    let (speed, ratio) = (text.len() as f64 / 1e6 / seconds, *first / seconds);
    println!("{name},{seconds:.2},{speed:.0},{ratio:.2},{}", shares.join(" "));
    coded
}
