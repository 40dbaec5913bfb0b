//! Indexes, and reading at any place of the text: `hybz::index` and `hybz::seek`, against whole files, against a server
//! on loopback, and against the programs that have indexes of their own.

mod files;
mod index;
mod offsets;
mod peers;
mod ranges;
mod server;
