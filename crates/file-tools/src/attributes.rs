//! Owner, mode, access control list and times that a new file takes over from another one. They are set on the open
//! file, never by name.

use crate::acl::Acl;
use crate::file::is_unsupported;
use std::fs::{File, FileTimes, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

/// A mode that the file system refused to set.
#[derive(Debug)]
pub struct RefusedMode {
    /// The mode that the file has.
    pub has: u32,
    /// The mode that it should have.
    pub wanted: u32,
    /// Why the mode differs.
    pub why: io::Error,
}

/// Sets the attributes `found` and the list `acl` of another file, and these times, on a file that this process made.
/// What a file system does not store is left out; returns the mode if it differs for that reason.
///
/// The group comes first, because the mode depends on it: users who may not give a file away may still be in its group.
/// The owner comes last: root without CAP_FOWNER can do nothing else with another user's file.
pub fn hand_on(
    file: &File,
    found: &Metadata,
    acl: Option<&Acl>,
    times: Option<FileTimes>,
) -> io::Result<Option<RefusedMode>> {
    let group_kept = fchown(file, None, Some(found.gid())).is_ok();
    let mut mode = mode_for(acl.map_or(found.mode(), |acl| acl.narrowed(found.mode())), group_kept);
    let unlisted = Acl::remove(file);
    if unlisted.is_err() {
        mode &= 0o700; // the directory's defaults may give others more than the other file does
    }
    let refused = unless_unsupported(file.set_permissions(Permissions::from_mode(mode)))?;
    let listed = acl.filter(|_| group_kept).and_then(|acl| acl.set(file).err()); // after an error the mode stays narrow
    if let Some(times) = times {
        unless_unsupported(file.set_times(times))?;
    }
    let _ = fchown(file, Some(found.uid()), None);
    let Some(why) = refused.or(unlisted.err()).or(listed) else { return Ok(None) };
    let (has, wanted) = (file.metadata()?.mode() & 0o777, mode_for(found.mode(), group_kept));
    Ok((has != wanted).then_some(RefusedMode { has, wanted, why }))
}

/// The error, if it says that a file system has no modes or times of its own.
fn unless_unsupported(done: io::Result<()>) -> io::Result<Option<io::Error>> {
    match done {
        Ok(()) => Ok(None),
        Err(e) if is_unsupported(&e) => Ok(Some(e)),
        Err(e) => Err(e),
    }
}

/// The permissions of a result. If its group is not the source's, group and others get only the rights that both had
/// (xz's rule), so no user can do more with the result than with the source.
pub fn mode_for(source: u32, group_kept: bool) -> u32 {
    let mode = source & 0o777;
    if group_kept {
        return mode;
    }
    let both = (mode >> 3) & mode & 0o7;
    (mode & 0o700) | (both << 3) | both
}

#[cfg(test)]
mod tests {
    use super::mode_for;

    #[test]
    fn no_user_can_do_more_with_the_result() {
        assert_eq!(mode_for(0o104755, true), 0o755);
        for (source, without_group) in [(0o644, 0o644), (0o640, 0o600), (0o604, 0o600), (0o775, 0o755), (0o6771, 0o711)]
        {
            assert_eq!(mode_for(source, false), without_group, "{source:o}");
        }
    }
}
