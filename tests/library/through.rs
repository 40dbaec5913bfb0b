//! Inputs through the flow, and its outputs.

use hybz::flow::{Input, Inputs, Outputs, Source, Task, run};
use hybz::index::Recorder;
use hybz::internals::flow::run_here;
use hybz::{BlockInfo, Error, Pool, StreamInfo, StreamSummary, Verify};
use std::io::Cursor;
use std::ops::ControlFlow;

/// The remaining inputs, with the task for each.
struct Files(std::vec::IntoIter<(Task, Verify, Source)>);

impl Inputs for Files {
    type Meta = ();
    fn next_input(&mut self) -> Option<Input<()>> {
        let (task, verify, source) = self.0.next()?;
        Some(Input { meta: (), task, count_lines: true, verify, source })
    }
}

/// The output for all inputs.
#[derive(Default)]
pub struct Collected {
    /// The output and result of each input, in order.
    pub out: Vec<(Vec<u8>, Result<StreamSummary, Error>)>,
    pub blocks: Vec<BlockInfo>,
    pub streams: Vec<StreamInfo>,
    /// Records an index of a single input.
    pub recorder: Option<Recorder>,
    /// One of this many outputs cannot be opened; 0: all outputs can be.
    pub skips: usize,
    pub begun: usize,
}

impl Collected {
    /// Sends all inputs through the flow; with `here`, on the thread of the caller, one after the other.
    pub fn collect(&mut self, pool: &Pool, files: Vec<(Task, Verify, Source)>, here: bool) {
        let files = Files(files.into_iter());
        if here { run_here(pool, files, self) } else { run(pool, files, self) }
    }
}

impl Outputs for Collected {
    type Meta = ();
    type Out = Vec<u8>;
    fn begin(&mut self, (): &mut ()) -> Option<Vec<u8>> {
        self.begun += 1;
        (self.skips == 0 || !self.begun.is_multiple_of(self.skips)).then(Vec::new)
    }
    fn block(&mut self, (): &mut (), block: &BlockInfo) {
        self.blocks.push(*block);
        self.recorder.iter_mut().for_each(|recorder| recorder.block(block));
    }
    fn stream(&mut self, (): &mut (), stream: &StreamInfo) {
        self.streams.push(*stream);
        self.recorder.iter_mut().for_each(|recorder| recorder.stream(stream));
    }
    fn end(&mut self, (): (), out: Vec<u8>, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        self.out.push((out, outcome));
        ControlFlow::Continue(())
    }
}

/// A source that is not a file.
pub fn stream(bytes: &[u8]) -> Source {
    Source::Stream(Box::new(Cursor::new(bytes.to_vec())))
}

/// Sends all inputs through the flow, and collects what comes out.
pub fn files(pool: &Pool, files: Vec<(Task, Verify, Source)>, here: bool) -> Collected {
    let mut collected = Collected::default();
    collected.collect(pool, files, here);
    collected
}

/// Sends one input through the flow.
pub fn one(pool: &Pool, task: Task, verify: Verify, source: Source) -> (Vec<u8>, Result<StreamSummary, Error>) {
    files(pool, vec![(task, verify, source)], false).out.pop().expect("an end")
}
