//! The destination of the result: stdout, an existing device or FIFO, or a file that appears complete or not at all.
//!
//! A result for a file is written to a file without a name (`O_TMPFILE`) in the file's directory, and takes the place
//! of the old file by a rename when it is complete. Nothing that ends the process leaves a partial result, and until
//! the rename the old file is unchanged, even if it is an input. If the file system cannot create files without a
//! name, a file with a hidden name is used, which a signal's handler removes.

use crate::args::Plan;
use crate::failure::{self, Failure, STDOUT, errno_text};
use crate::progress::Progress;
use crate::target::{Found, Made, Spot};
use hybz_files::acl::Acl;
use hybz_files::atomic_file::Replacement;
use hybz_files::attributes::{self, RefusedMode};
use hybz_files::{file, stdout};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// The destination of the result.
pub struct Output {
    /// Its name as typed, for messages.
    name: OsString,
    kind: Kind,
    progress: Arc<Progress>,
}

enum Kind {
    Stdout,
    /// A file that existed before and is not replaced: a device, a FIFO, what `/dev/stdout` leads to.
    Existing(File),
    New(Box<NewFile>),
}

struct NewFile {
    /// The file, after following all symbolic links.
    file: Replacement,
    old: Option<Old>,
    /// The empty file that was made where a link leads. It is removed unless it is replaced.
    _made: Option<Made>,
    /// Whether the old file is replaced only when the new one is on the disk.
    sync: bool,
}

/// The attributes that the new file takes over from the one that it replaces.
struct Old {
    found: Metadata,
    acl: Option<Acl>,
}

/// A pipe is enlarged for results of this many bytes or more, not for smaller ones: the system limits a user's pages.
const LONG: u64 = 8 << 20;

impl Output {
    /// Makes sure that the result can be written, and changes nothing that anybody sees.
    pub fn prepare(plan: &Plan, progress: &Arc<Progress>) -> Result<Output, Failure> {
        let (name, kind) = match &plan.output {
            Some(name) => {
                (name.clone(), open(name, !plan.no_sync).map_err(|e| Failure::system("open failed", name, e))?)
            }
            None => (STDOUT.into(), Kind::Stdout),
        };
        Ok(Output { name, kind, progress: Arc::clone(progress) })
    }

    /// The file that stdout is, if it is a regular one: if it is also an input, output written to it is read again.
    pub fn regular_stdout(&self) -> Option<Metadata> {
        let Kind::Stdout = self.kind else { return None };
        stdout::regular_file()
    }

    /// Must be called before the first byte is written.
    pub fn begin(&self) {
        if let Kind::Existing(file) = &self.kind {
            let _ = file.set_len(0); // devices have no length
        }
    }

    /// Called when all is written: a new file gets its name. After an error nothing is left of it.
    pub fn finish(self) -> Result<(), Failure> {
        let Output { name, kind, .. } = self;
        let name = &name;
        let failed = |what: &'static str| move |e| Failure::system(what, name, e);
        match kind {
            Kind::Stdout => stdout::close().map_err(failed("close failed")),
            Kind::Existing(file) => file::close(file.into()).map_err(failed("close failed")),
            Kind::New(file) => {
                let remarks = file.publish().map_err(failed("write failed"))?;
                remarks.iter().for_each(|text| failure::remark(name, text));
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.kind {
            Kind::Stdout => stdout::write(bytes),
            Kind::Existing(file) => file.write(bytes),
            Kind::New(new) => new.file.file.write(bytes),
        };
        let len = written.map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => e,
            _ => io::Error::other(Failure::system("write failed", &self.name, e)),
        })?;
        let all = self.progress.wrote(len);
        if all >= LONG && all - (len as u64) < LONG && matches!(self.kind, Kind::Stdout) {
            stdout::enlarge_pipe();
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn open(name: &OsStr, sync: bool) -> io::Result<Kind> {
    let (spot, old, made) = match Found::at(Path::new(name))? {
        Found::Stream(file) => return Ok(Kind::Existing(file)),
        Found::Nothing(spot) => (spot, None, None),
        Found::Made(spot, made) => (spot, None, Some(made)),
        Found::Old(spot, file) => (spot, Some(Old::of(&file)?), None),
    };
    if let Some(old) = &old {
        old.check_replaceable(&spot)?;
    }
    // (A call that was killed between the two steps of a replacement leaves the complete new file.)
    let owner = old.as_ref().map(|old| old.found.uid());
    let file = Replacement::create(spot.directory, spot.name, old.is_some(), owner)?;
    let sync = sync && old.is_some();
    Ok(Kind::New(Box::new(NewFile { file, old, _made: made, sync })))
}

impl Old {
    fn of(file: &File) -> io::Result<Old> {
        Ok(Old { found: file.metadata()?, acl: Acl::of(file).unwrap_or_else(|_| Some(Acl::unknown())) })
    }

    /// Returns the error that a rename over the file would give only after all the work.
    fn check_replaceable(&self, spot: &Spot) -> io::Result<()> {
        if file::is_mount_point(&spot.directory, &spot.name) {
            return Err(Errno::BUSY.into());
        }
        // In a directory such as /tmp, only its owner may replace a file.
        let above = spot.directory.find(OsStr::new("."))?;
        let (sticky, own) = (Mode::from_raw_mode(above.st_mode).contains(Mode::SVTX), geteuid());
        let ours = own.is_root() || [above.st_uid, self.found.uid()].contains(&own.as_raw());
        if sticky && !ours { Err(Errno::PERM.into()) } else { Ok(()) }
    }
}

impl NewFile {
    /// Gives the file its name. Returns what the file system refused meanwhile.
    fn publish(self: Box<Self>) -> io::Result<Vec<String>> {
        let NewFile { file, old, _made, sync } = *self;
        let mut remarks = Vec::new();
        if let Some(old) = &old
            && let Some(RefusedMode { has, wanted, why }) =
                attributes::hand_on(&file.file, &old.found, old.acl.as_ref(), None)?
        {
            remarks.push(format!("has mode {has:03o}, not {wanted:03o}: {}", errno_text(&why)));
        }
        if sync && !file::sync_data(&file.file)? {
            remarks.push("cannot be synced: its file system refuses it".to_owned());
        }
        let directory = file.publish(true, false)?;
        if sync {
            directory.sync()?;
        }
        Ok(remarks)
    }
}
