//! The input files: all are checked before any work, and each is opened when its turn comes.

use crate::failure::{Failure, STDIN};
use hybz_files::{file, process};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Duration, Instant};

/// Checks that all files can be read. (Those that come later in the work may have gone by then.)
pub fn check_readable(files: &[OsString]) -> Result<(), Failure> {
    for name in files.iter().filter(|name| *name != STDIN) {
        accessat(CWD, &**name, Access::READ_OK, AtFlags::EACCESS)
            .map_err(|e| Failure::system("cannot read", name, e.into()))?;
    }
    Ok(())
}

/// An open file.
pub struct Input {
    name: OsString,
    pub file: File,
    /// The part of a regular file that is read: from here up to its current end.
    pub extent: Option<Range<u64>>,
}

/// Opens a file.
pub fn open(name: &OsStr) -> Result<Input, Failure> {
    let file = open_plain(name)?;
    let look = || {
        let found = file.metadata()?;
        // Files in /proc have no length.
        let is_regular = found.is_file() && found.len() > 0;
        Ok(if is_regular { Some((&file).stream_position()?..found.len()) } else { None })
    };
    let extent = look().map_err(|e| Failure::system("read failed", name, e))?;
    Ok(Input { name: name.to_owned(), file, extent })
}

/// Regular files, seen as one text.
pub struct Whole {
    /// Each file, with the offset at which its text begins in it and in the whole text.
    files: Vec<(File, u64, u64)>,
    /// The length of the whole text in bytes.
    pub bytes: u64,
    began: Instant,
}

/// The maximum number of files to sample: all of them are open at once.
const MOST_FILES: usize = 100;

impl Whole {
    /// The text at an offset, if all samples so far have been quick: samples from a disk are slow, and do not pay.
    /// (The limit is a hundredth of the time that a fast disk takes for all of the text, plus 50 ms.)
    pub fn look(&self, at: u64) -> Option<Vec<u8>> {
        let most = Duration::from_millis(50) + Duration::from_nanos(self.bytes / 50);
        let (file, from, start) =
            &self.files[self.files.partition_point(|(_, _, start)| *start <= at).checked_sub(1)?];
        let mut bytes = vec![0; 8192];
        let len = file.read_at(&mut bytes, from + (at - start)).ok().filter(|_| self.began.elapsed() < most)?;
        bytes.truncate(len);
        Some(bytes)
    }
}

/// All these files as one text, if all are regular. It reports no errors: reading the files will meet them.
pub fn whole(names: &[OsString]) -> Option<Whole> {
    let began = Instant::now();
    let (mut files, mut bytes) = (Vec::new(), 0);
    for name in Some(names).filter(|names| names.len() <= MOST_FILES)? {
        // Only regular files may be opened here: the first bytes of others would be lost.
        let found = match name == STDIN {
            true => open_plain(name).ok()?.metadata(),
            false => std::fs::metadata(name),
        };
        found.ok().filter(|found| found.is_file() && found.len() > 0)?;
        let Input { file, extent, .. } = open(name).ok()?;
        let Range { start, end } = extent?;
        if end > start {
            files.push((file, start, bytes));
            bytes += end - start;
        }
    }
    Some(Whole { files, bytes, began })
}

/// Opens a file, or stdin.
pub fn open_plain(name: &OsStr) -> Result<File, Failure> {
    if name == STDIN {
        let stdin = process::check_stdin().and_then(|()| io::stdin().as_fd().try_clone_to_owned());
        return stdin.map(File::from).map_err(|e| Failure::system("read failed", STDIN, e));
    }
    File::open(name).map_err(|e| Failure::system("open failed", name, e))
}

impl Input {
    #[cfg(test)]
    pub fn of(file: File, extent: Range<u64>) -> Input {
        Input { name: OsString::new(), file, extent: Some(extent) }
    }

    /// An error of reading, which carries the message.
    pub fn failed(&self, e: io::Error) -> io::Error {
        io::Error::other(Failure::system("read failed", &self.name, e))
    }

    /// Whether it is the file of this device and inode.
    pub fn is(&self, file: (u64, u64)) -> bool {
        self.file.metadata().is_ok_and(|found| (found.dev(), found.ino()) == file)
    }
}

/// Reading waits even if the file was opened as non-blocking.
impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buf) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    file::wait_readable(&self.file).map_err(|e| self.failed(e))?;
                }
                Err(e) => return Err(self.failed(e)),
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Two files as one text, the second of which has been read up to its third byte.
    #[test]
    fn what_stands_where() {
        let file = |text: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text).unwrap();
            file
        };
        let text = b"0123456789".repeat(1000);
        let files = vec![(file(&text), 0, 0), (file(b"abcdefgh"), 3, 10_000)];
        let whole = Whole { files, bytes: 10_005, began: Instant::now() };
        let from = |at: u64| whole.look(at).unwrap();
        assert!(from(0) == text[..8192] && from(4321) == text[4321..] && from(9_999) == b"9");
        assert_eq!((&from(10_000)[..], &from(10_003)[..]), (&b"defgh"[..], &b"gh"[..]));
    }
}
