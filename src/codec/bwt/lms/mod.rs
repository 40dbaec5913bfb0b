//! The last column of a block by sorting its LMS positions: 1.68 times as fast as libsais on six files, for processors
//! with AVX-512.
//!
//! | step | file | ns a byte, linux |
//! |---|---|---|
//! | LMS positions: a third of all | `gather` | 0.4 |
//! | names of their substrings, by a hash table | `names` | 2.8 |
//! | their order: the ring of names, sorted | `reduced`, `sort_avx512` | 5.6 |
//! | the last column, by induction | `induce` | 5.3 |
//!
//! The sum is 14.2; libsais takes 23.9 for a suffix array and the column from it (a core of an Emerald Rapids with 2 MB
//! of L2 cache, blocks of 900,000 bytes, the least time of each; dickens 1.87, nci 1.43, ooffice 2.00, reymont 1.78,
//! xml 1.40, linux 1.68). A hash table replaces the induced sorting of substrings, and sorting numbers in registers
//! replaces the recursion; docs/ALGORITHMS.md has the idea and a ledger of what was tried.
//!
//! Every step works on a ring: a word that begins at its least rotation and is no repetition. In a ring, suffix order
//! is rotation order (see `forward`), position 0 is always LMS, and no end of text needs a case of its own.

mod gather;
mod induce;
mod names;
mod reduced;
#[cfg(target_arch = "x86_64")]
mod sort_avx512;

use reduced::Reduced;

/// The number of bytes before the word in a ring: they are the word's last bytes.
pub(super) const BEFORE: usize = 2;

/// The number of bytes after the word in a ring: the word's first byte, and any seven bytes that can be read.
pub(super) const AFTER: usize = 8;

/// Shorter words are left to libsais: `hybz -s`, whose blocks have 200 kB, promises 2.6 MB.
pub(super) const MIN: usize = 300_000;

/// Positions have 19 bits in `reduced`, and at most half of a word's bytes are LMS positions.
const MAX: usize = 1 << 20;

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
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("popcnt")
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

    /// Sorts `numbers`. Those that differ in their lowest `free` bits only may come in any order. This is faster if
    /// `spare` is longer by at least eight.
    fn sort(self, numbers: &mut [u64], free: u32, spare: &mut [u64]) {
        match self {
            Kernel::Plain => {
                let _ = spare;
                numbers.sort_unstable_by_key(|number| number >> free);
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                // SAFETY: `detect` has found the features.
                #[allow(unsafe_code)]
                unsafe {
                    sort_avx512::sort(numbers, free, spare);
                }
            }
        }
    }
}

/// Computes last columns of rings, in memory of its own: at most 5 bytes for each byte of a word, and usually 3.
///
/// | step | positions | names | ranks | rows |
/// |---|---|---|---|---|
/// | LMS positions | positions | | | |
/// | names | positions | names by number | rank of each number | hash table, distinct substrings, their keys |
/// | their order | positions | names, then ranks | end of each name | entries, or libsais's order |
/// | last column | turns | positions in order | | rows |
#[derive(Debug)]
pub(super) struct LmsSort {
    kernel: Kernel,
    positions: Vec<i32>,
    names: Vec<i32>,
    ranks: Vec<u32>,
    starts: Vec<u64>,
}

impl LmsSort {
    /// `None` if libsais is faster on this processor.
    pub(super) fn new() -> Option<Self> {
        Kernel::detect().map(Self::with_kernel)
    }

    fn with_kernel(kernel: Kernel) -> Self {
        LmsSort { kernel, positions: Vec::new(), names: Vec::new(), ranks: Vec::new(), starts: Vec::new() }
    }

    /// Whether words of this length are sorted here.
    pub(super) fn takes(&self, len: usize) -> bool {
        (MIN..MAX).contains(&len)
    }

    /// Fills `last` with the last column of the word in `ring`, which has [`BEFORE`] bytes before it and [`AFTER`]
    /// after it, and returns the row of the rotation that begins at byte `turn`. `rows` has room for each byte of the
    /// word. Returns `None` if libsais would be faster: nearly all LMS substrings differ.
    ///
    /// The word begins at its least rotation and is no repetition.
    pub(super) fn last_column(&mut self, ring: &[u8], turn: i32, rows: &mut [i32], last: &mut Vec<u8>) -> Option<u32> {
        let len = ring.len() - BEFORE - AFTER;
        assert!((2..MAX).contains(&len) && rows.len() >= len);
        if as_numbers(rows).len() < len / 2 {
            return None;
        }
        let room = gather::room(len);
        make_room(&mut self.positions, room);
        let text = &ring[BEFORE..];
        let first = gather::gather(self.kernel, text, len, &mut self.positions[..room]);
        let positions = &mut self.positions[first..room];
        let count = positions.len() - 1;
        make_room(&mut self.names, count);
        make_room(&mut self.starts, count / 64 + 1);
        let names = &mut self.names[..count];
        let distinct = names::assign(self.kernel, text, positions, names, as_numbers(rows), &mut self.ranks)?;
        let counts = gather::count(&text[..len], &positions[..count]);
        let mut reduced = Reduced { rows, ends: &mut self.ranks, starts: &mut self.starts };
        reduced.sort(self.kernel, names, distinct, positions);
        last.clear();
        last.resize(len, 0);
        induce::last_column(ring, turn, &counts, names, rows, positions, last)
    }
}

/// Makes `memory` at least `len` numbers long, and a little longer if it grows. It may lose its contents.
fn make_room<T: Clone + Default>(memory: &mut Vec<T>, len: usize) {
    if memory.len() < len {
        // Not both at once.
        *memory = Vec::new();
        *memory = vec![T::default(); len + len / 16];
    }
}

/// The memory of `words` as numbers twice as large.
fn as_numbers(words: &mut [i32]) -> &mut [u64] {
    // SAFETY: any bits are a number of either type.
    #[allow(unsafe_code)]
    let (_, numbers, _) = unsafe { words.align_to_mut::<u64>() };
    numbers
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
