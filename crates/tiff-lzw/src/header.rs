//! The limits of strips. hybz's `formats::lzw::header` has the layout of their codes, which `.Z` files have, too.

/// The maximum number of bits of a code of a strip.
pub const STRIP_BITS: u32 = 12;
/// The code after the last one of a strip.
pub const END: u32 = 257;
/// The first code of a strip's table.
pub const STRIP_FIRST: u32 = 258;
/// A strip's encoder clears its table when this code would be next: code 4,095 is not allowed, and libtiff and others
/// stop one code before it.
pub const STRIP_CLEAR_AT: u32 = 4094;
