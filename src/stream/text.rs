//! The text of a block as a whole: written, examined or counted.

use crate::block::Text;
use crate::codec::run_length::decode::Expander;
use std::io::{self, Write};

/// Calls `take` with the pieces of a text, which is expanded if it is run-length-coded.
pub(crate) fn each_piece(text: &Text, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    match text {
        Text::Plain(bytes) => take(bytes),
        Text::Parts(parts) => parts.iter().try_for_each(|part| take(part)),
        Text::Compact(compact) => compact.pieces().try_for_each(|piece| take(&piece)),
        Text::RunLength { coded, .. } => {
            let (mut expander, mut buf) = (Expander::default(), vec![0; 128 << 10]);
            while let n @ 1.. = expander.next(coded, &mut buf) {
                take(&buf[..n])?;
            }
            Ok(())
        }
    }
}

/// Writes a text. Returns the number of bytes.
pub(crate) fn write_text(out: &mut dyn Write, text: &Text) -> io::Result<u64> {
    each_piece(text, |piece| out.write_all(piece)).map(|()| text.len())
}

/// The number of line ends in a text.
pub(crate) fn count_lines(text: &Text) -> u64 {
    let mut count = 0;
    look_at(text, |piece| count += count_ends(piece));
    count
}

/// Calls `look` with each piece of the text.
pub(crate) fn look_at(text: &Text, mut look: impl FnMut(&[u8])) {
    // Looking never fails.
    let _ = each_piece(text, |piece| {
        look(piece);
        Ok(())
    });
}

/// The number of line ends: bytes 0x0a.
///
/// A byte can count 255 of them, so the compiler can add up all bytes of a register at the same time.
fn count_ends(bytes: &[u8]) -> u64 {
    let ends = |chunk: &[u8]| chunk.iter().fold(0u8, |sum, &byte| sum + u8::from(byte == b'\n'));
    bytes.chunks(255).map(|chunk| u64::from(ends(chunk))).sum()
}
