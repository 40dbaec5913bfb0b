//! Named temporary files, and the signals that must not leave one behind.
//!
//! A result normally has no name until it is complete, so a signal can end the process at any time and there is nothing
//! to clean up: no handler is installed. Only where a file system needs named temporary files does a thread wait for
//! the signals that end a process. It removes those files and then lets the signal take effect.

use crate::cli::os::directory::Directory;
use crate::cli::os::signals::on_ending_signal;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All named temporary files that exist now.
#[derive(Clone, Default)]
pub struct TemporaryFiles(Arc<Mutex<Registry>>);

#[derive(Default)]
struct Registry {
    /// Whether the thread that waits for signals was started.
    watched: bool,
    last_number: u64,
    names: Vec<(u64, Directory, OsString)>,
}

/// The name of a temporary file, which is removed when this is dropped.
pub struct TemporaryName {
    all: TemporaryFiles,
    number: u64,
    name: OsString,
}

impl TemporaryFiles {
    /// Creates a file for writing under a new hidden name in `directory`, which begins with that of the result `name`.
    pub fn create(&self, directory: &Directory, name: &OsStr) -> io::Result<(File, TemporaryName)> {
        self.with_new_name(directory, name, |temporary| directory.create_new(temporary))
    }

    /// Lets `make` create something under such a name. A signal that arrives in the meantime waits, then removes it.
    pub fn with_new_name<T>(
        &self,
        directory: &Directory,
        name: &OsStr,
        mut make: impl FnMut(&OsStr) -> io::Result<T>,
    ) -> io::Result<(T, TemporaryName)> {
        let mut registry = self.lock();
        if !registry.watched {
            self.watch()?;
            registry.watched = true;
        }
        loop {
            registry.last_number += 1;
            let number = registry.last_number;
            let name = hidden_name(name, number);
            match make(&name) {
                Ok(made) => {
                    registry.names.push((number, directory.clone(), name.clone()));
                    return Ok((made, TemporaryName { all: self.clone(), number, name }));
                }
                // Left behind by a process with our process id that was killed.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the files when a signal ends the process.
    fn watch(&self) -> io::Result<()> {
        let all = self.clone();
        on_ending_signal(move |signal| {
            // Locked until the end: nobody creates another file or gives one its final name.
            let registry = all.lock();
            for (_, directory, name) in &registry.names {
                let _ = directory.remove(name);
            }
            signal.take_effect();
        })
    }
}

impl TemporaryName {
    /// Lets `rename` rename the file, which is not a temporary file any more afterwards.
    pub fn rename(self, rename: impl FnOnce(&OsStr) -> io::Result<()>) -> io::Result<()> {
        let mut registry = self.all.lock();
        rename(&self.name)?;
        registry.names.retain(|(number, ..)| *number != self.number);
        Ok(())
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        let mut registry = self.all.lock();
        if let Some(at) = registry.names.iter().position(|(number, ..)| *number == self.number) {
            let (_, directory, name) = registry.names.swap_remove(at);
            let _ = directory.remove(&name);
        }
    }
}

/// `.NAME.hybz-PID-N`, with NAME cut so that the whole has at most the 255 bytes that file systems take.
fn hidden_name(name: &OsStr, number: u64) -> OsString {
    let name = &name.as_bytes()[..name.len().min(200)];
    let end = format!(".hybz-{}-{number}", std::process::id());
    OsString::from_vec([b".", name, end.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names_are_short_enough() {
        let longest = OsString::from("n".repeat(255));
        assert!(hidden_name(&longest, 999).len() <= 255);
        let name = hidden_name(OsStr::new("a.bz2"), 1);
        assert!(name.as_bytes().starts_with(b".a.bz2.hybz-") && name.as_bytes().ends_with(b"-1"));
    }
}
