//! The progress of a call: a bar on a terminal, lines elsewhere if they are asked for, and one line at any time for
//! SIGUSR1, as in dd. The only place that uses indicatif.

use crate::args::Plan;
use hybz_files::{process, signals};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time before anything is shown, and the time from one line to the next.
const INTERVAL: Duration = Duration::from_secs(1);

/// The progress display of one call.
pub struct Progress {
    style: Style,
    counts: Arc<Counts>,
    total: Option<u64>,
    display: Mutex<Display>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Nothing,
    /// One line of a terminal, redrawn again and again.
    Bar,
    /// A line every second.
    Lines,
}

struct Display {
    last: Instant,
    bar: Option<ProgressBar>,
}

/// The figures that a signal handler may read.
#[derive(Default)]
struct Counts {
    read: AtomicU64,
    written: AtomicU64,
}

impl Progress {
    pub fn new(plan: &Plan) -> Progress {
        let style = match (plan.progress, process::draws_rows()) {
            (Some(false), _) | (None, false) => Style::Nothing,
            (_, true) => Style::Bar,
            (Some(true), false) => Style::Lines, // also on a terminal that draws no rows
        };
        let counts = Arc::new(Counts::default());
        answer_signals(&counts);
        let total = if style == Style::Nothing { None } else { total(&plan.files) };
        Progress { style, counts, total, display: Mutex::new(Display { last: Instant::now(), bar: None }) }
    }

    /// Adds `bytes` to the number of bytes read.
    pub fn read(&self, bytes: usize) {
        let read = self.counts.read.fetch_add(bytes as u64, Relaxed) + bytes as u64;
        self.show("read", read, self.total.filter(|&total| total >= read));
    }

    /// Adds `bytes` to the number of bytes written, and returns that number.
    pub fn wrote(&self, bytes: usize) -> u64 {
        let written = self.counts.written.fetch_add(bytes as u64, Relaxed) + bytes as u64;
        let read = self.counts.read.load(Relaxed);
        self.show("written", written, (read >= written).then_some(read));
        written
    }

    /// The numbers of bytes read and written.
    pub fn counts(&self) -> (u64, u64) {
        (self.counts.read.load(Relaxed), self.counts.written.load(Relaxed))
    }

    fn show(&self, what: &str, bytes: u64, total: Option<u64>) {
        if self.style == Style::Nothing {
            return;
        }
        let mut display = self.display.lock().unwrap_or_else(PoisonError::into_inner);
        if display.bar.is_none() && display.last.elapsed() < INTERVAL {
            return;
        }
        let text = format!("{} {what}", amount(bytes, total));
        if self.style == Style::Lines {
            if display.last.elapsed() >= INTERVAL {
                display.last = Instant::now();
                // One write. If stderr fails, there is nowhere to report it.
                let _ = io::stderr().write_all(format!("hysort: {text}\n").as_bytes());
            }
            return;
        }
        if process::is_in_background() {
            return; // asked each time: a shell moves jobs at any time
        }
        let bar = display.bar.get_or_insert_with(bar);
        bar.set_message(text);
        match total {
            Some(total) => bar.set_length(total),
            None => bar.unset_length(),
        }
        bar.set_position(bytes);
    }

    /// Removes the bar from the terminal.
    pub fn end(&self) {
        if let Some(bar) = self.display.lock().unwrap_or_else(PoisonError::into_inner).bar.take() {
            if process::is_in_background() {
                bar.set_draw_target(ProgressDrawTarget::hidden());
            }
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

/// The amount done out of `total`, in millions of bytes, as hybz shows it.
fn amount(bytes: u64, total: Option<u64>) -> String {
    let of = total.map(|total| format!(" of {:.1}", total as f64 / 1e6)).unwrap_or_default();
    format!("{:.1}{of} MB", bytes as f64 / 1e6)
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {msg}") {
        bar.set_style(style);
    }
    bar
}

/// The total length of all files in bytes, if it can be known.
fn total(files: &[OsString]) -> Option<u64> {
    let size = |name: &OsString| {
        let found = fs::metadata(name).ok().filter(|found| found.is_file())?;
        Some(found.len())
    };
    if files.len() > 64 { None } else { files.iter().map(size).sum() }
}

/// Has SIGUSR1 answered.
#[allow(unsafe_code)]
fn answer_signals(counts: &Arc<Counts>) {
    let counts = Arc::clone(counts);
    let answer = move || {
        let mut line = [0; 128];
        let mut room = &mut line[..];
        let mb = |count: &AtomicU64| count.load(Relaxed) / 1_000_000;
        // Two numbers fit. Nothing is allocated.
        let _ = writeln!(room, "hysort: {} MB read, {} MB written", mb(&counts.read), mb(&counts.written));
        let len = 128 - room.len();
        signals::write_stderr(&line[..len]);
    };
    // SAFETY: the handler reads atomics, puts a line together on the stack and writes it with one system call.
    let _ = unsafe { signals::on_question(answer) };
}

#[cfg(test)]
mod tests {
    #[test]
    fn amounts_are_in_millions_of_bytes() {
        assert_eq!(super::amount(1_572_864, Some(20_000_000)), "1.6 of 20.0 MB");
        assert_eq!(super::amount(104_857_600, None), "104.9 MB");
    }
}
