//! The name of a file, and the directory in which it is looked up.
//!
//! A name that was typed is looked up as it is. A name that a walk found is looked up in the open directory in which it
//! was found: renaming that directory meanwhile, or putting a link in its place, cannot lead hybz elsewhere, and a path
//! may be longer than the system accepts.

use hybz_files::directory::{self, Directory, Stat};
use hybz_files::file;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A file's name.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    directory: Option<Directory>,
}

impl Place {
    pub fn typed(path: impl Into<PathBuf>) -> Place {
        Place { path: path.into(), directory: None }
    }

    /// The file in `directory` that the last part of `path` names.
    pub fn within(directory: Directory, path: PathBuf) -> Place {
        Place { path, directory: Some(directory) }
    }

    /// Another file in the same directory.
    pub fn beside(&self, path: PathBuf) -> Place {
        Place { path, directory: self.directory.clone() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's name in messages.
    pub fn name(&self) -> &OsStr {
        self.path.as_os_str()
    }

    /// Whether it was typed, not found by a walk.
    pub fn is_typed(&self) -> bool {
        self.directory.is_none()
    }

    /// The file's name in its directory.
    pub fn file_name(&self) -> io::Result<&OsStr> {
        self.path.file_name().filter(|_| !self.name().as_bytes().ends_with(b"/")).ok_or_else(file::not_found)
    }

    /// The file's directory: `last`, if that is the same directory.
    pub fn directory(&self, last: Option<&Directory>) -> io::Result<Directory> {
        match &self.directory {
            Some(directory) => Ok(directory.clone()),
            None => Directory::of(&self.path, last),
        }
    }

    /// The attributes of the file, following symbolic links.
    pub fn find(&self) -> io::Result<Stat> {
        match &self.directory {
            Some(directory) => directory.find(self.file_name()?),
            None => directory::find(&self.path, true),
        }
    }

    /// Whether the name leads to a FIFO or a character device.
    pub fn is_stream(&self) -> bool {
        self.find().is_ok_and(|found| directory::is_stream(&found))
    }

    /// The attributes of the file; a symbolic link is not followed.
    pub fn find_link(&self) -> io::Result<Stat> {
        match &self.directory {
            Some(directory) => directory.find_link(self.file_name()?),
            None => directory::find(&self.path, false),
        }
    }

    /// Opens the file for reading, as [`file::open_at_once`] does. A symbolic link found by a walk is never followed.
    pub fn open_at_once(&self, follow: bool) -> io::Result<(Option<File>, Metadata)> {
        match &self.directory {
            Some(directory) => {
                let file = directory.open_at_once(self.file_name()?)?;
                let found = file.metadata()?;
                Ok((Some(file), found))
            }
            None => file::open_at_once(&self.path, follow),
        }
    }
}
