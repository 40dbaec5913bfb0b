//! The manager's thread, and the writing side.

use super::here::run_here;
use super::input::{Input, Inputs, Outputs, open, told};
use super::reading::read_all;
use crate::block::Text;
use crate::error::Error;
use crate::stream::piece::{BlockOptions, Collect, Step};
use crate::stream::text::write_text;
use crate::summary::StreamSummary;
use crossbeam_channel::{Receiver, Sender, bounded};
use hybz_queue::{Pool, Submitter};
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The maximum number of inputs between the manager and the writer: it bounds the number of small files in flight.
/// (Blocks are bounded by the memory budget.) The channel allocates room for all of them at the start, so it holds
/// boxes, which saves 1.3 MB.
const MAX_INPUTS: usize = 4096;

/// The same for each core, if there are no accelerators, which take hundreds of blocks at once. Without this bound, a
/// call for 2,000 files of 10 kB took 1.02 of the time on two cores: it touched 8 MB more.
const INPUTS_PER_CORE: usize = 256;

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
    let most = if pool.has_accelerators() { MAX_INPUTS } else { INPUTS_PER_CORE * pool.cores().max(1) };
    let (begun, taken) = bounded(most.min(MAX_INPUTS));
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

/// The manager's thread.
fn manage<I: Inputs>(pool: &Pool, mut inputs: I, begun: &Sender<Box<Begun<I::Meta>>>) {
    let all = pool.client();
    let _reading = pool.reading(inputs.expected_bytes());
    while let Some(Input { meta, task, count_lines, verify, source }) = inputs.next_input() {
        let client = all.sibling();
        let begin = |collect| {
            let submitter = client.submitter().clone();
            begun.send(Box::new(Begun { meta, collect, submitter })).is_ok()
        };
        let is_wanted = match open(pool, task, BlockOptions { count_lines, verify }) {
            Some((mut feed, collect)) => {
                begin(Some(collect)) && {
                    let end = read_all(source, &mut *feed, &client);
                    feed.end(end);
                    true
                }
            }
            None => begin(None),
        };
        if !is_wanted {
            return;
        }
        // The writer cancels the input's jobs when it is done with the input.
        client.detach();
    }
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
            Some(mut collect) => write_one(&mut *collect, outputs, &mut meta, &mut out),
            None => Ok(StreamSummary::default()),
        };
        submitter.cancel();
        outputs.end(meta, out, outcome)?;
    }
    ControlFlow::Continue(())
}

/// Writes one input's output.
fn write_one<O: Outputs>(
    collect: &mut dyn Collect,
    outputs: &mut O,
    meta: &mut O::Meta,
    out: &mut O::Out,
) -> Result<StreamSummary, Error> {
    let mut bytes_out = 0;
    loop {
        match collect.step(true)? {
            Step::Out(text, mark) => {
                bytes_out += text.len();
                match text {
                    Text::Plain(bytes) => outputs.write(out, bytes),
                    Text::Parts(parts) => parts.into_iter().try_for_each(|part| outputs.write(out, part.into_vec())),
                    Text::Compact(compact) => compact.pieces().try_for_each(|piece| outputs.write(out, piece)),
                    text => write_text(out, &text).map(drop),
                }
                .map_err(Error::Write)?;
                told(outputs, meta, mark);
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
