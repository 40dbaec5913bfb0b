//! 64 comparisons of bytes at once, by the instructions that the processor has.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// The number of bytes looked at together: one more than the number of comparisons.
pub(crate) const WINDOW: usize = 65;

/// Bit i tells whether byte i equals the next one.
#[inline(always)]
pub(crate) fn equal_to_next(window: &[u8; WINDOW]) -> u64 {
    equal_to_next_by(window, same)
}

/// `same` does what the function of this name does.
#[inline(always)]
pub(super) fn equal_to_next_by(window: &[u8; WINDOW], same: impl Fn(&[u8; 64], &[u8; 64]) -> u64) -> u64 {
    let (Some(bytes), Some(next)) = (window.first_chunk(), window.last_chunk()) else { unreachable!() };
    same(bytes, next)
}

/// Bit i tells whether the bytes i are equal.
#[inline(always)]
pub(super) fn same(one: &[u8; 64], other: &[u8; 64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    // SAFETY: SSE2 is part of x86-64; the last load ends at byte 48 + 16 = 64.
    unsafe {
        [0, 16, 32, 48].iter().fold(0, |mask, &at| {
            let [one, other] = [one, other].map(|bytes| _mm_loadu_si128(bytes.as_ptr().add(at).cast()));
            mask | (_mm_movemask_epi8(_mm_cmpeq_epi8(one, other)) as u64) << at
        })
    }
    #[cfg(target_feature = "simd128")]
    #[allow(unsafe_code)]
    // SAFETY: the last load ends at byte 48 + 16 = 64.
    unsafe {
        use std::arch::wasm32::*;
        [0, 16, 32, 48].iter().fold(0, |mask, &at| {
            let [one, other] = [one, other].map(|bytes| v128_load(bytes.as_ptr().add(at).cast()));
            mask | u64::from(u8x16_bitmask(u8x16_eq(one, other))) << at
        })
    }
    #[cfg(not(any(target_arch = "x86_64", target_feature = "simd128")))]
    same_portable(one, other)
}

#[cfg(any(test, not(any(target_arch = "x86_64", target_feature = "simd128"))))]
pub(super) fn same_portable(one: &[u8; 64], other: &[u8; 64]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let word = |bytes: &[u8; 64], at| bytes[at..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
    (0..64).step_by(8).fold(0, |mask, at| {
        let differ = word(one, at) ^ word(other, at);
        // The top bit of each byte that is equal; the product gathers the eight bits.
        let equal = !(((differ & LOW) + LOW) | differ | LOW);
        mask | (equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56 << at
    })
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn same_avx512(one: &[u8; 64], other: &[u8; 64]) -> u64 {
    // SAFETY: each has 64 bytes.
    let [one, other] = [one, other].map(|bytes| unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) });
    _mm512_cmpeq_epi8_mask(one, other)
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
#[inline]
pub(super) fn same_avx2(one: &[u8; 64], other: &[u8; 64]) -> u64 {
    // SAFETY: the last load ends at byte 32 + 32 = 64.
    let load = |bytes: &[u8; 64], at: usize| unsafe { _mm256_loadu_si256(bytes.as_ptr().add(at).cast()) };
    let same = |at| _mm256_movemask_epi8(_mm256_cmpeq_epi8(load(one, at), load(other, at))) as u32;
    u64::from(same(0)) | u64::from(same(32)) << 32
}
