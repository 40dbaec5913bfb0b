//! Tables 5.2 and 5.3: how the work is shared by one to all CPU cores, without and with GPUs.

use hybz::station::gpu::Lanes;
use hybz::{LargeBlocks, Level, Pool, Settings};
use std::num::NonZeroUsize;
use std::time::Instant;

/// Compresses with 1, 2, 4 .. CPU stations, `.hbz` at 9 MB and `.bz2`; `.bz2` with GPU lanes too where there are any.
pub fn by_number(text: &[u8]) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let numbers = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < cores).chain([cores]);
    let gpus = hybz::gpu::likely() > 0;
    println!("format cpu gpu seconds blocks_by_station");
    if !gpus {
        println!("# no device: the lines with GPUs (Table 5.3) are missing");
    }
    for number in numbers {
        for (name, large, gpu) in [("hbz-9M", true, false), ("bz2", false, false), ("bz2", false, true)] {
            if gpu && !gpus {
                continue;
            }
            let mut pool = Pool::builder().threads(NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN));
            if gpu {
                pool = Lanes { after: 0, ..Lanes::default() }.add_to(pool);
            }
            let pool = pool.build();
            let settings = Settings::new().pool(&pool).level(Level::BEST);
            let blocks = LargeBlocks::try_new(9_000_000).expect("a block size");
            let settings = if large { settings.large_blocks(blocks) } else { settings };
            let start = Instant::now();
            let coded = hybz::compress(text, &settings).expect("memory");
            let seconds = start.elapsed().as_secs_f64();
            assert!(!coded.is_empty());
            let shares: Vec<String> =
                pool.summary().stations.iter().map(|s| format!("{}:{}", s.name.replace(' ', "_"), s.blocks)).collect();
            println!("{name} {number} {} {seconds:.2} {}", u8::from(gpu), shares.join(","));
        }
    }
}
