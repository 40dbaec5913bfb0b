//! How a CPU core sorts: one job at a time.

use super::local::{Entry, LocalSort};
use super::partition::{Partitioner, partition_strings};
use super::text::Ends;
use super::verify;
use super::work::{
    LineJob, Lines, PARTITION, Parted, PartedStrings, PartitionChunk, PartitionStrings, RangeText, RankPart, RankText,
};
use crate::schedule::{Class, Station, StationError, Work};

impl Work for Lines {
    type Job = LineJob;
    const CLASSES: usize = 4;

    fn core(&self, number: usize) -> Box<dyn Station<LineJob>> {
        Box::new(Core::new(number))
    }

    fn after_fork(&self) -> Self {
        Lines
    }

    fn core_rate(&self, class: Class) -> f64 {
        if class == PARTITION { 500e6 } else { 80e6 }
    }

    /// Two ranges on their way.
    fn memory_per_core(&self) -> u64 {
        32 << 20
    }
}

/// A CPU core. Its memory is that of the largest range so far.
#[derive(Debug, Default)]
pub struct Core {
    number: usize,
    partitioner: Partitioner,
    sort: LocalSort,
    entries: Vec<Entry>,
    text: Vec<u8>,
}

impl Core {
    /// The station `cpu <number>`.
    pub fn new(number: usize) -> Core {
        Core { number, ..Core::default() }
    }

    /// Puts the lines of a chunk where their ranges are.
    pub fn partition(&mut self, question: &PartitionChunk) -> Parted {
        self.partitioner.partition(question.chunk.bytes(), question.end, &question.splitters, question.keep)
    }

    /// Sorts a range.
    pub fn sort(&mut self, range: &RangeText) -> Vec<u8> {
        let Core { sort, entries, text, partitioner, number } = self;
        let text = match &range.pieces[..] {
            [piece] if range.stored.is_none() => piece.bytes(),
            pieces => {
                text.clear();
                pieces.iter().for_each(|piece| text.extend_from_slice(piece.bytes()));
                if let Some(stored) = &range.stored {
                    stored.text.append(stored.bucket, *number, partitioner, text);
                }
                text
            }
        };
        entries.clear();
        let mut start = 0;
        for at in Ends::new(text, range.order.end_byte()) {
            entries.push(Entry { key: 0, at: start as u32, len: (at - start) as u32 });
            start = at + 1;
        }
        sort.sort(text, entries, range.common_prefix, false);
        let mut out = Out { bytes: vec![0; text.len() + SPARE], len: 0 };
        if range.order.is_reverse() {
            entries.iter().rev().for_each(|entry| out.push(text, entry));
        } else {
            entries.iter().for_each(|entry| out.push(text, entry));
        }
        out.bytes.truncate(out.len);
        out.bytes
    }

    /// Says which strings are in which range.
    pub fn partition_strings(&mut self, question: &PartitionStrings) -> PartedStrings {
        partition_strings(&question.strings, &question.splitters)
    }

    /// Sorts strings: their numbers in order.
    pub fn rank(&mut self, range: &RankText) -> Vec<u64> {
        let Core { sort, entries, text, .. } = self;
        text.clear();
        entries.clear();
        let mut numbers = Vec::new();
        for (number, string) in range.parts.iter().flat_map(RankPart::iter) {
            // Before each string its index here, which is found again by the place of the string.
            text.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
            entries.push(Entry { key: 0, at: text.len() as u32, len: string.len() as u32 });
            text.extend_from_slice(string);
            numbers.push(number);
        }
        sort.sort(text, entries, range.common_prefix, true);
        let number = |entry: &Entry| {
            let index = text[..entry.at as usize].last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            numbers[index as usize]
        };
        if range.order.is_reverse() {
            let line = |entry: &Entry| &text[entry.at as usize..entry.at as usize + entry.len as usize];
            let equal = entries.chunk_by(|a, b| line(a) == line(b));
            equal.rev().flat_map(|equal| equal.iter().map(number)).collect()
        } else {
            entries.iter().map(number).collect()
        }
    }

    fn one(&mut self, job: &mut LineJob) {
        match job {
            LineJob::Partition(job) => {
                let parted = self.partition(job.question());
                job.answer(Parted { own: true, ..parted });
            }
            LineJob::Sort(job) => {
                let sorted = self.sort(&job.question().range);
                job.answer(sorted.into());
            }
            LineJob::Rank(job) => {
                let numbers = self.rank(&job.question().range);
                job.answer(numbers);
            }
            LineJob::PartitionStrings(job) => {
                let parted = self.partition_strings(job.question());
                job.answer(PartedStrings { own: true, ..parted });
            }
            LineJob::CheckStrings(job) => {
                let answer = std::mem::take(&mut job.question_mut().answer);
                let verdict = verify::strings(&job.question().question, &answer);
                job.answer((answer, verdict));
            }
            LineJob::CheckChunk(job) => {
                let answer = std::mem::take(&mut job.question_mut().answer);
                let verdict = verify::chunk(&job.question().question, &answer);
                job.answer((answer, verdict));
            }
            LineJob::CheckRange(job) => {
                let mut answer = std::mem::take(&mut job.question_mut().answer);
                let verdict = verify::range(&job.question().question.range, &mut answer);
                job.answer((answer, verdict));
            }
            // No lane does these: then nothing is kept.
            LineJob::Keep(job) => job.answer(None),
            LineJob::Store(job) => job.answer(false),
            LineJob::SortStored(job) => {
                let sorted = self.sort(&job.question().range);
                job.answer(sorted.into());
            }
            LineJob::CheckStored(job) => {
                let mut answer = std::mem::take(&mut job.question_mut().answer);
                let verdict = verify::range(&job.question().question.range, &mut answer);
                job.answer((answer, verdict));
            }
            LineJob::CheckRanks(job) => {
                let answer = std::mem::take(&mut job.question_mut().answer);
                let verdict = verify::ranks(&job.question().question.range, &answer);
                job.answer((answer, verdict));
            }
        }
    }
}

impl Station<LineJob> for Core {
    fn name(&self) -> String {
        format!("cpu {}", self.number)
    }

    fn work(&mut self, batch: &mut [LineJob]) -> Result<(), StationError> {
        batch.iter_mut().for_each(|job| self.one(job));
        Ok(())
    }
}

/// So many bytes more than its lines has [`Out`].
const SPARE: usize = 32;

/// Sorted text.
struct Out {
    bytes: Vec<u8>,
    len: usize,
}

impl Out {
    /// Appends a line with its end. A short line is copied as if it had 16 or 32 bytes, and what is too much is
    /// overwritten by the next one: to call a copy of any length takes longer than to copy.
    fn push(&mut self, text: &[u8], entry: &Entry) {
        let (at, len) = (entry.at as usize, entry.len as usize + 1);
        let to = self.len;
        self.len += len;
        if len <= 32 && at + 32 <= text.len() {
            self.bytes[to..to + 16].copy_from_slice(&text[at..at + 16]);
            if len > 16 {
                self.bytes[to + 16..to + 32].copy_from_slice(&text[at + 16..at + 32]);
            }
        } else {
            self.bytes[to..to + len].copy_from_slice(&text[at..at + len]);
        }
    }
}
