//! Chapter 4 of Deshpande's thesis (2014), sorting strings: tables 4.1 to 4.5, figures 4.3 to 4.7.
//!
//! His figures are for a GTX 580, in milliseconds. Three programs measure the device, because its memory is out of
//! reach from here: `HYBZ_STRINGS`, of ../cuda/strings.cu, is his algorithm with today's primitives; `HYBZ_CUDA_BENCH`,
//! which `cuda/bench/build.sh` makes, is hybz; `HYBZ_THRUST`, of ../cuda/thrust_lines.cu, is the comparator
//! sort. All check the order of the lines that they sorted. Without them, the columns of the device are `-`.
//!
//! Figure 4.6 compares with Burstsort and with MSD radix sort on a core of 2009. Burstsort's program, which he got from
//! its authors, cannot be had; `msd` is a radix sort of the second kind.

use crate::lines::Strings;
use crate::msd;
use crate::rounds::{self, Numbers};
use crate::ties::Ties;
use hysort::{Order, sorted};
use std::env;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;
use theses_common::{datasets, fail, made};

/// The number of runs on cores; the best run counts.
const RUNS: usize = 2;

/// The thesis's factor from the time of the sorts to the whole, in equation 4.1.
const ALPHA: f64 = 2.5;

/// On a device the steps of texts up to this length are compared with the simulation's, which takes a minute for his.
const SIMULATED: usize = 100_000_000;

/// A set, and the thesis's figures for it.
struct Set {
    name: &'static str,
    /// Table 4.1: MiB, the longest tie and the mean of ties.
    ties: [u32; 3],
    /// Table 4.2: milliseconds of Thrust, of memory setup, sort, scatter and scan, kernels, and in total.
    times: [u32; 6],
    /// Tables 4.3 and 4.4: iterations with fixed and with adaptive numbers; milliseconds of fixed ones with all strings
    /// and without single ones, and of adaptive ones.
    steps: [u32; 5],
}

const SETS: [Set; 10] = [
    set("artificial-2", [98, 101, 101], [2744, 91, 35, 31, 61, 219], [26, 15, 357, 367, 127]),
    set("artificial-4", [162, 80, 13], [5813, 106, 197, 44, 87, 436], [21, 15, 2237, 601, 328]),
    set("artificial-5", [50, 100, 50], [1906, 60, 69, 24, 20, 175], [26, 17, 317, 299, 113]),
    set("dictcalls", [2, 35, 15], [113, 50, 7, 3, 1, 62], [9, 6, 38, 28, 11]),
    set("random-strings", [97, 5, 2], [257, 70, 6, 1, 5, 84], [2, 1, 31, 23, 12]),
    set("words", [118, 48, 7], [2122, 97, 97, 22, 35, 252], [13, 9, 1340, 423, 154]),
    set("url", [305, 215, 29], [8714, 153, 416, 102, 264, 936], [54, 37, 5331, 1160, 782]),
    set("genome", [302, 9, 8], [14219, 275, 189, 92, 164, 720], [3, 2, 0, 1488, 445]),
    set("sentences", [124, 63, 17], [1026, 79, 65, 18, 36, 199], [16, 11, 408, 219, 119]),
    set("pc-filelist", [656, 180, 59], [9234, 225, 705, 164, 313, 1409], [46, 33, 4791, 1723, 1182]),
];

const fn set(name: &'static str, ties: [u32; 3], times: [u32; 6], steps: [u32; 5]) -> Set {
    Set { name, ties, times, steps }
}

/// Calls `f` for each of the named sets (all, if none is named), with its text, cut at `HYBZ_MAX` bytes.
fn each(names: &[&str], f: impl Fn(&Set, &[u8])) {
    datasets::heading();
    for set in SETS.iter().filter(|set| names.is_empty() || names.contains(&set.name)) {
        let text = datasets::strings(set.name).expect("it is made if it is not on this machine");
        println!("# set {}: {} bytes", set.name, text.len());
        f(set, &text);
    }
}

/// A text in a temporary file, for other programs.
struct OnDisk(PathBuf);

impl OnDisk {
    fn new(text: &[u8]) -> OnDisk {
        let path = env::temp_dir().join(format!("hybz-theses-{}", std::process::id()));
        std::fs::write(&path, text).expect("room for a text");
        OnDisk(path)
    }

    /// The output of the program in `variable` for the file. `None` if there is no program, or if it fails, which is
    /// reported.
    fn ask(&self, variable: &str, before: &[&str], after: &[&str]) -> Option<String> {
        let output = Command::new(env::var_os(variable)?).args(before).arg(&self.0).args(after).output();
        let output = output.unwrap_or_else(|e| fail(&format!("{variable}: {e}")));
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(!text.contains("WRONG") && !text.contains("out of order"), "{variable}: {text}");
        if output.status.success() {
            return Some(text);
        }
        println!("# {variable} fails ({}): {}", output.status, text.replace('\n', " "));
        None
    }

    /// Milliseconds of hybz on the device, without transfers, in the bench's fastest run.
    fn hybz(&self) -> Option<f64> {
        let text = self.ask("HYBZ_CUDA_BENCH", &["lines"], &["1", "0"])?;
        text.lines().filter_map(bench_ms).reduce(f64::min)
    }

    /// The thesis's algorithm on the device: the rate of its sort in MKeys/s, and the reports of its three variants.
    fn thesis(&self) -> Option<(f64, [OnDevice; 3])> {
        let text = self.ask("HYBZ_STRINGS", &[], &[])?;
        let rate = text.lines().find_map(|line| line.strip_prefix("rate ")?.parse().ok())?;
        let variant = |name| text.lines().find_map(|line| OnDevice::parse(line.strip_prefix(name)?));
        Some((rate, [variant("adaptive ")?, variant("fixed ")?, variant("kept ")?]))
    }

    /// Milliseconds of Thrust's comparator sort.
    fn thrust(&self) -> Option<f64> {
        let text = self.ask("HYBZ_THRUST", &[], &[])?;
        text.split_once("bytes: ")?.1.split_once(" ms")?.0.parse().ok()
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A run of the thesis's algorithm on a device, in milliseconds.
#[derive(Debug, PartialEq)]
struct OnDevice {
    steps: u32,
    setup: f64,
    sort: f64,
    scan: f64,
    kernels: f64,
}

impl OnDevice {
    /// `steps setup sort scan kernels`.
    fn parse(line: &str) -> Option<OnDevice> {
        let numbers: Vec<f64> = line.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let [steps, setup, sort, scan, kernels] = numbers[..] else { return None };
        Some(OnDevice { steps: steps as u32, setup, sort, scan, kernels })
    }

    /// Without setup.
    fn ms(&self) -> f64 {
        self.sort + self.scan + self.kernels
    }
}

/// The device's milliseconds in a line of the bench: `counts | up, the steps, down | ..`.
fn bench_ms(line: &str) -> Option<f64> {
    let times: Vec<f64> = line.split('|').nth(1)?.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
    match &times[..] {
        [_, steps @ .., _] if !steps.is_empty() => Some(steps.iter().sum()),
        _ => None,
    }
}

fn ms(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.2}"))
}

fn ratio(value: Option<f64>, to: Option<f64>) -> String {
    ms(value.zip(to).map(|(value, to)| value / to))
}

/// Milliseconds of the fastest run.
fn fastest(run: impl Fn()) -> f64 {
    let timed = |_| {
        let start = Instant::now();
        run();
        1e3 * start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(timed).reduce(f64::min).expect("more than one run")
}

/// Milliseconds of hybz on this many cores, with all copies.
fn on_cores(text: &[u8], cores: usize) -> f64 {
    let pool = hysort::pool().threads(NonZeroUsize::new(cores).expect("a core")).build();
    fastest(|| assert_eq!(sorted(text, &Order::new(), &pool).expect("memory").len(), text.len(), "every line ends"))
}

/// Table 4.1.
pub fn ties(names: &[&str]) {
    println!("# His sets, by the columns thesis_.., are other ones where datasets.toml says so.");
    println!("set,strings,MiB,longest_tie,mean_tie,deviation,thesis_MiB,thesis_longest,thesis_mean");
    each(names, |set, text| {
        let (strings, [size, longest, mean]) = (Strings::new(text), set.ties);
        let found = Ties::of(&strings);
        println!(
            "{},{},{:.1},{},{:.1},{:.1},{size},{longest},{mean}",
            set.name,
            strings.len(),
            text.len() as f64 / f64::from(1 << 20),
            found.longest,
            found.mean,
            found.deviation
        );
    });
}

/// Tables 4.2 and 4.5, figures 4.4 and 4.5.
pub fn sets(names: &[&str]) {
    println!(
        "# Deshpande 2014, GTX 580 (table 4.2; a K20C of table 4.5 has 0.92 to 1.25 times its speed). Milliseconds."
    );
    println!(
        "# setup to total: his algorithm on this device; expected: by equation 4.1, alpha = {ALPHA}, and the rate of"
    );
    println!("# this device's sort (figure 4.4); primitives: the share of sort and scan without setup (figure 4.5).");
    println!(
        "set,strings,thrust,iterations,setup,sort,scan,kernels,total,speed_up,alpha,expected,primitives,hybz,\
         thrust/hybz,thesis_thrust,thesis_iterations,thesis_setup,thesis_sort,thesis_scan,thesis_kernels,thesis_total"
    );
    each(names, |set, text| {
        let (disk, count) = (OnDisk::new(text), Strings::new(text).len());
        let (thrust, hybz) = (disk.thrust(), disk.hybz());
        let his = match disk.thesis() {
            None => vec!["-".to_owned(); 10],
            Some((rate, [run, ..])) => {
                let (total, alpha) = (run.setup + run.ms(), run.ms() / run.sort);
                let expected = ALPHA * 1e-3 / rate * count as f64 * f64::from(run.steps);
                let share = (run.sort + run.scan) / run.ms();
                let times = [run.setup, run.sort, run.scan, run.kernels, total].map(|time| ms(Some(time)));
                let speed_up = ratio(thrust, Some(run.ms()));
                let rest = [speed_up, ms(Some(alpha)), ms(Some(expected)), ms(Some(share))];
                [run.steps.to_string()].into_iter().chain(times).chain(rest).collect()
            }
        };
        let [thesis_thrust, thesis @ ..] = set.times.map(|time| time.to_string());
        println!(
            "{},{count},{},{},{},{},{thesis_thrust},{},{}",
            set.name,
            ms(thrust),
            his.join(","),
            ms(hybz),
            ratio(thrust, hybz),
            set.steps[1],
            thesis.join(",")
        );
    });
}

/// Tables 4.3 and 4.4. Without a device, the iterations are those of a simulation of the algorithm.
pub fn variants(names: &[&str]) {
    println!(
        "# Deshpande 2014, GTX 580, without setup. His keys of 8 bytes: numbers of segments of 4 bytes with all strings"
    );
    println!(
        "# and without single ones (table 4.3, 0.9 to 4.5 times as fast), and of as few bytes as needed (table 4.4,"
    );
    println!("# 1.4 to 3.3 times as fast as fixed). thesis_kept of 0: he has no figure.");
    println!(
        "set,iterations_fixed,iterations_adaptive,kept_ms,fixed_ms,adaptive_ms,without_singles,adaptive,\
         thesis_iterations_fixed,thesis_iterations_adaptive,thesis_kept_ms,thesis_fixed_ms,thesis_adaptive_ms"
    );
    each(names, |set, text| {
        let strings = Strings::new(text);
        let simulate = || [Numbers::Fixed, Numbers::Adaptive].map(|numbers| rounds::sort(&strings, numbers).1);
        let device = OnDisk::new(text).thesis().map(|(_, runs)| runs);
        let [fixed, adaptive] = device.as_ref().map_or_else(simulate, |[few, four, _]| [four.steps, few.steps]);
        if device.is_some() && text.len() <= SIMULATED {
            assert_eq!(simulate(), [fixed, adaptive], "the device takes the simulation's steps");
        }
        let device = device.map(|runs| runs.map(|run| run.ms()));
        let [few, four, kept] = device.map_or([None; 3], |times| times.map(Some));
        println!(
            "{},{fixed},{adaptive},{},{},{},{},{},{}",
            set.name,
            ms(kept),
            ms(four),
            ms(few),
            ratio(kept, four),
            ratio(four, few),
            set.steps.map(|number| number.to_string()).join(",")
        );
    });
}

/// Figure 4.3: the device's sort by the length of keys.
pub fn keys(arguments: &[&str]) {
    println!("# Deshpande 2014: the time for a byte of key falls up to 8 bytes, and is a merge sort's beyond.");
    datasets::heading();
    match env::var_os("HYBZ_STRINGS") {
        None => println!("# HYBZ_STRINGS is not set: no device"),
        Some(program) => {
            let status = Command::new(program).arg("keys").args(arguments).status();
            assert!(status.is_ok_and(|status| status.success()), "HYBZ_STRINGS fails");
        }
    }
}

/// Figure 4.6: other sorts' times on a core, and how many times as long they are as the device's.
pub fn cores(names: &[&str]) {
    println!(
        "# Deshpande 2014: 4 to 17 times Burstsort and MSD radix sort on a core of a Core2Duo E7500. Milliseconds."
    );
    println!(
        "set,strings,msd_core,hybz_core,hybz_cores,thesis_algorithm,hybz_device,msd/thesis_algorithm,msd/hybz_device"
    );
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    each(names, |set, text| {
        let (disk, strings) = (OnDisk::new(text), Strings::new(text));
        let msd = Some(fastest(|| assert_eq!(msd::order(&strings).len(), strings.len())));
        let (thesis, hybz) = (disk.thesis().map(|(_, [run, ..])| run.ms()), disk.hybz());
        println!(
            "{},{},{},{:.2},{:.2},{},{},{},{}",
            set.name,
            strings.len(),
            ms(msd),
            on_cores(text, 1),
            on_cores(text, count),
            ms(thesis),
            ms(hybz),
            ratio(msd, thesis),
            ratio(msd, hybz)
        );
    });
}

/// Figure 4.7: sets of which every k-th character is taken, or each is repeated k times.
pub fn deviations(names: &[&str]) {
    println!(
        "# Deshpande 2014: words 0.4, 0.5, 1, 2.4, 3.3 times the time at 1/8, 1/4, 1, 2, 4 times the deviation of ties;"
    );
    println!("# pc-filelist 0.12, 0.23, 0.47, 1 at 1/8, 1/4, 1/2, 1.");
    println!("set,factor,bytes,mean_tie,deviation,iterations,thesis_algorithm_ms,of_1,hybz_ms,of_1,msd_core_ms");
    let names = if names.is_empty() { &["words", "pc-filelist"] } else { names };
    each(names, |set, text| {
        let mut whole = [None; 2];
        // The set itself comes first, because the others are compared with it.
        for (name, take, times) in [("1", 1, 1), ("1/8", 8, 1), ("1/4", 4, 1), ("1/2", 2, 1), ("2", 1, 2), ("4", 1, 4)]
        {
            let changed = changed(text, take, times);
            if changed.len() >= 1 << 32 {
                println!("# {name}: {} bytes are too many", changed.len());
                continue;
            }
            let (strings, disk) = (Strings::new(&changed), OnDisk::new(&changed));
            let ties = Ties::of(&strings);
            let thesis = disk.thesis().map(|(_, [run, ..])| run);
            let steps = thesis.as_ref().map_or_else(|| rounds::sort(&strings, Numbers::Adaptive).1, |run| run.steps);
            let found = [thesis.map(|run| run.ms()), disk.hybz()];
            whole = [whole[0].or(found[0]), whole[1].or(found[1])];
            println!(
                "{},{name},{},{:.1},{:.1},{steps},{},{},{},{},{:.2}",
                set.name,
                changed.len(),
                ties.mean,
                ties.deviation,
                ms(found[0]),
                ratio(found[0], whole[0]),
                ms(found[1]),
                ratio(found[1], whole[1]),
                fastest(|| assert_eq!(msd::order(&strings).len(), strings.len()))
            );
        }
    });
}

/// Every `take`-th character of each line, `times` times.
fn changed(text: &[u8], take: usize, times: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / take * times);
    for line in made::split(text) {
        line.iter().step_by(take).for_each(|byte| out.resize(out.len() + times, *byte));
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program for a device, its kernels emulated, sorts sets in as many steps as the simulation.
    #[test]
    fn the_emulated_program_takes_the_steps_of_the_simulation() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let folder = env::temp_dir().join(format!("hybz-strings-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let build = "sed 's/\\([a-z_]*\\)<<<\\(.*\\), 0, stream>>>(/emulated::launch(stream, \\1, \\2, /' \
            theses/deshpande/cuda/strings.cu >$0/strings.cpp && \
            g++ -std=c++17 -O2 -I cuda/sim/emulated -o $0/strings $0/strings.cpp";
        if Command::new("g++").arg("--version").output().is_err() {
            return println!("skipped: there is no g++");
        }
        let built = Command::new("sh").args(["-c", build]).arg(&folder).current_dir(root).status();
        assert!(built.is_ok_and(|status| status.success()), "it compiles");
        for set in ["artificial-2", "artificial-4", "words", "url", "sentences"] {
            let text = made::text(set, 30_000).expect("a set");
            std::fs::write(folder.join(set), &text).expect("room for a text");
            let output = Command::new(folder.join("strings")).arg(folder.join(set)).arg("1").output().expect("it runs");
            let report = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{set}: {report}");
            let steps =
                |name| OnDevice::parse(report.lines().find_map(|line| line.strip_prefix(name))?).map(|r| r.steps);
            let [fixed, adaptive] =
                [Numbers::Fixed, Numbers::Adaptive].map(|numbers| rounds::sort(&Strings::new(&text), numbers).1);
            let found = [steps("adaptive "), steps("fixed "), steps("kept ")];
            assert_eq!(found, [Some(adaptive), Some(fixed), Some(fixed)], "{set}");
        }
        let _ = std::fs::remove_dir_all(folder);
    }

    #[test]
    fn reports_of_the_programs() {
        let run = OnDevice { steps: 15, setup: 91.0, sort: 35.0, scan: 31.0, kernels: 61.5 };
        assert_eq!(OnDevice::parse("15 91.00 35.00 31.00 61.50"), Some(run));
        assert_eq!(OnDevice::parse("15 91.00"), None);
        assert_eq!(bench_ms("  9 7 2  8 | 1.00 0.25 0.50 2.00 | 3.1 4"), Some(0.75));
        assert_eq!(changed(b"abcde\n\nx\n", 2, 1), b"ace\n\nx\n");
        assert_eq!(changed(b"abc\n", 1, 2), b"aabbcc\n");
    }
}
