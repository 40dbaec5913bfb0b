//! Decodes strips and tiles of TIFF files.
//!
//! Code 258 + j stands for the string of code number j since the last clear, and one more byte: the first byte of the
//! next string. This longer string lies in the text: it begins where string j begins, and its last byte is the first
//! byte of string j + 1. The table is therefore a list of offsets: for each code one offset is stored, two are read,
//! and the string is copied from the text.

use crate::header::{END, STRIP_BITS, STRIP_FIRST};
use hybz::Damage;
use hybz::internals::formats::lzw::copy::{SLACK, eight, string};
use hybz::internals::formats::lzw::{CLEAR, MIN_BITS};
use hybz::internals::{Flaw, damage};

/// The max number of codes after a clear. It is more than 12 bits can name: libtiff 4.5 accepts as many.
pub(crate) const MAX_CODES: usize = 4862;

/// Decodes strips, one after the other.
///
/// It reads the same codes as libtiff: those of the TIFF specification, and those of libtiff's first versions, with the
/// least significant bit first, which no program has written since 1990.
///
/// ```
/// use hybz_tiff_lzw::{StripDecoder, StripEncoder};
/// let mut coded = Vec::new();
/// StripEncoder::new().encode(b"to be or not to be", &mut coded);
/// let mut text = [0; 18];
/// StripDecoder::new().decode(&coded, &mut text)?;
/// assert_eq!(&text, b"to be or not to be");
/// # Ok::<(), hybz::Damage>(())
/// ```
#[derive(Debug)]
pub struct StripDecoder {
    /// The offset in the text of each string since the last clear.
    starts: Box<[u32; MAX_CODES]>,
}

impl Default for StripDecoder {
    fn default() -> Self {
        StripDecoder { starts: Box::new([0; MAX_CODES]) }
    }
}

impl StripDecoder {
    /// A new decoder.
    pub fn new() -> StripDecoder {
        StripDecoder::default()
    }

    /// Decodes a strip until `text` is full. The rest of `coded` is ignored; an end code is not required.
    ///
    /// # Errors
    /// [`Damage`] if a code is invalid, or if the codes end too early. `text` then begins with the text decoded so far;
    /// its other bytes are undefined.
    ///
    /// # Panics
    /// If `text` has 4 GiB or more.
    pub fn decode(&mut self, coded: &[u8], text: &mut [u8]) -> Result<(), Damage> {
        self.decode_strip(coded, text).map_err(damage)
    }

    /// [`decode`](Self::decode), which returns damage in the form that other parts of the library take.
    pub(crate) fn decode_strip(&mut self, coded: &[u8], text: &mut [u8]) -> Result<(), Flaw> {
        assert!(u32::try_from(text.len()).is_ok(), "a strip of 4 GiB");
        let found = if is_old(coded) {
            Strip::<true> { starts: &mut self.starts, coded }.decode(text)
        } else {
            Strip::<false> { starts: &mut self.starts, coded }.decode(text)
        }?;
        if found < text.len() {
            return Err(Flaw::LzwLength { wanted: text.len(), found });
        }
        Ok(())
    }
}

/// Whether the first code is a clear with its least significant bit first. libtiff tests the same.
pub(crate) fn is_old(coded: &[u8]) -> bool {
    matches!(coded, [0, second, ..] if second & 1 == 1)
}

/// A strip; `OLD` means least significant bit first.
struct Strip<'a, const OLD: bool> {
    starts: &'a mut [u32; MAX_CODES],
    coded: &'a [u8],
}

impl<const OLD: bool> Strip<'_, OLD> {
    /// Code number `m` has `w` bits if `m + EARLY` < 2^w.
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

    /// Decodes, and returns the length of the text.
    fn decode(&mut self, text: &mut [u8]) -> Result<usize, Flaw> {
        let bits = self.coded.len() * 8;
        let (mut at, mut to) = (0, 0);
        if bits >= MIN_BITS as usize && !text.is_empty() && !matches!(self.code(0, MIN_BITS), CLEAR | END) {
            return Err(Flaw::LzwStart);
        }
        // Up to here the fast copy stays in the buffer; `string` checks its length.
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
                let Some(start) = self.starts.get_mut(number) else { return Err(Flaw::LzwTable) };
                *start = to as u32;
                if code < 256 {
                    text[to] = code as u8;
                    to += 1;
                } else {
                    let entry = (code - STRIP_FIRST) as usize;
                    if entry >= number {
                        return Err(Flaw::LzwCode { code: code as u16, end: STRIP_FIRST + number as u32 });
                    }
                    let (from, next) = (self.starts[entry] as usize, self.starts[entry + 1] as usize);
                    let len = next - from + 1;
                    if to + len <= fast {
                        string(text, from, to, len);
                    } else {
                        // The text may end within a string.
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

/// Like [`string`], but without writing past the copy.
fn string_exactly(text: &mut [u8], from: usize, to: usize, len: usize) {
    let whole = len.min(to - from);
    text.copy_within(from..from + whole, to);
    if whole < len {
        text[to + whole] = text[to];
    }
}
