//! A cache of decoded blocks that drops the least recently used ones, bounded in bytes.

use super::text::Decoded;
use crate::error::Error;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Blocks by their numbers.
pub(crate) struct Cache {
    shelf: Mutex<Shelf>,
    came: Condvar,
}

struct Shelf {
    blocks: HashMap<u64, Kept>,
    limit: u64,
    /// The memory of all blocks, including those still being decoded.
    bytes: u64,
    /// Counts uses, to order blocks by their last use.
    clock: u64,
}

struct Kept {
    state: Slot,
    bytes: u64,
    used: u64,
    /// The number of readers that wait for the block. The block stays until they have it.
    waited_for: usize,
}

enum Slot {
    /// The block is being decoded.
    Pending,
    Here(Arc<Decoded>),
    /// The block cannot be decoded; the next reader to ask gets the error, once.
    Failed(Error),
}

/// The charge for each block in addition to its text, so that a file of tiny blocks does not fill the map.
const OVERHEAD: u64 = 4096;

impl Cache {
    pub fn new(limit: u64) -> Cache {
        let shelf = Shelf { blocks: HashMap::new(), limit, bytes: 0, clock: 0 };
        Cache { shelf: Mutex::new(shelf), came: Condvar::new() }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_limit(&self, bytes: u64) {
        let mut shelf = self.shelf();
        shelf.limit = bytes;
        shelf.make_room();
    }

    pub fn limit(&self) -> u64 {
        self.shelf().limit
    }

    /// Whether the caller must submit this block and [`put`](Self::put) the result, because no other caller does. With
    /// `wait` the caller will [`wait`](Self::wait) for it.
    pub fn reserve(&self, number: u64, bytes: u64, wait: bool) -> bool {
        let mut shelf = self.shelf();
        shelf.clock += 1;
        let used = shelf.clock;
        if let Some(kept) = shelf.blocks.get_mut(&number) {
            kept.used = used;
            kept.waited_for += usize::from(wait);
            return false;
        }
        let bytes = bytes + OVERHEAD;
        shelf.blocks.insert(number, Kept { state: Slot::Pending, bytes, used, waited_for: wait.into() });
        shelf.bytes += bytes;
        shelf.make_room();
        true
    }

    /// Stores the result for a block.
    pub fn put(&self, number: u64, decoded: Result<Decoded, Error>) {
        let mut shelf = self.shelf();
        if let Some(kept) = shelf.blocks.get_mut(&number) {
            let bytes = OVERHEAD + decoded.as_ref().map_or(0, Decoded::memory);
            let before = std::mem::replace(&mut kept.bytes, bytes);
            kept.state = decoded.map_or_else(Slot::Failed, |decoded| Slot::Here(Arc::new(decoded)));
            shelf.bytes = shelf.bytes - before + bytes;
            shelf.make_room();
        }
        drop(shelf);
        self.came.notify_all();
    }

    /// Stores an error for the block unless its text has come.
    pub fn put_if_pending(&self, number: u64, error: impl FnOnce() -> Error) {
        let is_pending = |kept: &Kept| matches!(kept.state, Slot::Pending);
        if self.shelf().blocks.get(&number).is_some_and(is_pending) {
            self.put(number, Err(error()));
        }
    }

    /// Waits for a block that was reserved with `wait`. `None`: another waiter got the error that it cannot be decoded.
    pub fn wait(&self, number: u64) -> Option<Result<Arc<Decoded>, Error>> {
        let mut shelf = self.shelf();
        loop {
            let kept = shelf.blocks.get_mut(&number)?;
            match &kept.state {
                Slot::Here(decoded) => {
                    let decoded = Arc::clone(decoded);
                    kept.waited_for = kept.waited_for.saturating_sub(1);
                    shelf.make_room();
                    return Some(Ok(decoded));
                }
                Slot::Failed(error) => {
                    let error = error.again();
                    shelf.remove(number);
                    return Some(Err(error));
                }
                Slot::Pending => shelf = self.came.wait(shelf).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl Shelf {
    /// Drops the least recently used blocks until the rest fit. Keeps blocks with waiters and the most recently used
    /// one.
    fn make_room(&mut self) {
        while self.bytes > self.limit {
            let old = self.blocks.iter().filter(|(_, kept)| !matches!(kept.state, Slot::Pending));
            let old = old
                .filter(|(_, kept)| kept.waited_for == 0 && kept.used < self.clock)
                .min_by_key(|(_, kept)| kept.used);
            let Some((&number, _)) = old else { break };
            self.remove(number);
        }
    }

    fn remove(&mut self, number: u64) {
        if let Some(kept) = self.blocks.remove(&number) {
            self.bytes -= kept.bytes;
        }
    }
}
