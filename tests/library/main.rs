//! The library's tests, one module for each subject, in one binary, because linking is most of the cost of a small
//! test.
//!
//! Tests that need a separate process are other binaries: `bounds` and `hostile` measure the memory of their process,
//! `fork` forks, `matrix` and `command` run the command.

#[path = "../crafted_hbz/mod.rs"]
mod crafted_hbz;
#[path = "../flipper/mod.rs"]
mod flipper;
#[path = "../ours/mod.rs"]
mod ours;

mod bzip2_crate;
mod decode;
mod hbz;
mod identity;
mod interop;
mod live;
mod long_files;
mod lz4;
mod lzw;
mod mixed;
mod properties;
mod public_api;
mod push;
mod readers;
mod recover;
mod remote;
mod seek;
mod splits;
mod stations;
mod suites;
mod texts;
mod through;
mod traps;
mod verify;

use hybz_testkit::{crafted, faults, program, reference, shapes, skip};
