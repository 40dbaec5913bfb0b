//! Decodes zero runs and move-to-front: from Huffman symbols to runs of equal bytes in the last column.
//!
//! The result is a list of runs of one word each: the start of the run, above its byte. Text has a run per 2 to 4 bytes
//! of the last column. The next step (building the inverse BWT's vector) is several times faster from runs than from
//! bytes, so the bytes of the column are never written.
//!
//! The loop's only branch is for far ranks. Run digits and ranks alternate without a pattern, and a mispredicted branch
//! costs as much as ten symbols. A run digit is treated as rank 0, which leaves the list as it is, but it adds its
//! weight instead of 1 and does not begin a run. The head of the list is in vector registers, where moving to front
//! takes byte shuffles with masks from a table: 16 entries with SSSE3, NEON and WebAssembly's SIMD, 16 or 64 with AVX2
//! and AVX-512 VBMI, and 8 in a plain 64-bit word elsewhere. Ranks beyond the head take longer: with 16 entries these
//! are 1 to 31 in a hundred, with 64 up to 14 (nci, ooffice).
//!
//! On a Zen 5 core, ns per symbol: 16 entries 1.2 on near ranks (English prose 1.25, an executable 5.5), 64 entries 1.5
//! (1.5, 2.1), 256 entries 2.7 for any ranks, the plain word 4. With VBMI, the ranks in each piece of 400 symbols
//! therefore decide which of three loops decodes the piece, and with AVX2 which of two.

use super::super::huffman::decode::Irregular;
use super::to_front;
use crate::codec::try_resize;
#[cfg(target_arch = "x86_64")]
use crate::cpu;
use std::collections::TryReserveError;

/// The loop with the first 16 entries in a register and the others in memory, in rows of 16. The register's module has
/// `load`, `store`, `first` and `shuffle`; `up`, which puts the last entry of one row before all but the last of
/// another; and `turned`, which moves a row's first entry to its end.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
macro_rules! push_by_rows {
    ($(#[$attribute:meta])* $push:ident) => {
        $(#[$attribute])*
        #[inline(never)]
        pub fn $push(decoder: &mut MtfDecoder, symbols: &[u8]) {
            let mut state = decoder.state;
            let runs = &mut decoder.runs[..];
            let (rows, _) = decoder.list.as_chunks_mut::<16>();
            let mut head = load(&rows[0]);
            let mut symbols = symbols.iter();
            while let Some(&symbol) = symbols.next() {
                if symbol > 16 {
                    let rank = rank_of(symbol, &mut symbols);
                    // Each row up to the rank's row takes the last entry of the row before it. The rank's row also
                    // loses the entry of the rank.
                    let mut before = head;
                    for row in &mut rows[1..rank / 16] {
                        let old = load(row);
                        store(row, up(before, old));
                        before = old;
                    }
                    let row = &mut rows[rank / 16];
                    let found = turned(shuffle(load(row), load(&MASKS16.0[rank % 16 + 1])));
                    store(row, up(before, found));
                    head = up(found, head);
                } else {
                    head = shuffle(head, load(&MASKS16.0[usize::from(symbol)]));
                }
                state.step(symbol, first(head), runs);
            }
            store(&mut rows[0], head);
            decoder.state = state;
        }
    };
}

#[cfg(target_arch = "aarch64")]
#[path = "decode_neon.rs"]
mod neon;
#[cfg(target_feature = "simd128")]
#[path = "decode_wasm.rs"]
mod wasm;
#[cfg(target_arch = "x86_64")]
#[path = "decode_x86.rs"]
mod x86;

/// Decodes move-to-front and zero runs over one block, whose symbols come in pieces.
#[derive(Clone, Debug)]
pub struct MtfDecoder {
    /// The list, most recent symbol first.
    list: [u8; 256],
    /// One word for each run: its start in the column, shifted left by 8, and its byte. The first run may be empty.
    runs: Vec<u32>,
    state: RunState,
    limit: u32,
    kernel: DecodeKernel,
}

/// The state of the loop between two symbols.
#[derive(Clone, Copy, Debug, Default)]
struct RunState {
    /// The number of runs.
    runs: usize,
    /// The number of bytes in the column so far, times 256: shifted to its place in the word of a run.
    len: u64,
    /// The weight of the next run digit, times 256. It becomes zero after 24 digits in a row; `len` has exceeded every
    /// limit by then.
    weight: u32,
}

/// The weight of a rank, and of the first run digit: one byte.
const ONE: u32 = 1 << 8;

/// With fewer runs, memory that is too small becomes only twice as large as needed.
const SHORT: usize = 2048;

/// The implementation of the loop that this machine uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DecodeKernel {
    // No 64-bit ARM processor uses it, except in tests, which compare the kernels; nor does WebAssembly with SIMD.
    #[cfg_attr(any(target_arch = "aarch64", target_feature = "simd128"), allow(dead_code))]
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Vbmi,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(target_feature = "simd128")]
    Wasm,
}

impl DecodeKernel {
    fn best() -> DecodeKernel {
        #[cfg(target_arch = "x86_64")]
        {
            if cpu::has!(Avx512: "avx512f", "avx512bw", "avx512vbmi", "popcnt") {
                return DecodeKernel::Vbmi;
            }
            if cpu::has!(Avx2: "avx2", "bmi1", "bmi2", "popcnt") {
                return DecodeKernel::Avx2;
            }
            if cpu::has!(Avx2: "ssse3", "sse4.1") {
                return DecodeKernel::Sse;
            }
        }
        #[cfg(target_arch = "aarch64")]
        return DecodeKernel::Neon;
        #[cfg(target_feature = "simd128")]
        return DecodeKernel::Wasm;
        #[cfg(not(any(target_arch = "aarch64", target_feature = "simd128")))]
        DecodeKernel::Portable
    }
}

impl MtfDecoder {
    /// A decoder with memory for blocks of at most `max` bytes. Others make it grow.
    pub fn new(max: usize) -> Self {
        // One word more for the end, and room for a piece that exceeds the limit before the excess is noticed.
        let runs = vec![0; max + 2];
        MtfDecoder { list: [0; 256], runs, state: RunState::default(), limit: 0, kernel: DecodeKernel::best() }
    }

    /// Reserves the memory for blocks of at most `max` symbols.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn try_reserve(&mut self, max: usize) -> Result<(), TryReserveError> {
        try_resize(&mut self.runs, max + 2)
    }

    /// Starts a block that may have `limit` bytes and uses the symbols `used`.
    pub fn begin(&mut self, used: &[u8], limit: u32) {
        self.list[..used.len()].copy_from_slice(used);
        self.limit = limit;
        self.runs[0] = u32::from(used[0]);
        self.state = RunState { runs: 1, len: 0, weight: ONE };
    }

    /// Decodes the next symbols, given in the byte form of
    /// [`GroupDecoder::decode_groups`](super::super::huffman::decode::GroupDecoder::decode_groups).
    ///
    /// Rejects a block that grows longer than its limit.
    pub fn push(&mut self, symbols: &[u8]) -> Result<(), Irregular> {
        let max_runs = self.state.runs + symbols.len() + 1;
        if self.runs.len() < max_runs {
            // Memory for any block, if this one is not short: parts that are not written take no pages.
            let len = if max_runs < SHORT { 2 * max_runs } else { max_runs.max(self.limit as usize + 2) };
            let mut runs = vec![0; len];
            runs[..self.state.runs].copy_from_slice(&self.runs[..self.state.runs]);
            self.runs = runs;
        }
        match self.kernel {
            DecodeKernel::Portable => self.push_portable(symbols),
            #[cfg(target_feature = "simd128")]
            DecodeKernel::Wasm => wasm::push(self, symbols),
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: `DecodeKernel::best` has detected SSSE3 and SSE4.1.
            DecodeKernel::Sse => unsafe { x86::push_near(self, symbols) },
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: `DecodeKernel::best` has detected AVX2, BMI1, BMI2 and POPCNT.
            DecodeKernel::Avx2 => unsafe { x86::push_avx2(self, symbols) },
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: `DecodeKernel::best` has detected AVX-512F, AVX-512BW, VBMI and POPCNT.
            DecodeKernel::Vbmi => unsafe { x86::push_vbmi(self, symbols) },
            #[cfg(target_arch = "aarch64")]
            DecodeKernel::Neon => neon::push(self, symbols),
        }
        if self.state.len > u64::from(self.limit) << 8 { Err(Irregular) } else { Ok(()) }
    }

    /// The length of the column so far, and the weight of the next run digit: 1 if the last symbol was no run digit.
    pub fn progress(&self) -> (u64, u32) {
        (self.state.len >> 8, self.state.weight / ONE)
    }

    /// Returns the runs so far, followed by one more word that tells where the last run ends, and the length of the
    /// column.
    pub fn finish(&mut self) -> (&[u32], usize) {
        let RunState { runs, len, .. } = self.state;
        self.runs[runs] = len as u32;
        (&self.runs[..=runs], (len >> 8) as usize)
    }

    /// The list in its present state, most recent symbol first.
    pub fn list(&self) -> &[u8; 256] {
        &self.list
    }

    /// The loop with the first eight entries of the list in a word.
    fn push_portable(&mut self, symbols: &[u8]) {
        let (head, _) = self.list.split_first_chunk_mut::<8>().expect("256 are more than 8");
        let mut head_word = u64::from_le_bytes(*head);
        let mut state = self.state;
        let mut symbols = symbols.iter();
        while let Some(&symbol) = symbols.next() {
            if symbol <= 8 {
                (head_word, _) = to_front(head_word, u32::from(symbol.saturating_sub(1)));
            } else {
                let rank = rank_of(symbol, &mut symbols);
                // Word by word: in WebAssembly, moving bytes is a call.
                let mut last = head_word >> 56;
                let (words, _) = self.list[8..].as_chunks_mut::<8>();
                let (whole, rest) = words.split_at_mut(rank / 8 - 1);
                for bytes in whole {
                    let word = u64::from_le_bytes(*bytes);
                    *bytes = (word << 8 | last).to_le_bytes();
                    last = word >> 56;
                }
                let (word, byte) = to_front(u64::from_le_bytes(rest[0]), rank as u32 % 8);
                rest[0] = (word & !0xff | last).to_le_bytes();
                head_word = head_word << 8 | byte;
            }
            state.step(symbol, head_word as u8, &mut self.runs);
        }
        self.list[..8].copy_from_slice(&head_word.to_le_bytes());
        self.state = state;
    }
}

/// The rank of `symbol`. A symbol of two bytes takes the second one from `rest`.
#[inline(always)]
fn rank_of(symbol: u8, rest: &mut std::slice::Iter<'_, u8>) -> usize {
    if symbol == 255 { 254 + usize::from(*rest.next().unwrap_or(&0)) } else { usize::from(symbol.saturating_sub(1)) }
}

impl RunState {
    /// Counts one symbol, after which `front` is at the front of the list.
    #[inline(always)]
    fn step(&mut self, symbol: u8, front: u8, runs: &mut [u32]) {
        // All ones if a run begins. In WebAssembly, LLVM would turn a conditional choice into a branch.
        let begins = ((1 - i32::from(symbol)) >> 31) as u32;
        // The word is written even if no run begins: the next run that begins overwrites it.
        runs[self.runs] = self.len as u32 | u32::from(front);
        self.runs += (begins & 1) as usize;
        self.len += u64::from(begins & ONE | !begins & self.weight << (symbol & 1));
        self.weight = begins & ONE | !begins & self.weight << 1;
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
