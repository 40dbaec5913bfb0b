//! The progress display: how far, how fast, how long still. The only place that uses indicatif.
//!
//! Nothing is shown or measured in the first second: most calls are over by then.

use crate::cli::args::{Operand, Plan};
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long nothing is shown, and how long it takes from one line to the next.
const INTERVAL: Duration = Duration::from_secs(1);

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
        Progress { style, display: Mutex::new(Display { started: now, last_line: now, bar: None, done: 0 }) }
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
        if display.started.elapsed() < INTERVAL {
            return;
        }
        let started = display.started;
        let bar = display.bar.get_or_insert_with(|| self.bar(plan, started)).clone();
        let position = display.done + bytes;
        if bar.length().is_some_and(|total| total < position) {
            bar.unset_length(); // a file grew, or its size was wrong
        }
        bar.set_position(position);
        bar.set_message(name.to_string_lossy().into_owned());
        if matches!(self.style, Style::Lines) && display.last_line.elapsed() >= INTERVAL {
            display.last_line = Instant::now();
            let (at, rate) = (HumanBytes(position), HumanBytes(bar.per_sec() as u64));
            let rest = match bar.length() {
                Some(total) => format!(" of {}, {rate}/s, {} left", HumanBytes(total), HumanDuration(bar.eta())),
                None => format!(", {rate}/s"),
            };
            let _ = writeln!(io::stderr(), "{}: {at}{rest}", name.display());
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

    fn bar(&self, plan: &Plan, started: Instant) -> ProgressBar {
        let (target, template) = match total(plan) {
            Some(total) => {
                (ProgressBar::new(total), "{bar:30} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left  {msg}")
            }
            None => (ProgressBar::no_length(), "{spinner} {bytes} {bytes_per_sec}, {elapsed}  {msg}"),
        };
        target.set_draw_target(match self.style {
            Style::Bar => ProgressDrawTarget::stderr(),
            Style::Nothing | Style::Lines => ProgressDrawTarget::hidden(),
        });
        if let Ok(style) = ProgressStyle::with_template(template) {
            target.set_style(style);
        }
        target.with_elapsed(started.elapsed())
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
    plan.operands.iter().map(size).sum()
}
