//! `BZ2_bzRead` and what opens and closes its files.

use super::{BUFFER, File, open, set};
use crate::stream::*;
use crate::{BZ2_bzDecompress, BZ2_bzDecompressEnd, BZ2_bzDecompressInit, is_decoding_choice};
use libc::FILE;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;

/// Whether the file is at its end.
///
/// # Safety
/// `handle` is an open file.
unsafe fn is_at_end(handle: *mut FILE) -> bool {
    // SAFETY: by the contract.
    unsafe {
        let byte = libc::fgetc(handle);
        if byte == libc::EOF {
            return true;
        }
        libc::ungetc(byte, handle);
    }
    false
}

/// Opens a file for reading, with bytes that have been read before.
///
/// # Safety
/// `error` is null or valid, `handle` null or an open file, `unused` null or `unused_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzReadOpen(
    error: *mut c_int,
    handle: *mut FILE,
    verbosity: c_int,
    small: c_int,
    unused: *mut c_void,
    unused_len: c_int,
) -> *mut File {
    // SAFETY: by the contract.
    unsafe {
        let possible = if unused.is_null() { unused_len == 0 } else { (0..=BUFFER as c_int).contains(&unused_len) };
        if handle.is_null() || !is_decoding_choice(verbosity, small) || !possible {
            return set(error, ptr::null_mut(), BZ_PARAM_ERROR, ptr::null_mut());
        }
        let bytes =
            if unused.is_null() { &[][..] } else { std::slice::from_raw_parts(unused.cast(), unused_len as usize) };
        open(error, handle, false, bytes, |stream| BZ2_bzDecompressInit(stream, verbosity, small))
    }
}

/// Closes a file for reading.
///
/// # Safety
/// `error` is null or valid; `file` is null or from `BZ2_bzReadOpen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzReadClose(error: *mut c_int, file: *mut File) {
    // SAFETY: by the contract.
    unsafe {
        set(error, file, BZ_OK, ());
        if file.is_null() {
            return;
        }
        if (*file).writing {
            return set(error, file, BZ_SEQUENCE_ERROR, ());
        }
        BZ2_bzDecompressEnd(&raw mut (*file).stream);
        (*file).ahead = None;
        libc::free(file.cast());
    }
}

/// Reads text.
///
/// # Safety
/// `error` is null or valid, `file` null or from `BZ2_bzReadOpen`, `text` null or room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzRead(error: *mut c_int, file: *mut File, text: *mut c_void, len: c_int) -> c_int {
    // SAFETY: by the contract.
    unsafe {
        set(error, file, BZ_OK, ());
        if file.is_null() || text.is_null() || len < 0 {
            return set(error, file, BZ_PARAM_ERROR, 0);
        }
        if (*file).writing {
            return set(error, file, BZ_SEQUENCE_ERROR, 0);
        }
        if len == 0 {
            return set(error, file, BZ_OK, 0);
        }
        let handle = (*file).handle;
        let stream = &raw mut (*file).stream;
        (*stream).avail_out = len as c_uint;
        (*stream).next_out = text.cast();
        if let Some(ahead) = &mut (*file).ahead {
            let code = ahead.read(&mut *stream);
            let count = if matches!(code, BZ_OK | BZ_STREAM_END) { len - (*stream).avail_out as c_int } else { 0 };
            return set(error, file, code, count);
        }
        loop {
            if libc::ferror(handle) != 0 {
                return set(error, file, BZ_IO_ERROR, 0);
            }
            if (*stream).avail_in == 0 && !is_at_end(handle) {
                let buffer: *mut c_char = (&raw mut (*file).buffer).cast();
                let count = libc::fread(buffer.cast(), 1, BUFFER, handle);
                if libc::ferror(handle) != 0 {
                    return set(error, file, BZ_IO_ERROR, 0);
                }
                (*stream).avail_in = count as c_uint;
                (*stream).next_in = buffer;
            }
            let code = BZ2_bzDecompress(stream);
            let full = (*stream).avail_out == 0;
            match code {
                BZ_STREAM_END => return set(error, file, code, len - (*stream).avail_out as c_int),
                BZ_OK if full => {
                    // Finds the file's end, as bzip2's library does: callers ask `feof` about another stream.
                    if (*file).is_regular {
                        is_at_end(handle);
                    }
                    return set(error, file, BZ_OK, len);
                }
                BZ_OK if (*stream).avail_in == 0 && is_at_end(handle) => {
                    return set(error, file, BZ_UNEXPECTED_EOF, 0);
                }
                BZ_OK => {}
                _ => return set(error, file, code, 0),
            }
        }
    }
}

/// The bytes after the end of the stream that have been read.
///
/// # Safety
/// `file` is null or from `BZ2_bzReadOpen`; the others are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzReadGetUnused(
    error: *mut c_int,
    file: *mut File,
    unused: *mut *mut c_void,
    unused_len: *mut c_int,
) {
    // SAFETY: by the contract.
    unsafe {
        if file.is_null() {
            return set(error, file, BZ_PARAM_ERROR, ());
        }
        if (*file).last != BZ_STREAM_END {
            return set(error, file, BZ_SEQUENCE_ERROR, ());
        }
        if unused.is_null() || unused_len.is_null() {
            return set(error, file, BZ_PARAM_ERROR, ());
        }
        *unused = (*file).stream.next_in.cast();
        *unused_len = (*file).stream.avail_in as c_int;
        set(error, file, BZ_OK, ());
    }
}
