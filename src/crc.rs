//! CRC-32 as bzip2 defines it: polynomial 0x04c11db7, most significant bit first, initial value and result inverted
//! (CRC-32/BZIP2 in the catalogue of CRC algorithms). It is computed by carry-less multiplication where the processor
//! has it, else by tables.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod fold;
mod portable;

/// `value * x^n` modulo the polynomial. Bits are coefficients; the lowest bit is that of 1.
const fn times_x(mut value: u32, n: u32) -> u32 {
    let mut done = 0;
    while done < n {
        value = if value >> 31 == 1 { value << 1 ^ 0x04c1_1db7 } else { value << 1 };
        done += 1;
    }
    value
}

/// The CRC of `bytes`.
pub fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.finish()
}

/// Computes the CRC of bytes that come in pieces.
#[derive(Clone, Copy, Debug)]
pub struct Crc(u32);

impl Crc {
    /// Starts with no bytes.
    pub fn new() -> Self {
        Crc(u32::MAX)
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(crc) = fold::update(self.0, bytes) {
            self.0 = crc;
            return;
        }
        self.0 = portable::update(self.0, bytes);
    }

    /// The CRC of all bytes so far.
    pub fn finish(&self) -> u32 {
        !self.0
    }
}

impl Default for Crc {
    fn default() -> Self {
        Self::new()
    }
}

/// The combined CRC of a stream after one more block, as the end of the stream stores it. It starts at 0.
pub fn combine(combined: u32, block: u32) -> u32 {
    combined.rotate_left(1) ^ block
}

#[cfg(test)]
mod tests {
    use super::*;
    use hybz_testkit::shapes;

    /// The definition, bit by bit.
    fn naive(crc: u32, bytes: &[u8]) -> u32 {
        bytes.iter().fold(crc, |crc, &byte| times_x(crc ^ u32::from(byte) << 24, 8))
    }

    #[test]
    fn as_the_definition() {
        assert_eq!(checksum(b"123456789"), 0xfc89_1918); // the catalogue's check value
        let text = shapes::random(5000);
        for len in (0..=600).chain([1023, 1024, 1025, 4096, 4900]) {
            for from in 0..64 {
                let (part, start) = (&text[from..from + len], 0x9e37_79b9_u32.wrapping_mul(len as u32));
                let expected = naive(start, part);
                assert_eq!(portable::update(start, part), expected, "{from} {len}");
                #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
                assert_eq!(fold::update(start, part).unwrap_or(expected), expected, "{from} {len}");
            }
        }
    }

    #[test]
    fn in_pieces() {
        let text = shapes::random(1000);
        for cut in 0..=1000 {
            let mut crc = Crc::new();
            crc.update(&text[..cut]);
            crc.update(&text[cut..]);
            assert_eq!(crc.finish(), checksum(&text));
        }
    }

    #[test]
    fn combined() {
        assert_eq!(combine(0, 5), 5);
        assert_eq!(combine(0x8000_0001, 0), 3);
    }
}
