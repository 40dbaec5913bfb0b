//! `-l`: one line for each compressed file, and with `-v` one for each of its blocks; or the same as JSON.
//!
//! For a file that contains an index, only the index is read; if the index is damaged, the headers of the blocks are
//! followed as far as possible. A `.bz2` does not store the length of its text: unless a matching index is next to it,
//! it is decoded, as are files of other formats, and files with streams of several formats. With `-v` all files are
//! decoded. In a damaged file that contains an index, each block is decoded alone, to show which blocks are good; of
//! another damaged file, the blocks before the damage are shown (`--recover --json` shows those after it).

mod json;
mod table;

use crate::cli::args::{Operand, Plan, usual_index};
use crate::cli::files::commit;
use crate::cli::files::index::{self, IndexJob};
use crate::cli::files::place::Place;
use crate::cli::files::reader::Reader;
use crate::cli::files::source::{self, SourceFile};
use crate::cli::messages::formats::{HEAD_LEN, foreign, no_index};
use crate::cli::messages::{Failure, Messages, Note, Outcome};
use crate::cli::modes::{One, decompress, limits, print, undecoded};
use hybz::flow::{self, Input, Outputs, Source};
use hybz::hbz::List;
use hybz::index::{Index, Recorder};
use hybz::internals::formats::{Blocks, IndexKind};
use hybz::{BlockInfo, Error, Format, Formats, Pool, StreamInfo, StreamSummary};
use hybz_files::quote::shown;
use hybz_files::stdout;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use table::Row;

/// The number of bytes that identify the start of a `.bz2` stream.
const HEADER_LEN: usize = 3;

/// Lists what the operands contain, on stdout.
pub fn list(plan: Plan) -> anyhow::Result<Outcome> {
    let plan = Arc::new(plan);
    let messages = Messages::new(&plan);
    let (pool, terminal) = (limits::pool(&plan), stdout::is_terminal());
    let lister = Lister { plan, pool, messages, terminal };
    let mut head = lister.plan.json.is_none().then(table::head);
    let mut text = Vec::new();
    let mut operands = lister.plan.operands.iter();
    loop {
        if let Some(end) = print(&lister.messages, &text)? {
            return Ok(end);
        }
        text.clear();
        let Some(operand) = operands.next() else { return Ok(Outcome::Exit(lister.messages.code())) };
        let opened = source::open(&lister.plan, operand, "read compressed data from", lister.plan.force);
        // Shown as soon as a file is open: decoding may take long, or wait for a pipe.
        if opened.is_ok()
            && let Some(head) = head.take()
            && let Some(end) = print(&lister.messages, &head)?
        {
            return Ok(end);
        }
        let mut found = opened
            .and_then(|(place, file)| lister.operand(operand, place.as_ref(), file))
            .unwrap_or_else(Contents::failed);
        let garbage = found.totals.as_ref().and_then(|totals| totals.trailing_garbage);
        if let Some(offset) = garbage.filter(|_| !lister.plan.trailing_garbage) {
            found = Contents::failed(lister.failure(operand.name(), &Error::TrailingGarbage { offset }));
        }
        lister.messages.progress.input_done(None);
        lister.show(operand.name(), &found, &mut text);
        if garbage.is_some() && found.verdict.is_ok() {
            let remark = [shown(operand.name()).as_bytes(), b": trailing garbage after EOF ignored"].concat();
            lister.messages.print(&Note::Remark(remark));
        }
        if let Err(failure) = found.verdict {
            lister.messages.print(&Note::Failure(failure));
        }
    }
}

struct Lister {
    plan: Arc<Plan>,
    pool: Pool,
    messages: Messages,
    /// Whether stdout is a terminal.
    terminal: bool,
}

/// The contents of a file.
struct Contents {
    /// The whole file's, unless it is damaged.
    totals: Option<Totals>,
    rows: Vec<Row>,
    verdict: Result<(), Failure>,
}

/// The totals of a file.
struct Totals {
    format: Format,
    /// The origin of the numbers: "index" or "decoding".
    from: &'static str,
    streams: u64,
    blocks: u64,
    /// The largest block size of a stream, in bytes; 0: not known.
    block_size: u32,
    coded_len: u64,
    text_len: u64,
    /// The number of line ends in the text, if an index has it.
    lines: Option<u64>,
    /// The offset of bytes after the last stream that belong to none.
    trailing_garbage: Option<u64>,
}

impl Contents {
    fn failed(failure: Failure) -> Contents {
        Contents { totals: None, rows: Vec::new(), verdict: Err(failure) }
    }
}

impl Lister {
    /// Appends the output for a file.
    fn show(&self, name: &OsStr, found: &Contents, text: &mut Vec<u8>) {
        let verbose = self.plan.verbose > 0;
        match self.plan.json {
            None => table::write(name, found, verbose, self.terminal, text),
            Some(_) => json::write(name, found, verbose, text),
        }
    }

    fn operand(&self, operand: &Operand, place: Option<&Place>, mut file: File) -> Result<Contents, Failure> {
        let name = operand.name();
        let read_error = |e: io::Error| Failure::input("read", name, &e);
        let mut reader = Reader::new(file.try_clone().map_err(read_error)?);
        let head = reader.head(HEAD_LEN);
        let format = self.format(&head);
        if matches!(format.index(), IndexKind::Within(_)) {
            file.rewind().map_err(read_error)?; // a pipe cannot: the list of blocks is read from the end
            if let Some(list) = format.list(&mut file) {
                return self.by_own_index(name, file, format, list.map_err(|error| self.failure(name, &error))?);
            }
        }
        if let Some(place) = place
            && format.index() == IndexKind::Beside
            && self.plan.index.is_none()
            && self.plan.verbose == 0
        {
            let mut remark = None;
            if let Some(index) = index::beside(place, &file, &mut remark) {
                let len = file.metadata().map_err(read_error)?.len();
                // Only some records of a long index have been checked.
                match self.indexed(usual_index(place.path()).as_os_str(), &index, len) {
                    Ok(found) => return Ok(found),
                    Err(failure) => remark = Some(index::useless(&failure.text)),
                }
            }
            if let Some(remark) = remark {
                self.messages.print(&Note::Remark(remark));
            }
        }
        let mut job = self.index_job(place, &file)?;
        let source = Source::Stream(Box::new(io::Cursor::new(head.clone()).chain(reader)));
        let found = self.decoded(name, source, &head, job.as_mut());
        if let Some(job) = job.filter(|_| found.verdict.is_ok()) {
            let source = SourceFile::of(operand, &file).map_err(read_error)?;
            self.publish(name, job, source.as_ref())?;
        }
        Ok(found)
    }

    /// The format of a file that begins with `head`; another format counts as a damaged `.bz2`.
    fn format(&self, head: &[u8]) -> Format {
        self.plan.formats.of(head).unwrap_or(Format::Bzip2)
    }

    /// The index to write, if its name is free.
    fn index_job(&self, operand: Option<&Place>, file: &File) -> Result<Option<IndexJob>, Failure> {
        if self.plan.index.is_none() {
            return Ok(None);
        }
        let path = operand.map_or(Path::new(""), Place::path);
        let mut job = IndexJob::new(Place::near(self.plan.index_of(path), operand));
        job.check(path, file.metadata().ok().as_ref(), self.plan.force)?;
        job.create(operand.is_some(), None)?;
        Ok(Some(job))
    }

    /// Gives an index its name.
    fn publish(&self, name: &OsStr, job: IndexJob, source: Option<&SourceFile>) -> Result<(), Failure> {
        match job.write(source)? {
            Ok(output) => commit::publish(output, self.plan.force),
            Err(why) => {
                self.messages.print(&Note::Remark(no_index(why, name)));
                Ok(())
            }
        }
    }

    /// Lists a file of `len` bytes that has an index of this name.
    fn indexed(&self, index_name: &OsStr, index: &Index, len: u64) -> Result<Contents, Failure> {
        let failed = |error: Error| index::failure(index_name, &error);
        let totals = Totals {
            format: Format::Bzip2,
            from: "index",
            streams: index.streams(),
            blocks: index.blocks(),
            block_size: index.level().map_err(failed)?.block_limit(),
            coded_len: index.coded_len(),
            text_len: index.text_len(),
            lines: index.lines().map_err(failed)?,
            trailing_garbage: (index.coded_len() < len).then(|| index.coded_len()),
        };
        Ok(Contents { totals: Some(totals), rows: Vec::new(), verdict: Ok(()) })
    }

    /// Lists a file that must be decoded.
    fn decoded(&self, name: &OsStr, source: Source, head: &[u8], job: Option<&mut IndexJob>) -> Contents {
        let decoded = self.decode(name, source);
        let rows = table::of_decoded(&decoded.blocks);
        let blocks = rows.len() as u64;
        if let Some(job) = job {
            job.recorder = decoded.recorder;
        }
        let (totals, verdict) = match decoded.outcome {
            Ok(StreamSummary {
                streams,
                bytes_in: coded_len,
                bytes_out: text_len,
                block_size,
                blocks: counted,
                trailing_garbage,
                ..
            }) => {
                // A file with streams of several formats counts as a `.bz2`.
                let format = decoded.format.unwrap_or_else(|| self.format(head));
                let blocks = if format.blocks() == Blocks::Counted { counted } else { blocks };
                let (from, lines) = ("decoding", None);
                let totals =
                    Totals { format, from, streams, blocks, block_size, coded_len, text_len, lines, trailing_garbage };
                (Some(totals), Ok(()))
            }
            Err(error) => {
                let failure = match (&error, foreign(head)) {
                    (Error::NotBzip2, Some(other)) if self.plan.formats == Formats::All => {
                        let text = format!(" is not a bzip2 file: it is {} data; use {}.", other.name, other.list);
                        Failure::about(2, "", name, &text)
                    }
                    _ => self.failure(name, &error),
                };
                (None, Err(failure))
            }
        };
        Contents { totals, rows, verdict }
    }

    /// Lists a file that contains an index.
    fn by_own_index(&self, name: &OsStr, mut file: File, format: Format, list: List) -> Result<Contents, Failure> {
        let read_error = |e: io::Error| Failure::input("read", name, &e);
        let coded_len = file.metadata().map_err(read_error)?.len();
        if list.end() < coded_len {
            // A `.bz2` stream may follow.
            let mut head = Vec::new();
            file.seek(SeekFrom::Start(list.end())).map_err(read_error)?;
            (&file).take(HEADER_LEN as u64).read_to_end(&mut head).map_err(read_error)?;
            if head.len() == HEADER_LEN && Format::Bzip2.fits(&head) {
                file.rewind().map_err(read_error)?;
                return Ok(self.decoded(name, Source::Stream(Box::new(file)), &head, None));
            }
        }
        if self.plan.index.is_some() {
            self.messages.print(&Note::Remark(no_index(format, name)));
        }
        let totals = Totals {
            format,
            from: "index",
            streams: list.streams(),
            blocks: list.blocks().len() as u64,
            block_size: list.block_size(),
            coded_len,
            text_len: list.text_len(),
            lines: None,
            trailing_garbage: (list.is_complete() && list.end() < coded_len).then(|| list.end()),
        };
        let mut found = Contents { totals: Some(totals), rows: Vec::new(), verdict: Ok(()) };
        if self.plan.verbose > 0 {
            // Decodes on all cores and, after an error, block by block. The first decoder may still be reading ahead at
            // that time, so it reads at offsets and does not use the file's position.
            let again = Arc::new(file.try_clone().map_err(read_error)?);
            if let Err(damage) = self.decode(name, Source::File(again, 0)).outcome {
                let list = match self.plan.memory {
                    Some(memory) => list.max_memory(memory),
                    None => list,
                };
                let verdicts = list.verify(&mut file).map_err(|error| self.failure(name, &error))?;
                found.rows = table::of_list(&list, verdicts);
                found.verdict = Err(self.failure(name, &damage));
                return Ok(found);
            }
            let verdicts = list.blocks().iter().map(|_| Ok(())).collect();
            found.rows = table::of_list(&list, verdicts);
        }
        if !list.is_complete() {
            let damage = ": damaged or cut between blocks: there may be more blocks";
            found.verdict = Err(Failure::about(2, "", name, damage));
        }
        Ok(found)
    }

    fn failure(&self, name: &OsStr, error: &Error) -> Failure {
        match error {
            Error::NotBzip2 => Failure::about(2, "", name, " is not a bzip2 file."),
            _ => undecoded(&self.plan, name, error),
        }
    }

    /// Decodes everything and discards the text.
    fn decode<'a>(&'a self, name: &'a OsStr, source: Source) -> Decoded<'a> {
        let task = decompress(&self.plan);
        let input = Input { meta: (), task, count_lines: self.plan.index.is_some(), verify: hybz::Verify::Off, source };
        let (blocks, recorder) = Default::default();
        let outcome = Err(Error::NotBzip2);
        let mut decoded = Decoded { lister: self, name, blocks, recorder, format: None, outcome };
        flow::run(&self.pool, One(Some(input), None), &mut decoded);
        decoded
    }
}

/// The result of decoding a file.
struct Decoded<'a> {
    lister: &'a Lister,
    name: &'a OsStr,
    blocks: Vec<BlockInfo>,
    recorder: Recorder,
    /// The format, if all streams have one and the same format, and that format has no rows.
    format: Option<Format>,
    outcome: Result<StreamSummary, Error>,
}

impl Outputs for Decoded<'_> {
    type Meta = ();
    type Out = io::Sink;

    fn begin(&mut self, (): &mut ()) -> Option<io::Sink> {
        Some(io::sink())
    }

    fn block(&mut self, (): &mut (), block: &BlockInfo) {
        self.lister.messages.progress.advance(self.name, block.bytes_in);
        self.blocks.push(*block);
        self.recorder.block(block);
    }

    fn stream(&mut self, (): &mut (), stream: &StreamInfo) {
        if stream.format.blocks() != Blocks::Listed {
            self.format = Some(stream.format);
        }
        self.recorder.stream(stream);
    }

    fn end(&mut self, (): (), _: io::Sink, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        self.outcome = outcome;
        ControlFlow::Continue(())
    }
}
