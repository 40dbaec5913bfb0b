//! Codes of keys: strings of bytes in the order of the keys, none of which is a prefix of another.
//!
//! A code consists of symbols, of which there are 254: all bytes but two. One of the two ends lines, so a code may be
//! part of a line; the other ends all codes of a line ([`Alphabets::end_of_code`]). The symbols in descending order
//! give a code of the opposite order, because no code is a prefix of another.
//!
//! | key | code |
//! |---|---|
//! | bytes | byte + 1 each, 249 and more as 250 and the rest; 0 |
//! | number | sign and number of digits in one symbol; pairs of digits, + 1; 0. Negative ones: descending |
//! | number of `-g` | its sign, its exponent; 7 bits each, + 1; 0. Negative ones: descending |
//! | count | the number of its digits; its digits, to base 254 |

use super::general::General;
use super::number::{Decimal, is_blank, split_while};

/// How many symbols there are.
pub(super) const SYMBOLS: u8 = 254;
/// Bytes from this one on take two symbols.
const ESCAPED: u8 = 249;
const ESCAPE: u8 = ESCAPED + 1;
/// The first symbol of the number zero.
const ZERO: u8 = 126;
/// If there are more digits than this before the point, their number is written separately.
const MOST_DIGITS: usize = 100;

/// The bytes of the symbols, ascending and descending.
#[derive(Clone, Debug)]
pub(super) struct Alphabets {
    end_of_code: u8,
    bytes: [[u8; SYMBOLS as usize]; 2],
}

impl Alphabets {
    /// For lines that end with this byte.
    pub fn new(end: u8) -> Alphabets {
        let end_of_code = u8::from(end == 0);
        let mut bytes = [[0; SYMBOLS as usize]; 2];
        for (symbol, byte) in (0..=255).filter(|byte| ![end, end_of_code].contains(byte)).enumerate() {
            bytes[0][symbol] = byte;
            bytes[1][SYMBOLS as usize - 1 - symbol] = byte;
        }
        Alphabets { end_of_code, bytes }
    }

    /// The byte that ends the codes of a line.
    pub fn end_of_code(&self) -> u8 {
        self.end_of_code
    }

    /// The codes of all bytes: the one or two bytes written for each, the first in the lower half. (The byte 0 is no
    /// symbol.)
    pub fn of_bytes(&self, descending: bool) -> [u16; 256] {
        let symbols = &self.bytes[usize::from(descending)];
        std::array::from_fn(|byte| match byte as u8 {
            byte @ ESCAPED.. => {
                u16::from(symbols[usize::from(ESCAPE)]) | u16::from(symbols[usize::from(byte - ESCAPED)]) << 8
            }
            byte => u16::from(symbols[usize::from(byte) + 1]),
        })
    }
}

/// Appends codes to a line's code.
#[derive(Debug)]
pub(super) struct Coder<'a> {
    pub out: &'a mut Vec<u8>,
    pub alphabets: &'a Alphabets,
    pub descending: bool,
}

impl Coder<'_> {
    fn write(&mut self, symbol: u8, descending: bool) {
        self.out.push(self.alphabets.bytes[usize::from(descending)][usize::from(symbol)]);
    }

    /// Appends a symbol: the code of a number less than [`SYMBOLS`].
    pub fn symbol(&mut self, symbol: u8) {
        self.write(symbol, self.descending);
    }

    /// Appends a string of bytes, by a table of [`Alphabets::of_bytes`]. Bytes whose entry is 0 are left out.
    pub fn bytes(&mut self, text: &[u8], table: &[u16; 256]) {
        let start = self.out.len();
        self.out.extend(text.iter().map(|&byte| table[usize::from(byte)] as u8));
        let is_simple = text.iter().all(|&byte| (1..256).contains(&table[usize::from(byte)]));
        if !is_simple {
            self.out.truncate(start);
            for &byte in text {
                let [first, second] = table[usize::from(byte)].to_le_bytes();
                self.out.extend([first, second].into_iter().filter(|&byte| byte != 0));
            }
        }
        self.symbol(0);
    }

    /// Appends a count.
    pub fn count(&mut self, count: u64) {
        self.count_in(count, self.descending);
    }

    fn count_in(&mut self, count: u64, descending: bool) {
        let base = u64::from(SYMBOLS);
        let mut digits = [0; 9];
        let (mut len, mut rest) = (0, count);
        while rest > 0 {
            digits[len] = (rest % base) as u8;
            rest /= base;
            len += 1;
        }
        self.write(len as u8, descending);
        digits[..len].iter().rev().for_each(|&digit| self.write(digit, descending));
    }

    /// Appends a whole number, whose first digit is not 0.
    pub fn digits(&mut self, digits: &[u8]) {
        self.count(digits.len() as u64);
        let (first, pairs) = digits.split_at(digits.len() % 2);
        first.iter().for_each(|&digit| self.symbol(digit - b'0'));
        pairs.as_chunks().0.iter().for_each(|&[a, b]| self.symbol(10 * (a - b'0') + b - b'0'));
    }

    /// Appends a number with a unit, `-h`: the unit counts first.
    pub fn human(&mut self, text: &[u8]) {
        let (number, rest) = Decimal::read(text);
        let unit = match rest.first() {
            Some(&byte) if !number.whole.is_empty() || !number.fraction.is_empty() => unit(byte).unwrap_or(0),
            _ => 0,
        };
        self.symbol(if number.negative { ZERO - unit } else { ZERO + unit });
        self.number(&number);
    }

    /// Appends a month, `-M`, by its first three letters.
    pub fn month(&mut self, text: &[u8]) {
        self.symbol(month(split_while(text, is_blank).1).unwrap_or(0));
    }

    /// Appends a number with an exponent, `-g`.
    pub fn general(&mut self, number: General) {
        // Symbols above and below the first symbols of all finite numbers.
        let infinite = [ZERO + 3, ZERO - 2];
        match number {
            General::None => self.symbol(0),
            General::NaN { negative } => self.symbol(if negative { 1 } else { 2 }),
            General::Infinite { negative } => self.symbol(infinite[usize::from(negative)]),
            General::Finite { bits: 0, .. } => self.symbol(ZERO),
            General::Finite { negative, bits, exponent } => {
                let descending = self.descending != negative;
                self.write(ZERO + 2, descending);
                let exponent = (exponent + (1 << 15)) as u16;
                self.write((exponent / 250) as u8, descending);
                self.write((exponent % 250) as u8, descending);
                let mut rest = bits << 1; // the highest bit is always set
                while rest != 0 {
                    self.write((rest >> 57) as u8 + 1, descending);
                    rest <<= 7;
                }
                self.write(0, descending);
            }
        }
    }

    /// Appends a number.
    pub fn number(&mut self, number: &Decimal<'_>) {
        let Decimal { negative, whole, fraction } = *number;
        if whole.is_empty() && fraction.is_empty() {
            return self.symbol(ZERO);
        }
        // In the descending alphabet this is a symbol below ZERO.
        let descending = self.descending != negative;
        self.write(ZERO + 2 + whole.len().min(MOST_DIGITS + 1) as u8, descending);
        if whole.len() > MOST_DIGITS {
            self.count_in(whole.len() as u64, descending);
        }
        let digit = |byte: u8| byte - b'0';
        let (first, pairs) = whole.split_at(whole.len() % 2);
        first.iter().for_each(|&byte| self.write(digit(byte) + 1, descending));
        pairs.as_chunks().0.iter().for_each(|&[a, b]| self.write(10 * digit(a) + digit(b) + 1, descending));
        let (pairs, last) = fraction.as_chunks();
        pairs.iter().for_each(|&[a, b]| self.write(10 * digit(a) + digit(b) + 1, descending));
        last.iter().for_each(|&a| self.write(10 * digit(a) + 1, descending));
        self.write(0, descending);
    }
}

/// The number of a unit, from 1.
fn unit(byte: u8) -> Option<u8> {
    let byte = if byte == b'k' { b'K' } else { byte };
    b"KMGTPEZY".iter().position(|&other| other == byte).map(|at| at as u8 + 1)
}

/// The number of the month at the start of a text, from 1.
fn month(text: &[u8]) -> Option<u8> {
    const MONTHS: &[u8] = b"janfebmaraprmayjunjulaugsepoctnovdec";
    let name = text.get(..3)?;
    MONTHS.chunks_exact(3).position(|month| month.eq_ignore_ascii_case(name)).map(|at| at as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(end: u8, descending: bool, of: impl Fn(&mut Coder<'_>)) -> Vec<u8> {
        let (alphabets, mut out) = (Alphabets::new(end), Vec::new());
        of(&mut Coder { out: &mut out, alphabets: &alphabets, descending });
        assert!(!out.contains(&end) && !out.contains(&alphabets.end_of_code()), "{out:?}");
        out
    }

    fn check<T: Ord + std::fmt::Debug>(values: &[T], of: impl Fn(&mut Coder<'_>, &T)) {
        for end in [0, 1, 10, 255] {
            for descending in [false, true] {
                let codes: Vec<_> = values.iter().map(|v| code(end, descending, |coder| of(coder, v))).collect();
                for (a, x) in values.iter().zip(&codes) {
                    for (b, y) in values.iter().zip(&codes) {
                        let expected = if descending { b.cmp(a) } else { a.cmp(b) };
                        assert_eq!(x.cmp(y), expected, "{a:?} {b:?}");
                        assert!(x == y || !x.starts_with(y), "{a:?} {b:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn counts() {
        let mut counts = vec![0, 1, 253, 254, 255, 64_515, 64_516, 1 << 32, u64::MAX - 1, u64::MAX];
        counts.extend(0..50);
        check(&counts, |coder, &count| coder.count(count));
    }
}
