//! The vectors of all blocks being decoded. They are reused from block to block: new memory would be zeroed by the
//! system page by page, which takes 2 to 4 % of the time of a block of 9 MB.
//!
//! A caller with a permit for a block's memory charges the block's vector to it ([`Vectors::charge`]). All vectors
//! together, including the kept ones, never have more rows than the charges and `FREE_ROWS` allow.

use super::vector::new_vector;
use std::ops::Deref;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of rows of vectors that may be kept without a charge: 16 MiB.
const FREE_ROWS: u64 = 4 << 20;

/// The vectors of one pool.
#[derive(Debug)]
pub struct Vectors(Mutex<Shelf>);

#[derive(Debug)]
struct Shelf {
    spare: Vec<Vec<AtomicU32>>,
    /// The number of rows of all vectors, including those in use.
    rows: u64,
    /// The number of rows that are charged.
    charged: u64,
}

impl Vectors {
    /// The vectors of a single decoder, which keeps the largest.
    pub fn of_one() -> Arc<Vectors> {
        Arc::new(Vectors(Mutex::new(Shelf { spare: Vec::new(), rows: 0, charged: u64::MAX })))
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Charges a vector of `rows` rows, until the result is dropped.
    pub fn charge(self: &Arc<Self>, rows: u32) -> VectorCharge {
        self.shelf().charged += u64::from(rows);
        VectorCharge { vectors: Arc::clone(self), rows: rows.into() }
    }

    /// A vector of at least `rows` rows, with arbitrary contents.
    pub fn take(self: &Arc<Self>, rows: u32) -> Vector {
        let rows = rows as usize;
        let mut shelf = self.shelf();
        let fits = shelf.spare.iter().position(|words| words.len() >= rows);
        // A kept vector that is too short is freed to make room, so there are never more vectors than were in use at
        // the same time.
        let kept = fits.map(|at| shelf.spare.swap_remove(at)).or_else(|| shelf.spare.pop()).unwrap_or_default();
        let vectors = Arc::clone(self);
        if fits.is_some() {
            return Vector { words: kept, vectors };
        }
        shelf.rows = shelf.rows + rows as u64 - kept.len() as u64;
        shelf.trim();
        drop((shelf, kept));
        Vector { words: new_vector(rows), vectors }
    }
}

impl Default for Vectors {
    /// The vectors of a pool: each is charged, except for a few rows.
    fn default() -> Self {
        Vectors(Mutex::new(Shelf { spare: Vec::new(), rows: 0, charged: FREE_ROWS }))
    }
}

impl Shelf {
    /// Frees vectors that exceed the charges, the shortest first.
    fn trim(&mut self) {
        self.spare.sort_unstable_by_key(|words| std::cmp::Reverse(words.len()));
        while self.rows > self.charged
            && let Some(words) = self.spare.pop()
        {
            self.rows -= words.len() as u64;
        }
    }
}

/// The charge for a vector.
#[derive(Debug)]
pub struct VectorCharge {
    vectors: Arc<Vectors>,
    rows: u64,
}

impl Drop for VectorCharge {
    fn drop(&mut self) {
        let mut shelf = self.vectors.shelf();
        shelf.charged -= self.rows;
        shelf.trim();
    }
}

/// A vector. Dropping a vector returns it to `Vectors`.
#[derive(Debug)]
pub struct Vector {
    words: Vec<AtomicU32>,
    vectors: Arc<Vectors>,
}

impl Deref for Vector {
    type Target = [AtomicU32];

    fn deref(&self) -> &[AtomicU32] {
        &self.words
    }
}

impl Drop for Vector {
    fn drop(&mut self) {
        let mut shelf = self.vectors.shelf();
        shelf.spare.push(std::mem::take(&mut self.words));
        shelf.trim();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: u32 = 8 << 20;

    #[test]
    fn what_is_vouched_for_is_kept() {
        let vectors = Arc::new(Vectors::default());
        let charge = vectors.charge(ROWS);
        let first = vectors.take(ROWS);
        let at = first.as_ptr();
        drop(first);
        let again = vectors.take(ROWS - 5);
        assert!(again.as_ptr() == at && again.len() == ROWS as usize);
        drop((again, charge));
        assert!(vectors.shelf().spare.is_empty() && vectors.shelf().rows == 0);
        // A few rows are kept even without a charge.
        drop(vectors.take(1000));
        assert_eq!(vectors.shelf().rows, 1000);
    }

    #[test]
    fn what_is_kept_makes_room_for_what_is_wanted() {
        let vectors = Arc::new(Vectors::default());
        let charges = [vectors.charge(ROWS), vectors.charge(ROWS)];
        drop([vectors.take(ROWS), vectors.take(ROWS)]);
        assert_eq!(vectors.shelf().spare.len(), 2);
        let long = vectors.take(ROWS * 2);
        assert!(vectors.shelf().spare.is_empty() && vectors.shelf().rows == u64::from(ROWS) * 2);
        drop(long);
        drop(charges);
        assert_eq!(vectors.shelf().rows, 0);
    }
}
