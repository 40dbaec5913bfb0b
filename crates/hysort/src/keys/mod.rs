//! Sorting by keys: `sort -k`, `-n` and so on.
//!
//! A line becomes a record, which is sorted as a line is: the codes of its keys (see `code.rs`), a byte that ends
//! them, and the line. Only the lines of the records are written.
//!
//! ```text
//! b 10        "10" as a number, end, b 10        a 9
//! a 9    ->   "9" as a number, end, a 9     ->   b 10
//! ```
//!
//! The line itself is the last key, as in `sort`. If lines with equal keys keep their order (`-s`), the line's place
//! follows its codes. If only the first of them is kept (`-u`), the codes and the place each have an end.

mod bare;
mod by;
mod code;
mod general;
mod key;
mod number;
mod ordered;
mod sorter;
mod version;

pub use key::{Key, KeyError, Options};
pub use ordered::{check, merge};
pub use sorter::Sorter;

use crate::order::Order;
use crate::text::lines;
use by::Panicked;
use code::{Alphabets, Coder};
use general::General;
use key::Kind;
use number::Decimal;
use std::cmp::Ordering;
use std::sync::Arc;
use version::version;

/// The keys by which lines are sorted, in descending order of their weight.
///
/// ```
/// use hysort::{Key, Keys, Order, sorted};
/// let pool = hysort::pool().build();
/// let text = b"b 10\na 9\nc 10\n";
/// let keys = Keys::new(["2,2nr".parse()?], &Order::new());
/// assert_eq!(sorted(text, &keys, &pool)?, b"b 10\nc 10\na 9\n");
/// let length = Key::by(|line, key| key.extend((line.len() as u64).to_be_bytes()));
/// let keys = Keys::new([length], &Order::new()).stable(true);
/// assert_eq!(sorted(text, &keys, &pool)?, b"a 9\nb 10\nc 10\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The order
///
/// Of two lines that differ in the first key, the one with the smaller key comes first, or the one with the larger key
/// if the key has the option `r`; of lines that agree in it, the second key decides, and so on. If all keys are equal:
///
/// | | lines with equal keys |
/// |---|---|
/// | neither of the following | in the order of their bytes, or the opposite one if [`Order::reverse`] |
/// | [`stable`](Self::stable) | in the order in which they came |
/// | [`Order::unique`] | only the one that came first is written |
///
/// Without keys the bytes alone decide. The output does not depend on the number of stations, on the memory, or on how
/// the text was cut.
#[derive(Clone, Debug)]
pub struct Keys(Arc<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    order: Order,
    stable: bool,
    separator: Option<u8>,
    alphabets: Alphabets,
    parts: Vec<Part>,
}

/// A key, ready for use.
#[derive(Clone, Debug)]
struct Part {
    key: Key,
    descending: bool,
    table: Box<[u16; 256]>,
}

/// Where a line stands in the input: the number of its file, and its offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    file: u64,
    at: u64,
}

impl From<&Order> for Keys {
    fn from(order: &Order) -> Keys {
        Keys::new([], order)
    }
}

impl From<&Keys> for Keys {
    fn from(keys: &Keys) -> Keys {
        keys.clone()
    }
}

impl Keys {
    /// Sorts by these keys. Lines with equal keys are compared by their bytes, in the opposite order if `order` is
    /// reversed; if `order` is unique, only the first of them is kept.
    pub fn new(keys: impl IntoIterator<Item = Key>, order: &Order) -> Keys {
        let parts = keys.into_iter().map(|key| Part { key, descending: false, table: Box::new([0; 256]) }).collect();
        let alphabets = Alphabets::new(order.end_byte());
        Keys::made(Inner { order: *order, stable: false, separator: None, alphabets, parts })
    }

    /// Whether lines with equal keys stay in the order in which they came: `sort -s`.
    pub fn stable(self, stable: bool) -> Keys {
        Keys::made(Inner { stable, ..Arc::unwrap_or_clone(self.0) })
    }

    /// The byte that separates fields: `sort -t`. If there is none, each field begins with the blanks before it.
    pub fn separator(self, byte: Option<u8>) -> Keys {
        Keys::made(Inner { separator: byte, ..Arc::unwrap_or_clone(self.0) })
    }

    fn made(mut inner: Inner) -> Keys {
        let reversed = inner.record_order().is_reverse();
        for part in &mut inner.parts {
            part.descending = part.key.options.has(b'r') != reversed;
            let codes = inner.alphabets.of_bytes(part.descending);
            let options = part.key.options;
            for byte in 0..=255 {
                let code = codes[usize::from(options.folded(byte))];
                part.table[usize::from(byte)] = if options.keeps(byte) { code } else { 0 };
            }
        }
        Keys(Arc::new(inner))
    }

    /// The order of the records.
    fn record_order(&self) -> Order {
        self.0.record_order()
    }

    fn end_byte(&self) -> u8 {
        self.0.order.end_byte()
    }

    /// Appends the codes of a line, and the byte that ends them. `scratch` is a buffer.
    fn code(&self, line: &[u8], scratch: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), Panicked> {
        let alphabets = &self.0.alphabets;
        for part in &self.0.parts {
            let mut coder = Coder { out, alphabets, descending: part.descending };
            match part.key.by_closure() {
                Some(by) => {
                    by.key(line, scratch)?;
                    coder.bytes(scratch, &part.table);
                }
                None => part.code(&mut coder, part.key.find(line, self.0.separator)),
            }
        }
        out.push(alphabets.end_of_code());
        Ok(())
    }

    /// Appends the record of a line, without its end.
    fn record(&self, line: &[u8], place: Place, scratch: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), Panicked> {
        self.code(line, scratch, out)?;
        if self.0.is_stable() {
            if !self.0.drops_equal_keys() {
                out.pop(); // one end suffices where codes are not compared
            }
            let mut coder = Coder { out, alphabets: &self.0.alphabets, descending: false };
            coder.count(place.file);
            coder.count(place.at);
            out.push(self.0.alphabets.end_of_code());
        }
        out.extend_from_slice(line);
        Ok(())
    }

    /// Appends the records of whole lines, the last of which may lack its end.
    fn records(&self, text: &[u8], mut place: Place, out: &mut Vec<u8>) -> Result<(), Panicked> {
        let from = place.at;
        let mut scratch = Vec::new();
        for line in lines(text, self.end_byte()) {
            place.at = from + line.start as u64;
            self.record(&text[line], place, &mut scratch, out)?;
            out.push(self.end_byte());
        }
        Ok(())
    }

    /// Compares two lines by their codes and, if the order says so, by their bytes.
    fn compare(&self, a: (&[u8], &[u8]), b: (&[u8], &[u8])) -> Ordering {
        let order = self.record_order();
        let codes = order.compare(a.0, b.0);
        if self.0.is_stable() { codes } else { codes.then_with(|| order.compare(a.1, b.1)) }
    }
}

impl Part {
    /// Appends the code of a key.
    fn code(&self, coder: &mut Coder<'_>, key: &[u8]) {
        let options = &self.key.options;
        let kind = options.kind();
        let is_changed = options.has(b'f') || options.has(b'd') || options.has(b'i');
        // Units and versions depend on the letters. Texts are changed by their table, and other kinds not at all.
        let changed: Vec<u8> = match kind {
            Kind::Human | Kind::Version if is_changed => {
                key.iter().filter(|&&byte| options.keeps(byte)).map(|&byte| options.folded(byte)).collect()
            }
            _ => Vec::new(),
        };
        match kind {
            Kind::Text => coder.bytes(key, &self.table),
            Kind::Number => coder.number(&Decimal::at_start_of(key)),
            Kind::General => coder.general(General::at_start_of(key)),
            Kind::Human => coder.human(if is_changed { &changed } else { key }),
            Kind::Month => coder.month(key),
            Kind::Version => version(coder, if is_changed { &changed } else { key }),
        }
    }
}

impl Inner {
    /// Whether lines with equal keys are not compared.
    fn is_stable(&self) -> bool {
        self.drops_equal_keys() || self.stable && !self.parts.is_empty()
    }

    /// Whether only the first of lines with equal keys is kept. (Without keys, equal lines are dropped as they are
    /// sorted.)
    fn drops_equal_keys(&self) -> bool {
        self.order.is_unique() && !self.parts.is_empty()
    }

    /// Places ascend, whatever the order of the lines is; equal keys are dropped later, because the lines may differ.
    fn record_order(&self) -> Order {
        let unique = self.order.is_unique() && !self.drops_equal_keys();
        self.order.unique(unique).reverse(self.order.is_reverse() && !self.is_stable())
    }
}
