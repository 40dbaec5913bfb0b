//! Handlers for the signals that end a process (for programs that must clean up first), for the signal that asks for
//! the progress, and for the one that continues a stopped process.

use super::process::{is_ignored, questions_are_ignored};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio;
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGXCPU, SIGXFSZ};
use signal_hook::low_level::{emulate_default_handler, register};
use std::io;
use std::os::fd::BorrowedFd;

const ENDING: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGXCPU, SIGXFSZ];

/// Lets a signal take its default effect, so that a shell's loop stops as it would have without a handler.
pub fn take_effect(signal: i32) {
    let _ = emulate_default_handler(signal);
}

/// Has `handle` called in place of every signal that would end the process, with the signal's number. Signals that were
/// ignored when the process was started (by `nohup`) stay ignored.
///
/// A handler is used and not a thread that waits, because files must not be left over even if no thread can be started.
///
/// # Safety
/// `handle` is called inside a signal handler, on any thread: it must not allocate, wait, or take a lock that the
/// interrupted thread may hold.
#[allow(unsafe_code)]
pub unsafe fn on_ending_signal(handle: impl Fn(i32) + Clone + Send + Sync + 'static) -> io::Result<()> {
    for signal in ENDING.into_iter().filter(|signal| !is_ignored(*signal)) {
        let handle = handle.clone();
        // SAFETY: the caller promises that `handle` does only what a signal handler may do.
        unsafe { register(signal, move || handle(signal)) }?;
    }
    Ok(())
}

/// Has `answer` called at each SIGUSR1, unless the signal was ignored when the process was started. System calls that
/// the signal interrupts go on (SA_RESTART), and errno is kept.
///
/// # Safety
/// The same conditions as for [`on_ending_signal`].
#[allow(unsafe_code)]
pub unsafe fn on_question(answer: impl Fn() + Send + Sync + 'static) -> io::Result<()> {
    if questions_are_ignored() {
        return Ok(());
    }
    // SAFETY: the caller promises that `answer` does only what a signal handler may do.
    unsafe { register(SIGUSR1, answer) }.map(drop)
}

/// Writes to stderr from a signal handler: with one call, and not at all if the call would have to wait.
pub fn write_stderr(bytes: &[u8]) {
    write_at_once(stdio::stderr(), bytes);
}

/// Like [`write_stderr`], to any file. A writable pipe has room for a line.
pub fn write_at_once(fd: BorrowedFd<'_>, bytes: &[u8]) {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    if poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0) {
        let _ = rustix::io::write(fd, bytes);
    }
}
