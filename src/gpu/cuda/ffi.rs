//! The declarations of `cuda/hybz.h`, which documents them. `layout` asserts that both sides agree.
#![allow(unsafe_code)]

use crate::formats::hbz::codec::tally::{Prices, Tally};
use crate::formats::hbz::codec::token::TOKENS;
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
    pub expand_ms: f32,
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
        entry_log: u32,
        bits: *mut u32,
        bytes: *mut u8,
        entries: *mut u32,
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
        expand: i32,
        decoded: *mut DecodedByDevice,
        text: *mut u8,
        room: u64,
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
    pub fn hybz_lzw_differences(lzw: *mut Lzw, pixel: u32, row: u32) -> c_int;
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
    pub fn hybz_device_use(device: c_int) -> c_int;
    pub fn hybz_touched_alloc(bytes: usize) -> *mut c_void;
    pub fn hybz_touched_free(touched: *mut c_void, bytes: usize);
    pub fn hybz_pinned_alloc(device: c_int, bytes: usize, touched: *mut c_void, memory: *mut *mut c_void) -> c_int;
    pub fn hybz_pinned_free(memory: *mut c_void, bytes: usize) -> c_int;
    pub fn hybz_is_sticky(code: c_int) -> c_int;
    pub fn hybz_error_text(code: c_int) -> *const c_char;
}
