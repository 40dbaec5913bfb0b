//! The values of `--ranges`, ranges of the text as rapidgzip writes them (`SIZE@OFFSET`, separated by commas), and of
//! `--split`, parts of the compressed bytes (`I/N`, or `SIZE@OFFSET`).

use super::values::{BAD, Parsed, text_length};
use std::{fmt, ops};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    Bytes(u64),
    /// The bytes of this many lines.
    Lines(u64),
    All,
}

/// A range: its length, and its offset (never [`Amount::All`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub size: Amount,
    pub offset: Amount,
}

impl Range {
    pub fn bytes(&self) -> Option<(u64, u64)> {
        match (self.offset, self.size) {
            (Amount::Bytes(from), Amount::Bytes(len)) => Some((from, from.saturating_add(len))),
            (Amount::Bytes(from), Amount::All) => Some((from, u64::MAX)),
            _ => None,
        }
    }

    pub fn lines(&self) -> Option<(u64, u64)> {
        match (self.offset, self.size) {
            (Amount::Lines(from), Amount::Lines(count)) => Some((from, from.saturating_add(count))),
            (Amount::Lines(from), Amount::All) => Some((from, u64::MAX)),
            _ => None,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Bytes(bytes) => bytes.fmt(f),
            Amount::Lines(lines) => write!(f, "{lines}L"),
            Amount::All => f.write_str("inf"),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.size, self.offset)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges(pub Vec<Range>);

pub fn ranges(text: &str) -> Parsed<Ranges> {
    text.split(',').map(range).collect::<Option<_>>().map(Ranges).ok_or(BAD)
}

fn range(text: &str) -> Option<Range> {
    let (size, offset) = text.split_once('@')?;
    Some(Range { size: amount(size)?, offset: amount(offset).filter(|offset| *offset != Amount::All)? })
}

fn amount(text: &str) -> Option<Amount> {
    match text.strip_suffix('L') {
        _ if text == "inf" => Some(Amount::All),
        Some(lines) => lines.parse().ok().map(Amount::Lines),
        None => text_length(text).ok().map(Amount::Bytes),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Part `I` of `N` parts of about the same length, counted from 1.
    Part { number: u64, of: u64 },
    /// The blocks that begin in these bytes.
    Bytes { from: u64, end: u64 },
}

impl Split {
    pub fn of(self, len: u64) -> ops::Range<u64> {
        match self {
            Split::Part { number, of } => hybz::seek::SplitReader::bytes_of_part(number - 1, of, len),
            Split::Bytes { from, end } => from..end,
        }
    }
}

pub fn split(text: &str) -> Parsed<Split> {
    if let Some((size, offset)) = text.split_once('@') {
        let from = text_length(offset)?;
        let end = if size == "inf" { u64::MAX } else { from.saturating_add(text_length(size)?) };
        return Ok(Split::Bytes { from, end });
    }
    let (number, of) = text.split_once('/').ok_or(BAD)?;
    match (number.parse(), of.parse()) {
        (Ok(number @ 1..), Ok(of)) if number <= of => Ok(Split::Part { number, of }),
        _ => Err(BAD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_rapidgzip_writes_them() {
        let bytes = Amount::Bytes;
        for (text, expected) in [
            ("10@0", vec![(bytes(10), bytes(0))]),
            ("1KiB@15KiB,5L@20L", vec![(bytes(1024), bytes(15 << 10)), (Amount::Lines(5), Amount::Lines(20))]),
            ("inf@40L", vec![(Amount::All, Amount::Lines(40))]),
            ("1k@1M,2MB@3Gi", vec![(bytes(1000), bytes(1_000_000)), (bytes(2_000_000), bytes(3 << 30))]),
            ("5L@100,0@1T", vec![(Amount::Lines(5), bytes(100)), (bytes(0), bytes(1_000_000_000_000))]),
        ] {
            let expected = expected.into_iter().map(|(size, offset)| Range { size, offset }).collect();
            assert_eq!(ranges(text), Ok(Ranges(expected)), "{text}");
        }
        let bad = "10 @ 10@ @10 10@inf 1@2, ,1@2 1q@0 -1@0 1@2@3 L@0 1.5@0 infL@0 INF@0 99999999999999999999@0";
        for bad in bad.split(' ').chain(["", "1 @0"]) {
            assert!(ranges(bad).is_err(), "{bad}");
        }
    }
}
