//! Inputs, what to do with them, and who takes their outputs.

use super::detect;
use crate::encoding::Encoding;
use crate::error::Error;
use crate::format::Formats;
use crate::read_at::{ReadAt, Sequential};
use crate::stream::coded::Verify;
use crate::stream::copy;
use crate::stream::piece::{BlockOptions, Decoding, Ends, Extent};
use crate::summary::{BlockInfo, Mark, StreamInfo, StreamSummary};
use hybz_queue::Pool;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

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
    /// The source of its bytes. It is dropped when the bytes have been read or are no longer wanted.
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
    pub(super) fn into_reader(self) -> Box<dyn Read + Send> {
        match self {
            Source::Stream(reader) => reader,
            Source::File(source, at) => Box::new(Sequential { source, at }),
        }
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

/// Takes the outputs. It is called on the thread that called [`run`](super::run()), in the order of the inputs.
pub trait Outputs {
    /// The caller's own data about an input.
    type Meta;
    /// The destination of its output.
    type Out: Write;
    /// An input is next. If this returns `None`, the input is skipped, and no other method is called for it.
    fn begin(&mut self, meta: &mut Self::Meta) -> Option<Self::Out>;
    /// Writes some of the text, which is not needed afterwards: `out` may keep the memory.
    fn write(&mut self, out: &mut Self::Out, text: Vec<u8>) -> io::Result<()> {
        out.write_all(&text)
    }
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

/// The two ends of an input's stream.
pub(super) fn open(pool: &Pool, task: Task, options: BlockOptions) -> Option<Ends> {
    let lines = options.count_lines;
    match task {
        Task::Compress(encoding) => Some(encoding.encode(pool, options)),
        Task::Decompress { formats, trailing_garbage } => {
            let extent = Extent::all(trailing_garbage);
            Some(detect::decode(Decoding { pool: pool.clone(), chunk: None, lines, extent, formats }))
        }
        Task::Copy => Some(copy::ends()),
        Task::Skip => None,
    }
}

/// Reports the written blocks and streams to the caller.
pub(super) fn told<O: Outputs>(outputs: &mut O, meta: &mut O::Meta, mark: Option<Mark>) {
    match mark {
        Some(Mark::Block(block)) => outputs.block(meta, &block),
        Some(Mark::Stream(stream)) => outputs.stream(meta, &stream),
        None => {}
    }
}
