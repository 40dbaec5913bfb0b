//! Looks up 32 substrings of at most eight bytes at a time, in registers of eight.
//!
//! Nine of ten substrings of a text are in the table's first slot for their hash. These are found without a branch for
//! each; the rest, and longer ones, are looked up one after the other in their order, as the portable code does, so
//! that the names are the same. The step takes 0.40 to 0.70 of the portable code's time on five files, and 0.87 on a
//! sixth, in which half of the substrings are new (an Emerald Rapids).

use super::{BATCH, FACTOR, LEN_SHIFT, MATCH, NUMBER_BITS, NUMBER_SHIFT, NameKey, PLACE_SHIFT, Table, hash};
use crate::codec::bwt::lms::prefetch;
use std::arch::x86_64::{
    __m512i, __mmask8, _mm_cvtsi32_si128, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_add_epi64, _mm512_and_si512,
    _mm512_cmpeq_epi64_mask, _mm512_cmpgt_epu64_mask, _mm512_cmple_epu64_mask, _mm512_cvtepi32_epi64,
    _mm512_cvtepi64_epi32, _mm512_i64gather_epi64, _mm512_mask_cmpeq_epi64_mask, _mm512_mask_i64gather_epi64,
    _mm512_mullo_epi64, _mm512_or_si512, _mm512_set_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_shuffle_epi8, _mm512_slli_epi64, _mm512_srl_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
    _mm512_storeu_si512, _mm512_sub_epi64, _mm512_xor_si512,
};

/// The number of substrings in a register.
const LANES: usize = 8;

/// Eight substrings.
#[derive(Clone, Copy)]
struct Wanted {
    /// One bits in the place of the bytes after the substring.
    after: __m512i,
    key: __m512i,
    slot: __m512i,
    match_bits: __m512i,
    /// Those of more than eight bytes, which this code does not look for.
    long: __mmask8,
}

/// Names the substrings between these places, as [`Table::find_batch`] does.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,popcnt")]
pub(super) fn find_batch(table: &mut Table<'_>, ends: &[i32], names: &mut [i32]) -> Option<()> {
    assert!(ends.len() == BATCH + 1 && names.len() == BATCH);
    assert!(table.slots.len() >> table.bits > 0 && table.text.len() >= 8);
    let (mut keys, mut hashes, mut slots) = ([0; BATCH], [0; BATCH], [0; BATCH]);
    let mut wanted = [Wanted::none(); BATCH / LANES];
    for (number, wanted) in wanted.iter_mut().enumerate() {
        let from = number * LANES;
        let hash;
        (*wanted, hash) = Wanted::new(table, &ends[from..=from + LANES]);
        store(wanted.key, &mut keys[from..]);
        store(hash, &mut hashes[from..]);
        store(wanted.slot, &mut slots[from..]);
        for &slot in &slots[from..from + LANES] {
            prefetch(table.slots, slot as usize);
        }
    }
    let mut open = 0;
    for (number, (wanted, names)) in wanted.iter().zip(names.chunks_exact_mut(LANES)).enumerate() {
        open |= u32::from(!wanted.find(table, names)) << (number * LANES);
    }
    while open != 0 {
        let i = open.trailing_zeros() as usize;
        open &= open - 1;
        let (at, last) = (ends[i] as usize, ends[i + 1] as usize);
        let len = last - at + 1;
        let wanted = if len > 8 { hash(table.text, at, last) } else { NameKey { key: keys[i], hash: hashes[i] } };
        names[i] = table.find(wanted, at, len)? as i32;
    }
    Some(())
}

impl Wanted {
    #[target_feature(enable = "avx512f")]
    fn none() -> Self {
        let none = _mm512_setzero_si512();
        Wanted { after: none, key: none, slot: none, match_bits: none, long: 0 }
    }

    /// The eight substrings between nine places, and their hashes.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    #[inline]
    fn new(table: &Table<'_>, ends: &[i32]) -> (Self, __m512i) {
        let (at, last) = (places(ends), places(&ends[1..]));
        let len = _mm512_add_epi64(_mm512_sub_epi64(last, at), _mm512_set1_epi64(1));
        let after = _mm512_srlv_epi64(_mm512_set1_epi64(-1), _mm512_slli_epi64::<3>(len));
        let (key, valid) = keys(table.text, at, after, !0);
        assert!(valid == !0, "each substring begins in the text");
        let hash = _mm512_mullo_epi64(key, _mm512_set1_epi64(FACTOR as i64));
        let slot = _mm512_srl_epi64(hash, _mm_cvtsi32_si128(64 - table.bits as i32));
        let of_hash = _mm512_xor_si512(hash, _mm512_srli_epi64::<32>(hash));
        let of_hash = _mm512_and_si512(of_hash, _mm512_set1_epi64((1 << LEN_SHIFT) - 1));
        let match_bits = _mm512_or_si512(_mm512_slli_epi64::<LEN_SHIFT>(len), of_hash);
        let long = _mm512_cmpgt_epu64_mask(len, _mm512_set1_epi64(8));
        (Wanted { after, key, slot, match_bits, long }, hash)
    }

    /// Writes the numbers of the substrings that are in their first slots. Returns which these are; the names of the
    /// others are undefined.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    #[inline]
    fn find(&self, table: &Table<'_>, names: &mut [i32]) -> __mmask8 {
        assert!(table.slots.len() >> table.bits > 0 && table.bits > 0 && names.len() == LANES);
        // SAFETY: `slot` has as many bits as the table, and the table has a slot for each such number.
        #[allow(unsafe_code)]
        let slots = unsafe { _mm512_i64gather_epi64::<8>(self.slot, table.slots.as_ptr().cast()) };
        let match_bits = _mm512_and_si512(slots, _mm512_set1_epi64(MATCH as i64));
        let found = _mm512_cmpeq_epi64_mask(match_bits, self.match_bits) & !self.long;
        let (key, valid) = keys(table.text, _mm512_srli_epi64::<PLACE_SHIFT>(slots), self.after, found);
        let same = _mm512_mask_cmpeq_epi64_mask(valid, key, self.key);
        let number =
            _mm512_and_si512(_mm512_srli_epi64::<NUMBER_SHIFT>(slots), _mm512_set1_epi64((1 << NUMBER_BITS) - 1));
        // SAFETY: eight numbers of 32 bits are written to eight names.
        #[allow(unsafe_code)]
        unsafe {
            _mm256_storeu_si256(names.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(number));
        }
        same
    }
}

/// The first eight of these places.
#[target_feature(enable = "avx512f")]
#[inline]
fn places(ends: &[i32]) -> __m512i {
    let ends: &[i32; LANES] = ends.first_chunk().expect("eight places");
    // SAFETY: eight numbers of 32 bits are read.
    #[allow(unsafe_code)]
    unsafe {
        _mm512_cvtepi32_epi64(_mm256_loadu_si256(ends.as_ptr().cast()))
    }
}

/// The keys of the substrings at these places, of those in `mask`. Returns also which of them have eight bytes of text.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn keys(text: &[u8], at: __m512i, after: __m512i, mask: __mmask8) -> (__m512i, __mmask8) {
    let valid = mask & _mm512_cmple_epu64_mask(at, _mm512_set1_epi64(text.len() as i64 - 8));
    // SAFETY: eight bytes are read at places of which each is in the text, with seven bytes after it.
    #[allow(unsafe_code)]
    let bytes = unsafe { _mm512_mask_i64gather_epi64::<1>(_mm512_setzero_si512(), valid, at, text.as_ptr().cast()) };
    let (low, high) = (0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F);
    let turn = _mm512_set_epi64(high, low, high, low, high, low, high, low);
    (_mm512_or_si512(_mm512_shuffle_epi8(bytes, turn), after), valid)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(lanes: __m512i, to: &mut [u64]) {
    let to: &mut [u64; LANES] = to.first_chunk_mut().expect("room for eight");
    // SAFETY: eight numbers of 64 bits are written.
    #[allow(unsafe_code)]
    unsafe {
        _mm512_storeu_si512(to.as_mut_ptr().cast(), lanes);
    }
}
