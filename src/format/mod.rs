//! What is on disk.

pub mod bzip2;
pub mod hbz;
