//! Tables 4.1 and 4.2 of Ching's thesis (2014): suffix arrays, exact factors, and his PLZ, which cuts factors at the
//! ends of equal divisions.
//!
//! His figures are for a GTX Titan Black, and for CPUs of 2008 and 2013. His files are no longer available, so each
//! table states his figures as ranges. The rows for cores are one core in the manner of KKP3, and all cores, each with
//! a copy of the text. The GPU's time covers all steps, with the transfers of the text and of the factors; each factor
//! is compared with a core's.

use crate::device::{Device, Found};
use crate::linked;
use hybz_factor::neighbours::{Pair, by_position};
use hybz_factor::parse::Parse;
use hybz_factor::{factors, suffixes};
use std::thread;
use std::time::Instant;
use theses_common::datasets::each_or_made as each;

/// The number of runs; the best run counts.
const RUNS: usize = 3;
/// The number of divisions in his table 4.2.
const IN_TABLE: usize = 480;
pub const NO_GPU: &str = "no device";

/// The seconds of each step, and the results.
pub struct Steps {
    pub sort: f64,
    pub neighbours: f64,
    pub parse: f64,
    pub factors: usize,
}

impl Steps {
    pub fn all(&self) -> f64 {
        self.sort + self.neighbours + self.parse
    }

    /// The fastest of several runs on one core.
    pub fn of(text: &[u8]) -> Steps {
        let all = (0..RUNS).map(|_| {
            let start = Instant::now();
            let sorted = suffixes::sort(text).expect("memory");
            let sort = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let pairs = by_position(sorted).expect("memory");
            let neighbours = start.elapsed().as_secs_f64();
            let (parse, factors) = parsed(text, &pairs, 1);
            Steps { sort, neighbours, parse, factors }
        });
        all.min_by(|a, b| a.all().total_cmp(&b.all())).expect("more than one run")
    }
}

/// The seconds, and the number of factors cut at the ends of this many equal divisions.
pub fn parsed(text: &[u8], pairs: &[Pair], divisions: usize) -> (f64, usize) {
    let start = Instant::now();
    let end = |number: usize| (text.len() as u128 * number as u128 / divisions as u128) as usize;
    let count = |number: usize| {
        let mut parse = Parse::part(end(number), end(number + 1));
        std::iter::from_fn(|| parse.next(text, pairs)).count()
    };
    let all = (0..divisions).map(count).sum();
    (start.elapsed().as_secs_f64(), all)
}

/// The rate at which all cores factorize, each its own text.
fn on_all_cores(text: &[u8]) -> f64 {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| factors(text).expect("memory").count());
        }
    });
    (text.len() * cores) as f64 / 1e6 / start.elapsed().as_secs_f64()
}

/// Table 4.1: suffix arrays.
pub fn suffix_arrays(names: &[&str]) {
    println!(
        "# Ching 2014, GTX Titan Black: 0.025 to 0.033 us a byte (30 to 40 MB/s), 1.4 to 5.2 times a CPU of 2008."
    );
    each(names, |set, text| {
        println!("set,bytes,core_us_per_byte,core_MB/s,GPU_us_per_byte,GPU_MB/s,GPU_times_core");
        let times = (0..RUNS).map(|_| {
            let start = Instant::now();
            drop(suffixes::sort(text).expect("memory"));
            start.elapsed().as_secs_f64()
        });
        let seconds = times.min_by(f64::total_cmp).expect("more than one run");
        let (len, micros) = (text.len(), seconds * 1e6 / text.len() as f64);
        let gpu = Device::open(text).map_or([NO_GPU; 3].join(","), |mut device| {
            let found = device.find(1);
            let there = (found.step("upload") + found.step("sort")) * 1e6 / len as f64;
            format!("{there:.5},{:.0},{:.1}", 1.0 / there, micros / there)
        });
        println!("{set},{len},{micros:.4},{:.1},{gpu}", 1.0 / micros);
    });
}

/// Table 4.2: factors.
pub fn factorization(names: &[&str]) {
    println!("# Ching 2014, GTX Titan Black: 0.3 to 4.3 s for 9.5 to 111 MB (about 26 MB/s), 15.8 to 23.5 times LZ-OG");
    println!(
        "# and 13.5 to 18.9 times LZ-ANSV on a core, 1.13 to 1.48 times PLZ3 on 40 cores; with {IN_TABLE} divisions"
    );
    println!(
        "# 0.003 to 0.028 % more factors, 23950 % more of 10 million identical bytes. A core here does as KKP3 does;"
    );
    println!("# `lists_s': one core by linked lists, as LZ-OG does (linked.rs).");
    each(names, |set, text| {
        println!(
            "set,bytes,factors,sort_s,neighbours_s,parse_s,core_s,core_MB/s,all_cores_MB/s,factors_{IN_TABLE},more,\
             lists_s,GPU_device_s,GPU_s,GPU_MB/s,GPU_times_core,GPU_factors_{IN_TABLE}"
        );
        let steps = Steps::of(text);
        let pairs = by_position(suffixes::sort(text).expect("memory")).expect("memory");
        let (_, cut) = parsed(text, &pairs, IN_TABLE);
        let gpu = Device::open(text).map(|mut device| {
            device.verify(&pairs);
            let (exact, cut_too) = (device.find(1), device.find(IN_TABLE));
            assert!((exact.factors, cut_too.factors) == (steps.factors, cut), "as many as a core finds");
            exact
        });
        drop(pairs);
        let start = Instant::now();
        assert!(linked::factors(text) == steps.factors, "as many by linked lists");
        let lists = start.elapsed().as_secs_f64();
        let Steps { sort, neighbours, parse, factors } = &steps;
        let (len, all) = (text.len(), steps.all());
        let (rate, cores) = (len as f64 / 1e6 / all, on_all_cores(text));
        let times = [*sort, *neighbours, *parse, all].map(|seconds| format!("{seconds:.3}")).join(",");
        let more = more(cut, *factors);
        let gpu = gpu.map_or([NO_GPU; 5].join(","), |found: Found| {
            let (device, whole) = (found.device(), found.all);
            format!("{device:.4},{whole:.4},{:.0},{:.0},{cut}", len as f64 / 1e6 / whole, all / whole)
        });
        println!("{set},{len},{factors},{times},{rate:.1},{cores:.1},{cut},{more:.4}%,{lists:.3},{gpu}");
    });
}

/// One number of divisions.
pub fn divisions(divisions: usize, names: &[&str]) {
    each(names, |set, text| {
        let pairs = by_position(suffixes::sort(text).expect("memory")).expect("memory");
        let ((_, exact), (seconds, factors)) = (parsed(text, &pairs, 1), parsed(text, &pairs, divisions.max(1)));
        println!("set,divisions,parse_s,factors,exact,more");
        println!("{set},{divisions},{seconds:.3},{factors},{exact},{:.4}%", more(factors, exact));
    });
}

/// The percentage of additional factors.
pub fn more(factors: usize, exact: usize) -> f64 {
    100.0 * (factors as f64 / exact.max(1) as f64 - 1.0)
}
