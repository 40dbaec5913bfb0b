//! A harness for tests whose names are made at run time, with libtest's flags and output as far as cargo and
//! `.ci/tally` use them. (libtest-mimic would turn on features of clap in the command that is tested.)

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

/// One test.
pub struct Trial {
    pub name: String,
    /// The expected outcome, for `--list`.
    pub expected: String,
    pub run: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

/// Runs the tests that the command line selects.
pub fn main(trials: Vec<Trial>) -> ExitCode {
    let (mut words, mut skipped, mut flags, mut terse) = (Vec::new(), Vec::new(), Vec::new(), false);
    // Twice as many threads as cores, because many scenarios wait for a signal, a reader or a limit.
    let mut threads = std::thread::available_parallelism().map_or(2, |cores| 2 * cores.get());
    let mut args = std::env::args().skip(1).flat_map(|arg| match arg.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") => vec![flag.to_owned(), value.to_owned()],
        _ => vec![arg],
    });
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--skip" => skipped.extend(args.next()),
            "--test-threads" => threads = args.next().and_then(|n| n.parse().ok()).unwrap_or(threads),
            "--format" => terse = args.next().as_deref() == Some("terse"),
            "--color" | "-Z" | "--logfile" => drop(args.next()),
            _ if arg.starts_with('-') => flags.push(arg),
            _ => words.push(arg),
        }
    }
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let is_in = |trial: &Trial, words: &[String]| match has("--exact") {
        true => words.contains(&trial.name),
        false => words.iter().any(|word| trial.name.contains(word.as_str())),
    };
    // None is ignored.
    let takes = |trial: &Trial| (words.is_empty() || is_in(trial, &words)) && !is_in(trial, &skipped);
    let all = trials.len();
    let trials: Vec<Trial> = trials.into_iter().filter(|trial| takes(trial) && !has("--ignored")).collect();
    if has("--list") {
        // Programs that parse libtest's list expect `NAME: test` and nothing else, and pass `--format=terse`.
        for trial in &trials {
            let expected = if terse { String::new() } else { format!("\n    {}", trial.expected) };
            println!("{}: test{expected}", trial.name);
        }
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {} tests", trials.len());
    let begun = Instant::now();
    let failures = run_all(&trials, threads);
    for (name, why) in &failures {
        println!("\n---- {name} ----\n{why}");
    }
    println!(
        "\ntest result: {}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        if failures.is_empty() { "ok" } else { "FAILED" },
        trials.len() - failures.len(),
        failures.len(),
        all - trials.len(),
        begun.elapsed().as_secs_f64(),
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(101) }
}

/// Returns those that failed.
fn run_all(trials: &[Trial], threads: usize) -> Vec<(String, String)> {
    let (queue, failures) = (Mutex::new(trials.iter()), Mutex::new(Vec::new()));
    let next = || queue.lock().expect("nothing panics here").next();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some(trial) = next() {
                    let done = catch_unwind(AssertUnwindSafe(&trial.run)).unwrap_or_else(|_| Err("it panicked".into()));
                    println!("test {} ... {}", trial.name, if done.is_ok() { "ok" } else { "FAILED" });
                    if let Err(why) = done {
                        failures.lock().expect("nothing panics here").push((trial.name.clone(), why));
                    }
                }
            });
        }
    });
    failures.into_inner().expect("nothing panics here")
}
