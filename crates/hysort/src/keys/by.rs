//! Keys that a closure makes.

use crate::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Closure = dyn Fn(&[u8], &mut Vec<u8>) + Send + Sync;

/// A closure that appends the key of a line to a vector. It equals its clones only.
#[derive(Clone)]
pub(super) struct By(Arc<Closure>);

/// The message of a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Panicked(String);

impl From<Panicked> for Error {
    fn from(Panicked(reason): Panicked) -> Error {
        Error::KeyPanicked { reason }
    }
}

impl By {
    pub fn new(closure: impl Fn(&[u8], &mut Vec<u8>) + Send + Sync + 'static) -> By {
        By(Arc::new(closure))
    }

    /// Replaces the contents of a vector by the key of a line.
    pub fn key(&self, line: &[u8], key: &mut Vec<u8>) -> Result<(), Panicked> {
        key.clear();
        // Unwind safe: after a panic the vector is still valid, and the closure changes nothing else here.
        catch_unwind(AssertUnwindSafe(|| self.0(line, key))).map_err(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Panicked(text.unwrap_or_else(|| "(no message)".to_owned()))
        })
    }
}

impl PartialEq for By {
    fn eq(&self, other: &By) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for By {}

impl fmt::Debug for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("By")
    }
}
