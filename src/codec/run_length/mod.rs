//! Run-length coding of runs of 4 and more: bzip2's first step, and the last of decoding.

pub mod decode;
pub mod derandomise;
