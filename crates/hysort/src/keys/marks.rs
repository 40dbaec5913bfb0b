//! What a key is in a line, for users who want to see it: `sort --debug`.

use super::general::General;
use super::key::{End, Key, Kind, Options};
use super::number::{Decimal, is_blank, split_while};
use std::ops::Range;

impl Key {
    /// The bytes of a line that count: of a number or a month, without blanks before it and text after it. There are
    /// none if the line has no such key.
    ///
    /// ```
    /// let key: hysort::Key = "2,2n".parse()?;
    /// assert_eq!(key.marked(b"a 10kg", None), 2..4);
    /// # Ok::<(), hysort::KeyError>(())
    /// ```
    pub fn marked(&self, line: &[u8], separator: Option<u8>) -> Range<usize> {
        let (start, end) = self.ends(line, separator);
        let kind = self.options.kind();
        let is_text = matches!(kind, Kind::Text | Kind::Version);
        // What is skipped at the start of the line is not before the end of the key.
        let start = if self.first() == (0, 0) { 0 } else { start };
        if is_text && !(self.first() == (0, 0) && self.options.skip_blanks[0]) {
            return start..end.max(start);
        }
        // GNU sort looks for the number even if the key ends before it begins.
        let is_empty = end < start;
        let end = if is_empty { line.len() } else { end };
        let text = split_while(&line[start..end], is_blank).1;
        let start = end - text.len();
        let len = match kind {
            _ if is_empty => 0,
            _ if is_text => text.len(),
            Kind::General => text.len() - General::read(text).1.len(),
            Kind::Month => 3 * usize::from(month(text).is_some()),
            _ => decimal_len(text, kind == Kind::Human),
        };
        start..start + len
    }

    /// How many fields and bytes are before its first byte.
    pub fn first(&self) -> (usize, usize) {
        (self.fields, self.bytes)
    }

    /// How many fields, and how many bytes of the next one, are before its end. No bytes: the end of that field. `None`
    /// is the end of the line.
    pub fn last(&self) -> Option<(usize, usize)> {
        match self.end {
            End::Line => None,
            End::Field(number) => Some((number.saturating_sub(1), 0)),
            End::Byte(fields, bytes) => Some((fields, bytes)),
        }
    }
}

impl Options {
    /// Whether blanks are skipped before the bytes are counted to where the key begins, and to where it ends.
    pub fn skips_blanks(&self) -> [bool; 2] {
        self.skip_blanks
    }
}

/// The length of the number at the start of a text, with its unit; 0 if it has no digit.
fn decimal_len(text: &[u8], with_unit: bool) -> usize {
    let rest = Decimal::read(text).1;
    let len = text.len() - rest.len();
    match text[..len].iter().any(u8::is_ascii_digit) {
        true => len + usize::from(with_unit && rest.first().is_some_and(|&byte| unit(byte).is_some())),
        false => 0,
    }
}

/// The number of a unit, from 1.
pub(super) fn unit(byte: u8) -> Option<u8> {
    let byte = if byte == b'k' { b'K' } else { byte };
    b"KMGTPEZY".iter().position(|&other| other == byte).map(|at| at as u8 + 1)
}

/// The number of the month at the start of a text, from 1.
pub(super) fn month(text: &[u8]) -> Option<u8> {
    const MONTHS: &[u8] = b"janfebmaraprmayjunjulaugsepoctnovdec";
    let name = text.get(..3)?;
    MONTHS.chunks_exact(3).position(|month| month.eq_ignore_ascii_case(name)).map(|at| at as u8 + 1)
}
