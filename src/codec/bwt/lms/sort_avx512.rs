//! Networks and a partition with AVX-512: the sort for `order` takes 0.91 to 0.98 of AVX2's time.
//!
//! A partition compresses in a register and stores whole registers: Zen 4 takes 100 cycles to compress into memory.

use std::arch::x86_64::{
    __m512i, __mmask8, _mm512_cmplt_epu64_mask, _mm512_loadu_epi64 as load_all, _mm512_mask_loadu_epi64,
    _mm512_mask_max_epu64, _mm512_mask_storeu_epi64, _mm512_maskz_compress_epi64, _mm512_max_epu64 as max,
    _mm512_min_epu64 as min, _mm512_permutex_epi64, _mm512_permutexvar_epi64, _mm512_set_epi64, _mm512_set1_epi64,
    _mm512_shuffle_i64x2, _mm512_storeu_epi64 as store_all,
};

/// The number of numbers in a register.
const LANES: usize = 8;

in_registers!(__m512i, "avx512f,popcnt");

#[target_feature(enable = "avx512f")]
#[inline]
fn largest() -> __m512i {
    _mm512_set1_epi64(-1)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(part: &[u64]) -> __m512i {
    // SAFETY: the mask has a bit for each number of `part`.
    #[allow(unsafe_code)]
    unsafe {
        _mm512_mask_loadu_epi64(largest(), ((1u32 << part.len()) - 1) as __mmask8, part.as_ptr().cast())
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(register: __m512i, part: &mut [u64]) {
    // SAFETY: the same.
    #[allow(unsafe_code)]
    unsafe {
        _mm512_mask_storeu_epi64(part.as_mut_ptr().cast(), ((1u32 << part.len()) - 1) as __mmask8, register);
    }
}

/// Sorts each register, and returns the length of a run, in registers.
#[target_feature(enable = "avx512f")]
#[inline]
fn sort_runs<const N: usize>(registers: &mut [__m512i; N]) -> usize {
    registers.iter_mut().for_each(|register| *register = sort_lanes(*register));
    1
}

/// Sorts the lanes of one register.
#[target_feature(enable = "avx512f")]
#[inline]
fn sort_lanes(v: __m512i) -> __m512i {
    let v = exchange(v, _mm512_permutex_epi64::<0b10_11_00_01>(v), 0b1010_1010);
    let v = exchange(v, _mm512_permutex_epi64::<0b00_01_10_11>(v), 0b1100_1100);
    let v = exchange(v, _mm512_permutex_epi64::<0b10_11_00_01>(v), 0b1010_1010);
    let v = exchange(v, reverse(v), 0b1111_0000);
    let v = exchange(v, _mm512_permutex_epi64::<0b01_00_11_10>(v), 0b1100_1100);
    exchange(v, _mm512_permutex_epi64::<0b10_11_00_01>(v), 0b1010_1010)
}

/// Sorts the lanes of a bitonic register.
#[target_feature(enable = "avx512f")]
#[inline]
fn merge_lanes(v: __m512i) -> __m512i {
    let v = exchange(v, _mm512_shuffle_i64x2::<0b01_00_11_10>(v, v), 0b1111_0000);
    let v = exchange(v, _mm512_permutex_epi64::<0b01_00_11_10>(v), 0b1100_1100);
    exchange(v, _mm512_permutex_epi64::<0b10_11_00_01>(v), 0b1010_1010)
}

/// Compares each lane with its partner: lanes in `upper` keep the larger number, the others the smaller one.
#[target_feature(enable = "avx512f")]
#[inline]
fn exchange(v: __m512i, partners: __m512i, upper: __mmask8) -> __m512i {
    _mm512_mask_max_epu64(min(v, partners), upper, v, partners)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn reverse(v: __m512i) -> __m512i {
    _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), v)
}

/// Returns the numbers of `v` below `pivot`, its other numbers, and how many are below.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn split(v: __m512i, pivot: u64) -> (__m512i, __m512i, usize) {
    let below = _mm512_cmplt_epu64_mask(v, _mm512_set1_epi64(pivot as i64));
    (_mm512_maskz_compress_epi64(below, v), _mm512_maskz_compress_epi64(!below, v), below.count_ones() as usize)
}
