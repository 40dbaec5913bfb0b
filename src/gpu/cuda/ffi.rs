//! The declarations of `cuda/hybz.h`, which documents them, and tests that both sides agree.
#![allow(unsafe_code)]

use crate::codec::hbz::tally::{Prices, Tally};
use crate::codec::hbz::token::TOKENS;
use crate::gpu::{
    BlockForDevice, CodedByDevice, CodedSegment, DecodedByDevice, FactorByDevice, LargeForDevice, Lz4ForDevice,
    SharesForDevice, StripForDevice, StripFound, TokensByDevice,
};
use std::ffi::{c_char, c_int, c_void};

/// `HYBZ_BWT`.
pub const BWT: i32 = 0;
/// `HYBZ_HYBRID`.
pub const HYBRID: i32 = 1;
/// `HYBZ_RESIDENT`.
pub const RESIDENT: i32 = 2;
/// `HYBZ_SUFFIXES`.
pub const SUFFIXES: i32 = 3;
/// `HYBZ_DECODE`.
pub const DECODE: i32 = 4;
/// `HYBZ_DECODE_LARGE`.
pub const DECODE_LARGE: i32 = 5;
/// `HYBZ_CODE_LARGE`.
pub const CODE_LARGE: i32 = 6;
/// `HYBZ_LINES`.
pub const LINES: i32 = 7;
/// `HYBZ_FACTOR`.
pub const FACTOR: i32 = 8;

/// The device did not finish in time.
pub const TIMEOUT: c_int = -2;
/// The device returned an impossible result.
pub const WRONG: c_int = -4;
/// `cudaErrorMemoryAllocation`.
pub const OUT_OF_MEMORY: c_int = 2;

/// `struct hybz_lane`.
#[repr(C)]
pub struct Lane {
    _private: [u8; 0],
}

/// `struct hybz_lz4`.
#[repr(C)]
pub struct Lz4 {
    _private: [u8; 0],
}

/// `struct hybz_lzw`.
#[repr(C)]
pub struct Lzw {
    _private: [u8; 0],
}

/// `HYBZ_MAX_ROUNDS`.
pub const MAX_ROUNDS: usize = 32;

/// `struct hybz_round`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    pub small: u32,
    pub large: u32,
    pub resolved: u32,
    pub small_ms: f32,
    pub large_ms: f32,
    pub commit_ms: f32,
}

/// `struct hybz_report`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    pub bytes: u64,
    pub table_ms: f32,
    pub upload_ms: f32,
    pub keys_ms: f32,
    pub sort_ms: f32,
    pub group_ms: f32,
    pub download_ms: f32,
    pub thirds_ms: f32,
    pub mtf_ms: f32,
    pub tables_ms: f32,
    pub bits_ms: f32,
    pub symbols_ms: f32,
    pub columns_ms: f32,
    pub walk_ms: f32,
    pub vector_ms: f32,
    pub tied_small: u32,
    pub tied_large: u32,
    pub rounds: u32,
    pub round: [Round; MAX_ROUNDS],
}

/// `struct hybz_slice`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice {
    pub text: *const u8,
    pub length: u64,
}

/// `struct hybz_lines_report`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LinesReport {
    pub bytes: u64,
    pub sorted_again: u64,
    pub lines: u32,
    pub tied: u32,
    pub rounds: u32,
    pub upload_ms: f32,
    pub find_ms: f32,
    pub keys_ms: f32,
    pub sort_ms: f32,
    pub settle_ms: f32,
    pub rounds_ms: f32,
    pub place_ms: f32,
    pub copy_ms: f32,
    pub download_ms: f32,
}

/// `struct hybz_factor_counts`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FactorCounts {
    pub factors: u32,
    pub runs: u32,
}

/// `struct hybz_factor_report`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FactorReport {
    pub bytes: u64,
    pub rounds: u32,
    pub table_ms: f32,
    pub upload_ms: f32,
    pub sort_ms: f32,
    pub neighbours_ms: f32,
    pub longest_ms: f32,
    pub path_ms: f32,
    pub runs_ms: f32,
}

/// `struct hybz_limits`.
#[cfg(test)]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub min_length: u32,
    pub max_length: u32,
    pub max_wide_length: u32,
    pub max_blocks: u32,
    pub max_rounds: u32,
    pub max_symbols: u32,
    pub max_tables: u32,
    pub group: u32,
    pub max_code: u32,
    pub max_rows: u32,
    pub max_groups: u32,
    pub max_large: u32,
    pub max_entry_log: u32,
    pub max_lz4: u32,
    pub max_lzw: u32,
}

/// `struct hybz_field`.
#[cfg(test)]
#[repr(C)]
struct Field {
    structure: *const c_char,
    name: *const c_char,
    at: u64,
    bytes: u64,
}

unsafe extern "C" {
    pub fn hybz_lane_create(
        device: c_int,
        max_blocks: u32,
        max_length: u32,
        pipeline: i32,
        lane: *mut *mut Lane,
    ) -> c_int;
    pub fn hybz_lane_bwt(
        lane: *mut Lane,
        blocks: u32,
        lengths: *const u32,
        text: *const u8,
        column: *mut u8,
        origins: *mut u32,
        timeout_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_thirds(
        lane: *mut Lane,
        blocks: u32,
        lengths: *const u32,
        turns: *const u32,
        text: *const u8,
        keys: *mut u32,
        bytes: *mut u8,
        origins: *mut u32,
        timeout_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_code(
        lane: *mut Lane,
        blocks: u32,
        lengths: *const u32,
        text: *const u8,
        coded: *mut CodedByDevice,
        bytes: *mut u8,
        filled: *mut u64,
        timeout_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_suffixes(
        lane: *mut Lane,
        blocks: u32,
        lengths: *const u32,
        text: *const u8,
        entry_log: u32,
        column: *mut u8,
        origins: *mut u32,
        entries: *mut u32,
        timeout_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_decode(
        lane: *mut Lane,
        blocks: u32,
        heads: *const BlockForDevice,
        input: *const u8,
        bytes: u64,
        decoded: *mut DecodedByDevice,
        text: *mut u8,
        filled: *mut u64,
        timeout_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_decode_large(
        lane: *mut Lane,
        blocks: u32,
        heads: *const LargeForDevice,
        input: *const u8,
        bytes: u64,
        odd: *mut u32,
        codes: *mut u8,
        timeout_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_tokens(
        lane: *mut Lane,
        blocks: u32,
        lengths: *const u32,
        text: *const u8,
        entry_log: u32,
        weights: *const [u32; TOKENS],
        about: *mut TokensByDevice,
        tallies: *mut Tally,
        entries: *mut u32,
        timeout_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_choose(
        lane: *mut Lane,
        prices: *const Prices,
        all: i32,
        tallies: *mut Tally,
        timeout_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_segments(
        lane: *mut Lane,
        shares: *const SharesForDevice,
        segments: *mut CodedSegment,
        bytes: *mut u8,
        room: u64,
        filled: *mut u64,
        timeout_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_lines(
        lane: *mut Lane,
        ranges: u32,
        lengths: *const u32,
        text: *const u8,
        end: u32,
        flags: u32,
        sorted: *mut u8,
        sorted_lengths: *mut u32,
        timeout_ms: u32,
        report: *mut LinesReport,
    ) -> c_int;
    pub fn hybz_lane_lines_on_device(
        lane: *mut Lane,
        length: u32,
        text: *const u8,
        end: u32,
        flags: u32,
        sorted: *mut u8,
        sorted_length: *mut u32,
        timeout_ms: u32,
        report: *mut LinesReport,
    ) -> c_int;
    pub fn hybz_lane_lines_keep(
        lane: *mut Lane,
        length: u32,
        text: *const u8,
        end: u32,
        kept: *mut u8,
        timeout_ms: u32,
        report: *mut LinesReport,
    ) -> c_int;
    pub fn hybz_lane_lines_gather(
        lane: *mut Lane,
        ranges: u32,
        lengths: *const u32,
        host_lengths: *const u32,
        text: *const u8,
        counts: *const u32,
        slices: *const Slice,
        end: u32,
        flags: u32,
        sorted: *mut u8,
        sorted_lengths: *mut u32,
        timeout_ms: u32,
        report: *mut LinesReport,
    ) -> c_int;
    pub fn hybz_device_alloc(device: c_int, bytes: u64, memory: *mut *mut c_void) -> c_int;
    pub fn hybz_device_free(device: c_int, memory: *mut c_void) -> c_int;
    pub fn hybz_max_lines(bytes: u64) -> u64;
    pub fn hybz_lane_factor(
        lane: *mut Lane,
        length: u32,
        text: *const u8,
        divisions: u32,
        runs: i32,
        counts: *mut FactorCounts,
        timeout_ms: u32,
        report: *mut FactorReport,
    ) -> c_int;
    pub fn hybz_lane_factors(
        lane: *mut Lane,
        from: u32,
        count: u32,
        factors: *mut FactorByDevice,
        timeout_ms: u32,
    ) -> c_int;
    pub fn hybz_lane_destroy(lane: *mut Lane) -> c_int;
    pub fn hybz_lz4_create(device: c_int, max_blocks: u32, lz4: *mut *mut Lz4) -> c_int;
    pub fn hybz_lz4_decode(
        lz4: *mut Lz4,
        coded: *const u8,
        coded_bytes: u64,
        blocks: *const Lz4ForDevice,
        count: u32,
        text: *mut u8,
        text_bytes: u64,
        status: *mut u32,
        timeout_ms: u32,
    ) -> c_int;
    pub fn hybz_lz4_load(
        lz4: *mut Lz4,
        coded: *const u8,
        coded_bytes: u64,
        copied: *mut u8,
        blocks: *const Lz4ForDevice,
        count: u32,
        text: *mut u8,
        text_bytes: u64,
        status: *mut u32,
        timeout_ms: u32,
    ) -> c_int;
    pub fn hybz_lz4_destroy(lz4: *mut Lz4) -> c_int;
    pub fn hybz_lzw_create(device: c_int, max_strips: u32, max_coded: u64, max_text: u64, lzw: *mut *mut Lzw) -> c_int;
    pub fn hybz_lzw_decode(
        lzw: *mut Lzw,
        input: *const u8,
        in_bytes: u64,
        strips: *const StripForDevice,
        count: u32,
        out: *mut u8,
        out_bytes: u64,
        found: *mut StripFound,
        timeout_ms: u32,
    ) -> c_int;
    pub fn hybz_lzw_decode_host(
        lzw: *mut Lzw,
        input: *const u8,
        in_bytes: u64,
        strips: *const StripForDevice,
        count: u32,
        out: *mut u8,
        out_bytes: u64,
        found: *mut StripFound,
        timeout_ms: u32,
    ) -> c_int;
    pub fn hybz_lzw_destroy(lzw: *mut Lzw) -> c_int;
    pub fn hybz_device_start(device: c_int) -> c_int;
    pub fn hybz_pinned_alloc(device: c_int, bytes: usize, memory: *mut *mut c_void) -> c_int;
    pub fn hybz_pinned_free(memory: *mut c_void, bytes: usize) -> c_int;
    #[cfg(test)]
    pub fn hybz_get_limits(limits: *mut Limits);
    #[cfg(test)]
    pub fn hybz_max_coded_bytes(length: u32) -> u32;
    #[cfg(test)]
    pub fn hybz_large_input(blocks: u64, rows: u64) -> u64;
    #[cfg(test)]
    fn hybz_fields(count: *mut u64) -> *const Field;
    pub fn hybz_is_sticky(code: c_int) -> c_int;
    pub fn hybz_error_text(code: c_int) -> *const c_char;
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod layout_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::bzip2;
    use crate::gpu::{
        MAX_BATCH, MAX_ENTRY_LOG, MAX_LARGE, MAX_LZ4, MAX_STRIP, MAX_WIDE_BLOCK, MIN_DEVICE_BLOCK, input_room,
    };

    #[test]
    fn both_sides_have_the_same_limits() {
        let mut limits = Limits::default();
        // SAFETY: it only writes to `limits`, which has the layout of `struct hybz_limits`.
        unsafe { hybz_get_limits(&mut limits) };
        assert_eq!(limits.min_length as usize, MIN_DEVICE_BLOCK);
        assert!(limits.max_length as usize >= bzip2::MAX_BLOCK);
        assert_eq!(limits.max_wide_length as usize, MAX_WIDE_BLOCK);
        assert_eq!(limits.max_blocks as usize, MAX_BATCH);
        assert_eq!(limits.max_rounds as usize, MAX_ROUNDS);
        assert_eq!(limits.max_symbols as usize, bzip2::MAX_SYMBOLS);
        assert_eq!(limits.max_tables as usize, bzip2::MAX_TABLES);
        assert_eq!(limits.group as usize, bzip2::GROUP);
        assert_eq!(limits.max_code, bzip2::MAX_WRITTEN_CODE.into());
        assert_eq!(limits.max_rows as usize, bzip2::MAX_BLOCK);
        assert_eq!(limits.max_groups as usize, bzip2::MAX_SELECTORS);
        assert_eq!(limits.max_large as usize, MAX_LARGE);
        assert_eq!(limits.max_entry_log, MAX_ENTRY_LOG.into());
        assert_eq!(limits.max_lz4, MAX_LZ4);
        assert_eq!(limits.max_lzw as usize, MAX_STRIP);
        for (blocks, rows) in [(1, 1), (64, 64 << 20), (64, 1 << 30)] {
            // SAFETY: it accepts any numbers.
            let bytes = unsafe { hybz_large_input(blocks, rows) };
            assert_eq!(bytes as usize, input_room(blocks as usize, rows as usize));
        }
        for length in [64, 65, 66, 67, 1000, 899_981, 1 << 20] {
            // SAFETY: it accepts any number.
            let bytes = unsafe { hybz_max_coded_bytes(length) };
            assert_eq!(bytes as usize, CodedByDevice::most_bytes(length as usize), "{length}");
        }
    }
}
