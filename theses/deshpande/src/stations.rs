//! Tables 5.2 and 5.3: how one to all CPU cores share the work, without and with GPUs.

use hybz::{Lanes, LargeBlocks, Level, Pool, Settings};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Instant;

/// With GPUs, a shorter text is repeated to at least this many bytes.
const MIN_WITH_GPUS: usize = 1_000_000_000;

/// Compresses with 1, 2, 4 .. CPU stations, as `.hbz` of 9 MB blocks and as `.bz2`, without GPU lanes and with them.
///
/// With lanes the text is compressed twice and the second run counts, because starting a device takes half a second.
pub fn by_number(set: &str, text: &[u8]) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let numbers = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < cores).chain([cores]);
    let gpus = hybz::internals::gpu::likely();
    let mut text = std::borrow::Cow::Borrowed(text);
    if gpus == 0 {
        println!("# no device: no lines with GPUs (Table 5.3)");
    } else {
        text = text.repeat(MIN_WITH_GPUS.div_ceil(text.len())).into();
        println!("# repeated: {} bytes", text.len());
    }
    println!("set,format,cpu,gpu,seconds,MB/s,blocks_by_station");
    let large = LargeBlocks::try_new(9_000_000).expect("a block size");
    for number in numbers {
        let number = NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
        for (name, lanes, settings) in [
            ("hbz-9M", Lanes::for_large_blocks(&large), Settings::new().encoding(large)),
            ("bz2", Lanes::default(), Settings::new().level(Level::BEST)),
        ] {
            let pool = Pool::builder().threads(number).build();
            let coded = line(&text, &settings, pool, &format!("{set},{name},{number},0"), false);
            if gpus > 0 {
                let pool = Pool::builder().threads(number).accelerators(&lanes.at_once(true)).build();
                let name = format!("{set},{name},{number},{gpus}");
                assert!(coded == line(&text, &settings, pool, &name, true), "GPUs and cores write the same bytes");
            }
        }
    }
}

/// Measures and prints one line of the table, which begins with `name`. Returns the compressed bytes.
fn line(text: &[u8], settings: &Settings, pool: Pool, name: &str, warm_up: bool) -> Vec<u8> {
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
    println!("{name},{seconds:.2},{:.0},{}", text.len() as f64 / 1e6 / seconds, shares.join(" "));
    coded
}
