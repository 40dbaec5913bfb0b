//! Encodes the last column as move-to-front ranks and zero runs.
//!
//! Instead of a list to search and shift, this keeps the rank of each symbol. Coding a byte reads one rank and raises
//! all smaller ranks by one: a comparison and a subtraction over at most 256 bytes, which the compiler turns into a few
//! vector instructions on any target. Nothing is searched, so no branch is mispredicted and high ranks cost no more
//! (bzip2 walks the list byte by byte). There are faster ways: see `avx2` and `avx512`.
//!
//! Most bytes of a last column repeat the byte before them (three of four in source code), and their rank is zero. They
//! are skipped 64 at a time; only the first byte of each run is looked at.
//!
//! Measured (Zen 5, MB/s of block, portable / AVX-512): English 275 / 640, made-up words 370 / 970, XML 1050 / 2100,
//! machine code 185 / 370, random bytes 105 / 225. Compiling the portable kernel for AVX2 gained nothing on text and 15
//! % on random bytes, so it is not compiled that way: the time goes into each rank's wait for the rank before it.

#[cfg(target_arch = "x86_64")]
#[path = "encode_avx2.rs"]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[path = "encode_avx512.rs"]
mod avx512;

use crate::codec::try_resize;
use crate::formats::bzip2::header::MAX_SYMBOLS;
use std::collections::TryReserveError;

/// An implementation of the encoder, which not every CPU may support.
#[derive(Clone, Copy, Debug)]
pub struct EncodeKernel {
    /// Its name.
    pub name: &'static str,
    /// Whether this CPU supports it.
    pub is_supported: fn() -> bool,
    /// Fills the symbols from a last column of at least one byte. Panics if this CPU does not support the kernel.
    pub encode: fn(&mut MtfSymbols, &[u8]),
}

/// All kernels, fastest first. Every CPU supports the last one.
pub const KERNELS: &[EncodeKernel] = &[
    #[cfg(target_arch = "x86_64")]
    EncodeKernel { name: "avx512", is_supported: avx512::is_supported, encode: avx512::encode },
    #[cfg(target_arch = "x86_64")]
    EncodeKernel { name: "avx2", is_supported: avx2::is_supported, encode: avx2::encode },
    EncodeKernel { name: "portable", is_supported: || true, encode: MtfSymbols::encode_portable },
];

/// The lowest four bits of a number as symbols, RUNA or RUNB each.
const RUN_SYMBOLS: [[u16; 4]; 16] = {
    let mut table = [[0; 4]; 16];
    let mut i = 0;
    while i < 16 {
        table[i] = [i as u16 & 1, i as u16 >> 1 & 1, i as u16 >> 2 & 1, i as u16 >> 3];
        i += 1;
    }
    table
};

/// A block's symbols. The memory is reused for the next block.
#[derive(Clone, Debug)]
pub struct MtfSymbols {
    /// The symbols, then free space.
    buffer: Vec<u16>,
    len: usize,
    /// The number of occurrences of each symbol.
    pub frequencies: [u32; MAX_SYMBOLS],
    /// For each byte, whether it occurs in the block.
    pub used: [bool; 256],
    /// The size of the alphabet: the number of bytes used, plus two.
    pub alphabet: usize,
    /// The number of bytes of a segment, at whose end a zero run is cut.
    segment: usize,
    /// The end of each segment's symbols.
    pub ends: Vec<usize>,
}

impl Default for MtfSymbols {
    fn default() -> Self {
        let (buffer, len, alphabet, ends) = Default::default();
        let (frequencies, used) = ([0; MAX_SYMBOLS], [false; 256]);
        MtfSymbols { buffer, len, frequencies, used, alphabet, segment: usize::MAX, ends }
    }
}

impl MtfSymbols {
    /// The symbols, EOB last.
    pub fn as_slice(&self) -> &[u16] {
        &self.buffer[..self.len]
    }

    /// Reserves the memory for a column of `len` bytes.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn try_reserve(&mut self, len: usize) -> Result<(), TryReserveError> {
        try_resize(&mut self.buffer, len + 8)
    }

    /// Sets the symbols from a last column of at least one byte.
    pub fn encode(&mut self, last: &[u8]) {
        let best = KERNELS.iter().find(|kernel| (kernel.is_supported)()).expect("every CPU knows the last");
        (best.encode)(self, last);
    }

    /// The same with zero runs cut at each multiple of `segment`, which is a multiple of 64.
    pub fn encode_segments(&mut self, last: &[u8], segment: usize) {
        self.segment = segment;
        self.encode(last);
    }

    /// The portable kernel, by ranks.
    fn encode_portable(&mut self, last: &[u8]) {
        let (order, count) = self.start(last);
        match count {
            0..=16 => self.encode_by_rank::<16>(last, &order, count),
            17..=32 => self.encode_by_rank::<32>(last, &order, count),
            33..=64 => self.encode_by_rank::<64>(last, &order, count),
            65..=96 => self.encode_by_rank::<96>(last, &order, count),
            97..=128 => self.encode_by_rank::<128>(last, &order, count),
            129..=192 => self.encode_by_rank::<192>(last, &order, count),
            _ => self.encode_by_rank::<256>(last, &order, count),
        }
    }

    /// Finds the bytes used and enlarges the memory. Returns the positions of used bytes in the first list, and their
    /// number.
    fn start(&mut self, last: &[u8]) -> ([u8; 256], usize) {
        // Room for at most one symbol for each byte, for EOB, and for the digits that a run may write beyond its end.
        if self.buffer.len() < last.len() + 8 {
            self.buffer = vec![0; (last.len() + 8).next_multiple_of(4096)];
        }
        self.used = [false; 256];
        for &byte in last {
            self.used[usize::from(byte)] = true;
        }
        let mut order = [0; 256];
        let mut count = 0;
        for (byte, _) in self.used.iter().enumerate().filter(|(_, used)| **used) {
            order[byte] = count as u8;
            count += 1;
        }
        (order, count)
    }

    /// Encodes by ranks, for at most `N` different bytes.
    fn encode_by_rank<const N: usize>(&mut self, last: &[u8], order: &[u8; 256], count: usize) {
        // Unused entries have rank 255 and keep it, because no rank is greater.
        let mut ranks = [255u8; N];
        for (place, rank) in ranks.iter_mut().enumerate().take(count) {
            *rank = place as u8;
        }
        self.encode_with(last, count, ByRank { ranks, order });
    }

    /// Encodes by the ranks of bytes that differ from the byte before them. The block has `count` different bytes.
    #[inline(always)]
    fn encode_with<R: Ranks>(&mut self, last: &[u8], count: usize, mut ranks: R) {
        // The first list begins with the least byte used, as if that byte had come before the column.
        let least = self.used.iter().zip(0u8..=255).find(|(used, _)| **used).map_or(0, |(_, byte)| byte);
        let mut seen = [[0; 256]; 2];
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut out = SymbolWriter::new(&mut buffer);
        let (mut zeros_from, mut segment_end) = (0, self.segment);
        self.ends.clear();
        for (number, stretch) in last.chunks(STRETCH).enumerate() {
            let start = number * STRETCH;
            if start == segment_end {
                out.write_zeros(start - zeros_from);
                zeros_from = start;
                segment_end += self.segment;
                self.ends.push(out.len);
            }
            let with_before = start.checked_sub(1).and_then(|before| last[before..].first_chunk());
            let before = if start > 0 { last[start - 1] } else { least };
            let heads = with_before.map_or_else(|| self::heads(stretch, before), R::heads);
            ranks.code(stretch, heads, |at, rank| {
                out.write_zeros(start + at - zeros_from);
                zeros_from = start + at + 1;
                seen[at & 1][rank & 255] += 1;
                out.write_rank(rank as u16);
            });
        }
        out.write_zeros(last.len() - zeros_from);
        self.ends.push(out.len);
        let SymbolWriter { len, run_digits, run_ones, .. } = out;
        self.frequencies = [0; MAX_SYMBOLS];
        self.frequencies[0] = run_digits - run_ones;
        self.frequencies[1] = run_ones;
        for (rank, frequency) in (1..count).zip(&mut self.frequencies[2..]) {
            *frequency = seen[0][rank] + seen[1][rank];
        }
        self.frequencies[count + 1] = 1;
        buffer[len] = count as u16 + 1;
        self.buffer = buffer;
        self.len = len + 1;
        self.alphabet = count + 2;
    }
}

/// The number of bytes of a column that are examined together.
const STRETCH: usize = 64;

/// The bytes of a block by time of last use.
trait Ranks {
    /// Calls `write` with the position and the rank of each byte that `heads` has a bit for. None of these is 0. The
    /// bytes move to the front.
    fn code(&mut self, stretch: &[u8], heads: u64, write: impl FnMut(usize, usize));

    /// A mask of the bytes, except the first, that differ from the byte before them.
    #[inline(always)]
    fn heads(bytes: &[u8; STRETCH + 1]) -> u64 {
        heads(&bytes[1..], bytes[0])
    }
}

/// The rank of each of `N` symbols.
struct ByRank<'a, const N: usize> {
    ranks: [u8; N],
    order: &'a [u8; 256],
}

impl<const N: usize> Ranks for ByRank<'_, N> {
    #[inline(always)]
    fn code(&mut self, stretch: &[u8], heads: u64, mut write: impl FnMut(usize, usize)) {
        for at in places(heads) {
            let symbol = usize::from(self.order[usize::from(stretch[at])]);
            let rank = self.ranks[symbol];
            for other in &mut self.ranks {
                *other += u8::from(*other < rank);
            }
            self.ranks[symbol] = 0;
            write(at, rank.into());
        }
    }
}

/// The positions of the bits that are set.
#[inline(always)]
fn places(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            place
        })
    })
}

/// A mask of the bytes (at most 64) that differ from the byte before them.
fn heads(stretch: &[u8], before: u8) -> u64 {
    let mut mask = 0;
    let mut before = before;
    for (word_number, word) in stretch.chunks(8).enumerate() {
        let mut bytes = [before; 8];
        if word.len() == 8 {
            bytes.copy_from_slice(word);
        } else {
            // Missing bytes repeat the last one, so they are not heads.
            bytes = [word[word.len() - 1]; 8];
            bytes[..word.len()].copy_from_slice(word);
        }
        let these = u64::from_le_bytes(bytes);
        let differ = these ^ (these << 8 | u64::from(before));
        // The top bit of each nonzero byte; then these eight bits are gathered.
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let tops = (((differ & LOW) + LOW) | differ) & !LOW;
        mask |= ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * word_number);
        before = bytes[7];
    }
    mask
}

/// Writes symbols into a buffer and counts run digits.
struct SymbolWriter<'a> {
    symbols: &'a mut [u16],
    len: usize,
    /// The number of run digits (RUNA and RUNB), and the number of RUNB.
    run_digits: u32,
    run_ones: u32,
}

impl<'a> SymbolWriter<'a> {
    fn new(symbols: &'a mut [u16]) -> Self {
        SymbolWriter { symbols, len: 0, run_digits: 0, run_ones: 0 }
    }

    /// Writes a run of `count` zero ranks; `count` may be 0.
    #[inline(always)]
    fn write_zeros(&mut self, count: usize) {
        let mut digits = count as u64 + 1;
        let mut left = digits.ilog2();
        self.run_digits += left;
        self.run_ones += digits.count_ones() - 1;
        // Always four digits at a time, needed or not, so that all short runs take the same path.
        loop {
            self.symbols[self.len..self.len + 4].copy_from_slice(&RUN_SYMBOLS[digits as usize & 15]);
            if left <= 4 {
                self.len += left as usize;
                return;
            }
            self.len += 4;
            left -= 4;
            digits >>= 4;
        }
    }

    /// Writes a rank of at least 1.
    #[inline(always)]
    fn write_rank(&mut self, rank: u16) {
        self.symbols[self.len] = rank + 1;
        self.len += 1;
    }
}
