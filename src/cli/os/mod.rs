//! The operating system, wherever std does not reach: the only place of the command that calls libc or rustix, and the
//! place to change for a system other than Linux. Errors are std's, with the system's own texts.

pub mod acl;
pub mod directory;
pub mod file;
pub mod last_mode;
pub mod memory;
pub mod process;
pub mod signals;
pub mod slots;
mod startup;
pub mod stdout;
pub mod temporary;
pub mod tree;
