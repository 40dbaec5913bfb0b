//! Operands whose results have no name yet, or whose sources are not removed yet.
//!
//! Operands are opened ahead, while those before them are still worked on. bzip2 works on one after the other, so in
//! `hybz -d x.bz2 x` the second operand is the result of the first. An operand that an earlier one makes, replaces or
//! removes is therefore opened when all earlier ones are done.
//!
//! A finished operand is forgotten: its effects can be seen in the file system. Memory is therefore bounded by the
//! number of operands pending at once, not by their total.

use hybz_files::tree::Id;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::hash::Hash;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// An operand that is not done yet; dropped when it is.
pub struct Pending {
    locks: PathLocks,
    /// The files that the operand makes, replaces or removes.
    names: Vec<Vec<u8>>,
    files: Vec<Id>,
}

/// The files that the pending operands make, replace or remove.
#[derive(Clone, Default)]
pub struct PathLocks(Arc<SharedPending>);

#[derive(Default)]
struct SharedPending {
    state: Mutex<PendingState>,
    few: Condvar,
}

#[derive(Default)]
struct PendingState {
    operands: usize,
    /// Names of results without their directories, in lower case: some file systems do not distinguish `A` from `a`.
    /// Only missing operands are looked up here, so equal names in other directories cost nothing.
    names: HashMap<Vec<u8>, usize>,
    /// Files that are replaced or removed, because a file can have several names.
    files: HashMap<Id, usize>,
}

impl PathLocks {
    fn lock(&self) -> MutexGuard<'_, PendingState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an operand.
    pub fn begin(&self) -> Pending {
        self.lock().operands += 1;
        Pending { locks: self.clone(), names: Vec::new(), files: Vec::new() }
    }

    /// Whether an operand may make a file of this name.
    pub fn has_name(&self, path: &Path) -> bool {
        self.lock().names.contains_key(&key(path))
    }

    /// Whether an operand replaces or removes this file.
    pub fn has_file(&self, file: Id) -> bool {
        self.lock().files.contains_key(&file)
    }

    /// Waits until all operands are done, except `this` one, which has just begun.
    pub fn wait(&self, _this: &Pending) {
        let mut state = self.lock();
        while state.operands > 1 {
            state = self.0.few.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Pending {
    /// The operand will make `result`, and replace or remove the files `gone`.
    pub fn touch(&mut self, result: &Path, gone: impl Iterator<Item = Id>) {
        let mut state = self.locks.lock();
        self.names.push(key(result));
        *state.names.entry(key(result)).or_default() += 1;
        for file in gone {
            self.files.push(file);
            *state.files.entry(file).or_default() += 1;
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let mut state = self.locks.lock();
        self.names.iter().for_each(|name| forget(&mut state.names, name));
        self.files.iter().for_each(|file| forget(&mut state.files, file));
        state.operands -= 1;
        if state.operands <= 1 {
            self.locks.0.few.notify_all();
        }
    }
}

/// Subtracts one operand from the count of operands that touch `key`.
fn forget<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

fn key(path: &Path) -> Vec<u8> {
    path.file_name().map(OsStr::as_bytes).unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_forgotten() {
        let locks = PathLocks::default();
        let (mut first, mut second) = (locks.begin(), locks.begin());
        first.touch(Path::new("d/A.bz2"), [(1, 2)].into_iter());
        second.touch(Path::new("e/a.BZ2"), [(1, 2), (1, 3)].into_iter());
        drop(first);
        assert!(locks.has_name(Path::new("a.bz2")) && locks.has_file((1, 2)) && locks.has_file((1, 3)));
        drop(second);
        let state = locks.lock();
        assert_eq!((state.operands, state.names.len(), state.files.len()), (0, 0, 0));
    }
}
