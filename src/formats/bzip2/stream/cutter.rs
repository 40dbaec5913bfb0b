//! Cuts stretches of text into blocks by the rule of `split`. One thread reads them, or several read one file for
//! stations that are faster than one reader.
//!
//! One thread read and cut 3.5 GB/s (on a Xeon, from memory, before `runs_within`), less than one H200 can code now; 2,
//! 3, 4 and 6 threads reached 7.1, 10.7, 13.4 and 20.7 GB/s. Reading is easily shared, stretch by stretch.
//! Cutting seems hard to share, because a block's end depends on the end of the block before; but nearly all of that
//! work is finding the runs, and these do not depend on where blocks end. The reader of a stretch therefore lists its
//! runs, and only a walk along these lists remains sequential.
//!
//! A block's text is not copied either: it stays a part of one or two stretches until a station assembles it. Its runs
//! go with it, so that the thread of a lane need not search for them again.

use super::readers::{Look, Stretch};
use crate::block::{MAX_PLAIN_TEXT, SharedBytes, Text};
use crate::codec::run_length::{self, Run};
use crate::crc::Crc;
use crate::formats::bzip2::header::MAX_RUN as MAX_TOKEN;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

/// The runs of four or more equal bytes in a stretch. The last run is listed whatever its length, because it may go on.
pub(crate) struct Runs {
    runs: Vec<Run>,
    /// All runs that begin before this position are listed.
    at: usize,
    /// If the run that begins at `at` may go on: the position up to which it has been seen. Otherwise 0. (Without this
    /// a stretch of zeros would be searched from its beginning after each read: 1 GB of zeros took 1.09 s with three
    /// readers on two cores, now 0.73 s.)
    open_to: usize,
}

impl Runs {
    /// Lists the runs that end within these first bytes of the stretch.
    fn list(&mut self, bytes: &[u8]) {
        if self.open_to == 0 {
            self.at = run_length::list_runs(bytes, self.at, &mut self.runs);
        }
        loop {
            let start = match self.open_to {
                0 => match run_length::find_run(bytes, self.at) {
                    Some(start) => start,
                    None => break,
                },
                _ => self.at,
            };
            let mut end = start.max(self.open_to);
            while end < bytes.len() && bytes[end] == bytes[start] {
                end += run_length::run_len(&bytes[end..]);
            }
            if end == bytes.len() {
                (self.at, self.open_to) = (start, end);
                return;
            }
            self.runs.push(Run { start: start as u32, len: (end - start) as u32 });
            (self.at, self.open_to) = (end, 0);
        }
        self.at = self.at.max(bytes.len().saturating_sub(3));
    }
}

impl Look for Runs {
    const LOOK_AHEAD: usize = 0;

    fn new(stretch: usize) -> Self {
        Runs { runs: Vec::with_capacity(stretch / 64), at: 0, open_to: 0 }
    }

    fn look(&mut self, bytes: &[u8], whole: bool) {
        self.list(bytes);
        if let Some(last) = bytes.last().filter(|_| whole) {
            let start = if self.open_to > 0 {
                self.at
            } else {
                // The last run has fewer than four bytes.
                let rest = &bytes[self.runs.last().map_or(0, |run| (run.start + run.len) as usize)..];
                bytes.len() - rest.iter().rev().take_while(|byte| *byte == last).count()
            };
            self.runs.push(Run { start: start as u32, len: (bytes.len() - start) as u32 });
        }
    }
}

/// The run-length-coded beginning of a block.
struct CodedText {
    coded: Vec<u8>,
    len: u64,
    crc: Crc,
}

impl CodedText {
    fn new() -> Self {
        CodedText { coded: Vec::new(), len: 0, crc: Crc::new() }
    }

    /// Adds whole tokens.
    fn add(&mut self, text: &[u8]) {
        run_length::encode(text, &mut self.coded);
        self.len += text.len() as u64;
        self.crc.update(text);
    }

    fn finish(self) -> Text {
        Text::RunLength { coded: self.coded, len: self.len, crc: self.crc.finish() }
    }
}

/// Cuts stretches into blocks. Positions are counted from the first stretch's first byte.
#[derive(Default)]
pub(super) struct Cutter {
    /// The run-length-coded size at which a block ends.
    limit: usize,
    /// The stretches that contain the open block, and the position of each.
    held: VecDeque<(u64, Arc<Vec<u8>>)>,
    /// The start of the open block's text that is not in `coded` yet.
    begin: u64,
    /// The start of the first token that is not counted in `size`.
    token: u64,
    /// The coded size of the open block's whole tokens.
    size: usize,
    /// The length of the run that begins at `token`, if it may go on in the next stretch; otherwise 0.
    open: u64,
    /// The runs between `begin` and `token`, cut every 255 bytes; positions are counted from `begin`.
    runs: Vec<Run>,
    /// The beginning of the open block, if it is mostly runs.
    coded: Option<CodedText>,
    /// The texts of complete blocks, and their runs, if these are listed.
    pub ready: VecDeque<(Text, Option<Vec<Run>>)>,
}

impl Cutter {
    pub fn new(limit: usize) -> Cutter {
        Cutter { limit, ..Cutter::default() }
    }

    /// The number of bytes that would fill the open block, if they had no runs.
    pub fn left(&self) -> usize {
        self.limit - self.size
    }

    pub fn add(&mut self, Stretch { bytes, found: Runs { runs, .. } }: Stretch<Runs>) {
        let before = self.held.back().and_then(|(start, bytes)| Some((start + bytes.len() as u64, *bytes.last()?)));
        let (start, last) = before.unwrap_or_default();
        self.held.push_back((start, Arc::clone(&bytes)));
        let mut runs = &runs[..];
        let mut from = 0;
        if self.open > 0 && bytes.first() == Some(&last) {
            // A run of four or more is in the list; the end of a shorter run is near.
            let listed = runs.first().filter(|run| run.start == 0).map(|run| run.len as usize);
            runs = &runs[usize::from(listed.is_some())..];
            from = listed.unwrap_or_else(|| bytes.iter().take_while(|byte| **byte == last).count());
            self.open += from as u64;
        }
        let goes_on = from == bytes.len();
        self.run(self.open, goes_on);
        while !runs.is_empty() {
            runs = &runs[self.runs_within(&runs[..runs.len() - 1], &mut from)..];
            let Some(Run { start, len }) = runs.split_off_first().copied() else { break };
            self.plain(&bytes[from..start as usize]);
            self.run(len.into(), runs.is_empty());
            from = (start + len) as usize;
        }
        if self.token - self.begin >= MAX_PLAIN_TEXT as u64 {
            let text = Self::joined(&self.parts());
            self.coded.get_or_insert_with(CodedText::new).add(&text);
            self.begin = self.token;
            self.runs.clear();
            self.drop_stretches();
        }
    }

    /// Adds runs that are single tokens, each with the bytes before it, up to the first run with which the block may
    /// end. Returns their number, and moves `from` to the end of the last. (Adding each run alone took the cutting
    /// thread 0.115 ns a byte of a tar of sources, and two H200s waited for it; now 0.01.)
    fn runs_within(&mut self, runs: &[Run], from: &mut usize) -> usize {
        // The byte of the stretch at which the block would be full if no more runs came; each run moves it by the
        // bytes that coding saves.
        let mut full = (*from + self.limit - self.size) as i64;
        let within = runs.iter().take_while(|run| {
            let is_within = run.len as usize <= MAX_TOKEN && i64::from(run.start) + 5 < full;
            full += if is_within { i64::from(run.len) - 5 } else { 0 };
            is_within
        });
        let count = within.count();
        if let Some(last) = runs[..count].last() {
            let end = (last.start + last.len) as usize;
            let shift = ((self.token - self.begin) as u32).wrapping_sub(*from as u32);
            let moved = |run: &Run| Run { start: run.start.wrapping_add(shift), len: run.len };
            self.runs.extend(runs[..count].iter().map(moved));
            self.token += (end - *from) as u64;
            self.size = self.limit - (full - end as i64) as usize;
            *from = end;
        }
        count
    }

    /// Adds tokens that are all shorter than 4.
    fn plain(&mut self, mut text: &[u8]) {
        while text.len() >= self.limit - self.size {
            // All bytes up to `end` can be added in one step, and then the bytes up to the end of the token that
            // contains the last of them.
            let mut end = self.limit - self.size;
            while end < text.len() && text[end] == text[end - 1] {
                end += 1;
            }
            self.token += end as u64;
            text = &text[end..];
            self.close();
        }
        self.size += text.len();
        self.token += text.len() as u64;
    }

    /// Adds the tokens of a run; if the run may go on, only its complete tokens.
    fn run(&mut self, mut len: u64, may_go_on: bool) {
        while len >= MAX_TOKEN as u64 || len > 0 && !may_go_on {
            let token = len.min(MAX_TOKEN as u64);
            if token >= 4 {
                self.runs.push(Run { start: (self.token - self.begin) as u32, len: token as u32 });
            }
            self.size += if token < 4 { token as usize } else { 5 };
            self.token += token;
            len -= token;
            if self.size >= self.limit {
                self.close();
            }
        }
        self.open = len;
    }

    /// The text from `begin` to `token`.
    fn parts(&self) -> Vec<SharedBytes> {
        let part = |(start, bytes): &(u64, Arc<Vec<u8>>)| {
            let clamp = |at: u64| (at.max(*start) - start).min(bytes.len() as u64) as usize;
            SharedBytes { bytes: Arc::clone(bytes), range: clamp(self.begin)..clamp(self.token) }
        };
        self.held.iter().map(part).filter(|part| !part.range.is_empty()).collect()
    }

    fn joined(parts: &[SharedBytes]) -> Vec<u8> {
        parts.iter().flat_map(|part| part.iter()).copied().collect()
    }

    /// Ends the open block at `token`; the text after it opens the next block.
    fn close(&mut self) {
        let parts = self.parts();
        let next = Vec::with_capacity(self.runs.len());
        let runs = mem::replace(&mut self.runs, next);
        let block = match self.coded.take() {
            None => (Text::Parts(parts), Some(runs)),
            Some(mut coded) => {
                coded.add(&Self::joined(&parts));
                (coded.finish(), None)
            }
        };
        self.begin = self.token;
        self.size = 0;
        self.drop_stretches();
        self.ready.push_back(block);
    }

    /// Drops the stretches before `begin`, except the last one, whose last byte may still be needed.
    fn drop_stretches(&mut self) {
        while let [(start, bytes), _, ..] = self.held.make_contiguous()
            && *start + bytes.len() as u64 <= self.begin
        {
            self.held.pop_front();
        }
    }

    /// Takes back the text of the open block if that begins within the last stretch, so that most blocks are a single
    /// part: joining two takes 0.3 to 2 % of the time of encoding.
    pub fn take_back(&mut self) -> Option<SharedBytes> {
        let (start, bytes) = self.held.back().filter(|(start, _)| *start < self.begin && self.coded.is_none())?;
        let range = (self.begin - start) as usize..bytes.len();
        let rest = SharedBytes { bytes: Arc::clone(bytes), range };
        *self = Cutter { ready: mem::take(&mut self.ready), ..Cutter::new(self.limit) };
        Some(rest)
    }

    /// Ends the open block.
    pub fn finish(&mut self) {
        self.run(self.open, false);
        if self.token > self.begin || self.coded.is_some() {
            self.close();
        }
    }
}

/// The maximum number of stretches that each of several readers may be ahead. Their stretches are taken in turn, so a
/// reader that waits for a hardware thread makes all others wait. On two H100s with 32 cores, lanes got 7 blocks a
/// batch with one stretch ahead and 16 with 16, and 24 GB took 7.2 to 8.0 s and 6.3 to 7.2.
pub(super) const MAX_AHEAD: u64 = 16;

#[cfg(test)]
mod tests {
    use super::super::readers::Readers;
    use super::super::split::tests::check_blocks;
    use super::*;
    use crate::read_at::ReadAt;
    use hybz_testkit::rounds;
    use hybz_testkit::shapes::{Rng, SHAPES};
    use std::io;

    /// A file whose reads return less than requested, as on some file systems.
    struct Steps(Vec<u8>);

    impl ReadAt for Steps {
        fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
            let n = self.0.read_at(buf, offset)?;
            Ok(n - n / 3)
        }
        fn len(&self) -> u64 {
            self.0.len() as u64
        }
    }

    /// The blocks, whose runs must be those that a search finds.
    fn cut(text: &[u8], limit: usize, stretch: usize, readers: usize) -> Vec<Text> {
        let file: Arc<dyn ReadAt> = Arc::new(Steps(text.to_vec()));
        let mut readers = Readers::start(&file, 0, readers, 1 + readers % 2, stretch).unwrap();
        let mut cutter = Cutter::new(limit);
        while let Some(next) = readers.next() {
            cutter.add(next.unwrap());
        }
        cutter.finish();
        let ready = cutter.ready.into_iter().map(|(text, runs)| {
            let found = text.plain(&mut Vec::new()).map(|plain| run_length::encode::runs(plain).collect());
            assert!(runs == found);
            text
        });
        ready.collect()
    }

    #[test]
    fn shapes_and_random_runs() {
        assert!(cut(b"", 100, 10, 2).is_empty());
        let mut rng = Rng(16);
        for shape in SHAPES {
            let text = (shape.make)(30_000);
            for stretch in [1000, 4096, 40_000] {
                check_blocks(&text, 981, &cut(&text, 981, stretch, 3));
            }
        }
        for round in 0..rounds(120, 300) {
            let mut text = Vec::new();
            // A stretch is handed from thread to thread: a long text in small stretches is mostly thread switches.
            let stretch = [1, 2, 3, 7, 64, 1000][round % 6];
            while text.len() < if stretch < 8 { 300 } else { 3000 } {
                let longest = if rng.below(3) == 0 { 300 } else { 6 };
                text.extend(std::iter::repeat_n(rng.below(3) as u8, rng.below(longest)));
            }
            let limit = 20 + if stretch < 8 { round % 120 } else { round % 700 };
            check_blocks(&text, limit, &cut(&text, limit, stretch, 1 + round % 4));
        }
    }
}
