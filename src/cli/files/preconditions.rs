//! bzip2's checks of the file that a result would replace, and our checks of files that must not be read or replaced.

use crate::cli::args::{Kind, Plan, Target};
use crate::cli::files::{PathLocks, Pending, Place, id};
use crate::cli::messages::Failure;
use hybz_files::directory::{is_directory, is_file, is_link, is_stream};
use hybz_files::temporary::remove_leftover;
use hybz_files::{file, stdout, tree};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::prelude::*;
use std::sync::Arc;

pub struct Preconditions {
    plan: Arc<Plan>,
    /// The file that stdout refers to, if any: it must not be read.
    stdout: Option<Metadata>,
    /// The report, if it is a file: it must be neither read nor removed.
    report: Option<Metadata>,
    pub locks: PathLocks,
}

impl Preconditions {
    pub fn new(plan: &Arc<Plan>) -> Preconditions {
        let report = plan.json.as_ref().filter(|file| *file != "-").and_then(|file| fs::metadata(file).ok());
        Preconditions {
            plan: Arc::clone(plan),
            stdout: stdout::regular_file(),
            report: report.filter(Metadata::is_file),
            locks: PathLocks::default(),
        }
    }

    pub fn is_report(&self, found: tree::Id) -> bool {
        self.report.as_ref().is_some_and(|report| id(report) == found)
    }

    /// Opens a file and the directory of a typed name, once no earlier operand can still make, replace or remove it.
    pub fn open(
        &self,
        place: &mut Place,
        mut open_directory: impl FnMut(&mut Place) -> io::Result<()>,
        pending: &Pending,
    ) -> io::Result<(Option<File>, Metadata)> {
        let follow = !self.plan.target.makes_files() || self.plan.force;
        let mut open = |place: &mut Place| {
            open_directory(place)?;
            place.open_at_once(follow)
        };
        let opened = open(place);
        let locks = match &opened {
            Ok((_, found)) => self.locks.has_file(id(found)),
            // A link may lead to a result that does not exist yet.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                self.locks.has_name(place.path()) || place.find_link().is_ok_and(|found| is_link(&found))
            }
            Err(_) => false,
        };
        if !locks {
            return opened;
        }
        drop(opened);
        self.locks.wait(pending);
        open(place)
    }

    /// Refuses a result that is the source, or that exists already. (Existence is checked again when the result gets
    /// its name.)
    pub fn result(&self, result: &Place, source: &Metadata, pending: &Pending) -> Result<(), Failure> {
        let name = result.name().as_bytes();
        let mut there = result.find_link();
        // An earlier operand may be about to remove the existing file.
        if self.plan.remove_sources && there.as_ref().is_ok_and(|there| self.locks.has_file(tree::id(there))) {
            self.locks.wait(pending);
            there = result.find_link();
        }
        let is_free = there.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        let found = if is_free { None } else { result.find().ok() };
        let is = |what: &str| Failure::about(1, "Output file ", result.name(), what);
        // A typed name, unlike one derived from a source, may lead to a directory through a link.
        if matches!(self.plan.target, Target::File(_)) && found.as_ref().is_some_and(is_directory) {
            return Err(is(" is a directory."));
        }
        if name.is_empty() || name.ends_with(b"/") {
            return Err(Failure::output("create", result.name(), &file::not_found()));
        }
        if found.as_ref().is_some_and(|found| tree::id(found) == id(source)) {
            return Err(is(" is the input file."));
        }
        if self.plan.rereads && found.as_ref().is_some_and(|found| !is_file(found)) {
            return Err(is(" is not a normal file: --verify=file cannot read it again."));
        }
        if found.as_ref().is_some_and(|found| self.is_report(tree::id(found))) {
            return Err(is(" is the report."));
        }
        if matches!(self.plan.target, Target::File(_)) && !self.plan.force && found.as_ref().is_some_and(is_stream) {
            return match self.plan.remove_sources {
                true => Err(is(" is not a normal file: nothing of the input file would be left after --rm.")),
                false => Ok(()),
            };
        }
        match there {
            Ok(_) if !self.plan.force => {
                if let (Ok(directory), Ok(name)) = (result.directory(None), result.file_name()) {
                    remove_leftover(&directory, name, &[source.uid()]);
                }
                Err(Failure::exists(result.name()))
            }
            Ok(there) if is_directory(&there) => Err(Failure::output("create", result.name(), &file::is_a_directory())),
            _ => Ok(()),
        }
    }

    pub fn stdout(&self, name: &OsStr, source: &Metadata) -> Result<(), Failure> {
        if self.plan.kind == Kind::Compress && stdout::is_terminal() {
            return Err(Failure::terminal(&self.plan.program, "write compressed data to"));
        }
        stdout::check().map_err(|e| Failure::output("write", OsStr::new("(stdout)"), &e))?;
        if self.stdout.as_ref().is_some_and(|stdout| id(stdout) == id(source)) {
            return Err(Failure::about(1, "Input file ", name, " is the output file."));
        }
        Ok(())
    }
}
