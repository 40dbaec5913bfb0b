//! `-l`: one line for each compressed file, and with `-v` one for each of its blocks.
//!
//! A `.hbz` has an index, so its line takes no longer than reading that; if the index is damaged, the headers of the
//! blocks are followed as far as possible. A `.bz2` does not store the length of its text, so it is decoded, as are
//! files with streams of both kinds. With `-v` all files are decoded: of a damaged `.hbz` every block by itself, to
//! show which blocks are good; of a damaged `.bz2` the blocks before the damage are shown.

use crate::cli::args::{Operand, Plan};
use crate::cli::limits;
use crate::cli::os::{file, process};
use crate::cli::progress::Progress;
use crate::cli::quote::{for_terminal, shown};
use crate::cli::reader::{DiskFile, Reader};
use crate::cli::report::{self, Failure, Note, Outcome, Report, errno_text};
use anyhow::bail;
use hybz::flow::{self, Input, Inputs, Outputs, Source, Task};
use hybz::hbz::{List, MAGIC, StreamHeader};
use hybz::{BlockInfo, Error, Level, Pool, StreamSummary};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// The first bytes of a `.bz2` stream.
const HEADER: &[u8] = b"BZh";

/// Lists what the operands contain, on stdout.
pub fn list(plan: Plan) -> anyhow::Result<Outcome> {
    let report = Report::new(&plan, Progress::new(&plan));
    let mut pool = Pool::builder().threads(limits::threads(&plan)).max_memory(limits::share_of_memory());
    if let Some(memory) = plan.memory {
        pool = pool.memory(memory);
    }
    let lister = Lister { plan, pool: pool.build(), terminal: io::stdout().is_terminal() };
    // Shown at once: what follows may take long, or wait for a pipe.
    let mut text = line(&["streams", "blocks", "level", "compressed", "uncompressed", "ratio"], OsStr::new("name"));
    let mut operands = lister.plan.operands.iter();
    loop {
        match io::stdout().write_all(&text).and_then(|()| io::stdout().flush()) {
            Ok(()) => text.clear(),
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(Outcome::BrokenPipe),
            Err(e) => bail!("Can't write output file (stdout): {}.", errno_text(&e)),
        }
        let Some(operand) = operands.next() else { return Ok(Outcome::Exit(report.code())) };
        if let Err(failure) = lister.operand(operand, &mut text) {
            report.print(&Note::Failure(failure));
        }
    }
}

/// A line of the table of files. However wide a number is, a blank stands before it.
fn line(columns: &[&str; 6], name: &OsStr) -> Vec<u8> {
    let [streams, blocks, level, coded, text, ratio] = columns;
    let columns = format!("{streams:>7} {blocks:>8} {level:>5} {coded:>15} {text:>15} {ratio:>8}  ");
    [columns.as_bytes(), name.as_bytes(), b"\n"].concat()
}

/// A ratio in eight characters, or in as many as its whole part needs.
fn ratio(text_len: u64, coded_len: u64) -> String {
    let ratio = if coded_len > 0 { text_len as f64 / coded_len as f64 } else { 0.0 };
    let decimals = if ratio < 9999.9995 { 3 } else { 0 };
    format!("{ratio:.decimals$}")
}

/// A block size of a `.hbz`, as `--block-size` takes it.
fn size_text(bytes: u32) -> String {
    const UNITS: [(u32, &str); 5] =
        [(1_000_000_000, "G"), (1 << 30, "Gi"), (1_000_000, "M"), (1 << 20, "Mi"), (1000, "k")];
    let unit = UNITS.iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or(bytes.to_string(), |(unit, letter)| format!("{}{letter}", bytes / unit))
}

struct Lister {
    plan: Plan,
    pool: Pool,
    /// Whether stdout is a terminal.
    terminal: bool,
}

/// What the line of a file shows.
struct Totals {
    streams: u64,
    blocks: usize,
    /// The level of a `.bz2`, or the block size of a `.hbz`.
    level: String,
    coded_len: u64,
    text_len: u64,
}

/// What the line of a block shows.
struct Row {
    /// The number of its stream; 0: not known.
    stream: u64,
    at: u64,
    coded_len: u64,
    text_at: u64,
    text_len: u64,
    crc: u32,
    verdict: Result<(), Error>,
}

impl Lister {
    /// Appends the lines of one operand to `text`.
    fn operand(&self, operand: &Operand, text: &mut Vec<u8>) -> Result<(), Failure> {
        let name = operand.name();
        let read_error = |e: io::Error| Failure::input("read", name, &e);
        let mut file = self.open(operand)?;
        let mut reader = Reader::new(file.try_clone().map_err(read_error)?);
        let head = reader.head(HEADER_LEN);
        if head.starts_with(&MAGIC) {
            file.rewind().map_err(read_error)?; // a pipe cannot: blocks are listed from the end
            return self.hbz(name, file, &head, text);
        }
        self.decoded(name, Source::Stream(Box::new(io::Cursor::new(head).chain(reader))), text)
    }

    /// Opens an operand without waiting for the writer of a FIFO, and refuses what `-t` refuses, and FIFOs.
    fn open(&self, operand: &Operand) -> Result<File, Failure> {
        let name = operand.name();
        let Operand::File(path) = operand else {
            let read_error = |e: io::Error| Failure::input("read", name, &e);
            process::check_stdin().map_err(read_error)?;
            let stdin = io::stdin();
            if stdin.is_terminal() {
                return Err(Failure::terminal(&self.plan.program, "read compressed data from"));
            }
            return stdin.as_fd().try_clone_to_owned().map(File::from).map_err(read_error);
        };
        let is = |what: &[u8]| Failure::new(1, [b"Input file ", shown(name).as_bytes(), what].concat());
        match file::open_at_once(path, true).map_err(|e| Failure::input("open", name, &e))? {
            (_, found) if found.is_dir() => Err(is(b" is a directory.")),
            (Some(file), found) if found.is_file() || self.plan.force => Ok(file),
            _ => Err(is(b" is not a normal file.").remark()),
        }
    }

    /// Of a file that must be decoded.
    fn decoded(&self, name: &OsStr, source: Source, text: &mut Vec<u8>) -> Result<(), Failure> {
        let decoded = self.decode(source);
        let mut rows = Vec::new();
        let (mut at, mut text_at) = (0, 0);
        for block in &decoded.blocks {
            let BlockInfo { bytes_in, text_len, crc, .. } = *block;
            rows.push(Row { stream: 0, at, coded_len: bytes_in - at, text_at, text_len, crc, verdict: Ok(()) });
            (at, text_at) = (bytes_in, text_at + text_len);
        }
        let outcome = decoded.outcome.map(|StreamSummary { streams, bytes_in: coded_len, block_size, .. }| {
            let level = match block_size / Level::FASTEST.block_limit() {
                level @ 0..=9 => level.to_string(),
                _ => size_text(block_size),
            };
            let totals = Totals { streams, blocks: rows.len(), level, coded_len, text_len: text_at };
            self.file_line(name, &totals, text);
        });
        self.rows(&rows, text);
        outcome.map_err(|error| self.failure(name, &error))
    }

    fn hbz(&self, name: &OsStr, mut file: File, head: &[u8], text: &mut Vec<u8>) -> Result<(), Failure> {
        let read_error = |e: io::Error| Failure::input("read", name, &e);
        let list = List::read(&mut file).map_err(|error| self.failure(name, &error))?;
        let coded_len = file.metadata().map_err(read_error)?.len();
        if list.end() < coded_len {
            // A `.bz2` stream may follow.
            let mut head = Vec::new();
            file.seek(SeekFrom::Start(list.end())).map_err(read_error)?;
            (&file).take(HEADER.len() as u64).read_to_end(&mut head).map_err(read_error)?;
            if head == HEADER {
                file.rewind().map_err(read_error)?;
                return self.decoded(name, Source::Stream(Box::new(file)), text);
            }
        }
        let (streams, blocks, text_len) = (list.streams(), list.blocks().len(), list.text_len());
        let header = head.try_into().ok().and_then(|head| StreamHeader::parse(head).ok());
        let level = header.map_or("-".to_owned(), |header| size_text(header.block_size));
        self.file_line(name, &Totals { streams, blocks, level, coded_len, text_len }, text);
        if self.plan.verbose > 0 {
            // On all cores; and if anything is wrong, block by block. The first may still read ahead then, so its file
            // has no position.
            let again = Arc::new(DiskFile(file.try_clone().map_err(read_error)?));
            if let Err(damage) = self.decode(Source::File(again, 0)).outcome {
                let list = match self.plan.memory {
                    Some(memory) => list.max_memory(memory),
                    None => list,
                };
                let verdicts = list.verify(&mut file).map_err(|error| self.failure(name, &error))?;
                self.rows(&hbz_rows(&list, verdicts), text);
                return Err(self.failure(name, &damage));
            }
            let verdicts = list.blocks().iter().map(|_| Ok(())).collect();
            self.rows(&hbz_rows(&list, verdicts), text);
        }
        if !list.is_complete() {
            let damage = b": damaged or cut between blocks: there may be more of them";
            return Err(Failure::new(2, [shown(name).as_bytes(), damage].concat()));
        }
        Ok(())
    }

    fn file_line(&self, name: &OsStr, totals: &Totals, text: &mut Vec<u8>) {
        let Totals { streams, blocks, level, coded_len, text_len } = totals;
        let ratio = ratio(*text_len, *coded_len);
        let [streams, blocks] = [streams.to_string(), blocks.to_string()];
        let [coded_len, text_len] = [coded_len.to_string(), text_len.to_string()];
        let name = for_terminal(name, self.terminal);
        text.extend(line(&[&streams, &blocks, level, &coded_len, &text_len, &ratio], &name));
    }

    fn rows(&self, rows: &[Row], text: &mut Vec<u8>) {
        if self.plan.verbose == 0 {
            return;
        }
        // Writing into memory does not fail.
        let _ = writeln!(
            text,
            "  {:>7} {:>7} {:>14} {:>12} {:>14} {:>12}  {:<10}  state",
            "block", "stream", "offset", "compressed", "text offset", "text", "CRC"
        );
        for (number, row) in (1..).zip(rows) {
            let state = match &row.verdict {
                Ok(()) => "ok".to_owned(),
                Err(Error::Data { damage, .. }) => damage.to_string(),
                Err(Error::Truncated { .. }) => "cut".to_owned(),
                Err(error) => error.to_string(),
            };
            let stream = if row.stream > 0 { row.stream.to_string() } else { "-".to_owned() };
            let _ = writeln!(
                text,
                "  {number:>7} {stream:>7} {:>14} {:>12} {:>14} {:>12}  0x{:08x}  {state}",
                row.at, row.coded_len, row.text_at, row.text_len, row.crc
            );
        }
    }

    fn failure(&self, name: &OsStr, error: &Error) -> Failure {
        failure(name, error, self.plan.memory.is_some())
    }

    /// Decodes everything and discards the text.
    fn decode(&self, source: Source) -> Decoded {
        let task = Task::Decompress { trailing_garbage: self.plan.trailing_garbage };
        let input = Input { meta: (), task, source };
        let mut decoded = Decoded { blocks: Vec::new(), outcome: Err(Error::NotBzip2) };
        flow::run(&self.pool, One(Some(input)), &mut decoded);
        decoded
    }
}

fn hbz_rows(list: &List, verdicts: Vec<Result<(), Error>>) -> Vec<Row> {
    let mut stream = 0;
    let rows = list.blocks().iter().zip(verdicts).map(|(block, verdict)| {
        stream += u64::from(block.number == 0);
        Row {
            stream,
            at: block.at,
            coded_len: block.coded_len.into(),
            text_at: block.text_at,
            text_len: block.text_len.into(),
            crc: block.crc,
            verdict,
        }
    });
    rows.collect()
}

fn failure(name: &OsStr, error: &Error, limited: bool) -> Failure {
    match error {
        Error::Read(e) => Failure::input("read", name, e),
        Error::Internal { .. } => Failure::internal(name, error),
        Error::Memory { .. } => Failure::memory(name, error, limited),
        Error::NotBzip2 => Failure::new(2, [shown(name).as_bytes(), b" is not a bzip2 file."].concat()),
        _ => Failure::new(2, [shown(name).as_bytes(), b": ", report::verdict(error, true).as_bytes()].concat()),
    }
}

/// The length of the header of a `.hbz` stream.
const HEADER_LEN: usize = 32;

/// A single input.
struct One(Option<Input<()>>);

impl Inputs for One {
    type Meta = ();

    fn next_input(&mut self) -> Option<Input<()>> {
        self.0.take()
    }
}

/// What was decoded.
struct Decoded {
    blocks: Vec<BlockInfo>,
    outcome: Result<StreamSummary, Error>,
}

impl Outputs for Decoded {
    type Meta = ();
    type Out = io::Sink;

    fn begin(&mut self, (): &mut ()) -> Option<io::Sink> {
        Some(io::sink())
    }

    fn block(&mut self, (): &mut (), block: &BlockInfo) {
        self.blocks.push(*block);
    }

    fn end(&mut self, (): (), _: io::Sink, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        self.outcome = outcome;
        ControlFlow::Continue(())
    }
}
