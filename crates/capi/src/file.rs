//! Files that are read at any offset by an index, or in splits without an index.

use crate::{
    Failure, call, hand_out, hand_out_bytes, handle, hybz_pool, hybz_status, input, null, room, settings, take_back,
};
use hybz::ReadAt;
use hybz::index::Index;
use hybz::seek::{Reader, SplitReader};
use std::ffi::{CStr, c_char, c_void};
use std::fs::File;
use std::io::{self, Read};
use std::ptr::NonNull;
use std::sync::Arc;

/// A compressed file. Any number of threads, readers and splits may use it at a time.
pub struct hybz_file(Arc<dyn ReadAt>);

/// Reads the text of a file at any offset. Any number of threads may use it at a time.
pub struct hybz_reader(Reader<Arc<dyn ReadAt>>);

/// Reads the text of the blocks that begin in a range of a file's bytes. Only one thread at a time may use it, but it
/// need not always be the same one.
pub struct hybz_split(SplitReader);

/// Reads up to `len` bytes at `offset`, as pread does: returns their number, 0 at the end, or a negative number for an
/// error. It runs on the threads that call the library, on several at the same time if they read at the same time, and
/// must neither unwind nor jump out.
pub type hybz_read_at =
    Option<unsafe extern "C" fn(context: *mut c_void, out: *mut u8, len: usize, offset: u64) -> i64>;

struct Callback {
    read_at: unsafe extern "C" fn(*mut c_void, *mut u8, usize, u64) -> i64,
    context: *mut c_void,
    len: u64,
}

// SAFETY: by the contract of `hybz_file_new`, any thread may call the function at any time.
unsafe impl Send for Callback {}
// SAFETY: the same.
unsafe impl Sync for Callback {}

impl ReadAt for Callback {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        // SAFETY: by the contract of `hybz_file_new`.
        let read = unsafe { (self.read_at)(self.context, buf.as_mut_ptr(), buf.len(), offset) };
        let n = usize::try_from(read).ok().filter(|n| *n <= buf.len());
        n.ok_or_else(|| io::Error::other(format!("the callback returned {read} for {} bytes at {offset}", buf.len())))
    }

    fn len(&self) -> u64 {
        self.len
    }
}

#[cfg(unix)]
fn open(path: &CStr) -> io::Result<File> {
    use std::os::unix::ffi::OsStrExt;
    File::open(std::ffi::OsStr::from_bytes(path.to_bytes()))
}

#[cfg(not(unix))]
fn open(path: &CStr) -> io::Result<File> {
    File::open(path.to_str().map_err(io::Error::other)?)
}

/// Opens a file by its path, which is in UTF-8 where the system's paths are not bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_file_open(
    path: *const c_char,
    file: *mut *mut hybz_file,
    error: *mut c_char,
) -> hybz_status {
    let make = || match path.is_null() {
        true => Err(null()),
        // SAFETY: by the contract.
        false => Ok(hybz_file(Arc::new(open(unsafe { CStr::from_ptr(path) })?))),
    };
    // SAFETY: by the contract.
    unsafe { call(error, || hand_out(file, make)) }
}

/// Makes a file of `len` bytes, whose contents a callback returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_file_new(
    read_at: hybz_read_at,
    context: *mut c_void,
    len: u64,
    file: *mut *mut hybz_file,
    error: *mut c_char,
) -> hybz_status {
    let make = || Ok(hybz_file(Arc::new(Callback { read_at: read_at.ok_or_else(null)?, context, len })));
    // SAFETY: by the contract.
    unsafe { call(error, || hand_out(file, make)) }
}

/// The length of the file in bytes; 0 if `file` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_file_len(file: *const hybz_file) -> u64 {
    // SAFETY: by the contract.
    unsafe { file.as_ref() }.map_or(0, |file| file.0.len())
}

/// Frees a file. It stays open until its readers and splits are freed, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_file_free(file: *mut hybz_file) {
    // SAFETY: by the contract.
    unsafe { take_back(file) }
}

/// Opens a file for hybz_reader_read. `index` has the `index_len` bytes of its index, a `.bzi` or lines of offsets. If
/// it is null, the index inside the file is used; a `.bz2`, which has none, is decoded once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_reader_open(
    pool: *const hybz_pool,
    file: *const hybz_file,
    index: *const u8,
    index_len: usize,
    reader: *mut *mut hybz_reader,
    error: *mut c_char,
) -> hybz_status {
    // SAFETY: by the contract.
    unsafe {
        let make = || {
            let (file, settings) = (handle(file)?.0.clone(), settings(pool));
            if index.is_null() {
                return Ok(hybz_reader(Reader::open(file, &settings)?));
            }
            let index = Index::open(Arc::new(input(index, index_len)?.to_vec()), &*file)?;
            Ok(hybz_reader(Reader::with_index(file, index, &settings)))
        };
        call(error, || hand_out(reader, make))
    }
}

/// The length of the text in bytes; 0 if the reader is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_reader_text_len(reader: *const hybz_reader) -> u64 {
    // SAFETY: by the contract.
    unsafe { reader.as_ref() }.map_or(0, |reader| reader.0.text_len())
}

/// Reads `len` bytes of the text from `offset` on. `made` gets the number of bytes read, which is less than `len` only
/// at the text's end or before a damaged block: a call that begins at that block returns the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_reader_read(
    reader: *const hybz_reader,
    offset: u64,
    out: *mut u8,
    len: usize,
    made: *mut usize,
    error: *mut c_char,
) -> hybz_status {
    // SAFETY: by the contract.
    unsafe { call(error, || count(made, || Ok(handle(reader)?.0.read_at(room(out, len)?, offset)?))) }
}

/// Gives the caller the number of bytes that `read` returns, or 0 if it fails.
unsafe fn count(made: *mut usize, read: impl FnOnce() -> Result<usize, Failure>) -> Result<hybz_status, Failure> {
    let made = NonNull::new(made).ok_or_else(null)?;
    // SAFETY: by the contract.
    unsafe {
        made.write(0);
        made.write(read()?);
    }
    Ok(hybz_status::HYBZ_OK)
}

/// Gives the index of the reader's file, as a `.bzi`: keep it as FILE.bz2.bzi. Free `out` with hybz_free. If the file
/// contains its index, this is the error HYBZ_INDEX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_reader_index(
    reader: *const hybz_reader,
    out: *mut *mut u8,
    out_len: *mut usize,
    error: *mut c_char,
) -> hybz_status {
    // SAFETY: by the contract.
    unsafe {
        let make = || {
            let none = || Failure(hybz_status::HYBZ_INDEX, "the file has its index inside".to_owned());
            let mut bytes = Vec::new();
            handle(reader)?.0.index().ok_or_else(none)?.write(&mut bytes)?;
            Ok(bytes)
        };
        call(error, || hand_out_bytes((out, out_len), make))
    }
}

/// Frees a reader.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_reader_free(reader: *mut hybz_reader) {
    // SAFETY: by the contract.
    unsafe { take_back(reader) }
}

/// Computes `begin` and `end`, the offsets of split `number` (from 0), if a file of `len` bytes is read in `splits`
/// splits of about the same length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_split_bytes(
    number: u64,
    splits: u64,
    len: u64,
    begin: *mut u64,
    end: *mut u64,
) -> hybz_status {
    if begin.is_null() || end.is_null() || number >= splits {
        return hybz_status::HYBZ_ARGUMENT;
    }
    let bytes = SplitReader::bytes_of_part(number, splits, len);
    // SAFETY: by the contract.
    unsafe {
        begin.write(bytes.start);
        end.write(bytes.end);
    }
    hybz_status::HYBZ_OK
}

/// Opens the blocks of a `.bz2` file that begin in bytes `begin` to `end`, without an index. Each block of a file is
/// in exactly one of its splits. If `lines` is not 0, each line is in exactly one split, too: the last line of a split
/// is read to its end, in the blocks of the next splits. Nothing is read before the first hybz_split_read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_split_open(
    pool: *const hybz_pool,
    file: *const hybz_file,
    begin: u64,
    end: u64,
    lines: i32,
    split: *mut *mut hybz_split,
    error: *mut c_char,
) -> hybz_status {
    // SAFETY: by the contract.
    unsafe {
        let open = |file: &hybz_file| SplitReader::new(file.0.clone(), begin..end, lines != 0, &settings(pool));
        call(error, || hand_out(split, || Ok(hybz_split(open(handle(file)?)))))
    }
}

/// Reads the next bytes, up to `len`. `made` gets their number, 0 at the end of the split (or if `len` is 0).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_split_read(
    split: *mut hybz_split,
    out: *mut u8,
    len: usize,
    made: *mut usize,
    error: *mut c_char,
) -> hybz_status {
    // SAFETY: by the contract.
    unsafe { call(error, || count(made, || Ok(split.as_mut().ok_or_else(null)?.0.read(room(out, len)?)?))) }
}

/// Frees a split.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_split_free(split: *mut hybz_split) {
    // SAFETY: by the contract.
    unsafe { take_back(split) }
}
