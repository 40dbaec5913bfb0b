//! The values of flags that are more than a number.

use glob::Pattern;

/// The maximum number of threads: Linux has no more process ids (PID_MAX_LIMIT).
pub const MAX_THREADS: u64 = 1 << 22;

/// The meaning of the letters in a size.
#[derive(Clone, Copy)]
struct Letters {
    /// The unit of a number without a letter.
    bare: u64,
    /// The factor for which k stands; Ki is 1024 in any case.
    kilo: u64,
}

/// A size of memory: a number of MiB, or of the binary unit that follows it.
pub fn size(text: &str) -> Result<u64, String> {
    not_zero(bytes(text, Letters { bare: 1 << 20, kilo: 1024 })?)
}

/// A number of bytes of text, or of the unit that follows it. `k` is 1000, because bzip2 counts its blocks that way.
pub fn text_length(text: &str) -> Result<u64, String> {
    bytes(text, Letters { bare: 1, kilo: 1000 })
}

/// Like [`text_length`], but 0 is refused.
pub fn shard_size(text: &str) -> Result<u64, String> {
    not_zero(text_length(text)?)
}

/// Parses a size: `900k`, `1.5G`, `4Gi`, `64MiB`. A fraction needs a unit, and fractions of a byte are dropped.
fn bytes(text: &str, letters: Letters) -> Result<u64, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    if number.is_empty() {
        return Err(not_a_number());
    }
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" => letters.bare,
        "b" => 1,
        lower => {
            let (letter, rest) = lower.split_at(lower.chars().next().map_or(0, char::len_utf8));
            let power = "kmgt".find(letter).ok_or_else(|| not_a_unit(unit))? as u32 + 1;
            let base: u64 = match rest {
                "" | "b" => letters.kilo,
                "i" | "ib" => 1024,
                _ => return Err(not_a_unit(unit)),
            };
            base.pow(power)
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if unit == 1 && number.contains('.') {
        return Err("a fraction of a byte".to_owned());
    }
    // Further digits change the result by less than a byte.
    let digits = &fraction[..fraction.len().min(18)];
    if fraction.bytes().any(|byte| !byte.is_ascii_digit()) {
        return Err(not_a_number());
    }
    let part = u128::from(parsed(digits)?) * u128::from(unit) / 10u128.pow(digits.len() as u32);
    let part = u64::try_from(part).map_err(|_| out_of_range())?;
    parsed(whole)?.checked_mul(unit).and_then(|bytes| bytes.checked_add(part)).ok_or_else(out_of_range)
}

fn not_zero(bytes: u64) -> Result<u64, String> {
    if bytes > 0 { Ok(bytes) } else { Err("it must be more than 0".to_owned()) }
}

/// A pattern of file names, as in a shell.
pub fn pattern(text: &str) -> Result<Pattern, String> {
    // Paths below a directory begin and end with names.
    let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    Pattern::new(text).map_err(|e| e.msg.to_owned())
}

/// An interval of perturbation: a number of bytes, or the percentage of bytes to insert. 0 means none, in both forms.
pub fn interval(text: &str) -> Result<u32, String> {
    let number = |text: &str| text.parse::<f64>().map_err(|_| not_a_number());
    let interval = match text.strip_suffix('%').map(number) {
        Some(Ok(0.0)) => return Ok(0),
        Some(percent) => (100.0 / percent?).round(),
        None => number(text)?,
    };
    match interval {
        0.0 if !text.ends_with('%') => Ok(0),
        1.0..=1e9 => Ok(interval as u32),
        _ => Err(out_of_range()),
    }
}

/// A time in seconds, at most an hour.
pub fn seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|seconds| (0.0..=3600.0).contains(seconds)).ok_or_else(not_a_number)
}

fn parsed(number: &str) -> Result<u64, String> {
    number.parse().map_err(|_| not_a_number())
}

fn not_a_number() -> String {
    "not a number".to_owned()
}

fn not_a_unit(unit: &str) -> String {
    format!("`{unit}' is not a unit")
}

fn out_of_range() -> String {
    "out of range".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `read` gives these values for these texts, and refuses `bad` ones.
    fn check<T: PartialEq + std::fmt::Debug>(read: fn(&str) -> Result<T, String>, good: &[(&str, T)], bad: &str) {
        for (text, value) in good {
            assert_eq!(read(text).as_ref(), Ok(value), "{text}");
        }
        for bad in bad.split(' ').chain(["", "1 k", " 1"]) {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        let good = [("1", 1 << 20), ("9000k", 9000 << 10), ("64MiB", 64 << 20), ("1G", 1 << 30), ("2t", 2 << 40)];
        check(size, &good, "0 k 12q -1 .5 1. 1.5b 1..5k 1.2.3k 1kk ik 9é 99999999999999999999 18014398509481984");
        let good = [("512b", 512), ("3Kb", 3 << 10), ("4Gi", 4 << 30), ("1.5", 3 << 19), ("0.5k", 512)];
        check(size, &good, "1ki1 1.5GiBs");
    }

    #[test]
    fn lengths_of_text() {
        let bad = "M . 1. .5M 1.5 1.5b 1,5M 1e3 1P 99999999999999999999 99999999T";
        check(text_length, &[("900k", 900_000), ("900KB", 900_000), ("1M", 1_000_000), ("1Mi", 1 << 20)], bad);
        check(text_length, &[("7", 7), ("0", 0), ("7b", 7), ("1.5G", 1_500_000_000), ("0.25Ki", 256)], bad);
        check(text_length, &[("2T", 2_000_000_000_000), ("1Ti", 1 << 40), ("1GiB", 1 << 30)], bad);
        // Fractions of a byte are dropped.
        check(text_length, &[("0.3333k", 333), ("0.00000000000000000000000000000001T", 0)], bad);
        check(shard_size, &[("1.5G", 1_500_000_000)], "0 0.1b");
    }

    #[test]
    fn times_and_intervals() {
        check(seconds, &[("5", 5.0), ("0", 0.0), ("0.25", 0.25), ("3600", 3600.0)], "-1 3601 5s NaN inf");
        let bad = "-5 0.4 x % 1e-8% 1000% 1000000001 NaN nan%";
        check(interval, &[("0", 0), ("0%", 0), ("0.0%", 0), ("1", 1), ("1000", 1000), ("0.1%", 1000)], bad);
        check(interval, &[("100%", 1), ("33%", 3), ("1000000000", 1_000_000_000)], bad);
    }
}
