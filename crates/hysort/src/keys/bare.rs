//! Writes the lines of records.
//!
//! One thread does this. With two cores and `-k1,1 -k2,2n` it takes 7 % of the processors' time. No line is
//! held in memory as a whole, however long it is.

use super::Keys;
use crate::text::Ends;
use std::io::{self, Write};

/// Takes records, cut anywhere, and writes their lines.
pub(super) struct Bare<'a, W: Write> {
    to: &'a mut W,
    end: u8,
    end_of_code: u8,
    unique: bool,
    /// The codes of this line so far, and those of the last line that was written, if equal keys are dropped.
    codes: Vec<u8>,
    last: Vec<u8>,
    state: State,
    /// Bytes to be written.
    waiting: Vec<u8>,
    /// Lines and bytes that were written.
    pub lines: u64,
    pub bytes: u64,
}

/// Bytes are kept until there are this many: writes are at least that long.
const WAITING: usize = 256 << 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Codes,
    /// In the line's place in the input, which follows the codes if these are compared.
    Place,
    Line,
    /// In a line that is left out, because its keys equal those of the line before.
    Dropped,
}

impl<'a, W: Write> Bare<'a, W> {
    pub fn new(keys: &Keys, to: &'a mut W) -> Self {
        Bare {
            to,
            end: keys.end_byte(),
            end_of_code: keys.0.alphabets.end_of_code(),
            unique: keys.0.drops_equal_keys(),
            codes: Vec::new(),
            last: Vec::new(),
            state: State::Codes,
            waiting: Vec::new(),
            lines: 0,
            bytes: 0,
        }
    }

    /// Takes a part of the record before its line. Returns the part's length.
    fn head(&mut self, text: &[u8]) -> usize {
        // Most codes are short: looking for their end word by word took 3 % more of the time of a sort with -s.
        let end = text.iter().position(|&byte| byte == self.end_of_code);
        #[cfg(test)]
        crate::text::steps::add(end.unwrap_or(text.len()));
        let len = end.map_or(text.len(), |end| end + 1);
        let is_compared = self.unique && self.state == State::Codes;
        if is_compared {
            self.codes.extend_from_slice(&text[..len]);
        }
        match end {
            Some(_) if is_compared => self.state = State::Place,
            Some(_) => self.begin(),
            None => {}
        }
        len
    }

    /// Begins a line after its head.
    fn begin(&mut self) {
        if self.unique && self.last == self.codes {
            self.state = State::Dropped;
        } else {
            self.lines += 1;
            self.state = State::Line;
        }
        if self.unique {
            std::mem::swap(&mut self.last, &mut self.codes);
            self.codes.clear();
        }
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

    /// Writes the waiting bytes.
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
            if matches!(self.state, State::Codes | State::Place) {
                rest = &rest[self.head(rest)..];
                continue;
            }
            let end = Ends::new(rest, self.end).next().map(|end| end + 1);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            if self.state == State::Line {
                self.put(part)?;
            }
            if end.is_some() {
                self.state = State::Codes;
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
    use crate::text::steps;

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

    /// A head of twice the length takes about twice as many steps, however small the pieces are.
    #[test]
    fn heads_in_pieces_are_searched_once() {
        for (stable, unique) in [(false, false), (true, false), (false, true)] {
            let keys = Keys::new(["1".parse().unwrap()], &Order::new().unique(unique)).stable(stable);
            let [short, long] = [20_000, 40_000].map(|len| {
                let mut text = Vec::new();
                keys.records(&b"x".repeat(len), Place::default(), &mut text).unwrap();
                let mut out = Vec::new();
                let mut bare = Bare::new(&keys, &mut out);
                steps::of(|| text.chunks(100).for_each(|part| bare.write_all(part).unwrap()))
            });
            assert!(2 * long <= 5 * short, "{stable} {unique}: {short} steps, then {long}");
        }
    }
}
