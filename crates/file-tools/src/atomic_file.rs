//! New files, which get their names when they are complete.
//!
//! If possible, a file has no name until then (`O_TMPFILE`, `linkat`): nothing that ends the process, not even
//! SIGKILL, can leave a part of it. If the file system or a filter of system calls refuses the first call, the file
//! has a hidden name from the start; if it refuses only the second, the complete file is copied to a hidden name.

use crate::acl::Acl;
use crate::attributes::hand_on;
use crate::directory::Directory;
use crate::file;
use crate::temporary::{self, TemporaryName};
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// A file that gets its name when it is complete; it may replace another file. After an error nothing is left of it.
pub struct Replacement {
    /// Where it will be.
    pub directory: Directory,
    /// Its name there.
    pub name: OsString,
    /// The file, open for writing.
    pub file: File,
    hidden: Option<TemporaryName>,
}

impl Replacement {
    /// Creates it, readable only by its owner if `private`, after removing what a killed process left. `owner` owns
    /// the file to be replaced.
    pub fn create(directory: Directory, name: OsString, private: bool, owner: Option<u32>) -> io::Result<Replacement> {
        temporary::remove_leftover(&directory, &name, owner.as_slice());
        let (file, hidden) = create(&directory, &name, private)?;
        Ok(Replacement { directory, name, file, hidden })
    }

    /// Closes it and gives it its name, as [`publish`] does. Returns its directory.
    pub fn publish(self, replace: bool, taken: bool) -> io::Result<Directory> {
        let Replacement { directory, name, file, hidden } = self;
        publish(&directory, &name, file, hidden, (replace, taken))?;
        Ok(directory)
    }
}

/// Creates the file that will be called `name`, readable only by its owner if `private`, and its hidden name if it
/// needs one.
pub fn create(directory: &Directory, name: &OsStr, private: bool) -> io::Result<(File, Option<TemporaryName>)> {
    match directory.create_unnamed(private) {
        Some(file) => Ok((file, None)),
        None => temporary::create(directory, name, private).map(|(file, hidden)| (file, Some(hidden))),
    }
}

/// Closes a complete file and gives it its name. With `replace`, it may replace another file; `taken` says that there
/// probably is one. After an error the file is gone.
pub fn publish(
    directory: &Directory,
    name: &OsStr,
    file: File,
    hidden: Option<TemporaryName>,
    (replace, taken): (bool, bool),
) -> io::Result<()> {
    // Errors of closing must be known before the file gets its name; until then a duplicate keeps file or lock.
    let kept = File::from(file.as_fd().try_clone_to_owned()?);
    file::close(file.into())?;
    let (kept, hidden) = match hidden {
        Some(hidden) => (kept, hidden),
        None => {
            let linked = match replace && taken {
                true => Err(io::ErrorKind::AlreadyExists.into()),
                false => directory.link(kept.as_fd(), name),
            };
            let linked = match linked {
                Err(e) if replace && e.kind() == io::ErrorKind::AlreadyExists => {
                    temporary::link(directory, name, kept.as_fd())
                }
                Err(e) => Err(e),
                Ok(()) => return Ok(()),
            };
            match linked {
                Ok(hidden) => (kept, hidden),
                Err(e) if file::is_refused(&e) => copy(kept, directory, name)?,
                Err(e) => return Err(e),
            }
        }
    };
    hidden.rename(|hidden| match directory.leads_to(hidden, kept.as_fd()) {
        true => directory.rename(hidden, name, replace),
        false => Err(file::not_found()),
    })?;
    directory.expect(name, kept.as_fd())
}

/// Copies a file that has no name and can get none, with its attributes and holes.
fn copy(mut from: File, directory: &Directory, name: &OsStr) -> io::Result<(File, TemporaryName)> {
    directory.cannot_link();
    let (found, acl) = (from.metadata()?, Acl::of(&from).unwrap_or_else(|_| Some(Acl::unknown())));
    let (mut to, hidden) = temporary::create(directory, name, true)?;
    let has_holes = found.blocks() * 512 < found.len();
    let mut piece = vec![0; 64 << 10];
    from.rewind()?;
    loop {
        let read = match from.read(&mut piece) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        match &piece[..read] {
            [] => break,
            zeros if has_holes && zeros.iter().all(|&byte| byte == 0) => drop(to.seek(SeekFrom::Current(read as i64))?),
            bytes => to.write_all(bytes)?,
        }
    }
    to.set_len(found.len())?;
    let times = FileTimes::new().set_accessed(found.accessed()?).set_modified(found.modified()?);
    hand_on(&to, &found, acl.as_ref(), Some(times))?;
    file::sync_data(&to)?;
    let kept = to.as_fd().try_clone_to_owned()?;
    file::close(to.into())?;
    Ok((kept.into(), hidden))
}
