//! The values of flags that are more than a number.

use glob::Pattern;

/// The most threads that can be asked for: Linux has no more process ids (PID_MAX_LIMIT).
pub const MAX_THREADS: u64 = 1 << 22;

/// A size: a number of MiB, or of the binary unit that follows it.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = number_and_unit(text);
    let shift = match unit.to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" if unit.is_empty() => 20,
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(not_a_unit(unit)),
    };
    parsed(number)?.checked_mul(1 << shift).filter(|&bytes| bytes > 0).ok_or_else(out_of_range)
}

/// A block size: a number of bytes, or of the unit that follows it. `k` is 1000, because bzip2 counts its blocks that
/// way.
pub fn block_size(text: &str) -> Result<u64, String> {
    let (number, unit) = number_and_unit(text);
    let unit: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "ki" | "kib" => 1 << 10,
        "mi" | "mib" => 1 << 20,
        "gi" | "gib" => 1 << 30,
        _ => return Err(not_a_unit(unit)),
    };
    parsed(number)?.checked_mul(unit).ok_or_else(out_of_range)
}

/// A number of bytes of text, or of the unit that follows it; as in `--block-size`, and up to T and Ti.
pub fn text_length(text: &str) -> Result<u64, String> {
    let (number, unit) = number_and_unit(text);
    let tera: u64 = match unit.to_ascii_lowercase().as_str() {
        "t" | "tb" => 1_000_000_000_000,
        "ti" | "tib" => 1 << 40,
        _ => return block_size(text),
    };
    parsed(number)?.checked_mul(tera).ok_or_else(out_of_range)
}

/// The same, but not 0.
pub fn shard_size(text: &str) -> Result<u64, String> {
    text_length(text).and_then(|size| if size > 0 { Ok(size) } else { Err(out_of_range()) })
}

/// A pattern of names, as a shell's.
pub fn pattern(text: &str) -> Result<Pattern, String> {
    // Paths beneath a directory begin and end with names.
    let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    Pattern::new(text).map_err(|e| e.to_string())
}

/// An interval of perturbation: a number of bytes, or the percentage of bytes to insert. 0 is none, in either way.
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

/// A time in seconds, of at most an hour.
pub fn seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|seconds| (0.0..=3600.0).contains(seconds)).ok_or_else(not_a_number)
}

fn number_and_unit(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
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

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("1", 1 << 20),
            ("9000k", 9000 << 10),
            ("64MiB", 64 << 20),
            ("1G", 1 << 30),
            ("2t", 2 << 40),
            ("512b", 512),
            ("3Kb", 3 << 10),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "0", "k", "12q", "-1", "1.5", "1 k", "99999999999999999999", "18014398509481984"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn block_sizes() {
        for (text, bytes) in [
            ("900k", 900_000),
            ("900KB", 900_000),
            ("1M", 1_000_000),
            ("1Mi", 1 << 20),
            ("1GiB", 1 << 30),
            ("7", 7),
            ("0", 0),
        ] {
            assert_eq!(block_size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "M", "1T", "1.5M", "99999999999999999999"] {
            assert!(block_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times() {
        for (text, time) in [("5", 5.0), ("0", 0.0), ("0.25", 0.25), ("3600", 3600.0)] {
            assert_eq!(seconds(text), Ok(time), "{text}");
        }
        for bad in ["", "-1", "3601", "5s", "NaN", "inf"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn intervals() {
        for (text, bytes) in [
            ("0", 0),
            ("0%", 0),
            ("0.0%", 0),
            ("1", 1),
            ("1000", 1000),
            ("0.1%", 1000),
            ("100%", 1),
            ("33%", 3),
            ("1000000000", 1_000_000_000),
        ] {
            assert_eq!(interval(text), Ok(bytes), "{text}");
        }
        for bad in ["", "-5", "0.4", "x", "%", "1e-8%", "1000%", "1000000001", "NaN", "nan%"] {
            assert!(interval(bad).is_err(), "{bad}");
        }
    }
}
