//! The progress display: how far, how fast, how long still. The only place that knows indicatif.
//!
//! Nothing is shown, and nothing is measured, before a second has passed: most calls are over by then.

use crate::cli::args::{Operand, Plan};
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(1);

/// What is shown of one call's progress.
pub struct Progress {
    style: Style,
    state: Mutex<State>,
}

enum Style {
    Nothing,
    /// One line of a terminal, drawn again and again.
    Bar,
    /// Asked for where there is no terminal: a line every second.
    Lines,
}

struct State {
    started: Instant,
    shown: Instant,
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
        Progress { style, state: Mutex::new(State { started: now, shown: now, bar: None, done: 0 }) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `bytes` of the input `name` are done.
    pub fn at(&self, plan: &Plan, name: &OsStr, bytes: u64) {
        if matches!(self.style, Style::Nothing) {
            return;
        }
        let mut state = self.lock();
        if state.started.elapsed() < FIRST {
            return;
        }
        let started = state.started;
        let bar = state.bar.get_or_insert_with(|| self.bar(plan, started)).clone();
        let position = state.done + bytes;
        if bar.length().is_some_and(|total| total < position) {
            bar.unset_length(); // a file grew, or its size was a lie
        }
        bar.set_position(position);
        bar.set_message(name.to_string_lossy().into_owned());
        if matches!(self.style, Style::Lines) && state.shown.elapsed() >= FIRST {
            state.shown = Instant::now();
            let (at, rate) = (HumanBytes(position), HumanBytes(bar.per_sec() as u64));
            let rest = match bar.length() {
                Some(total) => format!(" of {}, {rate}/s, {} left", HumanBytes(total), HumanDuration(bar.eta())),
                None => format!(", {rate}/s"),
            };
            let _ = writeln!(io::stderr(), "{}: {at}{rest}", name.display());
        }
    }

    /// An input of so many bytes is done.
    pub fn input_done(&self, bytes: u64) {
        self.lock().done += bytes;
    }

    /// Lets `print` write to stderr, with the bar out of its way.
    pub fn aside(&self, print: impl FnOnce()) {
        match &self.lock().bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar off the terminal.
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

/// How many bytes all operands have together, where that can be known.
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

/// C's `pow`, which indicatif's estimate of the time left calls through std. Were it left to the linker, libm.so would be loaded
/// at each start for this alone: 0.1 ms, of 1.1 for a small file (bzip2: 0.7).
#[allow(unsafe_code)]
// SAFETY: it is declared as C declares it and does what C says, so whoever else calls it gets what he expects.
#[unsafe(no_mangle)]
extern "C" fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}
