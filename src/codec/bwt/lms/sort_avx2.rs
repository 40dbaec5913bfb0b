//! Networks and a partition with AVX2. It has no minimum of 64-bit integers, but one of doubles, and numbers with
//! [`SORTABLE`](super::SORTABLE) as their highest bit compare as doubles as they do as integers.

use std::arch::x86_64::{
    __m256d, __m256i, _CMP_LT_OQ, _mm_storel_pd, _mm_storeu_pd, _mm256_blend_pd, _mm256_blendv_pd, _mm256_castpd_si256,
    _mm256_castpd256_pd128, _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_extractf128_pd, _mm256_loadu_pd,
    _mm256_loadu_si256, _mm256_maskload_pd, _mm256_max_pd, _mm256_min_pd, _mm256_movemask_pd, _mm256_permute_pd,
    _mm256_permute2f128_pd, _mm256_permute4x64_pd, _mm256_permutevar8x32_epi32, _mm256_set1_pd, _mm256_storeu_pd,
    _mm256_storeu_si256, _mm256_unpackhi_pd, _mm256_unpacklo_pd,
};

/// The number of numbers in a register.
const LANES: usize = 4;

/// The maximum number of numbers sorted without a partition.
pub(super) const FEW: usize = 32;

/// Sorts at most [`FEW`] numbers.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn sort_few(numbers: &mut [u64]) {
    match numbers.len() {
        ..=4 => {
            let mut one = load::<1>(numbers);
            one[0] = sort_lanes(one[0]);
            store(&one, numbers);
        }
        5..=8 => {
            let mut two = load::<2>(numbers).map(|register| sort_lanes(register));
            merge::<2, 1>(&mut two);
            store(&two, numbers);
        }
        9..=16 => {
            let mut four = load::<4>(numbers);
            sort_columns_of_4(&mut four);
            merge::<4, 1>(&mut four);
            merge::<4, 2>(&mut four);
            store(&four, numbers);
        }
        _ => sort_32(numbers),
    }
}

#[target_feature(enable = "avx2")]
#[inline(never)]
fn sort_32(numbers: &mut [u64]) {
    let mut eight = load::<8>(numbers);
    sort_columns_of_8(&mut eight);
    merge::<8, 2>(&mut eight);
    merge::<8, 4>(&mut eight);
    store(&eight, numbers);
}

/// Moves the numbers below `pivot` to the front; `spare` has room for [`LANES`] more than all. Returns how many these
/// are.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn partition(numbers: &mut [u64], spare: &mut [u64], pivot: u64) -> usize {
    let len = numbers.len();
    assert!(spare.len() >= len + LANES);
    let pivots = _mm256_set1_pd(f64::from_bits(pivot));
    // Those below come to the front, the others into `spare`, from place `len` downwards.
    let mut low = 0;
    for at in (0..len / LANES * LANES).step_by(LANES) {
        // SAFETY: `low` is not above `at`, and `at` not above `len - LANES`. So four numbers at `at` and at `low` are
        // in `numbers`, and four at `len - (at - low)` in `spare`.
        #[allow(unsafe_code)]
        unsafe {
            let four = _mm256_loadu_pd(numbers.as_ptr().add(at).cast());
            let below = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(four, pivots)) as usize;
            let order = _mm256_loadu_si256(ORDERS[below & 15].as_ptr().cast());
            let four = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(four), order);
            _mm256_storeu_si256(numbers.as_mut_ptr().add(low).cast::<__m256i>(), four);
            _mm256_storeu_si256(spare.as_mut_ptr().add(len - (at - low)).cast::<__m256i>(), four);
            low += below.count_ones() as usize;
        }
    }
    for at in len / LANES * LANES..len {
        let number = numbers[at];
        numbers[low] = number;
        spare[len - (at - low) + LANES - 1] = number;
        low += usize::from(number < pivot);
    }
    let others = len - low;
    numbers[low..].copy_from_slice(&spare[len + LANES - others..len + LANES]);
    low
}

/// For each mask of four numbers: these first, then the others, as pairs of 32-bit lanes.
static ORDERS: [[u32; 8]; 16] = {
    let mut all = [[0; 8]; 16];
    let mut mask = 0;
    while mask < 16 {
        let (mut i, mut to) = (0, 0);
        while i < 8 {
            // All lanes twice: those of the mask, then the others.
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

/// The lanes of a part of a register.
static FIRST: [[i64; 4]; 4] = [[0, 0, 0, 0], [-1, 0, 0, 0], [-1, -1, 0, 0], [-1, -1, -1, 0]];

/// Loads at most 4 * `N` numbers; the rest is infinite.
#[target_feature(enable = "avx2")]
#[inline]
fn load<const N: usize>(numbers: &[u64]) -> [__m256d; N] {
    let infinite = _mm256_set1_pd(f64::INFINITY);
    let mut registers = [infinite; N];
    for (register, part) in registers.iter_mut().zip(numbers.chunks(LANES)) {
        // SAFETY: four numbers are read, or those of the mask.
        #[allow(unsafe_code)]
        unsafe {
            *register = if part.len() == LANES {
                _mm256_loadu_pd(part.as_ptr().cast())
            } else {
                let mask = _mm256_loadu_si256(FIRST[part.len()].as_ptr().cast());
                let loaded = _mm256_maskload_pd(part.as_ptr().cast(), mask);
                _mm256_blendv_pd(infinite, loaded, _mm256_castsi256_pd(mask))
            };
        }
    }
    registers
}

#[target_feature(enable = "avx2")]
#[inline]
fn store<const N: usize>(registers: &[__m256d; N], numbers: &mut [u64]) {
    for (register, part) in registers.iter().zip(numbers.chunks_mut(LANES)) {
        let low = _mm256_castpd256_pd128(*register);
        // SAFETY: as many numbers are written as `part` has. A masked store is slow on Zen.
        #[allow(unsafe_code)]
        unsafe {
            let to: *mut f64 = part.as_mut_ptr().cast();
            match part.len() {
                1 => _mm_storel_pd(to, low),
                2 => _mm_storeu_pd(to, low),
                3 => {
                    _mm_storeu_pd(to, low);
                    _mm_storel_pd(to.add(2), _mm256_extractf128_pd::<1>(*register));
                }
                _ => _mm256_storeu_pd(to, *register),
            }
        }
    }
}

/// Merges neighbouring sorted runs of `HALF` registers: the second run is turned around, and both are compared in
/// halves, quarters and so on (bitonic merging).
#[target_feature(enable = "avx2")]
#[inline]
fn merge<const N: usize, const HALF: usize>(registers: &mut [__m256d; N]) {
    for start in (0..N).step_by(2 * HALF) {
        for i in start..start + HALF {
            let other = 2 * (start + HALF) - 1 - i;
            let (a, b) = (registers[i], _mm256_permute4x64_pd::<0b00_01_10_11>(registers[other]));
            registers[i] = _mm256_min_pd(a, b);
            registers[other] = _mm256_max_pd(a, b);
        }
        let mut distance = HALF / 2;
        while distance > 0 {
            for i in (start..start + 2 * HALF).filter(|i| (i - start) & distance == 0) {
                exchange(registers, i, i + distance);
            }
            distance /= 2;
        }
        for register in &mut registers[start..start + 2 * HALF] {
            *register = merge_lanes(*register);
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn exchange<const N: usize>(registers: &mut [__m256d; N], a: usize, b: usize) {
    let (x, y) = (registers[a], registers[b]);
    registers[a] = _mm256_min_pd(x, y);
    registers[b] = _mm256_max_pd(x, y);
}

/// Sorts by exchanging lanes (0, 1) and (2, 3), then (0, 3) and (1, 2), then (0, 1) and (2, 3).
#[target_feature(enable = "avx2")]
#[inline]
fn sort_lanes(lanes: __m256d) -> __m256d {
    let turned = _mm256_permute_pd::<0b0101>(lanes);
    let lanes = _mm256_blend_pd::<0b1010>(_mm256_min_pd(lanes, turned), _mm256_max_pd(lanes, turned));
    let turned = _mm256_permute4x64_pd::<0b00_01_10_11>(lanes);
    let lanes = _mm256_blend_pd::<0b1100>(_mm256_min_pd(lanes, turned), _mm256_max_pd(lanes, turned));
    let turned = _mm256_permute_pd::<0b0101>(lanes);
    _mm256_blend_pd::<0b1010>(_mm256_min_pd(lanes, turned), _mm256_max_pd(lanes, turned))
}

/// Exchanges lanes (0, 2) and (1, 3), then (0, 1) and (2, 3).
#[target_feature(enable = "avx2")]
#[inline]
fn merge_lanes(lanes: __m256d) -> __m256d {
    let turned = _mm256_permute2f128_pd::<1>(lanes, lanes);
    let lanes = _mm256_blend_pd::<0b1100>(_mm256_min_pd(lanes, turned), _mm256_max_pd(lanes, turned));
    let turned = _mm256_permute_pd::<0b0101>(lanes);
    _mm256_blend_pd::<0b1010>(_mm256_min_pd(lanes, turned), _mm256_max_pd(lanes, turned))
}

/// Sorts the columns of four registers, and turns them into rows: four sorted registers.
#[target_feature(enable = "avx2")]
#[inline]
fn sort_columns_of_4(registers: &mut [__m256d; 4]) {
    for (a, b) in [(0, 2), (1, 3), (0, 1), (2, 3), (1, 2)] {
        exchange(registers, a, b);
    }
    *registers = transpose(*registers);
}

/// The same for eight registers: four sorted pairs of registers.
#[target_feature(enable = "avx2")]
#[inline]
fn sort_columns_of_8(registers: &mut [__m256d; 8]) {
    let network = [
        [(0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7), (0, 1), (2, 3)].as_slice(),
        &[(4, 5), (6, 7), (2, 4), (3, 5), (1, 4), (3, 6), (1, 2), (3, 4), (5, 6)],
    ];
    for &(a, b) in network.into_iter().flatten() {
        exchange(registers, a, b);
    }
    let [a, b, c, d, e, f, g, h] = *registers;
    let ([a, b, c, d], [e, f, g, h]) = (transpose([a, b, c, d]), transpose([e, f, g, h]));
    *registers = [a, e, b, f, c, g, d, h];
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
