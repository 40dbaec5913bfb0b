//! The short functions: `BZ2_bzopen`, `BZ2_bzdopen`, `BZ2_bzread`, `BZ2_bzwrite` and the like.

use super::File;
use super::read::{BZ2_bzRead, BZ2_bzReadClose, BZ2_bzReadOpen};
use super::read_ahead::ReadAhead;
use super::write::{BZ2_bzWrite, BZ2_bzWriteClose, BZ2_bzWriteOpen};
use crate::stream::*;
use libc::FILE;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

unsafe extern "C" {
    static stdin: *mut FILE;
    static stdout: *mut FILE;
}

/// Opens a path or a descriptor, as `mode` says: `r` or `w`, a level, `s` for small.
///
/// # Safety
/// `mode` is null or a string; `open` opens a file for a mode of `fopen`.
unsafe fn open_by_mode(mode: *const c_char, open: impl FnOnce(bool, &CStr) -> *mut FILE) -> *mut File {
    if mode.is_null() {
        return ptr::null_mut();
    }
    let (mut writing, mut small, mut level) = (false, 0, 9);
    // SAFETY: by the contract.
    for &letter in unsafe { CStr::from_ptr(mode) }.to_bytes() {
        match letter {
            b'r' => writing = false,
            b'w' => writing = true,
            b's' => small = 1,
            b'0'..=b'9' => level = c_int::from(letter - b'0'),
            _ => {}
        }
    }
    let handle = open(writing, if writing { c"wb" } else { c"rb" });
    if handle.is_null() {
        return ptr::null_mut();
    }
    let mut error = BZ_OK;
    // SAFETY: the handle is open.
    unsafe {
        let file = if writing {
            BZ2_bzWriteOpen(&mut error, handle, level.max(1), 0, 30)
        } else {
            BZ2_bzReadOpen(&mut error, handle, 0, small, ptr::null_mut(), 0)
        };
        let is_ours = handle != stdin && handle != stdout;
        if file.is_null() {
            if is_ours {
                libc::fclose(handle);
            }
        } else if is_ours && !writing && small == 0 {
            (*file).ahead = ReadAhead::new(libc::fileno(handle));
        }
        file
    }
}

/// Opens a path; an empty one is standard input or output.
///
/// # Safety
/// Both are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzopen(path: *const c_char, mode: *const c_char) -> *mut File {
    // SAFETY: by the contract.
    unsafe {
        open_by_mode(mode, |writing, mode| match (path.is_null() || *path == 0, writing) {
            (true, true) => stdout,
            (true, false) => stdin,
            (false, _) => libc::fopen(path, mode.as_ptr()),
        })
    }
}

/// Opens a descriptor.
///
/// # Safety
/// `mode` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzdopen(descriptor: c_int, mode: *const c_char) -> *mut File {
    // SAFETY: by the contract.
    unsafe { open_by_mode(mode, |_, mode| libc::fdopen(descriptor, mode.as_ptr())) }
}

/// Reads text; -1 is an error.
///
/// # Safety
/// `file` is from `BZ2_bzopen` or `BZ2_bzdopen`; `text` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzread(file: *mut File, text: *mut c_void, len: c_int) -> c_int {
    // SAFETY: by the contract.
    unsafe {
        if file.as_ref().is_some_and(|file| file.last == BZ_STREAM_END) {
            return 0;
        }
        let mut error = BZ_OK;
        let count = BZ2_bzRead(&mut error, file, text, len);
        if matches!(error, BZ_OK | BZ_STREAM_END) { count } else { -1 }
    }
}

/// Writes text; -1 is an error.
///
/// # Safety
/// `file` is from `BZ2_bzopen` or `BZ2_bzdopen`; `text` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzwrite(file: *mut File, text: *mut c_void, len: c_int) -> c_int {
    let mut error = BZ_OK;
    // SAFETY: by the contract.
    unsafe { BZ2_bzWrite(&mut error, file, text, len) };
    if error == BZ_OK { len } else { -1 }
}

/// Does nothing, as in bzip2 1.0.8.
#[unsafe(no_mangle)]
pub extern "C" fn BZ2_bzflush(_: *mut File) -> c_int {
    0
}

/// Closes a file, and its handle unless that is standard input or output.
///
/// # Safety
/// `file` is null or from `BZ2_bzopen` or `BZ2_bzdopen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzclose(file: *mut File) {
    // SAFETY: by the contract.
    unsafe {
        let Some(File { handle, writing, .. }) = file.as_ref() else { return };
        let (handle, writing) = (*handle, *writing);
        let mut error = BZ_OK;
        if writing {
            BZ2_bzWriteClose(&mut error, file, 0, ptr::null_mut(), ptr::null_mut());
            if error != BZ_OK {
                BZ2_bzWriteClose(ptr::null_mut(), file, 1, ptr::null_mut(), ptr::null_mut());
            }
        } else {
            BZ2_bzReadClose(&mut error, file);
        }
        if handle != stdin && handle != stdout {
            libc::fclose(handle);
        }
    }
}

/// The last error of a file, and its name.
///
/// # Safety
/// Both are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn BZ2_bzerror(file: *mut File, number: *mut c_int) -> *const c_char {
    const NAMES: [&CStr; 10] = [
        c"OK",
        c"SEQUENCE_ERROR",
        c"PARAM_ERROR",
        c"MEM_ERROR",
        c"DATA_ERROR",
        c"DATA_ERROR_MAGIC",
        c"IO_ERROR",
        c"UNEXPECTED_EOF",
        c"OUTBUFF_FULL",
        c"CONFIG_ERROR",
    ];
    // SAFETY: by the contract.
    let code = unsafe {
        *number = (*file).last.min(0);
        *number
    };
    NAMES.get(code.unsigned_abs() as usize).unwrap_or(&c"???").as_ptr()
}
