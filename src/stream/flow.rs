//! Many inputs through one pool, in order: the engine of the command.
//!
//! A manager thread opens and reads the inputs one after the other, cuts them and puts the blocks on the queue; the
//! caller's thread takes the tickets in the same order and writes. Blocks of all inputs feed the same stations, so a
//! thousand small files keep every core as busy as one large file does, and the outputs are complete and in the order
//! of the inputs.
//!
//! ```text
//! Inputs -> manager thread: read, cut -> queue -> stations
//!                 | begun inputs, their pieces      | answers
//!                 '--------> caller's thread: join, write -> Outputs
//! ```
//!
//! With accelerators, several more threads read a long file and find its runs, or bits that look like a block, and the
//! manager only finds where blocks end, or copies them (`bzip2::parallel_read`, `bzip2::parallel_scan`).
//!
//! The manager waits only for these readers, for the memory budget and for room in the channel of begun inputs; the
//! caller's thread empties all of them and waits only for the oldest piece, which is done, being worked on or next in
//! the queue. There is therefore no deadlock.

use super::driver::{Advance, Driver, fill, read_some, write_text};
use super::piece::{Collect, Cut, Decoding, Ends, Extent, Feed, Link, Piece, Step, link};
use super::verify::Verify;
use super::{copy, detect};
use crate::error::Error;
use crate::formats::bzip2::header::Level;
use crate::formats::bzip2::stream::assemble::Assembler;
use crate::formats::bzip2::stream::parallel_read::{self, Runs};
use crate::formats::bzip2::stream::readers::Readers;
use crate::formats::bzip2::stream::split::{Block, BlockOptions, IssuedBlock, Splitter};
use crate::formats::encoding::Encoding;
use crate::formats::kinds::Formats;
use crate::schedule::Submitter;
use crate::summary::{BlockInfo, Mark, StreamInfo, StreamSummary};
use crate::{Client, Pool};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The maximum number of inputs between the manager and the writer: it bounds the number of small files in flight.
/// (Blocks are bounded by the memory budget.) The channel allocates room for all of them at the start, so it holds
/// boxes, which saves 1.3 MB.
const MAX_INPUTS: usize = 4096;
/// The shortest file for which several reading threads are started.
pub const LONG_FILE: u64 = 64 << 20;

pub use crate::read_at::ReadAt;

/// What to do with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Compress it to this encoding. With accelerators, several threads read a long file if it becomes one `.bz2`
    /// stream.
    Compress(Encoding),
    /// Write the text of its streams.
    Decompress {
        /// The formats that are read.
        formats: Formats,
        /// Whether bytes that are not a stream may follow the last stream.
        trailing_garbage: bool,
    },
    /// Write the text of its first streams: this many, whatever follows them.
    DecompressStreams(Formats, u64),
    /// Write it unchanged.
    Copy,
    /// Neither read nor write. Such an input only keeps its place in the order.
    Skip,
}

/// One input.
#[derive(Debug)]
pub struct Input<M> {
    /// The caller's own data about it.
    pub meta: M,
    /// What to do with the input.
    pub task: Task,
    /// Whether line ends are counted ([`BlockInfo::lines`]). This takes 30 us for a block of 900 kB (one core of a Zen
    /// 5 machine), on the thread that cuts or joins.
    pub count_lines: bool,
    /// Which blocks are decoded again before they are written, when compressing.
    pub verify: Verify,
    /// The source of its bytes. It is dropped when they have been read or are no longer wanted.
    pub source: Source,
}

/// The source of an input's bytes.
pub enum Source {
    /// Bytes that are read in sequence.
    Stream(Box<dyn Read + Send>),
    /// A file that can be read at any offset; the input begins at this position.
    File(Arc<dyn ReadAt>, u64),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Stream(_) => f.write_str("Stream"),
            Source::File(file, at) => f.debug_struct("File").field("len", &file.len()).field("at", at).finish(),
        }
    }
}

impl Source {
    fn into_reader(self) -> Box<dyn Read + Send> {
        match self {
            Source::Stream(reader) => reader,
            Source::File(file, at) => Box::new(FromStart { file, at }),
        }
    }
}

/// Reads a file from one end to the other.
struct FromStart {
    file: Arc<dyn ReadAt>,
    at: u64,
}

impl Read for FromStart {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read_at(buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// Opens the inputs one after another. It is called on the manager's thread, which runs ahead of the writing.
pub trait Inputs: Send + 'static {
    /// The caller's own data about an input.
    type Meta: Send + 'static;
    /// The next input.
    fn next_input(&mut self) -> Option<Input<Self::Meta>>;
    /// The number of bytes of all inputs together, if that is known in advance. Accelerators are started sooner then.
    fn expected_bytes(&self) -> Option<u64> {
        None
    }
}

/// Takes the outputs. It is called on the thread that called [`run`], in the order of the inputs.
pub trait Outputs {
    /// The caller's own data about an input.
    type Meta;
    /// The destination of its output.
    type Out: Write;
    /// An input is next. With `None` it is skipped, and no other method is called for it.
    fn begin(&mut self, meta: &mut Self::Meta) -> Option<Self::Out>;
    /// A block has been written.
    fn block(&mut self, meta: &mut Self::Meta, block: &BlockInfo) {
        let _ = (meta, block);
    }
    /// A stream has ended, and all of it is written.
    fn stream(&mut self, meta: &mut Self::Meta, stream: &StreamInfo) {
        let _ = (meta, stream);
    }
    /// All output is written (not flushed), or an error occurred. With `Break` the remaining inputs are not processed.
    fn end(&mut self, meta: Self::Meta, out: Self::Out, outcome: Result<StreamSummary, Error>) -> ControlFlow<()>;
}

/// An input that the manager has begun, for the writer.
struct Begun<M> {
    meta: M,
    /// Its output end; `None` for an input that is only skipped.
    collect: Option<Box<dyn Collect>>,
    /// Lets the writer cancel the rest of the input.
    submitter: Submitter,
}

/// Runs all inputs through the pool. Returns when every output has been taken; after the first `Break` returns
/// immediately, without waiting for a manager that may still be reading.
pub fn run<I: Inputs, O: Outputs<Meta = I::Meta>>(pool: &Pool, inputs: I, outputs: &mut O) {
    let (begun, taken) = bounded(MAX_INPUTS);
    // The thread takes the inputs out of this cell; if it cannot be started they are still in it.
    let inputs = Arc::new(Mutex::new(Some(inputs)));
    let manager = {
        let (pool, inputs) = (pool.clone(), Arc::clone(&inputs));
        thread::Builder::new().name("hybz manager".to_owned()).spawn(move || {
            let inputs = inputs.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(inputs) = inputs {
                manage(&pool, inputs, &begun);
            }
        })
    };
    match manager {
        Ok(_) => {
            let _ = write_all(&taken, outputs);
        }
        Err(_) => {
            if let Some(inputs) = inputs.lock().unwrap_or_else(PoisonError::into_inner).take() {
                run_here(pool, inputs, outputs);
            }
        }
    }
}

/// The two ends of an input's stream.
fn open(pool: &Pool, task: Task, options: BlockOptions) -> Option<Ends> {
    let lines = options.count_lines;
    let decode =
        |formats, extent| Some(detect::decode(Decoding { pool: pool.clone(), chunk: None, lines, extent, formats }));
    match task {
        Task::Compress(encoding) => Some(encoding.encode(pool, options)),
        Task::Decompress { formats, trailing_garbage } => decode(formats, Extent::all(trailing_garbage)),
        Task::DecompressStreams(formats, count) => decode(formats, Extent::Streams(count)),
        Task::Copy => Some(copy::ends()),
        Task::Skip => None,
    }
}

/// The manager's thread.
fn manage<I: Inputs>(pool: &Pool, mut inputs: I, begun: &Sender<Box<Begun<I::Meta>>>) {
    let all = pool.client();
    let _reading = pool.reading(inputs.expected_bytes());
    while let Some(Input { meta, task, count_lines, verify, source }) = inputs.next_input() {
        let options = BlockOptions { count_lines, verify };
        let client = all.sibling();
        let begin = |collect| {
            let submitter = client.submitter().clone();
            begun.send(Box::new(Begun { meta, collect, submitter })).is_ok()
        };
        let is_wanted = match (task, source) {
            (Task::Compress(Encoding::Bzip2 { level, streams: None }), Source::File(file, at)) => {
                let (link, collect) = link(Assembler::new(level));
                begin(Some(collect)) && {
                    link.end(read_file(&file, at, level, options, &client, &link));
                    true
                }
            }
            (task, source) => match open(pool, task, options) {
                Some((mut feed, collect)) => {
                    begin(Some(collect)) && {
                        let end = read_all(source, &mut *feed, &client);
                        feed.end(end);
                        true
                    }
                }
                None => begin(None),
            },
        };
        if !is_wanted {
            return;
        }
        // The writer cancels the input's jobs when it is done with the input.
        client.detach();
    }
}

/// Reads a file to be compressed to its end, or until no more is wanted: on this thread alone at first, and with
/// several threads once the pool has accelerators that are faster than one reader.
fn read_file(
    file: &Arc<dyn ReadAt>,
    at: u64,
    level: Level,
    options: BlockOptions,
    client: &Client,
    link: &Link<IssuedBlock>,
) -> io::Result<()> {
    let mut submit = |block: Block| {
        let block = Block { options, ..block };
        let permit = client.permit(block.charge());
        link.issue(block, client, permit) && !client.submitter().is_cancelled()
    };
    let mut reader = FromStart { file: Arc::clone(file), at };
    let mut splitter = Splitter::new(level, options);
    let mut ended = false;
    let mut look = true;
    while !ended {
        if std::mem::take(&mut look)
            && let Some(open) = splitter.open_len()
            && let Some(readers) = several_readers(client.pool(), file, reader.at - open as u64)
        {
            return parallel_read::read_all(readers, level, &mut submit);
        }
        match read_some(&mut reader, splitter.room())? {
            0 => {
                splitter.finish();
                ended = true;
            }
            n => splitter.filled(n),
        }
        while let Some(block) = splitter.next_piece() {
            look = true;
            if !submit(block) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Several readers for the rest of a file, if they pay and can be started.
fn several_readers(pool: &Pool, file: &Arc<dyn ReadAt>, at: u64) -> Option<Readers<Runs>> {
    let readers = readers_for(pool, &**file, at);
    (readers > 1).then(|| Readers::start(file, at, readers).ok()).flatten()
}

/// The number of threads that should read the rest of a file.
fn readers_for(pool: &Pool, file: &dyn ReadAt, at: u64) -> usize {
    if file.len().saturating_sub(at) >= LONG_FILE { pool.readers() } else { 1 }
}

/// Reads an input to its end, or until no more is wanted: on this thread alone at first, and a file with several
/// threads as in [`read_file`].
fn read_all(source: Source, feed: &mut dyn Feed, client: &Client) -> io::Result<()> {
    let file = match &source {
        Source::File(file, from) => Some((Arc::clone(file), *from)),
        Source::Stream(_) => None,
    };
    let mut reader = source.into_reader();
    let (mut read, mut shared, mut look, mut ended) = (0, false, false, false);
    while !ended {
        if std::mem::take(&mut look)
            && !shared
            && let Some((file, from)) = &file
        {
            let readers = readers_for(client.pool(), &**file, from + read);
            shared = readers > 1 && feed.share_reading(file, *from, readers);
        }
        ended = if shared {
            !feed.read_on()?
        } else {
            let n = fill(&mut *reader, feed)?;
            read += n as u64;
            n == 0
        };
        if ended {
            feed.finish();
        }
        while let Some(charge) = feed.next_charge() {
            look = true;
            let permit = client.permit(charge);
            if !feed.issue(client, permit) || client.submitter().is_cancelled() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The writer's side: takes the pieces of every input and has them written.
fn write_all<O: Outputs>(begun: &Receiver<Box<Begun<O::Meta>>>, outputs: &mut O) -> ControlFlow<()> {
    while let Ok(input) = begun.recv() {
        let Begun { mut meta, collect, submitter } = *input;
        let Some(mut out) = outputs.begin(&mut meta) else {
            submitter.cancel();
            continue;
        };
        let outcome = match collect {
            Some(mut collect) => write_one(&mut *collect, &mut out, &mut |mark| told(outputs, &mut meta, mark)),
            None => Ok(StreamSummary::default()),
        };
        submitter.cancel();
        outputs.end(meta, out, outcome)?;
    }
    ControlFlow::Continue(())
}

/// Reports the written blocks and streams to the caller.
fn told<O: Outputs>(outputs: &mut O, meta: &mut O::Meta, mark: Option<Mark>) {
    match mark {
        Some(Mark::Block(block)) => outputs.block(meta, &block),
        Some(Mark::Stream(stream)) => outputs.stream(meta, &stream),
        None => {}
    }
}

/// Writes one input's output.
fn write_one(
    collect: &mut dyn Collect,
    out: &mut dyn Write,
    told: &mut dyn FnMut(Option<Mark>),
) -> Result<StreamSummary, Error> {
    let mut bytes_out = 0;
    loop {
        match collect.step(true)? {
            Step::Out(text, mark) => {
                bytes_out += write_text(out, &text).map_err(Error::Write)?;
                told(mark);
            }
            Step::Done => return Ok(StreamSummary { bytes_out, ..collect.summary() }),
            Step::Need | Step::Pending | Step::Other => {
                if !collect.receive(false)? {
                    // Flush the output so far: the input may not go on before the reader of the output has seen it.
                    out.flush().map_err(Error::Write)?;
                    collect.receive(true)?;
                }
            }
        }
    }
}

/// Runs all inputs on the caller's thread alone: if a second thread cannot be started, or if the input is so small that
/// starting one would cost more than the work. (The pool's stations are still threads, unless it has none.)
pub fn run_here<I: Inputs, O: Outputs<Meta = I::Meta>>(pool: &Pool, inputs: I, outputs: &mut O) {
    let _ = write_here(pool, inputs, outputs);
}

fn write_here<I: Inputs, O: Outputs<Meta = I::Meta>>(pool: &Pool, mut inputs: I, outputs: &mut O) -> ControlFlow<()> {
    while let Some(Input { mut meta, task, count_lines, verify, source }) = inputs.next_input() {
        let Some(mut out) = outputs.begin(&mut meta) else { continue };
        let mut outcome = Ok(StreamSummary::default());
        if let Some(ends) = open(pool, task, BlockOptions { count_lines, verify }) {
            let mut reader = source.into_reader();
            let mut driver = Driver::new(pool, ends);
            outcome = write_alone(&mut driver, &mut *reader, &mut out, &mut |mark| told(outputs, &mut meta, mark));
        }
        outputs.end(meta, out, outcome)?;
    }
    ControlFlow::Continue(())
}

/// Reads one input and writes its output.
fn write_alone(
    driver: &mut Driver,
    reader: &mut dyn Read,
    out: &mut dyn Write,
    told: &mut dyn FnMut(Option<Mark>),
) -> Result<StreamSummary, Error> {
    let mut bytes_out = 0;
    loop {
        match driver.advance()? {
            Advance::Out(text, mark) => {
                bytes_out += write_text(out, &text).map_err(Error::Write)?;
                told(mark);
            }
            Advance::Read { rests } => {
                if rests {
                    // The input may not go on before the reader of the output has seen the output so far.
                    out.flush().map_err(Error::Write)?;
                }
                driver.read_from(reader)?;
            }
            Advance::Done => return Ok(StreamSummary { bytes_out, ..driver.summary() }),
        }
    }
}
