//! The text of a block, written or looked at as a whole.

use crate::block::Text;
use crate::codec::run_length::decode::Expander;
use std::convert::Infallible;
use std::io::{self, Write};

/// Writes a text, expanding it in small pieces if it is run-length-coded. Returns the number of bytes.
pub(crate) fn write_text(out: &mut dyn Write, text: &Text) -> io::Result<u64> {
    each_piece(text, &mut |piece| out.write_all(piece))?;
    Ok(text.len())
}

/// The number of line ends in a text.
pub(crate) fn count_lines(text: &Text) -> u64 {
    let mut lines = 0;
    let count = &mut |piece: &[u8]| {
        lines += count_ends(piece);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = each_piece(text, count);
    lines
}

/// Shows a text piece by piece.
fn each_piece<E>(text: &Text, show: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    match text {
        Text::Plain(bytes) => show(bytes),
        Text::Parts(parts) => parts.iter().try_for_each(|part| show(part)),
        Text::Compact(compact) => compact.pieces().try_for_each(|piece| show(&piece)),
        Text::RunLength { coded, .. } => {
            let (mut expander, mut buf) = (Expander::new(), vec![0; 128 << 10]);
            loop {
                match expander.next(coded, &mut buf) {
                    0 => return Ok(()),
                    n => show(&buf[..n])?,
                }
            }
        }
    }
}

/// The number of line ends: bytes 0x0a.
///
/// A byte can count 255 of them, so the compiler can add up all bytes of a register at the same time.
fn count_ends(bytes: &[u8]) -> u64 {
    let ends = |chunk: &[u8]| chunk.iter().fold(0u8, |sum, &byte| sum + u8::from(byte == b'\n'));
    bytes.chunks(255).map(|chunk| u64::from(ends(chunk))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted() {
        for len in [0, 1, 2, 254, 255, 256, 511, 1000] {
            assert_eq!(count_ends(&vec![b'\n'; len]), len as u64);
            assert_eq!(count_ends(&vec![b'\r'; len]), 0);
        }
        assert_eq!(count_ends(b"a\r\nb\n\nc"), 3);
    }
}
