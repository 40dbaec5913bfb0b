//! Floyd-Steinberg dithering on hybz's queue.

mod lanes;
mod line;
pub mod picture;
pub mod plain;
pub mod slab;
