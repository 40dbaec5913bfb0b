//! `BZ2_bzWrite` and what opens and closes its files.

use super::{BUFFER, File, open, set};
use crate::stream::*;
use crate::{BZ2_bzCompress, BZ2_bzCompressEnd, BZ2_bzCompressInit, coding_level};
use libc::FILE;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// Opens a file for writing.
///
/// # Safety
/// `error` is null or valid; `handle` is null or an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzWriteOpen(
    error: *mut c_int,
    handle: *mut FILE,
    level: c_int,
    verbosity: c_int,
    work_factor: c_int,
) -> *mut File {
    // SAFETY: by the contract.
    unsafe {
        if handle.is_null() || coding_level(level, work_factor).is_none() || !(0..=4).contains(&verbosity) {
            return set(error, ptr::null_mut(), BZ_PARAM_ERROR, ptr::null_mut());
        }
        open(error, handle, true, &[], |stream| BZ2_bzCompressInit(stream, level, verbosity, work_factor))
    }
}

/// Codes into the file, until the input is taken (`BZ_RUN`) or the stream is complete (`BZ_FINISH`).
///
/// # Safety
/// `file` is open for writing.
unsafe fn pump(file: *mut File, action: c_int) -> c_int {
    // SAFETY: by the contract.
    unsafe {
        loop {
            let stream = &raw mut (*file).stream;
            (*stream).next_out = (&raw mut (*file).buffer).cast();
            (*stream).avail_out = BUFFER as c_uint;
            let code = BZ2_bzCompress(stream, action);
            if !matches!((action, code), (BZ_RUN, BZ_RUN_OK) | (BZ_FINISH, BZ_FINISH_OK | BZ_STREAM_END)) {
                return code;
            }
            let count = BUFFER - (*stream).avail_out as usize;
            if count > 0 {
                let written = libc::fwrite((&raw const (*file).buffer).cast(), 1, count, (*file).handle);
                if written != count || libc::ferror((*file).handle) != 0 {
                    return BZ_IO_ERROR;
                }
            }
            if code == BZ_STREAM_END || action == BZ_RUN && (*stream).avail_in == 0 {
                return BZ_OK;
            }
        }
    }
}

/// Writes text.
///
/// # Safety
/// `error` is null or valid, `file` null or from `BZ2_bzWriteOpen`, `text` null or `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzWrite(error: *mut c_int, file: *mut File, text: *mut c_void, len: c_int) {
    // SAFETY: by the contract.
    unsafe {
        set(error, file, BZ_OK, ());
        if file.is_null() || text.is_null() || len < 0 {
            return set(error, file, BZ_PARAM_ERROR, ());
        }
        if !(*file).writing {
            return set(error, file, BZ_SEQUENCE_ERROR, ());
        }
        if libc::ferror((*file).handle) != 0 {
            return set(error, file, BZ_IO_ERROR, ());
        }
        if len == 0 {
            return;
        }
        (*file).stream.avail_in = len as c_uint;
        (*file).stream.next_in = text.cast();
        let code = pump(file, BZ_RUN);
        set(error, file, code, ());
    }
}

/// Closes a file for writing.
///
/// # Safety
/// As for [`BZ2_bzWriteClose64`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzWriteClose(
    error: *mut c_int,
    file: *mut File,
    abandon: c_int,
    taken: *mut c_uint,
    written: *mut c_uint,
) {
    // SAFETY: by the contract.
    unsafe { BZ2_bzWriteClose64(error, file, abandon, taken, ptr::null_mut(), written, ptr::null_mut()) };
}

/// Closes a file that was open for writing, and gives the numbers of bytes taken and written, each in two halves.
///
/// # Safety
/// `file` is null or from `BZ2_bzWriteOpen`; the others are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzWriteClose64(
    error: *mut c_int,
    file: *mut File,
    abandon: c_int,
    taken_low: *mut c_uint,
    taken_high: *mut c_uint,
    written_low: *mut c_uint,
    written_high: *mut c_uint,
) {
    // SAFETY: by the contract.
    unsafe {
        if file.is_null() {
            return set(error, file, BZ_OK, ());
        }
        if !(*file).writing {
            return set(error, file, BZ_SEQUENCE_ERROR, ());
        }
        if libc::ferror((*file).handle) != 0 {
            return set(error, file, BZ_IO_ERROR, ());
        }
        let counts = [taken_low, taken_high, written_low, written_high];
        for count in counts.into_iter().filter(|count| !count.is_null()) {
            *count = 0;
        }
        if abandon == 0 {
            if (*file).last == BZ_OK {
                let code = pump(file, BZ_FINISH);
                if code != BZ_OK {
                    return set(error, file, code, ());
                }
            }
            libc::fflush((*file).handle);
            if libc::ferror((*file).handle) != 0 {
                return set(error, file, BZ_IO_ERROR, ());
            }
        }
        let stream = &(*file).stream;
        let totals = [stream.total_in_lo32, stream.total_in_hi32, stream.total_out_lo32, stream.total_out_hi32];
        for (count, total) in counts.into_iter().zip(totals).filter(|(count, _)| !count.is_null()) {
            *count = total;
        }
        set(error, file, BZ_OK, ());
        BZ2_bzCompressEnd(&raw mut (*file).stream);
        libc::free(file.cast());
    }
}
