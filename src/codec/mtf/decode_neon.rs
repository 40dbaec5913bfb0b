//! Decoding of zero runs and move-to-front with the first 16 entries of the list in a register of NEON, which every
//! 64-bit ARM processor has: see [`decode`](super). Checked by emulation; its speed has not been measured.

#![allow(unsafe_code)]

use super::{MtfDecoder, rank_of};
use crate::codec::mtf::MOVES;
use std::arch::aarch64::{
    uint8x16_t, vcopyq_laneq_u8, vdupq_laneq_u8, vextq_u8, vgetq_lane_u8, vld1q_u8, vqtbl1q_u8, vst1q_u8,
};

fn load(row: &[u8; 16]) -> uint8x16_t {
    // SAFETY: a row has 16 bytes.
    unsafe { vld1q_u8(row.as_ptr()) }
}

fn store(row: &mut [u8; 16], new: uint8x16_t) {
    // SAFETY: a row has 16 bytes.
    unsafe { vst1q_u8(row.as_mut_ptr(), new) }
}

/// The loop with the first 16 entries in a register and the others in memory, in rows of 16.
pub fn push(decoder: &mut MtfDecoder, symbols: &[u8]) {
    let mut state = decoder.state;
    let runs = &mut decoder.runs[..];
    let (rows, _) = decoder.list.as_chunks_mut::<16>();
    let mut head = load(&rows[0]);
    let mut symbols = symbols.iter();
    while let Some(&symbol) = symbols.next() {
        // SAFETY: every 64-bit ARM processor has NEON.
        unsafe {
            if symbol > 16 {
                let rank = rank_of(symbol, &mut symbols);
                // Each row up to the rank's row takes the last entry of the row before it. The rank's row also loses
                // the entry of the rank.
                let mut before = head;
                for row in &mut rows[1..rank / 16] {
                    let old = load(row);
                    store(row, vextq_u8::<15>(before, old));
                    before = old;
                }
                let row = &mut rows[rank / 16];
                let found = vqtbl1q_u8(load(row), load(&MOVES[rank % 16]));
                store(row, vcopyq_laneq_u8::<0, 15>(found, before));
                head = vextq_u8::<15>(vdupq_laneq_u8::<0>(found), head);
            } else {
                head = vqtbl1q_u8(head, load(&MOVES[usize::from(symbol.saturating_sub(1))]));
            }
            state.step(symbol, vgetq_lane_u8::<0>(head), runs);
        }
    }
    store(&mut rows[0], head);
    decoder.state = state;
}
