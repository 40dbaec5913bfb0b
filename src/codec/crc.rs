//! CRC-32 as bzip2 counts it: polynomial 0x04c11db7, most significant bit first (CRC-32/BZIP2 of the catalogues).
//!
//! The crate `crc-fast` folds 128 bits at a time by carry-less multiplication where the CPU has it.

use crc_fast::{CrcAlgorithm, Digest};

/// The CRC of `bytes`.
pub fn of(bytes: &[u8]) -> u32 {
    crc_fast::checksum(CrcAlgorithm::Crc32Bzip2, bytes) as u32
}

/// The combined CRC of a stream after one more block with CRC `block`.
pub fn combine(combined: u32, block: u32) -> u32 {
    combined.rotate_left(1) ^ block
}

/// A CRC over bytes that come in pieces.
pub struct Crc(Digest);

impl Crc {
    /// The CRC of no bytes yet.
    pub fn new() -> Self {
        Crc(Digest::new(CrcAlgorithm::Crc32Bzip2))
    }

    /// Adds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The CRC of all bytes so far.
    pub fn finish(self) -> u32 {
        self.0.finalize() as u32
    }
}

impl Default for Crc {
    fn default() -> Self {
        Self::new()
    }
}
