//! The descriptors and the temporary files of a merge in several rounds.
//!
//! The results of a round go to one file, one after the other, and are read from there by their offsets: so the number
//! of descriptors does not depend on the number of results.

use crate::failure::Failure;
use crate::spill::Spill;
use hybz_files::{file, process};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Descriptors that are needed besides the inputs: the files of up to three rounds.
const FILES: usize = 3;

/// The number of descriptors in use if the system does not say it.
const USUAL: usize = 16;

/// The number of files that can be read at once.
pub fn at_once() -> usize {
    let used = process::open_descriptors().unwrap_or(USUAL);
    let all = usize::try_from(process::raise_max_descriptors()).unwrap_or(usize::MAX);
    all.saturating_sub(used + FILES).max(2)
}

/// Whether a file could not be opened because too many are open, here or in the whole system.
pub fn is_out_of_descriptors(failure: &Failure) -> bool {
    let Failure::System { error, .. } = failure else { return false };
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// A part of a temporary file. It is read once.
pub struct Part {
    file: Arc<File>,
    at: u64,
    end: u64,
    from: u64,
}

impl Read for Part {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buf.len());
        let len = self.file.read_at(&mut buf[..most], self.at)?;
        if len == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += len as u64;
        Ok(len)
    }
}

impl Drop for Part {
    /// Gives the space on the disk back. File systems that cannot do it free it with the file.
    fn drop(&mut self) {
        if self.end > self.from {
            let _ = file::release(&self.file, self.from, self.end - self.from);
        }
    }
}

/// The file of the current round.
pub struct Rounds<'a> {
    spill: &'a Spill,
    file: Option<Arc<File>>,
    /// A descriptor that is given up for a file when no other is left.
    reserve: Option<File>,
}

impl<'a> Rounds<'a> {
    pub fn new(spill: &'a Spill) -> Rounds<'a> {
        Rounds { spill, file: None, reserve: None }
    }

    /// Begins a step that reads these results of earlier steps. If one is of the current round, it ends that round.
    pub fn begin<'p>(&mut self, mut read: impl Iterator<Item = &'p Part>) {
        if read.any(|part| self.file.as_ref().is_some_and(|file| Arc::ptr_eq(file, &part.file))) {
            self.file = None;
        }
        // A round that has its file needs no other.
        if self.file.is_none() && self.reserve.is_none() {
            self.reserve = File::open("/dev/null").ok();
        }
    }

    /// Has `write` append the result of a step to the file of the round.
    pub fn append<E>(
        &mut self,
        write: impl FnOnce(&File) -> Result<(), E>,
        failed: impl Fn(io::Error) -> E,
    ) -> Result<Part, E> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => {
                self.reserve = None;
                let file = Arc::new(self.spill.create().map_err(&failed)?);
                Arc::clone(self.file.insert(file))
            }
        };
        let from = (&*file).stream_position().map_err(&failed)?;
        write(&file)?;
        let end = (&*file).stream_position().map_err(&failed)?;
        Ok(Part { file, at: from, end, from })
    }
}
