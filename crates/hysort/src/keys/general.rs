//! Numbers as `sort -g` reads them: the C library's `strtold` with 64 bits of precision, as on x86.

use super::number::split_while;
use num_bigint::BigUint;

/// A number with 64 significant bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum General {
    /// A text that does not begin with a number.
    None,
    NaN {
        negative: bool,
    },
    Infinite {
        negative: bool,
    },
    /// `bits` times two to the power of `exponent`. The highest of the bits is set, or all are zero.
    Finite {
        negative: bool,
        bits: u64,
        exponent: i32,
    },
}

/// The exponents of the largest numbers, and of the smallest ones with any precision.
const MAX_EXPONENT: i32 = 16_383 - 63;
const MIN_EXPONENT: i32 = -16_382 - 63;
/// More digits are never needed to round: of the rest it suffices to know whether any is not 0.
const MOST_DIGITS: usize = 20_000;
/// From this power of ten on numbers are infinite, and below its inverse they are zero.
const MOST_TENS: i64 = 6_000;

fn strip_word<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

/// The text after the `(...)` of a NaN.
fn strip_payload(text: &[u8]) -> Option<&[u8]> {
    let inside = text.strip_prefix(b"(")?;
    split_while(inside, |byte| byte.is_ascii_alphanumeric() || byte == b'_').1.strip_prefix(b")")
}

impl General {
    /// The number at the beginning of a text.
    pub fn at_start_of(text: &[u8]) -> General {
        General::read(text).0
    }

    /// The number, and the text after it.
    pub fn read(all: &[u8]) -> (General, &[u8]) {
        let text = split_while(all, |byte| matches!(byte, b' ' | 9..=13)).1;
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        if let Some(rest) = strip_word(text, b"inf") {
            return (General::Infinite { negative }, strip_word(rest, b"inity").unwrap_or(rest));
        }
        if let Some(rest) = strip_word(text, b"nan") {
            return (General::NaN { negative }, strip_payload(rest).unwrap_or(rest));
        }
        let hex = strip_word(text, b"0x").and_then(|hex| hexadecimal(negative, hex));
        hex.or_else(|| decimal(negative, text)).unwrap_or((General::None, all))
    }

    /// Rounds `bits` times two to the power of `exponent`, to which `more` adds less than one bit.
    fn finite(negative: bool, mut bits: u128, mut exponent: i32, mut more: bool) -> General {
        if bits == 0 {
            return General::Finite { negative: false, bits: 0, exponent: 0 };
        }
        // Rounds to 64 bits, or fewer if the number is very small.
        let len = 128 - bits.leading_zeros() as i32;
        let drop = (len - 64).max(MIN_EXPONENT - exponent);
        if drop > 127 {
            return General::Finite { negative: false, bits: 0, exponent: 0 };
        }
        if drop > 0 {
            let rest = bits & ((1 << drop) - 1);
            let half = 1_u128 << (drop - 1);
            bits >>= drop;
            exponent += drop;
            more |= rest & (half - 1) != 0;
            if rest & half != 0 && (more || bits & 1 == 1) {
                bits += 1;
            }
        }
        if bits == 0 {
            return General::Finite { negative: false, bits: 0, exponent: 0 };
        }
        // In this form the highest bit is set even for very small numbers.
        let len = 128 - bits.leading_zeros() as i32;
        let bits = if len > 64 { bits >> (len - 64) } else { bits << (64 - len) };
        exponent += len - 64;
        match exponent > MAX_EXPONENT {
            true => General::Infinite { negative },
            false => General::Finite { negative, bits: bits as u64, exponent },
        }
    }
}

/// The exponent after a letter, clamped, or 0 if there is none, and the text after it.
fn exponent(text: &[u8], letter: u8) -> (i64, &[u8]) {
    let [first, rest @ ..] = text else { return (0, text) };
    if first.to_ascii_lowercase() != letter {
        return (0, text);
    }
    let (sign, digits) = match rest {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        _ => (1, rest),
    };
    let (digits, rest) = split_while(digits, |byte| byte.is_ascii_digit());
    if digits.is_empty() {
        return (0, text);
    }
    let number = |number: i64, digit: &u8| (number * 10 + i64::from(digit - b'0')).min(1 << 40);
    (sign * digits.iter().fold(0, number), rest)
}

/// The digits of a number, and the text after them.
fn digits(text: &[u8], is: impl Fn(u8) -> bool + Copy) -> Option<(&[u8], &[u8], &[u8])> {
    let (whole, rest) = split_while(text, is);
    let (fraction, rest) = match rest.strip_prefix(b".") {
        Some(after) => split_while(after, is),
        None => (&[][..], rest),
    };
    (!whole.is_empty() || !fraction.is_empty()).then_some((whole, fraction, rest))
}

fn hexadecimal(negative: bool, text: &[u8]) -> Option<(General, &[u8])> {
    let (whole, fraction, rest) = digits(text, |byte| byte.is_ascii_hexdigit())?;
    let (power, rest) = exponent(rest, b'p');
    let (mut bits, mut more, mut power) = (0_u128, false, power - 4 * fraction.len() as i64);
    for &digit in whole.iter().chain(fraction) {
        let digit = u128::from((digit as char).to_digit(16).unwrap_or_default());
        if bits >> 120 == 0 {
            bits = bits << 4 | digit;
        } else {
            more |= digit != 0;
            power += 4;
        }
    }
    Some((General::finite(negative, bits, power.clamp(-100_000, 100_000) as i32, more), rest))
}

fn decimal(negative: bool, text: &[u8]) -> Option<(General, &[u8])> {
    let (whole, fraction, rest) = digits(text, |byte| byte.is_ascii_digit())?;
    let (tens, rest) = exponent(rest, b'e');
    Some((rounded(negative, whole, fraction, tens), rest))
}

/// A number from its digits before and after the point, times a power of ten.
fn rounded(negative: bool, whole: &[u8], fraction: &[u8], tens: i64) -> General {
    let mut tens = tens - fraction.len() as i64;
    let all = whole.iter().chain(fraction).skip_while(|&&digit| digit == b'0').map(|digit| digit - b'0');
    let mut digits: Vec<u8> = all.collect();
    if digits.len() > MOST_DIGITS {
        tens += (digits.len() - MOST_DIGITS) as i64;
        let more = digits[MOST_DIGITS..].iter().any(|&digit| digit != 0);
        digits.truncate(MOST_DIGITS);
        if more {
            digits.push(1);
            tens -= 1;
        }
    }
    while digits.len() > 1 && digits.last() == Some(&0) {
        digits.pop();
        tens += 1;
    }
    let size = digits.len() as i64 + tens;
    if digits.is_empty() || digits == [0] || size < -MOST_TENS {
        return General::finite(negative, 0, 0, false);
    }
    if size > MOST_TENS {
        return General::Infinite { negative };
    }
    let tens = tens as i32;
    if digits.len() <= 19 && tens.abs() <= 27 {
        let number = digits.iter().fold(0_u128, |number, &digit| number * 10 + u128::from(digit));
        let five = 5_u128.pow(tens.unsigned_abs());
        if tens >= 0 {
            return General::finite(negative, number * five, tens, false);
        }
        let shift = number.leading_zeros();
        let number = number << shift;
        return General::finite(negative, number / five, tens - shift as i32, number % five != 0);
    }
    exact(negative, &digits, tens)
}

/// Rounds any number, exactly.
fn exact(negative: bool, digits: &[u8], tens: i32) -> General {
    let number = BigUint::from_radix_be(digits, 10).unwrap_or_default();
    let five = BigUint::from(5_u8).pow(tens.unsigned_abs());
    let (number, five) = if tens > 0 { (number * five, BigUint::from(1_u8)) } else { (number, five) };
    // A quotient of 68 or 69 bits.
    let shift = 68 + five.bits() as i32 - number.bits() as i32;
    let (up, down) = (shift.max(0), (-shift).max(0));
    let (number, five) = (number << up, five << down);
    let bits = &number / &five;
    let more = &bits * five != number;
    General::finite(negative, u128::try_from(bits).unwrap_or_default(), tens - shift, more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Rng;

    /// The short way and the long one agree.
    #[test]
    fn the_plain_twin() {
        let mut rng = Rng(41);
        for _ in 0..20_000 {
            let len = 1 + rng.below(19);
            let digits: Vec<u8> = (0..len).map(|at| (rng.below(9) + usize::from(at == 0)) as u8).collect();
            let last = digits.iter().rposition(|&digit| digit != 0).unwrap_or_default();
            let tens = rng.below(55) as i32 - 27;
            let text: Vec<u8> = digits.iter().map(|digit| digit + b'0').collect();
            let text = [&text[..], format!("e{tens}").as_bytes()].concat();
            let trimmed = tens + (len - 1 - last) as i32;
            assert_eq!(General::at_start_of(&text), exact(false, &digits[..=last], trimmed), "{digits:?} {tens}");
        }
    }

    #[test]
    fn as_strtold_reads_them() {
        let one = General::Finite { negative: false, bits: 1 << 63, exponent: -63 };
        let zero = General::Finite { negative: false, bits: 0, exponent: 0 };
        for (text, expected) in [
            ("1", one),
            ("  +1.0e0x", one),
            ("0x1", one),
            ("0X.8p1", one),
            ("10e-1", one),
            ("1e", one),
            ("0x", zero),
            ("-0", zero),
            ("1e-99999999999999999999", zero),
            ("0e99999999999999999999", zero),
            ("1e5000", General::Infinite { negative: false }),
            ("-infinity", General::Infinite { negative: true }),
            ("nan(3)", General::NaN { negative: false }),
            ("", General::None),
            (".", General::None),
            ("e1", General::None),
            ("0x8000000000000000", General::Finite { negative: false, bits: 1 << 63, exponent: 0 }),
            // Half of the last bit is rounded to even.
            ("18446744073709551617", General::Finite { negative: false, bits: 1 << 63, exponent: 1 }),
            ("18446744073709551619", General::Finite { negative: false, bits: (1 << 63) + 2, exponent: 1 }),
            ("3.6451995318824746025e-4951", General::Finite { negative: false, bits: 1 << 63, exponent: -16_508 }),
            ("1.8e-4951", zero),
        ] {
            assert_eq!(General::at_start_of(text.as_bytes()), expected, "{text}");
        }
    }
}
