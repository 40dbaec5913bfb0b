//! The memory that all files together may take during the measurement.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A number of bytes, shared by all threads.
pub struct Budget {
    limit: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

impl Budget {
    pub fn new(limit: u64) -> Budget {
        Budget { limit, used: Mutex::default(), freed: Condvar::new() }
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Waits until this many bytes are free, and takes them. A request for more than the limit is granted when nothing
    /// else is taken.
    pub fn permit(&self, bytes: u64) -> Permit<'_> {
        let mut used = self.used();
        while *used > 0 && *used + bytes > self.limit {
            used = self.freed.wait(used).unwrap_or_else(PoisonError::into_inner);
        }
        *used += bytes;
        Permit { budget: self, bytes }
    }

    fn used(&self) -> MutexGuard<'_, u64> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Some bytes of a [`Budget`]. Dropping it gives them back.
pub struct Permit<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Permit<'_> {
    /// Gives back all but this many bytes.
    pub fn shrink(&mut self, bytes: u64) {
        let back = self.bytes.saturating_sub(bytes);
        *self.budget.used() -= back;
        self.bytes -= back;
        self.budget.freed.notify_all();
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn never_more_than_there_is() {
        let (budget, now, most) = (Budget::new(100), AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for thread in 1..5 {
                let (budget, now, most) = (&budget, &now, &most);
                scope.spawn(move || {
                    for round in 0..200u64 {
                        let bytes = (thread * 17 + round * 13) % 101;
                        let mut permit = budget.permit(bytes);
                        most.fetch_max(now.fetch_add(bytes, SeqCst) + bytes, SeqCst);
                        thread::yield_now();
                        now.fetch_sub(bytes, SeqCst);
                        permit.shrink(bytes / 2);
                    }
                });
            }
        });
        assert!((50..=100).contains(&most.load(SeqCst)), "{most:?}");
        assert_eq!(*budget.used(), 0);
        // A request for more than the limit, when nothing is taken.
        drop(budget.permit(1000));
    }
}
