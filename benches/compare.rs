//! hybz against bzip2, lbzip2 and pbzip2: times whole processes in turn on the same files, and verifies every output.
//!
//! ```text
//! cargo bench --bench compare -- [--pairs 5] [--threads 1,2] [--sink null|file] [--level 9]
//!     [--only compress|decompress] [--peers lbzip2,bzip2] FILE...
//! ```
//!
//! For each file, direction and number of threads it prints every tool's median speed in MB/s of plain text, and the
//! median over the rounds of (the tool's time / hybz's time in the same round). Machines are noisy: read the ratios.
//! Tools that are not installed are left out. The first output of each tool is verified in full: hybz's compressed
//! bytes must be bzip2's, and every output must decompress to the file. With `--sink file` every later output is
//! compared with the first; with `--sink null` it goes to /dev/null, so only the tool is timed.
//!
//! `benches/run.sh cpu-peers` does the same without cargo, and records the results.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::time::Instant;

/// A tool, and the flag that sets its number of threads.
struct Tool {
    name: &'static str,
    path: PathBuf,
    threads: Option<&'static str>,
}

/// One thing to time: a file in one direction with a number of threads.
struct Case<'a> {
    input: &'a Path,
    decompress: bool,
    threads: usize,
    level: usize,
}

struct Options {
    pairs: usize,
    threads: Vec<usize>,
    to_file: bool,
    level: usize,
    directions: Vec<bool>,
    peers: Vec<String>,
    files: Vec<PathBuf>,
}

fn options() -> Options {
    let mut options = Options {
        pairs: 5,
        threads: vec![1],
        to_file: false,
        level: 9,
        directions: vec![false, true],
        peers: ["bzip2", "lbzip2", "pbzip2"].map(String::from).to_vec(),
        files: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| usage());
        match arg.as_str() {
            "--bench" => {}
            "--pairs" => options.pairs = value().parse().unwrap_or_else(|_| usage()),
            "--level" => options.level = value().parse().unwrap_or_else(|_| usage()),
            "--threads" => {
                options.threads = value().split(',').map(|n| n.parse().unwrap_or_else(|_| usage())).collect();
            }
            "--sink" => options.to_file = value() == "file",
            "--peers" => options.peers = value().split(',').map(String::from).collect(),
            "--only" => options.directions = vec![value() == "decompress"],
            _ if arg.starts_with('-') => usage(),
            _ => options.files.push(arg.into()),
        }
    }
    options
}

fn usage() -> ! {
    eprintln!(
        "usage: compare [--pairs N] [--threads 1,2] [--sink null|file] [--level 9] [--only compress|decompress] \
         [--peers lbzip2,bzip2] FILE..."
    );
    exit(1)
}

/// The command: the one that cargo builds before a bench runs, or the one in HYBZ_BINARY.
fn hybz() -> PathBuf {
    std::env::var_os("HYBZ_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_hybz").into(), PathBuf::from)
}

fn tools(peers: &[String]) -> Vec<Tool> {
    let installed = |name: &str| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
    };
    let mut tools = vec![Tool { name: "hybz", path: hybz(), threads: Some("-p") }];
    for (name, threads) in [("bzip2", None), ("lbzip2", Some("-n")), ("pbzip2", Some("-p"))] {
        if !peers.iter().any(|peer| peer == name) {
            continue;
        }
        match installed(name) {
            Some(path) => tools.push(Tool { name, path, threads }),
            None => println!("{name}: not installed"),
        }
    }
    tools
}

impl Case<'_> {
    /// Runs a tool once and returns the seconds of wall time.
    fn run(&self, tool: &Tool, out: Stdio) -> f64 {
        let mut command = Command::new(&tool.path);
        command.arg(if self.decompress { "-dc".to_owned() } else { format!("-c{}", self.level) });
        if let Some(flag) = tool.threads {
            command.arg(format!("{flag}{}", self.threads));
        }
        command.arg(self.input).stdout(out);
        let start = Instant::now();
        let status = command.status().unwrap_or_else(|e| panic!("{}: {e}", tool.name));
        let seconds = start.elapsed().as_secs_f64();
        assert!(status.success(), "{}: {status}", tool.name);
        seconds
    }

    fn time(&self, tool: &Tool, first: &Path, later: &Path, to_file: bool) -> f64 {
        if !to_file {
            return self.run(tool, Stdio::null());
        }
        let seconds = self.run(tool, create(later));
        assert!(same(first, later), "{}: the output differs from run to run", tool.name);
        seconds
    }
}

fn create(path: &Path) -> Stdio {
    File::create(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).into()
}

fn same(a: &Path, b: &Path) -> bool {
    Command::new("cmp").arg("-s").arg(a).arg(b).status().is_ok_and(|status| status.success())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let options = options();
    if options.files.is_empty() {
        // `cargo bench` without arguments runs all benches.
        println!("compare: no files given");
        return;
    }
    let tools = tools(&options.peers);
    let dir = std::env::temp_dir().join(format!("hybz-compare-{}", std::process::id()));
    fs::create_dir(&dir).expect("a fresh directory for the outputs");
    println!(
        "{:24} {:>10} {:>3}  {:8} {:>8} {:>8}   ({} rounds, level {}, output to {})",
        "file",
        "",
        "thr",
        "tool",
        "MB/s",
        "x slower",
        options.pairs,
        options.level,
        if options.to_file { "a file" } else { "/dev/null" }
    );
    for file in &options.files {
        let bytes = fs::metadata(file).unwrap_or_else(|e| panic!("{}: {e}", file.display())).len() as f64;
        let coded = dir.join("coded.bz2");
        // bzip2 itself makes the compressed file.
        let reference =
            Command::new("bzip2").arg(format!("-c{}", options.level)).arg(file).stdout(create(&coded)).status();
        assert!(reference.is_ok_and(|status| status.success()), "bzip2 is needed for the reference");
        for &decompress in &options.directions {
            for &threads in &options.threads {
                let input = if decompress { &coded } else { file };
                let case = Case { input, decompress, threads, level: options.level };
                // bzip2 has one thread only.
                let taking_part: Vec<&Tool> =
                    tools.iter().filter(|tool| threads == 1 || tool.threads.is_some()).collect();
                for tool in &taking_part {
                    let first = dir.join(tool.name);
                    case.run(tool, create(&first));
                    verify(tool, &first, &case, file, &coded, &dir);
                }
                let mut times = vec![Vec::new(); taking_part.len()];
                for _ in 0..options.pairs {
                    for (tool, times) in taking_part.iter().zip(&mut times) {
                        let seconds = case.time(tool, &dir.join(tool.name), &dir.join("later"), options.to_file);
                        times.push(seconds);
                    }
                }
                for (tool, own) in taking_part.iter().zip(&times) {
                    let ratios = own.iter().zip(&times[0]).map(|(own, hybz)| own / hybz).collect();
                    println!(
                        "{:24} {:>10} {:>3}  {:8} {:8.1} {:8.2}",
                        file.file_name().unwrap_or_default().to_string_lossy(),
                        if decompress { "decompress" } else { "compress" },
                        threads,
                        tool.name,
                        bytes / 1e6 / median(own.clone()),
                        median(ratios)
                    );
                }
            }
        }
    }
    let _ = fs::remove_dir_all(&dir);
}

/// Panics unless a tool's first output is right.
fn verify(tool: &Tool, output: &Path, case: &Case<'_>, plain: &Path, coded: &Path, dir: &Path) {
    if case.decompress {
        assert!(same(output, plain), "{}: wrong output", tool.name);
    } else if tool.name == "hybz" || tool.name == "bzip2" {
        assert!(same(output, coded), "{}: not bzip2's bytes", tool.name);
    } else {
        let back = dir.join("back");
        let status = Command::new("bzip2").arg("-dc").arg(output).stdout(create(&back)).status();
        assert!(status.is_ok_and(|status| status.success()) && same(&back, plain), "{}: wrong output", tool.name);
    }
}
