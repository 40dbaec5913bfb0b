//! Whether lines are in order: `sort -c`.

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
