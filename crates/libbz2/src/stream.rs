//! `bz_stream`, as C programs have it, and the numbers of the interface.

use crate::alloc::{AllocFn, FreeFn, Memory};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// Actions of `BZ2_bzCompress`.
pub const BZ_RUN: c_int = 0;
/// Ends the block.
pub const BZ_FLUSH: c_int = 1;
/// Ends the stream.
pub const BZ_FINISH: c_int = 2;
/// Return codes.
pub const BZ_OK: c_int = 0;
/// Text was taken, or bytes were handed out.
pub const BZ_RUN_OK: c_int = 1;
/// The flush is not complete.
pub const BZ_FLUSH_OK: c_int = 2;
/// The end is not complete.
pub const BZ_FINISH_OK: c_int = 3;
/// The stream is complete.
pub const BZ_STREAM_END: c_int = 4;
/// The call is not allowed now.
pub const BZ_SEQUENCE_ERROR: c_int = -1;
/// An argument is not allowed.
pub const BZ_PARAM_ERROR: c_int = -2;
/// No memory.
pub const BZ_MEM_ERROR: c_int = -3;
/// A damaged stream.
pub const BZ_DATA_ERROR: c_int = -4;
/// The input does not begin like a stream.
pub const BZ_DATA_ERROR_MAGIC: c_int = -5;
/// A file has an error (`ferror`).
pub const BZ_IO_ERROR: c_int = -6;
/// The input ends inside a stream.
pub const BZ_UNEXPECTED_EOF: c_int = -7;
/// The buffer is too small.
pub const BZ_OUTBUFF_FULL: c_int = -8;

/// `bz_stream`.
#[repr(C)]
#[derive(Debug)]
pub struct Stream {
    /// The next byte of the input.
    pub next_in: *mut c_char,
    /// How many bytes are there.
    pub avail_in: c_uint,
    /// How many have been taken, the low half.
    pub total_in_lo32: c_uint,
    /// The high half.
    pub total_in_hi32: c_uint,
    /// The next byte of the output.
    pub next_out: *mut c_char,
    /// How many bytes fit.
    pub avail_out: c_uint,
    /// How many have been written, the low half.
    pub total_out_lo32: c_uint,
    /// The high half.
    pub total_out_hi32: c_uint,
    /// [`State`](crate::State), in memory of the stream.
    pub state: *mut c_void,
    /// Allocates, or `None`: malloc.
    pub bzalloc: Option<AllocFn>,
    /// Frees, or `None`: free.
    pub bzfree: Option<FreeFn>,
    /// The first argument of both.
    pub opaque: *mut c_void,
}

impl Stream {
    /// A stream without buffers.
    pub fn new() -> Self {
        let none = std::ptr::null_mut();
        Stream {
            next_in: none,
            avail_in: 0,
            total_in_lo32: 0,
            total_in_hi32: 0,
            next_out: none,
            avail_out: 0,
            total_out_lo32: 0,
            total_out_hi32: 0,
            state: none.cast(),
            bzalloc: None,
            bzfree: None,
            opaque: none.cast(),
        }
    }

    /// Where its memory comes from.
    pub fn memory(&self) -> Memory {
        Memory { alloc: self.bzalloc, free: self.bzfree, opaque: self.opaque }
    }

    /// The input of the current call. It belongs to the caller, so its lifetime is not the stream's.
    pub fn input<'a>(&self) -> &'a [u8] {
        if self.avail_in == 0 {
            return &[];
        }
        // SAFETY: the caller of the library has `avail_in` bytes at `next_in`.
        unsafe { std::slice::from_raw_parts(self.next_in.cast(), self.avail_in as usize) }
    }

    /// Counts `count` bytes of the input as taken; a negative `count` gives the last `-count` bytes back.
    pub fn skip_input(&mut self, count: i64) {
        self.next_in = self.next_in.wrapping_offset(count as isize);
        self.avail_in = (i64::from(self.avail_in) - count) as c_uint;
        add(&mut self.total_in_lo32, &mut self.total_in_hi32, count);
    }

    /// Counts `count` bytes of the output as written; a negative `count` takes back the last `-count` bytes.
    pub fn skip_output(&mut self, count: i64) {
        self.next_out = self.next_out.wrapping_offset(count as isize);
        self.avail_out = (i64::from(self.avail_out) - count) as c_uint;
        add(&mut self.total_out_lo32, &mut self.total_out_hi32, count);
    }

    /// Writes what fits, and returns how much that was.
    pub fn put(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.avail_out as usize);
        if count > 0 {
            // SAFETY: the caller of the library has room for `avail_out` bytes at `next_out`, apart from our memory.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.next_out.cast(), count) };
            self.skip_output(count as i64);
        }
        count
    }
}

impl Default for Stream {
    fn default() -> Self {
        Self::new()
    }
}

/// Adds to a number in two halves.
fn add(low: &mut c_uint, high: &mut c_uint, count: i64) {
    let total = (u64::from(*high) << 32 | u64::from(*low)).wrapping_add_signed(count);
    (*low, *high) = (total as u32, (total >> 32) as u32);
}
