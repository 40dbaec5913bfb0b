//! Decoding of zero runs and move-to-front with the list in vector registers: see [`decode`](super).

#![allow(unsafe_code)]

use super::{MtfDecoder, ONE, RunState, rank_of};
use crate::codec::mtf::{MASKS16, Masks, load, moves, store};
use std::arch::x86_64::{_mm_shuffle_epi8 as shuffle, *};

/// The shuffle that moves nothing.
static IDENTITY: [u8; 64] = MASKS64.0[0];
static MASKS64: Masks<64, 65> = Masks(moves());

/// The masks of a symbol for the first 64 entries, in four registers. One shuffle of `find` gives the entry of the
/// symbol's rank, and the others give 0; `up` has ones for the entries that are replaced by the entry before them.
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

/// The numbers of the entries after the first 64, in rows of 32. The sign bit is flipped, for signed comparison.
static NUMBERS: Rows32<6> = Rows32({
    let mut rows = [[0; 32]; 6];
    let mut i = 0;
    while i < 6 * 32 {
        rows[i / 32][i % 32] = (64 + i) as u8 ^ 0x80;
        i += 1;
    }
    rows
});

#[repr(align(32))]
struct Rows32<const N: usize>([[u8; 32]; N]);

/// The maximum number of symbols that are counted together: one bit of a word is left for their end.
const WORD: usize = 63;

impl RunState {
    /// Counts symbols and lists their runs. `to_front` moves the entry of a symbol's rank to the front of the list and
    /// returns it; it is not called for run digits.
    ///
    /// A run with k digits has 2^k bytes plus the value of its digits. On a Zen 5, codes and MTF of linux take 0.93 of
    /// the time of a loop over all symbols, ooffice 0.98. Where a move takes one shuffle, the loop over all symbols is
    /// the faster one: dickens takes 0.9 of the time with it.
    #[inline(always)]
    fn count_words(&mut self, symbols: &[u8], runs: &mut [u32], mut to_front: impl FnMut(usize) -> u8) {
        let mut rest = symbols;
        while !rest.is_empty() {
            let len = rest.len().min(WORD);
            let mut padded = [0; WORD + 1];
            let word = rest.first_chunk().unwrap_or_else(|| {
                padded[..len].copy_from_slice(rest);
                &padded
            });
            let (begins, digits, two_bytes) = kinds(word);
            let end = 1 << len;
            let begins = begins & (end - 1);
            // With 16 or more digits in a row, which crafted data can have, the numbers below could overflow.
            let many_digits = [1, 2, 4, 8].into_iter().fold(!begins & (end - 1), |row, by| row & row >> by);
            if two_bytes | (many_digits != 0) {
                rest = self.count_each(rest, len, runs, &mut to_front);
                continue;
            }
            let mut left = begins | end;
            // The digits, with a one for each symbol that begins a run, and for the end.
            let ones = digits & !begins | left;
            let before = left.trailing_zeros();
            self.len += u64::from(self.weight) * ((ones & !(!0 << before)) + (1 << before) - 1);
            self.weight <<= before;
            let count = begins.count_ones() as usize;
            for run in &mut runs[self.runs..self.runs + count] {
                let at = left.trailing_zeros();
                *run = self.len as u32 | u32::from(to_front(usize::from(word[at as usize])));
                left &= left.wrapping_sub(1);
                // The bits after this symbol's bit, up to the next symbol's, times 256. (This symbol's bit is one.)
                self.len += ((ones & (left ^ left.wrapping_sub(1))) >> at << 7) - u64::from(ONE / 2);
            }
            self.runs += count;
            if count > 0 {
                self.weight = ONE << (len as u32 - 1 - begins.ilog2());
            }
            rest = &rest[len..];
        }
    }

    /// Counts at least `least` symbols, one after the other. Returns the rest.
    #[inline(always)]
    fn count_each<'a>(
        &mut self,
        symbols: &'a [u8],
        least: usize,
        runs: &mut [u32],
        mut to_front: impl FnMut(usize) -> u8,
    ) -> &'a [u8] {
        let (mut rest, mut front) = (symbols.iter(), 0);
        while symbols.len() - rest.len() < least
            && let Some(&symbol) = rest.next()
        {
            if symbol >= 2 {
                front = to_front(rank_of(symbol, &mut rest) + 1);
            }
            self.step(symbol, front, runs);
        }
        rest.as_slice()
    }
}

/// Which of 64 symbols begin a run, the lowest bit of each, and whether any takes two bytes.
#[inline(always)]
fn kinds(symbols: &[u8; WORD + 1]) -> (u64, u64, bool) {
    let (mut begins, mut digits, mut two_bytes) = (0, 0, 0);
    for (at, part) in (0..).step_by(16).zip(symbols.as_chunks::<16>().0) {
        // SAFETY: every x86-64 CPU has SSE2.
        unsafe {
            let part = load(part);
            let mask = |bytes| u64::from(_mm_movemask_epi8(bytes) as u32) << at;
            begins |= mask(_mm_cmpeq_epi8(_mm_max_epu8(part, _mm_set1_epi8(2)), part));
            digits |= mask(_mm_slli_epi16::<7>(part));
            two_bytes |= mask(_mm_cmpeq_epi8(part, _mm_set1_epi8(-1)));
        }
    }
    (begins, digits, two_bytes != 0)
}

/// Takes 64 entries in registers if the rank of more than one symbol in 16 is beyond 16. (With one in 24 linux takes
/// 0.99 of the time, but dickens 1.02.)
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub fn push_avx2(decoder: &mut MtfDecoder, symbols: &[u8]) {
    let beyond = symbols.iter().map(|&symbol| u16::from(symbol > 16)).sum::<u16>();
    if usize::from(beyond) * 16 > symbols.len() {
        push_far(decoder, symbols);
    } else {
        push_near(decoder, symbols);
    }
}

push_by_rows!(
    #[target_feature(enable = "ssse3,sse4.1")]
    push_near
);

#[target_feature(enable = "ssse3")]
#[inline]
fn up(before: __m128i, row: __m128i) -> __m128i {
    _mm_alignr_epi8::<15>(row, before)
}

#[target_feature(enable = "ssse3")]
#[inline]
fn turned(row: __m128i) -> __m128i {
    _mm_alignr_epi8::<1>(row, row)
}

#[inline]
fn first(row: __m128i) -> u8 {
    // SAFETY: every x86-64 CPU has SSE2.
    unsafe { _mm_cvtsi128_si32(row) as u8 }
}

/// The loop with the first 64 entries in registers and the others in memory, in six rows of 32.
///
/// A rank beyond 64 loads and stores all six rows, whether or not they change; this saves a misprediction. On a Zen 5,
/// codes and MTF of ooffice, where 14 of 100 symbols are that far, take 3.73 ns a byte; 4.46 with only the rows up to
/// the rank's, and 3.2 with VBMI.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
#[inline(never)]
fn push_far(decoder: &mut MtfDecoder, symbols: &[u8]) {
    let (near, far) = decoder.list.split_first_chunk_mut::<64>().expect("256 are more than 64");
    let (near, _) = near.as_chunks_mut::<16>();
    let mut heads: [__m128i; 4] = std::array::from_fn(|i| load(&near[i]));
    decoder.state.count_words(symbols, &mut decoder.runs, |symbol| {
        if symbol > 64 {
            let rank = symbol - 1;
            let front = _mm_cvtsi32_si128(i32::from(far[rank - 64]));
            let last_moved = _mm256_set1_epi8((rank as u8 ^ 0x80) as i8);
            let mut before = _mm256_set_m128i(heads[3], heads[3]);
            for (row, numbers) in far.as_chunks_mut::<32>().0.iter_mut().zip(&NUMBERS.0) {
                // SAFETY: a row has 32 bytes, and so have its numbers.
                let (old, numbers) =
                    unsafe { (_mm256_loadu_si256(row.as_ptr().cast()), _mm256_loadu_si256(numbers.as_ptr().cast())) };
                let moved = _mm256_alignr_epi8::<15>(old, _mm256_permute2x128_si256::<0x21>(before, old));
                let new = _mm256_blendv_epi8(moved, old, _mm256_cmpgt_epi8(numbers, last_moved));
                // SAFETY: a row has 32 bytes.
                unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), new) };
                before = old;
            }
            for i in (1..4).rev() {
                heads[i] = _mm_alignr_epi8::<15>(heads[i], heads[i - 1]);
            }
            heads[0] = _mm_alignr_epi8::<15>(heads[0], _mm_slli_si128::<15>(front));
        } else {
            let moves = &MOVES[symbol];
            let mut front = _mm_setzero_si128();
            // The first register comes last, because the step before changed it last.
            for (head, find) in heads.iter().zip(&moves.find).rev() {
                front = _mm_or_si128(front, _mm_shuffle_epi8(*head, load(find)));
            }
            for i in (0..4).rev() {
                let up = _mm_alignr_epi8::<15>(heads[i], if i == 0 { front } else { heads[i - 1] });
                heads[i] = _mm_blendv_epi8(heads[i], up, load(&moves.up[i]));
            }
        }
        _mm_cvtsi128_si32(heads[0]) as u8
    });
    for (row, head) in near.iter_mut().zip(heads) {
        store(row, head);
    }
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
        push_near(decoder, symbols);
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
