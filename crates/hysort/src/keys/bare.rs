//! Writes the lines of records.
//!
//! One thread does this. With two cores and `-k1,1 -k2,2n` it takes 7 % of the processors' time, and lines of all
//! lengths pass without being held.

use super::Keys;
use super::cut::{Cut, ESCAPE};
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
    /// Whether the byte before was [`ESCAPE`].
    is_escaped: bool,
    /// Bytes to be written.
    waiting: Vec<u8>,
    /// Lines and bytes that were written.
    pub lines: u64,
    pub bytes: u64,
}

/// How much waits: writes are at least that long.
const WAITING: usize = 256 << 10;

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
            unique: keys.0.drops_equal_keys(),
            head: Vec::new(),
            last: Vec::new(),
            state: State::Head,
            is_escaped: false,
            waiting: Vec::new(),
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

    /// Takes a part of a line, and its end if it ends.
    fn line(&mut self, part: &[u8], ends: bool) -> io::Result<()> {
        match self.keys.0.cut {
            Cut::Lines(_) => self.put(part),
            Cut::Fixed(_) => self.unescape(&part[..part.len() - usize::from(ends)]),
        }
    }

    fn unescape(&mut self, mut part: &[u8]) -> io::Result<()> {
        while !part.is_empty() {
            if self.is_escaped {
                self.put(&[ESCAPE + part[0]])?;
                part = &part[1..];
            }
            let at = part.iter().position(|&byte| byte == ESCAPE);
            self.put(&part[..at.unwrap_or(part.len())])?;
            self.is_escaped = at.is_some();
            part = at.map_or(&[], |at| &part[at + 1..]);
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        if bytes.len() >= WAITING {
            self.finish()?;
            return self.to.write_all(bytes);
        }
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= WAITING { self.finish() } else { Ok(()) }
    }

    /// Writes what waits.
    pub fn finish(&mut self) -> io::Result<()> {
        self.to.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
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
                self.line(part, end.is_some())?;
            }
            if end.is_some() {
                self.state = State::Head;
            }
            rest = after;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.finish()?;
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
                    let place = Place { file: 0, at: 300 * number as u64 };
                    keys.record(line, place, &mut Vec::new(), &mut text).unwrap();
                    text.push(end);
                    if number != 1 || kept == 5 {
                        expected.extend_from_slice(&[line, &[end][..]].concat());
                    }
                }
                for step in 1..=text.len() {
                    let mut out = Vec::new();
                    let mut bare = Bare::new(&keys, &mut out);
                    text.chunks(step).for_each(|part| bare.write_all(part).unwrap());
                    bare.finish().unwrap();
                    assert_eq!(bare.bytes, expected.len() as u64);
                    assert!(out == expected, "{stable} {unique}, {step}");
                }
            }
        }
    }
    #[test]
    fn records_of_a_fixed_length_may_be_cut_anywhere() {
        let text: Vec<u8> = [[192, 193, 0], [193, 192, 192], [10, 1, 193], [0, 0, 255]].concat();
        let len = std::num::NonZeroUsize::new(3).unwrap();
        for keys in [vec![], vec!["1.2,1.2".parse().unwrap()]] {
            let keys = Keys::new(keys, &Order::new()).fixed_length(len).unwrap();
            let mut coded = Vec::new();
            keys.records(&text, Place::default(), &mut coded).unwrap();
            for step in 1..=coded.len() {
                let mut out = Vec::new();
                let mut bare = Bare::new(&keys, &mut out);
                coded.chunks(step).for_each(|part| bare.write_all(part).unwrap());
                bare.finish().unwrap();
                assert_eq!((bare.bytes, bare.lines), (12, 4));
                assert_eq!(out, text, "{step}");
            }
        }
    }
}
