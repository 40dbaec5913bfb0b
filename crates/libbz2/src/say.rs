//! The messages of a stream with `verbosity`, on C's `stderr`.
//!
//! It belongs to the caller: it may be buffered, redirected by `freopen` or closed. Rust's macros would bypass all
//! that, and panic if they cannot write.

use libc::FILE;
use std::fmt::{self, Write};

unsafe extern "C" {
    static stderr: *mut FILE;
}

/// C's `stderr`.
pub struct Stderr;

impl Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: `stderr` is a file of C's library, and the bytes are those of `text`. It may fail, as in C.
        unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stderr) };
        Ok(())
    }
}

/// Writes to C's `stderr`.
macro_rules! say {
    ($($argument:tt)*) => {{
        let _ = std::fmt::Write::write_fmt(&mut $crate::say::Stderr, format_args!($($argument)*));
    }};
}
