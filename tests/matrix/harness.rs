//! A harness for tests whose names are made while the program runs: libtest's flags and lines, as far as cargo and
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
    pub ignored: bool,
    pub run: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

/// The tests to run, and the options.
struct Choice {
    words: Vec<String>,
    skipped: Vec<String>,
    exact: bool,
    list: bool,
    terse: bool,
    /// Run the ignored tests; and only those.
    ignored: bool,
    only_ignored: bool,
    threads: usize,
}

impl Choice {
    fn from_args() -> Choice {
        let (mut words, mut skipped, mut flags, mut terse) = (Vec::new(), Vec::new(), Vec::new(), false);
        // Twice the cores: many scenarios wait, for a signal, a reader or a limit.
        let mut threads = std::thread::available_parallelism().map_or(2, |cores| 2 * cores.get());
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--skip" => skipped.extend(args.next()),
                "--test-threads" => threads = args.next().and_then(|n| n.parse().ok()).unwrap_or(threads),
                "--format" => terse |= args.next().as_deref() == Some("terse"),
                "--format=terse" => terse = true,
                "--color" | "-Z" | "--logfile" => drop(args.next()),
                _ if arg.starts_with("--test-threads=") => threads = arg[15..].parse().unwrap_or(threads),
                _ if arg.starts_with('-') => flags.push(arg),
                _ => words.push(arg),
            }
        }
        let has = |flag: &str| flags.iter().any(|given| given == flag);
        let only_ignored = has("--ignored");
        let ignored = only_ignored || has("--include-ignored");
        let (exact, list) = (has("--exact"), has("--list"));
        Choice { words, skipped, exact, list, terse, ignored, only_ignored, threads }
    }

    fn takes(&self, trial: &Trial) -> bool {
        let named = |word: &String| if self.exact { trial.name == *word } else { trial.name.contains(word.as_str()) };
        (self.words.is_empty() || self.words.iter().any(named))
            && !self.skipped.iter().any(named)
            && (!self.only_ignored || trial.ignored)
    }
}

/// Runs the tests that the command line asks for.
pub fn main(trials: Vec<Trial>) -> ExitCode {
    let choice = Choice::from_args();
    let all = trials.len();
    let trials: Vec<Trial> = trials.into_iter().filter(|trial| choice.takes(trial)).collect();
    if choice.list {
        // Programs that read a libtest list want `NAME: test` and nothing else, and ask for it as terse.
        for trial in &trials {
            let expected = if choice.terse { String::new() } else { format!("\n    {}", trial.expected) };
            println!("{}: test{expected}", trial.name);
        }
        return ExitCode::SUCCESS;
    }
    let (begun, filtered) = (Instant::now(), all - trials.len());
    println!("\nrunning {} tests", trials.len());
    let ignored = trials.iter().filter(|trial| trial.ignored && !choice.ignored).count();
    let (passed, failures) = run_all(&trials, &choice);
    for (name, why) in &failures {
        println!("\n---- {name} ----\n{why}");
    }
    let verdict = if failures.is_empty() { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {passed} passed; {} failed; {ignored} ignored; 0 measured; {filtered} filtered out; \
         finished in {:.2}s\n",
        failures.len(),
        begun.elapsed().as_secs_f64(),
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(101) }
}

/// Returns the number that passed, and those that failed.
fn run_all(trials: &[Trial], choice: &Choice) -> (usize, Vec<(String, String)>) {
    let (queue, outcome) = (Mutex::new(trials.iter()), Mutex::new((0, Vec::new())));
    let next = || queue.lock().expect("nothing panics here").next();
    std::thread::scope(|scope| {
        for _ in 0..choice.threads.max(1) {
            scope.spawn(|| {
                while let Some(trial) = next() {
                    if trial.ignored && !choice.ignored {
                        println!("test {} ... ignored", trial.name);
                        continue;
                    }
                    let done = catch_unwind(AssertUnwindSafe(&trial.run)).unwrap_or_else(|_| Err("it panicked".into()));
                    println!("test {} ... {}", trial.name, if done.is_ok() { "ok" } else { "FAILED" });
                    let mut outcome = outcome.lock().expect("nothing panics here");
                    match done {
                        Ok(()) => outcome.0 += 1,
                        Err(why) => outcome.1.push((trial.name.clone(), why)),
                    }
                }
            });
        }
    });
    outcome.into_inner().expect("nothing panics here")
}
