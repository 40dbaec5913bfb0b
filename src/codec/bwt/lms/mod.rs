//! The last column of a block by sorting its LMS positions: 1.3 times as fast as libsais on six files, for processors
//! with AVX-512.
//!
//! | step | file | ns a byte, linux |
//! |---|---|---|
//! | LMS positions: a third of all | `gather` | 1.1 |
//! | names of their substrings, by a hash table | `names` | 3.9 |
//! | their order: the ring of names, sorted | `reduced`, `sort_avx512` | 8.3 |
//! | the last column, by induction | `induce` | 4.5 |
//!
//! The sum is 17.1; libsais takes 20.3 for a suffix array and the column from it (Xeon of 2023, one core, best of
//! three, blocks of 900,000 bytes; geometric mean of dickens, nci, ooffice, reymont, xml and linux 1.28). A hash table
//! replaces the induced sorting of substrings, and sorting numbers in registers replaces the recursion;
//! docs/ALGORITHMS.md has the idea and its figures.
//!
//! Every step works on a ring: a word that begins at its least rotation and is not a repetition. In a ring, suffix
//! order is rotation order (see `forward`), position 0 is always LMS, and no end of text needs a case of its own.

mod gather;
mod induce;
mod names;
mod reduced;
#[cfg(target_arch = "x86_64")]
mod sort_avx512;

use names::Names;
use reduced::Reduced;

/// The number of bytes before the word in a ring: they are the word's last bytes.
pub(super) const BEFORE: usize = 2;

/// The number of bytes after the word in a ring: the word's first byte, and any seven bytes that can be read.
pub(super) const AFTER: usize = 8;

/// Shorter words are left to libsais: `hybz -s`, whose blocks have 200 kB, promises 2.6 MB.
pub(super) const MIN: usize = 300_000;

/// Positions have 19 bits in `reduced`, and at most half of a word's bytes are LMS positions.
const MAX: usize = 1 << 20;

/// The minimum length of the rows: the smallest table of names has room there.
pub(super) const MIN_ROWS: usize = names::MIN_TABLE;

/// The code that sorts and gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// The twin for tests: without vectors this is no faster than libsais.
    #[cfg_attr(not(test), allow(dead_code))]
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The kernel that is faster than libsais, if there is one for this processor.
    fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi2")
        {
            return Some(Kernel::Avx512);
        }
        None
    }

    /// All kernels that this processor can run.
    #[cfg(test)]
    fn all() -> impl Iterator<Item = Self> {
        [Kernel::Plain].into_iter().chain(Self::detect())
    }

    /// Sorts `numbers`; `spare` is longer by at least eight numbers.
    fn sort(self, numbers: &mut [u64], spare: &mut [u64]) {
        match self {
            Kernel::Plain => numbers.sort_unstable(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                // SAFETY: `detect` has found the feature.
                #[allow(unsafe_code)]
                unsafe {
                    sort_avx512::sort(numbers, spare);
                }
            }
        }
    }

    /// Sorts each run of `numbers`; the first begins at 0, each ends where `ends` says.
    fn sort_runs(self, numbers: &mut [u64], ends: &[u32], spare: &mut [u64]) {
        let mut start = 0;
        for &end in ends {
            self.sort(&mut numbers[start..end as usize], spare);
            start = end as usize;
        }
    }
}

/// Computes last columns of rings. It owns 5 to 8 bytes for each byte of a word.
///
/// What is large and does not live until the end lies in the rows, which the last step fills: positions while they are
/// found, the table of names, the entries that are sorted. With vectors of their own for these, a thread needed 14 to
/// 21 MB more than with libsais.
#[derive(Debug)]
pub(super) struct LmsSort {
    kernel: Kernel,
    /// The LMS positions; in the last step, rotations that are seen again on the way back.
    positions: Vec<i32>,
    names: Names,
    reduced: Reduced,
}

impl LmsSort {
    /// `None` if libsais is faster on this processor.
    pub(super) fn new() -> Option<Self> {
        Kernel::detect().map(Self::with_kernel)
    }

    fn with_kernel(kernel: Kernel) -> Self {
        LmsSort { kernel, positions: Vec::new(), names: Names::default(), reduced: Reduced::default() }
    }

    /// Whether words of this length are sorted here.
    pub(super) fn takes(&self, len: usize) -> bool {
        (MIN..MAX).contains(&len)
    }

    /// Fills `last` with the last column of the word in `ring`, which has [`BEFORE`] bytes before it and [`AFTER`]
    /// after it, and returns the row of the rotation that begins at byte `turn`. `rows` has room for each byte of the
    /// word, and for [`MIN_ROWS`]. Returns `None` if libsais would be faster: nearly all LMS substrings differ, or
    /// sorting their names takes too long.
    ///
    /// The word begins at its least rotation and is not a repetition.
    pub(super) fn last_column(&mut self, ring: &[u8], turn: i32, rows: &mut [i32], last: &mut Vec<u8>) -> Option<u32> {
        let len = ring.len() - BEFORE - AFTER;
        assert!((2..MAX).contains(&len) && rows.len() >= len.max(MIN_ROWS));
        let text = &ring[BEFORE..];
        let counts = gather::gather(self.kernel, text, len, rows, &mut self.positions);
        let distinct = self.names.assign(text, &self.positions, rows, &mut self.reduced.ranks)?;
        let order = &mut self.names.of;
        if !self.reduced.sort(self.kernel, order, distinct, rows, &mut self.names.numbers) {
            return None;
        }
        for number in &mut *order {
            *number = self.positions[*number as usize];
        }
        last.clear();
        last.resize(len, 0);
        induce::last_column(ring, turn, &counts, order, rows, &mut self.positions, last)
    }
}

/// The rows as numbers of 64 bits.
fn as_u64(rows: &mut [i32]) -> &mut [u64] {
    // SAFETY: both types have a value for all bits, and none that is invalid.
    #[allow(unsafe_code)]
    unsafe {
        rows.align_to_mut().1
    }
}

/// Asks for the cache line of an element. An index past the end does nothing.
#[inline(always)]
fn prefetch<T>(slice: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, whatever the address.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(at).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, at);
}

#[cfg(test)]
mod tests;
