//! Writes the lines of records.

use super::Keys;
use crate::text::Ends;
use std::io::{self, Write};

/// Takes records, cut anywhere, and writes their lines.
pub(super) struct Bare<'a, W: Write> {
    to: &'a mut W,
    end: u8,
    end_of_code: u8,
    keys: &'a Keys,
    /// Whether codes are followed by the line's place.
    places: bool,
    unique: bool,
    /// The bytes of a record before its line, as far as they have come.
    head: Vec<u8>,
    /// The codes of the last line that was written.
    last: Vec<u8>,
    state: State,
    /// Lines and bytes that were written.
    pub lines: u64,
    pub bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Line,
    /// In a line that equals the one before.
    Dropped,
}

impl<'a, W: Write> Bare<'a, W> {
    pub fn new(keys: &'a Keys, to: &'a mut W) -> Self {
        Bare {
            to,
            end: keys.end_byte(),
            end_of_code: keys.0.alphabets.end_of_code(),
            keys,
            places: keys.0.is_stable(),
            unique: keys.0.order.is_unique(),
            head: Vec::new(),
            last: Vec::new(),
            state: State::Head,
            lines: 0,
            bytes: 0,
        }
    }

    /// The lengths of the codes and of all that precedes the line, if so much of a record has come.
    fn head_of(&self, text: &[u8]) -> Option<(usize, usize)> {
        let codes = text.iter().position(|&byte| byte == self.end_of_code)? + 1;
        let mut len = codes;
        if self.places {
            for _ in 0..2 {
                len += 1 + usize::from(self.keys.0.alphabets.symbol_of(*text.get(len)?));
            }
        }
        (len <= text.len()).then_some((codes, len))
    }

    /// Begins a line with these codes.
    fn begin(&mut self, codes: &[u8]) {
        if self.unique && self.last == codes {
            self.state = State::Dropped;
            return;
        }
        if self.unique {
            self.last.clear();
            self.last.extend_from_slice(codes);
        }
        self.lines += 1;
        self.state = State::Line;
    }

    /// Takes the head of a record, or a part of it. Returns its length.
    fn head(&mut self, text: &[u8]) -> usize {
        if self.head.is_empty()
            && let Some((codes, len)) = self.head_of(text)
        {
            self.begin(&text[..codes]);
            return len;
        }
        // Cut in a head, or cut before: a copy, which grows by as much as is needed.
        let before = self.head.len();
        let mut head = std::mem::take(&mut self.head);
        for &byte in text {
            head.push(byte);
            let may_be = byte == self.end_of_code || self.places;
            if may_be && let Some((codes, len)) = self.head_of(&head) {
                debug_assert_eq!(len, head.len());
                self.begin(&head[..codes]);
                return len - before;
            }
        }
        self.head = head;
        text.len()
    }
}

impl<W: Write> Write for Bare<'_, W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Head {
                let len = self.head(rest);
                rest = &rest[len..];
                continue;
            }
            let end = Ends::new(rest, self.end).next().map(|end| end + 1);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            if self.state == State::Line {
                self.to.write_all(part)?;
                self.bytes += part.len() as u64;
            }
            if end.is_some() {
                self.state = State::Head;
            }
            rest = after;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Keys, Place};
    use super::*;
    use crate::order::Order;

    #[test]
    fn records_may_be_cut_anywhere() {
        let lines: [&[u8]; 5] = [b"a 9", b"b 9.0", b"", b"c 1\0\xff", b"d -1"];
        for end in [b'\n', 0] {
            for (stable, unique, kept) in [(false, false, 5), (true, false, 5), (false, true, 4)] {
                let order = Order::new().end(end).unique(unique);
                let keys = Keys::new(["2,2n".parse().unwrap()], &order).stable(stable);
                let (mut text, mut expected) = (Vec::new(), Vec::new());
                for (number, line) in lines.iter().filter(|line| !line.contains(&end)).enumerate() {
                    keys.record(line, Place { file: 0, at: 300 * number as u64 }, &mut text);
                    text.push(end);
                    if number != 1 || kept == 5 {
                        expected.extend_from_slice(&[line, &[end][..]].concat());
                    }
                }
                for step in 1..=text.len() {
                    let mut out = Vec::new();
                    let mut bare = Bare::new(&keys, &mut out);
                    text.chunks(step).for_each(|part| bare.write_all(part).unwrap());
                    assert_eq!(bare.bytes, expected.len() as u64);
                    assert!(out == expected, "{stable} {unique}, {step}");
                }
            }
        }
    }
}
