//! Tests of the command as users see it: each test runs the built binary in a separate directory.
//!
//! `hybz` is a drop-in `bzip2`, so wherever both must do the same, the test runs the system's bzip2 in an identical
//! place and compares everything: exit code, stdout, stderr and the files that are left. The other tests state where
//! hybz is deliberately different. Tests that lack a tool say so and pass.

#![cfg(unix)]

mod behaviours;
mod faults;
mod gpus;
mod hbz;
mod holes;
mod json;
mod lzw;
mod names;
mod outputs;
mod packaging;
mod pipes;
mod place;
mod protected;
mod screens;
mod stdouts;
mod together;
mod tools;
mod trees;

use hybz_testkit::skip;
