//! The common part of all calls: their output, and the messages about their errors.

use crate::args::Plan;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::spill;
use hysort::Error;
use std::io::{BufWriter, Write};
use std::sync::Arc;

/// The outcome of a successful call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Lines are out of order.
    Disorder,
}

/// Bytes per write.
const WRITE: usize = 256 << 10;

/// The state of a call that has a result.
pub struct Call<'a> {
    pub plan: &'a Plan,
    pub output: Output,
    pub progress: Arc<Progress>,
}

impl Call<'_> {
    /// Has `work` write the result.
    pub fn write<T>(self, work: impl FnOnce(&mut BufWriter<Output>) -> Result<T, Error>) -> Result<T, Failure> {
        self.output.begin();
        let mut out = BufWriter::with_capacity(WRITE, self.output);
        let worked = work(&mut out).and_then(|result| out.flush().map(|()| result).map_err(Error::Write));
        let (output, _unwritten) = out.into_parts();
        let result = worked.map_err(|e| failure(e, self.plan))?;
        output.finish()?;
        self.progress.end();
        Ok(result)
    }
}

/// The message about an error of sorting. Errors of inputs, of the output and of creating temporary files carry their
/// own message.
pub fn failure(e: Error, plan: &Plan) -> Failure {
    match e {
        Error::Read(e) | Error::Write(e) | Error::Temporary(e) => {
            e.downcast().unwrap_or_else(|e| spill::failure(plan, e))
        }
        e => Failure::sentence(e.to_string()),
    }
}
