//! Networks and a partition with AVX-512: the sort for `order` takes 0.91 to 0.98 of AVX2's time.
//!
//! A partition compresses in a register and stores whole registers: Zen 4 takes 100 cycles to compress into memory.

use std::arch::x86_64::{
    __m512i, __mmask8, _mm512_cmplt_epu64_mask, _mm512_loadu_epi64, _mm512_mask_loadu_epi64, _mm512_mask_max_epu64,
    _mm512_mask_storeu_epi64, _mm512_maskz_compress_epi64, _mm512_max_epu64, _mm512_min_epu64, _mm512_permutex_epi64,
    _mm512_permutexvar_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_shuffle_i64x2, _mm512_storeu_epi64,
};

/// The number of numbers in a register.
const LANES: usize = 8;

/// The maximum number of numbers sorted without a partition.
pub(super) const FEW: usize = 64;

/// Sorts at most [`FEW`] numbers.
#[target_feature(enable = "avx512f,popcnt")]
pub(super) fn sort_few(numbers: &mut [u64]) {
    match numbers.len() {
        ..=8 => in_network::<1>(numbers),
        9..=16 => in_network::<2>(numbers),
        17..=32 => in_network::<4>(numbers),
        _ => in_network::<8>(numbers),
    }
}

/// Sorts at most 8 * `N` numbers; the rest of the registers is filled with the largest number.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn in_network<const N: usize>(numbers: &mut [u64]) {
    let largest = _mm512_set1_epi64(-1);
    let mut registers = [largest; N];
    let mask = |part: &[u64]| ((1u32 << part.len()) - 1) as __mmask8;
    for (register, part) in registers.iter_mut().zip(numbers.chunks(LANES)) {
        // SAFETY: the mask has a bit for each number of `part`.
        #[allow(unsafe_code)]
        let loaded = unsafe { _mm512_mask_loadu_epi64(largest, mask(part), part.as_ptr().cast()) };
        *register = sort_lanes(loaded);
    }
    let mut half = 1;
    while half < N {
        for run in registers.chunks_exact_mut(2 * half) {
            // Two sorted halves, one of them read backwards, are bitonic.
            for i in 0..half {
                let (a, b) = (run[i], reverse(run[2 * half - 1 - i]));
                (run[i], run[2 * half - 1 - i]) = (_mm512_min_epu64(a, b), _mm512_max_epu64(a, b));
            }
            let mut distance = half / 2;
            while distance > 0 {
                for i in (0..2 * half).filter(|i| i & distance == 0) {
                    let (a, b) = (run[i], run[i + distance]);
                    (run[i], run[i + distance]) = (_mm512_min_epu64(a, b), _mm512_max_epu64(a, b));
                }
                distance /= 2;
            }
            for register in run {
                *register = merge_lanes(*register);
            }
        }
        half *= 2;
    }
    for (register, part) in registers.iter().zip(numbers.chunks_mut(LANES)) {
        // SAFETY: the mask has a bit for each number of `part`.
        #[allow(unsafe_code)]
        unsafe {
            _mm512_mask_storeu_epi64(part.as_mut_ptr().cast(), mask(part), *register);
        }
    }
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
    _mm512_mask_max_epu64(_mm512_min_epu64(v, partners), upper, v, partners)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn reverse(v: __m512i) -> __m512i {
    _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), v)
}

/// Moves the numbers below `pivot` to the front, and returns how many these are.
#[target_feature(enable = "avx512f,popcnt")]
pub(super) fn partition(numbers: &mut [u64], spare: &mut [u64], pivot: u64) -> usize {
    let len = numbers.len();
    assert!(spare.len() >= len + LANES);
    let pivots = _mm512_set1_epi64(pivot as i64);
    let mut low = 0;
    for at in (0..len / LANES * LANES).step_by(LANES) {
        // SAFETY: `low` is not above `at`, and `at` not above `len - LANES`. So eight numbers at `at` and at `low` are
        // in `numbers`, and eight at `at - low` in `spare`.
        #[allow(unsafe_code)]
        unsafe {
            let v = _mm512_loadu_epi64(numbers.as_ptr().add(at).cast());
            let below = _mm512_cmplt_epu64_mask(v, pivots);
            _mm512_storeu_epi64(numbers.as_mut_ptr().add(low).cast(), _mm512_maskz_compress_epi64(below, v));
            _mm512_storeu_epi64(spare.as_mut_ptr().add(at - low).cast(), _mm512_maskz_compress_epi64(!below, v));
            low += below.count_ones() as usize;
        }
    }
    for at in len / LANES * LANES..len {
        let number = numbers[at];
        numbers[low] = number;
        spare[at - low] = number;
        low += usize::from(number < pivot);
    }
    numbers[low..].copy_from_slice(&spare[..len - low]);
    low
}
