//! Sorts 64-bit numbers with AVX-512: networks in registers for up to 64 numbers, quicksort above.
//!
//! After S. Gueron and V. Krasnov (Fast quicksort implementation using AVX instructions, 2016) and M. Blacher, J.
//! Giesen and L. Kühne (Fast and robust vectorized in-place sorting of primitive types, SEA 2021). A partition
//! compresses in a register and stores whole registers: Zen 4 takes 100 cycles to compress into memory.

use std::arch::x86_64::{
    __m512i, __mmask8, _mm512_cmplt_epu64_mask, _mm512_loadu_epi64, _mm512_mask_loadu_epi64, _mm512_mask_max_epu64,
    _mm512_mask_storeu_epi64, _mm512_maskz_compress_epi64, _mm512_max_epu64, _mm512_min_epu64, _mm512_permutex_epi64,
    _mm512_permutexvar_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_shuffle_i64x2, _mm512_storeu_epi64,
};

/// The number of numbers in a register.
const LANES: usize = 8;

/// The maximum number of numbers sorted without a partition.
const NETWORK: usize = 8 * LANES;

/// Sorts `numbers`, but leaves numbers that differ only in their lowest `free` bits in any order. Faster if `spare` has
/// room for [`LANES`] more numbers than `numbers` has.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
pub(super) fn sort(numbers: &mut [u64], free: u32, spare: &mut [u64]) {
    match numbers.len() {
        0 | 1 => {}
        2 => {
            let (a, b) = (numbers[0], numbers[1]);
            numbers[0] = a.min(b);
            numbers[1] = a.max(b);
        }
        3..=8 => sort_in_registers::<1>(numbers),
        9..=16 => sort_16(numbers),
        17..=32 => sort_32(numbers),
        33..=NETWORK => sort_64(numbers),
        len => quicksort(numbers, free, spare, 0, 2 * len.ilog2()),
    }
}

#[target_feature(enable = "avx512f,popcnt")]
#[inline(never)]
fn sort_16(numbers: &mut [u64]) {
    sort_in_registers::<2>(numbers);
}

#[target_feature(enable = "avx512f,popcnt")]
#[inline(never)]
fn sort_32(numbers: &mut [u64]) {
    sort_in_registers::<4>(numbers);
}

#[target_feature(enable = "avx512f,popcnt")]
#[inline(never)]
fn sort_64(numbers: &mut [u64]) {
    sort_in_registers::<8>(numbers);
}

/// Sorts at most 8 * `N` numbers; the rest of the registers is filled with the largest number.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn sort_in_registers<const N: usize>(numbers: &mut [u64]) {
    let largest = _mm512_set1_epi64(-1);
    let mut registers = [largest; N];
    for (register, part) in registers.iter_mut().zip(numbers.chunks(LANES)) {
        // SAFETY: the mask has a bit for each number of `part`.
        #[allow(unsafe_code)]
        let loaded = unsafe { _mm512_mask_loadu_epi64(largest, first(part.len()), part.as_ptr().cast()) };
        *register = loaded;
    }
    bitonic_sort(&mut registers);
    for (register, part) in registers.iter().zip(numbers.chunks_mut(LANES)) {
        // SAFETY: the mask has a bit for each number of `part`.
        #[allow(unsafe_code)]
        unsafe {
            _mm512_mask_storeu_epi64(part.as_mut_ptr().cast(), first(part.len()), *register);
        }
    }
}

/// The mask of the first `count` lanes.
fn first(count: usize) -> __mmask8 {
    ((1u32 << count) - 1) as __mmask8
}

/// Sorts the numbers of all registers as one sequence.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn bitonic_sort<const N: usize>(registers: &mut [__m512i; N]) {
    for register in registers.iter_mut() {
        *register = sort_lanes(*register);
    }
    let mut half = 1;
    while half < N {
        for run in registers.chunks_exact_mut(2 * half) {
            // Two sorted halves, one of them read backwards, are bitonic.
            for i in 0..half {
                let (a, b) = (run[i], reverse(run[2 * half - 1 - i]));
                run[i] = _mm512_min_epu64(a, b);
                run[2 * half - 1 - i] = _mm512_max_epu64(a, b);
            }
            let mut distance = half / 2;
            while distance > 0 {
                for part in run.chunks_exact_mut(2 * distance) {
                    for i in 0..distance {
                        let (a, b) = (part[i], part[i + distance]);
                        part[i] = _mm512_min_epu64(a, b);
                        part[i + distance] = _mm512_max_epu64(a, b);
                    }
                }
                distance /= 2;
            }
        }
        for register in registers.iter_mut() {
            *register = merge_lanes(*register);
        }
        half *= 2;
    }
}

/// Sorts the lanes of one register.
#[target_feature(enable = "avx512f,popcnt")]
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
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn merge_lanes(v: __m512i) -> __m512i {
    let v = exchange(v, _mm512_shuffle_i64x2::<0b01_00_11_10>(v, v), 0b1111_0000);
    let v = exchange(v, _mm512_permutex_epi64::<0b01_00_11_10>(v), 0b1100_1100);
    exchange(v, _mm512_permutex_epi64::<0b10_11_00_01>(v), 0b1010_1010)
}

/// Compares each lane with its partner: lanes in `upper` keep the larger number, the others the smaller one.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn exchange(v: __m512i, partners: __m512i, upper: __mmask8) -> __m512i {
    _mm512_mask_max_epu64(_mm512_min_epu64(v, partners), upper, v, partners)
}

#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn reverse(v: __m512i) -> __m512i {
    _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), v)
}

/// Sorts numbers that are all `least` or more.
///
/// After `depth` partitions the standard library's sort takes over, so that no input takes quadratic time.
#[target_feature(enable = "avx512f,popcnt")]
fn quicksort(mut numbers: &mut [u64], free: u32, spare: &mut [u64], mut least: u64, mut depth: u32) {
    while numbers.len() > NETWORK {
        if depth == 0 {
            return numbers.sort_unstable();
        }
        depth -= 1;
        let pivot = median(numbers) >> free << free;
        if pivot > least {
            let below = partition(numbers, spare, pivot);
            let (low, high) = numbers.split_at_mut(below);
            quicksort(low, free, spare, least, depth);
            (numbers, least) = (high, pivot);
        } else {
            // Many are equal. They come first, and are done.
            let Some(next) = pivot.checked_add(1 << free) else { return };
            let equal = partition(numbers, spare, next);
            (numbers, least) = (&mut numbers[equal..], next);
        }
    }
    sort(numbers, free, spare);
}

/// The fifth of eight numbers taken from all over `numbers`.
#[target_feature(enable = "avx512f,popcnt")]
fn median(numbers: &[u64]) -> u64 {
    let step = numbers.len() / LANES;
    let mut sample: [u64; LANES] = std::array::from_fn(|i| numbers[i * step + step / 2]);
    sort_in_registers::<1>(&mut sample);
    sample[LANES / 2]
}

/// Brings the numbers below `pivot` to the front and returns their number.
///
/// AVX-512 does not include POPCNT: without that instruction, 1,000 and 250,000 random numbers took 2.3 and 2.6 times
/// as long to sort.
#[target_feature(enable = "avx512f,popcnt")]
fn partition(numbers: &mut [u64], spare: &mut [u64], pivot: u64) -> usize {
    let pivots = _mm512_set1_epi64(pivot as i64);
    let len = numbers.len();
    if spare.len() < len + LANES {
        return partition_in_place(numbers, pivot);
    }
    let (mut low, mut high) = (0, 0);
    let whole = len - len % LANES;
    for at in (0..whole).step_by(LANES) {
        // SAFETY: a register's numbers from `at` lie inside `numbers`, and so do those from `low`, which is at most
        // `at`: what is overwritten has been loaded. `high` is at most `at`, and `spare` is longer than `numbers`.
        #[allow(unsafe_code)]
        unsafe {
            let v = _mm512_loadu_epi64(numbers.as_ptr().add(at).cast());
            let below = _mm512_cmplt_epu64_mask(v, pivots);
            _mm512_storeu_epi64(numbers.as_mut_ptr().add(low).cast(), _mm512_maskz_compress_epi64(below, v));
            _mm512_storeu_epi64(spare.as_mut_ptr().add(high).cast(), _mm512_maskz_compress_epi64(!below, v));
            low += below.count_ones() as usize;
            high += below.count_zeros() as usize;
        }
    }
    for at in whole..len {
        let number = numbers[at];
        if number < pivot {
            numbers[low] = number;
            low += 1;
        } else {
            spare[high] = number;
            high += 1;
        }
    }
    numbers[low..].copy_from_slice(&spare[..high]);
    low
}

/// The same without other memory.
fn partition_in_place(numbers: &mut [u64], pivot: u64) -> usize {
    let mut low = 0;
    for at in 0..numbers.len() {
        let number = numbers[at];
        numbers.swap(at, low);
        low += usize::from(number < pivot);
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use hybz_testkit::shapes::Rng;

    #[test]
    fn as_the_standard_library() {
        if !is_x86_feature_detected!("avx512f") || !is_x86_feature_detected!("popcnt") {
            return println!("skipped: this processor has no AVX-512");
        }
        let mut rng = Rng(11);
        let lens = (0..200).chain([255, 256, 257, 1000, 4096, 10_007]);
        for len in lens {
            for kind in 0..6 {
                let number = |i: usize, rng: &mut Rng| match kind {
                    0 => (rng.below(1 << 30) as u64) << 34 | rng.below(1 << 30) as u64,
                    1 => i as u64,
                    2 => u64::MAX - i as u64,
                    3 => rng.below(3) as u64,
                    4 => u64::MAX - ((rng.below(20) as u64) << 19 | i as u64),
                    _ => (rng.below(2 + len / 4) as u64) << 19 | i as u64,
                };
                let numbers: Vec<u64> = (0..len).map(|i| number(i, &mut rng)).collect();
                let mut wanted = numbers.clone();
                wanted.sort_unstable();
                for (spare, free) in [(0, 0), (100, 19), (len + LANES, 0), (len + LANES, 19)] {
                    let mut sorted = numbers.clone();
                    // SAFETY: detected above.
                    #[allow(unsafe_code)]
                    unsafe {
                        sort(&mut sorted, free, &mut vec![0; spare]);
                    }
                    assert!(sorted.is_sorted_by_key(|number| number >> free), "{len} numbers of kind {kind}, {free}");
                    sorted.sort_unstable();
                    assert!(sorted == wanted, "{len} numbers of kind {kind}, {free}: others");
                }
            }
        }
    }
}
