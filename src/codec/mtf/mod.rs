//! Move-to-front, and zero runs in bijective base 2.
//!
//! Each byte becomes its rank, which is its position in a list of the bytes used, and moves to the front of the list.
//! A run of `z` zero ranks is written as the binary digits of `z + 1` without the first, lowest digit first: RUNA for
//! 0 and RUNB for 1. A rank `r >= 1` is symbol `r + 1`, and the symbol after the last rank ends the block (EOB).

pub mod decode;
pub mod encode;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};

/// For each symbol: the shuffle that moves the entry of its rank to the front of `N` entries.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
#[repr(align(64))]
struct Masks<const N: usize, const SYMBOLS: usize>([[u8; N]; SYMBOLS]);

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
static MASKS16: Masks<16, 17> = Masks(moves());

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
const fn moves<const N: usize, const SYMBOLS: usize>() -> [[u8; N]; SYMBOLS] {
    let mut moves = [[0; N]; SYMBOLS];
    let mut symbol = 0;
    while symbol < SYMBOLS {
        let rank = symbol.saturating_sub(1);
        let mut i = 0;
        while i < N {
            moves[symbol][i] = if i == 0 { rank as u8 } else { i as u8 - (i <= rank) as u8 };
            i += 1;
        }
        symbol += 1;
    }
    moves
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn load(row: &[u8; 16]) -> __m128i {
    // SAFETY: a row has 16 bytes.
    unsafe { _mm_loadu_si128(row.as_ptr().cast()) }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn store(row: &mut [u8; 16], new: __m128i) {
    // SAFETY: a row has 16 bytes.
    unsafe { _mm_storeu_si128(row.as_mut_ptr().cast(), new) }
}

/// Moves byte `rank` (0 to 7) of eight to the front, and also returns it.
#[inline(always)]
pub(crate) fn to_front(word: u64, rank: u32) -> (u64, u64) {
    let byte = word >> (8 * rank) & 0xff;
    // All entries below this one: they move up by one place and overwrite it.
    let below = (1 << (8 * rank)) - 1;
    let above = !(below << 8 | 0xff);
    (word & above | (word & below) << 8 | byte, byte)
}
