//! The declarations of `cuda/hybz.h`, which says what they do. Nothing else.
#![allow(unsafe_code)]

use crate::gpu::CodedByDevice;
use std::ffi::{c_char, c_int, c_void};

/// `HYBZ_BWT`.
pub const BWT: i32 = 0;
/// `HYBZ_HYBRID`.
pub const HYBRID: i32 = 1;
/// `HYBZ_RESIDENT`.
pub const RESIDENT: i32 = 2;
/// `HYBZ_SUFFIXES`.
pub const SUFFIXES: i32 = 3;

/// The device did not finish in time.
pub const DEADLINE: c_int = -2;
/// What the device answers cannot be.
pub const WRONG: c_int = -4;
/// `cudaErrorMemoryAllocation`.
pub const OUT_OF_MEMORY: c_int = 2;

/// `struct hybz_lane`.
#[repr(C)]
pub struct Lane {
    _private: [u8; 0],
}

/// `struct hybz_tuning`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub sort_bits: i32,
    pub coded: i32,
    pub steps: i32,
    pub counting: i32,
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
    pub tied_small: u32,
    pub tied_large: u32,
    pub rounds: u32,
    pub round: [Round; MAX_ROUNDS],
}

unsafe extern "C" {
    pub fn hybz_lane_create(
        device: c_int,
        most_blocks: u32,
        longest: u32,
        pipeline: i32,
        lane: *mut *mut Lane,
    ) -> c_int;
    pub fn hybz_lane_bwt(
        lane: *mut Lane,
        tuning: *const Tuning,
        blocks: u32,
        lengths: *const u32,
        text: *const u8,
        column: *mut u8,
        origins: *mut u32,
        deadline_ms: u32,
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
        deadline_ms: u32,
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
        deadline_ms: u32,
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
        deadline_ms: u32,
        report: *mut Report,
    ) -> c_int;
    pub fn hybz_lane_destroy(lane: *mut Lane) -> c_int;
    pub fn hybz_pinned_alloc(device: c_int, bytes: usize, memory: *mut *mut c_void) -> c_int;
    pub fn hybz_pinned_free(memory: *mut c_void, bytes: usize) -> c_int;
    #[cfg(test)]
    pub fn hybz_report_bytes() -> usize;
    #[cfg(test)]
    pub fn hybz_coded_bytes() -> usize;
    pub fn hybz_is_sticky(code: c_int) -> c_int;
    pub fn hybz_error_text(code: c_int) -> *const c_char;
}
