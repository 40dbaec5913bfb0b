//! Cuts text into streams, and these into blocks, for readers that read many streams in parallel, or a single stream of
//! many.
//!
//! Each stream has the bytes that bzip2 writes for its text. Blocks of all streams go on one queue, so the stations
//! stay busy however short the streams are.

use super::split::{CutBlock, Splitter};
use crate::stream::piece::{Cut, Input};
use std::collections::VecDeque;

/// The lengths of the streams, if a text becomes several streams, one after another.
///
/// ```
/// use hybz::{Settings, Streams, index::Index};
/// let streams = Streams::try_new(100_000).expect("more than nothing");
/// let coded = hybz::compress(&[7; 250_000], &Settings::new().streams(streams))?;
/// assert_eq!(Index::build(&coded[..], &Settings::new())?.streams(), 3);
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    size: u64,
    lines: bool,
}

impl Streams {
    /// Each stream has `size` bytes of text, but the last may have fewer. `None` if `size` is 0.
    pub fn try_new(size: u64) -> Option<Streams> {
        (size > 0).then_some(Streams { size, lines: false })
    }

    /// Whether a stream goes on to the next line end (byte 0x0a), so that it has whole lines. A line is never split,
    /// however long it is.
    pub fn split_lines(self, lines: bool) -> Streams {
        Streams { lines, ..self }
    }

    /// The minimum number of bytes of text in each stream.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The number of bytes that belong to a stream before the search for its end begins. (Byte number `size` of a
    /// stream may itself be the line end with which the stream ends.)
    fn before_end(&self) -> u64 {
        if self.lines { self.size - 1 } else { self.size }
    }
}

/// The size of one read during the search for a line end. It is small, because the bytes after the line end are copied.
const AHEAD: usize = 64 << 10;

/// Cuts text into streams and blocks.
pub(super) struct StreamSplitter {
    splitter: Splitter,
    streams: Streams,
    /// The number of bytes that certainly belong to the open stream; 0: the stream ends at the next line end.
    left: u64,
    /// Text in which a line end is searched for.
    ahead: Vec<u8>,
    /// Whether the next block is the first of a stream.
    begins: bool,
    ready: VecDeque<CutBlock>,
}

impl StreamSplitter {
    pub fn new(splitter: Splitter, streams: Streams) -> Self {
        let (ahead, ready) = Default::default();
        StreamSplitter { splitter, streams, left: streams.before_end(), ahead, begins: true, ready }
    }

    /// Adds text that belongs to the open stream, and perhaps to later streams.
    fn take(&mut self, mut text: &[u8]) {
        while !text.is_empty() {
            let (ends_line, n) = (self.left == 0, text.len());
            let n = match ends_line {
                true => text.iter().position(|byte| *byte == b'\n').map_or(n, |at| at + 1),
                false => usize::try_from(self.left).map_or(n, |left| left.min(n)),
            };
            let (mut part, rest) = text.split_at(n);
            while !part.is_empty() {
                part = self.splitter.fill(part);
            }
            self.left = self.left.saturating_sub(n as u64);
            if ends_line && text[n - 1] == b'\n' {
                self.end_stream();
            }
            text = rest;
        }
    }

    fn end_stream(&mut self) {
        self.splitter.flush();
        self.collect();
        self.begins = true;
        self.left = self.streams.before_end();
    }

    /// Collects the complete blocks.
    fn collect(&mut self) {
        while let Some(block) = self.splitter.next_piece() {
            self.ready.push_back(CutBlock { begins_stream: std::mem::take(&mut self.begins), ..block });
        }
    }
}

impl Input for StreamSplitter {
    fn room(&mut self) -> &mut [u8] {
        if self.left == 0 {
            self.ahead.resize(AHEAD, 0);
            return &mut self.ahead;
        }
        let room = self.splitter.room();
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(room.len());
        &mut room[..most]
    }

    fn filled(&mut self, n: usize) {
        if self.left == 0 {
            let ahead = std::mem::take(&mut self.ahead);
            self.take(&ahead[..n]);
            self.ahead = ahead;
        } else {
            self.splitter.filled(n);
            self.left -= n as u64;
            if self.left == 0 && !self.streams.lines {
                self.end_stream();
            }
        }
        self.collect();
    }

    fn finish(&mut self) {
        self.splitter.finish();
        self.collect();
    }

    fn flush(&mut self) {
        self.splitter.flush();
        self.collect();
    }
}

impl Cut for StreamSplitter {
    type Piece = CutBlock;

    fn next_piece(&mut self) -> Option<CutBlock> {
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::bzip2::header::Level;
    use crate::formats::bzip2::stream::split::BlockOptions;
    use crate::stream::piece::pieces;
    use crate::{Settings, index::Index};
    use hybz_testkit::shapes::{Rng, shape};
    use std::io::Write;

    /// The lengths of the streams of a text, by the rule.
    fn naive(text: &[u8], streams: Streams) -> Vec<usize> {
        let (mut lengths, mut begin) = (Vec::new(), 0);
        for (at, byte) in text.iter().enumerate() {
            let length = at + 1 - begin;
            if length as u64 >= streams.size && (!streams.lines || *byte == b'\n') {
                lengths.push(length);
                begin = at + 1;
            }
        }
        if begin < text.len() {
            lengths.push(text.len() - begin);
        }
        lengths
    }

    /// The lengths of the blocks of each stream, for a text that is read in pieces of `chunk` bytes.
    fn cut(text: &[u8], streams: Streams, chunk: usize) -> Vec<Vec<usize>> {
        let splitter = Splitter::new(Level::FASTEST, BlockOptions::default());
        let mut found = Vec::<Vec<usize>>::new();
        for block in pieces(&mut StreamSplitter::new(splitter, streams), text, chunk) {
            if block.begins_stream {
                found.push(Vec::new());
            }
            found.last_mut().expect("a stream has begun").push(block.text.len() as usize);
        }
        found
    }

    #[test]
    fn streams_end_where_the_rule_says() {
        let mut rng = Rng(6);
        for round in 0..200 {
            let text: Vec<u8> = (0..rng.below(2000)).map(|_| if rng.below(30) == 0 { b'\n' } else { b'x' }).collect();
            for lines in [false, true] {
                let streams = Streams::try_new(1 + rng.below(60) as u64).unwrap().split_lines(lines);
                let chunk = [1, 2, 7, 100, 5000][round % 5];
                let lengths: Vec<usize> = cut(&text, streams, chunk).iter().map(|blocks| blocks.iter().sum()).collect();
                assert_eq!(lengths, naive(&text, streams), "{streams:?} {text:?}");
            }
        }
    }

    /// Streams that end exactly with a block, one byte before its end and one byte after it.
    #[test]
    fn streams_that_end_where_blocks_do() {
        let text = (shape("period_5").make)(300_000);
        for (size, blocks) in [
            (99_980, vec![vec![99_980], vec![99_980], vec![99_980], vec![60]]),
            (99_981, vec![vec![99_981], vec![99_981], vec![99_981], vec![57]]),
            (99_982, vec![vec![99_981, 1], vec![99_981, 1], vec![99_981, 1], vec![54]]),
            (300_000, vec![vec![99_981, 99_981, 99_981, 57]]),
            (u64::MAX, vec![vec![99_981, 99_981, 99_981, 57]]),
        ] {
            assert_eq!(cut(&text, Streams::try_new(size).unwrap(), 1 << 20), blocks, "{size}");
        }
        assert!(cut(b"", Streams::try_new(1).unwrap(), 1).is_empty());
    }

    /// A flush ends a block, but no stream.
    #[test]
    fn flushed_blocks() {
        let settings = Settings::new().streams(Streams::try_new(100).unwrap());
        let mut encoder = crate::write::BzEncoder::with_settings(Vec::new(), &settings);
        for _ in 0..25 {
            encoder.write_all(&[b'x'; 10]).unwrap();
            encoder.flush().unwrap();
        }
        let coded = encoder.finish().unwrap();
        let index = Index::build(&coded[..], &Settings::new()).unwrap();
        assert_eq!((index.streams(), index.blocks(), index.text_len()), (3, 25, 250));
    }
}
