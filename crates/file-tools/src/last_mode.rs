//! The final mode of a directory, which it gets when nothing more is made in it. Until then its owner may make files in
//! it.

use super::system;
use rustix::fs::{Mode, OFlags, fchmod, fstat, openat};
use rustix::io;
use std::ffi::OsStr;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directory gets its mode when the last clone of the `Arc` that holds this is dropped. Everything that makes
/// something below the directory has a clone: the directory itself while it is open, and each directory below it that
/// will get a mode.
///
/// No descriptor is kept open to set the mode. Unless the directory is still open at the end, it is found again by its
/// path, never through a symbolic link.
pub struct LastMode {
    /// The directory above, whose mode may forbid finding this one.
    above: Option<Arc<LastMode>>,
    top: Arc<OwnedFd>,
    below: PathBuf,
    id: (u64, u64),
    mode: Option<Mode>,
}

impl LastMode {
    /// Gives the owner of `directory` (at the path `below` in the directory `top`) all rights, and keeps `mode` for
    /// later. `None` if `mode` already lets the owner do everything.
    pub fn keep(
        directory: impl AsFd,
        mode: Mode,
        (top, below): (&Arc<OwnedFd>, &Path),
        above: Option<&Arc<LastMode>>,
    ) -> Option<Arc<LastMode>> {
        let _ = fchmod(&directory, mode | Mode::RWXU); // without modes, all are alike
        if mode.contains(Mode::RWXU) {
            return None;
        }
        let found = fstat(directory).ok()?;
        Some(Arc::new(LastMode {
            above: above.cloned(),
            top: Arc::clone(top),
            below: below.to_owned(),
            id: system::id(&found),
            mode: Some(mode),
        }))
    }

    /// Called when the directory is closed. The directory gets its mode if there is no other clone.
    pub fn closed(last: Arc<LastMode>, directory: impl AsFd) {
        if let Some(mut last) = Arc::into_inner(last)
            && let Some(mode) = last.mode.take()
        {
            let _ = fchmod(directory, mode);
        }
    }

    /// Opens the directory again.
    fn find(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut parts: Vec<&OsStr> = self.below.iter().collect();
        let last = parts.pop().unwrap_or(OsStr::new("."));
        let mut at = Arc::clone(&self.top);
        for part in parts {
            at = Arc::new(openat(&at, part, flags | system::ONLY_NAMES, Mode::empty())?);
        }
        openat(&at, last, flags | OFlags::RDONLY, Mode::empty())
    }
}

impl Drop for LastMode {
    fn drop(&mut self) {
        if let Some(mode) = self.mode
            && let Ok(directory) = self.find()
            && fstat(&directory).is_ok_and(|found| system::id(&found) == self.id)
        {
            let _ = fchmod(directory, mode);
        }
        // A loop and not a recursion, because a path may have thousands of parts.
        let mut above = self.above.take();
        while let Some(mut last) = above.and_then(Arc::into_inner) {
            above = last.above.take();
        }
    }
}

impl fmt::Debug for LastMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastMode").field("below", &self.below).field("mode", &self.mode).finish_non_exhaustive()
    }
}
