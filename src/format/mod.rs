//! What is on disk.

pub(crate) mod bzip2;
pub mod hbz;
