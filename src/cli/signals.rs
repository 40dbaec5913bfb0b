//! Named temporary files, and the signals that must not leave one behind.
//!
//! A result normally has no name until it is complete (`O_TMPFILE`), so a signal can end the process at any time and there
//! is nothing to do: no handler is installed. Only where a file system needs named temporary files is a thread started that
//! waits for the signals that end a process, removes those files, and then lets the signal do what it does by default, so
//! that a shell's loop stops as it would have.

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

const ENDING: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGXCPU, SIGXFSZ];

/// All named temporary files that there are now.
#[derive(Clone, Default)]
pub struct TemporaryFiles(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    watched: bool,
    made: u64,
    names: Vec<(u64, Arc<OwnedFd>, OsString)>,
}

/// One of them; removed when dropped.
pub struct TemporaryName {
    all: TemporaryFiles,
    number: u64,
    pub name: OsString,
}

impl TemporaryFiles {
    /// Creates a file for writing under a name of its own in `directory`: private, and hidden like `.NAME.hybz-PID`.
    pub fn create(&self, directory: &Arc<OwnedFd>, name: &OsStr) -> io::Result<(File, TemporaryName)> {
        self.with_new_name(directory, name, |temporary| {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(openat(directory, temporary, flags, Mode::RUSR | Mode::WUSR)?.into())
        })
    }

    /// Lets `make` create something under such a name. A signal that arrives meanwhile waits, then removes it.
    pub fn with_new_name<T>(
        &self,
        directory: &Arc<OwnedFd>,
        name: &OsStr,
        mut make: impl FnMut(&OsStr) -> io::Result<T>,
    ) -> io::Result<(T, TemporaryName)> {
        let mut state = self.lock();
        if !state.watched {
            self.watch()?;
            state.watched = true;
        }
        loop {
            state.made += 1;
            let number = state.made;
            let temporary = hidden_name(name, number);
            match make(&temporary) {
                Ok(made) => {
                    state.names.push((number, directory.clone(), temporary.clone()));
                    return Ok((made, TemporaryName { all: self.clone(), number, name: temporary }));
                }
                // Left by a process that had our number and was killed.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread that waits for signals; those that were ignored when we were started (`nohup`) stay so.
    fn watch(&self) -> io::Result<()> {
        let ignored = ignored_signals();
        let ending = ENDING.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let mut signals = Signals::new(ending)?;
        let all = self.clone();
        thread::Builder::new().name("signals".into()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // Locked from here to the end: nobody makes another one, or gives one its final name.
                let state = all.lock();
                for (_, directory, name) in &state.names {
                    let _ = unlinkat(directory, name, AtFlags::empty());
                }
                let _ = emulate_default_handler(signal);
            }
        })?;
        Ok(())
    }
}

impl TemporaryName {
    /// Lets `give` rename the file; afterwards it is no temporary file any more.
    pub fn rename(self, give: impl FnOnce(&OsStr) -> io::Result<()>) -> io::Result<()> {
        let mut state = self.all.lock();
        give(&self.name)?;
        state.names.retain(|(number, ..)| *number != self.number);
        Ok(())
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        let mut state = self.all.lock();
        if let Some(at) = state.names.iter().position(|(number, ..)| *number == self.number) {
            let (_, directory, name) = state.names.swap_remove(at);
            let _ = unlinkat(directory, name, AtFlags::empty());
        }
    }
}

/// `.NAME.hybz-PID-N`, with NAME cut so that the whole stays below the 255 bytes that file systems take.
fn hidden_name(name: &OsStr, number: u64) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let name = &name.as_bytes()[..name.len().min(200)];
    let end = format!(".hybz-{}-{number}", std::process::id());
    OsString::from_vec([b".", name, end.as_bytes()].concat())
}

/// The signals that this process ignores, bit n - 1 for signal n. None where the system does not tell.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
