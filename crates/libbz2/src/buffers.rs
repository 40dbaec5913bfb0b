//! From one buffer to another.

use crate::stream::*;
use crate::*;
use std::ffi::c_uint;

/// Sets up a stream over two buffers.
fn over(dest: *mut c_char, room: u32, source: *mut c_char, len: u32) -> Stream {
    Stream { next_in: source, avail_in: len, next_out: dest, avail_out: room, ..Stream::new() }
}

/// The result of a call that had all of the input. For a complete stream, `dest_len` gets the output's length.
fn ended(code: c_int, stream: &Stream, dest_len: &mut c_uint) -> c_int {
    match code {
        BZ_OK if stream.avail_out > 0 => BZ_UNEXPECTED_EOF,
        BZ_OK | BZ_FINISH_OK => BZ_OUTBUFF_FULL,
        BZ_STREAM_END => {
            *dest_len -= stream.avail_out;
            BZ_OK
        }
        other => other,
    }
}

/// Codes a buffer.
///
/// # Safety
/// `dest` has room for `*dest_len` bytes, and `source` has `source_len`; or they are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzBuffToBuffCompress(
    dest: *mut c_char,
    dest_len: *mut c_uint,
    source: *mut c_char,
    source_len: c_uint,
    level: c_int,
    verbosity: c_int,
    work_factor: c_int,
) -> c_int {
    if dest.is_null() || dest_len.is_null() || source.is_null() || !(0..=4).contains(&verbosity) {
        return BZ_PARAM_ERROR;
    }
    // SAFETY: by the contract, as for all calls here.
    unsafe {
        let mut stream = over(dest, *dest_len, source, source_len);
        let begun = BZ2_bzCompressInit(&mut stream, level, verbosity, work_factor);
        if begun != BZ_OK {
            return begun;
        }
        let code = BZ2_bzCompress(&mut stream, BZ_FINISH);
        BZ2_bzCompressEnd(&mut stream);
        ended(code, &stream, &mut *dest_len)
    }
}

/// Decodes a buffer.
///
/// # Safety
/// `dest` has room for `*dest_len` bytes, and `source` has `source_len`; or they are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzBuffToBuffDecompress(
    dest: *mut c_char,
    dest_len: *mut c_uint,
    source: *mut c_char,
    source_len: c_uint,
    small: c_int,
    verbosity: c_int,
) -> c_int {
    if dest.is_null() || dest_len.is_null() || source.is_null() {
        return BZ_PARAM_ERROR;
    }
    // SAFETY: by the contract, as for all calls here.
    unsafe {
        let mut stream = over(dest, *dest_len, source, source_len);
        let begun = BZ2_bzDecompressInit(&mut stream, verbosity, small);
        if begun != BZ_OK {
            return begun;
        }
        let code = BZ2_bzDecompress(&mut stream);
        BZ2_bzDecompressEnd(&mut stream);
        ended(code, &stream, &mut *dest_len)
    }
}
