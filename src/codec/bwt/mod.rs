//! The Burrows-Wheeler transform over cyclic rotations: all rotations of a block sorted, of which the last column and
//! the row of the block itself (the origin) are kept.
//!
//! | file | |
//! |---|---|
//! | `rotation` | the least rotation, where suffix order is rotation order; the period |
//! | `forward` | block to last column and origin |
//! | `merge` | the last column from two sorted lists of rotations: what the GPU's hybrid shape leaves to a core |
//! | `periodic` | the origin of a block that repeats itself, where rotations tie: bzip2's own choice |
//! | `quick`, `steady` | that choice: what bzip2's quick sort makes of such a block, and the other one if it gives up |
//! | `word`, `partition` | what both start from, the sorted rotations of the word, and a step of quicksort as bzip2 does it |

mod fallback_sort;
pub mod forward;
pub mod inverse;
mod main_sort;
pub mod merge;
mod partition;
pub mod periodic;
pub mod rotation;
