//! Cuts text into blocks exactly where bzip2 1.0.8 (the program) cuts it.
//!
//! The rule is about run-length tokens: a token is a maximal run of one byte, cut at 255; it adds `min(len, 4)` bytes
//! to the block, plus a count byte if it is 4 or longer. A block ends after the token with which its size reaches
//! 100,000 x level - 19. Tokens do not depend on blocks, and everything outside runs of 4 counts one for one, so
//! finding the end of a block is a search for runs of 4.
//!
//! A block's text stays in the buffers into which it was read. Only a text that is much longer than its block (46 MB of
//! zeros make one block) is coded here, piece by piece, to keep memory bounded. [`Cutter`] implements the rule,
//! whether one thread reads or several.

use super::cutter::{Cutter, MAX_AHEAD, Runs};
use super::readers::{Look, Readers, STRETCH, Stretch};
use super::tasks::{ENCODE, EncodeBlock};
use crate::block::{CodedBlock, Text};
use crate::codec::run_length::Run;
use crate::formats::bzip2::header::{Level, MAX_ENCODER_BLOCK};
use crate::stream::coded::{CodedTicket, encode};
pub(crate) use crate::stream::piece::BlockOptions;
use crate::stream::piece::{Cut, Input, Piece, Unread};
use crate::stream::text::count_lines;
use hybz_queue::Client;
use std::io;
use std::sync::Arc;

/// The number of bytes that are read past the end of a block without runs, so that its end is not read in tiny pieces.
const PAST: usize = 64 << 10;
/// The smallest buffer at the beginning of a stream: it is zeroed, and with 64 KiB a file of 1 kB took 1.17 ms, not
/// 1.13.
const FIRST_ROOM: usize = 4 << 10;

/// Cuts text into blocks.
pub(crate) struct Splitter {
    cutter: Cutter,
    /// The text that the cutter does not have yet, then unused memory.
    text: Vec<u8>,
    /// The number of filled bytes of `text`.
    len: usize,
    /// The runs in those bytes.
    runs: Runs,
    options: BlockOptions,
    /// Set once several threads read the rest.
    readers: Option<Readers<Runs>>,
}

impl Splitter {
    pub fn new(level: Level, options: BlockOptions) -> Self {
        Splitter { options, ..Self::with_limit(level.fill_limit()) }
    }

    fn with_limit(limit: usize) -> Self {
        let (text, options) = Default::default();
        Splitter { cutter: Cutter::new(limit), text, len: 0, runs: Runs::new(0), options, readers: None }
    }

    /// Gives the text to the cutter.
    fn hand_on(&mut self) {
        if self.len > 0 {
            let mut bytes = std::mem::take(&mut self.text);
            bytes.truncate(self.len);
            // Streams of a few bytes would keep FIRST_ROOM each.
            if bytes.capacity() / 8 > self.len {
                bytes.shrink_to_fit();
            }
            let mut found = std::mem::replace(&mut self.runs, Runs::new(0));
            found.look(&bytes, true);
            self.cutter.add(Stretch { bytes: Arc::new(bytes), found });
            self.len = 0;
        }
    }
}

impl Input for Splitter {
    fn room(&mut self) -> &mut [u8] {
        if self.len == self.text.len() {
            // The buffer grows by no more than has come already, so that small files do not pay for a large block.
            let most = self.cutter.left() + PAST;
            let room = (2 * self.len).max(self.text.capacity().clamp(FIRST_ROOM, PAST)).min(most);
            self.text.resize(room, 0);
        }
        &mut self.text[self.len..]
    }

    fn filled(&mut self, n: usize) {
        self.len += n;
        self.runs.look(&self.text[..self.len], false);
        if self.len > self.cutter.left() {
            self.hand_on();
            let rest = self.cutter.take_back();
            // Reserves all that the open block may still need: growing in steps would move the text to other pages.
            self.text = Vec::with_capacity(self.cutter.left() + PAST);
            self.runs = Runs::new(self.text.capacity());
            self.text.extend_from_slice(rest.as_deref().unwrap_or_default());
            self.len = self.text.len();
        }
    }

    fn finish(&mut self) {
        self.flush();
    }

    fn share_reading(&mut self, &Unread { file, from, read, readers, room }: &Unread<'_>) -> bool {
        let ahead = (room / (readers * STRETCH) as u64).clamp(1, MAX_AHEAD) as usize;
        self.readers = Readers::start(file, from + read, readers, ahead, STRETCH).ok();
        if self.readers.is_some() {
            self.hand_on();
        }
        self.readers.is_some()
    }

    fn read_on(&mut self) -> io::Result<bool> {
        let stretch = self.readers.as_mut().and_then(Readers::next).transpose()?;
        Ok(stretch.map(|stretch| self.cutter.add(stretch)).is_some())
    }

    fn flush(&mut self) {
        self.hand_on();
        self.cutter.finish();
    }
}

impl Cut for Splitter {
    type Piece = CutBlock;

    fn next_piece(&mut self) -> Option<CutBlock> {
        let (text, runs) = self.cutter.ready.pop_front()?;
        Some(CutBlock { text, runs, options: self.options, begins_stream: false })
    }
}

/// A block's text.
pub(crate) struct CutBlock {
    pub text: Text,
    /// The runs of the text, as in [`EncodeBlock`].
    pub runs: Option<Vec<Run>>,
    pub options: BlockOptions,
    /// Whether the block is the first of a stream. (The very first block need not say so.)
    pub begins_stream: bool,
}

/// A block that has been issued.
pub(crate) struct IssuedBlock {
    pub ticket: CodedTicket<CodedBlock>,
    /// The number of line ends in the block's text, if they are counted.
    pub lines: Option<u64>,
    pub begins_stream: bool,
}

impl Piece for CutBlock {
    type Issued = IssuedBlock;

    fn charge(&self) -> u64 {
        let alive = match &self.text {
            Text::RunLength { coded, .. } => coded.capacity() as u64,
            text => text.len(),
        };
        let listed = self.runs.as_ref().map_or(0, |runs| runs.capacity() * size_of::<Run>()) as u64;
        // In the worst case the coded block is a little longer than the run-length-coded text.
        alive + listed + self.text.len().min(MAX_ENCODER_BLOCK as u64) + 4096
    }

    fn issue(self, client: &Client) -> IssuedBlock {
        let lines = self.options.count_lines.then(|| count_lines(&self.text));
        let (bytes, verify) = (self.text.len(), self.options.verify);
        let ticket = encode(client, EncodeBlock { text: self.text, runs: self.runs }, ENCODE, bytes, verify);
        IssuedBlock { ticket, lines, begins_stream: self.begins_stream }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::codec::run_length;
    use crate::stream::piece::pieces;

    /// bzip2's own way, byte by byte: a pending run is added to the block when it can grow no more, and a full block
    /// ends before the next byte is taken. Returns the text lengths of the blocks.
    fn naive(text: &[u8], limit: usize) -> Vec<usize> {
        let (mut blocks, mut size, mut begin) = (Vec::new(), 0, 0);
        let mut run: Option<(u8, usize)> = None;
        for (at, &byte) in text.iter().enumerate() {
            match &mut run {
                Some((last, len)) if *last == byte && *len < 255 => *len += 1,
                pending => {
                    if let Some((_, len)) = pending.replace((byte, 1)) {
                        size += if len < 4 { len } else { 5 };
                    }
                }
            }
            if size >= limit {
                // The byte just taken is the new pending run; it begins the next block.
                blocks.push(at - begin);
                (begin, size) = (at, 0);
            }
        }
        if begin < text.len() {
            blocks.push(text.len() - begin);
        }
        blocks
    }

    fn split(text: &[u8], limit: usize, chunk: usize) -> Vec<Text> {
        pieces(&mut Splitter::with_limit(limit), text, chunk).into_iter().map(|piece| piece.text).collect()
    }

    /// Compares blocks with those that bzip2 would cut from `text`.
    pub fn check_blocks(text: &[u8], limit: usize, blocks: &[Text]) {
        let lens: Vec<usize> = blocks.iter().map(|block| block.len() as usize).collect();
        assert_eq!(lens, naive(text, limit), "{} bytes, limit {limit}", text.len());
        let mut at = 0;
        for block in blocks {
            let part = &text[at..at + block.len() as usize];
            at += part.len();
            match block {
                Text::RunLength { coded, crc, .. } => {
                    let mut expected = Vec::new();
                    run_length::encode(part, &mut expected);
                    assert!(*coded == expected && *crc == crate::crc::checksum(part));
                }
                plain => assert!(plain.plain(&mut Vec::new()) == Some(part)),
            }
        }
    }

    /// Runs of every length at every distance from the end of the block, with every read size.
    #[test]
    fn blocks_end_where_bzip2_ends_them() {
        for limit in [1, 2, 5, 9, 30] {
            for run in [1, 2, 3, 4, 5, 6, 254, 255, 256, 257, 259, 510, 511, 600] {
                for before in 0..limit + 3 {
                    let mut text: Vec<u8> = (0..before).map(|i| 100 + (i % 2) as u8).collect();
                    text.extend(std::iter::repeat_n(7, run));
                    for tail in [&b""[..], b"x", b"xx", b"xyz", b"\x07x"] {
                        let text = [&text[..], tail].concat();
                        for chunk in [1, 3, 1 << 20] {
                            check_blocks(&text, limit, &split(&text, limit, chunk));
                        }
                    }
                }
            }
        }
    }

    /// 46 MB of zeros are one block, and take little memory. Text before and after them.
    #[test]
    fn long_runs_travel_coded() {
        for before in [0, 5, 300_000, 880_000, 2_000_000] {
            let words = (hybz_testkit::shapes::shape("words").make)(2_000_000);
            let text = [&words[..before], &vec![0; 60_000_000], &words].concat();
            let blocks = split(&text, 899_981, 1 << 20);
            check_blocks(&text, 899_981, &blocks);
            assert!(blocks.iter().any(|block| matches!(block, Text::RunLength { .. })), "{before}");
        }
    }
}
