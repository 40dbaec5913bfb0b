//! Decodes zero runs and move-to-front: from Huffman symbols to runs of equal bytes in the last column.
//!
//! The result is a list of runs of one word each: the start of the run, above its byte. Text has a run per 2 to 4 bytes
//! of the last column. The next step (building the inverse BWT's vector) is several times faster from runs than from
//! bytes, so the bytes of the column are never written.
//!
//! The loop's only branch is for far ranks. Run digits and ranks alternate without a pattern, and a mispredicted branch
//! costs as much as ten symbols. A run digit is treated as rank 0, which leaves the list as it is, but it adds its
//! weight instead of 1 and does not begin a run. The head of the list is in a vector register, where moving to front is
//! one byte shuffle with a mask from a table: 16 entries with SSSE3, 16 or 64 with AVX2 and AVX-512 VBMI, and 8 in a
//! plain 64-bit word elsewhere. Ranks beyond the head take longer; with 16 entries these are 1 to 14 in a hundred.
//!
//! On a Zen 5 core, ns per symbol: 16 entries 1.2 on near ranks (English prose 1.25, an executable 5.5), 64 entries 1.5
//! (1.5, 2.1), 256 entries 2.7 for any ranks, the plain word 4. With VBMI, the ranks in each piece of 400 symbols
//! therefore decide which of three loops decodes the piece.

use super::super::huffman::decode::Irregular;
#[cfg(target_arch = "x86_64")]
use crate::codec::cpu;
use crate::codec::try_resize;
use std::collections::TryReserveError;

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
    /// The number of bytes in the column so far.
    len: u64,
    /// The weight of the next run digit. It becomes zero after 32 digits in a row; `len` has exceeded every limit by
    /// then.
    weight: u32,
}

/// The implementation of the loop that this machine uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DecodeKernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Vbmi,
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
        DecodeKernel::Portable
    }
}

impl MtfDecoder {
    /// A decoder with memory for blocks of at most `max` bytes.
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
        self.state = RunState { runs: 1, len: 0, weight: 1 };
    }

    /// Decodes the next symbols, given in the byte form of
    /// [`GroupDecoder::decode_groups`](super::super::huffman::decode::GroupDecoder::decode_groups).
    ///
    /// Rejects a block that grows longer than its limit.
    pub fn push(&mut self, symbols: &[u8]) -> Result<(), Irregular> {
        let max_runs = self.state.runs + symbols.len() + 1;
        self.runs.resize(max_runs.max(self.runs.len()), 0);
        match self.kernel {
            DecodeKernel::Portable => self.push_portable(symbols),
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: `DecodeKernel::best` has detected SSSE3 and SSE4.1.
            DecodeKernel::Sse => unsafe { x86::push_sse(self, symbols) },
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: `DecodeKernel::best` has detected AVX2, BMI1, BMI2 and POPCNT.
            DecodeKernel::Avx2 => unsafe { x86::push_avx2(self, symbols) },
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: `DecodeKernel::best` has detected AVX-512F, AVX-512BW, VBMI and POPCNT.
            DecodeKernel::Vbmi => unsafe { x86::push_vbmi(self, symbols) },
        }
        if self.state.len > u64::from(self.limit) { Err(Irregular) } else { Ok(()) }
    }

    /// The length of the column so far, and the weight of the next run digit: 1 if the last symbol was none.
    pub fn progress(&self) -> (u64, u32) {
        (self.state.len, self.state.weight)
    }

    /// Returns the runs so far, followed by one more word that tells where the last run ends, and the length of the
    /// column.
    pub fn finish(&mut self) -> (&[u32], usize) {
        let RunState { runs, len, .. } = self.state;
        self.runs[runs] = (len as u32) << 8;
        (&self.runs[..=runs], len as usize)
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

/// Moves byte `rank` (0 to 7) of eight to the front, and returns it, too.
#[inline(always)]
fn to_front(word: u64, rank: u32) -> (u64, u64) {
    let byte = word >> (8 * rank) & 0xff;
    // All entries below this one: they move up by one place and overwrite it.
    let below = (1 << (8 * rank)) - 1;
    let above = !(below << 8 | 0xff);
    (word & above | (word & below) << 8 | byte, byte)
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
        let begins = symbol >= 2;
        // The word is written even if no run begins: the next run that begins overwrites it.
        runs[self.runs] = (self.len as u32) << 8 | u32::from(front);
        self.runs += usize::from(begins);
        let weight = if begins { 1 } else { self.weight << (symbol & 1) };
        self.len += u64::from(weight);
        self.weight = if begins { 1 } else { self.weight << 1 };
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use super::{MtfDecoder, rank_of};
    use std::arch::x86_64::*;

    /// By symbol: the shuffle that moves the symbol's rank to the front of `N` entries.
    const fn masks<const N: usize, const SYMBOLS: usize>() -> [[u8; N]; SYMBOLS] {
        let mut masks = [[0; N]; SYMBOLS];
        let mut symbol = 0;
        while symbol < SYMBOLS {
            let rank = if symbol == 0 { 0 } else { symbol - 1 };
            let mut i = 0;
            while i < N {
                masks[symbol][i] = if i == 0 {
                    rank as u8
                } else if i <= rank {
                    i as u8 - 1
                } else {
                    i as u8
                };
                i += 1;
            }
            symbol += 1;
        }
        masks
    }

    #[repr(align(64))]
    struct Masks<const N: usize, const SYMBOLS: usize>([[u8; N]; SYMBOLS]);

    /// The shuffle that moves nothing.
    static IDENTITY: [u8; 64] = MASKS64.0[0];
    static MASKS16: Masks<16, 17> = Masks(masks());
    static MASKS64: Masks<64, 65> = Masks(masks());

    /// By symbol, for the first 64 entries in four registers: the shuffles of which one gives the entry of the symbol's
    /// rank, and the others 0; and ones for the entries that move up.
    struct Moves {
        find: [[u8; 16]; 4],
        up: [[u8; 16]; 4],
    }

    static MOVES: [Moves; 65] = {
        let mut all = [const { Moves { find: [[0x80; 16]; 4], up: [[0; 16]; 4] } }; 65];
        let mut symbol = 0;
        while symbol < 65 {
            let rank = if symbol == 0 { 0 } else { symbol - 1 };
            all[symbol].find[rank / 16] = [rank as u8 % 16; 16];
            let mut i = 0;
            while i <= rank {
                all[symbol].up[i / 16][i % 16] = 255;
                i += 1;
            }
            symbol += 1;
        }
        all
    };

    /// Takes 64 entries in registers if the rank of more than one symbol in 10 is beyond 16. On a Zen 3, ooffice takes
    /// 3.81 ns a byte in place of 5.34 with 16 alone, linux 1.65 of 1.69; dickens, nci, reymont and xml take 0.97 to
    /// 1.08 of that time.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub fn push_avx2(decoder: &mut MtfDecoder, symbols: &[u8]) {
        let beyond = symbols.iter().map(|&symbol| u16::from(symbol > 16)).sum::<u16>();
        if usize::from(beyond) * 10 > symbols.len() {
            push_rows::<4>(decoder, symbols);
        } else {
            push_rows::<1>(decoder, symbols);
        }
    }

    #[target_feature(enable = "ssse3,sse4.1")]
    #[inline(never)]
    pub fn push_sse(decoder: &mut MtfDecoder, symbols: &[u8]) {
        push_rows::<1>(decoder, symbols);
    }

    /// The loop with the first 16 x `R` entries in registers and the others in memory, in rows of 16.
    #[target_feature(enable = "ssse3,sse4.1")]
    #[inline]
    fn push_rows<const R: usize>(decoder: &mut MtfDecoder, symbols: &[u8]) {
        let mut state = decoder.state;
        let runs = &mut decoder.runs[..];
        let (rows, _) = decoder.list.as_chunks_mut::<16>();
        // SAFETY: a row has 16 bytes.
        let load = |row: &[u8; 16]| unsafe { _mm_loadu_si128(row.as_ptr().cast()) };
        // SAFETY: a row has 16 bytes.
        let store = |row: &mut [u8; 16], new| unsafe { _mm_storeu_si128(row.as_mut_ptr().cast(), new) };
        let mut heads: [__m128i; R] = std::array::from_fn(|i| load(&rows[i]));
        let mut symbols = symbols.iter();
        while let Some(&symbol) = symbols.next() {
            if usize::from(symbol) > 16 * R {
                let rank = rank_of(symbol, &mut symbols);
                // Each row up to the rank's row takes the last entry of the row before it. The rank's row also loses
                // the entry of the rank.
                let mut before = heads[R - 1];
                for row in &mut rows[R..rank / 16] {
                    let old = load(row);
                    store(row, _mm_alignr_epi8::<15>(old, before));
                    before = old;
                }
                let row = &mut rows[rank / 16];
                let found = _mm_shuffle_epi8(load(row), load(&MASKS16.0[rank % 16 + 1]));
                let others = _mm_slli_si128::<1>(_mm_srli_si128::<1>(found));
                store(row, _mm_or_si128(others, _mm_srli_si128::<15>(before)));
                for i in (1..R).rev() {
                    heads[i] = _mm_alignr_epi8::<15>(heads[i], heads[i - 1]);
                }
                heads[0] = _mm_alignr_epi8::<15>(heads[0], _mm_slli_si128::<15>(found));
            } else if R == 1 {
                heads[0] = _mm_shuffle_epi8(heads[0], load(&MASKS16.0[usize::from(symbol)]));
            } else {
                let moves = &MOVES[usize::from(symbol)];
                let mut front = _mm_setzero_si128();
                for (head, find) in heads.iter().zip(&moves.find) {
                    front = _mm_or_si128(front, _mm_shuffle_epi8(*head, load(find)));
                }
                for i in (0..R).rev() {
                    let up = _mm_alignr_epi8::<15>(heads[i], if i == 0 { front } else { heads[i - 1] });
                    heads[i] = _mm_blendv_epi8(heads[i], up, load(&moves.up[i]));
                }
            }
            state.step(symbol, _mm_cvtsi128_si32(heads[0]) as u8, runs);
        }
        for (row, head) in rows.iter_mut().zip(heads) {
            store(row, head);
        }
        decoder.state = state;
    }

    /// Chooses one of three loops by how far the ranks of this piece reach.
    ///
    /// A shuffle of 64 entries takes 4 cycles longer than one of 16, and a mispredicted branch some 20 cycles. The
    /// choice is therefore 16 entries if hardly any rank lies beyond them, all 256 at each step if most ranks lie
    /// beyond 64, and 64 otherwise. "Hardly any" is one in 64: measured on a Zen 4 core, dickens and linux take 1.05
    /// and 0.74 ns per byte with one in 12, 1.01 and 0.67 with one in 24, 0.98 and 0.65 with one in 64, and no less
    /// with one in 300. Counting by AVX-512 took 0.10 off linux.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
    pub fn push_vbmi(decoder: &mut MtfDecoder, symbols: &[u8]) {
        let beyond = |rank: u8| count_above(symbols, rank);
        if beyond(64) * 2 > symbols.len() {
            push_vbmi_by::<true>(decoder, symbols);
        } else if beyond(16) * 64 > symbols.len() {
            push_vbmi_by::<false>(decoder, symbols);
        } else {
            push_sse(decoder, symbols);
        }
    }

    /// The number of symbols greater than `rank`.
    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    fn count_above(symbols: &[u8], rank: u8) -> usize {
        let rank = _mm512_set1_epi8(rank as i8);
        let (whole, rest) = symbols.as_chunks::<64>();
        let mut last = [0; 64];
        last[..rest.len()].copy_from_slice(rest);
        // SAFETY: a piece has 64 bytes.
        let load = |piece: &[u8; 64]| unsafe { _mm512_loadu_si512(piece.as_ptr().cast()) };
        whole.iter().chain([&last]).map(|piece| _mm512_cmpgt_epu8_mask(load(piece), rank).count_ones() as usize).sum()
    }

    /// The loop with all entries in four registers of 64. Ranks beyond the first register take a longer way; with
    /// `ALL_FAR`, all ranks take it.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline(never)]
    fn push_vbmi_by<const ALL_FAR: bool>(decoder: &mut MtfDecoder, symbols: &[u8]) {
        let mut state = decoder.state;
        let runs = &mut decoder.runs[..];
        let (rows, _) = decoder.list.as_chunks_mut::<64>();
        // SAFETY: a row has 64 bytes.
        let load = |row: &[u8; 64]| unsafe { _mm512_loadu_si512(row.as_ptr().cast()) };
        let [mut head, mut second, mut third, mut last] = [0, 1, 2, 3].map(|i| load(&rows[i]));
        let indices = |i: u8| _mm512_add_epi8(load(&IDENTITY), _mm512_set1_epi8((64 * i) as i8));
        // The last byte of the first operand, followed by the second operand without its last byte.
        let up = _mm512_add_epi8(load(&IDENTITY), _mm512_set1_epi8(63));
        let mut symbols = symbols.iter();
        while let Some(&symbol) = symbols.next() {
            if !ALL_FAR && symbol <= 64 {
                head = _mm512_permutexvar_epi8(load(&MASKS64.0[usize::from(symbol)]), head);
            } else {
                let rank = rank_of(symbol, &mut symbols);
                let all = _mm512_set1_epi8(rank as u8 as i8);
                let low = _mm512_permutex2var_epi8(head, all, second);
                let high = _mm512_permutex2var_epi8(third, all, last);
                let front = _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(all), high);
                let moves = |i| _mm512_cmple_epu8_mask(indices(i), all);
                last = _mm512_mask_mov_epi8(last, moves(3), _mm512_permutex2var_epi8(third, up, last));
                third = _mm512_mask_mov_epi8(third, moves(2), _mm512_permutex2var_epi8(second, up, third));
                second = _mm512_mask_mov_epi8(second, moves(1), _mm512_permutex2var_epi8(head, up, second));
                // The new front is set last, so that nothing else waits for it.
                head = _mm512_mask_permutexvar_epi8(head, moves(0), up, head);
                head = _mm512_mask_mov_epi8(head, 1, front);
            }
            state.step(symbol, _mm_cvtsi128_si32(_mm512_castsi512_si128(head)) as u8, runs);
        }
        for (row, register) in rows.iter_mut().zip([head, second, third, last]) {
            // SAFETY: a row has 64 bytes.
            unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), register) };
        }
        decoder.state = state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(symbols: &[u16], used: &[u8]) -> Vec<u8> {
        let (mut list, mut out, mut weight) = (used.to_vec(), Vec::new(), 1);
        for &symbol in symbols {
            if symbol < 2 {
                out.extend(std::iter::repeat_n(list[0], (usize::from(symbol) + 1) * weight));
                weight *= 2;
            } else {
                let byte = list.remove(usize::from(symbol) - 1);
                list.insert(0, byte);
                out.push(byte);
                weight = 1;
            }
        }
        out
    }

    fn kernels() -> Vec<DecodeKernel> {
        let mut kernels = vec![DecodeKernel::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if DecodeKernel::best() != DecodeKernel::Portable {
                kernels.push(DecodeKernel::Sse);
            }
            if matches!(DecodeKernel::best(), DecodeKernel::Avx2 | DecodeKernel::Vbmi) {
                kernels.push(DecodeKernel::Avx2);
            }
            if DecodeKernel::best() == DecodeKernel::Vbmi {
                kernels.push(DecodeKernel::Vbmi);
            }
        }
        kernels
    }

    fn check(symbols: &[u16], used: &[u8]) {
        let expected = naive(symbols, used);
        for kernel in kernels() {
            let mut decoder = MtfDecoder::new(100);
            decoder.kernel = kernel;
            decoder.begin(used, 900_000);
            for piece in symbols.chunks(77) {
                let bytes: Vec<u8> = piece
                    .iter()
                    .flat_map(|&s| if s < 255 { vec![s as u8] } else { vec![255, (s - 255) as u8] })
                    .collect();
                decoder.push(&bytes).unwrap();
            }
            let (runs, len) = decoder.finish();
            let column: Vec<u8> = runs
                .windows(2)
                .flat_map(|two| std::iter::repeat_n(two[0] as u8, (two[1] as usize >> 8) - (two[0] as usize >> 8)))
                .collect();
            assert_eq!(column.len(), len);
            assert!(column == expected, "{kernel:?}");
        }
    }

    #[test]
    fn every_rank_and_run_digit() {
        let mut seed = 7u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        for used in [2usize, 3, 8, 9, 10, 16, 17, 18, 63, 64, 65, 66, 128, 255, 256] {
            let list: Vec<u8> = (0..used).map(|i| (255 - i) as u8).collect();
            check(&[], &list);
            check(&(0..=used as u16).collect::<Vec<_>>(), &list);
            check(&(0..=used as u16).rev().collect::<Vec<_>>(), &list);
            for near in [false, true] {
                let mut digits = 0;
                let symbols = std::iter::repeat_with(|| {
                    let max = if near { random(used as u32 + 1) } else { used as u32 };
                    let symbol = if digits < 6 { random(1 + max) as u16 } else { 2 };
                    digits = if symbol < 2 { digits + 1 } else { 0 };
                    symbol
                });
                check(&symbols.take(3000).collect::<Vec<_>>(), &list);
            }
        }
        check(&[0, 1, 1, 0, 0, 1], &[9]);
        check(&[0; 18], &[5, 6]);
        check(&[1; 17], &[5, 6]);
    }

    #[test]
    fn too_long_blocks_are_refused() {
        for kernel in kernels() {
            for symbols in [vec![1u8; 19], vec![1; 40], vec![0; 64], vec![1; 3000], vec![2; 1001]] {
                let mut decoder = MtfDecoder::new(100);
                decoder.kernel = kernel;
                decoder.begin(&[1, 2, 3], 1000);
                assert_eq!(decoder.push(&symbols), Err(Irregular));
            }
            let mut decoder = MtfDecoder::new(100);
            decoder.kernel = kernel;
            decoder.begin(&[1, 2, 3], 1000);
            assert_eq!(decoder.push(&[2; 1000]), Ok(()));
            assert_eq!(decoder.push(&[2]), Err(Irregular));
        }
    }
}
