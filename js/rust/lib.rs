//! hybz for JavaScript: one decoder or encoder for each instance of the module.
//!
//! The caller gets a buffer from `room`, writes bytes to it, and passes their number to `push`. Each function that
//! makes bytes returns 1 if there are some, 0 if there are none, and -1 for an error; `out` and `out_len` give the
//! bytes, or a text about the damage. Numbers of 64 bits are passed as `f64`, which has 53 bits. No pointer comes in,
//! so only the names are unsafe here: no other module may export the same ones.
#![allow(unsafe_code)]

#[cfg(feature = "encode")]
mod encode;

use hybz::Error;
use hybz::push::{Block, BlockDecoder, Decoder, find_block};
use std::cell::RefCell;

/// All that an instance holds.
#[derive(Default)]
struct Instance {
    decoder: Option<Box<Decoder>>,
    blocks: Option<Box<BlockDecoder>>,
    #[cfg(feature = "encode")]
    encoder: Option<Box<hybz::push::Encoder>>,
    /// Bytes of the caller.
    room: Vec<u8>,
    out: Out,
    failure: Failure,
    block: BlockEnd,
}

/// The bytes that the last call made.
struct Out {
    at: *const u8,
    len: usize,
    /// Bytes that nothing else keeps.
    kept: Vec<u8>,
}

impl Default for Out {
    fn default() -> Self {
        Out { at: std::ptr::null(), len: 0, kept: Vec::new() }
    }
}

impl Out {
    /// Bytes that stay where they are until the next call.
    fn lend(&mut self, bytes: &[u8]) {
        (self.at, self.len) = (bytes.as_ptr(), bytes.len());
    }

    fn keep(&mut self, bytes: Vec<u8>) {
        self.kept = bytes;
        (self.at, self.len) = (self.kept.as_ptr(), self.kept.len());
    }
}

/// What is wrong.
#[derive(Default)]
struct Failure {
    /// An index of `CODES` in src/core.js.
    code: u32,
    block: u64,
    bit: u64,
}

/// What a caller may ask about a single block.
#[derive(Default)]
struct BlockEnd {
    bit: u64,
    crc: u32,
    len: u32,
}

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
}

/// Runs `act` on the instance, which is never borrowed already, because calls do not nest.
fn with<T>(act: impl FnOnce(&mut Instance) -> T) -> T {
    INSTANCE.with_borrow_mut(act)
}

impl Instance {
    fn fail(&mut self, error: &Error) -> i32 {
        let (code, block, bit) = match *error {
            Error::NotBzip2 => (0, 0, 0),
            Error::Truncated { block, bit_offset } => (1, block, bit_offset),
            Error::Data { block, bit_offset, .. } => (2, block, bit_offset),
            Error::BlockTooLarge { block, bit_offset } => (3, block, bit_offset),
            _ => (4, 0, 0),
        };
        self.failure = Failure { code, block, bit };
        // The errors' own text would link the table of formats, and with it the code of all formats.
        let damage = if let Error::Data { damage, .. } = error { damage.to_string() } else { String::new() };
        self.out.keep(damage.into_bytes());
        -1
    }
}

/// Begins to decode: the first stream only, if `single` is not 0.
#[unsafe(no_mangle)]
pub extern "C" fn decoder(single: u32) {
    with(|it| {
        // Not two at once.
        it.decoder = None;
        it.decoder = Some(Box::new(if single == 0 { Decoder::new() } else { Decoder::single() }));
    });
}

/// A buffer for `len` bytes of the caller.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> *mut u8 {
    with(|it| {
        if it.room.len() < len {
            it.room = Vec::new();
            it.room = vec![0; len];
        }
        it.room.as_mut_ptr()
    })
}

/// Adds the first `len` bytes of the buffer to the input.
#[unsafe(no_mangle)]
pub extern "C" fn push(len: usize) {
    with(|it| {
        let bytes = &it.room[..len.min(it.room.len())];
        if let Some(decoder) = &mut it.decoder {
            decoder.push(bytes);
        }
    });
}

/// The input is complete.
#[unsafe(no_mangle)]
pub extern "C" fn finish() {
    with(|it| it.decoder.iter_mut().for_each(|decoder| decoder.finish()));
}

/// Makes the next text.
#[unsafe(no_mangle)]
pub extern "C" fn text() -> i32 {
    with(|it| {
        let Some(decoder) = &mut it.decoder else { return 0 };
        match decoder.text() {
            Ok(Some(text)) => {
                it.out.lend(text);
                1
            }
            Ok(None) => 0,
            Err(error) => it.fail(&error),
        }
    })
}

/// The address of the bytes that the last call made.
#[unsafe(no_mangle)]
pub extern "C" fn out() -> *const u8 {
    with(|it| it.out.at)
}

/// The number of these bytes.
#[unsafe(no_mangle)]
pub extern "C" fn out_len() -> usize {
    with(|it| it.out.len)
}

/// The kind of the last error.
#[unsafe(no_mangle)]
pub extern "C" fn error_code() -> u32 {
    with(|it| it.failure.code)
}

/// The block of the last error.
#[unsafe(no_mangle)]
pub extern "C" fn error_block() -> f64 {
    with(|it| it.failure.block as f64)
}

/// The bit of the last error.
#[unsafe(no_mangle)]
pub extern "C" fn error_bit() -> f64 {
    with(|it| it.failure.bit as f64)
}

/// The byte at which other bytes follow the streams, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn trailing() -> f64 {
    with(|it| it.decoder.as_ref().and_then(|decoder| decoder.trailing()).map_or(-1.0, |at| at as f64))
}

/// Whether the last stream is complete.
#[unsafe(no_mangle)]
pub extern "C" fn is_complete() -> u32 {
    with(|it| it.decoder.as_ref().is_some_and(|decoder| decoder.is_complete()).into())
}

/// The first bit of the block whose text came last.
#[unsafe(no_mangle)]
pub extern "C" fn block_bit() -> f64 {
    with(|it| it.decoder.as_ref().map_or(0, |decoder| decoder.block_bit()) as f64)
}

/// The first bit of the block that `text` would decode next, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn next_block() -> f64 {
    with(|it| it.decoder.as_mut().and_then(|decoder| decoder.next_block()).map_or(-1.0, |bit| bit as f64))
}

/// Skips the next block, which another instance has decoded. Returns 0 if that was not a block of this stream.
#[unsafe(no_mangle)]
pub extern "C" fn accept(end_bit: f64, crc: u32, block_len: u32) -> u32 {
    let block = Block { text: Vec::new(), crc, block_len, end_bit: end_bit as u64 };
    with(|it| it.decoder.as_mut().is_some_and(|decoder| decoder.accept(&block)).into())
}

/// The next bit from `from` on at which a block may begin in the input that was pushed, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn find_ahead(from: f64) -> f64 {
    with(|it| {
        let (at, input) = it.decoder.as_ref().map_or((0, &[][..]), |decoder| decoder.input());
        find_block(input, (from as u64).saturating_sub(8 * at)).map_or(-1.0, |bit| (8 * at + bit) as f64)
    })
}

/// Makes `out` return the bytes `from` to `to` of the input, as far as they are still kept.
#[unsafe(no_mangle)]
pub extern "C" fn lend(from: f64, to: f64) {
    with(|it| {
        let (at, input) = it.decoder.as_ref().map_or((0, &[][..]), |decoder| decoder.input());
        let place = |byte: f64| (byte as u64).saturating_sub(at).min(input.len() as u64) as usize;
        it.out.lend(input.get(place(from)..place(to)).unwrap_or_default());
    });
}

/// The next bit from `from` on at which a block may begin in the first `len` bytes of the buffer, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn find(len: usize, from: f64) -> f64 {
    with(|it| find_block(&it.room[..len.min(it.room.len())], from as u64).map_or(-1.0, |bit| bit as f64))
}

/// Decodes the block that begins at bit `bit` of the first `len` bytes of the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn decode_block(len: usize, bit: f64) -> i32 {
    with(|it| {
        let decoder = it.blocks.get_or_insert_default();
        match decoder.decode(&it.room[..len.min(it.room.len())], bit as u64) {
            Ok(block) => {
                it.block = BlockEnd { bit: block.end_bit, crc: block.crc, len: block.block_len };
                it.out.keep(block.text);
                1
            }
            Err(error) => it.fail(&error),
        }
    })
}

/// The bit after the block that was decoded last.
#[unsafe(no_mangle)]
pub extern "C" fn block_end() -> f64 {
    with(|it| it.block.bit as f64)
}

/// Its CRC.
#[unsafe(no_mangle)]
pub extern "C" fn block_crc() -> u32 {
    with(|it| it.block.crc)
}

/// Its length before run-length decoding.
#[unsafe(no_mangle)]
pub extern "C" fn block_len() -> u32 {
    with(|it| it.block.len)
}
