//! Decoding of zero runs and move-to-front with the first 16 entries of the list in a register of NEON, which every
//! 64-bit ARM processor has: see [`decode`](super). Checked by emulation; its speed has not been measured.

#![allow(unsafe_code)]

use super::{MtfDecoder, rank_of};
use crate::codec::mtf::MASKS16;
use std::arch::aarch64::{uint8x16_t, vextq_u8, vgetq_lane_u8, vld1q_u8, vqtbl1q_u8, vst1q_u8};

fn load(row: &[u8; 16]) -> uint8x16_t {
    // SAFETY: a row has 16 bytes.
    unsafe { vld1q_u8(row.as_ptr()) }
}

fn store(row: &mut [u8; 16], new: uint8x16_t) {
    // SAFETY: a row has 16 bytes.
    unsafe { vst1q_u8(row.as_mut_ptr(), new) }
}

fn shuffle(row: uint8x16_t, mask: uint8x16_t) -> uint8x16_t {
    // SAFETY: every 64-bit ARM processor has NEON.
    unsafe { vqtbl1q_u8(row, mask) }
}

fn up(before: uint8x16_t, row: uint8x16_t) -> uint8x16_t {
    // SAFETY: every 64-bit ARM processor has NEON.
    unsafe { vextq_u8::<15>(before, row) }
}

fn turned(row: uint8x16_t) -> uint8x16_t {
    // SAFETY: every 64-bit ARM processor has NEON.
    unsafe { vextq_u8::<1>(row, row) }
}

fn first(row: uint8x16_t) -> u8 {
    // SAFETY: every 64-bit ARM processor has NEON.
    unsafe { vgetq_lane_u8::<0>(row) }
}

push_by_rows!(push);
