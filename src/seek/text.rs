//! The text of a block in the cache.

use crate::block::Text;
use crate::stream::cursor::TextCursor;
use std::sync::{Mutex, PoisonError};

/// A decoded block.
pub(crate) struct Decoded {
    text: Text,
    /// For text that is made in pieces: the position of the last reader. A reader that continues there does not start
    /// over; one that reads before that position does.
    cursor: Mutex<Option<Cursor>>,
}

struct Cursor {
    at: u64,
    output: TextCursor,
}

impl Decoded {
    pub fn new(text: Text) -> Decoded {
        Decoded { text, cursor: Mutex::default() }
    }

    /// The number of bytes of memory that the text takes.
    pub fn memory(&self) -> u64 {
        match &self.text {
            Text::RunLength { coded, .. } => coded.len() as u64,
            // The codes, which take at most a third as many bytes as the text.
            Text::Compact(_) => self.text.len() / 3,
            Text::Plain(_) | Text::Parts(_) => self.text.len(),
        }
    }

    /// Copies text from byte `from` on to `buf`. Returns the number of bytes.
    pub fn copy(&self, from: u64, buf: &mut [u8]) -> usize {
        if let Text::Plain(bytes) = &self.text {
            let rest = usize::try_from(from).ok().and_then(|from| bytes.get(from..)).unwrap_or_default();
            let n = rest.len().min(buf.len());
            buf[..n].copy_from_slice(&rest[..n]);
            return n;
        }
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let here = cursor.take().filter(|cursor| cursor.at <= from);
        let mut here = here.unwrap_or_else(|| Cursor { at: 0, output: TextCursor::of(self.text.clone()) });
        let mut filled = 0;
        while filled < buf.len() {
            let bytes = here.output.next();
            if bytes.is_empty() {
                break;
            }
            let skipped = (from - here.at.min(from)).min(bytes.len() as u64) as usize;
            let n = (bytes.len() - skipped).min(buf.len() - filled);
            buf[filled..filled + n].copy_from_slice(&bytes[skipped..skipped + n]);
            here.output.consume(skipped + n);
            here.at += (skipped + n) as u64;
            filled += n;
        }
        *cursor = Some(here);
        filled
    }
}
