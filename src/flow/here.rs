//! Inputs read, and their outputs written, by the caller's thread alone.

use super::input::{Input, Inputs, Outputs, open, told};
use super::one_stream::{Advance, Driver};
use crate::error::Error;
use crate::stream::piece::BlockOptions;
use crate::stream::text::write_text;
use crate::summary::{Mark, StreamSummary};
use hybz_queue::Pool;
use std::io::{Read, Write};
use std::ops::ControlFlow;

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
