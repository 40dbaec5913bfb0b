//! The order of lines and strings as numbers: each is sorted as the code of its bytes with its number after it, as a
//! line with a key is.

use super::chunker::MAX_JOB;
use super::keys::{KeySorter, Numbers};
use super::limits::Limits;
use super::order::Order;
use super::parts::Strings;
use super::{Pool, text};
use crate::error::Error;
use std::mem::replace;

/// The numbers of the lines of `text`, from 0, in the order of the lines. Equal lines stay in their order; with
/// [`Order::unique`] only the first of them is kept.
///
/// ```
/// use hysort::{Order, lines};
/// let pool = hysort::pool().build();
/// assert_eq!(lines(b"pear\nfig\npear", &Order::new(), &pool)?, [1, 0, 2]);
/// assert_eq!(lines(b"pear\nfig\npear", &Order::new().unique(true), &pool)?, [1, 0]);
/// # Ok::<(), hysort::Error>(())
/// ```
///
/// # Errors
/// As [`sorted`](super::sorted).
pub fn lines(text: &[u8], order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    rank(text::lines(text, order.end_byte()).map(|line| &text[line]), order, pool)
}

/// The numbers of `strings`, from 0, in the order of the strings, which may have any bytes. Equal strings stay in their
/// order; with [`Order::unique`] only the first of them is kept.
///
/// ```
/// use hysort::{Order, strings};
/// let pool = hysort::pool().build();
/// assert_eq!(strings(&["b\n", "b", "a"], &Order::new(), &pool)?, [2, 1, 0]);
/// # Ok::<(), hysort::Error>(())
/// ```
///
/// # Errors
/// As [`sorted`](super::sorted).
pub fn strings<S: AsRef<[u8]> + Sync>(strings: &[S], order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    rank(strings.iter().map(AsRef::as_ref), order, pool)
}

/// The approximate size of a chunk of strings.
const CHUNK: usize = 1 << 20;

fn rank<'a>(items: impl Iterator<Item = &'a [u8]>, order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    let keys = Numbers::keys(order);
    let mut sorter = KeySorter::new(&keys, Limits::new(), pool);
    let mut strings = Strings::default();
    for item in items {
        if strings.text.len() + item.len() > CHUNK && !strings.ends.is_empty() || strings.ends.len() > CHUNK {
            let first = strings.first + strings.ends.len() as u64;
            sorter.push_strings(replace(&mut strings, Strings { first, ..Strings::default() }))?;
        }
        if item.len() as u64 > MAX_JOB {
            return Err(Error::LineTooLong);
        }
        strings.text.extend_from_slice(item);
        strings.ends.push(strings.text.len() as u32);
    }
    sorter.push_strings(strings)?;
    let mut numbers = Numbers::new(&keys, order);
    sorter.write_records(&mut numbers)?;
    Ok(numbers.all)
}
