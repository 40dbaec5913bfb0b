//! Many inputs through one pool, in order: what the command runs on.
//!
//! A manager thread opens and reads the inputs one after the other, cuts them and puts the blocks on the queue; the caller's
//! thread takes the tickets in the same order and writes. Blocks of all inputs feed the same stations, so a thousand small
//! files keep every core as busy as one large file does, and everything comes out whole and in the order of the inputs.
//!
//! ```text
//! Inputs -> manager thread: read, cut -> queue -> stations
//!                 | items: Begin, Piece.., End      | replies
//!                 '--------> caller's thread: join, write -> Outputs
//! ```
//!
//! Beside fast stations, several more threads read a long file and find its runs, and the manager only finds where blocks end
//! (`stretches`).
//!
//! The manager waits only for these readers, for the window and for room in the channel of items; the caller's thread empties both and waits only
//! for the oldest piece, which is done, being worked on or next in the queue. So nothing can lock up.

use super::assemble::Assembler;
use super::hbz;
use super::hbz::detect::{EitherCut, EitherJoin};
use super::piece::{Cut, Extent, Issued, Join, Piece, Step};
use super::pool::Pool;
use super::pump::{Pump, read_some, send, write_text};
use super::scan;
use super::split::Splitter;
use super::stretches::{self, Readers};
use crate::block::Text;
use crate::error::Error;
use crate::format::bzip2::Level;
use crate::format::hbz::LargeBlocks;
use crate::summary::{BlockInfo, StreamSummary};
use crossbeam_channel::{Receiver, RecvError, Sender, bounded};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Items between the manager and the writer: bounds how many small files are under way at once. (Blocks are bounded by the
/// window: with GPUs that may be a thousand.)
const MAX_ITEMS: usize = 4096;
/// How much of an input that is only copied is read at once.
const COPY_CHUNK: usize = 128 << 10;
/// How long a file is, at least, for which several threads are started to read it.
pub const LONG_FILE: u64 = 64 << 20;

pub use super::stretches::ReadAt;

/// What is to be done with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Write it as one `.bz2` stream.
    Compress(Level),
    /// Write it as one `.hbz` stream.
    CompressLarge(LargeBlocks),
    /// Write what its streams hold, `.bz2` or `.hbz`.
    Decompress {
        /// Whether bytes that are no stream may follow the last stream.
        trailing_garbage: bool,
    },
    /// Write it unchanged.
    Copy,
    /// Read and write nothing. Such an input exists for its place in the order.
    Skip,
}

/// One input.
pub struct Input<M> {
    /// Whatever the caller wants to know about it later.
    pub meta: M,
    /// What is to be done with it.
    pub task: Task,
    /// Its bytes. Dropped when it has been read, or is no longer wanted.
    pub source: Source,
}

/// Where an input's bytes come from.
pub enum Source {
    /// They come one after the other.
    Stream(Box<dyn Read + Send>),
    /// They can be read anywhere, from this position on.
    File(Arc<dyn ReadAt>, u64),
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

/// Opens the inputs, one after the other. Called on the manager's thread, which runs ahead of the writing.
pub trait Inputs: Send + 'static {
    /// What the caller wants to know about an input later.
    type Meta: Send + 'static;
    /// The next input.
    fn next_input(&mut self) -> Option<Input<Self::Meta>>;
}

/// Takes the outputs. Called on the thread that called [`run`], in the order of the inputs.
pub trait Outputs {
    /// What the caller wants to know about an input.
    type Meta;
    /// Where its output goes.
    type Out: Write;
    /// An input is next. With `None` it is passed over: no more is heard of it.
    fn begin(&mut self, meta: &mut Self::Meta) -> Option<Self::Out>;
    /// A block has been written.
    fn block(&mut self, meta: &mut Self::Meta, block: &BlockInfo) {
        let _ = (meta, block);
    }
    /// All output is written (not flushed), or something went wrong. With `Break` the rest of the inputs is not processed.
    fn end(&mut self, meta: Self::Meta, out: Self::Out, outcome: Result<StreamSummary, Error>) -> ControlFlow<()>;
}

/// What the manager tells the writer, in order.
enum Item<M> {
    Begin(M, Task, Arc<AtomicBool>),
    Piece(Issued),
    End(io::Result<()>),
}

/// Runs all inputs through the pool. Returns when every output has been taken, or right after the first `Break`, without
/// waiting for a manager that may still be reading.
pub fn run<I: Inputs, O: Outputs<Meta = I::Meta>>(pool: &Pool, inputs: I, outputs: &mut O) {
    let (items, taken) = bounded(MAX_ITEMS);
    // The thread takes the inputs out of here; if it cannot be started they are still there.
    let inputs = Arc::new(Mutex::new(Some(inputs)));
    let manager = {
        let (pool, inputs) = (pool.clone(), Arc::clone(&inputs));
        thread::Builder::new().name("hybz manager".to_owned()).spawn(move || {
            let inputs = inputs.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(inputs) = inputs {
                manage(&pool, inputs, &items);
            }
        })
    };
    match manager {
        Ok(_) => {
            let _ = write_all(pool, &taken, outputs);
        }
        Err(_) => {
            if let Some(inputs) = inputs.lock().unwrap_or_else(PoisonError::into_inner).take() {
                run_here(pool, inputs, outputs);
            }
        }
    }
}

fn cutter(pool: &Pool, task: Task) -> Option<Box<dyn Cut + Send>> {
    match task {
        Task::Compress(level) => Some(Box::new(Splitter::new(level))),
        Task::CompressLarge(large) => Some(Box::new(hbz::blocks::Blocks::new(large.stream(), pool))),
        Task::Decompress { .. } => Some(Box::new(EitherCut::new(pool, scan::CHUNK))),
        Task::Copy => Some(Box::new(Chunks { room: Vec::new(), ready: None })),
        Task::Skip => None,
    }
}

fn joiner(pool: &Pool, task: Task) -> Box<dyn Join + Send> {
    match task {
        Task::Compress(level) => Box::new(Assembler::new(level)),
        Task::CompressLarge(large) => Box::new(hbz::assemble::Assembler::new(large.stream())),
        Task::Decompress { trailing_garbage } => Box::new(EitherJoin::new(pool, Extent::all(trailing_garbage))),
        Task::Copy | Task::Skip => Box::new(Unchanged::default()),
    }
}

/// The manager's thread.
fn manage<I: Inputs>(pool: &Pool, mut inputs: I, items: &Sender<Item<I::Meta>>) {
    let permits = Arc::new(AtomicUsize::new(0));
    while let Some(Input { meta, task, source }) = inputs.next_input() {
        let cancelled = Arc::new(AtomicBool::new(false));
        if items.send(Item::Begin(meta, task, Arc::clone(&cancelled))).is_err() {
            return;
        }
        let mut sent = true;
        let mut submit = |piece: Piece| {
            let permit = pool.window().permit(piece.charge, &permits);
            sent = items.send(Item::Piece(send(pool, piece, permit, &cancelled))).is_ok();
            sent && !cancelled.load(Relaxed)
        };
        let reading = pool.window().reading();
        let end = match (task, several_readers(pool, &source, task)) {
            (Task::Compress(level), Some(readers)) => stretches::read_all(readers, level, &mut submit),
            _ => match cutter(pool, task) {
                Some(mut cut) => read_all(source.into_reader(), &mut *cut, &mut submit),
                None => Ok(()),
            },
        };
        drop(reading);
        if !sent || items.send(Item::End(end)).is_err() {
            return;
        }
    }
}

/// Several readers for one input, if it is worth it and they can be had.
fn several_readers(pool: &Pool, source: &Source, task: Task) -> Option<Readers> {
    let (Source::File(file, at), Task::Compress(_)) = (source, task) else { return None };
    let worth_it = pool.readers() > 1 && file.len().saturating_sub(*at) >= LONG_FILE;
    worth_it.then(|| Readers::start(file, *at, pool.readers()).ok()).flatten()
}

/// Reads an input to its end, or until `submit` says that no more is wanted.
fn read_all(
    mut reader: Box<dyn Read + Send>,
    cut: &mut dyn Cut,
    submit: &mut dyn FnMut(Piece) -> bool,
) -> io::Result<()> {
    let mut ended = false;
    while !ended {
        match read_some(&mut *reader, cut.room())? {
            0 => {
                cut.finish();
                ended = true;
            }
            n => cut.filled(n),
        }
        while let Some(piece) = cut.next_piece() {
            if !submit(piece) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The writer's side: takes every input's items and has them written.
fn write_all<O: Outputs>(pool: &Pool, items: &Receiver<Item<O::Meta>>, outputs: &mut O) -> ControlFlow<()> {
    while let Ok(item) = items.recv() {
        let Item::Begin(mut meta, task, cancelled) = item else { continue }; // of an input that was passed over
        let Some(mut out) = outputs.begin(&mut meta) else {
            cancelled.store(true, Relaxed);
            continue;
        };
        let mut join = joiner(pool, task);
        let outcome = write_one(items, &mut *join, &mut out, &mut |info| outputs.block(&mut meta, info));
        cancelled.store(true, Relaxed);
        outputs.end(meta, out, outcome)?;
    }
    ControlFlow::Continue(())
}

/// Writes one input's output. Leaves the rest of its items in the channel if it needs no more of them.
fn write_one<M>(
    items: &Receiver<Item<M>>,
    join: &mut dyn Join,
    out: &mut dyn Write,
    block: &mut dyn FnMut(&BlockInfo),
) -> Result<StreamSummary, Error> {
    let mut bytes_out = 0;
    loop {
        match join.step(true)? {
            Step::Out(text, info) => {
                bytes_out += write_text(out, &text).map_err(Error::Write)?;
                if let Some(info) = info {
                    block(&info);
                }
            }
            Step::Done => return Ok(StreamSummary { bytes_out, ..join.summary() }),
            Step::Need | Step::Pending => match next_item(items, out)? {
                Ok(Item::Piece(piece)) => join.add(piece),
                Ok(Item::End(Ok(()))) => join.finish(),
                Ok(Item::End(Err(e))) => return Err(Error::Read(e)),
                // The manager never does this, unless it panicked.
                Ok(Item::Begin(..)) | Err(_) => {
                    return Err(Error::Internal { block: 0, reason: "the manager stopped".into() });
                }
            },
        }
    }
}

/// The next item. If that is yet to come, what has been written so far goes out first: perhaps nothing comes before it has been read.
fn next_item<M>(items: &Receiver<Item<M>>, out: &mut dyn Write) -> Result<Result<Item<M>, RecvError>, Error> {
    if let Ok(item) = items.try_recv() {
        return Ok(Ok(item));
    }
    out.flush().map_err(Error::Write)?;
    Ok(items.recv())
}

/// The same on the caller's thread alone: for when there is no second to be had, or for input so small that starting one
/// would cost more than the work. (The pool's stations are still threads, unless it has none.)
pub fn run_here<I: Inputs, O: Outputs<Meta = I::Meta>>(pool: &Pool, inputs: I, outputs: &mut O) {
    let _ = write_here(pool, inputs, outputs);
}

fn write_here<I: Inputs, O: Outputs<Meta = I::Meta>>(pool: &Pool, mut inputs: I, outputs: &mut O) -> ControlFlow<()> {
    while let Some(Input { mut meta, task, source }) = inputs.next_input() {
        let Some(mut out) = outputs.begin(&mut meta) else { continue };
        let mut outcome = Ok(StreamSummary::default());
        if let Some(cut) = cutter(pool, task) {
            let mut reader = source.into_reader();
            let mut pump = Pump::new(pool, cut, joiner(pool, task));
            let mut bytes_out = 0;
            outcome = loop {
                match pump.pull(&mut *reader) {
                    Ok(None) => break Ok(StreamSummary { bytes_out, ..pump.summary() }),
                    Ok(Some((text, info))) => {
                        match write_text(&mut out, &text) {
                            Ok(n) => bytes_out += n,
                            Err(e) => break Err(Error::Write(e)),
                        }
                        if let Some(info) = info {
                            outputs.block(&mut meta, &info);
                        }
                    }
                    Err(e) => break Err(e),
                }
            };
        }
        outputs.end(meta, out, outcome)?;
    }
    ControlFlow::Continue(())
}

/// Cuts an input that is only copied.
struct Chunks {
    room: Vec<u8>,
    ready: Option<Vec<u8>>,
}

impl Cut for Chunks {
    fn room(&mut self) -> &mut [u8] {
        self.room.resize(COPY_CHUNK, 0);
        &mut self.room
    }

    fn filled(&mut self, n: usize) {
        let mut chunk = std::mem::take(&mut self.room);
        chunk.truncate(n);
        self.ready = Some(chunk);
    }

    fn finish(&mut self) {}

    fn next_piece(&mut self) -> Option<Piece> {
        let raw = self.ready.take()?;
        Some(Piece { work: None, span: None, charge: raw.capacity() as u64, raw })
    }
}

/// Joins an input that is only copied.
#[derive(Default)]
struct Unchanged {
    pieces: VecDeque<Issued>,
    bytes: u64,
    ended: bool,
}

impl Join for Unchanged {
    fn add(&mut self, piece: Issued) {
        self.pieces.push_back(piece);
    }

    fn finish(&mut self) {
        self.ended = true;
    }

    fn step(&mut self, _wait: bool) -> Result<Step, Error> {
        Ok(match self.pieces.pop_front() {
            Some(piece) => {
                self.bytes += piece.raw.len() as u64;
                Step::Out(Text::Plain(piece.raw), None)
            }
            None if self.ended => Step::Done,
            None => Step::Need,
        })
    }

    fn summary(&self) -> StreamSummary {
        StreamSummary { bytes_in: self.bytes, ..StreamSummary::default() }
    }
}
