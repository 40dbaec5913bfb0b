//! A table of codes as links: each code's string is another code's string and one byte more. The table's size is
//! bounded by the number of codes, whatever the length of their strings. A string is written backwards, from its end.

use crate::flaw::Flaw;
use crate::formats::lzw::header::Header;

/// The table of a `.Z` stream.
#[derive(Debug)]
pub(super) struct Links {
    entries: Vec<Link>,
    /// The last code, which is the prefix of the next entry, and the first byte of its string.
    previous: (u16, u8),
}

#[derive(Clone, Copy, Debug)]
struct Link {
    /// The code of all but the last byte.
    prefix: u16,
    /// The last byte.
    suffix: u8,
    /// The length of the string.
    len: u32,
}

impl Links {
    /// The table after `codes`, which are all codes since a clear; the string of the last code begins with
    /// `first_byte`. `strings` has the lengths and last bytes of the entries.
    pub fn new(codes: &[u16], first_byte: u8, strings: impl Iterator<Item = (u32, u8)>) -> Links {
        let entries = codes.iter().zip(strings).map(|(&prefix, (len, suffix))| Link { prefix, suffix, len });
        Links { entries: entries.collect(), previous: (codes.last().copied().unwrap_or(0), first_byte) }
    }

    /// Appends the string of a code to `text`, and adds an entry unless the table is full.
    pub fn decode(&mut self, header: Header, code: u32, text: &mut Vec<u8>) -> Result<(), Flaw> {
        let first = header.first();
        let next = first + self.entries.len() as u32;
        let grows = self.entries.len() < header.table_len();
        if code > next || (code == next && !grows) {
            return Err(unknown(code, first, self.entries.len() + 1));
        }
        let (prefix, first_byte) = self.previous;
        let entry = |suffix, len| Link { prefix, suffix, len };
        let len = self.len(prefix.into(), first) + 1;
        if code == next {
            self.entries.push(entry(first_byte, len));
        }
        let first_byte = self.write(code, first, text);
        if grows && code != next {
            self.entries.push(entry(first_byte, len));
        }
        self.previous = (code as u16, first_byte);
        Ok(())
    }

    #[cfg(test)]
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Link>()
    }

    fn len(&self, code: u32, first: u32) -> u32 {
        if code < 256 { 1 } else { self.entries[(code - first) as usize].len }
    }

    /// Appends a string. Returns its first byte.
    fn write(&self, mut code: u32, first: u32, text: &mut Vec<u8>) -> u8 {
        let from = text.len();
        text.resize(from + self.len(code, first) as usize, 0);
        for byte in text[from..].iter_mut().rev() {
            if code < 256 {
                *byte = code as u8;
            } else {
                let entry = &self.entries[(code - first) as usize];
                (*byte, code) = (entry.suffix, entry.prefix.into());
            }
        }
        text[from]
    }
}

/// The damage reported for an out-of-range code, the `number`th since a clear.
pub(super) fn unknown(code: u32, first: u32, number: usize) -> Flaw {
    Flaw::LzwCode { code: code as u16, end: if number == 0 { 256 } else { first + number as u32 } }
}
