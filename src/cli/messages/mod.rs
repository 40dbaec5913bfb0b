//! Messages to the user, and the exit code. Every message goes through here and is written in one piece.
//!
//! The texts are bzip2's; those that programs search for are the same byte for byte.

mod counts;
pub mod formats;
pub mod json;
mod progress;
mod report;
pub mod stations;
mod tally;

pub use counts::Counts;
pub use progress::Progress;
pub use report::{Entry, Report};
pub use tally::{Skipped, Tally};

use crate::cli::args::{Kind, Plan};
use crate::cli::messages::formats::is_of;
use anyhow::bail;
use hybz::internals::formats::Blocks;
use hybz::{BlockInfo, Damage, Error, Formats, StreamSummary, Summary};
use hybz_files::quote::shown;
use hybz_files::{process, stdout};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Prints the requested text on stdout. A closed stdout is an error even if there is nothing to print;
/// [`reader_is_gone`] recognises the error of a stdout whose reader is gone.
pub fn print_stdout(text: &[u8]) -> anyhow::Result<()> {
    match stdout::print(text) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            bail!("Can't write output file (stdout): {}.", errno_text(&e))
        }
        printed => Ok(printed?),
    }
}

pub fn broken_pipe() -> anyhow::Error {
    io::Error::from(io::ErrorKind::BrokenPipe).into()
}

pub fn reader_is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

#[derive(Clone, Debug)]
pub struct Failure {
    /// The exit code: 1 environment, 2 damaged data, 3 a defect in hybz.
    pub code: u8,
    /// Whether a single `-q` hides the message, as in bzip2.
    pub remark: bool,
    /// Advice after the message that bzip2 does not give; none under bzip2's names, with `-q` and in reports.
    pub advice: &'static str,
    /// The message, without the program's name in front.
    pub text: Vec<u8>,
}

impl Failure {
    pub fn new(code: u8, text: Vec<u8>) -> Failure {
        Failure { code, remark: false, advice: "", text }
    }

    /// `WHAT NAME TEXT`, as in `Input file NAME is a directory.`
    pub fn about(code: u8, what: &str, name: &OsStr, text: &str) -> Failure {
        Failure::new(code, [what.as_bytes(), shown(name).as_bytes(), text.as_bytes()].concat())
    }

    pub fn remark(self) -> Failure {
        Failure { remark: true, ..self }
    }

    /// `Can't WHAT NAME: ERR.`
    pub fn cannot(what: &str, name: &OsStr, e: &io::Error) -> Failure {
        Failure::about(1, &format!("Can't {what} "), name, &format!(": {}.", errno_text(e)))
    }

    pub fn input(what: &str, name: &OsStr, e: &io::Error) -> Failure {
        Failure::cannot(&format!("{what} input file"), name, e)
    }

    /// `Can't open input file NAME: ERR.`; bzip2 has another text for `-t`.
    pub fn unopened(kind: Kind, name: &OsStr, e: &io::Error) -> Failure {
        Failure::cannot(if kind == Kind::Test { "open input" } else { "open input file" }, name, e)
    }

    pub fn output(what: &str, name: &OsStr, e: &io::Error) -> Failure {
        Failure::cannot(&format!("{what} output file"), name, e)
    }

    /// bzip2's refusal to `what` a terminal.
    pub fn terminal(program: &OsStr, what: &str) -> Failure {
        let program = program.display();
        Failure::new(1, format!("I won't {what} a terminal.\n{program}: For help, type: `{program} --help'.").into())
    }

    /// The failure of the operand `name`, if the error says nothing about the operand's data.
    pub fn of(plan: &Plan, name: &OsStr, error: &Error) -> Option<Failure> {
        Some(match error {
            Error::Read(e) => Failure::input("read", name, e),
            Error::Perturbed => Failure::perturbed(name),
            Error::Internal { .. } => Failure::internal(name, error),
            Error::Miscoded { .. } => {
                Failure::about(3, "", name, &format!(": {error}. This is a defect of hybz or of this machine."))
            }
            &Error::Memory { block, needs, allowed } => {
                // The numbers are rounded so that passing the first one to `-m` is enough.
                let (needs, allowed) = (needs.div_ceil(1 << 20), allowed >> 20);
                let by_flag = plan.memory.is_some();
                let limit =
                    if by_flag { format!("-m allows {allowed}") } else { format!("only {allowed} are available") };
                Failure::about(1, "", name, &format!(": block {block} needs {needs} MB, {limit}."))
            }
            _ => return None,
        })
    }

    /// A defect in hybz, met while it worked on the operand `name`.
    pub fn internal(name: &OsStr, error: &Error) -> Failure {
        Failure::about(3, "", name, &format!(": {error}: a defect of hybz."))
    }

    /// Blocks of a perturbed `.bz2` are of no use without what comes before them.
    pub fn perturbed(name: &OsStr) -> Failure {
        Failure::about(1, "Input file ", name, " is perturbed: it can only be decoded from its beginning.")
    }

    pub fn changed(name: &OsStr) -> Failure {
        Failure::about(1, "Input file ", name, " changed while it was read: not removed.")
    }

    pub fn exists(name: &OsStr) -> Failure {
        let advice = if Path::new(name).is_dir() { "" } else { " -f overwrites it." };
        Failure { advice, ..Failure::about(1, "Output file ", name, " already exists.") }
    }
}

const TRY_LESS: &str = "try -m1 -p1, or -s";

/// The C library's text for an error, without the number that Rust adds.
pub fn errno_text(e: &io::Error) -> String {
    let text = e.to_string();
    let text = text.split_once(" (os error ").map_or(&*text, |(text, _)| text);
    if e.kind() == io::ErrorKind::OutOfMemory { format!("{text} ({TRY_LESS})") } else { text.to_owned() }
}

pub enum Note {
    Failure(Failure),
    /// A failure that belongs to no file.
    Apart(Failure),
    /// Printed after the program's name, unless `-q` hides it.
    Remark(Vec<u8>),
    /// Output of `-v`: always printed, unchanged.
    Line(Vec<u8>),
    /// A line of `-v`, and the failure that it reports.
    Verdict(Failure, Vec<u8>),
    /// For the report: a file's outcome, with the failures before it.
    Entry(Box<Entry>),
}

impl Note {
    pub fn about(name: &OsStr, text: &str) -> Note {
        Note::Remark([shown(name).as_bytes(), text.as_bytes()].concat())
    }
}

pub struct Messages {
    pub plan: Arc<Plan>,
    /// The width of names in the lines of `-v`: the width of the longest name, but at least the width of `(stdin)`.
    width: usize,
    code: AtomicU8,
    pub progress: Progress,
    pub report: Option<Report>,
    pub tally: Arc<Tally>,
}

impl Messages {
    pub fn new(plan: &Arc<Plan>) -> Messages {
        let names = plan.operands.iter().filter(|_| plan.verbose > 0);
        let width = names.map(|operand| shown(operand.name()).len()).max();
        Messages {
            plan: Arc::clone(plan),
            width: width.unwrap_or(0).max("(stdin)".len()),
            code: AtomicU8::new(0),
            progress: Progress::new(plan),
            report: None,
            tally: Arc::default(),
        }
    }

    pub fn with_report(plan: &Arc<Plan>) -> anyhow::Result<Messages> {
        let tally = Arc::default();
        let report = Report::open(plan, &tally)?;
        Ok(Messages { report, tally, ..Messages::new(plan) })
    }

    pub fn code(&self) -> u8 {
        self.code.load(Ordering::Relaxed)
    }

    pub fn raise(&self, code: u8) {
        self.code.fetch_max(code, Ordering::Relaxed);
    }

    pub fn print(&self, note: &Note) {
        let (quiet, program) = (self.plan.quiet, self.plan.program.as_bytes());
        let (shown, text) = match note {
            Note::Failure(failure) | Note::Apart(failure) => {
                self.fail(failure, matches!(note, Note::Apart(_)));
                let advice = if self.plan.formats == Formats::All && quiet == 0 { failure.advice } else { "" };
                (
                    quiet < if failure.remark { 1 } else { 2 },
                    [program, b": ", &failure.text, advice.as_bytes(), b"\n"].concat(),
                )
            }
            Note::Remark(text) => (quiet == 0, [program, b": ", text, b"\n"].concat()),
            Note::Line(line) => (true, line.clone()),
            Note::Verdict(failure, line) => {
                self.fail(failure, false);
                (true, line.clone())
            }
            Note::Entry(entry) => return self.write_report(|report| report.file(entry)),
        };
        if shown {
            // If stderr fails, there is nowhere to report it.
            self.progress.suspend(|| drop(io::stderr().write_all(&text)));
        }
    }

    fn fail(&self, failure: &Failure, apart: bool) {
        self.raise(failure.code);
        self.tally.failed();
        if let Some(report) = &self.report {
            report.failed(failure.code, &failure.text, apart);
        }
    }

    fn write_report(&self, write: impl FnOnce(&Report) -> io::Result<()>) {
        let Some(report) = &self.report else { return };
        let mut written = Ok(());
        self.progress.suspend(|| written = write(report));
        if let Err(e) = written {
            self.print(&Note::Failure(Failure::cannot("write report", &report.place, &e)));
        }
    }

    pub fn close(&self, summary: Option<&Summary>, broken_pipe: bool) {
        let code = if broken_pipe { self.code().max(process::broken_pipe_code()) } else { self.code() };
        self.write_report(|report| report.summary(summary, code, broken_pipe));
    }

    pub fn stdout_failure() -> Option<Note> {
        stdout::close().err().map(|e| Note::Failure(Failure::output("write", OsStr::new("(stdout)"), &e)))
    }

    /// `  NAME: `, the beginning of every line of `-v`.
    pub fn line_start(&self, name: &OsStr) -> Vec<u8> {
        let name = shown(name);
        let name = name.as_bytes();
        [b"  ", name, b": ", " ".repeat(self.width.saturating_sub(name.len())).as_bytes()].concat()
    }
}

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

/// The line of `-vv` about a block that was compressed or decompressed. `number` counts from 1 in each stream, as in
/// bzip2.
pub fn block_line(block: &BlockInfo, number: u64, compressed: bool) -> String {
    let BlockInfo { crc, combined_crc, block_len, .. } = block;
    match compressed {
        true => {
            format!("\n    block {number}: crc = 0x{crc:08x}, combined CRC = 0x{combined_crc:08x}, size = {block_len}")
        }
        false => format!("\n    [{number}: huff+mtf rt+rld]"),
    }
}

/// The line of `-vv` at the end of a file, before the line of `-v`.
pub fn end_line(stream: &StreamSummary, compressed: bool) -> String {
    match compressed {
        true => format!("\n    final combined CRC = 0x{:08x}\n   ", stream.combined_crc),
        false => "\n    ".to_owned(),
    }
}

/// The error in compressed data, in the words of `-t`, or of `-d` for data that are not compressed at all.
pub fn verdict(error: &Error, test: bool) -> String {
    match error {
        Error::NotBzip2 if test => "bad magic number (file not created by bzip2)".to_owned(),
        Error::NotBzip2 => "not a bzip2 file.".to_owned(),
        Error::Truncated { bit_offset: 0, .. } => "file ends unexpectedly: it is empty".to_owned(),
        Error::Truncated { .. } => format!("file ends unexpectedly: {}", place(error)),
        &Error::TrailingGarbage { offset } => garbage(offset),
        Error::Data { damage, .. } if !has_crcs(damage) => {
            format!("data integrity error in data: {}", place(error))
        }
        _ => format!("data integrity (CRC) error in data: {}", place(error)),
    }
}

/// The message about bytes after the last stream that are not allowed there. Nothing is damaged, so no advice follows.
fn garbage(offset: u64) -> String {
    format!("garbage after the end, from byte {offset}")
}

/// Whether the error is damage in a format whose blocks have CRCs.
pub fn has_crcs(damage: &Damage) -> bool {
    !is_of(damage, |blocks| blocks != Blocks::Listed)
}

fn place(error: &Error) -> String {
    match error {
        Error::Data { bit_offset, damage, .. } if is_of(damage, |blocks| blocks == Blocks::None) => {
            format!("at bit {bit_offset}: {damage}")
        }
        Error::Truncated { block, bit_offset } => format!("in block {block}, at bit {bit_offset}"),
        Error::Data { block, bit_offset, damage } => format!("block {block}, at bit {bit_offset}: {damage}"),
        _ => error.to_string(),
    }
}

/// The message that the file `name` was not decompressed, because of what `error` says about its bytes.
pub fn undecodable(name: &OsStr, result: &OsStr, error: &Error, quiet: u8) -> Failure {
    match error {
        Error::NotBzip2 => Failure::about(2, "", name, &format!(" is {}", verdict(error, false))),
        _ => damage(name, result, error, quiet),
    }
}

/// The message that the damaged file `name` was not decompressed, and why.
pub fn damage(name: &OsStr, result: &OsStr, error: &Error, quiet: u8) -> Failure {
    let what = match error {
        Error::Truncated { bit_offset: 0, .. } => {
            return Failure::about(2, "Compressed file ends unexpectedly; ", name, " is empty.");
        }
        &Error::TrailingGarbage { offset } => return Failure::about(2, "", name, &format!(": {}", garbage(offset))),
        Error::Truncated { .. } => "Compressed file ends unexpectedly;",
        _ => "Data integrity error when decompressing.",
    };
    if quiet > 0 {
        return Failure::about(2, "", name, &format!(": {}", what.trim_end_matches(';')));
    }
    let mut failure =
        Failure::about(2, &format!("{what}\n\t{}\n\tInput file = ", place(error)), name, ", output file = ");
    failure.text.extend_from_slice(shown(result).as_bytes());
    failure
}
