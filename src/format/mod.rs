//! What is on disk: the magics, headers and limits of both formats. Every limit is defined here and nowhere else.

pub mod bzi;
pub mod bzip2;
pub mod hbz;
