//! Sorts 64-bit numbers in small groups: few by networks, more by the standard library's sort; with AVX2 and AVX-512,
//! up to 32 and 64 by networks in registers, and more by a quicksort. (Merges of networks up to 32 and a quicksort
//! were no faster than the standard library without vectors.)
//!
//! After S. Gueron and V. Krasnov (Fast quicksort implementation using AVX instructions, 2016) and M. Blacher, J.
//! Giesen and L. Kühne (Fast and robust vectorized in-place sorting of primitive types, SEA 2021).

use super::Kernel;

/// By how much the memory for a partition is longer than the numbers.
#[cfg(any(test, target_arch = "x86_64"))]
const SPARE: usize = 8;

/// All numbers have this bit set, and no higher one. As doubles they are positive and normal, so vectors of doubles
/// can compare them.
pub(super) const SORTABLE: u64 = 1 << 61;

/// Defines the kernel for a type of registers, by functions of the module that uses the macro.
#[cfg(target_arch = "x86_64")]
macro_rules! in_registers {
    ($Register:ty, $features:literal) => {
        /// The maximum number of numbers sorted without a partition.
        pub(super) const FEW: usize = 8 * LANES;

        /// Sorts at most [`FEW`] numbers.
        #[target_feature(enable = $features)]
        pub(super) fn sort_few(numbers: &mut [u64]) {
            match numbers.len().div_ceil(LANES) {
                ..=1 => in_network::<1>(numbers),
                2 => in_network::<2>(numbers),
                3..=4 => in_network::<4>(numbers),
                _ => in_network::<8>(numbers),
            }
        }

        /// Sorts at most [`LANES`] * `N` numbers; the rest of the registers is filled with the largest number.
        #[target_feature(enable = $features)]
        fn in_network<const N: usize>(numbers: &mut [u64]) {
            let mut registers = [largest(); N];
            for (register, part) in registers.iter_mut().zip(numbers.chunks(LANES)) {
                *register = load(part);
            }
            if sort_runs(&mut registers) == 1 {
                merge::<N, 1>(&mut registers);
            }
            merge::<N, 2>(&mut registers);
            merge::<N, 4>(&mut registers);
            for (register, part) in registers.iter().zip(numbers.chunks_mut(LANES)) {
                store(*register, part);
            }
        }

        /// Merges neighbouring sorted runs of `HALF` registers (bitonic merging).
        #[target_feature(enable = $features)]
        #[inline]
        fn merge<const N: usize, const HALF: usize>(registers: &mut [$Register; N]) {
            for run in registers.chunks_exact_mut(2 * HALF) {
                for i in 0..HALF {
                    let (a, b) = (run[i], reverse(run[2 * HALF - 1 - i]));
                    (run[i], run[2 * HALF - 1 - i]) = (min(a, b), max(a, b));
                }
                let mut distance = HALF / 2;
                while distance > 0 {
                    for i in (0..2 * HALF).filter(|i| i & distance == 0) {
                        let (a, b) = (run[i], run[i + distance]);
                        (run[i], run[i + distance]) = (min(a, b), max(a, b));
                    }
                    distance /= 2;
                }
                for register in run {
                    *register = merge_lanes(*register);
                }
            }
        }

        /// Moves the numbers below `pivot` to the front, and returns their number. `spare` is longer than
        /// `numbers` by at least [`LANES`].
        #[target_feature(enable = $features)]
        pub(super) fn partition(numbers: &mut [u64], spare: &mut [u64], pivot: u64) -> usize {
            assert!(spare.len() >= numbers.len() + LANES);
            let (mut low, end) = (0, numbers.len() / LANES * LANES);
            for at in (0..end).step_by(LANES) {
                // SAFETY: `low` is at most `at`, and `at` at most the length less `LANES`. So there are `LANES`
                // numbers at `at` and at `low`, and as many at `at - low` in `spare`.
                #[allow(unsafe_code)]
                unsafe {
                    let (below, others, count) = split(load_all(numbers.as_ptr().add(at).cast()), pivot);
                    store_all(numbers.as_mut_ptr().add(low).cast(), below);
                    store_all(spare.as_mut_ptr().add(at - low).cast(), others);
                    low += count;
                }
            }
            for at in end..numbers.len() {
                let number = numbers[at];
                (numbers[low], spare[at - low]) = (number, number);
                low += usize::from(number < pivot);
            }
            let others = numbers.len() - low;
            numbers[low..].copy_from_slice(&spare[..others]);
            low
        }
    };
}

#[cfg(target_arch = "x86_64")]
#[path = "sort_avx2.rs"]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[path = "sort_avx512.rs"]
mod avx512;

impl Kernel {
    /// Sorts `numbers`, which have the bit [`SORTABLE`]. Numbers that differ only in their lowest `free` bits may come
    /// in any order. Faster if `spare` is longer by at least [`SPARE`].
    #[inline(always)]
    #[allow(unsafe_code)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
    pub(super) fn sort(self, numbers: &mut [u64], free: u32, spare: &mut [u64]) {
        match (self, numbers) {
            (_, [] | [_]) => {}
            (_, [a, b]) => (*a, *b) = (*a.min(b), *b.max(a)),
            (Kernel::Portable, numbers) => sort_portable(numbers),
            #[cfg(target_arch = "x86_64")]
            (Kernel::Avx2 | Kernel::Avx512, numbers) if numbers.len() > self.few() => {
                let depth = 2 * numbers.len().ilog2();
                self.quicksort(numbers, free, spare, 0, depth);
            }
            // SAFETY: `Kernel::all` has found the features.
            #[cfg(target_arch = "x86_64")]
            (Kernel::Avx2, numbers) => unsafe { avx2::sort_few(numbers) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            (Kernel::Avx512, numbers) => unsafe { avx512::sort_few(numbers) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Kernel {
    /// The maximum number of numbers sorted without a partition.
    #[inline(always)]
    fn few(self) -> usize {
        if self == Kernel::Avx512 { avx512::FEW } else { avx2::FEW }
    }

    /// No number is below `least`. After `depth` partitions the standard library takes over.
    fn quicksort(self, mut numbers: &mut [u64], free: u32, spare: &mut [u64], mut least: u64, mut depth: u32) {
        while numbers.len() > self.few() {
            if depth == 0 || spare.len() < numbers.len() + SPARE {
                return numbers.sort_unstable();
            }
            depth -= 1;
            let pivot = median(numbers) >> free << free;
            if pivot > least {
                let below = self.partition(numbers, spare, pivot);
                let (low, high) = numbers.split_at_mut(below);
                self.quicksort(low, free, spare, least, depth);
                (numbers, least) = (high, pivot);
            } else {
                // Many numbers equal the least: the partition puts them into their places.
                let next = pivot + (1 << free);
                let equal = self.partition(numbers, spare, next);
                (numbers, least) = (&mut numbers[equal..], next);
            }
        }
        self.sort(numbers, free, spare);
    }

    /// Moves the numbers below `pivot` to the front, and returns their number. `spare` is longer than `numbers`
    /// by at least [`SPARE`].
    #[inline]
    #[allow(unsafe_code)]
    fn partition(self, numbers: &mut [u64], spare: &mut [u64], pivot: u64) -> usize {
        match self {
            // SAFETY: `Kernel::all` has found the features.
            Kernel::Avx512 => unsafe { avx512::partition(numbers, spare, pivot) },
            // SAFETY: the same.
            _ => unsafe { avx2::partition(numbers, spare, pivot) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn median(numbers: &[u64]) -> u64 {
    let step = numbers.len() / 8;
    let mut sample: [u64; 8] = std::array::from_fn(|i| numbers[i * step + step / 2]);
    in_network::<8>(&mut sample, OF_8);
    sample[4]
}

fn sort_portable(numbers: &mut [u64]) {
    match numbers.len() {
        ..=4 => in_network::<4>(numbers, OF_4),
        5..=8 => in_network::<8>(numbers, OF_8),
        _ => numbers.sort_unstable(),
    }
}

/// Networks: pairs of positions, whose numbers are exchanged if they are not in order.
const OF_4: &[[usize; 2]] = [0, 2, 1, 3, 0, 1, 2, 3, 1, 2].as_chunks().0;
const OF_8: &[[usize; 2]] =
    [0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7, 0, 1, 2, 3, 4, 5, 6, 7, 2, 4, 3, 5, 1, 4, 3, 6, 1, 2, 3, 4, 5, 6]
        .as_chunks()
        .0;

#[inline(always)]
fn in_network<const N: usize>(numbers: &mut [u64], network: &[[usize; 2]]) {
    let mut all = [u64::MAX; N];
    all[..numbers.len()].copy_from_slice(numbers);
    for &[a, b] in network {
        (all[a], all[b]) = (all[a].min(all[b]), all[a].max(all[b]));
    }
    numbers.copy_from_slice(&all[..numbers.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hybz_testkit::shapes::Rng;

    #[test]
    fn as_the_standard_library() {
        let mut rng = Rng(11);
        for len in (0..200).chain([255, 256, 257, 1000, 4096, 10_007]) {
            for kind in 0..6 {
                let number = |i: usize, rng: &mut Rng| match kind {
                    0 => (rng.below(1 << 30) as u64) << 31 | rng.below(1 << 30) as u64,
                    1 => i as u64,
                    2 => SORTABLE - 1 - i as u64,
                    3 => rng.below(3) as u64,
                    4 => SORTABLE - 1 - ((rng.below(20) as u64) << 19 | i as u64),
                    _ => (rng.below(2 + len / 4) as u64) << 19 | i as u64,
                };
                let numbers: Vec<u64> = (0..len).map(|i| SORTABLE | number(i, &mut rng)).collect();
                let mut wanted = numbers.clone();
                wanted.sort_unstable();
                for (spare, free) in [(0, 0), (100, 19), (len + SPARE, 0), (len + SPARE, 19)] {
                    for kernel in Kernel::all() {
                        let mut sorted = numbers.clone();
                        kernel.sort(&mut sorted, free, &mut vec![0; spare]);
                        let in_order = sorted.is_sorted_by_key(|number| number >> free);
                        assert!(in_order, "{len} numbers of kind {kind}, {free}, {kernel:?}");
                        sorted.sort_unstable();
                        assert!(sorted == wanted, "{len} numbers of kind {kind}, {free}, {kernel:?}: others");
                    }
                }
            }
        }
    }
}
