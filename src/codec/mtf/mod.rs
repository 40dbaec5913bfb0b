//! Move-to-front, and zero runs in bijective base 2.

pub mod decode;
