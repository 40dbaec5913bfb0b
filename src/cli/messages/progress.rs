//! The progress display: the part that is done, the rate, and the time left. Only this file and [`screen`] use
//! indicatif.
//!
//! Nothing is shown in the first second: most calls are over by then. The rate is the mean since the start.
//! (indicatif's rate begins when its bar does, and counts earlier work as done in no time.) On a terminal, [`row`]
//! lays out the single row and [`screen`] draws it. It is redrawn every quarter of a second, so it fits a resized
//! window even when there is no progress.
//!
//! SIGUSR1 prints a line immediately, as in dd. The signal handler writes it, since every thread may be
//! waiting.

use crate::cli::args::{Kind, Plan, ProgressFormat};
use crate::cli::messages::Counts;
use crate::cli::messages::counts::bytes;
use hybz_files::quote::shown;
use hybz_files::{process, signals};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use row::{Row, amount, clock, rate};
use screen::{Screen, row_columns};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, thread};

mod row;
pub mod screen;

/// The time before anything is shown, and the time from one line to the next.
const INTERVAL: Duration = Duration::from_secs(1);
/// The time between two drawings of a row without progress.
const SPACING: Duration = Duration::from_millis(250);
/// The maximum number of times a second that a row is drawn.
const HERTZ: u8 = 10;

pub struct Progress {
    plan: Arc<Plan>,
    /// What the bytes are, where that is not obvious.
    unit: &'static str,
    style: Style,
    pub counts: Arc<Counts>,
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
    last_line: Instant,
    bar: Option<(ProgressBar, Arc<Mutex<Row>>)>,
}

impl Progress {
    pub fn new(plan: &Arc<Plan>) -> Progress {
        let asked = plan.progress == Some(ProgressFormat::Text);
        let style = match process::draws_rows() {
            _ if plan.progress == Some(ProgressFormat::Never) || plan.quiet > 0 && !asked => Style::Nothing,
            true => Style::Bar,
            false if asked => Style::Lines, // also on a terminal that draws no rows
            false => Style::Nothing,
        };
        // The rest of stdin is measured before anything is read from it.
        let counts = Arc::new(Counts::new(plan.program.as_bytes(), plan.count(), plan.expected_bytes()));
        answer_signals(&counts);
        let display = Display { last_line: Instant::now(), bar: None };
        // Speeds of decompressing are usually given for the text.
        let compressed = matches!(plan.kind, Kind::Decompress | Kind::Test | Kind::List | Kind::Recover);
        let unit = if compressed { " compressed" } else { "" };
        Progress { plan: Arc::clone(plan), style, counts, unit, display: Mutex::new(display) }
    }

    pub fn advance(&self, name: &OsStr, bytes: u64) {
        let position = self.counts.advance(bytes);
        if matches!(self.style, Style::Nothing) {
            return;
        }
        let mut display = lock(&self.display);
        let now = self.counts.elapsed();
        if now < INTERVAL {
            return;
        }
        // A file may have grown, or its size was wrong.
        let total = self.plan.total().filter(|&total| total >= position);
        let per_second = position as f64 / now.as_secs_f64();
        // Without a total, a narrow window leaves out the rate first.
        let (of_amount, of_rate) = if total.is_some() { ("", self.unit) } else { (self.unit, "") };
        let (amount, rate) = (amount(position, total) + of_amount, rate(per_second) + of_rate);
        let rest = total.filter(|_| per_second >= 1.0).map(|total| (total - position) as f64);
        let left = rest.map(|rest| Duration::from_secs_f64((rest / per_second).min(1e15)));
        if matches!(self.style, Style::Bar) {
            let share = total.map(|total| if total > 0 { position as f64 / total as f64 } else { 1.0 });
            let (bar, row) = display.bar.get_or_insert_with(bar);
            *lock(row) = Row { name: shown(name).display().to_string(), share, amount, rate, left };
            self.counts.bar.store(true, Ordering::Relaxed);
            bar.tick();
        } else if display.last_line.elapsed() >= INTERVAL {
            display.last_line = Instant::now();
            let left = left.map(|left| format!(", {} left", clock(left))).unwrap_or_default();
            // A single write. If stderr fails, there is nowhere to report it.
            let line = format!("{}: {}, {rate}{left}\n", name.display(), amount.trim_start());
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }

    /// Lets `print` write to the terminal, with the bar out of the way.
    pub fn suspend(&self, print: impl FnOnce()) {
        match &lock(&self.display).bar {
            Some((bar, _)) => bar.suspend(print),
            None => print(),
        }
    }

    pub fn end(&self) {
        let Some((bar, _)) = lock(&self.display).bar.take() else { return };
        self.counts.bar.store(false, Ordering::Relaxed);
        bar.finish_and_clear();
        // The thread may be about to draw, which would clear a line that is written after this.
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
}

/// A bar that draws one row, which is laid out when it is drawn, because the window may have changed.
fn bar() -> (ProgressBar, Arc<Mutex<Row>>) {
    let row = Arc::new(Mutex::new(Row::default()));
    let shown = Arc::clone(&row);
    let write = move |_: &ProgressState, to: &mut dyn fmt::Write| {
        let row = lock(&shown).fit(row_columns());
        let _ = to.write_str(&row);
    };
    let bar = ProgressBar::no_length();
    bar.set_draw_target(ProgressDrawTarget::term_like_with_hz(Box::new(Screen::default()), HERTZ));
    if let Ok(style) = ProgressStyle::with_template("{row}") {
        bar.set_style(style.with_key("row", write));
    }
    let drawn = bar.downgrade();
    let redraw = move || {
        while let Some(bar) = drawn.upgrade().filter(|bar| !bar.is_finished()) {
            bar.tick();
            drop(bar);
            thread::sleep(SPACING);
        }
    };
    // If the thread cannot start, the row does not fit a resized window until there is progress. (indicatif panics if
    // it cannot start a thread of its own.)
    let _ = thread::Builder::new().name("progress".to_owned()).spawn(redraw);
    (bar, row)
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[allow(unsafe_code)]
fn answer_signals(counts: &Arc<Counts>) {
    let counts = Arc::clone(counts);
    let answer = move || signals::write_stderr(bytes(&counts.words()));
    // SAFETY: the handler reads atomics and the clock, assembles a line on the stack and writes it with one system
    // call.
    let _ = unsafe { signals::on_question(answer) };
}
