//! The progress display: how far, how fast, how long still. The only place that uses indicatif.
//!
//! Nothing is shown in the first second: most calls are over by then. The rate is that of the last seconds. (The
//! estimate of indicatif begins when its bar does, and takes what was done before as done in no time.)

use crate::cli::args::{Operand, Plan};
use crate::cli::quote::shown;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
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
    display: Mutex<Display>,
}

enum Style {
    Nothing,
    /// One line of a terminal, redrawn again and again.
    Bar,
    /// A line every second, where stderr is not a terminal.
    Lines,
}

struct Display {
    started: Instant,
    last_line: Instant,
    bar: Option<ProgressBar>,
    /// Bytes of the inputs that are done.
    done: u64,
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
            Some(false) => Style::Nothing,
            None if plan.quiet > 0 => Style::Nothing,
            asked => match (io::stderr().is_terminal(), asked) {
                (true, _) => Style::Bar,
                (false, Some(true)) => Style::Lines,
                (false, _) => Style::Nothing,
            },
        };
        let now = Instant::now();
        Progress {
            style,
            display: Mutex::new(Display { started: now, last_line: now, bar: None, done: 0, rate: Rate::new() }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Display> {
        self.display.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `bytes` of the input `name` are done.
    pub fn advance(&self, plan: &Plan, name: &OsStr, bytes: u64) {
        if matches!(self.style, Style::Nothing) {
            return;
        }
        let mut display = self.lock();
        let (now, position) = (display.started.elapsed(), display.done + bytes);
        display.rate.measure(now, position);
        if now < INTERVAL {
            return;
        }
        let bar = display.bar.get_or_insert_with(|| self.bar(plan)).clone();
        if bar.length().is_some_and(|total| total < position) {
            bar.unset_length(); // a file grew, or its size was wrong
        }
        bar.set_position(position);
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

    /// An input of `bytes` bytes is done.
    pub fn input_done(&self, bytes: u64) {
        self.lock().done += bytes;
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
            Style::Nothing | Style::Lines => ProgressDrawTarget::hidden(),
        });
        if let Ok(style) = ProgressStyle::with_template(template) {
            target.set_style(style);
        }
        target
    }
}

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
