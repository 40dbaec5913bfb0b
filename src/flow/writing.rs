//! The caller's thread, which writes the outputs of the inputs that the manager reads.

use super::input::{Outputs, told};
use crate::block::Text;
use crate::error::Error;
use crate::stream::piece::{Collect, Step};
use crate::stream::text::write_text;
use crate::summary::StreamSummary;
use crossbeam_channel::Receiver;
use hybz_queue::Submitter;
use std::io::Write;
use std::ops::ControlFlow;

/// An input that the manager has begun, for the writer.
pub(super) struct Begun<M> {
    pub meta: M,
    /// Its output end; `None` for an input that is only skipped.
    pub collect: Option<Box<dyn Collect>>,
    /// Lets the writer cancel the rest of the input.
    pub submitter: Submitter,
}

/// Takes the pieces of every input and passes them to `outputs`.
pub(super) fn write_all<O: Outputs>(begun: &Receiver<Box<Begun<O::Meta>>>, outputs: &mut O) -> ControlFlow<()> {
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
