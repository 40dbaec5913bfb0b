//! The source of operands: the command line, then a list, each name a file or, with `-r`, a tree.

use crate::cli::args::{Operand, Plan, Target};
use crate::cli::files::Place;
use crate::cli::files::filelist::List;
use crate::cli::files::mirror::{self, Mirror};
use crate::cli::files::walk::{Walk, wants};
use crate::cli::messages::{Failure, Messages, Skipped};
use hybz_files::directory::Directory;
use hybz_files::slots::Slots;
use hybz_files::{process, tree};
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

impl OperandIter {
    pub fn new(plan: &Arc<Plan>, messages: &Arc<Messages>) -> Result<OperandIter, Failure> {
        let list = plan.filelist.as_ref().map(|list| List::open(list, plan.null)).transpose()?;
        // Directories may use a quarter of all descriptors: sources, and results waiting for the disk, need others.
        let quarter = plan.has_many().then(|| process::raise_max_descriptors() / 4);
        let slots = Slots::new(quarter.and_then(|max| usize::try_from(max.max(24)).ok()).unwrap_or(usize::MAX));
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
                let Some(found) = walk.next() else {
                    self.walk = None;
                    continue;
                };
                let found = found.map(|place| (Operand::File(place.path().to_owned()), place));
                return Some(found.map(|(operand, place)| Found { operand, place, typed: false }));
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
            if let Some(found) = self.begin(operand, typed).transpose() {
                return Some(found);
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
        if self.plan.recursive
            && let Operand::File(path) = &operand
            && let avoids = self.mirror.as_ref().map(|mirror| mirror.id)
            && let Some(mut walk) = Walk::new(path, &self.plan, &self.slots, &self.messages.tally, avoids)?
        {
            if self.mirror.is_some() {
                mirror::below(path)?;
            }
            let read = walk.read();
            self.top = path.clone();
            self.walk = Some(walk);
            return read.map(|()| None);
        }
        Ok(Some(Found { place: Place::typed(operand.name()), operand, typed }))
    }

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
                mirror.directory(&top.join(&walk.below), |parts| match parts.checked_sub(depth) {
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

/// Checks whether a file of a list is skipped. (With `-r` the name may be a directory's, which has no suffix.)
fn listed(plan: &Plan, path: &Path) -> Result<(), Skipped> {
    let kind = if plan.recursive && path.is_dir() { tree::Kind::Directory } else { tree::Kind::File };
    let (name, below) = (path.file_name().unwrap_or_default(), path.parent().unwrap_or(Path::new("")));
    wants(plan, kind, name, below)
}
