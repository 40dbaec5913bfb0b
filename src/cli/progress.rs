//! The progress display: how far, how fast, how long still. The only place that uses indicatif.
//!
//! Nothing is shown in the first second: most calls are over by then. The rate is that of the last seconds. (The
//! estimate of indicatif begins when its bar does, and takes what was done before as done in no time.)
//!
//! With `--progress=json` a thread writes an object every second, also while nothing moves, and one at the end. And
//! whatever is shown, SIGUSR1 has a line written at once, as in dd: by the signal's handler, since every thread may be
//! waiting for something.

use crate::cli::args::{Operand, Plan};
use crate::cli::counts::Counts;
use crate::cli::os::signals;
use crate::cli::quote::shown;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long nothing is shown, and how long it takes from one line to the next.
const INTERVAL: Duration = Duration::from_secs(1);
/// Over which time the rate is measured.
const WINDOW: Duration = Duration::from_secs(5);
/// The time between two measurements.
const SPACING: Duration = Duration::from_millis(250);

/// The progress display of one call.
pub struct Progress {
    style: Style,
    pub counts: Arc<Counts>,
    display: Mutex<Display>,
    /// Who writes the objects of `--progress=json`, until the sender is dropped.
    clock: Option<(Sender<()>, JoinHandle<()>)>,
}

enum Style {
    Nothing,
    /// One line of a terminal, redrawn again and again.
    Bar,
    /// A line every second, where stderr is not a terminal.
    Lines,
    /// An object every second.
    Json,
}

struct Display {
    last_line: Instant,
    bar: Option<ProgressBar>,
    rate: Rate,
}

/// How fast it goes, over the last seconds.
struct Rate {
    /// When so many bytes were done, the oldest first.
    measured: VecDeque<(Duration, u64)>,
}

impl Rate {
    /// From the start of the process, when nothing was done.
    fn new() -> Rate {
        Rate { measured: VecDeque::from([(Duration::ZERO, 0)]) }
    }

    /// After the time `now`, `bytes` are done.
    fn measure(&mut self, now: Duration, bytes: u64) {
        if self.measured.back().is_none_or(|&(last, _)| now >= last + SPACING) {
            self.measured.push_back((now, bytes));
            while self.measured.get(1).is_some_and(|&(second, _)| second + WINDOW <= now) {
                self.measured.pop_front();
            }
        }
    }

    /// Bytes a second.
    fn per_second(&self, now: Duration, bytes: u64) -> f64 {
        let &(then, before) = self.measured.front().unwrap_or(&(Duration::ZERO, 0));
        let seconds = now.saturating_sub(then).as_secs_f64();
        if seconds > 0.0 { bytes.saturating_sub(before) as f64 / seconds } else { 0.0 }
    }

    /// What is shown of it, and of the time that the rest up to `total` takes.
    fn text(&self, now: Duration, bytes: u64, total: Option<u64>) -> String {
        let rate = self.per_second(now, bytes);
        let text = format!("{}/s", HumanBytes(rate as u64));
        match total {
            Some(total) if rate >= 1.0 => {
                let left = Duration::from_secs_f64((total.saturating_sub(bytes) as f64 / rate).min(1e15));
                format!("{text}, {} left", HumanDuration(left))
            }
            _ => text,
        }
    }
}

impl Progress {
    pub fn new(plan: &Plan) -> Progress {
        let style = match plan.progress {
            _ if plan.progress_json => Style::Json,
            Some(false) => Style::Nothing,
            None if plan.quiet > 0 => Style::Nothing,
            asked => match (io::stderr().is_terminal(), asked) {
                (true, _) => Style::Bar,
                (false, Some(true)) => Style::Lines,
                (false, _) => Style::Nothing,
            },
        };
        let counts = Arc::new(Counts::new(plan.program.as_bytes(), plan.count()));
        // With thousands of files, stat-ing all of them first is not worth it for what may not be asked for.
        if plan.progress_json || plan.operands.len() <= MAX_STATS {
            counts.set_total(total(plan));
        }
        answer_signals(&counts, plan.progress_json);
        let clock = plan.progress_json.then(|| clock(&counts)).flatten();
        let display = Display { last_line: Instant::now(), bar: None, rate: Rate::new() };
        Progress { style, counts, display: Mutex::new(display), clock }
    }

    fn lock(&self) -> MutexGuard<'_, Display> {
        self.display.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `bytes` of the input `name` are done.
    pub fn advance(&self, plan: &Plan, name: &OsStr, bytes: u64) {
        let position = self.counts.advance(bytes);
        if matches!(self.style, Style::Nothing | Style::Json) {
            return;
        }
        let mut display = self.lock();
        let now = self.counts.elapsed();
        display.rate.measure(now, position);
        if now < INTERVAL {
            return;
        }
        let bar = display.bar.get_or_insert_with(|| self.bar(plan)).clone();
        self.counts.bar.store(matches!(self.style, Style::Bar), Ordering::Relaxed);
        if bar.length().is_some_and(|total| total < position) {
            bar.unset_length(); // a file grew, or its size was wrong
        }
        bar.set_position(position);
        self.counts.set_rate(display.rate.per_second(now, position));
        let rate = display.rate.text(now, position, bar.length());
        bar.set_message(format!("{rate}  {}", shown(name).display()));
        if matches!(self.style, Style::Lines) && display.last_line.elapsed() >= INTERVAL {
            display.last_line = Instant::now();
            let total = bar.length().map(|total| format!(" of {}", HumanBytes(total))).unwrap_or_default();
            // In one piece; and if stderr fails, there is nowhere to report it.
            let line = format!("{}: {}{total}, {rate}\n", name.display(), HumanBytes(position));
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }

    /// An input is done: of `bytes` bytes, if it did not fail.
    pub fn input_done(&self, bytes: Option<u64>) {
        self.counts.input_done(bytes);
    }

    /// Lets `print` write to stderr, with the bar out of the way.
    pub fn suspend(&self, print: impl FnOnce()) {
        match &self.lock().bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar from the terminal.
    pub fn end(&self) {
        if let Some(bar) = self.lock().bar.take() {
            self.counts.bar.store(false, Ordering::Relaxed);
            bar.finish_and_clear();
        }
    }

    fn bar(&self, plan: &Plan) -> ProgressBar {
        let (target, template) = match total(plan) {
            Some(total) => (ProgressBar::new(total), "{bar:30} {bytes}/{total_bytes} {msg}"),
            None => (ProgressBar::no_length(), "{spinner} {bytes} {msg}"),
        };
        target.set_draw_target(match self.style {
            Style::Bar => ProgressDrawTarget::stderr(),
            Style::Nothing | Style::Lines | Style::Json => ProgressDrawTarget::hidden(),
        });
        if let Ok(style) = ProgressStyle::with_template(template) {
            target.set_style(style);
        }
        target
    }
}

impl Drop for Progress {
    /// The last object comes when all is done, or when an error or a panic has ended the work.
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.clock.take() {
            drop(sender);
            let _ = thread.join();
        }
        if matches!(self.style, Style::Json) {
            let _ = io::stderr().write_all(self.counts.json(true).bytes());
        }
    }
}

/// Writes an object every second, until the sender is dropped. Without a thread there is only the one at the end.
fn clock(counts: &Arc<Counts>) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (sender, end) = channel();
    let counts = Arc::clone(counts);
    let work = move || {
        let mut rate = Rate::new();
        let (mut next, mut ticks) = (SPACING, 0u32);
        while end.recv_timeout(next.saturating_sub(counts.elapsed())) == Err(RecvTimeoutError::Timeout) {
            let (now, read) = (counts.elapsed(), counts.read());
            rate.measure(now, read);
            counts.set_rate(rate.per_second(now, read));
            (next, ticks) = (next + SPACING, ticks + 1);
            if ticks.is_multiple_of((INTERVAL.as_millis() / SPACING.as_millis()) as u32) {
                let _ = io::stderr().write_all(counts.json(false).bytes());
            }
        }
    };
    Some((sender, thread::Builder::new().name("progress".to_owned()).spawn(work).ok()?))
}

/// Has SIGUSR1 answered.
#[allow(unsafe_code)]
fn answer_signals(counts: &Arc<Counts>, json: bool) {
    let counts = Arc::clone(counts);
    let answer = move || {
        let line = if json { counts.json(false) } else { counts.words() };
        signals::write_stderr(line.bytes());
    };
    // SAFETY: it reads atomics and the clock, puts a line together on the stack and writes it with one system call.
    let _ = unsafe { signals::on_question(answer) };
}

/// How many operands are looked at, to say how much there is, where nobody may ask.
const MAX_STATS: usize = 64;

/// How many bytes all operands have together, if that can be known.
fn total(plan: &Plan) -> Option<u64> {
    let size = |operand: &Operand| match operand {
        Operand::Stdin => None,
        // What cannot be opened will not be read.
        Operand::File(path) => match fs::metadata(path) {
            Ok(found) => found.is_file().then_some(found.len()),
            Err(_) => Some(0),
        },
    };
    if plan.batch.list.is_some() {
        return None;
    }
    plan.operands.iter().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A second at 10 MiB/s, then 10 s at 2 MiB/s, in blocks of 1 MiB: what is done before the first line took its
    /// time, and later lines forget it.
    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut rate = Rate::new();
        for block in 1..=10 {
            rate.measure(Duration::from_millis(block * 100), block * MIB);
        }
        assert_eq!(rate.text(INTERVAL, 10 * MIB, Some(40 * MIB)), "10.00 MiB/s, 3 seconds left");
        for block in 1..=20 {
            rate.measure(INTERVAL + Duration::from_millis(block * 500), (10 + block) * MIB);
        }
        let now = Duration::from_secs(11);
        assert_eq!(rate.text(now, 30 * MIB, Some(40 * MIB)), "2.00 MiB/s, 5 seconds left");
        assert_eq!(rate.text(now, 30 * MIB, None), "2.00 MiB/s");
        assert!(rate.measured.len() <= 22, "one measurement for each 250 ms of 5 s, and two");
    }

    /// Nothing came in the last seconds: no time can be told.
    #[test]
    fn a_rate_of_nothing() {
        let mut rate = Rate::new();
        for second in 0..20 {
            rate.measure(Duration::from_secs(second), MIB);
        }
        assert_eq!(rate.text(Duration::from_secs(19), MIB, Some(2 * MIB)), "0 B/s");
        assert_eq!(Rate::new().per_second(Duration::ZERO, 5), 0.0);
    }
}
