//! Access control lists. A file's mode does not show its list. Lists on Linux are POSIX ACLs: with a list, the group
//! bits of the mode are the list's mask, and the rights of the group itself are in the list. On macOS they hold
//! permissions and denials in addition to the mode.
//!
//! Extended attributes of other kinds are not touched: bzip2, gzip and xz do not copy them either, and their contents
//! (capabilities, security labels) apply only to the file that has them.

pub use crate::system::acl::Acl;
