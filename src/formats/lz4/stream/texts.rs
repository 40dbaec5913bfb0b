//! Cuts text into jobs of several blocks.

use super::tasks::{ENCODE_LZ4, EncodeLz4};
use crate::formats::lz4::Frame;
use crate::formats::lz4::block::CodedBlocks;
use crate::stream::piece::{Cut, Input, Piece};
use hybz_queue::{Client, Ticket};
use std::collections::VecDeque;
use std::hash::Hasher;
use twox_hash::XxHash32;

/// The text of a job: 16 blocks, about two milliseconds of the fast levels.
const JOB: usize = 1 << 20;
/// The minimum size of one read.
const MIN_ROOM: usize = 64 << 10;

/// The text of some blocks, or the end.
pub(super) enum TextPiece {
    /// The flag says that this is the whole text.
    Text(Vec<u8>, bool, Frame),
    End(TextEnd),
}

/// The data that follow the blocks.
pub(super) struct TextEnd {
    pub text_len: u64,
    pub checksum: u32,
}

/// An item that has been issued.
pub(super) enum IssuedText {
    Blocks { ticket: Ticket<CodedBlocks>, text_len: u64, is_all: bool },
    End(TextEnd),
}

impl Piece for TextPiece {
    type Issued = IssuedText;

    /// The memory for the text and its coded form, which is at most a little longer.
    fn charge(&self) -> u64 {
        match self {
            TextPiece::Text(text, ..) => (text.capacity() + text.len() + text.len() / 64 + MIN_ROOM) as u64,
            TextPiece::End(_) => 0,
        }
    }

    fn issue(self, client: &Client) -> IssuedText {
        match self {
            TextPiece::Text(text, is_all, frame) => {
                let text_len = text.len() as u64;
                let ticket = client.task(EncodeLz4 { text, frame }).class(ENCODE_LZ4, text_len).submit();
                IssuedText::Blocks { ticket, text_len, is_all }
            }
            TextPiece::End(end) => IssuedText::End(end),
        }
    }
}

/// Cuts text.
pub(super) struct Texts {
    frame: Frame,
    text: Vec<u8>,
    len: usize,
    total: u64,
    hash: XxHash32,
    ready: VecDeque<TextPiece>,
}

impl Texts {
    pub fn new(frame: Frame) -> Texts {
        let hash = XxHash32::with_seed(0);
        Texts { frame, text: Vec::new(), len: 0, total: 0, hash, ready: VecDeque::new() }
    }

    fn push(&mut self, is_all: bool) {
        if self.len > 0 {
            self.text.truncate(self.len);
            self.total += self.len as u64;
            self.len = 0;
            self.ready.push_back(TextPiece::Text(std::mem::take(&mut self.text), is_all, self.frame));
        }
    }
}

impl Input for Texts {
    fn room(&mut self) -> &mut [u8] {
        if self.len == self.text.len() {
            // The buffer grows with the text so far, so small inputs do not pay for a large job.
            self.text.resize((self.len * 2).clamp(MIN_ROOM, JOB), 0);
        }
        &mut self.text[self.len..]
    }

    fn filled(&mut self, n: usize) {
        self.hash.write(&self.text[self.len..self.len + n]);
        self.len += n;
        if self.len == JOB {
            self.push(false);
        }
    }

    fn finish(&mut self) {
        let is_all = self.total == 0;
        self.push(is_all);
        let end = TextEnd { text_len: self.total, checksum: self.hash.finish_32() };
        self.ready.push_back(TextPiece::End(end));
    }

    fn flush(&mut self) {
        self.push(false);
    }
}

impl Cut for Texts {
    type Piece = TextPiece;

    fn next_piece(&mut self) -> Option<TextPiece> {
        self.ready.pop_front()
    }
}
