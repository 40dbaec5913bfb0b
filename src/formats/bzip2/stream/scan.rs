//! Cuts compressed input into spans, each beginning at what looks like a block, so that blocks can be decoded before
//! they are known to be blocks.
//!
//! A block begins with a 48-bit magic at any bit offset, and the same 48 bits may stand anywhere inside a block's data.
//! A span is therefore speculation: `chain` believes a span's result only if the block before it ended exactly where
//! the span begins. The scanner decides nothing; a magic that was missed or invented costs time, but changes no byte.

use super::parallel_scan::SharedSpans;
use super::readers::STRETCH;
use super::span::{HEADER_BITS, MAX_SPAN, Span, next_magic};
use crate::block::SharedBytes;
use crate::codec::find_magic::find_end;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_BITS, Header, parse_stream_header};
use crate::stream::piece::{Cut, Input, Unread};
use std::io;

/// The size of one read. The scanner's own tests and the trap tests use other sizes.
const CHUNK: usize = 256 << 10;
/// The size of the first read.
const FIRST_CHUNK: usize = 4 << 10;

/// Cuts compressed input into spans.
#[derive(Default)]
pub(crate) struct Scanner {
    /// The input from the open span's first byte on (after `base`), then unused memory.
    buf: Vec<u8>,
    len: usize,
    /// The position of the open span's first byte in `buf`.
    base: usize,
    /// The position of `buf` in the whole input, in bytes.
    at: u64,
    /// The open span's first bit, in `buf`.
    first: u64,
    /// No magic begins before this bit of `buf`, except possibly the open span's own.
    searched: u64,
    /// Whether the open span begins with a magic.
    coded: bool,
    chunk: usize,
    ended: bool,
    /// Everything must be handed on.
    flushing: bool,
    /// The input pauses: everything that is certainly complete must be handed on.
    paused: bool,
    /// No end magic of a stream begins in the open span before this bit of `buf`.
    ends_searched: u64,
    /// The last bytes that were handed on.
    before: [u8; 4],
    /// Set once several threads read the rest.
    shared: Option<SharedSpans>,
}

impl Scanner {
    /// A scanner for input that begins at this byte of a file. It reads `chunk` bytes at once, if that is given.
    pub fn new(at: u64, chunk: Option<usize>) -> Self {
        Scanner { at, chunk: chunk.unwrap_or(CHUNK).max(1), ..Scanner::default() }
    }

    /// Hands on bits `first .. end` of `buf`; the next span begins at `end`.
    fn cut(&mut self, end: u64, next_coded: bool) -> Span {
        let last = end.div_ceil(8) as usize;
        let data = SharedBytes::from(self.buf[self.base..last].to_vec());
        let skip = self.base as u64 * 8;
        let (at, first) = (self.at * 8 + skip, self.first - skip);
        let span = Span { data, at, first, end: end - skip, coded: self.coded };
        for &byte in &span.data[span.data.len().saturating_sub(4)..] {
            self.before.rotate_left(1);
            self.before[3] = byte;
        }
        self.first = end;
        self.ends_searched = self.ends_searched.max(end);
        self.base = (end / 8) as usize;
        self.coded = next_coded;
        span
    }

    /// Hands over the input, from the open span on, to several readers with stretches of this length. Returns whether
    /// these could be started.
    pub(super) fn share(&mut self, unread: &Unread<'_>, stretch: usize) -> bool {
        self.shared = SharedSpans::start(unread, stretch, self.at * 8 + self.first, self.coded).ok();
        if self.shared.is_some() {
            self.buf = Vec::new();
        }
        self.shared.is_some()
    }

    /// The bit at which the first end magic in the open span begins, if there is one. It may be a part of the block's
    /// data: then the joiner decodes that block itself.
    fn next_end(&mut self) -> Option<u64> {
        let have = self.len as u64 * 8;
        let found = find_end(&self.buf[..self.len], self.ends_searched);
        self.ends_searched = found.unwrap_or_else(|| self.ends_searched.max(have.saturating_sub(47)));
        found.filter(|bit| bit + END_BITS <= have)
    }

    /// Whether the open span, which does not begin with a block, ends in the middle of a stream's first magic. Such a
    /// span is not cut, because no block would be recognised at a magic that is cut.
    fn ends_in_magic(&self) -> bool {
        let magic = &BLOCK_MAGIC.to_be_bytes()[2..];
        let last = &self.buf[self.len.saturating_sub(9).max(self.base)..self.len];
        let last = [&self.before, last].concat();
        (1..magic.len()).any(|n| {
            let Some(begin) = last.len().checked_sub(n) else { return false };
            let header = begin.checked_sub(4).map(|at| parse_stream_header(&last[at..begin]));
            last[begin..] == magic[..n] && matches!(header, Some(Header::Stream(_)))
        })
    }
}

/// The bit at which the end of a stream begins, if the data end with one. More data may come, but perhaps not soon,
/// and the block before the end must not wait for them.
fn end_record(data: &[u8]) -> Option<u64> {
    // Magic, CRC, and up to 7 bits of padding.
    let have = data.len() as u64 * 8;
    find_end(data, have.checked_sub(END_BITS + 7)?).filter(|bit| bit + END_BITS <= have)
}

impl Input for Scanner {
    fn room(&mut self) -> &mut [u8] {
        if self.base > 0 {
            // Only the open span so far is copied: at most MAX_SPAN, mostly less than a chunk.
            self.buf.copy_within(self.base..self.len, 0);
            let skip = self.base as u64;
            self.len -= self.base;
            self.base = 0;
            self.at += skip;
            self.first -= skip * 8;
            self.searched -= skip * 8;
            self.ends_searched = self.ends_searched.saturating_sub(skip * 8);
        }
        // The buffer grows by no more than has come already, so that a small file does not pay for a large one. The
        // free part usually suffices: after a small file, only the end of input remains to be read.
        let want = self.chunk.min(self.len.max(FIRST_CHUNK));
        if self.buf.len() < self.len + want.div_ceil(2) {
            self.buf.resize(self.len + want, 0);
        }
        let most = self.buf.len().min(self.len + want);
        &mut self.buf[self.len..most]
    }

    fn filled(&mut self, n: usize) {
        self.len += n;
        // A read that fills the buffer may also end with the end of the stream.
        self.paused = end_record(&self.buf[..self.len]).is_some_and(|bit| bit > self.first);
    }

    fn pause(&mut self) {
        self.paused = true;
    }

    /// A block that lacks even a whole header has only just begun, and does not count.
    fn rests(&self) -> bool {
        self.paused && (!self.coded || self.len as u64 * 8 - self.first < HEADER_BITS)
    }

    fn finish(&mut self) {
        self.ended = true;
        if let Some(shared) = &mut self.shared {
            shared.finish();
        }
    }

    fn share_reading(&mut self, unread: &Unread<'_>) -> bool {
        self.share(unread, STRETCH)
    }

    fn read_on(&mut self) -> io::Result<bool> {
        self.shared.as_mut().map_or(Ok(false), SharedSpans::read_on)
    }

    fn flush(&mut self) {
        self.flushing = true;
    }
}

impl Cut for Scanner {
    type Piece = Span;

    fn next_piece(&mut self) -> Option<Span> {
        if let Some(shared) = &mut self.shared {
            return shared.next_span();
        }
        // If no more comes soon, a block counts even if only its header has come.
        let whole = self.ended || self.flushing || self.paused;
        if let Some(bit) = next_magic(&self.buf[..self.len], &mut self.searched, whole) {
            return Some(self.cut(bit, true));
        }
        let have = self.len as u64 * 8;
        if self.ended {
            return (self.first < have).then(|| self.cut(have, false));
        }
        if self.paused {
            if self.coded {
                if let Some(bit) = self.next_end() {
                    return Some(self.cut(bit, false));
                }
            } else if self.first < have && !self.ends_in_magic() {
                self.searched = have;
                return Some(self.cut(have, false));
            }
        }
        if std::mem::take(&mut self.flushing) && self.first < have {
            // A magic that has only begun here is missed: the joiner decodes that block itself.
            self.searched = have;
            return Some(self.cut(have, false));
        }
        // No magic begins at a bit before `searched`, so those bits can go.
        (self.searched / 8 > (self.base + MAX_SPAN) as u64).then(|| {
            let end = self.searched / 8 * 8;
            self.cut(end, false)
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stream::piece::pieces;

    /// The span's start and end, and whether it begins with a magic. Checks that its bits are those of the input.
    pub fn seen(span: &Span, input: &[u8]) -> (u64, u64, bool) {
        for bit in span.start_bit()..span.end_bit() {
            let of = |bytes: &[u8], bit: u64| bytes[(bit / 8) as usize] >> (7 - bit % 8) & 1;
            assert_eq!(of(&span.data, bit - span.at), of(input, bit));
        }
        (span.start_bit(), span.end_bit(), span.coded)
    }

    fn spans(input: &[u8], chunk: usize) -> Vec<(u64, u64, bool)> {
        let spans = pieces(&mut Scanner::new(0, Some(chunk)), input, input.len());
        spans.iter().map(|span| seen(span, input)).collect()
    }

    /// Spans lie end to end over the whole input, for every read size, and begin exactly at the blocks.
    #[test]
    fn spans_tile_the_input() {
        let text: Vec<u8> = (0..250_000u32).map(|i| (i.wrapping_mul(2654435761) >> 25) as u8).collect();
        let coded = crate::compress(&text, &crate::Settings::new().level(crate::Level::FASTEST)).unwrap();
        let expected = spans(&coded, 1 << 20);
        assert_eq!(expected.iter().filter(|span| span.2).count(), 3);
        assert_eq!(expected[0], (0, 32, false));
        assert_eq!(expected[1].0, 32);
        // The end of the stream may be the end of the input: then the last block must be handed on.
        let end = expected.last().unwrap();
        assert!(!end.2 && end.1 == coded.len() as u64 * 8 && (80..88).contains(&(end.1 - end.0)));
        assert!(expected.windows(2).all(|pair| pair[0].1 == pair[1].0));
        for chunk in [1, 2, 3, 7, 64, 4096] {
            assert_eq!(spans(&coded, chunk), expected, "chunk {chunk}");
        }
    }

    /// Input without any magic is handed on in pieces, not collected.
    #[test]
    fn long_spans_are_cut() {
        let input = vec![0x55; 3 * MAX_SPAN];
        let spans = spans(&input, CHUNK);
        assert!(spans.len() >= 3 && spans.iter().all(|span| !span.2));
    }
}
