//! Streams in files of C's standard library: `BZ2_bzRead`, `BZ2_bzWrite`, and their short forms.

mod read;
mod read_ahead;
mod short;
mod write;

use crate::stream::*;
use libc::FILE;
use read_ahead::ReadAhead;
use std::ffi::{c_char, c_int, c_uint};
use std::mem::MaybeUninit;
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
    /// Whether it is a regular file, so that reading never waits.
    is_regular: bool,
    /// What has been read ahead, if the file has no other user and threads are allowed.
    ahead: Option<ReadAhead>,
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

/// Whether a descriptor is a regular file's.
fn is_regular(descriptor: c_int) -> bool {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `status` has room for what is written; zeros are a valid status.
    let mode = unsafe {
        libc::fstat(descriptor, status.as_mut_ptr());
        status.assume_init().st_mode
    };
    mode & libc::S_IFMT == libc::S_IFREG
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
        let (is_regular, buffer, stream) = (is_regular(libc::fileno(handle)), [0; BUFFER], Stream::new());
        file.write(File { handle, buffer, writing, stream, last: BZ_OK, is_regular, ahead: None });
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
