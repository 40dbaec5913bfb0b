//! A limit on the number of open directories: a walk waits until pending files have released their directories.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A fixed number of slots; taking one more waits.
#[derive(Clone, Debug)]
pub struct Slots(Arc<Count>);

#[derive(Debug)]
struct Count {
    max: usize,
    taken: Mutex<usize>,
    free: Condvar,
}

/// A slot, given back when it is dropped.
#[derive(Debug)]
pub struct Slot(Arc<Count>);

impl Slots {
    /// At most `max` slots are taken at any time.
    pub fn new(max: usize) -> Slots {
        Slots(Arc::new(Count { max, taken: Mutex::new(0), free: Condvar::new() }))
    }

    /// Waits until a slot is free, and takes it.
    pub fn take(&self) -> Slot {
        let mut taken = self.0.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken >= self.0.max {
            taken = self.0.free.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += 1;
        Slot(Arc::clone(&self.0))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn one_more_waits() {
        let slots = Slots::new(2);
        let (first, _second) = (slots.take(), slots.take());
        let waits = thread::spawn({
            let slots = slots.clone();
            move || drop(slots.take())
        });
        thread::sleep(Duration::from_millis(20));
        assert!(!waits.is_finished());
        drop(first);
        waits.join().expect("it got the slot");
        assert_eq!(*slots.0.taken.lock().expect("no panic"), 1);
    }
}
