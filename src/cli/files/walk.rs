//! The walk through a directory and those below it, one file after another.
//!
//! In each directory the files come first, then the subdirectories, both sorted by the bytes of their names: two walks
//! through the same tree are the same. All names of a directory are read before the first of its files is opened, so
//! the walk does not meet results that hybz makes next to their sources. Memory holds the names of one directory's
//! files, and of the directories still to be walked in it and in its ancestors.
//!
//! Symbolic links are not followed. Each directory is opened from the one above it, and each file from its directory
//! ([`Place`]): nothing leads the walk out of the tree, and no path is too long. Only the deepest directories are kept
//! open. A directory further up is opened again from the one below it, if it is still the same directory.

use crate::cli::args::{Kind as Mode, Plan, Target};
use crate::cli::files::{Place, ending};
use crate::cli::messages::{Failure, Skipped, Tally};
use glob::MatchOptions;
use hybz_files::directory::{Directory, Stat};
use hybz_files::slots::Slots;
use hybz_files::temporary;
use hybz_files::tree::{self, Attributes, Id, Kind};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, vec};

/// The maximum number of directories kept open: the deepest ones.
const MAX_OPEN: usize = 16;

/// `*` and `?` as in a shell, but a leading dot is no exception.
const MATCHING: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: false };

pub struct Walk {
    plan: Arc<Plan>,
    device: u64,
    levels: Vec<Level>,
    /// The path of the last level's directory, and its path relative to the operand.
    path: PathBuf,
    pub below: PathBuf,
    slots: Slots,
    tally: Arc<Tally>,
    /// A directory that is not walked, because results go to it.
    avoids: Option<Id>,
}

struct Level {
    id: Id,
    attributes: Attributes,
    /// `None` if it was closed because too many deeper ones are open.
    directory: Option<Directory>,
    files: vec::IntoIter<OsString>,
    directories: vec::IntoIter<OsString>,
}

impl Level {
    fn new(directory: Directory, found: &Stat) -> Level {
        let (files, directories) = Default::default();
        Level { id: tree::id(found), attributes: found.into(), directory: Some(directory), files, directories }
    }
}

impl Walk {
    /// The walk through `path`, or `None` if that is not a directory. A symbolic link is followed only with `-f`.
    pub fn new(
        path: &Path,
        plan: &Arc<Plan>,
        slots: &Slots,
        tally: &Arc<Tally>,
        avoids: Option<Id>,
    ) -> Result<Option<Walk>, Failure> {
        let opened = tree::open(path, plan.force, slots).map_err(|e| unreadable(path, &e))?;
        let Some((directory, found)) = opened else { return Ok(None) };
        Ok(Some(Walk {
            plan: Arc::clone(plan),
            device: tree::id(&found).0,
            levels: vec![Level::new(directory, &found)],
            path: path.to_owned(),
            below: PathBuf::new(),
            slots: slots.clone(),
            tally: Arc::clone(tally),
            avoids,
        }))
    }

    /// The attributes of the directory `depth` levels below the operand, on the path to the walk's position.
    pub fn attributes(&self, depth: usize) -> Option<Attributes> {
        Some(self.levels.get(depth)?.attributes)
    }

    pub fn is_at_end(&self) -> bool {
        self.levels.iter().all(|level| level.files.len() + level.directories.len() == 0)
    }

    pub fn next(&mut self) -> Option<Result<Place, Failure>> {
        loop {
            let level = self.levels.last_mut()?;
            if let Some(name) = level.files.next() {
                if let Some(directory) = &level.directory {
                    return Some(Ok(Place::within(directory.clone(), self.path.join(name))));
                }
            } else if let Some(name) = level.directories.next() {
                if let Err(failure) = self.enter(&name) {
                    return Some(Err(failure));
                }
            } else if let Err(failure) = self.leave() {
                return Some(Err(failure));
            }
        }
    }

    fn enter(&mut self, name: &OsStr) -> Result<(), Failure> {
        let Some(Level { directory: Some(parent), .. }) = self.levels.last() else { return Ok(()) };
        let path = self.path.join(name);
        let opened = tree::open_child(parent, name, path.clone(), &self.slots).map_err(|e| unreadable(&path, &e))?;
        let Some((directory, found)) = opened else {
            self.tally.skip(Skipped::Special); // it was replaced
            return Ok(());
        };
        let id = tree::id(&found);
        if id.0 != self.device && !self.plan.cross_file_systems {
            self.tally.skip(Skipped::Elsewhere);
            return Ok(());
        }
        if self.avoids == Some(id) {
            return Ok(());
        }
        if self.levels.iter().any(|above| above.id == id) {
            return Err(Failure::about(1, "Directory ", path.as_os_str(), " contains itself: not walked."));
        }
        if let Some(far) = self.levels.len().checked_sub(MAX_OPEN) {
            self.levels[far].directory = None;
        }
        self.levels.push(Level::new(directory, &found));
        self.path = path;
        self.below.push(name);
        self.read()
    }

    /// Reads the names in the last level's directory, which is the operand itself at first.
    pub fn read(&mut self) -> Result<(), Failure> {
        let Some(Level { directory: Some(directory), files, directories, .. }) = self.levels.last_mut() else {
            return Ok(());
        };
        let (mut file_names, mut directory_names) = (Vec::new(), Vec::new());
        let read = tree::read(directory, |name, kind| match wants(&self.plan, kind, name, &self.below) {
            Err(why) => self.tally.skip(why),
            Ok(()) => match kind {
                Kind::File => file_names.push(name.to_owned()),
                Kind::Directory => directory_names.push(name.to_owned()),
                Kind::Link => self.tally.skip(Skipped::Link),
                Kind::Special => self.tally.skip(Skipped::Special),
            },
        });
        file_names.sort_unstable();
        directory_names.sort_unstable();
        (*files, *directories) = (file_names.into_iter(), directory_names.into_iter());
        read.map_err(|e| unreadable(&self.path, &e))
    }

    fn leave(&mut self) -> Result<(), Failure> {
        let left = self.levels.pop().and_then(|level| level.directory);
        if self.levels.is_empty() {
            return Ok(());
        }
        let path = std::mem::take(&mut self.path);
        self.path = path.parent().unwrap_or(Path::new("")).to_owned();
        self.below.pop();
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        if level.directory.is_some() {
            return Ok(());
        }
        let above = match left {
            Some(left) => tree::open_parent(&left, self.path.clone(), &self.slots),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        match above {
            Ok((directory, found)) if tree::id(&found) == level.id => {
                level.directory = Some(directory);
                Ok(())
            }
            _ => {
                self.levels.clear();
                let text = " was moved while it was read: the rest of the tree is left.";
                Err(Failure::about(1, "Directory ", self.path.as_os_str(), text))
            }
        }
    }
}

fn unreadable(path: &Path, e: &io::Error) -> Failure {
    Failure::cannot("read directory", path.as_os_str(), e)
}

fn by_suffix(plan: &Plan, name: &Path) -> bool {
    let is_compressed = |name: &Path| ending(name, plan).is_some();
    match plan.kind {
        Mode::Compress => {
            let indexed = name.extension().is_some_and(|end| end == "bzi" || end == "offsets");
            is_compressed(name) || (indexed && is_compressed(&name.with_extension("")))
        }
        // Files that are not compressed are copied.
        Mode::Decompress if plan.force && plan.target == Target::Stdout => false,
        _ => !is_compressed(name),
    }
}

fn is_excluded(plan: &Plan, name: &OsStr, below: &Path) -> bool {
    // A byte that is not valid text counts as one character.
    let matches = |text: &OsStr| plan.exclude.iter().any(|glob| glob.matches_with(&text.to_string_lossy(), MATCHING));
    !plan.exclude.is_empty() && (matches(name) || matches(below.join(name).as_os_str()))
}

/// Whether a file or directory is wanted, or else why it is skipped.
pub fn wants(plan: &Plan, kind: Kind, name: &OsStr, below: &Path) -> Result<(), Skipped> {
    match kind == Kind::File {
        true if temporary::is_hidden_name(name) => Err(Skipped::Own),
        _ if is_excluded(plan, name, below) => Err(Skipped::Excluded),
        true if by_suffix(plan, Path::new(name)) => Err(Skipped::Suffix),
        _ => Ok(()),
    }
}
