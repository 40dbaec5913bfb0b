//! What differs between the systems: each system's folder has every function, constant and macro of this module, with
//! the same name and meaning, and nothing else in the package asks which system it is. What the folders themselves
//! need of the rest of the package is in this file.
//!
//! Linux is where all of it is tested. The code for macOS is compiled and linked for it, and was never run.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub use macos::*;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("hybz-files is written for Linux and macOS");

/// Waits until a read of `file` would not wait.
pub fn wait_readable(file: &File) -> io::Result<()> {
    wait(file.as_fd(), PollFlags::IN)
}

/// Waits until a write to `file` would not wait.
pub fn wait_writable(file: impl AsFd) -> io::Result<()> {
    wait(file.as_fd(), PollFlags::OUT)
}

fn wait(fd: BorrowedFd<'_>, what_for: PollFlags) -> io::Result<()> {
    retry_on_intr(|| poll(&mut [PollFd::from_borrowed_fd(fd, what_for)], None))?;
    Ok(())
}

/// Whether this error says that a call is refused here, so that another way may work.
pub fn is_refused(e: &io::Error) -> bool {
    let errno = e.raw_os_error().map(Errno::from_raw_os_error);
    errno.is_some_and(is_refusal) || e.kind() == io::ErrorKind::Unsupported
}
