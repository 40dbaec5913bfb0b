//! Decoded text that is to be copied to a reader's buffer or to a writer.

use crate::block::{SharedBytes, Text};
use crate::codec::run_length::decode::Expander;
use std::vec;

/// The number of bytes to which one step expands a run-length-coded text.
const EXPAND_CHUNK: usize = 128 << 10;

/// A text that is handed out or written piece by piece, and how much of it has been: the text of one block at most.
#[derive(Default)]
pub(crate) struct TextCursor {
    /// The next bytes are `bytes[at..]`; the rest of the text follows them.
    bytes: Vec<u8>,
    at: usize,
    rest: Rest,
}

/// The rest of a text.
#[derive(Default)]
enum Rest {
    #[default]
    Nothing,
    Parts(vec::IntoIter<SharedBytes>),
    Runs(Vec<u8>, Expander),
    Pieces(Box<dyn Iterator<Item = Vec<u8>> + Send + Sync>),
}

impl TextCursor {
    /// The beginning of this text.
    pub fn of(text: Text) -> TextCursor {
        let mut cursor = TextCursor::default();
        cursor.set(text);
        cursor
    }

    /// Sets the next text. All text before it must have been consumed.
    pub fn set(&mut self, text: Text) {
        self.at = 0;
        self.bytes.clear();
        match text {
            Text::Plain(bytes) => self.bytes = bytes,
            Text::Parts(parts) => self.rest = Rest::Parts(parts.into_iter()),
            Text::RunLength { coded, .. } => self.rest = Rest::Runs(coded, Expander::default()),
            Text::Compact(compact) => self.rest = Rest::Pieces(Box::new(compact.pieces())),
        }
    }

    /// The next bytes; empty if all are consumed.
    pub fn next(&mut self) -> &[u8] {
        while self.at == self.bytes.len() {
            self.at = 0;
            let more = match &mut self.rest {
                Rest::Nothing => false,
                Rest::Parts(parts) => parts.next().map(|part| self.bytes = part.into_vec()).is_some(),
                Rest::Runs(coded, runs) => {
                    self.bytes.resize(EXPAND_CHUNK, 0);
                    let n = runs.next(coded, &mut self.bytes);
                    self.bytes.truncate(n);
                    n > 0
                }
                Rest::Pieces(pieces) => pieces.next().map(|piece| self.bytes = piece).is_some(),
            };
            if !more {
                // The text's memory is no longer charged.
                self.bytes = Vec::new();
                self.rest = Rest::Nothing;
                break;
            }
        }
        &self.bytes[self.at..]
    }

    /// Takes the next bytes.
    pub fn take(&mut self) -> Vec<u8> {
        self.next();
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.drain(..std::mem::take(&mut self.at));
        bytes
    }

    /// Records that the first `n` of the next bytes are handed out or written.
    pub fn consume(&mut self, n: usize) {
        self.at += n;
    }
}
