//! Files that appear complete or not at all.
//!
//! A result is written to a file without a name (`O_TMPFILE`) in the result's directory, readable only by its owner,
//! and gets its name by `linkat` when it is complete. Nothing that ends the process, not even SIGKILL, can leave a
//! partial result, and because `linkat` refuses a name that is taken, "already exists" is free of races. To replace a
//! file (`-f`), the complete result gets a hidden name, which is then renamed over the old file: SIGKILL in between
//! leaves the old file and the hidden one, which the next call that makes the same result removes. If the file system
//! cannot create files without a name, a hidden file is used from the beginning.
//!
//! A source is removed only after its result has its name, which is looked up again to be sure.
//!
//! Owner, mode, access control list and times are set on the open file, never by name. A file system that does not
//! store them (vfat, exFAT, some FUSE ones) gives every file the same ones, set by the mount.
//!
//! Long runs of zeros become holes: they are skipped, not written. The gap between the end of a file and the next write
//! reads as zeros, and takes no space on most file systems. A run begins with a whole piece of the file, so no block of
//! the file system is written for it.

use crate::cli::files::SourceFile;
use hybz::internals::Sequential;
use hybz_files::attributes::{self, RefusedMode};
use hybz_files::directory::Directory;
use hybz_files::temporary::{TemporaryName, remove_leftover};
use hybz_files::{atomic_file, file};
use std::ffi::OsString;
use std::fs::{File, FileTimes};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub struct OutputFile {
    pub path: PathBuf,
    pub name: OsString,
    pub directory: Directory,
    file: File,
    kind: Kind,
    /// Whether a file had its name when this was last checked.
    taken: bool,
    /// Makes holes instead of zeros, if they are wanted.
    holes: Option<Holes>,
}

enum Kind {
    /// It has no name yet. If it replaces a file, it will have a hidden name for a moment.
    Unnamed,
    Hidden(TemporaryName),
    /// It is a device or FIFO that existed before, and stays.
    Existing,
}

impl OutputFile {
    /// Creates the file `path` in its directory, readable only by its owner if `private`. With `existing`, an existing
    /// device or FIFO of that name is written to. Removes what a killed process has left; for root, also if one of
    /// `owners` owns that.
    pub fn create(
        path: &Path,
        directory: Directory,
        (private, existing): (bool, bool),
        owners: &[u32],
    ) -> io::Result<OutputFile> {
        let name = path.file_name().ok_or_else(file::is_a_directory)?.to_owned();
        remove_leftover(&directory, &name, owners);
        let device = if existing { directory.open_device(&name)? } else { None };
        let (file, kind) = match device {
            Some(device) => (device, Kind::Existing),
            None => match atomic_file::create(&directory, &name, private)? {
                (file, None) => (file, Kind::Unnamed),
                (file, Some(name)) => (file, Kind::Hidden(name)),
            },
        };
        Ok(OutputFile { path: path.to_owned(), name, directory, file, kind, taken: false, holes: None })
    }

    /// Lets long runs of zeros become holes, if that is `wanted` and the file is new. Called before the first write.
    pub fn with_holes(mut self, wanted: bool) -> OutputFile {
        self.holes = (wanted && !matches!(self.kind, Kind::Existing)).then(Holes::default);
        self
    }

    /// Gives the result the owner, mode, access control list and times of its source. Returns the mode that the result
    /// has if it could not get the source's mode.
    pub fn set_attributes(&self, source: &SourceFile) -> io::Result<Option<RefusedMode>> {
        if matches!(self.kind, Kind::Existing) {
            return Ok(None);
        }
        let times = FileTimes::new().set_accessed(source.found.accessed()?).set_modified(source.found.modified()?);
        attributes::hand_on(&self.file, &source.found, source.acl.as_ref(), Some(times))
    }

    pub fn replaces(&mut self) -> bool {
        self.taken = !matches!(self.kind, Kind::Existing) && self.directory.find_link(&self.name).is_ok();
        self.taken
    }

    pub fn start_sync(&self) {
        file::start_writing(&self.file);
    }

    /// Waits until the data are on the disk. Returns false if the file system refuses to sync files.
    pub fn sync(&self) -> io::Result<bool> {
        match self.kind {
            Kind::Existing => Ok(true),
            _ => file::sync_data(&self.file),
        }
    }

    pub fn read_again(&self) -> io::Result<Sequential<File>> {
        file::forget_pages(&self.file);
        Ok(Sequential { source: self.file.try_clone()?, at: 0 })
    }

    /// Closes the file and gives it its name. With `replace`, it may replace another file. After an error the file is
    /// gone.
    pub fn publish(mut self, replace: bool) -> io::Result<()> {
        self.flush()?;
        let OutputFile { path: _, name, directory, file, kind, taken, holes: _ } = self;
        let hidden = match kind {
            Kind::Existing => return file::close(file.into()),
            Kind::Hidden(hidden) => Some(hidden),
            Kind::Unnamed => None,
        };
        atomic_file::publish(&directory, &name, file, hidden, (replace, taken))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(holes) = &mut self.holes else { return self.file.write(bytes) };
        match holes.first_run(bytes) {
            (true, zeros) => {
                holes.at += zeros as u64;
                holes.gap += zeros as u64;
                Ok(zeros)
            }
            (false, len) => {
                if holes.gap > 0 {
                    self.file.seek(SeekFrom::Start(holes.at))?;
                }
                let written = self.file.write(&bytes[..len])?;
                holes.gap = 0;
                holes.at += written as u64;
                Ok(written)
            }
        }
    }

    /// Makes the file as long as what was written to it. This changes the file's time.
    fn flush(&mut self) -> io::Result<()> {
        let Some(holes @ Holes { gap: 1.., .. }) = &mut self.holes else { return Ok(()) };
        // Some file systems cannot lengthen files with `ftruncate`.
        if self.file.set_len(holes.at).is_err() {
            self.file.seek(SeekFrom::Start(holes.at - 1))?;
            self.file.write_all(&[0])?;
        }
        self.file.seek(SeekFrom::Start(holes.at))?;
        holes.gap = 0;
        Ok(())
    }
}

/// The shortest run that becomes a hole: the block size of most file systems.
const PIECE: usize = 4 << 10;

/// The position at which a file is written, and how many zeros before it have been skipped but are not in the file yet.
#[derive(Debug, Default)]
struct Holes {
    at: u64,
    gap: u64,
}

impl Holes {
    /// The run that these bytes begin with: whether it is of zeros to skip, and its length.
    fn first_run(&self, bytes: &[u8]) -> (bool, usize) {
        let into_piece = (self.at % PIECE as u64) as usize;
        let head = if into_piece == 0 { 0 } else { (PIECE - into_piece).min(bytes.len()) };
        let mut zeros = 0;
        if head == 0 || (self.gap > 0 && is_zero(&bytes[..head])) {
            zeros = head;
            for piece in bytes[head..].chunks(PIECE) {
                // Fewer zeros than a piece can continue a run, but cannot begin one.
                let long = piece.len() == PIECE || self.gap > 0 || zeros > 0;
                if !long || !is_zero(piece) {
                    break;
                }
                zeros += piece.len();
            }
        }
        if zeros > 0 {
            return (true, zeros);
        }
        let first = if head > 0 { head } else { PIECE.min(bytes.len()) };
        let next = bytes[first..].chunks_exact(PIECE).position(is_zero);
        (false, next.map_or(bytes.len(), |pieces| first + pieces * PIECE))
    }
}

/// Whether a piece is all zeros. Its first word already excludes nearly every other piece.
fn is_zero(piece: &[u8]) -> bool {
    piece.first_chunk::<8>().is_none_or(|word| *word == [0; 8]) && *piece == [0; PIECE][..piece.len()]
}
