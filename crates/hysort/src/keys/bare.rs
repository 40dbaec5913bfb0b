//! Writes the lines of records.
//!
//! One thread does this. With two cores and `-k1,1 -k2,2n` it takes 7 % of the processors' time, and lines of all
//! lengths pass without being held.

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
    /// The codes of this line as far as they have come, and those of the last line that was written: if they matter.
    codes: Vec<u8>,
    last: Vec<u8>,
    state: State,
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
    Codes,
    /// In the line's place: `counts` of its counts follow after `bytes` more bytes.
    Place {
        counts: u8,
        bytes: u8,
    },
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
            codes: Vec::new(),
            last: Vec::new(),
            state: State::Codes,
            waiting: Vec::new(),
            lines: 0,
            bytes: 0,
        }
    }

    /// Takes codes, or a part of them. Returns their length.
    fn codes(&mut self, text: &[u8]) -> usize {
        // Most codes are short: looking for their end word by word took 3 % more of a sort with -s.
        let end = text.iter().position(|&byte| byte == self.end_of_code);
        #[cfg(test)]
        crate::text::steps::add(end.unwrap_or(text.len()));
        let len = end.map_or(text.len(), |end| end + 1);
        if self.unique {
            self.codes.extend_from_slice(&text[..len]);
        }
        if end.is_none() {
            return len;
        }
        let place = if self.places { self.place_at(&text[len..]) } else { Some(0) };
        match place {
            Some(_) => self.begin(),
            None => self.state = State::Place { counts: 2, bytes: 0 },
        }
        len + place.unwrap_or(0)
    }

    /// The length of a line's place at the start of a text, if all of it is there, as mostly.
    fn place_at(&self, text: &[u8]) -> Option<usize> {
        let mut len = 0;
        for _ in 0..2 {
            len += 1 + usize::from(self.keys.0.alphabets.symbol_of(*text.get(len)?));
        }
        (len <= text.len()).then_some(len)
    }

    /// Takes bytes of a line's place; after the last one the line begins. Returns their number.
    fn place(&mut self, text: &[u8], counts: u8, bytes: u8) -> usize {
        let (len, counts, bytes) = match bytes {
            0 => (1, counts - 1, self.keys.0.alphabets.symbol_of(text[0])),
            bytes => {
                let len = text.len().min(bytes.into());
                (len, counts, bytes - len as u8)
            }
        };
        if (counts, bytes) == (0, 0) {
            self.begin()
        } else {
            self.state = State::Place { counts, bytes }
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
            let head = match self.state {
                State::Codes => Some(self.codes(rest)),
                State::Place { counts, bytes } => Some(self.place(rest, counts, bytes)),
                State::Line | State::Dropped => None,
            };
            if let Some(len) = head {
                rest = &rest[len..];
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
