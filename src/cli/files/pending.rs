//! Operands whose results have no name yet, or whose sources are not removed yet.
//!
//! Operands are opened ahead, while those before them are still worked on. bzip2 works on one after the other, so in
//! `hybz -d x.bz2 x` the second operand is the result of the first. An operand that an earlier one makes, replaces or
//! removes is therefore opened only when all earlier operands are done.
//!
//! A finished operand is forgotten: its effects can be seen in the file system. Memory is therefore bounded by the
//! number of operands pending at once, not by their total.

use hybz_files::tree::Id;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// An operand that is not done yet; dropped when it is.
pub struct Pending {
    locks: PathLocks,
    touched: Vec<Touched>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Touched {
    /// The name of a result without its directory, in lower case: some file systems do not distinguish `A` from `a`.
    /// Only missing operands are looked up by name, so equal names in other directories cost nothing.
    Name(Vec<u8>),
    /// The identity of a file that is replaced or removed: a file can have several names.
    File(Id),
}

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
    touched: HashMap<Touched, usize>,
}

impl PathLocks {
    fn lock(&self) -> MutexGuard<'_, PendingState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(&self) -> Pending {
        self.lock().operands += 1;
        Pending { locks: self.clone(), touched: Vec::new() }
    }

    pub fn has_name(&self, path: &Path) -> bool {
        self.lock().touched.contains_key(&named(path))
    }

    pub fn has_file(&self, file: Id) -> bool {
        self.lock().touched.contains_key(&Touched::File(file))
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
    pub fn touch(&mut self, result: &Path, gone: impl Iterator<Item = Id>) {
        let mut state = self.locks.lock();
        for touched in iter::once(named(result)).chain(gone.map(Touched::File)) {
            *state.touched.entry(touched.clone()).or_default() += 1;
            self.touched.push(touched);
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let mut state = self.locks.lock();
        for touched in &self.touched {
            if let Some(count) = state.touched.get_mut(touched) {
                *count -= 1;
                if *count == 0 {
                    state.touched.remove(touched);
                }
            }
        }
        state.operands -= 1;
        if state.operands <= 1 {
            self.locks.0.few.notify_all();
        }
    }
}

fn named(path: &Path) -> Touched {
    Touched::Name(path.file_name().map(OsStr::as_bytes).unwrap_or_default().to_ascii_lowercase())
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
        assert_eq!((state.operands, state.touched.len()), (0, 0));
    }
}
