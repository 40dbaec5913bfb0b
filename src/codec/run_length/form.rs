//! Tells whether bytes are the run-length-coded form of a text, without making that form.
//!
//! The form is unique: a run goes on to the next other byte, or to 255 bytes. So it is enough that literal bytes are
//! equal, and that each run of the text is as long as its four bytes and its count say. A step compares 62 bytes, or
//! the bytes before the next run, and that run.

use super::masks::{WINDOW, equal_to_next_by, same};
#[cfg(target_arch = "x86_64")]
use super::masks::{same_avx2, same_avx512};
use super::run_len;
#[cfg(target_arch = "x86_64")]
use crate::cpu;

/// Whether `coded` is the run-length-coded form of `plain`, which must begin and end where blocks do.
///
/// Measured (Zen 5), ns a byte of text: 0.03 on prose, 0.11 on the kernel tarball, which has a run in 95 bytes. Coding
/// the text again, expanding the form and comparing the texts took 0.13 and 0.35, with the CRC and the block's head.
pub fn is_form_of(coded: &[u8], plain: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    if cpu::has!(Avx512: "avx512f", "avx512bw") {
        // SAFETY: the CPU has AVX-512F and AVX-512BW.
        return unsafe { is_form_avx512(coded, plain) };
    }
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    if cpu::has!(Avx2: "avx2", "bmi1", "bmi2", "lzcnt") {
        // SAFETY: the CPU has these features.
        return unsafe { is_form_avx2(coded, plain) };
    }
    is_form_by(coded, plain, same)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn is_form_avx512(coded: &[u8], plain: &[u8]) -> bool {
    is_form_by(coded, plain, |one, other| same_avx512(one, other))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn is_form_avx2(coded: &[u8], plain: &[u8]) -> bool {
    is_form_by(coded, plain, |one, other| same_avx2(one, other))
}

/// `same` does what the function of this name does.
#[inline(always)]
pub(super) fn is_form_by(mut coded: &[u8], mut plain: &[u8], same: impl Fn(&[u8; 64], &[u8; 64]) -> u64) -> bool {
    // A run begins at most 61 bytes further on, and its first 64 bytes are compared.
    while let (Some(window), Some(bytes), true) =
        (coded.first_chunk::<WINDOW>(), plain.first_chunk(), plain.len() > 124)
    {
        let equal = equal_to_next_by(window, &same);
        let runs = equal & equal >> 1 & equal >> 2;
        let Some(next) = window.first_chunk() else { unreachable!() };
        let differ = !same(next, bytes);
        if runs == 0 {
            if differ << 2 != 0 {
                return false;
            }
            (coded, plain) = (&coded[WINDOW - 3..], &plain[WINDOW - 3..]);
            continue;
        }
        let literal = runs.trailing_zeros() as usize;
        (coded, plain) = (&coded[literal..], &plain[literal..]);
        let (Some(&[byte, _, _, _, count]), Some(bytes)) = (coded.first_chunk(), plain.first_chunk()) else {
            return false;
        };
        let (len, mut found) = (4 + usize::from(count), same(bytes, &[byte; 64]).trailing_ones() as usize);
        if found == 64 {
            found = run_len(plain);
        }
        if differ & ((1 << literal) - 1) != 0 || found != len {
            return false;
        }
        (coded, plain) = (&coded[5..], &plain[len..]);
    }
    is_form_plainly(coded, plain)
}

/// The same byte by byte.
pub(super) fn is_form_plainly(mut coded: &[u8], mut plain: &[u8]) -> bool {
    while let Some((&byte, rest)) = coded.split_first() {
        if coded.starts_with(&[byte; 4]) {
            let Some(&count) = coded.get(4) else { return false };
            let len = 4 + usize::from(count);
            if plain.first() != Some(&byte) || run_len(plain) != len {
                return false;
            }
            (coded, plain) = (&coded[5..], &plain[len..]);
        } else {
            if plain.split_off_first() != Some(&byte) {
                return false;
            }
            coded = rest;
        }
    }
    plain.is_empty()
}
