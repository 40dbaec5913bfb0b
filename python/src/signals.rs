//! Signals. Python runs their handlers only on request, so long work makes that request from time to time.

use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// The maximum time that a signal waits, if the work between two checks is short.
const PERIOD: Duration = Duration::from_millis(50);

/// Makes Python run the handlers of signals, once in a period.
pub(crate) struct Signals {
    next: Instant,
}

impl Signals {
    pub fn new() -> Signals {
        Signals { next: Instant::now() + PERIOD }
    }

    /// Returns the exception that a handler has raised, such as KeyboardInterrupt. Call it without the interpreter's
    /// lock: it takes the lock when a period has passed.
    pub fn check(&mut self) -> PyResult<()> {
        if Instant::now() < self.next {
            return Ok(());
        }
        Python::attach(|py| py.check_signals())?;
        self.next = Instant::now() + PERIOD;
        Ok(())
    }
}
