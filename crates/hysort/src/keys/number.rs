//! Decimal numbers as `sort -n` reads them.

/// The number at the beginning of a text, in its digits: `-0012.50x` is -12.5. A text without a number is zero, and so
/// is minus zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal<'a> {
    pub negative: bool,
    /// The digits before the point, the first of which is not 0.
    pub whole: &'a [u8],
    /// The digits after it, the last of which is not 0.
    pub fraction: &'a [u8],
}

/// Splits a text after its leading bytes of a kind.
pub(super) fn split_while(text: &[u8], is: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|&byte| !is(byte)).unwrap_or(text.len()))
}

/// Whether a byte separates fields if `-t` gives no other. (In a text whose lines end with NUL, a newline does, too.)
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

impl<'a> Decimal<'a> {
    /// The number at the beginning of a text, after blanks.
    pub fn at_start_of(text: &'a [u8]) -> Decimal<'a> {
        Decimal::read(text).0
    }

    /// The number, and the text after it.
    pub fn read(text: &'a [u8]) -> (Decimal<'a>, &'a [u8]) {
        let text = split_while(text, is_blank).1;
        let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
        let (zeros, digits) = split_while(text, |byte| byte == b'0');
        let (whole, rest) = split_while(digits, |byte| byte.is_ascii_digit());
        let _ = zeros;
        let (fraction, rest) = match rest.strip_prefix(b".") {
            Some(after) => split_while(after, |byte| byte.is_ascii_digit()),
            None => (&[][..], rest),
        };
        let used = fraction.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
        (Decimal { negative, whole, fraction: &fraction[..used] }, rest)
    }
}
