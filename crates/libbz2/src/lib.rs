//! libbz2's C interface on hybz's codec: the 24 public functions of bzip2 1.0.8, with its exact bytes.
//!
//! | module | |
//! |---|---|
//! | `stream` | `bz_stream` and the interface's numbers |
//! | `alloc` | memory from `bzalloc` |
//! | `input`, `coder` | `BZ2_bzCompress` |
//! | `header`, `fast`, `plain`, `decoder` | `BZ2_bzDecompress` |
//! | `ahead`, `crew` | blocks that threads code or decode, and the threads |
//! | `buffers`, `file` | the functions for buffers and for files |
//! | `say` | messages of a stream with `verbosity` |
//!
//! Without `HYBZ_THREADS` nothing here starts a thread. Nothing unwinds: the profile `libbz2` aborts on a panic.

#[macro_use]
mod say;

mod ahead;
pub mod alloc;
mod buffers;
mod coder;
mod crew;
mod decoder;
mod fast;
mod file;
mod header;
mod input;
mod plain;
pub mod stream;

use alloc::{place, unplace};
use coder::Coder;
use decoder::Decoder;
use hybz::Level;
use std::ffi::{c_char, c_int, c_void};
use stream::*;

/// What `bz_stream` points at.
// The variants may differ in size: a stream has only one value.
#[allow(clippy::large_enum_variant)]
enum State {
    Coder(Coder),
    Decoder(Decoder),
}

/// The version of bzip2 whose interface and bytes these are, as programs parse it.
#[unsafe(no_mangle)]
pub extern "C" fn BZ2_bzlibVersion() -> *const c_char {
    c"1.0.8, 13-Jul-2019".as_ptr()
}

/// The level, if it and the work factor are in their ranges.
fn coding_level(level: c_int, work_factor: c_int) -> Option<Level> {
    Level::try_new(u8::try_from(level).ok()?).filter(|_| (0..=250).contains(&work_factor))
}

/// Whether these are in their ranges.
fn is_decoding_choice(verbosity: c_int, small: c_int) -> bool {
    (0..=4).contains(&verbosity) && (0..=1).contains(&small)
}

/// Gives the stream its state.
fn begin(stream: &mut Stream, state: State) -> c_int {
    let Some(state) = place(state, stream.memory()) else { return BZ_MEM_ERROR };
    stream.state = state.cast();
    (stream.total_in_lo32, stream.total_in_hi32, stream.total_out_lo32, stream.total_out_hi32) = (0, 0, 0, 0);
    BZ_OK
}

/// The state of a stream that has one and is no copy of another.
///
/// # Safety
/// `stream` is null or a `bz_stream`, whose state is null or comes from [`begin`].
unsafe fn state_of<'a>(stream: *mut Stream) -> Option<(&'a mut Stream, &'a mut State)> {
    // SAFETY: by the contract. The state is not in the stream, so both may be borrowed.
    let (stream_ref, state) = unsafe {
        let stream = stream.as_mut()?;
        let state = stream.state.cast::<State>().as_mut()?;
        (stream, state)
    };
    let owner = match state {
        State::Coder(coder) => coder.owner,
        State::Decoder(decoder) => decoder.owner,
    };
    (owner == stream).then_some((stream_ref, state))
}

/// Ends a stream.
///
/// # Safety
/// As for [`state_of`].
unsafe fn end(stream: *mut Stream, is_mine: fn(&State) -> bool) -> c_int {
    // SAFETY: by the contract.
    match unsafe { state_of(stream) } {
        Some((stream, state)) if is_mine(state) => {
            let placed: *mut State = state;
            stream.state = std::ptr::null_mut::<c_void>();
            // SAFETY: `begin` has placed the state, and the stream no longer has it.
            unsafe { unplace(placed) };
            BZ_OK
        }
        _ => BZ_PARAM_ERROR,
    }
}

/// Begins to code.
///
/// # Safety
/// `stream` is null or a `bz_stream` with its memory functions set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzCompressInit(
    stream: *mut Stream,
    level: c_int,
    verbosity: c_int,
    work_factor: c_int,
) -> c_int {
    // SAFETY: by the contract.
    let (Some(valid), Some(level)) = (unsafe { stream.as_mut() }, coding_level(level, work_factor)) else {
        return BZ_PARAM_ERROR;
    };
    let coder = Coder::new(stream, valid.memory(), level, verbosity);
    begin(valid, State::Coder(coder))
}

/// Codes.
///
/// # Safety
/// `stream` is null or a `bz_stream`, with its buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzCompress(stream: *mut Stream, action: c_int) -> c_int {
    // SAFETY: by the contract.
    match unsafe { state_of(stream) } {
        Some((stream, State::Coder(coder))) => coder.call(stream, action),
        _ => BZ_PARAM_ERROR,
    }
}

/// Ends coding, complete or not.
///
/// # Safety
/// `stream` is null or a `bz_stream`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzCompressEnd(stream: *mut Stream) -> c_int {
    // SAFETY: by the contract.
    unsafe { end(stream, |state| matches!(state, State::Coder(_))) }
}

/// Begins to decode.
///
/// # Safety
/// `stream` is null or a `bz_stream` with its memory functions set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzDecompressInit(stream: *mut Stream, verbosity: c_int, small: c_int) -> c_int {
    // SAFETY: by the contract.
    let Some(valid) = (unsafe { stream.as_mut() }) else { return BZ_PARAM_ERROR };
    if !is_decoding_choice(verbosity, small) {
        return BZ_PARAM_ERROR;
    }
    let decoder = Decoder::new(stream, valid.memory(), verbosity, small == 1);
    begin(valid, State::Decoder(decoder))
}

/// Decodes.
///
/// # Safety
/// `stream` is null or a `bz_stream`, with its buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzDecompress(stream: *mut Stream) -> c_int {
    // SAFETY: by the contract.
    match unsafe { state_of(stream) } {
        Some((stream, State::Decoder(decoder))) => decoder.call(stream),
        _ => BZ_PARAM_ERROR,
    }
}

/// Ends decoding, complete or not.
///
/// # Safety
/// `stream` is null or a `bz_stream`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzDecompressEnd(stream: *mut Stream) -> c_int {
    // SAFETY: by the contract.
    unsafe { end(stream, |state| matches!(state, State::Decoder(_))) }
}
