//! Tables 4.2 to 4.5 and figures 4.6 and 4.7 of Deshpande's thesis (2014): sorting lines.
//!
//! His figures are for a GTX 580, in milliseconds. Two programs measure the device, because its memory is out of reach
//! from here: `HYBZ_CUDA_BENCH`, which `cuda/bench/build.sh` makes, and `HYBZ_THRUST`, of
//! `cuda/bench/peers/thrust_lines.cu`. Both check the order of the lines that they sorted. Figure 4.6 compares with
//! Burstsort and MSD radix sort on a core of 2013; here the cores of hybz itself stand for them, in the columns of
//! table 4.2.

use hysort::{Order, sorted};
use std::env;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;
use theses_common::{datasets, fail};

/// The number of runs on cores; the best run counts.
const RUNS: usize = 3;
/// The number of lines of the generated sets.
const MADE: usize = 10_000_000;
const NO_DEVICE: &str = "no device";

/// `HYBZ_LINES_...` of `cuda/hybz.h`.
const RAW: u32 = 4;
const FIXED: u32 = 8;
const KEEP: u32 = 16;
const STEPWISE: u32 = 32;
const ROUNDS: u32 = 64;
/// The thesis's algorithm.
const THESIS: u32 = RAW | STEPWISE | ROUNDS;

/// A set, and the thesis's figures for the corresponding one: milliseconds in total, and for memory.
struct Set {
    name: &'static str,
    printed: (u32, u32),
    make: fn() -> Option<Vec<u8>>,
}

const SETS: [Set; 6] = [
    Set { name: "words", printed: (252, 97), make: || file("words").map(shuffled) },
    Set { name: "url", printed: (936, 153), make: || file("paths").map(|paths| shuffled(urls(&paths))) },
    Set { name: "genome", printed: (720, 275), make: || Some(letters(b"ACGT", 9)) },
    Set { name: "sentences", printed: (199, 79), make: || file("dickens").map(|text| sentences(&text)) },
    Set { name: "pc-filelist", printed: (1409, 225), make: || file("paths").map(shuffled) },
    Set { name: "random", printed: (84, 70), make: || Some(letters(b"abcdefghijklmnopqrstuvwxyz", 12)) },
];

/// A file of `$HYBZ_DATA` or the cache: `dickens` of `datasets.toml`, or a list of words or of paths, a line each.
fn file(name: &str) -> Option<Vec<u8>> {
    std::fs::read(datasets::place(name)?).ok()
}

/// A pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Lines in random order: lists are mostly sorted already, which flatters a merge sort.
fn shuffled(text: Vec<u8>) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.strip_suffix(b"\n").unwrap_or(&text).split(|&byte| byte == b'\n').collect();
    let mut random = Random(1);
    for last in (1..lines.len()).rev() {
        lines.swap(last, random.below(last + 1));
    }
    joined(&lines)
}

fn joined<S: AsRef<[u8]>>(lines: &[S]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line.as_ref());
        text.push(b'\n');
    }
    text
}

/// The addresses of these files on a web server.
fn urls(paths: &[u8]) -> Vec<u8> {
    let lines = paths.split(|&byte| byte == b'\n').filter(|path| !path.is_empty());
    joined(&lines.map(|path| [b"http://www.example.org", path].concat()).collect::<Vec<_>>())
}

/// A line for each sentence.
fn sentences(text: &[u8]) -> Vec<u8> {
    let whole = String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ");
    joined(&whole.split_inclusive(['.', '!', '?']).map(str::trim).filter(|s| !s.is_empty()).collect::<Vec<_>>())
}

/// Lines of `length` random letters.
fn letters(alphabet: &[u8], length: usize) -> Vec<u8> {
    let mut random = Random(1);
    let mut text = Vec::with_capacity(MADE * (length + 1));
    for _ in 0..MADE {
        text.extend((0..length).map(|_| alphabet[random.below(alphabet.len())]));
        text.push(b'\n');
    }
    text
}

/// Calls `f` for each of the named sets (all, if none is named), with its text, cut at `HYBZ_MAX` bytes.
fn each(names: &[&str], f: impl Fn(&Set, &[u8])) {
    datasets::heading();
    let max = datasets::max_bytes();
    for set in SETS.iter().filter(|set| names.is_empty() || names.contains(&set.name)) {
        let Some(mut text) = (set.make)() else {
            println!("# set {}: its list is not on this machine", set.name);
            continue;
        };
        if text.len() > max {
            let end = text[..max].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            text.truncate(end);
        }
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

    /// The CUDA bench's report of its fastest run.
    fn device(&self, flags: u32) -> Option<OnDevice> {
        let text = self.ask("HYBZ_CUDA_BENCH", &["lines"], &["1", &flags.to_string()])?;
        text.lines().filter_map(OnDevice::parse).min_by(|a, b| a.ms.total_cmp(&b.ms))
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

/// A run on a device: `lines tied rounds again | up, the steps, down | ..`, times in milliseconds.
#[derive(Debug, PartialEq)]
struct OnDevice {
    tied: u64,
    rounds: u64,
    again: u64,
    /// Without transfers.
    ms: f64,
}

impl OnDevice {
    fn parse(line: &str) -> Option<OnDevice> {
        let mut parts = line.split('|');
        let counts: Vec<u64> = parts.next()?.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let times: Vec<f64> = parts.next()?.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        match (&counts[..], &times[..]) {
            (&[_, tied, rounds, again], [_, steps @ .., _]) if !steps.is_empty() => {
                Some(OnDevice { tied, rounds, again, ms: steps.iter().sum() })
            }
            _ => None,
        }
    }
}

fn ms(value: Option<f64>) -> String {
    value.map_or(NO_DEVICE.to_owned(), |value| format!("{value:.2}"))
}

fn ratio(value: Option<f64>, to: Option<f64>) -> String {
    value.zip(to).map_or(NO_DEVICE.to_owned(), |(value, to)| format!("{:.2}", value / to))
}

/// Milliseconds on this many cores.
fn on_cores(text: &[u8], cores: usize) -> f64 {
    let pool = hysort::pool().threads(NonZeroUsize::new(cores).expect("a core")).build();
    let run = |_| {
        let start = Instant::now();
        let out = sorted(text, &Order::new(), &pool).expect("memory");
        assert_eq!(out.len(), text.len(), "every line ends");
        1e3 * start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(run).reduce(f64::min).expect("more than one run")
}

/// Table 4.2, and with its ratios figure 4.6: all sets, on a device, by Thrust, and on cores.
pub fn sets(names: &[&str]) {
    println!(
        "# Deshpande 2014, GTX 580: 1.8 to 19.7 times Thrust's comparator sort (table 4.2), 4 to 17 times Burstsort"
    );
    println!("# and MSD radix sort on a core (figure 4.6). His sets had about 10 million lines, genome 31.6. Device:");
    println!("# without transfers, from text to sorted text; Thrust: of the places alone. Cores: with all copies.");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    each(names, |set, text| {
        println!("set,lines,bytes,device_ms,thrust_ms,of_thrust,core_ms,of_core,cores_ms,of_cores,thesis_ms,setup_ms");
        let disk = OnDisk::new(text);
        let (device, thrust) = (disk.device(0).map(|run| run.ms), disk.thrust());
        let (one, all) = (Some(on_cores(text, 1)), Some(on_cores(text, cores)));
        let ratios = [thrust, one, all].map(|peer| ratio(peer, device));
        let lines = text.iter().filter(|&&byte| byte == b'\n').count();
        let Set { name, printed: (total, setup), .. } = set;
        println!(
            "{name},{lines},{},{},{},{},{},{},{},{},{total},{setup}",
            text.len(),
            ms(device),
            ms(thrust),
            ratios[0],
            ms(one),
            ratios[1],
            ms(all),
            ratios[2]
        );
    });
}

/// The same sets with flags to compare.
fn knobs(names: &[&str], variants: &[(&str, u32)]) {
    each(names, |set, text| {
        println!("set,variant,tied,rounds,sorted_again,device_ms,times_the_first");
        let disk = OnDisk::new(text);
        let mut first = None;
        for (variant, flags) in variants {
            let run = disk.device(*flags);
            let time = run.as_ref().map(|run| run.ms);
            first = first.or(time);
            let counts =
                run.map_or([NO_DEVICE; 3].join(","), |run| format!("{},{},{}", run.tied, run.rounds, run.again));
            println!("{},{variant},{counts},{},{}", set.name, ms(time), ratio(time, first));
        }
    });
}

/// Table 4.3: unique lines leave the list, or stay.
pub fn singles(names: &[&str]) {
    println!(
        "# Deshpande 2014: leaving single lines out makes sorting 0.9 to 4.5 times as fast. Both his keys, 8 bytes"
    );
    println!("# with the number of the group; and ours beside.");
    knobs(
        names,
        &[
            ("single lines leave", THESIS),
            ("single lines stay", THESIS | KEEP),
            ("hybz", 0),
            ("hybz with single lines", KEEP),
        ],
    );
}

/// Table 4.4: as many bits for the groups' numbers as there are groups, or 32.
pub fn numbers(names: &[&str]) {
    println!(
        "# Deshpande 2014: numbers of as many bytes as needed make sorting 1.4 to 3.3 times as fast, with 26 -> 15"
    );
    println!("# and 54 -> 37 iterations. Both his keys; and ours beside, with their steps one by one.");
    knobs(
        names,
        &[
            ("as many bits as needed", THESIS),
            ("32 bits", THESIS | FIXED),
            ("characters in code", STEPWISE | ROUNDS),
            ("and common bytes passed over", ROUNDS),
            ("and small groups at once: hybz", 0),
            ("hybz with 32 bits", FIXED),
        ],
    );
}

/// Table 4.5: another device. It has one column here, for the device present.
pub fn device(names: &[&str]) {
    println!(
        "# Deshpande 2014: a K20C takes 0.92 to 1.25 times the GTX 580's speed. This is one device; run it on others."
    );
    each(names, |set, text| {
        println!("set,bytes,device_ms,thesis_without_setup_ms");
        let time = OnDisk::new(text).device(0).map(|run| run.ms);
        println!("{},{},{},{}", set.name, text.len(), ms(time), set.printed.0 - set.printed.1);
    });
}

/// Figure 4.7: time by the length of the prefix that all lines have in common.
pub fn ties(most: usize) {
    println!(
        "# Deshpande 2014: the time is linear in the length of the tie. So is it with his algorithm here; hybz passes"
    );
    println!("# over what a group has in common.");
    datasets::heading();
    println!("tie,lines,bytes,rounds,device_ms,thesis_rounds,thesis_ms,core_ms");
    for tie in (0..8).map(|power| 16 << power).take_while(|&tie| tie <= most) {
        let bytes = datasets::max_bytes().min(512 << 20);
        let mut random = Random(1);
        let mut text = Vec::with_capacity(bytes);
        let lines = bytes / (tie + 9);
        for _ in 0..lines {
            text.resize(text.len() + tie, b'x');
            text.extend((0..8).map(|_| b"abcdefghijklmnopqrstuvwxyz"[random.below(26)]));
            text.push(b'\n');
        }
        let disk = OnDisk::new(&text);
        let [ours, thesis] = [0, THESIS].map(|flags| {
            disk.device(flags).map_or([NO_DEVICE; 2].join(","), |run| format!("{},{:.2}", run.rounds, run.ms))
        });
        println!("{tie},{lines},{},{ours},{thesis},{:.2}", text.len(), on_cores(&text, 1));
    }
}
