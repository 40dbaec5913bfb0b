//! The first look-up of a batch of substrings, in registers of eight: `names` takes 0.65 to 0.95 of AVX2's time.

use super::{BATCH, FACTOR};
use std::arch::x86_64::{
    __m512i, _mm_cvtsi32_si128, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_add_epi64, _mm512_cmpeq_epi64_mask,
    _mm512_cmple_epu64_mask, _mm512_cvtepi32_epi64, _mm512_cvtepi64_epi32, _mm512_i64gather_epi64, _mm512_mullo_epi64,
    _mm512_or_si512, _mm512_set_epi64, _mm512_set1_epi64, _mm512_shuffle_epi8, _mm512_slli_epi64, _mm512_srl_epi64,
    _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_sub_epi64,
};

/// The number of substrings in a register.
const LANES: usize = 8;

/// Fills `keys`, and `names` with the first slots to try for these keys. Returns which substrings are long, and which
/// are long or not in these slots.
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub(super) fn find_first(
    text: &[u8],
    slots: &[u64],
    ends: &[i32; BATCH + 1],
    keys: &mut [u64; BATCH],
    names: &mut [i32; BATCH],
) -> (u32, u32) {
    assert!(slots.len().is_power_of_two() && slots.len() > 1 && text.len() >= 8);
    let (low, high) = (0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F);
    let turn = _mm512_set_epi64(high, low, high, low, high, low, high, low);
    let last_word = _mm512_set1_epi64(text.len() as i64 - 8);
    let shift = _mm_cvtsi32_si128(64 - slots.len().ilog2() as i32);
    let (mut long, mut open) = (0, 0);
    for from in (0..BATCH).step_by(LANES) {
        let (at, last) = (eight(&ends[from..]), eight(&ends[from + 1..]));
        let bits = _mm512_slli_epi64::<3>(_mm512_add_epi64(_mm512_sub_epi64(last, at), _mm512_set1_epi64(1)));
        assert!(_mm512_cmple_epu64_mask(at, last_word) == !0, "eight bytes at each place");
        // SAFETY: asserted.
        #[allow(unsafe_code)]
        let bytes = unsafe { _mm512_i64gather_epi64::<1>(at, text.as_ptr().cast()) };
        let after = _mm512_srlv_epi64(_mm512_set1_epi64(-1), bits);
        let wanted = _mm512_or_si512(_mm512_shuffle_epi8(bytes, turn), after);
        let home = _mm512_srl_epi64(_mm512_mullo_epi64(wanted, _mm512_set1_epi64(FACTOR as i64)), shift);
        let (keys, names) = (&mut keys[from..from + LANES], &mut names[from..from + LANES]);
        // SAFETY: a home has as many bits as a slot's index; eight numbers are written to arrays of eight.
        #[allow(unsafe_code)]
        let found = unsafe {
            _mm512_storeu_si512(keys.as_mut_ptr().cast(), wanted);
            _mm256_storeu_si256(names.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(home));
            _mm512_i64gather_epi64::<8>(home, slots.as_ptr().cast())
        };
        long |= u32::from(!_mm512_cmple_epu64_mask(bits, _mm512_set1_epi64(64))) << from;
        open |= u32::from(!_mm512_cmpeq_epi64_mask(found, wanted)) << from;
    }
    (long, open | long)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn eight(ends: &[i32]) -> __m512i {
    let ends: &[i32; LANES] = ends.first_chunk().expect("eight places");
    // SAFETY: eight numbers of 32 bits are read.
    #[allow(unsafe_code)]
    unsafe {
        _mm512_cvtepi32_epi64(_mm256_loadu_si256(ends.as_ptr().cast()))
    }
}
