//! Code that the tests of several packages share: inputs, judges, faults, and the report of a skipped test.

pub mod crafted;
pub mod faults;
#[cfg(unix)]
pub mod fork;
pub mod memory;
pub mod program;
pub mod reference;
pub mod shapes;
pub mod skip;

use std::path::{Path, PathBuf};

/// The folder `../shared/NAME` next to the repository, which may be missing.
pub fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name)
}
