//! Operands whose results have no name yet, or whose sources are not removed yet.
//!
//! Operands are opened ahead, while those before them are still worked on. bzip2 works on one after the other, so in
//! `hybz -d x.bz2 x` the second operand is the result of the first. An operand that an earlier one makes, replaces or
//! removes is therefore opened when all earlier ones are done.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// An operand that is not done yet; dropped when it is.
pub struct Underway(Arc<Count>);

#[derive(Default)]
struct Count {
    operands: Mutex<usize>,
    few: Condvar,
}

impl Count {
    fn change(&self, change: impl FnOnce(&mut usize)) {
        let mut operands = self.operands.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut operands);
        if *operands <= 1 {
            self.few.notify_all();
        }
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.change(|operands| *operands -= 1);
    }
}

/// What the operands that are underway make, replace or remove.
#[derive(Default)]
pub struct Touched {
    count: Arc<Count>,
    /// Names of results without their directories, in lower case: some file systems do not tell `A` from `a`. Only an
    /// operand that is missing is looked for here, so equal names in other directories cost nothing.
    names: HashSet<Vec<u8>>,
    /// Devices and inodes of files that are replaced or removed, because a file can have several names.
    files: HashSet<(u64, u64)>,
}

impl Touched {
    /// One more operand.
    pub fn begin(&self) -> Underway {
        self.count.change(|operands| *operands += 1);
        Underway(Arc::clone(&self.count))
    }

    /// An operand will make `result`, and replace or remove the files `gone`.
    pub fn insert<'a>(&mut self, result: &Path, gone: impl Iterator<Item = &'a Metadata>) {
        self.names.insert(key(result));
        self.files.extend(gone.map(|found| (found.dev(), found.ino())));
    }

    /// Whether an operand may make a file of this name.
    pub fn has_name(&self, path: &Path) -> bool {
        self.names.contains(&key(path))
    }

    /// Whether an operand replaces or removes this file.
    pub fn has_file(&self, found: &Metadata) -> bool {
        self.files.contains(&(found.dev(), found.ino()))
    }

    /// Waits until all operands are done, except `this` one, which has just begun.
    pub fn wait(&mut self, _this: &Underway) {
        let mut operands = self.count.operands.lock().unwrap_or_else(PoisonError::into_inner);
        while *operands > 1 {
            operands = self.count.few.wait(operands).unwrap_or_else(PoisonError::into_inner);
        }
        drop(operands);
        self.names.clear();
        self.files.clear();
    }
}

fn key(path: &Path) -> Vec<u8> {
    path.file_name().map(OsStr::as_bytes).unwrap_or_default().to_ascii_lowercase()
}
