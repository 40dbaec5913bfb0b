//! bzip2's first step: a run of 4 to 255 equal bytes becomes four of them and a byte that counts the rest.
//!
//! Runs are cut every 255 bytes, counted from where the run begins, so what a text becomes does not depend on where
//! blocks end. It was meant to spare the sorter long runs; it can make a text a quarter longer (runs of exactly four).

pub mod decode;
pub mod derandomise;
pub mod encode;
