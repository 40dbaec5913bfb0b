//! Reading ahead in a file that no one else uses, which `BZ2_bzopen` or `BZ2_bzdopen` has opened: threads decode blocks
//! whose ends have been read. Without threads files are read as by bzip2's library, 5,000 bytes at a time.
//!
//! From a pipe or a socket only available bytes are read, unless the decoder can do nothing without more.

use super::is_regular;
use crate::BZ2_bzDecompress;
use crate::crew::threads;
use crate::stream::*;
use std::ffi::{c_int, c_uint};

/// The most bytes that are read at once.
const PIECE: usize = 256 << 10;
/// How many bytes are read ahead for each thread: several blocks of text, or a little more than one block of noise.
const EACH: usize = 1 << 20;

/// What has been read, and not yet decoded.
pub struct ReadAhead {
    descriptor: c_int,
    /// Whether it is a regular file, so that reading never waits.
    is_regular: bool,
    bytes: Vec<u8>,
    /// The bytes before this index have been decoded.
    at: usize,
    ended: bool,
}

impl ReadAhead {
    /// `None` if the library may use only one thread.
    pub fn new(descriptor: c_int) -> Option<Self> {
        if threads() < 2 {
            return None;
        }
        Some(ReadAhead { descriptor, is_regular: is_regular(descriptor), bytes: Vec::new(), at: 0, ended: false })
    }

    /// `BZ2_bzRead`: decodes until the output buffer is full, or the stream ends.
    ///
    /// # Safety
    /// The stream is being decoded, and its output buffer is valid.
    pub unsafe fn read(&mut self, stream: &mut Stream) -> c_int {
        loop {
            if let Err(code) = self.fill() {
                return code;
            }
            let unread = &self.bytes[self.at..];
            (stream.next_in, stream.avail_in) = (unread.as_ptr().cast_mut().cast(), unread.len() as c_uint);
            // SAFETY: by the contract.
            let code = unsafe { BZ2_bzDecompress(stream) };
            self.at = self.bytes.len() - stream.avail_in as usize;
            if code != BZ_OK || stream.avail_out == 0 {
                return code;
            }
            if self.ended && self.at == self.bytes.len() {
                return BZ_UNEXPECTED_EOF;
            }
        }
    }

    /// Reads what can be read without waiting, or waits if nothing is there.
    fn fill(&mut self) -> Result<(), c_int> {
        let room = EACH * threads();
        loop {
            let unread = self.bytes.len() - self.at;
            let may_wait = unread == 0 || self.is_regular && unread < room / 2;
            if self.ended || unread >= room || !may_wait && (self.is_regular || !self.is_readable()) {
                return Ok(());
            }
            self.read_piece()?;
        }
    }

    /// Whether reading does not wait.
    fn is_readable(&self) -> bool {
        let mut poll = libc::pollfd { fd: self.descriptor, events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which lives as long as the call.
        unsafe { libc::poll(&mut poll, 1, 0) > 0 }
    }

    fn read_piece(&mut self) -> Result<(), c_int> {
        if self.at > self.bytes.len() / 2 {
            self.bytes.drain(..self.at);
            self.at = 0;
        }
        self.bytes.try_reserve(PIECE).map_err(|_| BZ_MEM_ERROR)?;
        let room = self.bytes.spare_capacity_mut();
        // SAFETY: `read` gets the length of `room`.
        let count = unsafe { libc::read(self.descriptor, room.as_mut_ptr().cast(), PIECE.min(room.len())) };
        match usize::try_from(count) {
            Ok(0) => self.ended = true,
            // SAFETY: `read` has written them.
            Ok(count) => unsafe { self.bytes.set_len(self.bytes.len() + count) },
            Err(_) if std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            Err(_) => return Err(BZ_IO_ERROR),
        }
        Ok(())
    }
}
