//! The last column of a block by sorting its LMS positions: 1.58 times as fast as libsais on six files with AVX2, and
//! 1.47 times without vectors.
//!
//! | step | file | ns a byte, linux, AVX2 / portable |
//! |---|---|---|
//! | LMS positions: a third of all | `gather` | 0.4 |
//! | names of their substrings, by a hash table | `names`, `names_avx512` | 3.6 / 3.8 |
//! | how often each byte occurs | `gather` | 0.6 |
//! | their order: the ring of names, sorted | `order`, `sort`, `sort_avx2`, `sort_avx512` | 7.6 / 8.8 |
//! | the last column, by induction | `induce` | 4.9 |
//!
//! The sum is 17.1 and 18.5; libsais takes 26.5 for a suffix array and the column from it (a core of a Zen 3 EPYC,
//! blocks of 900,000 bytes, the least time of each; speed-ups: dickens 1.71 / 1.63, nci 1.40 / 1.43, ooffice 1.62 /
//! 1.44, reymont 1.86 / 1.66, xml 1.38 / 1.26, linux 1.56 / 1.43). With AVX-512 it is 1.06 times as fast as with AVX2
//! on a Zen 5: names 1.2, the order 1.04. A hash table replaces the induced sorting of substrings, and sorting small
//! groups of numbers replaces the recursion; docs/ALGORITHMS.md has the idea and a ledger of what was tried.
//!
//! Every step works on a ring: a word that begins at its least rotation and is no repetition. In a ring, suffix order
//! is rotation order (see `forward`), position 0 is always LMS, and no end of text needs a case of its own.

mod gather;
mod induce;
mod names;
mod order;
mod sort;

#[cfg(target_arch = "x86_64")]
use crate::cpu;
pub(super) use induce::room;
use order::Order;
use sort::SORTABLE;

/// The number of bytes before the word in a ring: they are the word's last bytes.
pub(super) const BEFORE: usize = 2;

/// The number of bytes after the word in a ring: the word's first byte, and any seven bytes that can be read.
pub(super) const AFTER: usize = 8;

/// Shorter words are left to libsais: `hybz -s`, whose blocks have 200 kB, promises to need 2.6 MB. Without libsais
/// they are sorted here: in WebAssembly level 1 went from 0.71 to 1.06 of level 9's speed (reymont; xml 0.76 to 1.08).
pub(super) const MIN: usize = if cfg!(feature = "libsais") { 300_000 } else { 10_000 };

/// Positions have 19 bits in `order`, and at most half of a word's bytes are LMS positions.
const MAX: usize = 1 << 20;

/// The code that sorts numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The kernels that this processor can run, the fastest last.
    fn all() -> impl Iterator<Item = Self> {
        let all = [
            Some(Kernel::Portable),
            #[cfg(target_arch = "x86_64")]
            cpu::has!(Avx2: "avx2", "bmi1", "bmi2", "lzcnt", "movbe", "popcnt").then_some(Kernel::Avx2),
            #[cfg(target_arch = "x86_64")]
            cpu::has!(Avx512: "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi2", "bmi2", "movbe")
                .then_some(Kernel::Avx512),
        ];
        all.into_iter().flatten()
    }
}

/// Computes last columns of rings, in memory of its own: at most 4 bytes for each byte of a word, and usually 2.5.
///
/// | step | rows, 4 bytes for each byte of the word | positions, 2 | names | ranks |
/// |---|---|---|---|---|
/// | LMS positions | | positions | | |
/// | names | hash table, distinct substrings | positions | names by slot | rank of each slot |
/// | their order | entries, or libsais's order | positions | names, then ranks | end of each name |
/// | last column | rows | turns | positions in order | |
#[derive(Debug)]
pub(super) struct LmsSort {
    kernel: Kernel,
    names: Vec<i32>,
    ranks: Vec<u32>,
    starts: Vec<u64>,
}

impl LmsSort {
    pub(super) fn new() -> Self {
        let kernel = Kernel::all().last().expect("every processor runs the portable code");
        LmsSort { kernel, names: Vec::new(), ranks: Vec::new(), starts: Vec::new() }
    }

    /// Whether words of this length are sorted here.
    pub(super) fn takes(&self, len: usize) -> bool {
        (MIN..MAX).contains(&len)
    }

    /// Fills `last` with the last column of the word in `ring`, which has [`BEFORE`] bytes before it and [`AFTER`]
    /// after it, and returns the row of the rotation that begins at byte `turn`. `memory` has at least the length
    /// [`room`]. Returns `None` if libsais would be faster: nearly all LMS substrings differ.
    ///
    /// The word begins at its least rotation and is no repetition.
    #[allow(unsafe_code)]
    pub(super) fn last_column(
        &mut self,
        ring: &[u8],
        turn: i32,
        memory: &mut [i32],
        last: &mut Vec<u8>,
    ) -> Option<u32> {
        match self.kernel {
            Kernel::Portable => self.sort(ring, turn, memory, last),
            // SAFETY: `Kernel::all` has found the features.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { self.sort_avx2(ring, turn, memory, last) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => unsafe { self.sort_avx512(ring, turn, memory, last) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,movbe,popcnt")]
    fn sort_avx2(&mut self, ring: &[u8], turn: i32, memory: &mut [i32], last: &mut Vec<u8>) -> Option<u32> {
        self.sort(ring, turn, memory, last)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,movbe,popcnt")]
    fn sort_avx512(&mut self, ring: &[u8], turn: i32, memory: &mut [i32], last: &mut Vec<u8>) -> Option<u32> {
        self.sort(ring, turn, memory, last)
    }

    #[inline(always)]
    fn sort(&mut self, ring: &[u8], turn: i32, memory: &mut [i32], last: &mut Vec<u8>) -> Option<u32> {
        let len = ring.len() - BEFORE - AFTER;
        assert!((2..MAX).contains(&len));
        let (rows, positions) = memory[..room(len)].split_at_mut(room(len) - gather::room(len));
        let text = &ring[BEFORE..];
        let first = gather::gather(text, len, positions);
        let positions = &positions[first..];
        let count = positions.len() - 1;
        make_room(&mut self.names, count);
        make_room(&mut self.starts, count / 64 + 1);
        let names = &mut self.names[..count];
        let distinct = names::assign(self.kernel, text, positions, names, as_numbers(rows), &mut self.ranks)?;
        let counts = gather::count(&text[..len], &positions[..count]);
        let mut order = Order { kernel: self.kernel, rows, ends: &mut self.ranks, starts: &mut self.starts };
        order.sort(names, distinct, positions);
        last.clear();
        last.resize(len, 0);
        induce::last_column(ring, turn, &counts, names, memory, last)
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

/// The memory of `words` as numbers of twice the size.
fn as_numbers(words: &mut [i32]) -> &mut [u64] {
    // SAFETY: any bits are a number of either type.
    #[allow(unsafe_code)]
    let (_, numbers, _) = unsafe { words.align_to_mut::<u64>() };
    numbers
}

/// Prefetches the cache line of an element. Any index past the end is harmless.
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
pub(super) mod tests;
