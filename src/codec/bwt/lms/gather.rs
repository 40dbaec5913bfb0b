//! LMS positions: positions of type S, each after one of type L. A position is of type S if its rotation is smaller
//! than the next one.
//!
//! The word is a ring that begins at its least rotation, so position 0 is of type S, the last one of type L, and
//! position 0 an LMS position.

use super::Kernel;

/// Positions that the vector code looks at together.
const CHUNK: usize = 64;

/// The number of occurrences of each byte.
#[derive(Debug)]
pub(super) struct KeyCounts {
    /// In the word.
    pub(super) all: [u32; 256],
    /// At LMS positions.
    pub(super) lms: [u32; 256],
}

/// The room that [`gather`] needs for the positions of a word of `len` bytes: at most every second one is LMS.
pub(super) fn room(len: usize) -> usize {
    len / 2 + CHUNK
}

/// Puts the LMS positions of `text[..len]` into the end of `room`, ascending, and `len` after them. `text[len]` is the
/// first byte again. Returns the place of the first one, which is 0.
pub(super) fn gather(kernel: Kernel, text: &[u8], len: usize, room: &mut [i32]) -> usize {
    assert!(len >= 2 && text.len() > len && text[len] == text[0] && room.len() >= self::room(len));
    // Positions come from the end, so they are written from the end. The last one is of type L, so `len` comes first.
    let first = match kernel {
        Kernel::Plain => gather_plain(text, len, room),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 => {
            // SAFETY: `Kernel::detect` has found the features.
            #[allow(unsafe_code)]
            unsafe {
                avx512::gather(text, len, room)
            }
        }
    };
    // `len` is position 0, too.
    let first = first - 1;
    room[first] = 0;
    first
}

/// Counts the bytes of a word, which has these LMS `positions`.
pub(super) fn count(word: &[u8], positions: &[i32]) -> KeyCounts {
    let all = histogram(word.iter().map(|&byte| byte as usize));
    let lms = histogram(positions.iter().map(|&at| word[at as usize] as usize));
    KeyCounts { all, lms }
}

/// Four tables, because equal neighbours would wait for each other's addition.
fn histogram(mut bytes: impl ExactSizeIterator<Item = usize>) -> [u32; 256] {
    let mut tables = [[0; 256]; 4];
    while bytes.len() >= 4 {
        for table in &mut tables {
            table[bytes.next().expect("four are left") & 255] += 1;
        }
    }
    for byte in bytes {
        tables[0][byte & 255] += 1;
    }
    std::array::from_fn(|byte| tables.iter().map(|table| table[byte]).sum())
}

fn gather_plain(text: &[u8], len: usize, room: &mut [i32]) -> usize {
    let mut first = room.len();
    let mut next_is_small = true;
    for at in (0..len).rev() {
        let (byte, next) = (text[at], text[at + 1]);
        let is_small = byte < next || (byte == next && next_is_small);
        if next_is_small && !is_small {
            first -= 1;
            room[first] = at as i32 + 1;
        }
        next_is_small = is_small;
    }
    first
}

/// The types of 64 positions at a time. A type passes from a position to the one before it where their bytes are equal,
/// as a carry passes through an addition.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::CHUNK;
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi32, _mm512_cmpeq_epu8_mask, _mm512_cmplt_epu8_mask, _mm512_cvtepu8_epi32,
        _mm512_extracti32x4_epi32, _mm512_loadu_epi8, _mm512_mask_storeu_epi32, _mm512_maskz_compress_epi8,
        _mm512_maskz_loadu_epi8, _mm512_set1_epi32,
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    pub(super) fn gather(text: &[u8], len: usize, room: &mut [i32]) -> usize {
        let mut first = room.len();
        let lanes = lanes();
        let mut next_is_small = 1;
        let mut end = len;
        while end > 0 {
            let start = end.saturating_sub(CHUNK);
            let count = end - start;
            let (less, equal) = compare(&text[start..=end]);
            let small = types(less, equal, next_is_small, count);
            // Bit i: position i is of type L and the next one of type S.
            let found = !small & (small >> 1 | next_is_small << (count - 1)) & (!0 >> (CHUNK - count));
            next_is_small = small & 1;
            let list = _mm512_maskz_compress_epi8(found, lanes);
            let found = found.count_ones() as usize;
            first -= found;
            store(&mut room[first..first + found], list, start as i32 + 1);
            end = start;
        }
        first
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    fn lanes() -> __m512i {
        let numbers: [u8; CHUNK] = std::array::from_fn(|i| i as u8);
        // SAFETY: 64 bytes are read.
        #[allow(unsafe_code)]
        unsafe {
            _mm512_loadu_epi8(numbers.as_ptr().cast())
        }
    }

    /// Which of a chunk's bytes are less than the next byte, and which are equal to it. `bytes` has the chunk and one
    /// byte more.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn compare(bytes: &[u8]) -> (u64, u64) {
        let valid = !0 >> (CHUNK - (bytes.len() - 1));
        // SAFETY: `valid` has a bit for each byte but the last, at which the second load ends.
        #[allow(unsafe_code)]
        let (these, next) = unsafe {
            let start = bytes.as_ptr();
            (_mm512_maskz_loadu_epi8(valid, start.cast()), _mm512_maskz_loadu_epi8(valid, start.add(1).cast()))
        };
        (_mm512_cmplt_epu8_mask(these, next), _mm512_cmpeq_epu8_mask(these, next) & valid)
    }

    /// Which of a chunk's positions are of type S.
    #[inline]
    fn types(less: u64, equal: u64, next_is_small: u64, count: usize) -> u64 {
        // Bit 0 is the last position: a carry runs from the last position to the first.
        let turn = |bits: u64| bits.reverse_bits() >> (CHUNK - count);
        // The sum of a and b has a carry out of each bit that both have, and out of each bit that one of them has if a
        // carry comes in.
        let (a, b) = (turn(less | equal), turn(less));
        let (sum, over) = a.overflowing_add(b);
        let (sum, over_again) = sum.overflowing_add(next_is_small);
        let carries_in = a ^ b ^ sum;
        let carries_out = carries_in >> 1 | ((over | over_again) as u64) << 63;
        turn(carries_out & (!0 >> (CHUNK - count)))
    }

    /// Stores the first bytes of `list` as numbers from `base`.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn store(positions: &mut [i32], list: __m512i, base: i32) {
        let base = _mm512_set1_epi32(base);
        let quarters = [_mm512_extracti32x4_epi32::<0>(list), _mm512_extracti32x4_epi32::<1>(list)];
        for (part, quarter) in positions.chunks_mut(16).zip(quarters) {
            let mask = ((1u32 << part.len()) - 1) as u16;
            // SAFETY: the mask has a bit for each number of `part`.
            #[allow(unsafe_code)]
            unsafe {
                let numbers = _mm512_add_epi32(base, _mm512_cvtepu8_epi32(quarter));
                _mm512_mask_storeu_epi32(part.as_mut_ptr().cast(), mask, numbers);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::bwt::rotation;
    use hybz_testkit::shapes::{Rng, SHAPES};

    /// By the definition.
    fn naive(word: &[u8]) -> Vec<i32> {
        let rotation = |start: usize| [&word[start..], &word[..start]].concat();
        let small: Vec<bool> = (0..word.len()).map(|at| rotation(at) < rotation((at + 1) % word.len())).collect();
        (0..word.len())
            .filter(|&at| small[at] && !small[(at + word.len() - 1) % word.len()])
            .map(|at| at as i32)
            .collect()
    }

    #[test]
    fn as_defined() {
        let mut rng = Rng(5);
        let words = (0..300).map(|len| (0..2 + len).map(|_| rng.below(1 + len % 5) as u8).collect());
        let shapes = SHAPES.iter().flat_map(|shape| [2, 63, 64, 65, 127, 128, 129, 400].map(|len| (shape.make)(len)));
        for word in words.chain(shapes).collect::<Vec<Vec<u8>>>() {
            if word.len() < 2 || rotation::period(&word) != word.len() {
                continue;
            }
            let start = rotation::least(&word, &mut Vec::new());
            let mut text = [&word[start..], &word[..start]].concat();
            let wanted = naive(&text);
            text.push(text[0]);
            for kernel in Kernel::all() {
                let mut positions = vec![-1; room(word.len())];
                let first = gather(kernel, &text, word.len(), &mut positions);
                assert_eq!(positions.pop(), Some(word.len() as i32));
                assert_eq!(positions[first..], wanted, "{kernel:?}, {text:?}");
                let counts = count(&text[..word.len()], &positions[first..]);
                assert_eq!(counts.lms.iter().sum::<u32>() as usize, wanted.len());
                assert_eq!(counts.all.iter().sum::<u32>() as usize, word.len());
            }
        }
    }
}
