//! Signals. Python runs their handlers only when it is asked to, so long work asks.

use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// How long a signal waits at most, if the work between two checks is short.
const PERIOD: Duration = Duration::from_millis(50);

/// Has Python run the handlers of signals, once in a period.
pub(crate) struct Signals {
    next: Instant,
}

impl Signals {
    pub fn new() -> Signals {
        Signals { next: Instant::now() + PERIOD }
    }

    /// Returns what a handler has raised, such as KeyboardInterrupt. Call it without the interpreter's lock: it takes
    /// the lock when a period has passed.
    pub fn check(&mut self) -> PyResult<()> {
        if Instant::now() < self.next {
            return Ok(());
        }
        Python::attach(|py| py.check_signals())?;
        self.next = Instant::now() + PERIOD;
        Ok(())
    }
}
