//! Sorts numbers of 64 bits: networks and merges for few, quicksort above.
//!
//! After S. Gueron and V. Krasnov (Fast quicksort implementation using AVX instructions, 2016) and M. Blacher, J.
//! Giesen and L. Kühne (Fast and robust vectorized in-place sorting of primitive types, SEA 2021): a partition has no
//! branch, and keeps what is not below the pivot in spare memory. `avx2` has the same steps for vectors.

#[cfg(target_arch = "x86_64")]
#[path = "sort_avx2.rs"]
mod avx2;

use super::Kernel;

/// The bit that all numbers have, and none higher. As doubles they are positive and normal, so vectors of doubles can
/// compare them.
pub(super) const SORTABLE: u64 = 1 << 61;

/// The maximum number of numbers sorted without a partition.
const FEW: usize = 32;

impl Kernel {
    /// Sorts `numbers`, which have the bit [`SORTABLE`]. Those that differ in their lowest `free` bits only may come in
    /// any order. This is faster if `spare` is longer by at least four.
    #[inline(always)]
    pub(super) fn sort(self, numbers: &mut [u64], free: u32, spare: &mut [u64]) {
        match numbers {
            [] | [_] => {}
            [a, b] => (*a, *b) = (*a.min(b), *b.max(a)),
            _ if numbers.len() <= FEW => self.sort_few(numbers),
            _ => self.quicksort(numbers, free, spare, 0, 2 * numbers.len().ilog2()),
        }
    }

    #[inline(always)]
    fn sort_few(self, numbers: &mut [u64]) {
        match self {
            Kernel::Portable => sort_few(numbers),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                // SAFETY: `Kernel::all` has found the features.
                #[allow(unsafe_code)]
                unsafe {
                    avx2::sort_few(numbers);
                }
            }
        }
    }

    /// `least` is not above any number. After `depth` partitions the standard library takes over.
    fn quicksort(self, mut numbers: &mut [u64], free: u32, spare: &mut [u64], mut least: u64, mut depth: u32) {
        while numbers.len() > FEW {
            if depth == 0 {
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

    /// Moves the numbers below `pivot` to the front. Returns how many these are.
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
    fn partition(self, numbers: &mut [u64], spare: &mut [u64], pivot: u64) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 if spare.len() >= numbers.len() + avx2::LANES => {
                // SAFETY: `Kernel::all` has found the features.
                #[allow(unsafe_code)]
                unsafe {
                    avx2::partition(numbers, spare, pivot)
                }
            }
            _ => partition(numbers, pivot),
        }
    }
}

/// Each number is written to both places, and only one of the two moves on.
fn partition(numbers: &mut [u64], pivot: u64) -> usize {
    let mut low = 0;
    for at in 0..numbers.len() {
        let number = numbers[at];
        numbers.swap(at, low);
        low += usize::from(number < pivot);
    }
    low
}

fn median(numbers: &[u64]) -> u64 {
    let step = numbers.len() / 8;
    let mut sample = std::array::from_fn(|i| numbers[i * step + step / 2]);
    sort_8(&mut sample);
    sample[4]
}

/// Sorts 3 to [`FEW`] numbers.
fn sort_few(numbers: &mut [u64]) {
    match numbers.len() {
        ..=4 => in_network(numbers, sort_4),
        5..=8 => in_network(numbers, sort_8),
        _ => sort_by_merging(numbers),
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

/// Sorts eight at a time, and merges twice.
#[inline(never)]
fn sort_by_merging(numbers: &mut [u64]) {
    let mut all = [u64::MAX; FEW];
    all[..numbers.len()].copy_from_slice(numbers);
    for eight in all.as_chunks_mut::<8>().0.iter_mut().take(numbers.len().div_ceil(8)) {
        sort_8(eight);
    }
    let mut merged = [u64::MAX; FEW];
    merge::<8>(&all, &mut merged, 0);
    if numbers.len() > 16 {
        merge::<8>(&all, &mut merged, 16);
        merge::<16>(&merged.clone(), &mut merged, 0);
    }
    numbers.copy_from_slice(&merged[..numbers.len()]);
}

/// Merges two sorted runs of `RUN` numbers at `start`, from both ends at once and without a branch.
#[inline(always)]
fn merge<const RUN: usize>(from: &[u64; FEW], to: &mut [u64; FEW], start: usize) {
    let (mut a, mut b) = (start, start + RUN);
    let (mut c, mut d) = (start + RUN - 1, start + 2 * RUN - 1);
    for i in 0..RUN {
        let (x, y) = (from[a % FEW], from[b % FEW]);
        to[start + i] = x.min(y);
        a += usize::from(x <= y);
        b += usize::from(x > y);
        let (x, y) = (from[c % FEW], from[d % FEW]);
        to[start + 2 * RUN - 1 - i] = x.max(y);
        d = d.wrapping_sub(usize::from(x <= y));
        c = c.wrapping_sub(usize::from(x > y));
    }
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
                for (spare, free) in [(0, 0), (100, 19), (len + 4, 0), (len + 4, 19)] {
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
