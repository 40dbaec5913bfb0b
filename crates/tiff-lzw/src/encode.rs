//! Encodes strips and tiles of TIFF files.

use crate::header::{END, STRIP_BITS, STRIP_CLEAR_AT, STRIP_FIRST};
use hybz::internals::formats::lzw::{CLEAR, MIN_BITS};

/// The lowest 12 bits of a slot are the string's code; above them are its last byte and the code of its prefix.
const CODE_BITS: u32 = STRIP_BITS;
/// Twice as many slots as the table has codes, so a search looks at 1.5 slots on average. The 32 KB fit the first-level
/// cache.
const SLOT_BITS: u32 = 13;
/// An empty slot: code 4,095 is never assigned.
const EMPTY: u32 = u32::MAX;

/// Encodes strips, one after the other, according to the TIFF specification.
///
/// The table is cleared only when it is full. (libtiff also clears it when that seems to pay.)
#[derive(Debug)]
pub struct StripEncoder {
    slots: Box<[u32; 1 << SLOT_BITS]>,
}

impl Default for StripEncoder {
    fn default() -> Self {
        StripEncoder { slots: Box::new([EMPTY; 1 << SLOT_BITS]) }
    }
}

impl StripEncoder {
    /// A new encoder.
    pub fn new() -> StripEncoder {
        StripEncoder::default()
    }

    /// Appends the codes of a strip whose text is `text` to `coded`.
    pub fn encode(&mut self, text: &[u8], coded: &mut Vec<u8>) {
        let mut codes = Codes { coded, bits: 0, len: 0, number: 0 };
        codes.put(CLEAR);
        self.clear(&mut codes);
        if let Some((&first, rest)) = text.split_first() {
            let mut string = u32::from(first);
            for &byte in rest {
                let key = string << 8 | u32::from(byte);
                match self.find(key) {
                    Ok(code) => string = code,
                    Err(slot) => {
                        codes.put(string);
                        let next = STRIP_FIRST + codes.number - 1;
                        self.slots[slot] = key << CODE_BITS | next;
                        if next + 1 == STRIP_CLEAR_AT {
                            codes.put(CLEAR);
                            self.clear(&mut codes);
                        }
                        string = byte.into();
                    }
                }
            }
            codes.put(string);
        }
        codes.put(END);
        codes.finish();
    }

    fn clear(&mut self, codes: &mut Codes<'_>) {
        self.slots.fill(EMPTY);
        codes.number = 0;
    }

    /// Finds the code of the string that consists of `prefix` and one more byte, or the slot for it.
    #[inline(always)]
    fn find(&self, key: u32) -> Result<u32, usize> {
        // Fibonacci hashing: the highest bits of the product depend on all bits of the key.
        let mut slot = (key.wrapping_mul(0x9e37_79b1) >> (32 - SLOT_BITS)) as usize;
        loop {
            let found = self.slots[slot];
            if found == EMPTY {
                return Err(slot);
            }
            if found >> CODE_BITS == key {
                return Ok(found & ((1 << CODE_BITS) - 1));
            }
            slot = (slot + 1) % self.slots.len();
        }
    }
}

/// Packs codes into bytes.
struct Codes<'a> {
    coded: &'a mut Vec<u8>,
    /// The lowest `len` bits are not written yet.
    bits: u64,
    len: u32,
    /// The number of the next code since the last clear.
    number: u32,
}

impl Codes<'_> {
    #[inline(always)]
    fn put(&mut self, code: u32) {
        // The width for one more code than there are: codes grow one code early.
        let width = (32 - (STRIP_FIRST + self.number).leading_zeros()).clamp(MIN_BITS, STRIP_BITS);
        self.bits = self.bits << width | u64::from(code);
        self.len += width;
        self.number += 1;
        if self.len >= 32 {
            self.len -= 32;
            self.coded.extend_from_slice(&((self.bits >> self.len) as u32).to_be_bytes());
        }
    }

    fn finish(self) {
        if self.len > 0 {
            let bytes = (self.bits << (64 - self.len)).to_be_bytes();
            self.coded.extend_from_slice(&bytes[..self.len.div_ceil(8) as usize]);
        }
    }
}
