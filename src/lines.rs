//! Counts line ends: bytes 0x0a.

/// The number of line ends.
///
/// A byte can count 255 of them, so the compiler can add up all bytes of a register at the same time.
pub(crate) fn count(bytes: &[u8]) -> u64 {
    let ends = |chunk: &[u8]| chunk.iter().fold(0u8, |sum, &byte| sum + u8::from(byte == b'\n'));
    bytes.chunks(255).map(|chunk| u64::from(ends(chunk))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted() {
        for len in [0, 1, 2, 254, 255, 256, 511, 1000] {
            assert_eq!(count(&vec![b'\n'; len]), len as u64);
            assert_eq!(count(&vec![b'\r'; len]), 0);
        }
        assert_eq!(count(b"a\r\nb\n\nc"), 3);
    }
}
