//! The source of operands: the command line, then a list, each name a file or, with `-r`, a tree.

use crate::cli::args::{Kind, Operand, Plan, Target};
use crate::cli::files::filelist::List;
use crate::cli::files::mirror::{self, Mirror};
use crate::cli::files::walk::Walk;
use crate::cli::files::{Place, ending};
use crate::cli::messages::{Failure, Messages, Skipped};
use glob::MatchOptions;
use hybz_files::directory::Directory;
use hybz_files::slots::Slots;
use hybz_files::{process, temporary, tree};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct Found {
    pub operand: Operand,
    pub place: Place,
    pub typed: bool,
}

pub struct OperandIter {
    plan: Arc<Plan>,
    messages: Arc<Messages>,
    slots: Slots,
    taken: usize,
    list: Option<List>,
    walk: Option<Walk>,
    top: PathBuf,
    mirror: Option<Mirror>,
    /// The directory of the last typed name.
    directory: Option<Directory>,
}

/// `*` and `?` as in a shell, but a leading dot is no exception.
const MATCHING: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: false };

impl OperandIter {
    pub fn new(plan: &Arc<Plan>, messages: &Arc<Messages>) -> Result<OperandIter, Failure> {
        let list = plan.filelist.as_ref().map(|list| List::open(list, plan.null)).transpose()?;
        let mut max = usize::MAX;
        // Many files can wait for the disk at once.
        let descriptors = if plan.has_many() { process::raise_max_descriptors() } else { 0 };
        if plan.has_many() {
            // Directories may use a quarter of all descriptors: pending files and their results need others.
            max = usize::try_from(descriptors / 4).unwrap_or(usize::MAX).max(24);
        }
        let slots = Slots::new(max);
        let mirror = match &plan.target {
            Target::Below(path) => Some(Mirror::new(path, &slots, plan.sync)?),
            _ => None,
        };
        Ok(OperandIter {
            plan: Arc::clone(plan),
            messages: Arc::clone(messages),
            slots,
            taken: 0,
            list,
            walk: None,
            top: PathBuf::new(),
            mirror,
            directory: None,
        })
    }

    pub fn next(&mut self) -> Option<Result<Found, Failure>> {
        loop {
            if let Some(walk) = &mut self.walk {
                match walk.next(&|kind, name, below| wants(&self.plan, kind, name, below)) {
                    Some(found) => {
                        let found = found.map(|place| {
                            let operand = Operand::File(place.path().to_owned());
                            Found { operand, place, typed: false }
                        });
                        return Some(found);
                    }
                    None => self.walk = None,
                }
            }
            let (operand, typed) = match self.plan.operands.get(self.taken) {
                Some(operand) => {
                    self.taken += 1;
                    (operand.clone(), true)
                }
                None => match self.list.as_mut()?.next()? {
                    Ok(path) => match listed(&self.plan, &path) {
                        Ok(()) => (Operand::File(path), false),
                        Err(why) => {
                            self.messages.tally.skip(why);
                            continue;
                        }
                    },
                    Err(failure) => return Some(Err(failure)),
                },
            };
            match self.begin(operand, typed) {
                Ok(None) => {}
                Ok(Some(found)) => return Some(Ok(found)),
                Err(failure) => return Some(Err(failure)),
            }
        }
    }

    /// Whether nothing is left, as far as can be told without waiting, and without opening anything.
    pub fn is_at_end(&mut self) -> bool {
        self.taken == self.plan.operands.len()
            && self.walk.as_ref().is_none_or(Walk::is_at_end)
            && self.list.as_mut().is_none_or(List::is_at_end)
    }

    /// Begins the walk through an operand, or returns it if it is a file.
    fn begin(&mut self, operand: Operand, typed: bool) -> Result<Option<Found>, Failure> {
        let path = match &operand {
            Operand::Stdin => Path::new("(stdin)"),
            Operand::File(path) => path,
        };
        if self.plan.recursive
            && let Operand::File(path) = &operand
            && let Some(mut walk) = Walk::new(path, self.plan.force, &self.slots, &self.messages.tally)?
        {
            if self.mirror.is_some() {
                mirror::below(path)?;
            }
            walk.crosses = self.plan.cross_file_systems;
            walk.avoids = self.mirror.as_ref().map(Mirror::id);
            let read = walk.read(&|kind, name, below| wants(&self.plan, kind, name, below));
            self.top = path.clone();
            self.walk = Some(walk);
            return read.map(|()| None);
        }
        let place = Place::typed(path);
        Ok(Some(Found { operand, place, typed }))
    }

    /// Opens the directory of a typed name ([`Place::open_directory`]).
    pub fn open_directory(&mut self, place: &mut Place) -> io::Result<()> {
        place.open_directory(&mut self.directory, &self.slots)
    }

    /// The place of the result of the last file, `source`: `beside`, unless there is a mirror.
    pub fn result(&mut self, source: &Place, beside: Place) -> Result<Place, Failure> {
        let Some(mirror) = &mut self.mirror else { return Ok(beside) };
        let no_name = |e| Failure::output("create", beside.name(), &e);
        let name = beside.file_name().map_err(no_name)?;
        let directory = match &self.walk {
            Some(walk) => {
                let top = mirror::below(&self.top)?;
                let depth = top.components().count();
                mirror.directory(&top.join(walk.below()), |parts| match parts.checked_sub(depth) {
                    Some(level) => walk.attributes(level),
                    None => mirror::typed_attributes(&self.top, parts),
                })
            }
            None => {
                let below = mirror::below(source.path())?;
                let parent = below.parent().unwrap_or(Path::new(""));
                mirror.directory(parent, |parts| mirror::typed_attributes(source.path(), parts))
            }
        }?;
        let path = directory.path().join(name);
        Ok(Place::within(directory, path))
    }
}

fn by_suffix(plan: &Plan, name: &Path) -> bool {
    let is_compressed = |name: &Path| ending(name, plan).is_some();
    match plan.kind {
        Kind::Compress => {
            let indexed = name.extension().is_some_and(|end| end == "bzi" || end == "offsets");
            is_compressed(name) || (indexed && is_compressed(&name.with_extension("")))
        }
        // Files that are not compressed are copied.
        Kind::Decompress if plan.force && plan.target == Target::Stdout => false,
        _ => !is_compressed(name),
    }
}

fn is_excluded(plan: &Plan, name: &OsStr, below: &Path) -> bool {
    // A byte that is not valid text counts as one character.
    let matches = |text: &OsStr| plan.exclude.iter().any(|glob| glob.matches_with(&text.to_string_lossy(), MATCHING));
    !plan.exclude.is_empty() && (matches(name) || matches(below.join(name).as_os_str()))
}

/// Checks whether a file of a list is skipped. (With `-r` the name may be a directory's, which has no suffix.)
fn listed(plan: &Plan, path: &Path) -> Result<(), Skipped> {
    let kind = if plan.recursive && path.is_dir() { tree::Kind::Directory } else { tree::Kind::File };
    let (name, below) = (path.file_name().unwrap_or_default(), path.parent().unwrap_or(Path::new("")));
    wants(plan, kind, name, below)
}

fn wants(plan: &Plan, kind: tree::Kind, name: &OsStr, below: &Path) -> Result<(), Skipped> {
    match kind == tree::Kind::File {
        true if temporary::is_hidden_name(name) => Err(Skipped::Own),
        _ if is_excluded(plan, name, below) => Err(Skipped::Excluded),
        true if by_suffix(plan, Path::new(name)) => Err(Skipped::Suffix),
        _ => Ok(()),
    }
}
