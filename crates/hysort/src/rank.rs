//! The order of lines and strings as numbers.

use super::keys::{Key, Keys};
use super::order::Order;
use super::{Pool, sorted, text};
use crate::error::Error;

/// The numbers of the lines of `text`, from 0, in the order of the sorted lines. Equal lines stay in their order; with
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

/// The numbers of `strings`, from 0, in the order of the sorted strings, which may have any bytes. Equal strings stay
/// in their order; with [`Order::unique`] only the first of them is kept.
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

/// Sorts the numbers of strings, each a line of 8 bytes, by the strings as their keys.
fn rank<'a>(items: impl Iterator<Item = &'a [u8]>, order: &Order, pool: &Pool) -> Result<Vec<u64>, Error> {
    let (mut text, mut ends) = (Vec::new(), vec![0]);
    for item in items {
        text.extend_from_slice(item);
        ends.push(text.len());
    }
    let numbers: Vec<u8> = (1..ends.len()).flat_map(|number| line_of(number as u64 - 1)).collect();
    let string = Key::by(move |line, key| {
        let number = number_of(line) as usize;
        key.extend_from_slice(&text[ends[number]..ends[number + 1]]);
    });
    let string = if order.is_reverse() { string.reverse() } else { string };
    let keys = Keys::new([string], &Order::new().unique(order.is_unique())).stable(true);
    Ok(sorted(&numbers, keys, pool)?.as_chunks::<LINE>().0.iter().map(|line| number_of(line)).collect())
}

/// The bytes of a line: its end, and before it bytes with seven bits of a number each, and the highest bit set.
const LINE: usize = 9;

fn line_of(number: u64) -> [u8; LINE] {
    std::array::from_fn(|at| if at + 1 == LINE { b'\n' } else { 0x80 | (number >> (7 * at)) as u8 })
}

fn number_of(line: &[u8]) -> u64 {
    line.iter().take(LINE - 1).rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f))
}
