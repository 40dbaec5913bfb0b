//! Move-to-front, and zero runs in bijective base 2.
//!
//! Each byte becomes its rank, which is its place in a list of the bytes used, and moves to the front of the list. A
//! run of `z` zero ranks is written as the binary digits of `z + 1` without the first, lowest digit first: RUNA for 0
//! and RUNB for 1. A rank `r >= 1` is symbol `r + 1`, and the symbol after the last rank ends the block (EOB).

pub mod decode;
pub mod encode;

/// For each rank: the shuffle of 16 entries that moves the entry of this rank to the front.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
static MOVES: [[u8; 16]; 16] = {
    let mut moves = [[0; 16]; 16];
    let mut rank = 0;
    while rank < 16 {
        let mut i = 0;
        while i < 16 {
            moves[rank][i] = if i == 0 { rank as u8 } else { i as u8 - (i <= rank) as u8 };
            i += 1;
        }
        rank += 1;
    }
    moves
};

/// Moves byte `rank` (0 to 7) of eight to the front, and also returns it.
#[inline(always)]
pub(crate) fn to_front(word: u64, rank: u32) -> (u64, u64) {
    let byte = word >> (8 * rank) & 0xff;
    // All entries below this one: they move up by one place and overwrite it.
    let below = (1 << (8 * rank)) - 1;
    let above = !(below << 8 | 0xff);
    (word & above | (word & below) << 8 | byte, byte)
}
