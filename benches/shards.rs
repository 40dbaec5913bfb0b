//! Times making a plan and joining parts. The plan is compared with reading alone and with cutting alone.
//!
//! ```text
//! cargo bench --bench shards -- FILE [ROUNDS]
//! ```
//!
//! All take turns, ROUNDS times (7). It prints the medians in GB/s, and the medians of the ratios within a round. The
//! parts are pieces of FILE of 4 MB each, repeated up to a gigabyte. The files are in TMPDIR; joining into a file is
//! compared with copying the parts there. `benches/shards.sh` measures the command.

use hybz::shard::{self, Joiner, Shard};
use hybz::{Level, Settings};
use std::fs::File;
use std::io::{Read, Write};
use std::time::Instant;

fn main() {
    // cargo adds --bench.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let Some(path) = words.next() else { return println!("cargo bench --bench shards -- FILE [ROUNDS]") };
    let rounds: usize = words.next().map_or(7, |rounds| rounds.parse().expect("a number of rounds"));
    let text = std::fs::read(&path).expect("FILE can be read");
    let open = || File::open(&path).expect("FILE can be read");

    let mut shards = Vec::new();
    let planned = shard::plan(&text[..], Level::BEST, 4_000_000, |shard| {
        shards.push(shard);
        Ok(())
    });
    planned.expect("a plan");
    let part = |shard: &Shard| hybz::compress(&text[shard.text()], &Settings::new()).expect("a part");
    let parts: Vec<Vec<u8>> = shards.iter().map(part).collect();
    let coded: usize = parts.iter().map(Vec::len).sum();
    let repeat = (1usize << 30).div_ceil(coded);
    let directory = tempfile::tempdir().expect("a directory");
    let names: Vec<_> = (0..parts.len()).map(|number| directory.path().join(number.to_string())).collect();
    names.iter().zip(&parts).for_each(|(name, part)| std::fs::write(name, part).expect("a part"));

    let mut rates: [Vec<f64>; 5] = Default::default();
    for _ in 0..rounds {
        let mut time = |which: usize, bytes: usize, work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            rates[which].push(bytes as f64 / start.elapsed().as_secs_f64() / 1e9);
        };
        time(0, text.len(), &mut || assert!(shard::split(open(), Level::BEST).expect("blocks") > 0));
        time(1, text.len(), &mut || {
            shard::plan(open(), Level::BEST, 4_000_000, |_| Ok(())).expect("a plan");
        });
        let join = |out: &mut dyn Write| {
            let mut joiner = Joiner::new(Level::BEST, out);
            for _ in 0..repeat {
                for (shard, name) in shards.iter().zip(&names) {
                    joiner.part(shard, &File::open(name).expect("a part")).expect("a part");
                }
            }
            joiner.finish().expect("the end");
        };
        time(2, coded * repeat, &mut || join(&mut std::io::sink()));
        let whole = directory.path().join("whole");
        time(3, coded * repeat, &mut || join(&mut File::create(&whole).expect("a file")));
        let mut room = vec![0; 256 << 10];
        time(4, coded * repeat, &mut || {
            let mut out = File::create(&whole).expect("a file");
            for name in (0..repeat).flat_map(|_| &names) {
                let mut part = File::open(name).expect("a part");
                while let n @ 1.. = part.read(&mut room).expect("a part") {
                    out.write_all(&room[..n]).expect("a file");
                }
            }
        });
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let ratio = median(rates[0].iter().zip(&rates[1]).map(|(split, plan)| plan / split).collect());
    let [split, plan, join, to_file, copy] = rates.map(median);
    println!("reading and cutting {split:.2} GB/s, plan {plan:.2} GB/s: {ratio:.2}");
    println!("join {join:.2} GB/s of compressed data, into a file {to_file:.2}, copying {copy:.2}");
}
