//! Inputs through the flow, and its outputs.

use hybz::flow::{Input, Inputs, Outputs, Source, Task, run};
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
}

impl Outputs for Collected {
    type Meta = ();
    type Out = Vec<u8>;
    fn begin(&mut self, (): &mut ()) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
    fn block(&mut self, (): &mut (), block: &BlockInfo) {
        self.blocks.push(*block);
    }
    fn stream(&mut self, (): &mut (), stream: &StreamInfo) {
        self.streams.push(*stream);
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

/// Sends all inputs through the flow; with `here`, on the thread of the caller, one after the other.
pub fn files(pool: &Pool, files: Vec<(Task, Verify, Source)>, here: bool) -> Collected {
    let (files, mut collected) = (Files(files.into_iter()), Collected::default());
    if here {
        run_here(pool, files, &mut collected)
    } else {
        run(pool, files, &mut collected)
    }
    collected
}

/// Sends one input through the flow.
pub fn one(pool: &Pool, task: Task, verify: Verify, source: Source) -> (Vec<u8>, Result<StreamSummary, Error>) {
    files(pool, vec![(task, verify, source)], false).out.pop().expect("an end")
}
