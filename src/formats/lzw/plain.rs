//! The plain twin of the decoder, so simple that it is unlikely to be wrong: a table of strings, bits one by one.
//! Tests and the fuzzer compare with it, and the package hybz-tiff-lzw builds its twin for strips from the same parts.
//! Also a plain encoder of `.Z`, for tests only: new `.Z` files should not be written.

use crate::flaw::Flaw;
use crate::formats::lzw::header::{CLEAR, HEADER_LEN, Header, MAGIC};
use std::collections::HashMap;

/// Bits in either order.
pub struct Bits<'a> {
    /// The bytes that contain the bits.
    pub bytes: &'a [u8],
    /// The number of the next bit.
    pub at: usize,
    /// Whether the least significant bit of a byte comes first.
    pub least_first: bool,
}

impl Bits<'_> {
    /// The next code, of `width` bits, if there are as many.
    pub fn code(&mut self, width: u32) -> Option<u32> {
        let mut code = 0;
        for i in 0..width {
            let byte = *self.bytes.get(self.at / 8)?;
            let bit = u32::from(byte) >> if self.least_first { self.at % 8 } else { 7 - self.at % 8 } & 1;
            code = if self.least_first { code | bit << i } else { code << 1 | bit };
            self.at += 1;
        }
        Some(code)
    }
}

/// A table of strings, and the prefix of the next one.
pub struct Table {
    strings: Vec<Vec<u8>>,
    /// The first code after the table is cleared.
    first: usize,
    max: usize,
    previous: Option<Vec<u8>>,
}

impl Table {
    /// An empty table whose first code is `first`, for codes below `max`.
    pub fn new(first: usize, max: usize) -> Table {
        let mut strings: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        strings.resize(first, Vec::new());
        Table { strings, first, max, previous: None }
    }

    /// Removes all strings but the bytes.
    pub fn clear(&mut self) {
        self.strings.truncate(self.first);
        self.previous = None;
    }

    /// The string of a code. Adds another string to the table.
    pub fn decode(&mut self, code: usize) -> Result<Vec<u8>, Flaw> {
        let mut next = None;
        let string = match (self.strings.get(code), &self.previous) {
            (Some(string), _) if !string.is_empty() => string.clone(),
            (None, Some(previous)) if code == self.strings.len() && code < self.max => {
                [&previous[..], &previous[..1]].concat()
            }
            (_, previous) => {
                let end = if previous.is_none() { 256 } else { (self.strings.len() + 1).min(self.max) as u32 };
                return Err(Flaw::LzwCode { code: code as u16, end });
            }
        };
        if let Some(previous) = self.previous.replace(string.clone()) {
            next = Some([&previous[..], &string[..1]].concat());
        }
        self.strings.extend(next.filter(|_| self.strings.len() < self.max));
        Ok(string)
    }
}

/// The text of a `.Z` file, up to `max` bytes and one string more, and the error after the text, if any. `None` without
/// a valid header.
pub fn stream(coded: &[u8], max: usize) -> Option<(Vec<u8>, Result<(), Flaw>)> {
    let header = Header::parse(coded).ok()?;
    let (first, table_max) = (header.first() as usize, 1 << header.max_bits);
    let mut bits = Bits { bytes: &coded[HEADER_LEN..], at: 0, least_first: true };
    let (mut table, mut text, mut begun) = (Table::new(first, table_max), Vec::new(), false);
    let (mut width, mut group, mut number) = (9, 0, 0);
    while text.len() < max {
        while width < header.max_bits && first - 1 + number >= 1 << width {
            // The rest of a group of eight codes is skipped.
            bits.at = group + (bits.at - group).next_multiple_of(8 * width as usize);
            (width, group) = (width + 1, bits.at);
        }
        let Some(code) = bits.code(width) else { break };
        if header.max_bits == 9 && table.strings.len() == table_max {
            return Some((text, Err(Flaw::LzwTable)));
        }
        if code == CLEAR && header.block_mode && begun {
            table.clear();
            bits.at = group + (bits.at - group).next_multiple_of(8 * width as usize);
            (width, group, number) = (9, bits.at, 0);
            continue;
        }
        match table.decode(code as usize) {
            Ok(string) => text.extend(string),
            Err(damage) => return Some((text, Err(damage))),
        }
        begun = true;
        number += 1;
    }
    Some((text, Ok(())))
}

/// Compresses `text` to a `.Z` file, with a clear before each position for which `clear_at` is true, if a string begins
/// there.
pub fn compress(text: &[u8], header: Header, clear_at: impl Fn(usize) -> bool) -> Vec<u8> {
    let (first, max) = (header.first() as usize, 1 << header.max_bits);
    let mut bits: Vec<bool> = Vec::new();
    let (mut table, mut number, mut width, mut group) = (HashMap::new(), 0usize, 9, 0);
    let pad = |bits: &mut Vec<bool>, group: usize, width: u32| {
        let len = group + (bits.len() - group).next_multiple_of(8 * width as usize);
        bits.resize(len, false);
        len
    };
    let put = |bits: &mut Vec<bool>, code: usize, width: u32| bits.extend((0..width).map(|i| code >> i & 1 == 1));
    let mut at = 0;
    while at < text.len() {
        while width < header.max_bits && first - 1 + number >= 1 << width {
            group = pad(&mut bits, group, width);
            width += 1;
        }
        if at > 0 && header.block_mode && clear_at(at) {
            put(&mut bits, CLEAR as usize, width);
            group = pad(&mut bits, group, width);
            table.clear();
            (number, width) = (0, 9);
        }
        let (mut code, mut len) = (usize::from(text[at]), 1);
        while let Some(&longer) = text.get(at..=at + len).and_then(|string| table.get(string)) {
            (code, len) = (longer, len + 1);
        }
        put(&mut bits, code, width);
        if let Some(string) = text.get(at..=at + len)
            && first + table.len() < max
        {
            table.insert(string, first + table.len());
        }
        (at, number) = (at + len, number + 1);
    }
    let bytes = bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit)));
    let flags = header.max_bits as u8 | u8::from(header.block_mode) << 7;
    MAGIC.into_iter().chain([flags]).chain(bytes).collect()
}
