//! One compressed file read and searched by several threads, for stations that are faster than one thread.
//!
//! One thread reads, searches and copies a compressed byte in 0.55 to 0.8 ns, which is 7 to 9 GB/s of text (source
//! code, Sapphire Rapids): one H200 with 16 cores decodes nearly as much. Searching a stretch does not depend on the
//! data before it, so the reader of a stretch lists the magics that begin in it, and only cutting remains sequential:
//! on an otherwise idle Zen 5 machine that reduced 0.20 ns a byte to 0.04. Spans were copied then. Now a span within a
//! stretch is a slice of it, which reduced 0.15 ns to 0.012 on an Emerald Rapids.

use super::readers::{Look, Readers, Stretch};
use super::span::{HEADER_BITS, MAX_SPAN, Span, next_magic};
use crate::block::SharedBytes;
use crate::stream::piece::Unread;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// The bits of a stretch at which a block may begin.
pub(super) struct Magics {
    found: Vec<u64>,
    searched: u64,
    /// The bits of the stretch.
    bits: u64,
}

impl Look for Magics {
    const LOOK_AHEAD: usize = HEADER_BITS.div_ceil(8) as usize;

    fn new(stretch: usize) -> Self {
        Magics { found: Vec::new(), searched: 0, bits: stretch as u64 * 8 }
    }

    fn look(&mut self, bytes: &[u8], whole: bool) {
        while self.searched < self.bits
            && let Some(bit) = next_magic(bytes, &mut self.searched, whole)
        {
            if bit < self.bits {
                self.found.push(bit);
            }
        }
    }
}

/// Cuts spans from data that several threads have read, as [`Scanner`](super::scan::Scanner) does from bytes.
pub(super) struct SharedSpans {
    readers: Readers<Magics>,
    /// The stretches that contain the open span, and the byte of the input at which each begins.
    held: VecDeque<(u64, Arc<Vec<u8>>)>,
    /// The start of the next stretch, in bytes.
    end: u64,
    /// The open span's first bit.
    first: u64,
    coded: bool,
    ready: VecDeque<Span>,
}

impl SharedSpans {
    /// Starts the threads. The scanner's open span begins at bit `first` of the input, with a magic if it is `coded`.
    pub fn start(unread: &Unread<'_>, stretch: usize, first: u64, coded: bool) -> io::Result<SharedSpans> {
        let readers = Readers::start(unread.file, unread.from + first / 8, unread.readers, 1, stretch)?;
        Ok(SharedSpans { readers, held: VecDeque::new(), end: first / 8, first, coded, ready: VecDeque::new() })
    }

    /// Takes the next stretch. Returns whether there was one.
    pub fn read_on(&mut self) -> io::Result<bool> {
        let Some(Stretch { bytes, found }) = self.readers.next().transpose()? else { return Ok(false) };
        let start = self.end * 8;
        self.end += bytes.len() as u64;
        self.held.push_back((start / 8, bytes));
        for bit in found.found {
            let bit = start + bit;
            if bit > self.first {
                self.cut(bit, true);
            } else if bit == self.first {
                self.coded = true;
            }
        }
        if self.end * 8 - self.first > MAX_SPAN as u64 * 8 {
            // No magic begins in the rest of the stretch.
            self.cut(self.end * 8, false);
        }
        Ok(true)
    }

    /// Records that the input has ended.
    pub fn finish(&mut self) {
        if self.first < self.end * 8 {
            self.cut(self.end * 8, false);
        }
    }

    pub fn next_span(&mut self) -> Option<Span> {
        self.ready.pop_front()
    }

    /// Ends the open span at bit `end`, and begins the next one there.
    fn cut(&mut self, end: u64, next_coded: bool) {
        let bytes = self.first / 8..end.div_ceil(8);
        let parts = self.held.iter().map(|(start, stretch)| {
            let clamp = |at: u64| (at.max(*start) - start).min(stretch.len() as u64) as usize;
            SharedBytes { bytes: Arc::clone(stretch), range: clamp(bytes.start)..clamp(bytes.end) }
        });
        let parts: Vec<SharedBytes> = parts.filter(|part| !part.is_empty()).collect();
        let data = match &parts[..] {
            [only] => only.clone(),
            parts => parts.iter().map(|part| &**part).collect::<Vec<&[u8]>>().concat().into(),
        };
        let at = bytes.start * 8;
        let span = Span { data, at, first: self.first - at, end: end - at, coded: self.coded };
        self.ready.push_back(span);
        (self.first, self.coded) = (end, next_coded);
        while self.held.front().is_some_and(|(start, stretch)| start + stretch.len() as u64 <= end / 8) {
            self.held.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::Scanner;
    use super::super::scan::tests::seen;
    use super::*;
    use crate::read_at::ReadAt;
    use crate::stream::piece::{Cut, Input};
    use crate::{Level, Settings, compress};
    use hybz_testkit::shapes::Rng;

    /// The spans if one thread reads the first `alone` bytes of the input and then several read the rest, in stretches
    /// of this length. The input begins at byte 5 of its file.
    fn spans(input: &[u8], alone: usize, stretch: usize, count: usize) -> Vec<(u64, u64, bool)> {
        let file: Arc<dyn ReadAt> = Arc::new([b"12345", input].concat());
        let mut scanner = Scanner::new(0, Some(1 + alone % 70_000));
        let (mut spans, mut rest) = (Vec::new(), &input[..alone]);
        let mut take = |scanner: &mut Scanner| {
            spans.extend(std::iter::from_fn(|| scanner.next_piece()).map(|span| seen(&span, input)));
        };
        while !rest.is_empty() {
            rest = scanner.fill(rest);
            take(&mut scanner);
        }
        let unread = Unread { file: &file, from: 5, read: 0, readers: count, room: 0 };
        assert!(scanner.share(&unread, stretch));
        while scanner.read_on().unwrap() {
            take(&mut scanner);
        }
        scanner.finish();
        take(&mut scanner);
        spans
    }

    /// Blocks, a magic that begins no block, a magic in the last bytes, and bits before and after them.
    fn input() -> Vec<u8> {
        let text: Vec<u8> = (0..450_000u32).map(|i| (i.wrapping_mul(2654435761) >> 25) as u8).collect();
        let coded = compress(&text, &Settings::new().level(Level::FASTEST)).unwrap();
        let magic = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
        [&[0x55; 77_777][..], &coded, &magic, &[0xff; 70], &coded, &magic, &[1]].concat()
    }

    #[test]
    fn spans_are_those_of_one_scanner() {
        let input = input();
        // If one thread reads the whole input, the end of a stream at the input's end is a separate span. It is joined
        // to the previous span here.
        let expected = spans(&input, 0, 10 << 20, 1);
        assert_eq!(expected.iter().filter(|span| span.2).count(), 11);
        assert!(expected.windows(2).all(|pair| pair[0].1 == pair[1].0));
        assert_eq!(expected.last().unwrap().1, input.len() as u64 * 8);
        let mut rng = Rng(3);
        for round in 0..200 {
            let stretch = [1 << 10, 5000, 77_777, 300_000, 1 << 20][round % 5] + rng.below(3000);
            let found = spans(&input, rng.below(input.len()), stretch, 1 + round % 4);
            let coded = |spans: &[(u64, u64, bool)]| -> Vec<u64> {
                spans.iter().filter(|span| span.2).map(|span| span.0).collect()
            };
            assert_eq!(coded(&found), coded(&expected), "{stretch}");
            assert!(found.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert_eq!(found.last().unwrap().1, input.len() as u64 * 8);
        }
    }

    /// Input without any magic is handed on in pieces, not collected.
    #[test]
    fn long_spans_are_cut() {
        let input = vec![0x55; 5 * MAX_SPAN];
        let spans = spans(&input, 1000, 1 << 20, 3);
        assert!(spans.len() >= 3 && spans.iter().all(|span| !span.2), "{}", spans.len());
    }

    #[test]
    fn a_span_within_a_stretch_is_not_copied() {
        let input = input();
        let stretches = input.len().div_ceil(300_000);
        let file: Arc<dyn ReadAt> = Arc::new(input);
        let unread = Unread { file: &file, from: 0, read: 0, readers: 1, room: 0 };
        let mut spans = SharedSpans::start(&unread, 300_000, 0, false).unwrap();
        let (mut shared, mut copied) = (0, 0);
        while spans.read_on().unwrap() {
            while let Some(span) = spans.next_span() {
                match span.data.bytes.len() == span.data.len() {
                    true => copied += 1,
                    false => shared += 1,
                }
            }
        }
        assert!(copied < stretches && shared + copied >= 8, "{shared} {copied} {stretches}");
    }
}
