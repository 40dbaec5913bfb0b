//! Move-to-front, and zero runs in bijective base 2.
//!
//! Each byte becomes its rank, which is its place in a list of the bytes used, and moves to the front of the list. A
//! run of `z` zero ranks is written as the binary digits of `z + 1` without the first, lowest digit first: RUNA for 0
//! and RUNB for 1. A rank `r >= 1` is symbol `r + 1`, and the symbol after the last rank ends the block (EOB).

pub mod decode;
pub mod encode;
