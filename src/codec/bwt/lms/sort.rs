//! Sorts numbers of 64 bits in small groups: networks for few, the standard library's sort above; with AVX2 and AVX-512
//! networks in registers for up to 32 and 64, and a quicksort above. (Merges of networks up to 32 and a quicksort were
//! no faster than the standard library without vectors.)
//!
//! After S. Gueron and V. Krasnov (Fast quicksort implementation using AVX instructions, 2016) and M. Blacher, J.
//! Giesen and L. Kühne (Fast and robust vectorized in-place sorting of primitive types, SEA 2021).

#[cfg(target_arch = "x86_64")]
#[path = "sort_avx2.rs"]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[path = "sort_avx512.rs"]
mod avx512;

use super::Kernel;

/// How much longer than all numbers the memory of a partition is.
#[cfg(any(test, target_arch = "x86_64"))]
const SPARE: usize = 8;

/// The bit that all numbers have, and none higher. As doubles they are positive and normal, so vectors of doubles can
/// compare them.
pub(super) const SORTABLE: u64 = 1 << 61;

impl Kernel {
    /// Sorts `numbers`, which have the bit [`SORTABLE`]. Those that differ in their lowest `free` bits only may come in
    /// any order. This is faster if `spare` is longer by at least [`SPARE`].
    #[inline(always)]
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
            #[allow(unsafe_code)]
            (Kernel::Avx2, numbers) => unsafe { avx2::sort_few(numbers) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
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

    /// `least` is not above any number. After `depth` partitions the standard library takes over.
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
                // Many are the least: they are in their place.
                let next = pivot + (1 << free);
                let equal = self.partition(numbers, spare, next);
                (numbers, least) = (&mut numbers[equal..], next);
            }
        }
        self.sort(numbers, free, spare);
    }

    /// Moves the numbers below `pivot` to the front; `spare` has room for [`SPARE`] more than all. Returns how many
    /// these are.
    #[inline]
    #[allow(unsafe_code)]
    fn partition(self, numbers: &mut [u64], spare: &mut [u64], pivot: u64) -> usize {
        // SAFETY: `Kernel::all` has found the features.
        unsafe {
            if self == Kernel::Avx512 {
                avx512::partition(numbers, spare, pivot)
            } else {
                avx2::partition(numbers, spare, pivot)
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn median(numbers: &[u64]) -> u64 {
    let step = numbers.len() / 8;
    let mut sample = std::array::from_fn(|i| numbers[i * step + step / 2]);
    sort_8(&mut sample);
    sample[4]
}

fn sort_portable(numbers: &mut [u64]) {
    match numbers.len() {
        ..=4 => in_network(numbers, sort_4),
        5..=8 => in_network(numbers, sort_8),
        _ => numbers.sort_unstable(),
    }
}

#[inline(always)]
fn in_network<const N: usize>(numbers: &mut [u64], network: fn(&mut [u64; N])) {
    let mut all = [u64::MAX; N];
    for (to, from) in all.iter_mut().zip(&*numbers) {
        *to = *from;
    }
    network(&mut all);
    for (to, from) in numbers.iter_mut().zip(all) {
        *to = from;
    }
}

#[inline(always)]
fn exchange<const N: usize, const PAIRS: usize>(numbers: &mut [u64; N], pairs: [(usize, usize); PAIRS]) {
    for (a, b) in pairs {
        let (x, y) = (numbers[a], numbers[b]);
        numbers[a] = x.min(y);
        numbers[b] = x.max(y);
    }
}

#[inline(always)]
fn sort_4(numbers: &mut [u64; 4]) {
    exchange(numbers, [(0, 2), (1, 3), (0, 1), (2, 3), (1, 2)]);
}

#[inline(always)]
fn sort_8(numbers: &mut [u64; 8]) {
    exchange(numbers, [(0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)]);
    exchange(numbers, [(0, 1), (2, 3), (4, 5), (6, 7), (2, 4), (3, 5), (1, 4), (3, 6)]);
    exchange(numbers, [(1, 2), (3, 4), (5, 6)]);
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
