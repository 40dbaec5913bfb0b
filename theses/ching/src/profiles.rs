//! Figures 4.2, 4.4 and 4.5 of Ching's thesis (2014): profiles, and his PLZ by the number of divisions.

use crate::device::{Device, sort_profile};
use crate::factors::{NO_GPU, Steps, more, parsed};
use hybz_factor::neighbours::by_position;
use hybz_factor::suffixes;
use theses_common::datasets::each_or_made as each;

/// Ching's divisions are 15 times a power of two, up to 30,720: his GPU had 15 multiprocessors.
const DIVISIONS: usize = 15;
const POWERS: u32 = 12;

/// Figure 4.2: the share of each step of the suffix sort on a device.
pub fn sort(names: &[&str]) {
    println!("# Ching 2014: kernels other than merging and sorting take the greatest share.");
    each(names, |set, text| {
        println!("set,step,ms,share");
        let Some(steps) = sort_profile(text) else { return println!("# {NO_GPU}") };
        let all: f64 = steps.iter().map(|(_, ms)| ms).sum();
        for (step, ms) in steps {
            println!("{set},{step},{ms:.3},{:.1}%", 100.0 * ms / all);
        }
    });
}

/// Figure 4.4: time and factors by the number of divisions.
pub fn divisions(names: &[&str]) {
    println!("# Ching 2014: 480 divisions make 0.01 % more factors, 30,720 make 1.54 %, in 0.7 of the time.");
    each(names, |set, text| {
        let mut device = Device::open(text);
        let pairs = by_position(suffixes::sort(text).expect("memory")).expect("memory");
        let (_, exact) = parsed(text, &pairs, 1);
        println!("set,divisions,parse_s,factors,more,GPU_longest_and_path_s");
        for divisions in std::iter::once(1).chain((0..POWERS).map(|power| DIVISIONS << power)) {
            let (seconds, factors) = parsed(text, &pairs, divisions);
            let gpu = device.as_mut().map_or(NO_GPU.to_owned(), |device| {
                let found = device.find(divisions);
                assert!(found.factors == factors, "as many as a core finds");
                format!("{:.4}", found.step("longest") + found.step("path"))
            });
            println!("{set},{divisions},{seconds:.3},{factors},{:.4}%,{gpu}", more(factors, exact));
        }
    });
}

/// Figure 4.5: the share of each step.
pub fn steps(names: &[&str]) {
    println!("# Ching 2014: the suffix array takes 81 % of the time.");
    each(names, |set, text| {
        let steps = Steps::of(text);
        println!("set,step,seconds,share");
        for (step, seconds) in [("sort", steps.sort), ("neighbours", steps.neighbours), ("parse", steps.parse)] {
            println!("{set},core {step},{seconds:.3},{:.1}%", 100.0 * seconds / steps.all());
        }
        let Some(found) = Device::open(text).map(|mut device| device.find(1)) else { return };
        for step in ["sort", "neighbours", "longest", "path"] {
            let seconds = found.step(step);
            println!("{set},GPU {step},{seconds:.4},{:.1}%", 100.0 * seconds / found.device());
        }
    });
}
