//! Files that are read: operands of which nothing is made, and the file that a result comes from. The result gets its
//! attributes, and the file may be removed afterwards.

use crate::cli::args::{Operand, Plan};
use crate::cli::files::Place;
use crate::cli::messages::Failure;
use hybz_files::acl::Acl;
use hybz_files::directory::{Directory, Stat};
use hybz_files::tree::{self, Id};
use hybz_files::{file, process};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// Opens an operand for a mode that makes no result of it, without waiting for the writer of a FIFO; the first value
/// is `None` for stdin. A file that is not regular is refused unless `any`. `reading` tells a user who typed no file
/// what hybz does not read from a terminal.
pub fn open(plan: &Plan, operand: &Operand, reading: &str, any: bool) -> Result<(Option<SourceFile>, File), Failure> {
    let name = operand.name();
    let Operand::File(path) = operand else {
        let file = stdin().map_err(|e| Failure::input("read", name, &e))?;
        if file.is_terminal() {
            return Err(Failure::terminal(&plan.program, reading));
        }
        return Ok((None, file));
    };
    let is = |what: &str| Failure::about(1, "Input file ", name, what);
    let opened = Place::opened(path, None).and_then(|place| Ok((place.open_at_once(true)?, place)));
    match opened.map_err(|e| Failure::input("open", name, &e))? {
        ((_, found), _) if found.is_dir() => Err(is(" is a directory.")),
        ((Some(file), found), place) if any || found.is_file() => {
            let acl = list_of(&file);
            Ok((Some(SourceFile { place, found, acl }), file))
        }
        ((None, _), _) if any => Err(Failure::input("open", name, &file::not_found())),
        _ => Err(is(" is not a normal file.").remark()),
    }
}

pub fn stdin() -> io::Result<File> {
    process::check_stdin()?;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Refuses files that do not allow reads at arbitrary offsets.
pub fn check_file(name: &OsStr, file: &mut File, flag: &str) -> Result<(), Failure> {
    let say = |what: String| Failure::about(1, "Input file ", name, &what);
    let read_error = |e: io::Error| Failure::input("read", name, &e);
    if !file.metadata().map_err(read_error)?.is_file() {
        return Err(say(format!(" is not a file on a disk: {flag} cannot seek in it.")));
    }
    if file.stream_position().map_err(read_error)? > 0 {
        return Err(say(format!(" is not at its beginning: {flag} counts from there.")));
    }
    Ok(())
}

pub struct SourceFile {
    pub place: Place,
    pub found: Metadata,
    pub acl: Option<Acl>,
}

impl SourceFile {
    /// A copy for reading its data again. It has no access control list, which comparing data does not need.
    pub fn again(&self) -> SourceFile {
        SourceFile { place: self.place.clone(), found: self.found.clone(), acl: None }
    }

    /// Opens the file again. `None` if its name now leads to another file, or it has changed.
    pub fn open_again(&self) -> io::Result<Option<File>> {
        let (file, _) = self.place.open_at_once(true)?;
        match file {
            Some(file) if self.is_unchanged(&file)? => Ok(Some(file)),
            _ => Ok(None),
        }
    }

    pub fn is_unchanged(&self, file: &File) -> io::Result<bool> {
        Ok(is_still(&self.found, &rustix::fs::fstat(file)?))
    }

    /// Removes the file if its name still leads to the file that was opened and that file has not changed. (mtime can
    /// be set back, but ctime cannot.)
    ///
    /// The check and the removal look up the name in one open directory, the result's if that is the same: replacing
    /// the directory in between has no effect.
    pub fn remove(&self, beside: &Directory) -> Result<(), Failure> {
        let name = self.place.name();
        let remove = || -> io::Result<bool> {
            let (directory, name) = (self.place.directory(Some(beside))?, self.place.file_name()?);
            let is_still = is_still(&self.found, &directory.find(name)?);
            if is_still { directory.remove(name).map(|()| true) } else { Ok(false) }
        };
        match remove() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::changed(name)),
            Err(e) => Err(Failure::input("remove", name, &e)),
        }
    }
}

pub fn is_still(then: &Metadata, now: &Stat) -> bool {
    (tree::id(now), now.st_size as u64) == (id(then), then.len())
        && (now.st_mtime, now.st_mtime_nsec) == (then.mtime(), then.mtime_nsec())
        && (now.st_ctime, now.st_ctime_nsec) == (then.ctime(), then.ctime_nsec())
}

/// The file's access control list. An unreadable list may forbid anything.
pub fn list_of(file: &File) -> Option<Acl> {
    Acl::of(file).unwrap_or_else(|_| Some(Acl::unknown()))
}

pub fn id(found: &Metadata) -> Id {
    (found.dev(), found.ino())
}
