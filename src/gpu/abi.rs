//! The interface to the CUDA code, as `cuda/hybz.h` and `cuda/limits.h` describe it: `cuda/bindings.rs`, a module of
//! the build script, makes these declarations of them.
#![allow(missing_docs, non_camel_case_types, non_snake_case, unused_parens, dead_code)]
#![allow(unsafe_code)] // declares functions, and makes structures that are all zeros
#![allow(clippy::too_many_arguments, clippy::cast_lossless, clippy::identity_op)]

use crate::block::MAX_PLAIN_TEXT;
use crate::formats::bzip2::header;
use crate::formats::hbz::codec::tally::{Prices, Tally};
use std::mem::offset_of;

include!(concat!(env!("OUT_DIR"), "/hybz.rs"));

/// Limits of formats, and structures of codecs, belong to those: they are the same.
const _: () = {
    assert!(HYBZ_MAX_LENGTH >= header::MAX_BLOCK, "a lane takes every block that bzip2 can make");
    assert!(HYBZ_MAX_ROWS == header::MAX_BLOCK && HYBZ_GROUP == header::GROUP);
    assert!(HYBZ_MAX_GROUPS == header::MAX_SELECTORS && HYBZ_MAX_CODE == header::MAX_WRITTEN_CODE as usize);
    assert!(HYBZ_MAX_SYMBOLS == header::MAX_SYMBOLS && HYBZ_MAX_TABLES == header::MAX_TABLES);
    assert!(HYBZ_LONGEST_TEXT == MAX_PLAIN_TEXT);
    assert!(HYBZ_MAX_WIDE_LENGTH == crate::formats::hbz::header::MAX_BLOCK as usize);
    assert!(size_of::<hybz_tally>() == size_of::<Tally>() && size_of::<hybz_prices>() == size_of::<Prices>());
    assert!(offset_of!(hybz_tally, tokens) == offset_of!(Tally, tokens));
    assert!(offset_of!(hybz_tally, moves) == offset_of!(Tally, moves));
    assert!(offset_of!(hybz_prices, tokens) == offset_of!(Prices, tokens));
    assert!(offset_of!(hybz_prices, selectors) == offset_of!(Prices, selectors));
};
