//! Replaces a text by codes on CPUs with AVX-512 (VBMI and VBMI2), 64 bytes at a time.
//!
//! A table of 256 bytes fits four registers, so one look-up gives the codes of 64 bytes, and another gives their kinds,
//! from which the masks follow. One instruction moves the kept codes together; it also turns a mask of edges into the
//! positions of its bits, so no branch depends on the number of pieces. Eight pieces at once are hashed and looked up
//! in the filter. With pieces that were cut, hashed and looked up one by one, replacing took 1.2 to 1.5 times as long
//! (Zen 5; ns per byte of text: source code 0.92 instead of 0.68, prose 1.10 instead of 0.80).

#![allow(unsafe_code)]

use super::super::dictionary::Dictionary;
use super::super::words::{MAX_BLANKS, MAX_WORD, WordCutter, is_blank, is_word, split};
use super::{Candidates, HASH_FACTOR, HASH_SHIFT, Lookup, PART, RARE, WIDE, replace_with};
use crate::cpu;
use std::arch::x86_64::*;
use std::mem::transmute;

/// The kinds of a byte. The sign bit marks a word's byte.
const WORD: u8 = 1 << 7;
const BLANK: u8 = 1;
const WITHOUT_CODE: u8 = 2;

/// The starts and the ends of a part's pieces. (A store may write up to 31 elements more.)
type Places = [[u16; PART / 2 + 64]; 2];

/// Whether this CPU supports the kernel.
pub(super) fn is_supported() -> bool {
    cpu::has!(Avx512: "avx512f", "avx512bw", "avx512dq", "avx512vbmi", "avx512vbmi2", "bmi1", "bmi2", "lzcnt", "popcnt")
}

/// Replaces the text if [`is_supported`] is true, and panics otherwise.
pub(super) fn replace(dictionary: &Dictionary, text: &[u8], interval: usize, out: &mut Vec<u8>) {
    assert!(is_supported());
    // SAFETY: the features for which `replace_wide` is compiled have just been detected.
    unsafe { replace_wide(dictionary, text, interval, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn replace_wide(dictionary: &Dictionary, text: &[u8], interval: usize, out: &mut Vec<u8>) {
    let lookup = Lookup::new(dictionary);
    let codes = Table::new(|byte| lookup.table[usize::from(byte)] as u8);
    let kinds = Table::new(|byte| {
        let rare = if lookup.table[usize::from(byte)] & RARE > 0 { WITHOUT_CODE } else { 0 };
        rare + is_word(byte) * WORD + is_blank(byte) * BLANK
    });
    let (blank, without) = (_mm512_set1_epi8(BLANK as i8), _mm512_set1_epi8(WITHOUT_CODE as i8));
    let look_up = |bytes: &[u8], to: &mut [u8; WIDE]| {
        let valid = u64::MAX >> (WIDE - bytes.len().min(WIDE));
        // SAFETY: only bytes of the slice are read.
        let wide = unsafe { _mm512_maskz_loadu_epi8(valid, bytes.as_ptr().cast()) };
        // SAFETY: both are 64 bytes of any value.
        *to = unsafe { transmute::<__m512i, [u8; WIDE]>(codes.look_up(wide)) };
        let kind = kinds.look_up(wide);
        ([_mm512_movepi8_mask(kind), _mm512_test_epi8_mask(kind, blank)], _mm512_test_epi8_mask(kind, without))
    };
    let mut places: Places = [[0; _]; 2];
    let cut = |cutter: &mut WordCutter, kinds: &[[u64; 2]], candidates: &mut Candidates<'_>| {
        add(cutter, kinds, candidates, &mut places);
    };
    let compress = |keep: u64, codes: &[u8; WIDE], out: &mut [u8; WIDE]| {
        // SAFETY: all are 64 bytes of any value.
        let codes = unsafe { transmute::<[u8; WIDE], __m512i>(*codes) };
        // SAFETY: as above.
        *out = unsafe { transmute::<__m512i, [u8; WIDE]>(_mm512_maskz_compress_epi8(keep, codes)) };
    };
    replace_with(&lookup, text, interval, out, look_up, cut, compress);
}

/// Adds the pieces that end in a part, given the masks of its words and blanks.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn add(cutter: &mut WordCutter, kinds: &[[u64; 2]], candidates: &mut Candidates<'_>, [starts, ends]: &mut Places) {
    let begin = candidates.begin;
    let open = cutter.open_piece(begin);
    starts[0] = (open + WIDE - begin) as u16;
    // If only the first byte of a piece is before the part, its second byte gives its start.
    let (mut started, mut ended) = (usize::from(open + 1 < begin), 0);
    for (at, kinds) in (0..).step_by(WIDE).zip(kinds) {
        let [seconds, after] = cutter.edges(begin + at, *kinds);
        started += positions(seconds, at + WIDE - 1, &mut starts[started..]);
        ended += positions(after, at + WIDE, &mut ends[ended..]);
    }
    let all = |value: u64| _mm512_set1_epi64(value as i64);
    // SAFETY: both are eight numbers of any value.
    let eight = |numbers: [u16; 8]| _mm512_cvtepu16_epi64(unsafe { transmute::<[u16; 8], __m128i>(numbers) });
    let text = candidates.text.as_ptr().wrapping_add(begin).wrapping_sub(WIDE).cast();
    // The last position with eight bytes of text from there on.
    let last = all((candidates.text.len() - begin + WIDE - 8) as u64);
    for number in 0..ended.div_ceil(8) {
        let (starts, ends) = (starts.as_chunks().0[number], ends.as_chunks().0[number]);
        let (from, to) = (eight(starts), eight(ends));
        let lens = _mm512_sub_epi64(to, from);
        let valid = u8::MAX >> (8 - (ended - 8 * number).min(8));
        let inside = _mm512_mask_cmple_epu64_mask(valid, from, last);
        // SAFETY: pieces begin in the text, and those inside are followed by eight bytes of it, their own included.
        let texts = unsafe { _mm512_mask_i64gather_epi64::<1>(all(0), inside, from, text) };
        // Bytes of words have one of these bits, blanks have none.
        let blanks = _mm512_testn_epi64_mask(texts, all(0xd0));
        let max = _mm512_mask_blend_epi64(blanks, all(MAX_WORD as u64), all(MAX_BLANKS as u64));
        let good = _mm512_mask_cmple_epu64_mask(inside, lens, max);
        let other = _mm512_slli_epi64::<3>(_mm512_sub_epi64(all(8), _mm512_min_epu64(lens, all(8))));
        let keys = _mm512_and_si512(texts, _mm512_srlv_epi64(all(u64::MAX), other));
        let mixed = _mm512_xor_si512(keys, _mm512_slli_epi64::<56>(lens));
        let hashes = _mm512_srli_epi64::<HASH_SHIFT>(_mm512_mullo_epi64(mixed, all(HASH_FACTOR)));
        let filter = candidates.filter.as_ptr().cast();
        // SAFETY: a hash has twelve bits, and the filter 64 words.
        let words = unsafe { _mm512_i64gather_epi64::<8>(_mm512_srli_epi64::<6>(hashes), filter) };
        let bits = _mm512_srlv_epi64(words, _mm512_and_si512(hashes, all(63)));
        let pass = _mm512_mask_test_epi64_mask(good, bits, all(1));
        let bounds = _mm512_or_si512(from, _mm512_slli_epi64::<16>(to));
        let bounds = _mm512_or_si512(bounds, _mm512_slli_epi64::<32>(hashes));
        // SAFETY: both are eight numbers of any value.
        let packed = |wide| unsafe { transmute::<__m512i, [u64; 8]>(_mm512_maskz_compress_epi64(pass, wide)) };
        candidates.keys[candidates.len..][..8].copy_from_slice(&packed(keys));
        candidates.bounds[candidates.len..][..8].copy_from_slice(&packed(bounds));
        candidates.len += pass.count_ones() as usize;
        // Pieces to be split, and those at the end of the text.
        let mut bad = valid & !good;
        while bad > 0 {
            let piece = bad.trailing_zeros() as usize;
            bad &= bad - 1;
            let [from, to] = [starts[piece], ends[piece]].map(|place| usize::from(place) + begin - WIDE);
            let max = if is_blank(candidates.text[from]) > 0 { MAX_BLANKS } else { MAX_WORD };
            let rest = split(from, to, max, &mut |piece| candidates.add(piece));
            candidates.add(rest..to);
        }
    }
}

/// Stores the positions of the bits of a mask, each plus `base`, and returns their number: at most 32, because no two
/// are neighbours.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn positions(mask: u64, base: usize, to: &mut [u16]) -> usize {
    // SAFETY: both are 64 bytes of any value.
    let counted = unsafe { transmute::<[u8; WIDE], __m512i>(std::array::from_fn(|place| place as u8)) };
    let bits = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(_mm512_maskz_compress_epi8(mask, counted)));
    // SAFETY: as above.
    let all = unsafe { transmute::<__m512i, [u16; 32]>(_mm512_add_epi16(bits, _mm512_set1_epi16(base as i16))) };
    to[..32].copy_from_slice(&all);
    mask.count_ones() as usize
}

/// A table that maps each byte to a byte.
struct Table([__m512i; 4]);

impl Table {
    #[target_feature(enable = "avx512f")]
    fn new(of: impl Fn(u8) -> u8) -> Table {
        // SAFETY: both are 256 bytes of any value.
        Table(unsafe { transmute::<[u8; 256], [__m512i; 4]>(std::array::from_fn(|byte| of(byte as u8))) })
    }

    /// Looks up 64 bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn look_up(&self, bytes: __m512i) -> __m512i {
        let low = _mm512_permutex2var_epi8(self.0[0], bytes, self.0[1]);
        let high = _mm512_permutex2var_epi8(self.0[2], bytes, self.0[3]);
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high)
    }
}
