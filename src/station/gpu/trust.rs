//! The checks of everything that a device returns.
//!
//! A column must hold the same bytes as its block: the sums of the bytes and of their squares are compared, and the
//! origin's row must end in the block's last byte. A device that fails such a check computes wrong results, and gets no
//! more work. Its earlier blocks have passed the same check. For coded blocks see `encode`.

#[cfg(target_arch = "x86_64")]
use crate::cpu;
use hybz_gpu::abi::{HYBZ_PROOF_CODES, HYBZ_PROOF_HEAD, HYBZ_PROOF_WEIGHT};
use hybz_gpu::{CodedByDevice, DeviceError};

/// The device returned fewer bytes than required.
pub(super) fn too_little() -> DeviceError {
    DeviceError::Other("the device returned too few bytes".to_owned())
}

/// The device gets no more work, through any of its lanes.
pub(super) fn computes_wrongly() -> DeviceError {
    DeviceError::Wrong("the device computes wrong results")
}

/// Fails if what the device has found cannot be right.
pub(super) fn right(is_right: bool) -> Result<(), DeviceError> {
    if is_right { Ok(()) } else { Err(computes_wrongly()) }
}

/// The sums of the bytes and of their squares, which are equal for a block and its last column.
///
/// Cubes are not used: these two sums are one `psadbw` and one `pmaddwd` for 8 or more bytes on any x86-64, while
/// 32-bit products made this the slowest part of a lane.
pub(super) fn power_sums(bytes: &[u8]) -> [u64; 2] {
    let (mut sum, mut squares) = (0, 0);
    // 16384 squares fit in 31 bits.
    for piece in bytes.chunks(16384) {
        sum += piece.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        squares +=
            piece.iter().map(|&byte| i32::from(i16::from(byte)) * i32::from(i16::from(byte))).sum::<i32>() as u64;
    }
    [sum, squares]
}

/// The sum of words, from number `from` on, each times an odd number that depends on its own (`hybz_coded` in
/// `cuda/hybz.h`). Any single wrong bit changes it.
pub(super) fn sum_of_words(bytes: &[u8], from: usize) -> u64 {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    if cpu::has!(Avx2: "avx2") {
        // SAFETY: the CPU has AVX2.
        return unsafe { sum_of_words_avx2(bytes, from) };
    }
    sum_of_words_by(bytes, from)
}

/// With vectors twice as long as every x86-64 processor has: 0.025 ns a byte, not 0.05 (Zen 5).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_of_words_avx2(bytes: &[u8], from: usize) -> u64 {
    sum_of_words_by(bytes, from)
}

#[inline(always)]
fn sum_of_words_by(bytes: &[u8], from: usize) -> u64 {
    const WEIGHT: u32 = HYBZ_PROOF_WEIGHT as u32;
    let (words, rest) = bytes.as_chunks();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    let product = |word, weight: u32| u64::from(u32::from_le_bytes(word)) * u64::from(weight);
    let (mut sum, mut weight) = (0u64, WEIGHT.wrapping_mul(2 * from as u32 + 1));
    // A plain loop, for the compiler to make vectors of (0.05 ns a byte; a chain of iterators: 0.25).
    for &word in words {
        sum = sum.wrapping_add(product(word, weight));
        weight = weight.wrapping_add(WEIGHT.wrapping_mul(2));
    }
    sum.wrapping_add(product(last, weight))
}

/// The proof of a block without its text's part: the sum of what the device tells of the block, and of its codes and
/// selectors.
pub(super) fn proof_of(block: &CodedByDevice, codes: &[u8]) -> u64 {
    let CodedByDevice { origin, symbols, tables, bits, at, used, lengths, .. } = block;
    let words = [origin, symbols, tables, bits, at].into_iter().chain(used);
    let mut head: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    head.extend(lengths.as_flattened());
    sum_of_words(&head, HYBZ_PROOF_HEAD).wrapping_add(sum_of_words(codes, HYBZ_PROOF_CODES))
}
