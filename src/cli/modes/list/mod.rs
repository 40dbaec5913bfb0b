//! `-l`: one line for each compressed file, and with `-v` one for each of its blocks; or the same as JSON.
//!
//! For a file that contains an index, only the index is read; if the index is damaged, the headers of the blocks are
//! followed as far as possible. A `.bz2` does not store the length of its text: unless a matching index is next to it,
//! it is decoded, as are files of other formats, and files with streams of several formats. With `-v` all files are
//! decoded. In a damaged file that contains an index, each block is decoded alone, to show which blocks are good; of
//! any other damaged file, the blocks before the damage are shown (`--recover --json` shows those after it).

mod table;

use crate::cli::args::Plan;
use crate::cli::files::index::{self};
use crate::cli::files::source_file;
use crate::cli::files::{IndexJob, Place, Reader, SourceFile, commit};
use crate::cli::messages::formats::{HEAD_LEN, foreign, no_index};
use crate::cli::messages::{Failure, Messages, Note};
use crate::cli::modes::{One, decompress, limits, print, undecoded};
use hybz::flow::{self, Input, Outputs, Source};
use hybz::hbz::List;
use hybz::index::{Index, Recorder};
use hybz::internals::formats::{Blocks, IndexKind};
use hybz::{BlockInfo, Error, Format, Formats, Pool, StreamInfo, StreamSummary};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use table::Row;

pub fn list(plan: Plan) -> anyhow::Result<u8> {
    let plan = Arc::new(plan);
    let (messages, pool) = (Messages::new(&plan), limits::pool(&plan));
    let lister = Lister { plan: &plan, pool, messages: &messages };
    let mut head = plan.json.is_none().then(table::head);
    for operand in &plan.operands {
        let (name, mut found) = (operand.name(), Contents::default());
        let opened = source_file::open(&plan, operand, "read compressed data from", plan.force);
        // Shown as soon as a file is open: decoding may take long, or wait for a pipe.
        if opened.is_ok()
            && let Some(head) = head.take()
        {
            print(&messages, &head)?;
        }
        let mut verdict = opened.and_then(|(source, file)| lister.operand(name, source.as_ref(), file, &mut found));
        let garbage = found.totals.as_ref().and_then(|totals| totals.trailing_garbage);
        if let Some(offset) = garbage.filter(|_| !plan.trailing_garbage) {
            verdict = Err(lister.failure(name, &Error::TrailingGarbage { offset }));
            found = Contents::default();
        }
        messages.progress.counts.input_done(None);
        let (mut text, verbose) = (Vec::new(), plan.verbose > 0);
        match plan.json {
            None => table::write(name, &found, verbose, &mut text),
            Some(_) => table::object(name, &found, verdict.as_ref().err(), verbose, &mut text),
        }
        match verdict {
            Ok(()) if garbage.is_some() => {
                messages.print(&Note::about(name, ": trailing garbage after EOF ignored"));
            }
            Ok(()) => {}
            Err(failure) => messages.print(&Note::Failure(failure)),
        }
        print(&messages, &text)?;
    }
    Ok(messages.code())
}

struct Lister<'a> {
    plan: &'a Plan,
    pool: Pool,
    messages: &'a Messages,
}

#[derive(Default)]
struct Contents {
    /// The totals of the whole file, unless it is damaged.
    totals: Option<Totals>,
    rows: Vec<Row>,
}

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
    /// The offset of the bytes after the last stream, which belong to no stream.
    trailing_garbage: Option<u64>,
}

impl Lister<'_> {
    /// Finds the contents of a file. What has been found before a failure is shown, too.
    fn operand(
        &self,
        name: &OsStr,
        source: Option<&SourceFile>,
        mut file: File,
        found: &mut Contents,
    ) -> Result<(), Failure> {
        let place = source.map(|source| &source.place);
        let read_error = |e: io::Error| Failure::input("read", name, &e);
        let mut reader = Reader::new(file.try_clone().map_err(read_error)?);
        let head = reader.head(HEAD_LEN);
        let format = self.format(&head);
        if matches!(format.index(), IndexKind::Within(_)) {
            file.rewind().map_err(read_error)?; // a pipe cannot: the list of blocks is read from the end
            if let Some(list) = format.list(&mut file) {
                let list = list.map_err(|error| self.failure(name, &error))?;
                return self.by_own_index(name, file, format, list, found);
            }
        }
        if format.index() == IndexKind::Beside && self.plan.index.is_none() && self.plan.verbose == 0 {
            let (mut remark, open) = (None, |place: &Place| index::open(place, &file));
            if let Some((place, index)) = index::wanted(self.plan, place, open, "decoding", &mut remark)? {
                let len = file.metadata().map_err(read_error)?.len();
                // Only some records of a long index have been checked.
                match indexed(&index, len) {
                    Ok(totals) => {
                        found.totals = Some(totals);
                        return Ok(());
                    }
                    Err(error) => {
                        let failure = index::failure(place.name(), &error);
                        remark = Some(index::useless(&failure.text, "decoding"));
                    }
                }
            }
            remark.into_iter().for_each(|remark| self.messages.print(&Note::Remark(remark)));
        }
        let mut job = self.index_job(place, &file)?;
        let bytes = Source::Stream(Box::new(io::Cursor::new(head.clone()).chain(reader)));
        self.decoded(name, bytes, &head, job.as_mut(), found)?;
        let Some(job) = job else { return Ok(()) };
        match job.write(source)? {
            Ok(output) => commit::publish(output, self.plan.force),
            Err(why) => {
                self.messages.print(&Note::Remark(no_index(why, name)));
                Ok(())
            }
        }
    }

    /// The format of a file that begins with `head`; another format counts as a damaged `.bz2`.
    fn format(&self, head: &[u8]) -> Format {
        self.plan.formats.of(head).unwrap_or(Format::Bzip2)
    }

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

    fn decoded(
        &self,
        name: &OsStr,
        source: Source,
        head: &[u8],
        job: Option<&mut IndexJob>,
        found: &mut Contents,
    ) -> Result<(), Failure> {
        let decoded = self.decode(name, source);
        found.rows = table::of_decoded(&decoded.blocks);
        if let Some(job) = job {
            job.recorder = decoded.recorder;
        }
        let stream = decoded.outcome.map_err(|error| match (&error, foreign(head)) {
            (Error::NotBzip2, Some(other)) if self.plan.formats == Formats::All => {
                let text = format!(" is not a bzip2 file: it is {} data; use {}.", other.name, other.list);
                Failure::about(2, "", name, &text)
            }
            _ => self.failure(name, &error),
        })?;
        // A file with streams of several formats counts as a `.bz2`.
        let format = decoded.format.unwrap_or_else(|| self.format(head));
        let is_counted = format.blocks() == Blocks::Counted;
        found.totals = Some(Totals {
            format,
            from: "decoding",
            streams: stream.streams,
            blocks: if is_counted { stream.blocks } else { found.rows.len() as u64 },
            block_size: stream.block_size,
            coded_len: stream.bytes_in,
            text_len: stream.bytes_out,
            lines: None,
            trailing_garbage: stream.trailing_garbage,
        });
        Ok(())
    }

    fn by_own_index(
        &self,
        name: &OsStr,
        mut file: File,
        format: Format,
        list: List,
        found: &mut Contents,
    ) -> Result<(), Failure> {
        let read_error = |e: io::Error| Failure::input("read", name, &e);
        let coded_len = file.metadata().map_err(read_error)?.len();
        if list.end() < coded_len {
            // A `.bz2` stream may follow: three bytes tell.
            let mut head = Vec::new();
            file.seek(SeekFrom::Start(list.end())).map_err(read_error)?;
            (&file).take(3).read_to_end(&mut head).map_err(read_error)?;
            if head.len() == 3 && Format::Bzip2.fits(&head) {
                file.rewind().map_err(read_error)?;
                return self.decoded(name, Source::Stream(Box::new(file)), &head, None, found);
            }
        }
        if self.plan.index.is_some() {
            self.messages.print(&Note::Remark(no_index(format, name)));
        }
        found.totals = Some(Totals {
            format,
            from: "index",
            streams: list.streams(),
            blocks: list.blocks().len() as u64,
            block_size: list.block_size(),
            coded_len,
            text_len: list.text_len(),
            lines: None,
            trailing_garbage: (list.is_complete() && list.end() < coded_len).then(|| list.end()),
        });
        if self.plan.verbose > 0 {
            // Decodes on all cores and, after an error, block by block. The first decoder may still be reading ahead at
            // that time, so it reads at offsets and does not use the file's position.
            let again = Arc::new(file.try_clone().map_err(read_error)?);
            let Err(damage) = self.decode(name, Source::File(again, 0)).outcome else {
                let verdicts = list.blocks().iter().map(|_| Ok(())).collect();
                found.rows = table::of_list(&list, verdicts);
                return self.whole(name, &list);
            };
            let list = match self.plan.memory {
                Some(memory) => list.max_memory(memory),
                None => list,
            };
            let verdicts = list.verify(&mut file).map_err(|error| self.failure(name, &error))?;
            found.rows = table::of_list(&list, verdicts);
            return Err(self.failure(name, &damage));
        }
        self.whole(name, &list)
    }

    fn whole(&self, name: &OsStr, list: &List) -> Result<(), Failure> {
        let damage = ": damaged or cut between blocks: there may be more blocks";
        if list.is_complete() { Ok(()) } else { Err(Failure::about(2, "", name, damage)) }
    }

    fn failure(&self, name: &OsStr, error: &Error) -> Failure {
        match error {
            Error::NotBzip2 => Failure::about(2, "", name, " is not a bzip2 file."),
            _ => undecoded(self.plan, name, error),
        }
    }

    /// Decodes everything and discards the text.
    fn decode<'a>(&'a self, name: &'a OsStr, source: Source) -> Decoded<'a> {
        let (task, count_lines, verify) = (decompress(self.plan), self.plan.index.is_some(), hybz::Verify::Off);
        let input = Input { meta: (), task, count_lines, verify, source };
        let (blocks, recorder, outcome) = (Vec::new(), Recorder::new(), Err(Error::NotBzip2));
        let mut decoded = Decoded { messages: self.messages, name, blocks, recorder, format: None, outcome };
        flow::run(&self.pool, One(Some(input), None), &mut decoded);
        decoded
    }
}

fn indexed(index: &Index, len: u64) -> Result<Totals, Error> {
    Ok(Totals {
        format: Format::Bzip2,
        from: "index",
        streams: index.streams(),
        blocks: index.blocks(),
        block_size: index.level()?.block_limit(),
        coded_len: index.coded_len(),
        text_len: index.text_len(),
        lines: index.lines()?,
        trailing_garbage: (index.coded_len() < len).then(|| index.coded_len()),
    })
}

struct Decoded<'a> {
    messages: &'a Messages,
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
        self.messages.progress.advance(self.name, block.bytes_in);
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
