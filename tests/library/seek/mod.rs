//! Indexes, and reading at any offset of the text: `hybz::index` and `hybz::seek`, compared with whole files and with
//! other programs' indexes.

mod files;
mod index;
mod offsets;
mod peers;
mod ranges;
