//! `BZ2_bzCompress`: the state machine of coding, with the same results as bzip2's library, call by call.
//!
//! A block is coded when it is full, or when a flush or the end of the stream asks for it; then its bytes are handed
//! out, and only then is more text taken. bzip2's library keeps up to three bytes of a block's end for the next write,
//! and so does this one.

use crate::ahead::CodedAhead;
use crate::alloc::{Memory, NoMemory};
use crate::input::Input;
use crate::stream::*;
use hybz::Level;
use hybz::internals::bits::{BitWriter, append_bits};
use hybz::internals::codec::Encoder;
use hybz::internals::crc::combine;
use hybz::internals::formats::bzip2::{write_stream_end, write_stream_header};
use std::ffi::c_int;

/// What the calls so far have asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Running,
    Flushing,
    Finishing,
    Ended,
}

/// The state of a stream that is coded.
pub struct Coder {
    /// The stream that it belongs to: a copy of `bz_stream` is not that stream.
    pub owner: *mut Stream,
    memory: Memory,
    level: Level,
    verbosity: c_int,
    mode: Mode,
    /// The input that a flush, or the end, still has to take.
    expected: u32,
    input: Input,
    encoder: Option<Encoder>,
    out: BitWriter,
    /// Whether bytes of `out` are being handed out: no input is taken.
    emptying: bool,
    /// How many bytes of `out` may be handed out, and how many have been.
    ready: usize,
    given: usize,
    /// The number of the block, counted from 1 as in bzip2: a flush without text counts.
    block: u64,
    combined: u32,
    /// Blocks that threads code, if there may be threads.
    ahead: Option<CodedAhead>,
}

impl Coder {
    /// The state of a new stream.
    pub fn new(owner: *mut Stream, memory: Memory, level: Level, verbosity: c_int) -> Self {
        let ahead = CodedAhead::new();
        // Threads must not call the caller's `bzalloc`, which may not be made for threads.
        let memory = if ahead.is_some() { Memory::MALLOC } else { memory };
        let input = Input::new(level.block_limit() as usize - 19);
        Coder {
            owner,
            memory,
            level,
            verbosity,
            mode: Mode::Running,
            expected: 0,
            input,
            encoder: None,
            out: BitWriter::new(),
            emptying: false,
            ready: 0,
            given: 0,
            block: 1,
            combined: 0,
            ahead,
        }
    }

    /// One call.
    pub fn call(&mut self, stream: &mut Stream, action: c_int) -> c_int {
        match (self.mode, action) {
            (Mode::Ended, _) => return BZ_SEQUENCE_ERROR,
            (Mode::Running, BZ_RUN) => {
                return match self.work(stream) {
                    Ok(true) => BZ_RUN_OK,
                    Ok(false) => BZ_PARAM_ERROR,
                    Err(NoMemory) => BZ_MEM_ERROR,
                };
            }
            (Mode::Running, BZ_FLUSH | BZ_FINISH) => {
                self.expected = stream.avail_in;
                self.mode = if action == BZ_FLUSH { Mode::Flushing } else { Mode::Finishing };
            }
            (Mode::Running, _) => return BZ_PARAM_ERROR,
            (Mode::Flushing, BZ_FLUSH) | (Mode::Finishing, BZ_FINISH) => {}
            _ => return BZ_SEQUENCE_ERROR,
        }
        if self.expected != stream.avail_in {
            return BZ_SEQUENCE_ERROR;
        }
        let Ok(progress) = self.work(stream) else { return BZ_MEM_ERROR };
        let finishing = self.mode == Mode::Finishing;
        if finishing && !progress {
            return BZ_SEQUENCE_ERROR;
        }
        if !self.is_drained() || self.given < self.ready {
            return if finishing { BZ_FINISH_OK } else { BZ_FLUSH_OK };
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.go_on();
        }
        self.mode = if finishing { Mode::Ended } else { Mode::Running };
        if finishing { BZ_STREAM_END } else { BZ_RUN_OK }
    }

    /// Whether all text before a flush, or before the end, is in coded blocks.
    fn is_drained(&self) -> bool {
        self.expected == 0 && self.input.is_drained() && self.ahead.as_ref().is_none_or(CodedAhead::is_empty)
    }

    /// Takes as much text, and hands out as many bytes, as possible. Returns whether there were any.
    fn work(&mut self, stream: &mut Stream) -> Result<bool, NoMemory> {
        if self.ahead.is_some() {
            return self.work_ahead(stream);
        }
        let mut progress = false;
        loop {
            if self.emptying {
                progress |= self.hand_out(stream);
                if self.given < self.ready || self.mode == Mode::Finishing && self.is_drained() {
                    return Ok(progress);
                }
                self.out.drop_first(self.ready);
                (self.ready, self.given) = (0, 0);
                self.block += 1;
                self.emptying = false;
                if self.mode == Mode::Flushing && self.is_drained() {
                    return Ok(progress);
                }
            }
            progress |= self.take(stream)?;
            if self.mode != Mode::Running && self.expected == 0 {
                self.reserve_block()?;
                self.input.drain();
                self.code(self.mode == Mode::Finishing);
            } else if self.input.is_full() {
                self.reserve_block()?;
                self.code(false);
            } else if stream.avail_in == 0 {
                return Ok(progress);
            }
        }
    }

    /// Hands out coded bytes. Returns false if there are none, or the caller's buffer is full.
    fn hand_out(&mut self, stream: &mut Stream) -> bool {
        let bytes = &self.out.whole_bytes()[self.given..self.ready];
        let count = stream.put(bytes);
        self.given += count;
        count > 0
    }

    /// Takes text until the block is full. Returns whether it has taken any.
    fn take(&mut self, stream: &mut Stream) -> Result<bool, NoMemory> {
        let mut text = stream.input();
        if self.mode != Mode::Running {
            text = &text[..text.len().min(self.expected as usize)];
        }
        if text.is_empty() || self.input.is_full() {
            return Ok(false);
        }
        let block = &mut self.input;
        let missing = block.len_after(text.len()).saturating_sub(block.block.len());
        self.memory.window(|| block.block.try_reserve(missing)).map_err(|_| NoMemory)?;
        let taken = block.take(text) as u32;
        stream.skip_input(taken.into());
        if self.mode != Mode::Running {
            self.expected -= taken;
        }
        Ok(taken > 0)
    }

    /// Reserves all the memory that coding the block takes, before anything changes.
    fn reserve_block(&mut self) -> Result<(), NoMemory> {
        // A run that is held back may add five bytes.
        let len = self.input.block.len() + 5;
        let encoder = self.encoder.get_or_insert_with(Encoder::reservable);
        let (block, out) = (&mut self.input.block, &mut self.out);
        self.memory
            .window(|| {
                block.try_reserve_exact(len + 5)?;
                // The codes are shorter than the block, or hardly longer.
                out.try_reserve((len + len / 32 + 64) as u64 * 8)?;
                encoder.try_reserve(len)
            })
            .map_err(|_| NoMemory)
    }

    /// Codes the block, which may be empty, and the end of the stream after it.
    fn code(&mut self, is_last: bool) {
        let mut held_back = self.begin_block();
        let len = self.input.block.len();
        let crc = self.input.take_crc();
        if len > 0 {
            self.count_block(crc, len);
            let encoder = self.encoder.get_or_insert_with(Encoder::reservable);
            held_back = encoder.append(&mut self.input.block, crc, &mut self.out);
            self.input.block.clear();
        }
        self.end_block(is_last, held_back);
        self.emptying = true;
    }

    /// Begins the stream before its first block. Returns the bits that are held back.
    fn begin_block(&mut self) -> u32 {
        if self.block > 1 {
            return 0;
        }
        write_stream_header(&mut self.out, self.level);
        8
    }

    /// Counts the next block.
    fn count_block(&mut self, crc: u32, len: usize) {
        self.combined = combine(self.combined, crc);
        if self.verbosity >= 2 {
            let Coder { block, combined, .. } = self;
            say!("    block {block}: crc = 0x{crc:08x}, combined CRC = 0x{combined:08x}, size = {len}\n");
        }
    }

    /// From now on all bits that have been written may be handed out, except those that are held back.
    fn end_block(&mut self, is_last: bool, mut held_back: u32) {
        if is_last {
            write_stream_end(&mut self.out, self.combined);
            if self.verbosity >= 2 {
                say!("    final combined CRC = 0x{:08x}\n   ", self.combined);
            }
            self.out.align();
            held_back = 0;
        }
        // If nothing was written, bytes that were held back stay held back.
        let changed = held_back > 0 || is_last;
        self.ready = if changed { ((self.out.bit_len() - u64::from(held_back)) / 8) as usize } else { 0 };
        self.given = 0;
    }

    /// The same as `work`, with blocks that threads code: their bytes come later, but in order, and a flush or the end
    /// waits for all of them.
    fn work_ahead(&mut self, stream: &mut Stream) -> Result<bool, NoMemory> {
        let mut progress = false;
        loop {
            if self.given < self.ready {
                progress |= self.hand_out(stream);
            }
            let has_room = self.given == self.ready;
            if has_room {
                self.out.drop_first(self.ready);
                (self.ready, self.given) = (0, 0);
            }
            let Some(ahead) = &mut self.ahead else { return Ok(progress) };
            if has_room && ahead.is_next_due() {
                let next = ahead.next()?;
                let mut held_back = self.begin_block();
                if let Some(coded) = next {
                    self.count_block(coded.crc, coded.len);
                    append_bits(&mut self.out, &coded.bytes, coded.bits);
                    held_back = coded.last_code;
                }
                self.block += 1;
                let ended = self.mode == Mode::Finishing
                    && self.ahead.as_ref().is_some_and(|ahead| ahead.takes_no_more() && ahead.is_empty());
                self.end_block(ended, held_back);
                continue;
            }
            if ahead.takes_no_more() || ahead.is_full() {
                return Ok(progress);
            }
            progress |= self.take(stream)?;
            let all = self.mode != Mode::Running && self.expected == 0;
            if all {
                self.input.block.try_reserve(5).map_err(|_| NoMemory)?;
                self.input.drain();
            }
            if all || self.input.is_full() {
                let crc = self.input.take_crc();
                let block = std::mem::take(&mut self.input.block);
                if let Some(ahead) = &mut self.ahead {
                    ahead.push(block, crc, all);
                }
            } else if stream.avail_in == 0 {
                return Ok(progress);
            }
        }
    }
}
