//! `--output-dir`: the directories for results, made like those of the sources.
//!
//! The result of `a/b/c` is `DIR/a/b/c.bz2`, that of `/a/b` is `DIR/a/b.bz2`. A name with `..` is refused, and no
//! symbolic link below DIR is followed: nothing is ever written outside DIR.

use crate::cli::messages::Failure;
use hybz_files::attributes::mode_for;
use hybz_files::directory::{self, Directory};
use hybz_files::last_mode::LastMode;
use hybz_files::slots::Slots;
use hybz_files::tree::{self, Attributes, Id};
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

pub struct Mirror {
    root: Directory,
    pub id: Id,
    /// The directory DIR, for [`LastMode`].
    top: Arc<OwnedFd>,
    /// The directory of the last result, below DIR: usually the next result goes to the same one.
    last: (PathBuf, Directory),
    /// The final modes of the directories on the path to `last`. A directory gets its mode when the path leaves it.
    last_modes: Vec<Option<Arc<LastMode>>>,
    slots: Slots,
    /// Whether the names of new directories must be synced.
    sync: bool,
}

impl Mirror {
    pub fn new(path: &Path, slots: &Slots, sync: bool) -> Result<Mirror, Failure> {
        let open = || -> io::Result<(Directory, Id, OwnedFd)> {
            let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
            let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
            fs::create_dir_all(path)?;
            for made in missing.into_iter().filter(|_| sync) {
                Directory::of(made, None)?.sync()?;
            }
            let (root, found) = tree::open(path, true, slots)?.ok_or(io::ErrorKind::NotADirectory)?;
            let top = root.as_fd().try_clone_to_owned()?;
            Ok((root, tree::id(&found), top))
        };
        let (root, id, top) = open().map_err(|e| Failure::cannot("make the directory", path.as_os_str(), &e))?;
        let (last, last_modes) = ((PathBuf::new(), root.clone()), Vec::new());
        Ok(Mirror { top: Arc::new(top), last, last_modes, root, id, slots: slots.clone(), sync })
    }

    /// Opens the directory `below` DIR, or creates it. `attributes(n)` returns the attributes of the source's directory
    /// at the first `n` parts of `below`.
    pub fn directory(
        &mut self,
        below: &Path,
        attributes: impl Fn(usize) -> Option<Attributes>,
    ) -> Result<Directory, Failure> {
        if self.last.0 == below {
            return Ok(self.last.1.clone());
        }
        // Descends from the last directory, if that is an ancestor: walks mostly go down.
        if !below.starts_with(&self.last.0) {
            let common = below.iter().zip(&self.last.0).take_while(|(a, b)| a == b).count();
            self.last_modes.truncate(common);
            self.last = (PathBuf::new(), self.root.clone());
        }
        let known = self.last.0.iter().count();
        for (depth, name) in below.iter().enumerate().skip(known) {
            self.go_down(depth, name, || attributes(depth + 1)).inspect_err(|_| self.last_modes.truncate(depth))?;
        }
        Ok(self.last.1.clone())
    }

    fn go_down(
        &mut self,
        depth: usize,
        name: &OsStr,
        attributes: impl FnOnce() -> Option<Attributes>,
    ) -> Result<(), Failure> {
        let (below, parent) = (self.last.0.join(name), &self.last.1);
        let path = parent.path().join(name);
        let wanted = tree::Wanted {
            parent,
            name,
            below: (&self.top, &below),
            above: self.last_modes[..depth].iter().rev().flatten().next(),
            narrowed: mode_for,
            sync: self.sync,
        };
        let (fd, mut last_mode) =
            wanted.open_or_make(attributes).map_err(|e| Failure::cannot("make the directory", path.as_os_str(), &e))?;
        match self.last_modes.get(depth) {
            Some(known) => last_mode = known.clone(),
            None => self.last_modes.push(last_mode.clone()),
        }
        self.last = (below, Directory::opened(path, fd, last_mode, Some(self.slots.take())));
        Ok(())
    }
}

/// The path of the source `path` below DIR: without a leading `/`, and without `.`.
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

/// The attributes of the directory that the first `count` parts of the typed name lead to.
pub fn typed_attributes(path: &Path, count: usize) -> Option<Attributes> {
    let is_name = |part: &&OsStr| *part != "." && *part != "/";
    let parts: PathBuf = path.iter().filter(is_name).take(count).collect();
    let path = if path.is_absolute() { Path::new("/").join(parts) } else { parts };
    directory::find(&path, true).ok().map(|found| (&found).into())
}
