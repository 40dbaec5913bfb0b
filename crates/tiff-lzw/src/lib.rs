//! The LZW of TIFF files: their strips and tiles, in both directions.
//!
//! | | |
//! |---|---|
//! | [`StripEncoder`], [`StripDecoder`] | one strip or tile |
//! | [`encode_strips`], [`decode_strips`] | many, on all cores of a pool of hybz |
//! | [`DeviceStrips`] | many, decoded on a GPU (feature `cuda`) |
//!
//! `examples/tiff_lzw` shows the other parts of a TIFF file. hybz itself reads the `.Z` files of `compress`, in which
//! codes are packed differently.

mod device;
#[cfg(test)]
mod device_tests;
mod encode;
mod header;
#[doc(hidden)]
pub mod plain;
mod strip;
mod strips;
#[cfg(test)]
mod tests;

pub use device::DeviceStrips;
pub use encode::StripEncoder;
pub use hybz_gpu::{DeviceError, StripForDevice};
pub use strip::StripDecoder;
pub use strips::{decode_strips, encode_strips};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
