//! A pipe that gets whole pages instead of copies of them.
//!
//! `write` copies each byte into the kernel's pages, on the thread that calls it: 2.5 GB/s on a host with an H200,
//! less than its lanes decode. `vmsplice` puts our own pages into the pipe. The kernel does not say when the last
//! reader is done with them: one that splices or tees them on may hold them for as long as it likes. So a page that
//! was given away is never written to again. `MADV_DONTNEED` takes it out of our memory; when malloc hands out that
//! address the next time, there is a new page of zeros. The threads that fill buffers pay for it: 8 GB took 6.2 s of
//! system time instead of 3.1 on that host, 1.6 us a page (2 us on a virtual machine of 2 cores). In exchange, with 12
//! threads that filled buffers, `cat` got 4.3 to 5.5 GB/s instead of 2.5 to 3.2, and `wc -c` 3.5 instead of 2.4.

use crate::system;
use crossbeam_channel::{SendError, Sender, bounded};
use rustix::io::{Errno, IoSlice, retry_on_intr};
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::{io, thread};

/// The fewest bytes for which giving pages pays: bytes before the first whole page and after the last are copied.
pub const MIN_GIVEN: usize = 64 << 10;

/// Whether pages can be given to this descriptor: it is a pipe in blocking mode.
pub fn takes_pages(fd: BorrowedFd<'_>) -> bool {
    use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
    let is_pipe = fstat(fd).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo);
    system::GIVES_PAGES && is_pipe && fcntl_getfl(fd).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK))
}

/// Gives buffers to a pipe. A separate thread replaces their pages meanwhile, in 0.5 s for 8 GB: decompressing those
/// into `cat` took 2.49 s without the thread, 2.19 with it.
#[derive(Debug, Default)]
pub struct Giver {
    replacer: Option<Sender<Given>>,
    /// Set if the system has refused to replace pages.
    refused: Arc<AtomicBool>,
}

/// A buffer of which some pages are in the pipe.
#[derive(Debug)]
struct Given {
    bytes: Vec<u8>,
    pages: Range<usize>,
}

/// The most buffers whose pages have not been replaced yet.
const MAX_WAITING: usize = 8;

impl Giver {
    /// Writes all of `bytes` to a pipe for which [`takes_pages`] holds. Returns whether more pages can be given: no if
    /// the system refused, and then `bytes` were written by copying.
    pub fn give(&mut self, fd: BorrowedFd<'_>, bytes: Vec<u8>) -> io::Result<bool> {
        let page = rustix::param::page_size();
        let (start, len) = (bytes.as_ptr().addr(), bytes.len());
        let begin = (start.next_multiple_of(page) - start).min(len);
        let end = ((start + len) / page * page).saturating_sub(start).max(begin);
        write_all(fd, &bytes[..begin])?;
        let (given, done) = system::give_pages(fd, &bytes[begin..end]);
        let rest = done.and_then(|could| write_all(fd, &bytes[begin + given..]).map(|()| could));
        // Even after an error, the pages that are in the pipe leave this buffer before it is freed.
        if given > 0 {
            self.replace(Given { bytes, pages: begin..begin + given.next_multiple_of(page).min(end - begin) });
        }
        rest.map(|could| could && !self.refused.load(Relaxed))
    }

    /// Has the pages of a buffer replaced.
    fn replace(&mut self, given: Given) {
        let refused = &self.refused;
        let replacer = self.replacer.get_or_insert_with(|| {
            let ((sender, receiver), refused) = (bounded::<Given>(MAX_WAITING), Arc::clone(refused));
            // If the thread cannot be started, there is no receiver, and this thread does it.
            let replace = move || receiver.iter().for_each(|given| given.free(&refused));
            let _ = thread::Builder::new().name("replace pages".to_owned()).spawn(replace);
            sender
        });
        if let Err(SendError(given)) = replacer.send(given) {
            given.free(refused);
        }
    }
}

impl Given {
    /// Replaces the pages and frees the buffer. If they cannot be replaced, its memory is leaked.
    fn free(mut self, refused: &AtomicBool) {
        if !system::replace_pages(&mut self.bytes[self.pages]) {
            refused.store(true, Relaxed);
            std::mem::forget(self.bytes);
        }
    }
}

fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match retry_on_intr(|| rustix::io::writev(fd, &[IoSlice::new(bytes)])) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::AGAIN) => system::wait_writable(fd)?,
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, tee};
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::{AsFd, OwnedFd};

    fn pipe() -> (OwnedFd, OwnedFd) {
        pipe_with(PipeFlags::CLOEXEC).unwrap()
    }

    /// A text whose words of 8 bytes are in no other text.
    fn text(number: u64, len: usize) -> Vec<u8> {
        let words = (0..len as u64 / 8 + 1).flat_map(|at| (number << 32 | at).to_le_bytes());
        let mut text = Vec::with_capacity(len);
        text.extend(words.take(len));
        text
    }

    #[test]
    fn texts_of_all_lengths_arrive() {
        let lens = [0, 1, 4095, 4096, 4097, 8191, 8192, 12289, 100_000, 899_981, 5 << 20];
        let (reader, writer) = pipe();
        assert!(takes_pages(writer.as_fd()));
        let sender = thread::spawn(move || {
            let mut giver = Giver::default();
            for (number, len) in lens.into_iter().enumerate() {
                // A buffer may begin anywhere in a page.
                let mut buffer = vec![0; number * 7];
                buffer.extend(text(number as u64, len));
                let bytes = buffer.split_off(number * 7);
                assert!(giver.give(writer.as_fd(), bytes).unwrap());
            }
        });
        let mut got = Vec::new();
        File::from(reader).read_to_end(&mut got).unwrap();
        sender.join().unwrap();
        let expected: Vec<u8> =
            lens.into_iter().enumerate().flat_map(|(number, len)| text(number as u64, len)).collect();
        assert!(got == expected);
    }

    /// The promise on which this rests: what is in a pipe, or in one that it was teed to, never changes, although the
    /// memory is used again.
    #[test]
    fn pages_in_a_pipe_do_not_change() {
        // Short enough for malloc to use the memory again, not to unmap it.
        const LEN: usize = 100_000;
        crate::memory::keep_freed();
        let (reader, writer) = pipe();
        let (kept, copy) = pipe();
        for fd in [&writer, &copy] {
            let _ = fcntl_setpipe_size(fd, 256 << 10);
        }
        let sender = thread::spawn(move || {
            let mut giver = Giver::default();
            for number in 0..100 {
                assert!(giver.give(writer.as_fd(), text(number, LEN)).unwrap());
            }
        });
        // The first pages are held in the second pipe while all others go by. The bytes before the first whole page are
        // copies, so more than these must be there.
        let begun = std::time::Instant::now();
        while rustix::io::ioctl_fionread(&reader).unwrap() < 32 << 10 {
            assert!(begun.elapsed().as_secs() < 60, "the writer stopped");
            thread::yield_now();
        }
        let mut teed = tee(&reader, &copy, 64 << 10, SpliceFlags::empty()).unwrap();
        let mut all = Vec::new();
        File::from(reader).read_to_end(&mut all).unwrap();
        sender.join().unwrap();
        let expected: Vec<u8> = (0..100).flat_map(|number| text(number, LEN)).collect();
        assert!(all == expected);
        drop(copy);
        let mut first = Vec::new();
        File::from(kept).read_to_end(&mut first).unwrap();
        assert!(teed >= 32 << 10 && first[..] == expected[..first.len()]);
        teed -= first.len();
        assert_eq!(teed, 0);
    }

    #[test]
    fn a_reader_that_is_gone_is_an_error() {
        let (reader, writer) = pipe();
        drop(reader);
        // Rust ignores SIGPIPE.
        let mut giver = Giver::default();
        assert_eq!(giver.give(writer.as_fd(), text(1, 1 << 20)).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn only_pipes_that_wait_take_pages() {
        let file = File::open("Cargo.toml").unwrap();
        let (_reader, writer) = pipe_with(PipeFlags::NONBLOCK).unwrap();
        assert!(!takes_pages(file.as_fd()) && !takes_pages(writer.as_fd()));
    }
}
