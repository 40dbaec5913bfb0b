//! What the user is told, and the exit code. Every message goes through here and leaves in one piece.
//!
//! The texts are bzip2's, byte for byte where programs look for them.

use crate::cli::args::{Mode, Plan};
use crate::cli::progress::Progress;
use hybz::{BlockInfo, Error, StationReport, StreamSummary, Summary};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU8, Ordering};

/// Why an operand was not done.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The exit code: 1 environment, 2 damaged data, 3 a defect of ours.
    pub code: u8,
    /// Whether a single `-q` hides it, as in bzip2.
    pub remark: bool,
    /// The message, without the program's name in front.
    pub text: Vec<u8>,
}

impl Failure {
    pub fn new(code: u8, text: Vec<u8>) -> Failure {
        Failure { code, remark: false, text }
    }

    /// The same, but `-q` hides it.
    pub fn remark(self) -> Failure {
        Failure { remark: true, ..self }
    }

    /// `Can't open input file NAME: ERR.`
    pub fn input(what: &str, name: &OsStr, e: &io::Error) -> Failure {
        Failure::new(1, cannot(what, "input file", name, e))
    }

    /// `Can't open input file NAME: ERR.`, but bzip2 has another text in `-t`.
    pub fn unopened(mode: Mode, name: &OsStr, e: &io::Error) -> Failure {
        Failure::new(1, cannot("open", if mode == Mode::Test { "input" } else { "input file" }, name, e))
    }

    /// `Can't create output file NAME: ERR.`
    pub fn output(what: &str, name: &OsStr, e: &io::Error) -> Failure {
        Failure::new(1, cannot(what, "output file", name, e))
    }

    /// The source is not any more what was read.
    pub fn changed(name: &OsStr) -> Failure {
        Failure::new(1, [b"Input file ", name.as_bytes(), b" changed while it was read: not removed."].concat())
    }

    /// `Output file NAME already exists.`
    pub fn exists(name: &OsStr) -> Failure {
        Failure::new(1, [b"Output file ", name.as_bytes(), b" already exists."].concat())
    }
}

fn cannot(what: &str, which: &str, name: &OsStr, e: &io::Error) -> Vec<u8> {
    let (before, after) = (format!("Can't {what} {which} "), format!(": {}.", errno_text(e)));
    [before.as_bytes(), name.as_bytes(), after.as_bytes()].concat()
}

/// What the C library calls an error: without the number that Rust adds.
pub fn errno_text(e: &io::Error) -> String {
    let text = e.to_string();
    match text.split_once(" (os error ") {
        Some((text, _)) => text.to_owned(),
        None => text,
    }
}

/// One thing to tell.
pub enum Note {
    Failure(Failure),
    /// Shown with the program's name, but not with `-q`.
    Remark(Vec<u8>),
    /// Shown as it is: what `-v` asks for.
    Line(Vec<u8>),
}

/// Where all messages of one call go.
pub struct Report {
    program: Vec<u8>,
    quiet: u8,
    /// How wide names are in `-v` lines: as wide as the longest, but at least as `(stdin)`.
    width: usize,
    code: AtomicU8,
    pub progress: Progress,
}

impl Report {
    pub fn new(plan: &Plan, progress: Progress) -> Report {
        let width =
            if plan.verbose > 0 { plan.operands.iter().map(|operand| operand.name().len()).max() } else { None };
        Report {
            program: plan.program.as_bytes().to_vec(),
            quiet: plan.quiet,
            width: width.unwrap_or(0).max("(stdin)".len()),
            code: AtomicU8::new(0),
            progress,
        }
    }

    /// The highest exit code that any failure asked for.
    pub fn code(&self) -> u8 {
        self.code.load(Ordering::Relaxed)
    }

    pub fn raise(&self, code: u8) {
        self.code.fetch_max(code, Ordering::Relaxed);
    }

    pub fn say(&self, note: &Note) {
        let (shown, text) = match note {
            Note::Failure(failure) => {
                self.raise(failure.code);
                (
                    self.quiet < if failure.remark { 1 } else { 2 },
                    [&self.program[..], b": ", &failure.text, b"\n"].concat(),
                )
            }
            Note::Remark(text) => (self.quiet == 0, [&self.program[..], b": ", text, b"\n"].concat()),
            Note::Line(line) => (true, line.clone()),
        };
        if shown {
            // Nobody is left to be told when stderr fails.
            self.progress.aside(|| drop(io::stderr().write_all(&text)));
        }
    }

    /// `  NAME: `, as every `-v` line begins.
    pub fn named(&self, name: &OsStr) -> Vec<u8> {
        let name = name.as_bytes();
        [b"  ", name, b": ", " ".repeat(self.width.saturating_sub(name.len())).as_bytes()].concat()
    }
}

/// What `-v` tells about a file that was compressed.
pub fn ratio(bytes_in: u64, bytes_out: u64) -> String {
    if bytes_in == 0 {
        return " no data compressed.\n".to_owned();
    }
    let (read, written) = (bytes_in as f64, bytes_out as f64);
    format!(
        "{:6.3}:1, {:6.3} bits/byte, {:5.2}% saved, {bytes_in} in, {bytes_out} out.\n",
        read / written,
        8.0 * written / read,
        100.0 * (1.0 - written / read),
    )
}

/// What `-vv` tells about a block that was compressed, or decompressed.
pub fn block_line(block: &BlockInfo, compressed: bool) -> String {
    let BlockInfo { number, crc, combined_crc, block_len, .. } = block;
    match compressed {
        true => {
            format!("\n    block {number}: crc = 0x{crc:08x}, combined CRC = 0x{combined_crc:08x}, size = {block_len}")
        }
        false => format!("\n    [{number}: huff+mtf rt+rld]"),
    }
}

/// What `-vv` tells at the end of a file, before its `-v` line.
pub fn end_line(stream: &StreamSummary, compressed: bool) -> String {
    match compressed {
        true => format!("\n    final combined CRC = 0x{:08x}\n   ", stream.combined_crc),
        false => "\n    ".to_owned(),
    }
}

/// What is wrong with compressed data, in the words of `-t`; or that they are no compressed data, as `-d` says it.
pub fn verdict(error: &Error, test: bool) -> String {
    match error {
        Error::NotBzip2 if test => "bad magic number (file not created by bzip2)".to_owned(),
        Error::NotBzip2 => "not a bzip2 file.".to_owned(),
        Error::Truncated { .. } => format!("file ends unexpectedly: {}", place(error)),
        Error::TrailingGarbage { .. } => error.to_string(),
        _ => format!("data integrity (CRC) error in data: {}", place(error)),
    }
}

/// Where it is wrong.
fn place(error: &Error) -> String {
    match error {
        Error::Truncated { block, bit_offset } => format!("in block {block}, at bit {bit_offset}"),
        Error::Data { block, bit_offset, damage } => format!("block {block}, at bit {bit_offset}: {damage}"),
        _ => error.to_string(),
    }
}

/// Why the damaged file `name` was not decompressed.
pub fn damage(name: &OsStr, result: &OsStr, error: &Error, quiet: u8) -> Failure {
    let what = match error {
        Error::Truncated { .. } => "Compressed file ends unexpectedly;",
        Error::TrailingGarbage { .. } => "Trailing garbage after EOF.",
        _ => "Data integrity error when decompressing.",
    };
    if quiet > 0 {
        return Failure::new(2, [name.as_bytes(), b": ", what.as_bytes()].concat());
    }
    let place = place(error);
    let files: [&[u8]; 4] = [b"\n\tInput file = ", name.as_bytes(), b", output file = ", result.as_bytes()];
    Failure::new(2, [what.as_bytes(), b"\n\t", place.as_bytes(), &files.concat()].concat())
}

/// What went wrong with a GPU, if anything did: what the first of its lanes says that has something to say.
pub fn gpu_trouble(summary: &Summary) -> Option<String> {
    let lanes = summary.stations.iter().filter(|station| station.accelerator);
    let trouble = |lane: &&StationReport| lane.retired.is_some() || lane.failure.is_some();
    // A device may have memory for fewer lanes than it was to have: that costs time, and only with none of them it is trouble.
    let some_work = lanes.clone().any(|lane| lane.blocks > 0 && !trouble(&lane));
    let mut troubled = lanes.filter(|lane| trouble(lane) && !(some_work && lane.name == STARTING));
    let lane = troubled.next()?;
    let why = lane.retired.as_ref().or(lane.failure.as_ref())?;
    Some(match &*lane.name {
        STARTING => format!("a GPU could not be used: {why}"),
        name => format!("{name} failed, and the CPU did its work: {why}"),
    })
}

/// What a station is called whose thread is still making it.
const STARTING: &str = "starting";

/// The table of stations that `-vv` ends with: who did how many blocks, how fast, how busy they were, how often another had
/// to help.
pub fn stations(summary: &Summary) -> Vec<u8> {
    let mut text = format!(
        "  {:<16}{:>10}{:>10}{:>16}{:>16}{:>9}{:>9}{:>9}{:>11}\n",
        "station", "blocks", "finished", "bytes in", "bytes out", "MB/s", "busy s", "waits s", "fallbacks"
    );
    for station in &summary.stations {
        let StationReport { name, blocks, finished, bytes_in, bytes_out, fallbacks, .. } = station;
        let (busy, waits) = (station.busy.as_secs_f64(), station.waited.as_secs_f64());
        let rate = if busy > 0.0 { *bytes_in as f64 / busy / 1e6 } else { 0.0 };
        let retired = station.retired.as_ref().map(|why| format!("  retired: {why}")).unwrap_or_default();
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "  {name:<16}{blocks:>10}{finished:>10}{bytes_in:>16}{bytes_out:>16}{rate:>9.1}{busy:>9.2}{waits:>9.2}\
             {fallbacks:>11}{retired}"
        );
        if let Some(details) = &station.details {
            let _ = writeln!(text, "      {details}");
        }
    }
    let _ = writeln!(text, "  blocks on their way: {:.1} MiB at most", summary.memory as f64 / 1048576.0);
    text.into_bytes()
}
