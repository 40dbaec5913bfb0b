//! `BZ2_bzDecompress`: the state machine of decoding.
//!
//! Input is copied block by block into a buffer, and what lies after the block's end is given back to the caller before
//! any text is handed out. So no byte after the end of a stream is ever consumed, and a block is decoded as soon as its
//! last byte is there.

use crate::ahead::{DecodedAhead, View};
use crate::alloc::Memory;
use crate::fast::{Fast, Reading};
use crate::header::{HeaderReader, Step};
use crate::plain::{Failure, Next, Plain};
use crate::stream::*;
use hybz::internals::bits::{BitSource, SliceBits};
use hybz::internals::codec::header::Bz2BlockHeader;
use hybz::internals::crc::{Crc, combine};
use std::ffi::c_int;

/// The sizes in which input is taken: a block's first piece is small, because the block may be small.
const FIRST_PIECE: usize = 4 << 10;
const PIECE: usize = 64 << 10;

/// What comes next.
// The variants may differ in size: a stream has only one value.
#[allow(clippy::large_enum_variant)]
enum Stage {
    /// The stream's header, of which this many bytes have been read.
    Magic(usize),
    Header,
    Codes,
    /// Codes, symbol by symbol.
    PlainCodes(Box<Plain>),
    Text,
    /// Text made piece by piece for the caller's buffer, and its CRC so far.
    PlainText(Box<Plain>, Crc),
    Failed(c_int),
    Ended,
}

/// The state of a stream that is decoded.
pub struct Decoder {
    /// The stream that it belongs to.
    pub owner: *mut Stream,
    memory: Memory,
    verbosity: c_int,
    small: bool,
    stage: Stage,
    /// Bytes taken from the caller in this call: no more can be given back.
    taken: u32,
    /// The max length of a block.
    limit: u32,
    /// Compressed bytes of the block, and the next bit.
    input: Vec<u8>,
    at: u64,
    /// Where the codes of the block begin.
    codes: u64,
    reader: HeaderReader,
    header: Bz2BlockHeader,
    fast: Fast,
    block: u64,
    combined: u32,
    /// How many bytes have been taken since the stream began.
    position: u64,
    /// Blocks that threads decode, if threads are allowed; and whether to look among them for the next block.
    ahead: Option<DecodedAhead>,
    may_look_ahead: bool,
}

impl Decoder {
    /// The state of a new stream.
    pub fn new(owner: *mut Stream, memory: Memory, verbosity: c_int, small: bool) -> Self {
        Decoder {
            owner,
            memory,
            verbosity,
            small,
            stage: Stage::Magic(0),
            taken: 0,
            limit: 0,
            input: Vec::new(),
            at: 0,
            codes: 0,
            reader: HeaderReader::default(),
            header: Bz2BlockHeader::default(),
            fast: Fast::new(),
            block: 0,
            combined: 0,
            position: 0,
            ahead: if small { None } else { DecodedAhead::new() },
            may_look_ahead: false,
        }
    }

    /// One call.
    pub fn call(&mut self, stream: &mut Stream) -> c_int {
        self.taken = 0;
        loop {
            self.take_ahead(stream);
            let starved = match &mut self.stage {
                Stage::Ended => return BZ_SEQUENCE_ERROR,
                Stage::Failed(code) => return *code,
                Stage::Magic(_) => self.magic(),
                Stage::Header => self.header(),
                Stage::Codes => self.codes(),
                Stage::PlainCodes(_) => self.plain_codes(),
                Stage::Text | Stage::PlainText(..) => Ok(false),
            };
            match starved {
                Err(BZ_MEM_ERROR) => return BZ_MEM_ERROR,
                Err(code) => {
                    self.stop(stream);
                    self.stage = if code == BZ_STREAM_END { Stage::Ended } else { Stage::Failed(code) };
                    return self.check_end(code);
                }
                Ok(true) => match self.take(stream) {
                    Ok(true) => {}
                    Ok(false) if self.sees_damage() => self.read_plainly(),
                    Ok(false) => return BZ_OK,
                    Err(code) => return code,
                },
                Ok(false) => {}
            }
            if matches!(self.stage, Stage::Text | Stage::PlainText(..)) {
                self.stop(stream);
                match self.hand_out(stream) {
                    Ok(true) => self.end_block(),
                    Ok(false) => return BZ_OK,
                    Err(code) => self.stage = Stage::Failed(code),
                }
            }
        }
    }

    /// Takes more input. Returns false if there is none.
    fn take(&mut self, stream: &mut Stream) -> Result<bool, c_int> {
        // Only the fast decoder's codes may be read again.
        if !matches!(self.stage, Stage::Codes) {
            self.forget();
        }
        let input = stream.input();
        let piece = if self.input.len() < FIRST_PIECE { FIRST_PIECE } else { PIECE };
        let piece = &input[..input.len().min(piece)];
        let buffer = &mut self.input;
        self.memory.window(|| buffer.try_reserve(piece.len())).map_err(|_| BZ_MEM_ERROR)?;
        buffer.extend_from_slice(piece);
        self.count(stream, piece.len());
        Ok(!piece.is_empty())
    }

    /// Counts `len` bytes of the input as taken.
    fn count(&mut self, stream: &mut Stream, len: usize) {
        stream.skip_input(len as i64);
        self.taken += len as u32;
        self.position += len as u64;
    }

    /// At the start of a block: takes the block if a thread has decoded it, and the caller has its bytes.
    fn take_ahead(&mut self, stream: &mut Stream) {
        if !self.may_look_ahead || !matches!(self.stage, Stage::Header) || stream.avail_in == 0 {
            return;
        }
        self.may_look_ahead = false;
        // Bytes of the header that an earlier call has taken cannot be given back.
        if self.reader.has_begun() {
            return;
        }
        self.stop(stream);
        self.forget();
        let held = self.input.len();
        if held != self.at.div_ceil(8) as usize {
            return;
        }
        let Some(ahead) = &mut self.ahead else { return };
        let first = (self.position - held as u64) * 8;
        let view = View { before: &self.input, input: stream.input(), first };
        let Some(decoded) = ahead.take(view, first + self.at, self.limit) else { return };
        let used = (decoded.end - first).div_ceil(8) as usize;
        let last = stream.input()[used - held - 1];
        self.count(stream, used - held);
        self.at = decoded.end % 8;
        self.input.clear();
        if self.at > 0 {
            self.input.push(last);
        }
        self.header.crc = decoded.crc;
        self.fast.give_text(decoded.text);
        self.block += 1;
        if self.verbosity >= 2 {
            say!("\n    [{}: huff+mtf ", self.block);
        }
        self.begin_text(Stage::Text);
    }

    /// Drops the bytes that have been read.
    fn forget(&mut self) {
        self.input.drain(..(self.at / 8) as usize);
        self.at %= 8;
    }

    /// Gives the bytes after the next bit's byte back to the caller.
    ///
    /// A block's end is found in the call that brings its last byte. But the fast decoder notices damage only when
    /// its group is complete: by then earlier calls may have taken bytes after it, and these stay taken.
    fn stop(&mut self, stream: &mut Stream) {
        let used = self.at.div_ceil(8) as usize;
        let surplus = self.input.len().saturating_sub(used);
        if surplus > 0 {
            let returned = self.taken.min(surplus as u32);
            stream.skip_input(-i64::from(returned));
            self.taken -= returned;
            self.position -= u64::from(returned);
            self.input.truncate(used);
        }
    }

    /// Reads the next byte of the stream's header. Like the other steps, returns whether more input is needed.
    fn magic(&mut self) -> Result<bool, c_int> {
        let Stage::Magic(read) = &mut self.stage else { return Ok(false) };
        let Some(&byte) = self.input.get((self.at / 8) as usize) else { return Ok(true) };
        self.at += 8;
        *read += 1;
        match (*read, byte) {
            (1, b'B') | (2, b'Z') | (3, b'h') => {}
            (4, b'1'..=b'9') => {
                self.limit = u32::from(byte - b'0') * 100_000;
                self.expect_block();
            }
            _ => return Err(BZ_DATA_ERROR_MAGIC),
        }
        Ok(false)
    }

    fn header(&mut self) -> Result<bool, c_int> {
        let mut bits = SliceBits::new(&self.input, self.at, u64::MAX);
        let step = loop {
            match self.reader.step(&mut bits, &mut self.header, self.limit) {
                Step::Going => {}
                step => break step,
            }
        };
        self.at = bits.position();
        match step {
            Step::Starved | Step::Going => return Ok(true),
            Step::Damaged => return Err(BZ_DATA_ERROR),
            Step::End(crc) => {
                self.header.crc = crc;
                return Err(BZ_STREAM_END);
            }
            Step::Block => {}
        }
        self.block += 1;
        if self.verbosity >= 2 {
            say!("\n    [{}: huff+mtf ", self.block);
        }
        self.forget();
        self.codes = self.at;
        if self.small {
            self.stage = Stage::PlainCodes(Box::new(Plain::new(&self.header)));
            return Ok(false);
        }
        match self.fast.begin(&self.header, self.limit, self.memory) {
            Reading::Irregular => self.stage = Stage::PlainCodes(Box::new(Plain::new(&self.header))),
            Reading::NoMemory => return self.fail_memory(),
            _ => self.stage = Stage::Codes,
        }
        Ok(false)
    }

    /// The stream cannot go on from here.
    fn fail_memory(&mut self) -> Result<bool, c_int> {
        self.stage = Stage::Failed(BZ_MEM_ERROR);
        Err(BZ_MEM_ERROR)
    }

    fn codes(&mut self) -> Result<bool, c_int> {
        let mut reading = self.fast.read(&self.header, &self.input, &mut self.at);
        if matches!(reading, Reading::Complete) {
            reading = self.fast.make_text(&self.header, self.memory);
        }
        match reading {
            Reading::Starved => return Ok(true),
            Reading::NoMemory => return self.fail_memory(),
            Reading::Irregular => self.read_plainly(),
            Reading::Complete => self.begin_text(Stage::Text),
        }
        Ok(false)
    }

    /// Whether the codes are damaged where the input ends.
    fn sees_damage(&self) -> bool {
        matches!(self.stage, Stage::Codes) && self.fast.sees_damage(&self.header, &self.input, self.at)
    }

    /// Reads the codes again, symbol by symbol.
    fn read_plainly(&mut self) {
        // They begin in the first byte: `header` has dropped all bytes before.
        self.at = self.codes;
        self.stage = Stage::PlainCodes(Box::new(Plain::new(&self.header)));
    }

    fn plain_codes(&mut self) -> Result<bool, c_int> {
        let Stage::PlainCodes(plain) = &mut self.stage else { return Ok(false) };
        let mut bits = SliceBits::new(&self.input, self.at, u64::MAX);
        let read = plain.read(&mut bits, &self.header, self.limit as usize, self.memory);
        self.at = bits.position();
        match read {
            Ok(false) => return Ok(true),
            Ok(true) => {}
            Err(Failure::Damaged) => return Err(BZ_DATA_ERROR),
            Err(Failure::NoMemory) => return self.fail_memory(),
        }
        if let Stage::PlainCodes(plain) = std::mem::replace(&mut self.stage, Stage::Text) {
            self.begin_text(Stage::PlainText(plain, Crc::new()));
        }
        Ok(false)
    }

    fn begin_text(&mut self, stage: Stage) {
        if self.verbosity >= 2 {
            say!("rt+rld");
        }
        self.stage = stage;
    }

    /// Hands out text. Returns whether it was all.
    fn hand_out(&mut self, stream: &mut Stream) -> Result<bool, c_int> {
        let Stage::PlainText(plain, crc) = &mut self.stage else {
            let count = stream.put(self.fast.text());
            self.fast.hand_out(count);
            return Ok(self.fast.text().is_empty());
        };
        let mut room = [0; 4096];
        let before = stream.avail_out;
        loop {
            let len = room.len().min(stream.avail_out as usize);
            let (count, next) = plain.text(&mut room[..len]);
            crc.update(&room[..count]);
            stream.put(&room[..count]);
            match next {
                Next::Damage => {
                    // For such a block bzip2's library counts this call's text only if its slow decoders made it.
                    if !self.small && !self.header.randomised {
                        stream.skip_output(i64::from(stream.avail_out) - i64::from(before));
                    }
                    return Err(BZ_DATA_ERROR);
                }
                Next::Text if stream.avail_out == 0 => return Ok(false),
                Next::Text => {}
                Next::End => break,
            }
        }
        let (stored, computed) = (self.header.crc, crc.finish());
        if stored == computed {
            return Ok(true);
        }
        self.say_crcs(stored, computed);
        Err(BZ_DATA_ERROR)
    }

    /// Ends the line about a block.
    fn say_crcs(&self, stored: u32, computed: u32) {
        if self.verbosity >= 3 {
            say!(" {{0x{stored:08x}, 0x{computed:08x}}}");
        }
        if self.verbosity >= 2 {
            say!("]");
        }
    }

    fn end_block(&mut self) {
        let crc = self.header.crc;
        self.say_crcs(crc, crc);
        self.combined = combine(self.combined, crc);
        self.forget();
        self.expect_block();
    }

    fn expect_block(&mut self) {
        self.stage = Stage::Header;
        self.may_look_ahead = self.ahead.is_some();
    }

    /// Checks the CRC at the end of a stream.
    fn check_end(&self, code: c_int) -> c_int {
        if code != BZ_STREAM_END {
            return code;
        }
        let (stored, computed) = (self.header.crc, self.combined);
        if self.verbosity >= 3 {
            say!("\n    combined CRCs: stored = 0x{stored:08x}, computed = 0x{computed:08x}");
        }
        if stored == computed { BZ_STREAM_END } else { BZ_DATA_ERROR }
    }
}
