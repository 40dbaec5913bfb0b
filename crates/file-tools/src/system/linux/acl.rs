//! POSIX access control lists.

use rustix::fs::{XattrFlags, fgetxattr, fgetxattr_query, fremovexattr, fsetxattr};
use rustix::io::Errno;
use std::fs::File;
use std::io;

/// Linux keeps the list in this attribute.
const NAME: &str = "system.posix_acl_access";

/// The list of a file, as the kernel returns it: a version (2), then entries of 8 bytes, all little-endian.
#[derive(Clone, Debug)]
pub struct Acl(Vec<u8>);

impl Acl {
    /// The list of a file, if it has one.
    pub fn of(file: &File) -> io::Result<Option<Acl>> {
        let len = match fgetxattr_query(file, NAME) {
            Ok(len) if len > 0 => len,
            Ok(_) | Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        let mut list = vec![0; len];
        let len = fgetxattr(file, NAME, &mut list[..])?;
        list.truncate(len);
        Ok(Some(Acl(list)))
    }

    /// A list that gives rights to the owner only.
    pub fn unknown() -> Acl {
        const DENIED_USER: [u8; 8] = [2, 0, 0, 0, 0, 0, 0, 0];
        Acl([&[2, 0, 0, 0][..], &DENIED_USER].concat())
    }

    /// Gives a file this list.
    pub fn set(&self, file: &File) -> io::Result<()> {
        Ok(fsetxattr(file, NAME, &self.0, XattrFlags::empty())?)
    }

    /// Removes the list that a file got from its directory's defaults. Does nothing if there is none.
    pub fn remove(file: &File) -> io::Result<()> {
        match fremovexattr(file, NAME) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// The mode for a file that cannot have this list: it permits no user more than `mode` with the list does. Users
    /// whom the list names then count as group or others, so these two classes get no right that the list denies to
    /// any such user.
    pub fn narrowed(&self, mode: u32) -> u32 {
        const USER: u16 = 2;
        const GROUP_OBJ: u16 = 4;
        const GROUP: u16 = 8;
        let (mask, mut group, mut other) = ((mode >> 3) & 0o7, 0, mode & 0o7);
        let (mut named_users, mut named_groups) = (0o7, 0o7);
        for entry in self.0.get(4..).unwrap_or_default().chunks_exact(8) {
            let permissions = u32::from(u16::from_le_bytes([entry[2], entry[3]])) & mask;
            match u16::from_le_bytes([entry[0], entry[1]]) {
                USER => named_users &= permissions,
                GROUP_OBJ => group = permissions,
                GROUP => named_groups &= permissions,
                _ => {}
            }
        }
        group &= named_users;
        other &= named_users & named_groups;
        (mode & 0o700) | (group << 3) | other
    }
}

#[cfg(test)]
mod tests {
    use super::Acl;

    /// user::rw-, user:1000:rw-, group::r--, mask::rw-, other::r--
    const LIST: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 6, 1000), (4, 4, u32::MAX), (0x10, 6, u32::MAX), (0x20, 4, u32::MAX)];

    fn acl(entries: &[(u16, u16, u32)]) -> Acl {
        let bytes = entries
            .iter()
            .flat_map(|(tag, perm, id)| [&tag.to_le_bytes()[..], &perm.to_le_bytes(), &id.to_le_bytes()].concat());
        Acl([2u32.to_le_bytes().to_vec(), bytes.collect()].concat())
    }

    #[test]
    fn no_user_gets_more_by_the_mode_than_by_the_list() {
        assert_eq!(acl(&LIST).narrowed(0o664), 0o644, "the mask is not the group's");
        assert_eq!(acl(&LIST).narrowed(0o604), 0o600, "the mask takes all from a user whom it names");
        let mut denied = LIST;
        denied[1].1 = 0;
        assert_eq!(acl(&denied).narrowed(0o664), 0o600, "a user who is denied can be in the group, or any other");
        denied[1] = (8, 0, 1000);
        assert_eq!(acl(&denied).narrowed(0o664), 0o640, "a group that is denied");
        assert_eq!(Acl(vec![2, 0, 0, 0, 4]).narrowed(0o664), 0o604, "no entries: the group has nothing");
    }
}
