//! What this process was born with and Rust's runtime hides: whether SIGPIPE was ignored, and which of the three standard
//! descriptors were open.
//!
//! Before `main`, the runtime sets SIGPIPE to ignored and opens `/dev/null` in place of closed descriptors. bzip2 dies by
//! SIGPIPE when its reader goes away, and fails when its stdin or stdout is closed; so we must know how it was before the
//! runtime came: a function in `.init_array` looks. (The other way, a C `main` of our own, loses the arguments on musl.)

use rustix::stdio;
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use std::{io, mem};

const SIGPIPE_IGNORED: u8 = 8;

/// Bits 0 to 2: the descriptor of that number was closed; bit 3: SIGPIPE was ignored. Written once, before `main`.
static AT_BIRTH: AtomicU8 = AtomicU8::new(0);

/// Whether the process was started without a stdin.
pub fn stdin_closed() -> bool {
    AT_BIRTH.load(Ordering::Relaxed) & 1 != 0
}

/// Whether the process was started without a stdout.
pub fn stdout_closed() -> bool {
    AT_BIRTH.load(Ordering::Relaxed) & 2 != 0
}

/// Ends the process as a program that knows nothing of SIGPIPE ends when its reader is gone: by that signal, silently; and
/// with exit code 1, as silently, where whoever started us had it ignored.
pub fn end_by_broken_pipe() -> ExitCode {
    if AT_BIRTH.load(Ordering::Relaxed) & SIGPIPE_IGNORED == 0 {
        // This returns only if the signal cannot be raised.
        let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    }
    ExitCode::FAILURE
}

/// Closes a file and says whether that worked: a full quota or a lost server is sometimes told only now.
#[allow(unsafe_code)]
pub fn close(file: OwnedFd) -> io::Result<()> {
    // SAFETY: `into_raw_fd` gave up the ownership, so nobody else closes or uses this descriptor.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => match io::Error::last_os_error() {
            // On Linux the descriptor is closed when close() is interrupted.
            e if e.kind() == io::ErrorKind::Interrupted => Ok(()),
            e => Err(e),
        },
    }
}

/// Closes stdout and says whether that worked. Nothing of ours writes there afterwards.
#[allow(unsafe_code)]
pub fn close_stdout() -> io::Result<()> {
    let stdout: BorrowedFd<'static> = stdio::stdout();
    // SAFETY: std never closes descriptor 1 and treats EBADF on it as success.
    match unsafe { libc::close(stdout.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Asks the system to begin writing a file's data to the disk, and does not wait. Only a hint.
#[allow(unsafe_code)]
pub fn start_writing(file: &File) {
    #[cfg(target_os = "linux")]
    // SAFETY: the descriptor is open as long as `file` lives; the call has no other argument that it could spoil.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE);
    }
}

#[allow(unsafe_code)]
#[used]
// SAFETY: the loader calls every entry of `.init_array` once, on the only thread, with C's calling convention.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

#[allow(unsafe_code)]
extern "C" fn look() {
    let mut seen = 0;
    for fd in 0..3 {
        // SAFETY: F_GETFD only reads the descriptor table, for any number.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1 {
            seen |= 1 << fd;
        }
    }
    // SAFETY: a zeroed `sigaction` is a valid place for the answer, and no new action is given.
    let ignored = unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    };
    if ignored {
        seen |= SIGPIPE_IGNORED;
    }
    AT_BIRTH.store(seen, Ordering::Relaxed);
}

/// Has the C library keep what is freed: blocks come and go by the megabyte, and giving each back to the system, to have it
/// zeroed again page by page, took the thread that reads a quarter of its time.
/// (Not for small files: memory that is zeroed by hand took a third of the 1.2 ms of one.)
#[cfg(target_env = "gnu")]
#[allow(unsafe_code)]
pub fn keep_memory() {
    // SAFETY: it only sets two numbers of malloc's, and malloc has a lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 1 << 30);
    }
}

#[cfg(not(target_env = "gnu"))]
pub fn keep_memory() {}
