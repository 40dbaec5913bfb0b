//! The Burrows-Wheeler transform over cyclic rotations.

pub mod inverse;
