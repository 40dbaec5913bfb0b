//! Flag values that are more than a number.

use glob::Pattern;

/// The maximum number of threads: as many as Linux has process ids (PID_MAX_LIMIT).
pub const MAX_THREADS: u64 = 1 << 22;

/// [`bad_flag`](super::bad_flag) lists the values that a parser accepts, so an error has nothing to add.
pub type Parsed<T> = Result<T, &'static str>;
pub const BAD: &str = "another value is expected";

/// A size of memory: a number of MiB, or of the binary unit that follows it.
pub fn size(text: &str) -> Parsed<u64> {
    bytes(text, 1 << 20, 1024).filter(|bytes| *bytes > 0).ok_or(BAD)
}

/// A number of bytes of text, or of the unit that follows it. `k` is 1000, because bzip2 counts its blocks that way.
pub fn text_length(text: &str) -> Parsed<u64> {
    bytes(text, 1, 1000).ok_or(BAD)
}

/// Like [`text_length`], but 0 is refused.
pub fn shard_size(text: &str) -> Parsed<u64> {
    text_length(text).and_then(|bytes| if bytes > 0 { Ok(bytes) } else { Err(BAD) })
}

/// Parses a size: `900k`, `1.5G`, `4Gi`, `64MiB`. A fraction needs a unit, and fractions of a byte are dropped. Without
/// a letter, the unit is `bare` bytes; k stands for the factor `kilo`, and Ki for 1024 in any case.
fn bytes(text: &str, bare: u64, kilo: u64) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" => bare,
        "b" => 1,
        lower => {
            let (letter, rest) = lower.split_at(lower.chars().next().map_or(0, char::len_utf8));
            let power = "kmgt".find(letter)? as u32 + 1;
            let base: u64 = match rest {
                "" | "b" => kilo,
                "i" | "ib" => 1024,
                _ => return None,
            };
            base.pow(power)
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if unit == 1 && number.contains('.') || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Further digits change the result by less than a byte.
    let digits = &fraction[..fraction.len().min(18)];
    let part = u128::from(digits.parse::<u64>().ok()?) * u128::from(unit) / 10u128.pow(digits.len() as u32);
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(part.try_into().ok()?)
}

pub fn pattern(text: &str) -> Parsed<Pattern> {
    // Paths below a directory begin and end with names.
    let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
    Pattern::new(text).ok().filter(|_| !text.is_empty()).ok_or(BAD)
}

/// An interval of perturbation: a number of bytes, or the percentage of bytes to insert. 0 means none, in both forms.
pub fn interval(text: &str) -> Parsed<u32> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().map_err(|_| BAD)?;
    match if text.ends_with('%') { (100.0 / number).round() } else { number } {
        _ if number == 0.0 => Ok(0),
        interval @ 1.0..=1e9 => Ok(interval as u32),
        _ => Err(BAD),
    }
}

pub fn seconds(text: &str) -> Parsed<f64> {
    text.parse().ok().filter(|seconds| (0.0..=3600.0).contains(seconds)).ok_or(BAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `read` gives these values for these texts, and refuses `bad` ones.
    fn check<T: PartialEq + std::fmt::Debug>(read: fn(&str) -> Parsed<T>, good: &[(&str, T)], bad: &str) {
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
