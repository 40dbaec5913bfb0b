//! The measurements, as a table.

use super::cell::in_words;
use super::input::BenchInput;
use super::{Row, directions};
use crate::cli::args::{Operand, Plan};
use hybz::internals::gpu::Device;
use hybz_files::quote::for_terminal;
use hybz_files::stdout;
use hybz_files::terminal::{USUAL_COLUMNS, middle_out, width};
use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// The rate in millions of bytes of text a second.
pub fn speed(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64().max(1e-9) / 1e6
}

/// A speed for people: with at least three digits.
pub fn shown_speed(speed: f64) -> String {
    let decimals = if speed < 9.995 {
        2
    } else if speed < 99.95 {
        1
    } else {
        0
    };
    format!("{speed:.decimals$}")
}

/// A size in millions of bytes, or in thousands.
pub fn shown_size(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// The measured file's name, quoted for a `terminal`, or the number of files.
fn name(plan: &Plan, terminal: bool) -> OsString {
    match &plan.operands[..] {
        [Operand::File(path)] => for_terminal(path.as_os_str(), terminal).into_owned(),
        operands => format!("{} files", operands.len()).into(),
    }
}

fn sizes(plan: &Plan, input: &BenchInput) -> String {
    let format = match plan.coding.filter(|_| !plan.decompress) {
        None => String::new(),
        Some(coding) => match coding.large_blocks() {
            Some(large) => format!(" in blocks of {}", shown_size(large.size() as usize)),
            None => format!(" at level {}", coding.level.get()),
        },
    };
    let (text, coded) = (shown_size(input.text.len()), shown_size(input.coded.len()));
    format!(": {text} of text, {coded} compressed{format}")
}

/// The heading: a description of the input, and the names of the columns. Lines have at most 80 columns, except for a
/// name that goes to a file.
pub fn head(plan: &Plan, input: &BenchInput, devices: &[Device], threads: &[usize]) -> Vec<u8> {
    let gpus = match devices {
        [] => "no GPU".to_owned(),
        [one] => format!("a GPU ({})", one.name),
        [first, ..] => format!("{} GPUs ({})", devices.len(), first.name),
    };
    let terminal = stdout::is_terminal();
    let (name, sizes) = (name(plan, terminal), sizes(plan, input));
    let name = match name.to_str() {
        Some(name) if terminal => middle_out(name, USUAL_COLUMNS.saturating_sub(width(&sizes))).into(),
        _ => name,
    };
    let threads = in_words(threads.last().copied().unwrap_or(1));
    let mut text = format!("{sizes}\n{threads}, {gpus}; every output verified\n");
    // Writing into a String does not fail.
    let _ = writeln!(text, "MB/s of text, medians of rounds within {} s\n", plan.bench.unwrap_or_default());
    let _ = write!(text, "{:<PROGRAM$} {:>7} {:>4}", "program", "threads", "GPUs");
    for direction in directions(plan) {
        let _ = write!(text, " {:>10} {:>5} {:>5} {:>4}", direction.work(), "min", "max", "runs");
    }
    text.push('\n');
    [name.as_bytes(), text.as_bytes()].concat()
}

/// The number of columns for the name of a program.
const PROGRAM: usize = 9;

pub fn rows(rows: &[Row<'_>], bytes: usize) -> Vec<u8> {
    let mut text = String::new();
    for (worker, cells) in rows {
        let (program, gpus) = (middle_out(&worker.program(), PROGRAM), if worker.gpus { "yes" } else { "-" });
        let _ = write!(text, "{program:<PROGRAM$} {:>7} {gpus:>4}", worker.threads);
        for cell in cells {
            let speeds = cell.figures().map(|times| times.map(|time| shown_speed(speed(bytes, time))));
            let [median, max, min, rounds] = match speeds {
                Some([median, max, min]) => [median, max, min, cell.times.len().to_string()],
                None => ["failed", "-", "-", "-"].map(str::to_owned),
            };
            let _ = write!(text, " {median:>10} {min:>5} {max:>5} {rounds:>4}");
        }
        text.push('\n');
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let shown = [0.1234, 9.994, 9.996, 99.94, 99.96, 2994.2].map(shown_speed);
        assert_eq!(shown, ["0.12", "9.99", "10.0", "99.9", "100", "2994"]);
        assert_eq!([9999, 10_000, 203_000_000].map(shown_size), ["9999 bytes", "10.0 kB", "203.0 MB"]);
        assert_eq!(speed(3_000_000, Duration::from_secs(2)), 1.5);
    }
}
