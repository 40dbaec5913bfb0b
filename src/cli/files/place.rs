//! The name of a file, and the directory in which it is looked up.
//!
//! A name that a walk found is looked up in the open directory in which it was found, and a name that was typed in the
//! directory that [`Place::open_directory`] opened: renaming that directory meanwhile, or putting a link in its place,
//! cannot lead hybz elsewhere, and a path that a walk makes may be longer than the system accepts.

use hybz_files::directory::{self, Directory, Stat};
use hybz_files::file;
use hybz_files::slots::Slots;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    directory: Option<Directory>,
    is_typed: bool,
}

impl Place {
    pub fn typed(path: impl Into<PathBuf>) -> Place {
        Place { path: path.into(), directory: None, is_typed: true }
    }

    /// A typed name, looked up in the operand's open directory if both were typed with the same directory.
    pub fn near(path: impl Into<PathBuf>, operand: Option<&Place>) -> Place {
        let mut place = Place::typed(path);
        if let Some(operand) = operand.filter(|near| near.path.parent() == place.path.parent())
            && place.file_name().is_ok()
        {
            place.directory.clone_from(&operand.directory);
        }
        place
    }

    /// Like [`near`](Place::near); any other directory is opened, so that all uses of the name are within it.
    pub fn opened(path: impl Into<PathBuf>, operand: Option<&Place>) -> io::Result<Place> {
        let mut place = Place::near(path, operand);
        if place.directory.is_none() && place.file_name().is_ok() {
            place.directory = Some(Directory::of(&place.path, None)?);
        }
        Ok(place)
    }

    /// The file in `directory` that the last part of `path` names.
    pub fn within(directory: Directory, path: PathBuf) -> Place {
        Place { path, directory: Some(directory), is_typed: false }
    }

    pub fn beside(&self, path: PathBuf) -> Place {
        Place { path, directory: self.directory.clone(), is_typed: self.is_typed }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn name(&self) -> &OsStr {
        self.path.as_os_str()
    }

    pub fn is_typed(&self) -> bool {
        self.is_typed
    }

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

    /// Opens a typed name's directory, or takes `last` if that is the same one: later uses of the name begin there.
    pub fn open_directory(&mut self, last: &mut Option<Directory>, slots: &Slots) -> io::Result<()> {
        if self.directory.is_none() && self.file_name().is_ok() {
            let found = Directory::of(&self.path, None)?;
            let known = last.take().filter(|last| last.is_same(&found));
            let directory = known.unwrap_or_else(|| found.counted(slots.take()));
            self.directory = Some(last.insert(directory).clone());
        }
        Ok(())
    }

    /// Whether the name leads to the system's own name of an open descriptor, as `/dev/stdin` does.
    pub fn names_open_file(&self) -> bool {
        const MOST: usize = 40;
        let mut path = self.path.clone();
        for _ in 0..MOST {
            let Ok(target) = fs::read_link(&path) else { break };
            let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
            if fs::canonicalize(parent).is_ok_and(|parent| file::names_open_files(&parent)) {
                return true;
            }
            path = parent.join(target);
        }
        false
    }

    /// The attributes of the file, following symbolic links.
    pub fn find(&self) -> io::Result<Stat> {
        match &self.directory {
            Some(directory) => directory.find(self.file_name()?),
            None => directory::find(&self.path, true),
        }
    }

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

    pub fn owner(&self) -> Option<u32> {
        self.find_link().ok().filter(directory::is_file).map(|found| found.st_uid)
    }

    /// Opens the file for reading, as [`file::open_at_once`] does. A symbolic link found by a walk is never followed.
    pub fn open_at_once(&self, follow: bool) -> io::Result<(Option<File>, Metadata)> {
        let Some(directory) = &self.directory else { return file::open_at_once(&self.path, follow) };
        match directory.open_at_once(self.file_name()?, follow && self.is_typed) {
            Ok(file) => {
                let found = file.metadata()?;
                Ok((Some(file), found))
            }
            // The link is not followed: only the attributes of its target are returned.
            Err(_) if !follow && self.is_typed && self.find_link().is_ok_and(|found| directory::is_link(&found)) => {
                Ok((None, fs::metadata(&self.path)?))
            }
            Err(e) => Err(e),
        }
    }
}
