//! A folder for each format. `crate::table` has a row for each format, and selects the one that decodes an input.

pub(crate) mod bzip2;
pub mod hbz;
pub mod lz4;
pub mod lzw;
