//! What `-l` says about compressed files: one line for each, and with `-v` one for each of its blocks.
//!
//! A `.hbz` has an index, so its line costs no more than reading that; if the index is damaged, the headers of the blocks are
//! followed as far as they go. A `.bz2` says nowhere how long its text is: it is decoded. With `-v` all are decoded, and of a
//! damaged `.hbz` every block by itself, to say which of them are good. Of a damaged `.bz2` the blocks up to the damage are shown.

use crate::cli::args::{Operand, Plan};
use crate::cli::files::Anywhere;
use crate::cli::limits;
use crate::cli::progress::Progress;
use crate::cli::report::{self, Failure, Note, Report, errno_text};
use crate::cli::run::Outcome;
use anyhow::bail;
use hybz::flow::{self, Input, Inputs, Outputs, Source, Task};
use hybz::hbz::{List, MAGIC};
use hybz::{BlockInfo, Error, Pool, StreamSummary};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Says what is in the operands, on stdout.
pub fn list(plan: Plan) -> anyhow::Result<Outcome> {
    let report = Report::new(&plan, Progress::new(&plan));
    let mut pool = Pool::builder().threads(limits::threads(&plan)).memory_most(limits::share_of_memory());
    if let Some(memory) = plan.memory {
        pool = pool.memory(memory);
    }
    let lister = Lister { plan, pool: pool.build() };
    let mut text =
        format!("{:>7}{:>9}{:>16}{:>16}{:>9}  name\n", "streams", "blocks", "compressed", "uncompressed", "ratio");
    for operand in &lister.plan.operands {
        if let Err(failure) = lister.one(operand, &mut text) {
            report.say(&Note::Failure(failure));
        }
        match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
            Ok(()) => text.clear(),
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(Outcome::BrokenPipe),
            Err(e) => bail!("Can't write output file (stdout): {}.", errno_text(&e)),
        }
    }
    Ok(Outcome::Exit(report.code()))
}

struct Lister {
    plan: Plan,
    pool: Pool,
}

/// One block, as it is shown.
struct Row {
    stream: u64,
    at: u64,
    coded_len: u64,
    text_at: u64,
    text_len: u64,
    crc: u32,
    verdict: Result<(), Error>,
}

impl Lister {
    /// Adds what is to be said about one operand.
    fn one(&self, operand: &Operand, text: &mut String) -> Result<(), Failure> {
        let name = operand.name();
        let opened = match operand {
            Operand::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            Operand::File(path) => File::open(path),
        };
        let mut file = opened.map_err(|e| Failure::input("open", name, &e))?;
        let read = |e: io::Error| Failure::input("read", name, &e);
        if file.metadata().map_err(read)?.is_dir() {
            return Err(Failure::new(1, [b"Input file ", name.as_bytes(), b" is a directory."].concat()));
        }
        let mut head = Vec::new();
        (&file).take(MAGIC.len() as u64).read_to_end(&mut head).map_err(read)?;
        if head == MAGIC {
            file.rewind().map_err(read)?; // a pipe cannot: blocks are listed from the end
            return self.large(name, file, text);
        }
        let decoded = self.decode(Source::Stream(Box::new(io::Cursor::new(head).chain(file))));
        let mut rows = Vec::new();
        let (mut at, mut text_at) = (0, 0);
        for block in &decoded.blocks {
            let BlockInfo { bytes_in, text_len, crc, .. } = *block;
            rows.push(Row { stream: 0, at, coded_len: bytes_in - at, text_at, text_len, crc, verdict: Ok(()) });
            (at, text_at) = (bytes_in, text_at + text_len);
        }
        let summary = decoded.outcome.map_err(|error| {
            self.rows(&rows, text);
            self.failure(name, &error)
        })?;
        let last = rows.last().map_or(0, |row| row.text_at + row.text_len);
        self.line(name, summary.streams, rows.len(), summary.bytes_in, last, text);
        self.rows(&rows, text);
        Ok(())
    }

    fn large(&self, name: &OsStr, mut file: File, text: &mut String) -> Result<(), Failure> {
        let read = |e: io::Error| Failure::input("read", name, &e);
        let list = List::read(&mut file).map_err(|error| self.failure(name, &error))?;
        let blocks = list.blocks();
        let bytes = file.metadata().map_err(read)?.len();
        self.line(name, list.streams(), blocks.len(), bytes, list.text_len(), text);
        let mut damage = None;
        if self.plan.verbose > 0 {
            // On all cores; and if anything is wrong, block by block, while somebody may still read ahead: so that one has no
            // position in the file.
            let again = Arc::new(Anywhere(file.try_clone().map_err(read)?));
            let verdicts = match self.decode(Source::File(again, 0)).outcome {
                Ok(_) => blocks.iter().map(|_| Ok(())).collect(),
                Err(error) => {
                    damage = Some(error);
                    list.verify(&mut file).map_err(|error| self.failure(name, &error))?
                }
            };
            let mut stream = 0;
            let rows = blocks.iter().zip(verdicts).map(|(block, verdict)| {
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
            self.rows(&rows.collect::<Vec<_>>(), text);
        }
        match damage {
            Some(error) => Err(self.failure(name, &error)),
            None if !list.is_complete() => {
                let said = b": damaged or cut between blocks: there may be more of them";
                Err(Failure::new(2, [name.as_bytes(), said].concat()))
            }
            None => Ok(()),
        }
    }

    fn failure(&self, name: &OsStr, error: &Error) -> Failure {
        match error {
            Error::Read(e) => Failure::input("read", name, e),
            Error::Internal { .. } => {
                Failure::new(3, [name.as_bytes(), format!(": {error}: a defect of hybz.").as_bytes()].concat())
            }
            Error::NotBzip2 | Error::NotHbz => Failure::new(2, [name.as_bytes(), b" is not a bzip2 file."].concat()),
            _ => Failure::new(2, [name.as_bytes(), b": ", report::verdict(error, true).as_bytes()].concat()),
        }
    }

    fn line(&self, name: &OsStr, streams: u64, blocks: usize, coded: u64, plain: u64, text: &mut String) {
        let ratio = if coded > 0 { plain as f64 / coded as f64 } else { 0.0 };
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{streams:>7}{blocks:>9}{coded:>16}{plain:>16}{ratio:>9.3}  {}", name.display());
    }

    fn rows(&self, rows: &[Row], text: &mut String) {
        if self.plan.verbose == 0 {
            return;
        }
        let _ = writeln!(
            text,
            "  {:>7}{:>8}{:>15}{:>13}{:>15}{:>13}  {:<10}  state",
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
                "  {number:>7}{stream:>8}{:>15}{:>13}{:>15}{:>13}  0x{:08x}  {state}",
                row.at, row.coded_len, row.text_at, row.text_len, row.crc
            );
        }
    }

    /// Decodes everything and throws it away.
    fn decode(&self, source: Source) -> Decoded {
        let task = Task::Decompress { trailing_garbage: self.plan.trailing_garbage };
        let input = Input { meta: (), task, source };
        let mut decoded = Decoded { blocks: Vec::new(), outcome: Err(Error::NotBzip2) };
        flow::run(&self.pool, One(Some(input)), &mut decoded);
        decoded
    }
}

/// One input.
struct One(Option<Input<()>>);

impl Inputs for One {
    type Meta = ();

    fn next_input(&mut self) -> Option<Input<()>> {
        self.0.take()
    }
}

/// What came of it.
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
