//! Indexes, and reading at any place of the text: `hybz::index` and `hybz::seek`, against whole files, against a server
//! on loopback, and against the programs that have indexes of their own.

#[path = "../crafted/mod.rs"]
mod crafted;
mod files;
mod index;
#[path = "../ours/mod.rs"]
mod ours;
mod peers;
#[path = "../program/mod.rs"]
mod program;
mod ranges;
mod server;
#[path = "../shapes/mod.rs"]
mod shapes;
