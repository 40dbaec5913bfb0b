//! Blocks that threads code or decode before their bytes are handed to the caller.

use crate::alloc::{Memory, NoMemory};
use crate::crew::{Job, Tools, Work, submit, threads};
use crate::fast::Fast;
use crate::header::{HeaderReader, Step};
use hybz::internals::bits::{BitSource, BitWriter, SliceBits};
use hybz::internals::codec::header::Bz2BlockHeader;
use hybz::internals::codec::{Encoder, find_magic};
use std::collections::VecDeque;
use std::sync::Arc;

/// The most jobs in the queue, for each thread.
const JOBS: usize = 2;
/// The length of a magic in bits.
const MAGIC: u64 = 48;
/// Less input than this is not searched for blocks.
const LARGE: usize = 64 << 10;

/// A block to be coded, which is run-length-coded already.
pub struct CodeBlock {
    block: Vec<u8>,
    crc: u32,
}

/// A coded block.
pub struct Coded {
    /// The CRC of its text.
    pub crc: u32,
    /// The length of the run-length-coded block.
    pub len: usize,
    /// The bits, from the highest one of the first byte on.
    pub bytes: Vec<u8>,
    /// The number of bits.
    pub bits: u64,
    /// The length of the block's last code.
    pub last_code: u32,
}

impl Work for CodeBlock {
    type Output = Option<Coded>;

    /// `None` without memory.
    fn run(&self, tools: &mut Tools) -> Option<Coded> {
        let Tools { encoder, block, .. } = tools;
        let encoder = encoder.get_or_insert_with(Encoder::reservable);
        let len = self.block.len();
        let mut out = BitWriter::new();
        block.clear();
        // The encoder asks for twice the block's length. The codes are hardly longer than the block.
        block.try_reserve(2 * len + 16).ok()?;
        out.try_reserve((len + len / 32 + 64) as u64 * 8).ok()?;
        encoder.try_reserve(len).ok()?;
        block.extend_from_slice(&self.block);
        let last_code = encoder.append(block, self.crc, &mut out);
        let bits = out.bit_len();
        Some(Coded { crc: self.crc, len, bytes: out.finish(), bits, last_code })
    }
}

/// Blocks that are being coded, in order.
pub struct CodedAhead {
    /// `None`: a flush, or the end, without text.
    jobs: VecDeque<Option<Arc<Job<CodeBlock>>>>,
    /// How many of them have been handed to the threads.
    submitted: usize,
    /// All text before a flush, or before the end, has been added.
    complete: bool,
    tools: Tools,
}

impl CodedAhead {
    /// `None` if the library may use only one thread.
    pub fn new() -> Option<Self> {
        (threads() > 1).then(|| CodedAhead {
            jobs: VecDeque::new(),
            submitted: 0,
            complete: false,
            tools: Tools::default(),
        })
    }

    /// Whether all blocks are coded and taken.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Whether no more blocks may be added before some are taken.
    pub fn is_full(&self) -> bool {
        self.jobs.len() >= JOBS * threads()
    }

    /// Whether all text before a flush, or before the end, has been added.
    pub fn takes_no_more(&self) -> bool {
        self.complete
    }

    /// The flush is over.
    pub fn go_on(&mut self) {
        self.complete = false;
    }

    /// Adds a block; `complete` says that it is the last one of a flush, or of the stream.
    pub fn push(&mut self, block: Vec<u8>, crc: u32, complete: bool) {
        self.complete = complete;
        self.jobs.push_back((!block.is_empty()).then(|| Job::new(CodeBlock { block, crc })));
        // If there is only one block, the caller's thread codes it.
        if self.jobs.len() > 1 {
            self.jobs.range(self.submitted..).flatten().for_each(submit);
            self.submitted = self.jobs.len();
        }
    }

    /// Whether the first block is to be taken now: it is coded, or nothing can go on without it.
    pub fn is_next_due(&self) -> bool {
        let is_done = |job: &Option<Arc<Job<_>>>| job.as_ref().is_none_or(|job| job.is_done());
        self.jobs.front().is_some_and(|first| self.complete || self.is_full() || is_done(first))
    }

    /// Takes the first block, when it is coded. `None`: a flush without text.
    pub fn next(&mut self) -> Result<Option<Coded>, NoMemory> {
        let coded = match self.jobs.front() {
            Some(Some(job)) => Some(job.wait(&mut self.tools).ok_or(NoMemory)?),
            _ => None,
        };
        self.jobs.pop_front();
        self.submitted = self.submitted.saturating_sub(1);
        Ok(coded)
    }
}

impl Drop for CodedAhead {
    fn drop(&mut self) {
        self.jobs.iter().flatten().for_each(|job| job.cancel());
    }
}

/// A block to be decoded.
pub struct DecodeBlock {
    /// The bytes that have its bits, and the number of its first bit in them.
    data: Vec<u8>,
    start: u64,
    limit: u32,
}

/// A decoded block whose CRC is right.
pub struct Decoded {
    /// Its text.
    pub text: Vec<u8>,
    /// The CRC.
    pub crc: u32,
    /// The bit after its last one.
    pub end: u64,
}

impl Work for DecodeBlock {
    type Output = Option<Decoded>;

    /// `None` if the block is irregular in any way, or there is no memory: the caller's thread decides.
    fn run(&self, tools: &mut Tools) -> Option<Decoded> {
        let fast = tools.fast.get_or_insert_with(Fast::new);
        let mut header = Bz2BlockHeader::default();
        let mut reader = HeaderReader::default();
        let mut bits = SliceBits::new(&self.data, self.start, u64::MAX);
        loop {
            match reader.step(&mut bits, &mut header, self.limit) {
                Step::Going => {}
                Step::Block => break,
                Step::Starved | Step::End(_) | Step::Damaged => return None,
            }
        }
        let mut end = bits.position();
        fast.begin(&header, self.limit, Memory::MALLOC).goes_on()?;
        fast.read(&header, &self.data, &mut end).completes()?;
        fast.make_text(&header, Memory::MALLOC).completes()?;
        Some(Decoded { text: fast.take_text(), crc: header.crc, end })
    }
}

/// A block that is being decoded.
struct Entry {
    /// Its first bit, counted from the stream's first one.
    start: u64,
    job: Arc<Job<DecodeBlock>>,
}

/// What the caller has of the stream: the input of a call, and before it the byte in which a block begins, if that was
/// taken by an earlier call.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// That byte, or nothing.
    pub before: &'a [u8],
    /// The input.
    pub input: &'a [u8],
    /// The number of the first bit of both, counted from the stream's first one.
    pub first: u64,
}

impl View<'_> {
    /// The bytes from bit `from` to the one with bit `to - 1`, which are all there.
    fn bytes(&self, from: u64, to: u64) -> Option<Vec<u8>> {
        let (from, to) = (((from - self.first) / 8) as usize, (to - self.first).div_ceil(8) as usize);
        let split = self.before.len();
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(to - from).ok()?;
        bytes.extend_from_slice(&self.before[from.min(split)..to.min(split)]);
        bytes.extend_from_slice(&self.input[from.max(split) - split..to.max(split) - split]);
        Some(bytes)
    }

    /// Whether the bytes at bit `from` equal `bytes`.
    fn begins(&self, from: u64, bytes: &[u8]) -> bool {
        let from = ((from - self.first) / 8) as usize;
        let before = &self.before[from.min(self.before.len())..];
        let (head, rest) = bytes.split_at(before.len().min(bytes.len()));
        let at = from.max(self.before.len()) - self.before.len();
        head == &before[..head.len()] && self.input[at..].starts_with(rest)
    }
}

/// Blocks that are being decoded. Each begins at a magic in the input of some call and ends where the next magic is;
/// the chain of blocks decides which magics were real. The caller's input counts as taken only when its text is handed
/// out; until then each call gets it again.
pub struct DecodedAhead {
    entries: VecDeque<Entry>,
    submitted: usize,
    /// The bit where the block begins whose end is being searched for, and the bit from which to search.
    open: u64,
    searched: u64,
    /// The search has met the end of the stream.
    met_end: bool,
    tools: Tools,
}

impl DecodedAhead {
    /// `None` if the library may use only one thread.
    pub fn new() -> Option<Self> {
        (threads() > 1).then(|| DecodedAhead {
            entries: VecDeque::new(),
            submitted: 0,
            open: 0,
            searched: 0,
            met_end: false,
            tools: Tools::default(),
        })
    }

    /// Returns the block that begins at bit `start`, if it was found in time, is regular, and `view` has its bytes.
    pub fn take(&mut self, view: View<'_>, start: u64, limit: u32) -> Option<Decoded> {
        while self.entries.front().is_some_and(|entry| entry.start < start) {
            self.drop_first();
        }
        if self.entries.is_empty() {
            if view.input.len() < LARGE {
                return None;
            }
            (self.open, self.searched, self.met_end) = (start, start + MAGIC, false);
        }
        self.search(view, limit);
        // If there is only one block, the caller's thread decodes it, without a copy.
        if self.submitted == 0 && self.entries.len() < 2 || self.entries.front()?.start != start {
            return None;
        }
        self.entries.range(self.submitted..).for_each(|entry| submit(&entry.job));
        self.submitted = self.entries.len();
        let job = Arc::clone(&self.entries.front()?.job);
        let decoded = job.wait(&mut self.tools);
        self.drop_first();
        let mut decoded = decoded?;
        let data = &job.work().data;
        let used = decoded.end.div_ceil(8) as usize;
        if !view.begins(start, &data[..used]) {
            return None;
        }
        decoded.end += start / 8 * 8;
        Some(decoded)
    }

    fn drop_first(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            entry.job.cancel();
        }
        self.submitted = self.submitted.saturating_sub(1);
    }

    /// Finds blocks whose ends are in the input, until there are enough.
    fn search(&mut self, view: View<'_>, limit: u32) {
        let input = view.first + 8 * view.before.len() as u64;
        let end = input + 8 * view.input.len() as u64;
        while !self.met_end && self.entries.len() < JOBS * threads() && self.open >= view.first {
            let from = self.searched.saturating_sub(input);
            let next = find_magic::find(view.input, from);
            let until = next.map_or(view.input.len(), |next| (next / 8) as usize + 1);
            let last = find_magic::find_end(&view.input[..until], from);
            self.met_end = last.is_some();
            let Some(found) = last.or(next) else {
                self.searched = self.searched.max((end + 1).saturating_sub(MAGIC));
                return;
            };
            let found = input + found;
            let Some(data) = view.bytes(self.open, found) else { return };
            let job = Job::new(DecodeBlock { data, start: self.open % 8, limit });
            self.entries.push_back(Entry { start: self.open, job });
            (self.open, self.searched) = (found, found + MAGIC);
        }
    }
}

impl Drop for DecodedAhead {
    fn drop(&mut self) {
        self.entries.iter().for_each(|entry| entry.job.cancel());
    }
}
