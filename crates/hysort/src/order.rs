//! The order of sorted lines.

use std::cmp::Ordering;

/// How lines end and how they are ordered: `LC_ALL=C sort` with `-z`, `-r` and `-u`.
///
/// Whole lines are compared as unsigned bytes, without their ends. A line comes before all longer ones that begin with
/// it.
///
/// ```
/// use hysort::{Order, sorted};
/// let pool = hysort::pool().build();
/// assert_eq!(sorted(b"pear\nfig\npear\n", &Order::new(), &pool)?, b"fig\npear\npear\n");
/// let other = Order::new().end(b',').reverse(true).unique(true);
/// assert_eq!(sorted(b"pear,fig,pear", &other, &pool)?, b"pear,fig,");
/// # Ok::<(), hysort::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    end: u8,
    reverse: bool,
    unique: bool,
}

impl Default for Order {
    fn default() -> Self {
        Order::new()
    }
}

impl Order {
    /// `\n` ends lines, the smallest comes first, and equal lines are kept.
    pub fn new() -> Order {
        Order { end: b'\n', reverse: false, unique: false }
    }

    /// The byte that ends a line: `b'\0'` for `sort -z`. All other bytes are ordinary, even NUL.
    pub fn end(self, byte: u8) -> Order {
        Order { end: byte, ..self }
    }

    /// Whether the largest line comes first: `sort -r`.
    pub fn reverse(self, reverse: bool) -> Order {
        Order { reverse, ..self }
    }

    /// Whether only the first of equal lines is kept: `sort -u`.
    pub fn unique(self, unique: bool) -> Order {
        Order { unique, ..self }
    }

    pub(crate) fn end_byte(&self) -> u8 {
        self.end
    }

    pub(crate) fn is_reverse(&self) -> bool {
        self.reverse
    }

    pub(crate) fn is_unique(&self) -> bool {
        self.unique
    }

    /// Compares two lines without their ends.
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.reverse { b.cmp(a) } else { a.cmp(b) }
    }
}
