//! The Burrows-Wheeler transform over cyclic rotations: all rotations of a block are sorted; the result is the last
//! column and the row of the block itself (the origin).
//!
//! | file | |
//! |---|---|
//! | `rotation` | the least rotation, where suffix order is rotation order; the period |
//! | `forward` | block to last column and origin |
//! | `lms` | the last column of long blocks, faster than a suffix array |
//! | `suffixes`, `sais` | a suffix array: by libsais, or without it |
//! | `inverse` | last column and origin to block |
//! | `merge` | the last column from two sorted lists of suffixes: a core's part in the GPU's hybrid shape |
//! | `periodic` | the origin of a block that repeats a word, where rotations tie: bzip2's own choice, and the memo |
//! | `main_sort`, `fallback_sort` | that choice: bzip2's two sorts, run on such a block |
//! | `partition` | the step of quicksort that both have in common |

mod fallback_sort;
pub mod forward;
pub mod inverse;
mod lms;
mod main_sort;
pub mod merge;
mod partition;
pub mod periodic;
pub mod rotation;
#[cfg(any(test, not(feature = "libsais")))]
mod sais;
pub(crate) mod suffixes;
#[cfg(test)]
mod tests;
