//! CRC-32 as bzip2 defines it: polynomial 0x04c11db7, most significant bit first, initial value and result inverted
//! (CRC-32/BZIP2 in the catalogue of CRC algorithms).
//!
//! The crc-fast crate does the work with carry-less multiplication: more than 20 GB/s here, where a byte table reaches
//! 0.4 GB/s. It chooses its code at run time by what the CPU supports, with a portable implementation as the fallback.
//! In wasm that is 700 kB of code, and [`portable`] takes its place.

#[cfg(any(test, target_family = "wasm"))]
mod portable;

#[cfg(not(target_family = "wasm"))]
use crc_fast::{CrcAlgorithm, Digest};

/// The CRC of `bytes`.
#[cfg(not(target_family = "wasm"))]
pub fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::checksum(CrcAlgorithm::Crc32Bzip2, bytes) as u32
}

/// The CRC of `bytes`.
#[cfg(target_family = "wasm")]
pub fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.finish()
}

#[cfg(target_family = "wasm")]
pub use portable::Crc;

/// Computes the CRC of bytes that come in pieces.
#[cfg(not(target_family = "wasm"))]
#[derive(Clone, Copy, Debug)]
pub struct Crc(Digest);

#[cfg(not(target_family = "wasm"))]
impl Crc {
    /// Starts with no bytes.
    pub fn new() -> Self {
        Crc(Digest::new(CrcAlgorithm::Crc32Bzip2))
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The CRC of all bytes so far.
    pub fn finish(&self) -> u32 {
        self.0.finalize() as u32
    }
}

#[cfg(not(target_family = "wasm"))]
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
    fn naive(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for &byte in bytes {
            crc ^= u32::from(byte) << 24;
            for _ in 0..8 {
                crc = if crc >> 31 == 1 { (crc << 1) ^ 0x04c1_1db7 } else { crc << 1 };
            }
        }
        !crc
    }

    #[test]
    fn as_the_definition() {
        assert_eq!(checksum(b"123456789"), 0xfc89_1918); // the catalogue's check value
        let text = shapes::random(5000);
        for len in (0..600).chain([1023, 1024, 1025, 4096, 5000]) {
            assert_eq!(checksum(&text[..len]), naive(&text[..len]), "{len}");
        }
    }

    #[test]
    fn portable_in_pieces() {
        let text = shapes::random(1000);
        for cut in 0..=1000 {
            let mut crc = portable::Crc::default();
            crc.update(&text[..cut]);
            crc.update(&text[cut..]);
            assert_eq!(crc.finish(), naive(&text));
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
