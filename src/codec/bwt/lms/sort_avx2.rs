//! Networks and a partition with AVX2. AVX2 has no minimum of 64-bit integers, but one of doubles; numbers with
//! [`SORTABLE`](super::SORTABLE) as their highest bit compare the same as doubles and as integers.

use super::{OF_4, OF_8};
use std::arch::x86_64::{
    __m256d, _CMP_LT_OQ, _mm_storel_pd, _mm_storeu_pd, _mm256_blend_pd, _mm256_blendv_pd, _mm256_castpd_si256,
    _mm256_castpd256_pd128, _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_extractf128_pd, _mm256_loadu_pd as load_all,
    _mm256_loadu_si256, _mm256_maskload_pd, _mm256_max_pd as max, _mm256_min_pd as min, _mm256_movemask_pd,
    _mm256_permute_pd, _mm256_permute2f128_pd, _mm256_permute4x64_pd, _mm256_permutevar8x32_epi32, _mm256_set1_pd,
    _mm256_storeu_pd as store_all, _mm256_unpackhi_pd, _mm256_unpacklo_pd,
};

/// The number of numbers in a register.
const LANES: usize = 4;

in_registers!(__m256d, "avx2,bmi1,bmi2,lzcnt,popcnt");

/// Returns `four` with the numbers below `pivot` first, `four` with the others first, and how many are below.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn split(four: __m256d, pivot: u64) -> (__m256d, __m256d, usize) {
    let below = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(four, _mm256_set1_pd(f64::from_bits(pivot)))) as usize;
    (ordered(four, below), ordered(four, below ^ 15), below.count_ones() as usize)
}

/// Returns `four` with the numbers in the mask first.
#[target_feature(enable = "avx2")]
#[inline]
fn ordered(four: __m256d, mask: usize) -> __m256d {
    // SAFETY: an order has eight lanes.
    #[allow(unsafe_code)]
    let order = unsafe { _mm256_loadu_si256(ORDERS[mask & 15].as_ptr().cast()) };
    _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(four), order))
}

/// For each mask of four numbers: those in the mask, then the others, as pairs of 32-bit lanes.
static ORDERS: [[u32; 8]; 16] = {
    let mut all = [[0; 8]; 16];
    let mut mask = 0;
    while mask < 16 {
        let (mut i, mut to) = (0, 0);
        while i < 8 {
            // Two rounds over the lanes: those in the mask, then the others.
            if (mask >> (i % 4) & 1 != 0) == (i < 4) {
                (all[mask][to], all[mask][to + 1]) = (i % 4 * 2, i % 4 * 2 + 1);
                to += 2;
            }
            i += 1;
        }
        mask += 1;
    }
    all
};

/// Masks of the first 0 to 3 lanes of a register.
static FIRST: [[i64; 4]; 4] = [[0, 0, 0, 0], [-1, 0, 0, 0], [-1, -1, 0, 0], [-1, -1, -1, 0]];

#[target_feature(enable = "avx2")]
#[inline]
fn largest() -> __m256d {
    _mm256_set1_pd(f64::INFINITY)
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(part: &[u64]) -> __m256d {
    // SAFETY: four numbers are read, or as many as `part` has, by the mask.
    #[allow(unsafe_code)]
    unsafe {
        if part.len() == LANES {
            return load_all(part.as_ptr().cast());
        }
        let mask = _mm256_loadu_si256(FIRST[part.len()].as_ptr().cast());
        _mm256_blendv_pd(largest(), _mm256_maskload_pd(part.as_ptr().cast(), mask), _mm256_castsi256_pd(mask))
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(register: __m256d, part: &mut [u64]) {
    let (to, low): (*mut f64, _) = (part.as_mut_ptr().cast(), _mm256_castpd256_pd128(register));
    // SAFETY: as many numbers are written as `part` has. A masked store is slow on Zen.
    #[allow(unsafe_code)]
    unsafe {
        match part.len() {
            0 => {}
            1 => _mm_storel_pd(to, low),
            2 => _mm_storeu_pd(to, low),
            3 => {
                _mm_storeu_pd(to, low);
                _mm_storel_pd(to.add(2), _mm256_extractf128_pd::<1>(register));
            }
            _ => store_all(to, register),
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn reverse(lanes: __m256d) -> __m256d {
    _mm256_permute4x64_pd::<0b00_01_10_11>(lanes)
}

/// Sorts by exchanging lanes (0, 1) and (2, 3), then (0, 3) and (1, 2), then (0, 1) and (2, 3).
#[target_feature(enable = "avx2")]
#[inline]
fn sort_lanes(lanes: __m256d) -> __m256d {
    let turned = _mm256_permute_pd::<0b0101>(lanes);
    let lanes = _mm256_blend_pd::<0b1010>(min(lanes, turned), max(lanes, turned));
    let turned = _mm256_permute4x64_pd::<0b00_01_10_11>(lanes);
    let lanes = _mm256_blend_pd::<0b1100>(min(lanes, turned), max(lanes, turned));
    let turned = _mm256_permute_pd::<0b0101>(lanes);
    _mm256_blend_pd::<0b1010>(min(lanes, turned), max(lanes, turned))
}

/// Exchanges lanes (0, 2) and (1, 3), then (0, 1) and (2, 3).
#[target_feature(enable = "avx2")]
#[inline]
fn merge_lanes(lanes: __m256d) -> __m256d {
    let turned = _mm256_permute2f128_pd::<1>(lanes, lanes);
    let lanes = _mm256_blend_pd::<0b1100>(min(lanes, turned), max(lanes, turned));
    let turned = _mm256_permute_pd::<0b0101>(lanes);
    _mm256_blend_pd::<0b1010>(min(lanes, turned), max(lanes, turned))
}

/// Sorts runs of registers, and returns the length of a run. Columns of four or eight are sorted, and become rows.
#[target_feature(enable = "avx2")]
#[inline]
fn sort_runs<const N: usize>(registers: &mut [__m256d; N]) -> usize {
    let network = match N {
        4 => OF_4,
        8 => OF_8,
        _ => &[],
    };
    for &[a, b] in network {
        (registers[a], registers[b]) = (min(registers[a], registers[b]), max(registers[a], registers[b]));
    }
    match &mut registers[..] {
        [a, b, c, d] => [*a, *b, *c, *d] = transpose([*a, *b, *c, *d]),
        [a, b, c, d, e, f, g, h] => {
            let (first, second) = (transpose([*a, *b, *c, *d]), transpose([*e, *f, *g, *h]));
            ([*a, *c, *e, *g], [*b, *d, *f, *h]) = (first, second);
            return 2;
        }
        few => few.iter_mut().for_each(|register| *register = sort_lanes(*register)),
    }
    1
}

#[target_feature(enable = "avx2")]
#[inline]
fn transpose([a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
    let (ab_low, ab_high) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
    let (cd_low, cd_high) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
    [
        _mm256_permute2f128_pd::<0x20>(ab_low, cd_low),
        _mm256_permute2f128_pd::<0x20>(ab_high, cd_high),
        _mm256_permute2f128_pd::<0x31>(ab_low, cd_low),
        _mm256_permute2f128_pd::<0x31>(ab_high, cd_high),
    ]
}
