//! Move-to-front, and zero runs in bijective base 2.
//!
//! Each byte becomes its place in a list of the bytes used, and moves to the front of it. A run of `z` zeros is written
//! as the binary digits of `z + 1` but the first, lowest digit first: RUNA for a 0 and RUNB for a 1. Place `p >= 1` is
//! symbol `p + 1`, and the symbol after the last place ends the block (EOB).

pub mod decode;
pub mod encode;
