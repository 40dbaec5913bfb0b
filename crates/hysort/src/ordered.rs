//! Whether lines are in order: `sort -c`.

use super::keys::Keys;
use super::order::Order;
use crate::error::Error;
use std::io::BufRead;

/// The first line that is out of order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disorder {
    /// Its number, from 1.
    pub number: u64,
    /// Its text, without its end.
    pub line: Vec<u8>,
}

/// Reads the next line, without its end. Returns whether there is one.
pub(super) fn read_line(text: &mut impl BufRead, end: u8, line: &mut Vec<u8>) -> Result<bool, Error> {
    line.clear();
    text.read_until(end, line).map_err(Error::Read)?;
    let found = !line.is_empty();
    if line.last() == Some(&end) {
        line.pop();
    }
    Ok(found)
}

/// The first line of `text` that is out of order: it comes before the one that precedes it, or, if equal lines are not
/// kept ([`Order::unique`]), it equals it. `None` if there is none.
///
/// ```
/// use hysort::{Order, check};
/// assert_eq!(check(&b"a\nb\nb\n"[..], &Order::new())?, None);
/// let found = check(&b"a\nb\nb\n"[..], &Order::new().unique(true))?.unwrap();
/// assert_eq!((found.number, &found.line[..]), (3, &b"b"[..]));
/// # Ok::<(), hysort::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`].
pub fn check(text: impl BufRead, order: &Order) -> Result<Option<Disorder>, Error> {
    Keys::new([], order).check(text)
}
