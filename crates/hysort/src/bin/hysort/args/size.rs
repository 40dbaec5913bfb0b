//! Numbers and sizes, as GNU sort reads them, with its messages.

use crate::failure::Failure;
use crate::names::in_plain_quotes;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;

/// How a number is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bad {
    Number,
    Suffix,
    TooLarge,
}

impl Bad {
    /// The message about the value of the flag `typed`.
    fn failure(self, typed: &str, value: &OsStr) -> Failure {
        let (before, after) = match self {
            Bad::Number => ("invalid ", ""),
            Bad::Suffix => ("invalid suffix in ", ""),
            Bad::TooLarge => ("", " too large"),
        };
        sentence(before, typed, value, after)
    }
}

/// A sentence with "FLAG argument 'VALUE'" in it.
fn sentence(before: &str, typed: &str, value: &OsStr, after: &str) -> Failure {
    let flag = format!("{before}{typed} argument ");
    Failure::sentence([flag.as_bytes(), &in_plain_quotes(value), after.as_bytes()].concat())
}

/// The minimum size for `-S`: smaller sizes become this one, so that a call with `-S 1` still works.
pub const LEAST: u64 = 1 << 20;

/// The value of `-S`: a number of KiB, or of the unit that follows, or per cent of `memory`.
pub fn buffer_size(typed: &str, value: &OsStr, memory: impl FnOnce() -> u64) -> Result<u64, Failure> {
    let size = size(value.as_bytes(), memory).map_err(|bad| bad.failure(typed, value))?;
    Ok(size.max(LEAST))
}

fn size(text: &[u8], memory: impl FnOnce() -> u64) -> Result<u64, Bad> {
    let (number, unit) = number(text)?;
    // A unit without a number means one: `M` is `1M`.
    let number = match number {
        Some(number) => number,
        None if unit.first().is_some_and(|unit| b"EgGkKmMPtTYZ".contains(unit)) => Ok(1),
        None => return Err(Bad::Number),
    };
    let shift = match unit {
        b"" | b"k" | b"K" => 10,
        b"b" => 0,
        b"m" | b"M" => 20,
        b"g" | b"G" => 30,
        b"t" | b"T" => 40,
        b"P" => 50,
        b"E" => 60,
        b"Z" | b"Y" => return Err(Bad::TooLarge),
        b"%" => return per_cent(memory(), number?),
        _ => return Err(Bad::Suffix),
    };
    number?.checked_mul(1 << shift).ok_or(Bad::TooLarge)
}

fn per_cent(memory: u64, number: u64) -> Result<u64, Bad> {
    let bytes = memory as f64 * number as f64 / 100.0;
    if bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(Bad::TooLarge) }
}

/// The digits at the beginning, as a number if there are any, and the text after them.
#[allow(clippy::type_complexity)]
fn number(text: &[u8]) -> Result<(Option<Result<u64, Bad>>, &[u8]), Bad> {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(digits);
    if digits.is_empty() {
        return Ok((None, rest));
    }
    let digits = std::str::from_utf8(digits).map_err(|_| Bad::Number)?;
    Ok((Some(digits.parse().map_err(|_| Bad::TooLarge)), rest))
}

/// A number without a unit.
fn plain(text: &[u8]) -> Result<u64, Bad> {
    match number(text)? {
        (Some(number), b"") => number,
        (Some(_), _) => Err(Bad::Suffix),
        (None, _) => Err(Bad::Number),
    }
}

/// The value of `--parallel`.
pub fn parallel(typed: &str, value: &OsStr) -> Result<NonZeroUsize, Failure> {
    let number = match plain(value.as_bytes()) {
        Err(Bad::TooLarge) => u64::MAX,
        number => number.map_err(|bad| bad.failure(typed, value))?,
    };
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    NonZeroUsize::new(number).ok_or_else(|| Failure::sentence("number in parallel must be nonzero"))
}

/// The value of `--batch-size`; the process may have `most` files open.
pub fn batch_size(typed: &str, value: &OsStr, most: u64) -> Result<usize, Failure> {
    let most = most.saturating_sub(3);
    match plain(value.as_bytes()) {
        Ok(number @ 0..2) => {
            let _ = number;
            let after = format!("\nhysort: minimum {typed} argument is '2'");
            Err(sentence("invalid ", typed, value, &after))
        }
        Ok(number) if number <= most => Ok(usize::try_from(number).unwrap_or(usize::MAX)),
        Ok(_) | Err(Bad::TooLarge) => {
            let after = format!(" too large\nhysort: maximum {typed} argument with current rlimit is {most}");
            Err(sentence("", typed, value, &after))
        }
        Err(bad) => Err(bad.failure(typed, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("1", Ok(1 << 10)),
            ("9000b", Ok(9000)),
            ("2K", Ok(2 << 10)),
            ("3m", Ok(3 << 20)),
            ("1G", Ok(1 << 30)),
            ("K", Ok(1 << 10)),
            (" +5T", Ok(5 << 40)),
            ("50%", Ok(500)),
            ("0", Ok(0)),
        ] {
            assert_eq!(size(text.as_bytes(), || 1000), expected, "{text}");
        }
    }
}
