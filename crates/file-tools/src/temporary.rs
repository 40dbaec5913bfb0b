//! Named temporary files, which signals must not leave on the disk.
//!
//! A result normally has no name until it is complete, so a signal can end the process at any time and there is nothing
//! to clean up: no handler is installed. If named temporary files are needed, a handler removes them and then lets the
//! signal take effect; if there is a report, the handler first writes its last line. No thread is involved, because it
//! may be impossible to start one.
//!
//! The temporary file of the result `NAME` is called `.NAME.hybz-tmp`, and its writer holds a lock on it (`flock`). The
//! next process that makes the same result thus recognises the file of a killed one: it belongs to the same user, and
//! its lock is free. If anything else has the name, a random one is used. The leftover is removed before the work,
//! whether or not the name is needed this time: an unnamed result needs it only for the moment in which it replaces
//! another file.

use crate::directory::Directory;
use crate::signals::{on_ending_signal, take_effect};
use crate::{file, memory};
use std::collections::hash_map::RandomState;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::hash::BuildHasher;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicI32, Ordering, fence};
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::Duration;
use std::{io, mem};

/// All named temporary files of the process. There is one registry: with two, the handler of the first would end the
/// process before that of the second could remove its files.
static REGISTRY: Registry = Registry {
    names: Mutex::new(Names { watched: false, last_number: 0, all: Vec::new() }),
    pending: AtomicI32::new(0),
    last_words: OnceLock::new(),
};

struct Registry {
    names: Mutex<Names>,
    /// The number of a signal that came and has not taken effect yet, or 0.
    pending: AtomicI32,
    /// The work to do when the files are removed.
    last_words: OnceLock<LastWords>,
}

/// Called with the number of the signal that ends the process, or with 0 if the process ends for lack of memory. The
/// call may be inside a signal handler: it must not allocate, wait, or take a lock.
pub type LastWords = Box<dyn Fn(i32) + Send + Sync>;

struct Names {
    /// Whether the handlers of signals are installed.
    watched: bool,
    last_number: u64,
    all: Vec<(u64, Directory, CString)>,
}

/// The name of a temporary file, which is removed when this is dropped.
pub struct TemporaryName {
    number: u64,
    name: OsString,
}

/// The number of names to try. A random name is never taken, unless the file system reports every name as taken.
const TRIES: u32 = 20;

/// Calls `last_words` before a signal, or a lack of memory, ends the process. Only the first call has an effect.
pub fn speak_at_the_end(last_words: LastWords) -> io::Result<()> {
    let _ = REGISTRY.last_words.set(last_words);
    turn(Names::watch)
}

/// Creates a file for writing in `directory`, under a name made from the result's name, readable only by its owner if
/// `private`.
pub fn create(directory: &Directory, result: &OsStr, private: bool) -> io::Result<(File, TemporaryName)> {
    with_new_name(directory, result, |name| {
        let file = directory.create_new(name, private)?;
        // Before we held the lock, another process may have treated the file as a leftover and removed it.
        match file::lock(file.as_fd()) {
            Ok(true) if directory.leads_to(name, file.as_fd()) => Ok(file),
            Err(_) => Ok(file), // without locks, no process removes it
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        }
    })
}

/// Gives `file`, which has no name, the name of a temporary file.
pub fn link(directory: &Directory, result: &OsStr, file: BorrowedFd<'_>) -> io::Result<TemporaryName> {
    let _ = file::lock(file);
    with_new_name(directory, result, |name| directory.link(file, name)).map(|((), name)| name)
}

/// Lets `make` create a file under a new name. A signal that arrives in the meantime waits, and its handler then
/// removes the file.
fn with_new_name<T>(
    directory: &Directory,
    result: &OsStr,
    mut make: impl FnMut(&OsStr) -> io::Result<T>,
) -> io::Result<(T, TemporaryName)> {
    turn(|names| {
        names.watch()?;
        let mut name = hidden_name(result, "tmp");
        for _ in 0..TRIES {
            match make(&name) {
                Ok(made) => {
                    names.last_number += 1;
                    let number = names.last_number;
                    names.all.push((number, directory.clone(), CString::new(name.as_bytes())?));
                    return Ok((made, TemporaryName { number, name }));
                }
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
                Err(_) if directory.remove_abandoned(&name, &[]) => {}
                Err(_) => name = hidden_name(result, &format!("{:016x}", RandomState::new().hash_one(()))),
            }
        }
        Err(io::Error::other("No name is free for a temporary file beside it"))
    })
}

/// Makes or names files: no signal takes effect until `work` is done.
fn turn<T>(work: impl FnOnce(&mut Names) -> T) -> T {
    let done = work(&mut REGISTRY.names.lock().unwrap_or_else(PoisonError::into_inner));
    REGISTRY.end_if_told();
    done
}

impl Registry {
    /// A signal came. It takes effect now, or when the thread that is making or naming a file has finished.
    fn signal(&self, signal: i32) {
        self.pending.store(signal, Ordering::SeqCst);
        self.end_if_told();
    }

    /// If a signal came and no thread holds the lock, removes the files and ends the process.
    fn end_if_told(&self) {
        // Either the handler sees that the lock is free, or the thread that frees it sees the signal.
        fence(Ordering::SeqCst);
        let signal = self.pending.load(Ordering::SeqCst);
        if signal == 0 {
            return;
        }
        let names = match self.names.try_lock() {
            Ok(names) => names,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        names.remove_all();
        self.speak(signal);
        take_effect(signal);
    }

    fn speak(&self, signal: i32) {
        if let Some(last_words) = self.last_words.get() {
            last_words(signal);
        }
    }

    /// Removes the files as soon as no thread holds the lock. If the thread that holds it waits for this one, the
    /// files stay.
    fn remove_soon(&self) {
        for _ in 0..100 {
            match self.names.try_lock() {
                Ok(names) => return names.remove_all(),
                Err(_) => sleep(Duration::from_millis(1)),
            }
        }
    }
}

impl Names {
    /// Has the files removed when a signal ends the process.
    #[allow(unsafe_code)]
    fn watch(&mut self) -> io::Result<()> {
        if mem::replace(&mut self.watched, true) {
            return Ok(());
        }
        memory::before_the_end(|| {
            REGISTRY.remove_soon();
            REGISTRY.speak(0);
        });
        // SAFETY: `signal` stores a number and tries a lock once. If it gets the lock, which no thread holds then, it
        // makes system calls and ends the process; otherwise it returns.
        unsafe { on_ending_signal(|signal| REGISTRY.signal(signal)) }
    }

    fn remove_all(&self) {
        for (_, directory, name) in &self.all {
            let _ = directory.remove(name.as_c_str());
        }
    }
}

impl TemporaryName {
    /// Lets `rename` rename the file. Afterwards it is no longer a temporary file.
    pub fn rename(self, rename: impl FnOnce(&OsStr) -> io::Result<()>) -> io::Result<()> {
        turn(|names| {
            rename(&self.name)?;
            names.all.retain(|(number, ..)| *number != self.number);
            Ok(())
        })
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        turn(|names| {
            for (_, directory, name) in names.all.extract_if(.., |(number, ..)| *number == self.number) {
                let _ = directory.remove(name.as_c_str());
            }
        });
    }
}

/// How many bytes of a result's name are in its temporary file's name: eCryptfs limits names to 143 bytes.
const KEPT: usize = 100;

/// `.NAME.hybz-END`. A long NAME is cut between two characters, because file systems like vfat refuse half characters.
fn hidden_name(result: &OsStr, end: &str) -> OsString {
    let result = result.as_bytes();
    let is_start = |at: &usize| result.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let cut = if result.len() <= KEPT { result.len() } else { (0..=KEPT).rev().find(is_start).unwrap_or(0) };
    OsString::from_vec([b".", &result[..cut], b".hybz-", end.as_bytes()].concat())
}

/// Removes the file of a process that was killed while it named the result. For root, the result may have been meant
/// for one of `owners`.
pub fn remove_leftover(directory: &Directory, result: &OsStr, owners: &[u32]) {
    directory.remove_abandoned(&hidden_name(result, "tmp"), owners);
}

/// Whether a file of this name is the leftover of a killed process.
pub fn is_hidden_name(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let end = name.windows(6).rposition(|part| part == b".hybz-").map(|at| &name[at + 6..]);
    let is_number = |end: &[u8]| end.len() == 16 && end.iter().all(u8::is_ascii_hexdigit);
    name.starts_with(b".") && end.is_some_and(|end| end == b"tmp" || is_number(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names_are_short_and_whole() {
        assert_eq!(hidden_name(OsStr::new("a.bz2"), "tmp"), ".a.bz2.hybz-tmp");
        assert!(
            is_hidden_name(OsStr::new(".a.bz2.hybz-tmp")) && is_hidden_name(OsStr::new(".a.hybz-0123456789abcdef"))
        );
        assert!(!is_hidden_name(OsStr::new("a.hybz-tmp")) && !is_hidden_name(OsStr::new(".a.hybz-tmp.bz2")));
        let longest = OsString::from("n".repeat(255));
        assert!(hidden_name(&longest, "0123456789abcdef").len() <= 143);
        let umlauts = OsString::from(format!("x{}", "ü".repeat(100)));
        assert_eq!(hidden_name(&umlauts, "tmp"), *format!(".x{}.hybz-tmp", "ü".repeat(49)));
        let no_text = OsString::from_vec(vec![0x80; 255]);
        assert_eq!(hidden_name(&no_text, "tmp"), "..hybz-tmp");
    }
}
