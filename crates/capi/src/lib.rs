//! hybz's C interface, which `include/hybz.h` declares and docs/C.md explains.
//!
//! | module | |
//! |---|---|
//! | here | status, version, pools, whole buffers |
//! | `stream` | streams, piece by piece |
//! | `file` | files that are read at any place: by an index, or in splits |
//!
//! Nothing unwinds into a caller: each function catches panics. cbindgen makes the header from this source, and
//! `hybz.map` lists the functions by the version of the interface that introduced them.
//!
//! # Safety
//! The contract is the same for every function, public or internal: a handle is null, or the library has made it and
//! the caller has not freed it; no more threads use a handle at a time than its type allows. An array has as many
//! bytes as the length after it says. A pointer to a result points to writable memory. `error` is null or points to
//! [`HYBZ_ERROR_SIZE`] bytes.

#![allow(non_camel_case_types)] // they are C's names
#![allow(clippy::missing_safety_doc)] // the contract is above

mod file;
mod stream;

pub use file::*;
use hybz::{Error, Lanes, Level, Pool, Settings};
use std::ffi::c_char;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null_mut, slice_from_raw_parts_mut};
use std::slice::{from_raw_parts, from_raw_parts_mut};
pub use stream::*;

/// The size of the buffer for an error's text, in bytes, including the zero at its end.
pub const HYBZ_ERROR_SIZE: usize = 256;

/// What became of a call. Errors are negative.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum hybz_status {
    /// Everything that the call asked for is done.
    HYBZ_OK = 0,
    /// The output buffer is full: call again, with more space and the rest of the input.
    HYBZ_MORE = 1,
    /// An argument is null or out of its range, or the stream has been finished.
    HYBZ_ARGUMENT = -1,
    /// A file cannot be opened or read, or a callback returned an error.
    HYBZ_IO = -2,
    /// The input is in none of the formats that hybz reads.
    HYBZ_FORMAT = -3,
    /// The input ends in the middle of a stream.
    HYBZ_TRUNCATED = -4,
    /// The compressed data are damaged.
    HYBZ_DATA = -5,
    /// A block needs more memory than the pool may use.
    HYBZ_MEMORY = -6,
    /// The index is damaged, newer than this library, or another file's, or the file cannot have one.
    HYBZ_INDEX = -7,
    /// The stream, reader or split was opened by the process that forked this one.
    HYBZ_FORKED = -8,
    /// A defect of hybz.
    HYBZ_INTERNAL = -9,
}

use hybz_status::*;

/// The threads, and perhaps GPUs, that compress and decompress blocks. Any number of threads may use a pool at a time.
pub struct hybz_pool(Pool);

// The compiler checks what the comments on the types say about threads.
const _: () = {
    const fn at_a_time<T: Send + Sync>() {}
    const fn one_by_one<T: Send>() {}
    at_a_time::<(hybz_pool, hybz_file, hybz_reader)>();
    one_by_one::<(hybz_stream, hybz_split)>();
};

/// A status and a text for the caller.
struct Failure(hybz_status, String);

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match error {
            Error::Read(_) | Error::Write(_) => HYBZ_IO,
            Error::NotBzip2 | Error::NotFormat { .. } => HYBZ_FORMAT,
            Error::Truncated { .. } => HYBZ_TRUNCATED,
            Error::Memory { .. } => HYBZ_MEMORY,
            Error::NotAnIndex
            | Error::BadIndex(_)
            | Error::NewerIndex { .. }
            | Error::ForeignIndex { .. }
            | Error::NoIndex { .. }
            | Error::Perturbed => HYBZ_INDEX,
            Error::Forked => HYBZ_FORKED,
            Error::Miscoded { .. } | Error::Internal { .. } => HYBZ_INTERNAL,
            _ => HYBZ_DATA,
        };
        Failure(status, error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        error.downcast::<Error>().unwrap_or_else(Error::Read).into()
    }
}

fn argument(why: &str) -> Failure {
    Failure(HYBZ_ARGUMENT, why.to_owned())
}

fn null() -> Failure {
    argument("a pointer is null")
}

/// Does the work of a call, and writes the text of its error, which is empty if there is none.
unsafe fn call(error: *mut c_char, work: impl FnOnce() -> Result<hybz_status, Failure>) -> hybz_status {
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        Err(Failure(HYBZ_INTERNAL, text.unwrap_or_else(|| "a panic".to_owned())))
    });
    let (status, text) = match result {
        Ok(status) => (status, String::new()),
        Err(Failure(status, text)) => (status, text),
    };
    if !error.is_null() {
        let fits = (0..HYBZ_ERROR_SIZE).rev().find(|len| text.is_char_boundary(*len)).unwrap_or(0);
        let text = &text.as_bytes()[..fits];
        // SAFETY: by the contract; the text is shorter than HYBZ_ERROR_SIZE, so the zero fits too.
        unsafe {
            error.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
            error.add(text.len()).write(0);
        }
    }
    status
}

/// Gives the caller a handle; null if it cannot be made.
unsafe fn hand_out<T>(out: *mut *mut T, make: impl FnOnce() -> Result<T, Failure>) -> Result<hybz_status, Failure> {
    let out = NonNull::new(out).ok_or_else(null)?;
    // SAFETY: by the contract.
    unsafe {
        out.write(null_mut());
        out.write(Box::into_raw(Box::new(make()?)));
    }
    Ok(HYBZ_OK)
}

/// Frees what [`hand_out`] gave.
unsafe fn take_back<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: by the contract.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(handle) })));
    }
}

/// Gives the caller bytes to free by [`hybz_free`]: null if `make` fails or returns no bytes, because Go refuses the
/// address of an empty box, which is 1.
unsafe fn hand_out_bytes(
    (bytes, len): (*mut *mut u8, *mut usize),
    make: impl FnOnce() -> Result<Vec<u8>, Failure>,
) -> Result<hybz_status, Failure> {
    let (bytes, len) = NonNull::new(bytes).zip(NonNull::new(len)).ok_or_else(null)?;
    // SAFETY: by the contract.
    unsafe {
        bytes.write(null_mut());
        len.write(0);
        let made = make()?.into_boxed_slice();
        if !made.is_empty() {
            len.write(made.len());
            bytes.write(Box::into_raw(made).cast());
        }
    }
    Ok(HYBZ_OK)
}

/// The handle, which lives as long as the call.
unsafe fn handle<'a, T>(handle: *const T) -> Result<&'a T, Failure> {
    // SAFETY: by the contract.
    unsafe { handle.as_ref() }.ok_or_else(null)
}

/// The input, which lives as long as the call.
unsafe fn input<'a>(bytes: *const u8, len: usize) -> Result<&'a [u8], Failure> {
    match len {
        0 => Ok(&[]),
        _ if bytes.is_null() => Err(null()),
        _ if isize::try_from(len).is_err() => Err(argument("a length is more than memory has")),
        // SAFETY: by the contract.
        _ => Ok(unsafe { from_raw_parts(bytes, len) }),
    }
}

/// The output buffer, which nothing else uses during the call.
unsafe fn room<'a>(bytes: *mut u8, len: usize) -> Result<&'a mut [u8], Failure> {
    // SAFETY: by the contract. Its old contents are never read.
    unsafe { input(bytes, len).map(|_| if len == 0 { &mut [] } else { from_raw_parts_mut(bytes, len) }) }
}

/// Settings with the stations of `pool`.
unsafe fn settings(pool: *const hybz_pool) -> Settings {
    // SAFETY: by the contract.
    unsafe { pool.as_ref() }.map_or_else(Settings::new, |pool| Settings::new().pool(&pool.0))
}

/// The same with a level, for a compressor.
unsafe fn coding(pool: *const hybz_pool, level: i32) -> Result<Settings, Failure> {
    let level = u8::try_from(level).ok().and_then(Level::try_new);
    // SAFETY: by the contract.
    Ok(unsafe { settings(pool) }.level(level.ok_or_else(|| argument("the level must be 1 to 9"))?))
}

/// The version of the library, such as "0.1.0". It lives as long as the library.
#[unsafe(no_mangle)]
pub extern "C" fn hybz_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Makes a pool with this many threads (0: one for each core). If `gpus` is not 0 and the library was built for GPUs,
/// the pool uses them, too. `memory` bounds the bytes of all pieces in flight (0: the number of threads decides).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_pool_new(
    threads: u32,
    gpus: i32,
    memory: u64,
    pool: *mut *mut hybz_pool,
    error: *mut c_char,
) -> hybz_status {
    let make = || {
        let mut builder = Pool::builder();
        if let Some(threads) = NonZeroUsize::new(threads as usize) {
            builder = builder.threads(threads);
        }
        if gpus != 0 {
            builder = builder.accelerators(&Lanes::default());
        }
        if memory > 0 {
            builder = builder.memory(memory);
        }
        Ok(hybz_pool(builder.build()))
    };
    // SAFETY: by the contract.
    unsafe { call(error, || hand_out(pool, make)) }
}

/// Frees a pool. Its threads stay until the streams, readers and splits that use it are freed, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_pool_free(pool: *mut hybz_pool) {
    // SAFETY: by the contract.
    unsafe { take_back(pool) }
}

/// Compresses `len` bytes to one `.bz2` stream, the same bytes as bzip2 writes at this level, 1 to 9. If `pool` is
/// null, the process's own pool is used, with a thread for each core. Free `out` with hybz_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_compress(
    pool: *const hybz_pool,
    level: i32,
    r#in: *const u8,
    len: usize,
    out: *mut *mut u8,
    out_len: *mut usize,
    error: *mut c_char,
) -> hybz_status {
    // SAFETY: by the contract.
    unsafe {
        let make = || Ok(hybz::compress(input(r#in, len)?, &coding(pool, level)?)?);
        call(error, || hand_out_bytes((out, out_len), make))
    }
}

/// Decompresses `len` bytes: all consecutive streams, in any format that hybz reads. Bytes after the last stream are
/// ignored, as by bzip2. Free `out` with hybz_free; it is null if the text is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_decompress(
    pool: *const hybz_pool,
    r#in: *const u8,
    len: usize,
    out: *mut *mut u8,
    out_len: *mut usize,
    error: *mut c_char,
) -> hybz_status {
    // SAFETY: by the contract.
    unsafe {
        let make = || Ok(hybz::decompress(input(r#in, len)?, &settings(pool))?);
        call(error, || hand_out_bytes((out, out_len), make))
    }
}

/// Frees bytes that the library has handed out. `len` is their length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_free(bytes: *mut u8, len: usize) {
    if !bytes.is_null() {
        // SAFETY: by the contract, `hand_out_bytes` has made these bytes.
        drop(unsafe { Box::from_raw(slice_from_raw_parts_mut(bytes, len)) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    /// A panic becomes a status, and a long text is cut between two characters.
    #[test]
    fn panics() {
        let mut error = [1; HYBZ_ERROR_SIZE];
        for (text, expected) in [("why", 3), (&"ä".repeat(200), 254)] {
            // SAFETY: the buffer has the required size.
            let status = unsafe { call(error.as_mut_ptr(), || panic!("{text}")) };
            // SAFETY: `call` has put a zero at its end.
            let said = unsafe { CStr::from_ptr(error.as_ptr()) };
            assert_eq!((status, said.to_str()), (HYBZ_INTERNAL, Ok(&text[..expected])));
        }
    }
}
