//! Cuts text into blocks exactly where bzip2 1.0.8 (the program) cuts it.
//!
//! The rule is on run-length tokens: a token is a maximal run of one byte, cut at 255; it adds `min(len, 4)` bytes to
//! the block, plus a count byte if it is 4 or longer. A block ends after the token with which its size reaches 100,000
//! x level - 19. Tokens do not depend on blocks, and everything outside runs of 4 counts one for one, so finding the
//! end of a block is a search for runs of 4.
//!
//! A block is handed on as plain text, which a station then run-length-codes and checksums. Only a text that is much
//! longer than its block (46 MB of zeros make one block) is coded here, piece by piece, to keep memory bounded.

use super::parallel_read::{CodedText, SharedText};
use super::tasks::{ENCODE, EncodeBlock};
use crate::block::{CodedBlock, MAX_PLAIN_TEXT, Text};
use crate::codec::run_length::{self, Run};
use crate::formats::bzip2::header::{Level, MAX_RUN as MAX_TOKEN};
pub(crate) use crate::stream::piece::BlockOptions;
use crate::stream::piece::{Cut, Input, Piece, Unread};
use crate::stream::text::count_lines;
use crate::stream::verify::{CodedTicket, encode};
use hybz_queue::Client;
use std::collections::VecDeque;
use std::io;

/// The smallest room offered for reading, so that the end of a block is not read in tiny pieces.
const MIN_ROOM: usize = 64 << 10;
/// The smallest room at the beginning of a stream: room is zeroed, and with 64 KiB a file of 1 kB took 1.17 ms, not
/// 1.13.
const FIRST_ROOM: usize = 4 << 10;

/// Cuts text into blocks.
pub(crate) struct Splitter {
    /// The run-length-coded size at which a block ends.
    limit: usize,
    /// The text of the open block that is not in `coded` yet, then unused room.
    text: Vec<u8>,
    /// The number of filled bytes of `text`.
    len: usize,
    /// The position in `text` of the first token that is not counted in `size`.
    token: usize,
    /// The coded size of the open block's whole tokens.
    size: usize,
    /// The beginning of the open block, if it is mostly runs.
    coded: Option<CodedText>,
    ready: VecDeque<Text>,
    options: BlockOptions,
    /// Set once several threads read the rest.
    shared: Option<SharedText>,
}

impl Splitter {
    pub fn new(level: Level, options: BlockOptions) -> Self {
        Splitter { options, ..Self::with_limit(level.fill_limit()) }
    }

    fn with_limit(limit: usize) -> Self {
        let (text, ready, options) = Default::default();
        Splitter { limit, text, len: 0, token: 0, size: 0, coded: None, ready, options, shared: None }
    }

    /// Counts the tokens that are complete and closes every block that is full.
    fn scan(&mut self, ended: bool) {
        loop {
            let text = &self.text[..self.len];
            let run = run_length::find_run(text, self.token);
            // Tokens before `run` are shorter than 4. Without a run the last token may still grow: it begins up to 3
            // bytes before the end, at a byte that differs from the one before it.
            let found = run.is_some();
            let mut short_end = run.unwrap_or(self.len);
            if !found && !ended {
                while short_end > self.token && (short_end == self.len || text[short_end - 1] == text[short_end]) {
                    short_end -= 1;
                }
            }
            if self.size + (short_end - self.token) >= self.limit {
                self.token = self.block_end(short_end);
                self.close();
                continue;
            }
            self.size += short_end - self.token;
            self.token = short_end;
            if !found {
                break;
            }
            let longest = (self.len - short_end).min(MAX_TOKEN);
            let length = run_length::run_len(&text[short_end..short_end + longest]);
            if length == longest && longest < MAX_TOKEN && !ended {
                break; // the run may go on
            }
            self.size += 5;
            self.token += length;
            if self.size >= self.limit {
                self.close();
            }
        }
        if self.token >= MAX_PLAIN_TEXT {
            let coded = self.coded.get_or_insert_with(CodedText::new);
            coded.add(&self.text[..self.token]);
            self.text.copy_within(self.token..self.len, 0);
            self.len -= self.token;
            self.token = 0;
        }
    }

    /// The end of the block, if all tokens in `token..end` are shorter than 4 and the block is full among them.
    fn block_end(&self, end: usize) -> usize {
        let text = &self.text[..end];
        // All bytes up to here can be added in one step; then the bytes up to the end of the token that contains the
        // last of them.
        let mut at = self.token + (self.limit - self.size);
        while at < end && text[at] == text[at - 1] {
            at += 1;
        }
        at
    }

    /// Ends the open block at `token`; the text after it opens the next block.
    fn close(&mut self) {
        let end = self.token;
        let rest = self.len - end;
        let text = match self.coded.take() {
            None => {
                let mut next = Vec::with_capacity(self.text.len());
                next.extend_from_slice(&self.text[end..self.len]);
                let mut plain = std::mem::replace(&mut self.text, next);
                plain.truncate(end);
                // Streams of a few bytes would keep FIRST_ROOM each.
                if plain.capacity() / 8 > end {
                    plain.shrink_to_fit();
                }
                Text::Plain(plain)
            }
            Some(mut coded) => {
                coded.add(&self.text[..end]);
                self.text.copy_within(end..self.len, 0);
                coded.finish()
            }
        };
        self.len = rest;
        self.token = 0;
        self.size = 0;
        self.ready.push_back(text);
    }
}

impl Input for Splitter {
    fn room(&mut self) -> &mut [u8] {
        // A read takes no more than the block still needs, so that little is carried over to the next block. It takes
        // no more than has come already, so that small files do not pay for a large block.
        let rest = self.limit.saturating_sub(self.size + (self.len - self.token));
        let least = if self.text.capacity() < MIN_ROOM { FIRST_ROOM } else { MIN_ROOM };
        let want = rest.min(self.len).max(least);
        if self.text.len() < self.len + want {
            // The size is exact: for the last bytes of a block, `resize` alone would double 966 kB.
            self.text.reserve_exact(self.len + want - self.text.len());
            self.text.resize(self.len + want, 0);
        }
        &mut self.text[self.len..]
    }

    fn filled(&mut self, n: usize) {
        self.len += n;
        self.scan(false);
    }

    fn finish(&mut self) {
        match &mut self.shared {
            Some(shared) => shared.finish(),
            None => self.flush(),
        }
    }

    /// Blocks end between tokens, so another cutter can continue from the start of the open block, unless that is so
    /// long that it is kept run-length-coded.
    fn share_reading(&mut self, unread: &Unread<'_>) -> bool {
        if self.coded.is_none() {
            self.shared = SharedText::start(unread, self.len, self.limit);
        }
        self.shared.is_some()
    }

    fn read_on(&mut self) -> io::Result<bool> {
        self.shared.as_mut().map_or(Ok(false), SharedText::read_on)
    }

    fn flush(&mut self) {
        self.scan(true);
        if self.token > 0 || self.coded.is_some() {
            self.close();
        }
    }
}

impl Cut for Splitter {
    type Piece = CutBlock;

    fn next_piece(&mut self) -> Option<CutBlock> {
        let (text, runs) = match &mut self.shared {
            Some(shared) => shared.next_block()?,
            None => (self.ready.pop_front()?, None),
        };
        Some(CutBlock { text, runs, limit: self.limit, options: self.options, begins_stream: false })
    }
}

/// A block's text.
pub(crate) struct CutBlock {
    pub text: Text,
    /// The runs of the text, as in [`EncodeBlock`].
    pub runs: Option<Vec<Run>>,
    /// The run-length-coded size at which blocks end.
    pub limit: usize,
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
            Text::Plain(plain) => plain.capacity() as u64,
            Text::Parts(_) | Text::Compact(_) => self.text.len(),
            Text::RunLength { coded, .. } => coded.capacity() as u64,
        };
        let listed = self.runs.as_ref().map_or(0, |runs| runs.capacity() * size_of::<Run>()) as u64;
        // In the worst case the coded block is a little longer than the run-length-coded text.
        alive + listed + self.text.len().min(self.limit as u64) + 4096
    }

    fn issue(self, client: &Client) -> IssuedBlock {
        let BlockOptions { count_lines: lines, verify } = self.options;
        let lines = lines.then(|| count_lines(&self.text));
        let (bytes, verify) = (self.text.len(), verify.with(client.pool()));
        let ticket = encode(client, EncodeBlock { text: self.text, runs: self.runs }, ENCODE, bytes, verify);
        IssuedBlock { ticket, lines, begins_stream: self.begins_stream }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

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
        let mut splitter = Splitter::with_limit(limit);
        let mut blocks = Vec::new();
        let mut collect = |splitter: &mut Splitter| {
            while let Some(piece) = splitter.next_piece() {
                blocks.push(piece.text);
            }
        };
        let mut rest = text;
        while !rest.is_empty() {
            let room = splitter.room();
            let n = rest.len().min(chunk).min(room.len());
            room[..n].copy_from_slice(&rest[..n]);
            splitter.filled(n);
            rest = &rest[n..];
            collect(&mut splitter);
        }
        splitter.finish();
        collect(&mut splitter);
        blocks
    }

    fn check(text: &[u8], limit: usize, chunk: usize) {
        check_blocks(text, limit, &split(text, limit, chunk));
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
        runs_around_block_ends(&mut |text, limit| [1, 3, 1 << 20].iter().for_each(|&chunk| check(text, limit, chunk)));
    }

    pub fn runs_around_block_ends(check: &mut dyn FnMut(&[u8], usize)) {
        for limit in [1, 2, 5, 9, 30] {
            for run in [1, 2, 3, 4, 5, 6, 254, 255, 256, 257, 259, 510, 511, 600] {
                for before in 0..limit + 3 {
                    let mut text: Vec<u8> = (0..before).map(|i| 100 + (i % 2) as u8).collect();
                    text.extend(std::iter::repeat_n(7, run));
                    for tail in [&b""[..], b"x", b"xx", b"xyz", b"\x07x"] {
                        let text = [&text[..], tail].concat();
                        check(&text, limit);
                    }
                }
            }
        }
    }

    #[test]
    fn random_runs_are_split_as_bzip2_splits_them() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for round in 0..300 {
            let mut text = Vec::new();
            while text.len() < 3000 {
                let len = if random(3) == 0 { random(300) } else { random(6) };
                text.extend(std::iter::repeat_n(random(3) as u8, len as usize));
            }
            check(&text, 20 + round % 700, [1, 7, 64, 1000, 1 << 20][round % 5]);
        }
    }

    /// 46 MB of zeros are one block, and take little memory.
    #[test]
    fn long_runs_travel_coded() {
        let text = vec![0; 60_000_000];
        let blocks = split(&text, 899_981, 1 << 20);
        assert_eq!(blocks.iter().map(|block| block.len() as usize).collect::<Vec<_>>(), naive(&text, 899_981));
        assert!(matches!(&blocks[0], Text::RunLength { coded, len: 45_899_235, .. } if coded.len() == 899_985));
    }

    #[test]
    fn an_empty_input_has_no_block() {
        assert!(split(b"", 100, 10).is_empty());
    }
}
