//! Strings as their numbers. A record is the code of a string, the byte that ends it, and the code of its number.

use super::by::Panicked;
use super::{Coder, Key, Keys, Options};
use crate::order::Order;
use crate::parts::Strings;
use std::io;

/// Takes sorted records, cut anywhere, and collects their numbers.
pub(crate) struct Numbers<'a> {
    keys: &'a Keys,
    /// Whether only the first of equal strings counts.
    unique: bool,
    /// The beginning of a record that has no end yet.
    record: Vec<u8>,
    /// The code of the last string.
    last: Option<Vec<u8>>,
    pub all: Vec<u64>,
}

impl<'a> Numbers<'a> {
    /// Strings are compared as this order says; equal ones stay in the order of their numbers.
    pub fn keys(order: &Order) -> Keys {
        let options = if order.is_reverse() { Options::new().with(b'r') } else { None };
        Keys::new([Key::line(options.unwrap_or_default())], &Order::new()).stable(true)
    }

    pub fn new(keys: &'a Keys, order: &Order) -> Self {
        Numbers { keys, unique: order.is_unique(), record: Vec::new(), last: None, all: Vec::new() }
    }

    /// Takes a record without its end.
    fn take(&mut self, record: &[u8]) {
        let alphabets = &self.keys.0.alphabets;
        let end = record.iter().position(|&byte| byte == alphabets.end_of_code()).unwrap_or(record.len());
        let (code, number) = record.split_at(end);
        if self.unique {
            if self.last.as_deref() == Some(code) {
                return;
            }
            let last = self.last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(code);
        }
        self.all.push(alphabets.count_of(&number[1..]));
    }
}

impl io::Write for Numbers<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let end = self.keys.end_byte();
        for part in text.split_inclusive(|&byte| byte == end) {
            match part.strip_suffix(&[end]) {
                Some(record) if self.record.is_empty() => self.take(record),
                Some(last) => {
                    let record = [&std::mem::take(&mut self.record), last].concat();
                    self.take(&record);
                }
                None => self.record.extend_from_slice(part),
            }
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Keys {
    /// Appends the records of strings.
    pub(super) fn numbered(&self, strings: &Strings, out: &mut Vec<u8>) -> Result<(), Panicked> {
        for (number, string) in strings.iter() {
            self.code(string, &mut Vec::new(), out)?;
            Coder { out, alphabets: &self.0.alphabets, descending: false }.count(number);
            out.push(self.end_byte());
        }
        Ok(())
    }
}
