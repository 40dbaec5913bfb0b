//! Parts of a compressed file, given by its compressed bytes: `I/N`, or `SIZE@OFFSET`.

use super::values::text_length;
use std::ops::Range;

/// The value of `--split`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Part `I` of `N` parts of about the same length, from 1.
    Part { number: u64, of: u64 },
    /// The blocks that begin in these bytes.
    Bytes { from: u64, end: u64 },
}

impl Split {
    /// The range of these bytes in a file of `len` bytes.
    pub fn of(self, len: u64) -> Range<u64> {
        match self {
            Split::Part { number, of } => hybz::seek::SplitReader::bytes_of_part(number - 1, of, len),
            Split::Bytes { from, end } => from..end,
        }
    }
}

/// Reads the value of `--split`.
pub fn split(text: &str) -> Result<Split, String> {
    if let Some((size, offset)) = text.split_once('@') {
        let from = text_length(offset)?;
        let end = if size == "inf" { u64::MAX } else { from.saturating_add(text_length(size)?) };
        return Ok(Split::Bytes { from, end });
    }
    let (number, of) = text.split_once('/').ok_or("neither `/' nor `@'")?;
    let parsed = |text: &str| text.parse::<u64>().map_err(|_| "not a number".to_owned());
    match (parsed(number)?, parsed(of)?) {
        (number @ 1.., of) if number <= of => Ok(Split::Part { number, of }),
        _ => Err("the parts of N are 1 to N".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        for (text, expected) in [
            ("1/1", Split::Part { number: 1, of: 1 }),
            ("3/100", Split::Part { number: 3, of: 100 }),
            ("64Mi@0", Split::Bytes { from: 0, end: 64 << 20 }),
            ("inf@1k", Split::Bytes { from: 1000, end: u64::MAX }),
        ] {
            assert_eq!(split(text), Ok(expected), "{text}");
        }
        for bad in
            ["", "1", "0/2", "3/2", "0/0", "1/", "/2", "-1/2", "1.5/2", "1/2/3", "@", "1@", "@1", "1@inf", "1L@0"]
        {
            assert!(split(bad).is_err(), "{bad}");
        }
        assert_eq!(split("2/3").unwrap().of(100), 33..66);
        assert_eq!(split("10@90").unwrap().of(100), 90..100);
    }
}
