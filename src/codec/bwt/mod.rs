//! The Burrows-Wheeler transform over cyclic rotations: all rotations of a block sorted, of which the last column and
//! the row of the block itself (the origin) are kept.
//!
//! | file | |
//! |---|---|
//! | `rotation` | the least rotation, where suffix order is rotation order; the period |
//! | `forward` | block to last column and origin |
//! | `periodic` | the origin of a block that repeats itself, where rotations tie: bzip2's own choice |

pub mod forward;
pub mod inverse;
pub mod periodic;
pub mod rotation;
