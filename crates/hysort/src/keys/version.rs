//! Versions, and names of files with versions in them: `sort -V`, as GNU's manual describes the order.
//!
//! A text is an alternating sequence of other characters and numbers. A missing number is 0. Of other characters `~`
//! comes first, then the end of such a part, then letters, then all others. What looks like a suffix counts only if
//! texts are equal without it.

use super::code::Coder;
use super::number::split_while;

/// The symbols of `~`, and of the end of a part or of a text.
const TILDE: u8 = 1;
const END: u8 = 2;
/// The symbols of the first letter, and of the first of the other bytes.
const LETTERS: u8 = 3;
const OTHERS: u8 = LETTERS + 52;

/// The symbols of all bytes but digits.
fn symbol(byte: u8) -> u8 {
    match byte {
        b'~' => TILDE,
        b'A'..=b'Z' => LETTERS + byte - b'A',
        b'a'..=b'z' => LETTERS + 26 + byte - b'a',
        // The letters, the digits and `~` that are less than it are not counted.
        byte => {
            let ranges = [(b'0', 10), (b'A', 26), (b'a', 26), (b'~', 1)];
            let less: u8 = ranges.iter().filter(|range| range.0 < byte).map(|range| range.1).sum();
            OTHERS + (byte - less)
        }
    }
}

/// The text without its suffixes. Each is a point, a letter or `~`, and any letters, digits and `~`.
fn without_suffix(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let Some(point) = rest.iter().rposition(|&byte| byte == b'.')
        && let [first, others @ ..] = &rest[point + 1..]
        && (first.is_ascii_alphabetic() || *first == b'~')
        && others.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'~')
    {
        rest = &rest[..point];
    }
    rest
}

fn parts(coder: &mut Coder<'_>, mut text: &[u8]) {
    loop {
        let (others, rest) = split_while(text, |byte| !byte.is_ascii_digit());
        others.iter().for_each(|&byte| coder.symbol(symbol(byte)));
        coder.symbol(END);
        let (digits, rest) = split_while(split_while(rest, |byte| byte == b'0').1, |byte| byte.is_ascii_digit());
        coder.digits(digits);
        if rest.is_empty() {
            return coder.symbol(END);
        }
        text = rest;
    }
}

/// Appends the code of a text.
pub(super) fn version(coder: &mut Coder<'_>, text: &[u8]) {
    let class = match text {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    };
    coder.symbol(class);
    if class > 2 {
        parts(coder, without_suffix(text));
        parts(coder, text);
    }
}
