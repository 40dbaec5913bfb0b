//! `--output-dir`: the directories that results go to, which are made like those of the sources.
//!
//! The result of `a/b/c` is `DIR/a/b/c.bz2`, that of `/a/b` `DIR/a/b.bz2`. A name with `..` is refused, and beneath DIR
//! no symbolic link is followed: nothing is ever written outside it.

use crate::cli::os::directory::{self, Directory};
use crate::cli::os::slots::Slots;
use crate::cli::os::tree::{self, Attributes, Id};
use crate::cli::output::mode_for;
use crate::cli::report::Failure;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The directory DIR.
pub struct Mirror {
    root: Directory,
    id: Id,
    /// The last directory that a result went to, beneath DIR: the next one is usually the same.
    last: (PathBuf, Directory),
    slots: Slots,
    /// Whether the names of directories that are made must be on the disk.
    sync: bool,
}

impl Mirror {
    /// Opens DIR, and makes it if it is missing.
    pub fn new(path: &Path, slots: &Slots, sync: bool) -> Result<Mirror, Failure> {
        let open = || -> io::Result<(Directory, Id)> {
            let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
            let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
            fs::create_dir_all(path)?;
            for made in missing.into_iter().filter(|_| sync) {
                Directory::of(made, None)?.sync()?;
            }
            let (root, found) = tree::open(path, true, slots)?.ok_or(io::ErrorKind::NotADirectory)?;
            Ok((root, tree::id(&found)))
        };
        let (root, id) = open().map_err(|e| Failure::directory(path, &e))?;
        Ok(Mirror { last: (PathBuf::new(), root.clone()), root, id, slots: slots.clone(), sync })
    }

    pub fn id(&self) -> Id {
        self.id
    }

    pub fn root(&self) -> &Directory {
        &self.root
    }

    /// The directory `below` DIR, which is made if it is missing. `attributes` says what the first so many parts of
    /// `below` are like where the source is.
    pub fn directory(
        &mut self,
        below: &Path,
        attributes: impl Fn(usize) -> Option<Attributes>,
    ) -> Result<Directory, Failure> {
        if self.last.0 == below {
            return Ok(self.last.1.clone());
        }
        // Down from the last one, if that is above. A walk mostly goes that way.
        let (mut depth, mut directory, rest) = match below.strip_prefix(&self.last.0) {
            Ok(rest) => (self.last.0.components().count(), self.last.1.clone(), rest),
            Err(_) => (0, self.root.clone(), below),
        };
        for name in rest {
            depth += 1;
            let path = directory.path().join(name);
            let (attributes, slots) = (|| attributes(depth), &self.slots);
            let made = tree::open_or_make(&directory, name, path.clone(), attributes, mode_for, slots, self.sync);
            directory = made.map_err(|e| Failure::directory(&path, &e))?;
        }
        self.last = (below.to_owned(), directory.clone());
        Ok(directory)
    }
}

/// Where the source `path` is beneath DIR: without `/` at the beginning, and without `.`.
pub fn below(path: &Path) -> Result<PathBuf, Failure> {
    let name = |part| match part {
        Component::Normal(name) => Some(Ok(name)),
        Component::ParentDir => Some(Err(())),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(name).collect::<Result<PathBuf, ()>>().map_err(|()| {
        let text = " has `..' in its name, which may lead out of the output directory.";
        Failure::about(1, "Input file ", path.as_os_str(), text)
    })
}

/// What the first `count` parts of the name that was typed are like.
pub fn typed_attributes(path: &Path, count: usize) -> Option<Attributes> {
    let is_name = |part: &&OsStr| *part != "." && *part != "/";
    let parts: PathBuf = path.iter().filter(is_name).take(count).collect();
    let path = if path.is_absolute() { Path::new("/").join(parts) } else { parts };
    directory::find(&path, true).ok().map(|found| (&found).into())
}

#[cfg(test)]
mod tests {
    use super::below;
    use std::path::Path;

    #[test]
    fn places_of_results() {
        for (path, expected) in [("a/b", "a/b"), ("/a//b", "a/b"), ("./a/./b/", "a/b"), (".", ""), ("/", "")] {
            assert_eq!(below(Path::new(path)).ok().as_deref(), Some(Path::new(expected)), "{path}");
        }
        for path in ["..", "a/../b", "/..", "a/.."] {
            assert!(below(Path::new(path)).is_err(), "{path}");
        }
    }
}
