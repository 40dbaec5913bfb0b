//! Asserts that the structures and limits of `cuda/hybz.h` are the same here: the build script makes an assertion of
//! each line of `cuda/layout.inc`. `cuda/layout.cu` asserts the same of the other side.
#![allow(clippy::unnecessary_cast)] // the limits have several types; the checks are written for usize
#![allow(non_snake_case)] // macros of limits.h

use super::ffi::{
    FactorCounts as hybz_factor_counts, FactorReport as hybz_factor_report, LinesReport as hybz_lines_report,
    Report as hybz_report, Round as hybz_round, Slice as hybz_slice,
};
use crate::block::MAX_PLAIN_TEXT as HYBZ_LONGEST_TEXT;
use crate::formats::bzip2::header::{
    GROUP as HYBZ_GROUP, MAX_BLOCK as HYBZ_MAX_ROWS, MAX_SELECTORS as HYBZ_MAX_GROUPS, MAX_SYMBOLS as HYBZ_MAX_SYMBOLS,
    MAX_TABLES as HYBZ_MAX_TABLES, MAX_WRITTEN_CODE as HYBZ_MAX_CODE,
};
use crate::formats::hbz::codec::tally::{Prices as hybz_prices, Tally as hybz_tally};
use crate::gpu::{
    BlockForDevice as hybz_block, CodedByDevice as hybz_coded, CodedSegment as hybz_coded_segment,
    DecodedByDevice as hybz_decoded, FactorByDevice as hybz_factor, LargeForDevice as hybz_large,
    Lz4ForDevice as hybz_lz4_block, MAX_BATCH as HYBZ_MAX_BLOCKS, MAX_ENTRY_LOG as HYBZ_MAX_ENTRY_LOG,
    MAX_LARGE as HYBZ_MAX_LARGE, MAX_LZ4 as HYBZ_MAX_LZ4, MAX_STRIP as HYBZ_MAX_LZW,
    MAX_WIDE_BLOCK as HYBZ_MAX_WIDE_LENGTH, MIN_DEVICE_BLOCK as HYBZ_MIN_LENGTH, SegmentForDevice as hybz_segment,
    SharesForDevice as hybz_shares, StripForDevice as hybz_lzw_strip, StripFound as hybz_lzw_found,
    TokensByDevice as hybz_tokens, input_room as HYBZ_LARGE_INPUT,
};

use super::ffi::MAX_ROUNDS as HYBZ_MAX_ROUNDS;

/// A lane takes every block that bzip2 can make.
const HYBZ_MAX_LENGTH: usize = 1 << 20;
const _: () = assert!(HYBZ_MAX_LENGTH >= HYBZ_MAX_ROWS);

const fn HYBZ_CODED_BYTES(length: usize) -> usize {
    hybz_coded::most_bytes(length)
}

include!(concat!(env!("OUT_DIR"), "/layout.rs"));
