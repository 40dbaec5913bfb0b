//! Strings of bits, most significant bit first, to which the fields of a `.bz2` stream are appended.

/// Bits in order. The unused low bits of the last byte are zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    pub fn new() -> Bits {
        Bits::default()
    }

    /// All bits of `bytes`.
    pub fn of(bytes: &[u8]) -> Bits {
        Bits { bytes: bytes.to_vec(), len: bytes.len() * 8 }
    }

    /// Bits written as text, such as `"1100"`; blanks are ignored.
    pub fn drawn(text: &str) -> Bits {
        let mut bits = Bits::new();
        for c in text.chars().filter(|c| !c.is_whitespace()) {
            bits.bit(c == '1');
        }
        bits
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn get(&self, i: usize) -> bool {
        self.bytes[i / 8] >> (7 - i % 8) & 1 == 1
    }

    pub fn bit(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if bit {
            self.bytes[self.len / 8] |= 1 << (7 - self.len % 8);
        }
        self.len += 1;
    }

    /// The low `width` bits of `value`.
    ///
    /// Byte by byte: bit by bit, this took half of the time that making the table of cases takes.
    pub fn push(&mut self, value: u64, width: u32) {
        let mut left = width;
        while left > 0 {
            let used = (self.len % 8) as u32;
            if used == 0 {
                self.bytes.push(0);
            }
            let count = left.min(8 - used);
            left -= count;
            let piece = (value >> left) as u32 & ((1 << count) - 1);
            self.bytes[self.len / 8] |= (piece << (8 - used - count)) as u8;
            self.len += count as usize;
        }
    }

    /// A string of the low `width` bits of `value`.
    pub fn number(value: u64, width: u32) -> Bits {
        let mut bits = Bits::new();
        bits.push(value, width);
        bits
    }

    pub fn extend(&mut self, other: &Bits) {
        if self.len.is_multiple_of(8) {
            self.bytes.extend_from_slice(&other.bytes);
            self.len += other.len;
        } else {
            self.extend_from(other, 0, other.len);
        }
    }

    /// Appends the bits of `other` from `from` to before `to`.
    fn extend_from(&mut self, other: &Bits, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            let count = (8 - at % 8).min(to - at);
            self.push((other.bytes[at / 8] >> (8 - at % 8 - count)).into(), count as u32);
            at += count;
        }
    }

    /// The bits from `from` to before `to`.
    pub fn slice(&self, from: usize, to: usize) -> Bits {
        let mut bits = Bits::new();
        bits.extend_from(self, from, to);
        bits
    }

    /// Appends `pad` bits up to the next whole byte.
    pub fn align(&mut self, pad: bool) {
        while !self.len.is_multiple_of(8) {
            self.bit(pad);
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
