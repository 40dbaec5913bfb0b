//! Access control lists. The mode of a file does not show its list. On Linux they are POSIX ACLs: with a list, the
//! group bits of the mode are the list's mask, and the rights of the group itself are in the list. On macOS they are
//! lists of permissions and denials next to the mode.
//!
//! Extended attributes of other kinds are not touched: bzip2, gzip and xz do not copy them either, and their contents
//! (capabilities, security labels) apply only to the file that has them.

pub use crate::system::acl::Acl;
