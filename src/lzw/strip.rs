//! Strips and tiles of TIFF files, decoded.
//!
//! Code 258 + j is the string of code number j since the last clear, and one byte more: the first byte of what follows
//! it. So its string lies in the text, from where string j begins to where string j + 1 does, and the table is a list
//! of places: for each code one is stored, two are read, and the string is copied from there.

use super::copy::{SLACK, eight, string, string_exactly};
use crate::error::Damage;
use crate::format::lzw::{CLEAR, END, MIN_BITS, STRIP_BITS, STRIP_FIRST};

/// The most codes after a clear. More than 12 bits can name: libtiff 4.5 goes on for so long.
pub(super) const MAX_CODES: usize = 4862;

/// Decodes strips, one after the other.
///
/// It reads what libtiff reads: the codes of the TIFF specification, and those of libtiff's own first versions, with
/// the least significant bit first, which nobody has written since 1990.
///
/// ```
/// use hybz::lzw::{StripDecoder, StripEncoder};
/// let mut coded = Vec::new();
/// StripEncoder::new().encode(b"to be or not to be", &mut coded);
/// let mut text = [0; 18];
/// StripDecoder::new().decode(&coded, &mut text)?;
/// assert_eq!(&text, b"to be or not to be");
/// # Ok::<(), hybz::Damage>(())
/// ```
#[derive(Debug)]
pub struct StripDecoder {
    /// Where in the text each string since the last clear begins.
    starts: Box<[u32; MAX_CODES]>,
}

impl Default for StripDecoder {
    fn default() -> Self {
        StripDecoder { starts: Box::new([0; MAX_CODES]) }
    }
}

impl StripDecoder {
    /// A decoder.
    pub fn new() -> StripDecoder {
        StripDecoder::default()
    }

    /// Decodes a strip whose text has as many bytes as `text`. What follows in `coded` is ignored; there need be no
    /// code that ends it.
    ///
    /// # Errors
    /// [`Damage::LzwStart`], [`Damage::LzwCode`] or [`Damage::LzwTable`] if the codes are not a strip's, and
    /// [`Damage::LzwLength`] if they end too early. The text up to there is in `text`, the rest of it is undefined.
    ///
    /// # Panics
    /// If `text` has 4 GiB or more.
    pub fn decode(&mut self, coded: &[u8], text: &mut [u8]) -> Result<(), Damage> {
        assert!(u32::try_from(text.len()).is_ok(), "a strip of 4 GiB");
        let found = if is_old(coded) {
            Strip::<true> { starts: &mut self.starts, coded }.decode(text)
        } else {
            Strip::<false> { starts: &mut self.starts, coded }.decode(text)
        }?;
        if found < text.len() {
            return Err(Damage::LzwLength { wanted: text.len(), found });
        }
        Ok(())
    }
}

/// Whether the first code is a clear with its least significant bit first: libtiff's test, too.
pub(super) fn is_old(coded: &[u8]) -> bool {
    matches!(coded, [0, second, ..] if second & 1 == 1)
}

/// A strip, perhaps an `OLD` one.
struct Strip<'a, const OLD: bool> {
    starts: &'a mut [u32; MAX_CODES],
    coded: &'a [u8],
}

impl<const OLD: bool> Strip<'_, OLD> {
    /// Code number `m` has `w` bits if this + m < 2^w.
    const EARLY: usize = if OLD { 257 } else { 258 };

    /// The code of `width` bits at bit `at`.
    #[inline(always)]
    fn code(&self, at: usize, width: u32) -> u32 {
        let bytes = eight(self.coded, at / 8);
        if OLD {
            (u64::from_le_bytes(bytes) >> (at % 8)) as u32 & ((1 << width) - 1)
        } else {
            (u64::from_be_bytes(bytes) << (at % 8) >> (64 - width)) as u32
        }
    }

    /// Returns how many bytes of text there are.
    fn decode(&mut self, text: &mut [u8]) -> Result<usize, Damage> {
        let bits = self.coded.len() * 8;
        let (mut at, mut to) = (0, 0);
        if bits >= MIN_BITS as usize && !text.is_empty() && !matches!(self.code(0, MIN_BITS), CLEAR | END) {
            return Err(Damage::LzwStart);
        }
        // Up to here there is room for the fast copy, whatever a string's length (`string` looks at that).
        let fast = text.len().saturating_sub(SLACK);
        'cleared: loop {
            let (mut number, mut width) = (0, MIN_BITS);
            let mut wider_from = (1 << width) - Self::EARLY;
            loop {
                if number >= wider_from {
                    width += 1;
                    wider_from = if width == STRIP_BITS { usize::MAX } else { (1 << width) - Self::EARLY };
                }
                if to == text.len() || at + width as usize > bits {
                    return Ok(to);
                }
                let code = self.code(at, width);
                at += width as usize;
                if code == END {
                    return Ok(to);
                }
                if code == CLEAR {
                    continue 'cleared;
                }
                let Some(start) = self.starts.get_mut(number) else { return Err(Damage::LzwTable) };
                *start = to as u32;
                if code < 256 {
                    text[to] = code as u8;
                    to += 1;
                } else {
                    let entry = (code - STRIP_FIRST) as usize;
                    if entry >= number {
                        return Err(Damage::LzwCode { code: code as u16, end: STRIP_FIRST + number as u32 });
                    }
                    let (from, next) = (self.starts[entry] as usize, self.starts[entry + 1] as usize);
                    let len = next - from + 1;
                    if to + len <= fast {
                        string(text, from, to, len);
                    } else {
                        // A text may end within a string.
                        let len = len.min(text.len() - to);
                        string_exactly(text, from, to, len);
                    }
                    to += len.min(text.len() - to);
                }
                number += 1;
            }
        }
    }
}
