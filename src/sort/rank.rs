//! The order of lines and strings as numbers.

use super::Pool;
use super::order::Order;
use super::text;
use super::way::Flight;
use super::work::{RankRange, Strings};
use crate::error::Error;
use std::sync::Arc;

/// The numbers of the lines of `text`, from 0, in the order of the lines. Equal lines stay in their order; of those that
/// are not kept ([`Order::unique`]) the first is.
///
/// ```
/// use hybz::sort::{Order, Pool, lines};
/// let pool = Pool::builder().build();
/// assert_eq!(lines(b"pear\nfig\npear", &Order::new(), &pool)?, [1, 0, 2]);
/// assert_eq!(lines(b"pear\nfig\npear", &Order::new().unique(true), &pool)?, [1, 0]);
/// # Ok::<(), hybz::Error>(())
/// ```
///
/// # Errors
/// As [`sorted`](super::sorted).
pub fn lines(text: &[u8], order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    rank(text::lines(text, order.end_byte()).map(|line| &text[line]), order, pool)
}

/// The numbers of `strings`, from 0, in the order of the strings, which may have any bytes. Equal strings stay in their
/// order; of those that are not kept ([`Order::unique`]) the first is.
///
/// ```
/// use hybz::sort::{Order, Pool, strings};
/// let pool = Pool::builder().build();
/// assert_eq!(strings(&["b\n", "b", "a"], &Order::new(), &pool)?, [2, 1, 0]);
/// # Ok::<(), hybz::Error>(())
/// ```
///
/// # Errors
/// As [`sorted`](super::sorted).
pub fn strings<S: AsRef<[u8]> + Sync>(strings: &[S], order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    rank(strings.iter().map(AsRef::as_ref), order, pool)
}

fn rank<'a>(items: impl Iterator<Item = &'a [u8]>, order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    let mut strings = Strings::default();
    for item in items {
        strings.text.extend_from_slice(item);
        strings.ends.push(u32::try_from(strings.text.len()).map_err(|_| Error::LineTooLong)?);
    }
    let bytes = strings.text.len() as u64;
    let question = RankRange { strings: Arc::new(vec![strings]), order: *order, again: false };
    let mut flight = Flight::new(pool, u64::MAX);
    let mut numbers = Vec::new();
    let mut done = |(), answer| {
        numbers = answer;
        Ok(())
    };
    flight.ask(question.clone(), (), 4 * bytes, &mut done)?;
    flight.finish(&mut done)?;
    if order.is_unique() {
        let strings = &question.strings[0];
        numbers.dedup_by(|b, a| strings.get(*a as usize) == strings.get(*b as usize));
    }
    Ok(numbers)
}
