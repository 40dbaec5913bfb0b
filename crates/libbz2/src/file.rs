//! Streams in files of C's standard library: `BZ2_bzRead`, `BZ2_bzWrite`, and their short forms.

use crate::stream::*;
use crate::*;
use libc::FILE;
use std::ffi::{CStr, c_uint};
use std::ptr;

/// The size of a file's buffer, which is the max number of bytes that `BZ2_bzReadGetUnused` returns.
const BUFFER: usize = 5000;

/// `BZFILE`.
pub struct File {
    handle: *mut FILE,
    buffer: [c_char; BUFFER],
    writing: bool,
    stream: Stream,
    last: c_int,
}

unsafe extern "C" {
    static stdin: *mut FILE;
    static stdout: *mut FILE;
}

/// Sets the result of a call: where the caller wants it, and in the file. Then returns `value`.
///
/// # Safety
/// Both are null or valid.
unsafe fn set<T>(error: *mut c_int, file: *mut File, code: c_int, value: T) -> T {
    // SAFETY: by the contract.
    unsafe {
        if let Some(error) = error.as_mut() {
            *error = code;
        }
        if let Some(file) = file.as_mut() {
            file.last = code;
        }
    }
    value
}

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

/// Opens a file whose stream `begin` begins.
///
/// # Safety
/// `error` is null or valid, and `handle` is an open file.
unsafe fn open(
    error: *mut c_int,
    handle: *mut FILE,
    writing: bool,
    unused: &[u8],
    begin: impl FnOnce(*mut Stream) -> c_int,
) -> *mut File {
    // SAFETY: by the contract; the file is ours from here on.
    unsafe {
        if libc::ferror(handle) != 0 {
            return set(error, ptr::null_mut(), BZ_IO_ERROR, ptr::null_mut());
        }
        let file = libc::malloc(size_of::<File>()).cast::<File>();
        if file.is_null() {
            return set(error, ptr::null_mut(), BZ_MEM_ERROR, ptr::null_mut());
        }
        file.write(File { handle, buffer: [0; BUFFER], writing, stream: Stream::new(), last: BZ_OK });
        ptr::copy_nonoverlapping(unused.as_ptr(), (&raw mut (*file).buffer).cast(), unused.len());
        let code = begin(&raw mut (*file).stream);
        if code != BZ_OK {
            libc::free(file.cast());
            return set(error, ptr::null_mut(), code, ptr::null_mut());
        }
        (*file).stream.avail_in = unused.len() as c_uint;
        (*file).stream.next_in = (&raw mut (*file).buffer).cast();
        set(error, file, BZ_OK, file)
    }
}

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

/// Codes until the input is taken (`BZ_RUN`) or the stream complete (`BZ_FINISH`), into the file.
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

/// Closes a file for writing, and counts.
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
                BZ_OK if full => return set(error, file, BZ_OK, len),
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
        if file.is_null() && handle != stdin && handle != stdout {
            libc::fclose(handle);
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
